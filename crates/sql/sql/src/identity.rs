//! Relation and CTE identities: canonical numbering, and copies with identities of their own.

use std::collections::HashMap;

use crate::reads;
use crate::tree::{Cte, CteId, Expr, Query, Relation, RelationId, RelationSource};
use crate::visit::{Rewriter, Visitor, Walk};

/// Numbers the relations and CTEs of a query anew, from 0 in the order of a walk, so that two queries that
/// differ only in these numbers become equal.
pub fn renumber(query: &mut Query) {
    refresh(query, &mut 0, &mut 0);
}

/// Gives every relation and CTE that is declared inside a piece a new identity; references to relations
/// outside of it stay. `next_relation` and `next_cte` are the next free numbers, and are advanced.
pub fn refresh(piece: &mut impl Walk, next_relation: &mut u32, next_cte: &mut u32) {
    let relations = reads::relations(piece).into_iter().map(|id| (id, RelationId(take(next_relation))));
    let mut ctes = Ctes(Vec::new());
    piece.walk(&mut ctes);
    let ctes = ctes.0.into_iter().map(|id| (id, CteId(take(next_cte))));
    piece.rewrite(&mut Numbering { relations: relations.collect(), ctes: ctes.collect() });
}

fn take(next: &mut u32) -> u32 {
    let number = *next;
    *next = number.saturating_add(1);
    number
}

/// The CTEs that a piece of a query declares, in the order of a walk.
struct Ctes(Vec<CteId>);

impl Visitor for Ctes {
    fn query(&mut self, query: &Query) {
        self.0.extend(query.ctes.iter().map(|cte| cte.id));
    }
}

/// New numbers of relations and CTEs; those without one keep theirs.
#[derive(Debug, Default)]
pub struct Numbering {
    /// From the number that stands in the piece to the new one.
    pub relations: HashMap<RelationId, RelationId>,
    /// The same of common table expressions.
    pub ctes: HashMap<CteId, CteId>,
}

impl Rewriter for Numbering {
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
