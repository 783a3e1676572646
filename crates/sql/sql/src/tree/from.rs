//! What FROM reads: relations, joins, and the columns by which they are read.

use std::fmt;

use super::Query;
use super::expr::Expr;

/// A table of one schema. It knows which: another schema, be it the same one after a change, has no table of that
/// id, so that a query over the one is never read as a query over the other. Schemas of equal tables count as one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TableId {
    pub(crate) index: u32,
    /// The digest of the schema.
    pub(crate) schema: u64,
}

impl TableId {
    /// Position in `Schema::tables` of its schema.
    pub fn index(self) -> usize {
        self.index as usize
    }
}

/// One instance of a table, subquery or CTE in a FROM clause; unique within a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RelationId(pub u32);

/// One common table expression; unique within a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CteId(pub u32);

/// What a SELECT reads from.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum From {
    /// One table, subquery or CTE.
    Relation(Relation),
    /// A join of two.
    Join(Box<Join>),
}

impl From {
    /// Whether all its joins are inner ones.
    pub fn is_inner(&self) -> bool {
        match self {
            Self::Relation(_) => true,
            Self::Join(join) => {
                matches!(join.kind, JoinKind::Inner | JoinKind::Cross)
                    && join.left.is_inner()
                    && join.right.is_inner()
            }
        }
    }

    /// All relations, left to right, those inside subqueries excepted.
    pub fn relations(&self) -> Vec<&Relation> {
        let mut relations = Vec::new();
        let mut pending = vec![self];
        while let Some(from) = pending.pop() {
            match from {
                Self::Relation(relation) => relations.push(relation),
                Self::Join(join) => pending.extend([&join.right, &join.left]),
            }
        }
        relations
    }
}

/// A join.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Join {
    /// Which rows survive.
    pub kind: JoinKind,
    /// Left operand.
    pub left: From,
    /// Right operand.
    pub right: From,
    /// The condition; USING and NATURAL are written out as equalities.
    pub on: Option<Expr>,
}

/// Which rows of a join survive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum JoinKind {
    /// Comma, JOIN, INNER JOIN.
    Inner,
    /// CROSS JOIN: an inner join that SQLite never reorders.
    Cross,
    /// LEFT JOIN.
    Left,
    /// RIGHT JOIN.
    Right,
    /// FULL JOIN.
    Full,
}

/// One relation in a FROM clause.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Relation {
    /// Its identity; columns refer to it.
    pub id: RelationId,
    /// Where its rows come from.
    pub source: RelationSource,
    /// INDEXED BY or NOT INDEXED, of a table only.
    pub hint: Option<IndexHint>,
}

impl Relation {
    /// A relation without a hint.
    pub fn new(id: RelationId, source: RelationSource) -> Self {
        Self { id, source, hint: None }
    }

    /// The table or view of the schema that it is a reading of.
    pub fn table(&self) -> Option<TableId> {
        match self.source {
            RelationSource::Table(id) => Some(id),
            _ => None,
        }
    }
}

/// By which indexes SQLite may read a table.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum IndexHint {
    /// By this one and no other: its name, lower case.
    By(String),
    /// By none.
    None,
}

/// Where a relation's rows come from.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum RelationSource {
    /// A table or view of the schema.
    Table(TableId),
    /// A subquery.
    Derived(Box<Query>),
    /// A common table expression.
    Cte(CteId),
    /// A table-valued function such as `json_each`.
    Function {
        /// Name, lower case.
        name: String,
        /// Arguments.
        args: Vec<Expr>,
    },
    /// `sqlite_master` (also known as `sqlite_schema`).
    Catalog,
}

/// A reference to a column of a relation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ColumnRef {
    /// The relation; of an enclosing query where the reference is correlated.
    pub relation: RelationId,
    /// Which of the relation's columns.
    pub column: Place,
}

/// Which column of a relation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Place {
    /// The one at that position among the relation's columns.
    At(u32),
    /// The rowid of a table without an INTEGER PRIMARY KEY; where there is one, that column stands for it.
    Rowid,
}

impl ColumnRef {
    /// The column at that position.
    pub fn at(relation: RelationId, position: u32) -> Self {
        Self { relation, column: Place::At(position) }
    }

    /// The rowid of a table without an INTEGER PRIMARY KEY.
    pub fn rowid(relation: RelationId) -> Self {
        Self { relation, column: Place::Rowid }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::At(position) => position.fmt(f),
            Self::Rowid => f.write_str("rowid"),
        }
    }
}

impl Place {
    /// The position, unless it is the rowid.
    pub fn position(self) -> Option<u32> {
        match self {
            Self::At(position) => Some(position),
            Self::Rowid => None,
        }
    }
}
