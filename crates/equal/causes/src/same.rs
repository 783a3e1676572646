//! When two parts of queries are the same: up to the names of inner relations, the order of operands that commute, and
//! columns that a join makes equal.

use std::collections::{BTreeSet, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};

use sqlgauge_sql::schema::{Schema, TableId};
use sqlgauge_sql::tree::{ColumnRef, CteId, Expr, Query, Relation, RelationId, RelationSource};
use sqlgauge_sql::visit::{Rewriter, Visitor, rewrite_expr, rewrite_query, walk_expr, walk_query};

/// Columns that stand for one another.
#[derive(Debug, Default)]
pub(crate) struct Classes(HashMap<ColumnRef, ColumnRef>);

impl Classes {
    /// Those that these equalities make: of columns that are stored and compared alike.
    pub(crate) fn of(keys: &[&Expr], tables: &[(RelationId, TableId)], schema: &Schema) -> Self {
        let mut classes = Self::default();
        let kind = |column: ColumnRef| {
            let (_, table) = tables.iter().find(|(id, _)| *id == column.relation)?;
            let column = schema.table(*table)?.at(column.column)?;
            Some((column.affinity, column.collation.clone()))
        };
        for key in keys {
            let Expr::Binary(_, left, right) = key else { continue };
            let (Expr::Column(left), Expr::Column(right)) = (&**left, &**right) else { continue };
            if kind(*left).is_some() && kind(*left) == kind(*right) {
                let (left, right) = (classes.representative(*left), classes.representative(*right));
                classes.0.insert(left.max(right), left.min(right));
            }
        }
        classes
    }

    pub(crate) fn representative(&self, mut column: ColumnRef) -> ColumnRef {
        while let Some(next) = self.0.get(&column).filter(|next| **next != column) {
            column = *next;
        }
        column
    }

    /// The form in which equal expressions are equal trees.
    pub(crate) fn normal(&self, expr: &Expr) -> Expr {
        let mut expr = apart(expr);
        rewrite_expr(&mut Normal(self), &mut expr);
        expr
    }

    pub(crate) fn same(&self, left: &Expr, right: &Expr) -> bool {
        left == right || self.normal(left) == self.normal(right)
    }

    /// The columns of these relations that an expression reads.
    pub(crate) fn columns(&self, expr: &Expr, of: &[RelationId]) -> BTreeSet<ColumnRef> {
        let mut columns = Columns(Vec::new());
        walk_expr(&mut columns, expr);
        let of_relations = columns.0.into_iter().filter(|column| of.contains(&column.relation));
        of_relations.map(|column| self.representative(column)).collect()
    }
}

/// An expression with the relations inside numbered anew, apart from all others.
pub(crate) fn apart(expr: &Expr) -> Expr {
    let mut expr = expr.clone();
    let mut inner = InnerRelations::default();
    walk_expr(&mut inner, &expr);
    rewrite_expr(&mut Renamed::apart(inner), &mut expr);
    expr
}

/// A query with the relations inside numbered anew, apart from all others.
pub(crate) fn renamed(query: &Query) -> Query {
    let mut query = query.clone();
    let mut inner = InnerRelations::default();
    walk_query(&mut inner, &query);
    rewrite_query(&mut Renamed::apart(inner), &mut query);
    query
}

/// Whether a part reads one of these relations.
pub(crate) fn reads_any(expr: &Expr, relations: &[RelationId]) -> bool {
    let mut columns = Columns(Vec::new());
    walk_expr(&mut columns, expr);
    columns.0.iter().any(|column| relations.contains(&column.relation))
}

/// All columns that a part reads, in the order of the text.
pub(crate) fn all_columns(expr: &Expr) -> Vec<ColumnRef> {
    let mut columns = Columns(Vec::new());
    walk_expr(&mut columns, expr);
    columns.0
}

struct Columns(Vec<ColumnRef>);

impl Visitor for Columns {
    fn expr(&mut self, expr: &Expr) {
        if let Expr::Column(column) = expr {
            self.0.push(*column);
        }
    }
}

#[derive(Default)]
struct InnerRelations {
    relations: Vec<RelationId>,
    ctes: Vec<CteId>,
}

impl Visitor for InnerRelations {
    fn query(&mut self, query: &Query) {
        self.ctes.extend(query.ctes.iter().map(|cte| cte.id));
    }

    fn relation(&mut self, relation: &Relation) {
        self.relations.push(relation.id);
    }
}

/// Gives relations and CTEs other numbers.
#[derive(Debug, Default)]
pub(crate) struct Renamed {
    pub(crate) relations: HashMap<RelationId, RelationId>,
    pub(crate) ctes: HashMap<CteId, CteId>,
}

/// Where the numbers begin that stand only for the order of inner relations.
const FIRST: u32 = 1_000_000;

impl Renamed {
    fn apart(inner: InnerRelations) -> Self {
        Self {
            relations: inner.relations.into_iter().zip((FIRST..).map(RelationId)).collect(),
            ctes: inner.ctes.into_iter().zip((FIRST..).map(CteId)).collect(),
        }
    }
}

impl Rewriter for Renamed {
    fn query(&mut self, query: &mut Query) {
        for cte in &mut query.ctes {
            cte.id = self.ctes.get(&cte.id).copied().unwrap_or(cte.id);
        }
    }

    fn relation(&mut self, relation: &mut Relation) {
        relation.id = self.relations.get(&relation.id).copied().unwrap_or(relation.id);
        if let RelationSource::Cte(id) = &mut relation.source {
            *id = self.ctes.get(id).copied().unwrap_or(*id);
        }
    }

    fn expr(&mut self, expr: &mut Expr) {
        if let Expr::Column(column) = expr {
            column.relation = self.relations.get(&column.relation).copied().unwrap_or(column.relation);
        }
    }
}

struct Normal<'a>(&'a Classes);

impl Rewriter for Normal<'_> {
    fn expr(&mut self, expr: &mut Expr) {
        match expr {
            Expr::Column(column) => *column = self.0.representative(*column),
            Expr::And(list) | Expr::Or(list) | Expr::InList { list, .. } => list.sort_by_key(hash),
            Expr::Binary(operator, left, right) if operator.commutes() && hash(left) > hash(right) => {
                std::mem::swap(left, right);
            }
            _ => {}
        }
    }
}

fn hash<T: Hash>(value: &T) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}
