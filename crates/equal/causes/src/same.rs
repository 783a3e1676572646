//! When two parts of queries are the same: up to the names of inner relations, the order of operands that commute, and
//! columns that a join makes equal.

use std::collections::{BTreeSet, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};

use sqlgauge_sql::schema::{Schema, TableId};
use sqlgauge_sql::tree::{ColumnRef, Expr, RelationId};
use sqlgauge_sql::visit::{Walk, change_exprs};
use sqlgauge_sql::{reads, refresh};

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
        change_exprs(&mut expr, |expr| match expr {
            Expr::Column(column) => *column = self.representative(*column),
            Expr::And(list) | Expr::Or(list) | Expr::InList { list, .. } => list.sort_by_key(hash),
            Expr::Binary(operator, left, right) if operator.commutes() && hash(left) > hash(right) => {
                std::mem::swap(left, right);
            }
            _ => {}
        });
        expr
    }

    pub(crate) fn same(&self, left: &Expr, right: &Expr) -> bool {
        left == right || self.normal(left) == self.normal(right)
    }

    /// The columns of these relations that an expression reads.
    pub(crate) fn columns(&self, expr: &Expr, of: &[RelationId]) -> BTreeSet<ColumnRef> {
        let of_relations = reads::columns(expr).into_iter().filter(|column| of.contains(&column.relation));
        of_relations.map(|column| self.representative(column)).collect()
    }
}

/// A piece with the relations inside numbered anew, apart from all others.
pub(crate) fn apart<T: Walk + Clone>(piece: &T) -> T {
    /// Where the numbers begin that stand only for the order of inner relations.
    const FIRST: u32 = 1_000_000;
    let (mut piece, mut relation, mut cte) = (piece.clone(), FIRST, FIRST);
    refresh(&mut piece, &mut relation, &mut cte);
    piece
}

/// Whether a part reads one of these relations.
pub(crate) fn reads_any(expr: &Expr, relations: &[RelationId]) -> bool {
    reads::columns(expr).iter().any(|column| relations.contains(&column.relation))
}

fn hash<T: Hash>(value: &T) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}
