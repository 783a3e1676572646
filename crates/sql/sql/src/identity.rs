//! Relation and CTE identities: canonical numbering, and copies with identities of their own.

use std::collections::HashMap;

use crate::tree::{Cte, CteId, Expr, Query, Relation, RelationId, RelationSource};
use crate::visit::{Rewriter, Visitor, rewrite_expr, rewrite_query, walk_expr, walk_query};

/// Numbers the relations and CTEs of a query anew, from 0 in the order of a walk, so that two queries that
/// differ only in these numbers become equal.
pub fn renumber(query: &mut Query) {
    let mut declared = Declared::default();
    walk_query(&mut declared, query);
    let mut mapping = Mapping::new(&declared, 0, 0);
    rewrite_query(&mut mapping, query);
}

/// Gives every relation and CTE that is declared inside `expr` a new identity; references to relations
/// outside of it stay. `next_relation` and `next_cte` are the next free numbers, and are advanced.
pub(crate) fn refresh(expr: &mut Expr, next_relation: &mut u32, next_cte: &mut u32) {
    let mut declared = Declared::default();
    walk_expr(&mut declared, expr);
    let mut mapping = Mapping::new(&declared, *next_relation, *next_cte);
    *next_relation += u32::try_from(declared.relations.len()).unwrap_or(u32::MAX);
    *next_cte += u32::try_from(declared.ctes.len()).unwrap_or(u32::MAX);
    rewrite_expr(&mut mapping, expr);
}

/// [`refresh`] for a whole query.
pub(crate) fn refresh_query(query: &mut Query, next_relation: &mut u32, next_cte: &mut u32) {
    let mut declared = Declared::default();
    walk_query(&mut declared, query);
    let mut mapping = Mapping::new(&declared, *next_relation, *next_cte);
    *next_relation += u32::try_from(declared.relations.len()).unwrap_or(u32::MAX);
    *next_cte += u32::try_from(declared.ctes.len()).unwrap_or(u32::MAX);
    rewrite_query(&mut mapping, query);
}

/// The relations and CTEs that a piece of a query declares, in the order of a walk.
#[derive(Default)]
struct Declared {
    relations: Vec<RelationId>,
    ctes: Vec<CteId>,
}

impl Visitor for Declared {
    fn query(&mut self, query: &Query) {
        self.ctes.extend(query.ctes.iter().map(|cte| cte.id));
    }

    fn relation(&mut self, relation: &Relation) {
        self.relations.push(relation.id);
    }
}

struct Mapping {
    relations: HashMap<RelationId, RelationId>,
    ctes: HashMap<CteId, CteId>,
}

impl Mapping {
    fn new(declared: &Declared, first_relation: u32, first_cte: u32) -> Self {
        let relations = declared.relations.iter().zip(first_relation..).map(|(&id, n)| (id, RelationId(n)));
        let ctes = declared.ctes.iter().zip(first_cte..).map(|(&id, n)| (id, CteId(n)));
        Self { relations: relations.collect(), ctes: ctes.collect() }
    }
}

impl Rewriter for Mapping {
    fn query(&mut self, query: &mut Query) {
        for Cte { id, .. } in &mut query.ctes {
            *id = self.ctes.get(id).copied().unwrap_or(*id);
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
