//! What a rule may know while it looks at a query.

use sqlgauge_sql::derive::{Facts, conjuncts};
use sqlgauge_sql::schema::{ForeignKey, Schema, Table, TableId};
use sqlgauge_sql::tree::{
    BinaryOperator, Body, ColumnRef, Expr, From, JoinKind, Place, Query, RelationId, RelationSource,
};
use sqlgauge_sql::visit::{Visitor, walk_query};

use crate::profile::Profile;
use crate::sensitive::Sensitivity;

/// Where a query stands, and so what of its result is seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Position {
    /// The statement: rows, their number, and the order that it asks for.
    Top,
    /// In FROM: rows and their number.
    Derived,
    /// In WITH: rows and their number.
    Cte,
    /// An operand of UNION ALL: rows and their number.
    Operand,
    /// An operand of UNION, INTERSECT or EXCEPT: only which rows there are.
    DistinctOperand,
    /// On the right of IN: only which rows there are.
    In,
    /// In EXISTS: only whether there is a row.
    Exists,
    /// As a value: the first row.
    Scalar,
}

impl Position {
    /// Whether repetition of rows makes no difference.
    pub fn is_set(self) -> bool {
        matches!(self, Self::DistinctOperand | Self::In | Self::Exists)
    }
}

/// What a rule may know while it looks at a query.
#[derive(Debug)]
pub struct RuleContext<'a> {
    /// The profile in use.
    pub profile: Profile,
    /// What the schema says about the relations of the statement.
    pub facts: Facts<'a>,
    /// Where the query stands.
    pub position: Position,
    /// Whether the expression stands where NULL and FALSE have the same effect.
    pub is_condition: bool,
    /// On which order of SQLite's the result of the query depends.
    pub sensitivity: Sensitivity,
    /// How many nodes copies of common table expressions may still add.
    pub copies_left: usize,
    /// The relations of which there may be no row where the expression stands, because an aggregate without GROUP BY
    /// has a result even then.
    pub(crate) lacking: Vec<RelationId>,
    pub(crate) published: &'a Published,
}

impl<'a> RuleContext<'a> {
    pub fn schema(&self) -> &'a Schema {
        self.facts.schema()
    }

    /// Whether the sound profile is in use.
    pub fn is_sound(&self) -> bool {
        self.profile == Profile::Sound
    }

    /// Whether the result depends on the order of groups.
    pub(crate) fn groups_show(&self) -> bool {
        self.sensitivity == Sensitivity::Groups
    }

    /// Whether the argument of an aggregate may be NULL in a row that is aggregated.
    pub(crate) fn is_nullable_in_row(&mut self, argument: &Expr) -> bool {
        let lacking = self.enter_rows();
        let nullable = self.facts.is_nullable(argument);
        self.leave_rows(lacking);
        nullable
    }

    /// From here on expressions are asked for rows that are there.
    pub(crate) fn enter_rows(&mut self) -> Vec<RelationId> {
        self.lacking.iter().for_each(|id| self.facts.set_null_extended(*id, false));
        std::mem::take(&mut self.lacking)
    }

    /// From here on expressions may be asked for without a row of these relations.
    pub(crate) fn leave_rows(&mut self, lacking: Vec<RelationId>) {
        lacking.iter().for_each(|id| self.facts.set_null_extended(*id, true));
        self.lacking = lacking;
    }

    /// The table column that a column is, if its relation reads a table.
    pub(crate) fn table_column(&self, column: ColumnRef) -> Option<TableColumn> {
        Some((self.facts.table_of(column.relation)?, column.column))
    }

    /// Whether the paper's script takes the column for UNIQUE.
    pub(crate) fn is_unique_as_published(&self, column: ColumnRef) -> bool {
        self.table_column(column)
            .is_some_and(|(table, column)| self.published.is_unique(table, column, self.schema()))
    }

    /// Whether the paper's script takes the column for `NON_NULL`.
    pub(crate) fn is_not_null_as_published(&self, column: ColumnRef) -> bool {
        self.table_column(column)
            .is_some_and(|(table, column)| self.published.is_not_null(table, column, self.schema()))
    }

    /// What a foreign key of a table refers to: in `etm@1` only where each reference equals one row there.
    pub(crate) fn partner(&self, table: &Table, key: &ForeignKey) -> Option<(TableId, Vec<u32>)> {
        match self.profile {
            Profile::Sound => self.schema().partner(table, key),
            Profile::Paper => self.schema().resolve_foreign_key(key),
        }
    }

    /// Whether `child` is a foreign key that refers to `parent`, a primary key (one column each).
    pub fn refers_to(&self, child: ColumnRef, parent: ColumnRef) -> bool {
        let (Some((from, column)), Some((to, key))) = (self.table_column(child), self.table_column(parent))
        else {
            return false;
        };
        let Some(table) = self.schema().table(from) else { return false };
        let (Some(column), Some(key)) = (column.position(), key.position()) else { return false };
        table.foreign_keys.iter().any(|foreign| {
            foreign.columns == [column] && self.partner(table, foreign) == Some((to, vec![key]))
        })
    }
}

type TableColumn = (TableId, Place);

/// What the paper's script takes for UNIQUE and `NON_NULL`: what the schema declares, and what an equality in an ON
/// clause of either query carries over to the other side of it.
#[derive(Debug, Default)]
pub(crate) struct Published {
    unique: Vec<TableColumn>,
    not_null: Vec<TableColumn>,
}

impl Published {
    /// What the ON clauses of these queries add.
    pub(crate) fn of(queries: [&Query; 2], schema: &Schema) -> Self {
        let mut equalities = Equalities::default();
        for query in queries {
            equalities.tables.clear();
            walk_query(&mut equalities, query);
            equalities.finish();
        }
        let mut facts = Self::default();
        loop {
            let mut changed = false;
            for &(a, b) in &equalities.pairs {
                for (from, to) in [(a, b), (b, a)] {
                    if facts.is_unique(from.0, from.1, schema) && !facts.is_unique(to.0, to.1, schema) {
                        facts.unique.push(to);
                        changed = true;
                    }
                    if facts.is_not_null(from.0, from.1, schema) && !facts.is_not_null(to.0, to.1, schema) {
                        facts.not_null.push(to);
                        changed = true;
                    }
                }
            }
            if !changed {
                return facts;
            }
        }
    }

    fn is_unique(&self, table: TableId, column: Place, schema: &Schema) -> bool {
        schema.table(table).is_some_and(|table| column.position().is_some_and(|at| table.is_unique(&[at])))
            || self.unique.contains(&(table, column))
    }

    fn is_not_null(&self, table: TableId, column: Place, schema: &Schema) -> bool {
        let declared = schema
            .table(table)
            .zip(column.position())
            .is_some_and(|(definition, at)| definition.is_not_null(at) || definition.primary_key == [at]);
        declared || self.not_null.contains(&(table, column))
    }
}

#[derive(Default)]
struct Equalities {
    tables: Vec<(RelationId, TableId)>,
    columns: Vec<(ColumnRef, ColumnRef)>,
    pairs: Vec<(TableColumn, TableColumn)>,
}

impl Equalities {
    fn finish(&mut self) {
        let of = |column: ColumnRef| {
            let (_, table) = self.tables.iter().find(|(relation, _)| *relation == column.relation)?;
            Some((*table, column.column))
        };
        let pairs: Vec<_> = self.columns.iter().filter_map(|&(a, b)| Some((of(a)?, of(b)?))).collect();
        self.pairs.extend(pairs);
        self.columns.clear();
    }
}

impl Visitor for Equalities {
    fn from(&mut self, from: &From) {
        let From::Join(join) = from else { return };
        let (JoinKind::Inner | JoinKind::Cross, Some(on)) = (join.kind, &join.on) else { return };
        let mut pending = vec![on];
        while let Some(expr) = pending.pop() {
            match expr {
                Expr::And(list) => pending.extend(list),
                Expr::Binary(BinaryOperator::Equal, a, b) => {
                    if let (Expr::Column(a), Expr::Column(b)) = (a.as_ref(), b.as_ref()) {
                        self.columns.push((*a, *b));
                    }
                }
                _ => {}
            }
        }
    }

    fn relation(&mut self, relation: &sqlgauge_sql::tree::Relation) {
        if let RelationSource::Table(table) = relation.source {
            self.tables.push((relation.id, table));
        }
    }
}

/// Whether a column can not be NULL in the rows that pass the SELECT's conditions.
pub(crate) fn passes_not_null(query: &Query, column: ColumnRef, facts: &Facts<'_>) -> bool {
    if !facts.column(column).nullable {
        return true;
    }
    let Body::Select(select) = &query.body else { return false };
    conjuncts(select).iter().any(|conjunct| sqlgauge_sql::derive::rejects_null(conjunct, column))
}
