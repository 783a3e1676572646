//! The order of the relations of a FROM clause: their colours, and what tells tied ones apart.

use sqlgauge_sql::tree::{Expr, From, JoinKind, OrderTerm, Relation, RelationId, RelationSource, Select};

use super::Canonical;
use super::hash::{bag, mix};
use crate::context::Position;
use crate::tools;

impl Canonical<'_, '_> {
    /// Gives every relation of a FROM clause its first colour; subqueries in it are put in order first.
    pub(super) fn paint(&mut self, from: &mut From, sensitive: bool) {
        match from {
            From::Join(join) => {
                self.paint(&mut join.left, sensitive);
                self.paint(&mut join.right, sensitive);
            }
            From::Relation(relation) => {
                if let RelationSource::Derived(query) = &mut relation.source {
                    self.query(query, Position::Derived, sensitive);
                }
                let colour = mix(self.hash_source(relation), self.depth);
                self.set_colour(relation.id, colour);
            }
        }
    }

    /// Puts the operands of inner joins in order. Without outer joins these are all relations; with them, the
    /// relations before the first outer join.
    pub(super) fn sort_from(&mut self, from: From, select: &Select, order_by: &[OrderTerm]) -> From {
        if !self.sound && !from.is_inner() {
            return from;
        }
        match from {
            From::Join(join) if matches!(join.kind, JoinKind::Inner | JoinKind::Cross) => {
                let mut operands = Vec::new();
                let mut conditions = Vec::new();
                tools::take_inner(From::Join(join), &mut operands, &mut conditions);
                self.refine(&operands, &conditions, select, order_by);
                operands.sort_by_cached_key(|operand| self.hash_from(operand));
                self.choose(&mut operands);
                let mut operands = operands.into_iter();
                let joined =
                    operands.next().map(|first| operands.fold(first, |l, r| tools::join_inner(Some(l), r)));
                let mut from = joined.unwrap_or_else(|| unreachable_from(select));
                if let From::Join(join) = &mut from {
                    join.on = tools::conjunction(conditions);
                }
                from
            }
            From::Join(mut join) => {
                join.left = self.sort_from(join.left, select, order_by);
                From::Join(join)
            }
            From::Relation(_) => from,
        }
    }

    /// Tells relations of one colour apart by what mentions them.
    fn refine(&mut self, operands: &[From], conditions: &[Expr], select: &Select, order_by: &[OrderTerm]) {
        let relations: Vec<RelationId> =
            operands.iter().flat_map(From::relations).map(|relation| relation.id).collect();
        for _ in 0..relations.len().min(4) {
            let mut colours: Vec<u64> = relations.iter().map(|id| self.colour(*id)).collect();
            colours.sort_unstable();
            if colours.windows(2).all(|pair| pair[0] != pair[1]) {
                return;
            }
            let new: Vec<u64> = relations
                .iter()
                .map(|&id| {
                    let tied = colours.iter().filter(|colour| **colour == self.colour(id)).count() > 1;
                    if tied { self.signature(id, conditions, select, order_by) } else { self.colour(id) }
                })
                .collect();
            for (id, colour) in relations.iter().zip(new) {
                self.set_colour(*id, colour);
            }
        }
    }

    /// The colour of a relation and of everything that mentions it, seen with the relation marked.
    fn signature(
        &mut self,
        id: RelationId,
        conditions: &[Expr],
        select: &Select,
        order_by: &[OrderTerm],
    ) -> u64 {
        let old = self.colour(id);
        self.set_colour(id, mix(old, 0xa5a5));
        let mentions = |expr: &Expr| tools::columns_of(expr).iter().any(|column| column.relation == id);
        let filters = tools::conjuncts_of(select.filter.as_ref()).into_iter().chain(conditions);
        let filters = bag(11, filters.filter(|e| mentions(e)).map(|e| self.hash_expr(e)));
        let groups = bag(12, select.group_by.iter().filter(|e| mentions(e)).map(|e| self.hash_expr(e)));
        let outputs = select.outputs.iter().enumerate().filter(|(_, output)| mentions(&output.expr));
        let outputs = bag(
            13,
            outputs.map(|(place, output)| {
                let place = if self.sound { place as u64 } else { 0 };
                mix(self.hash_expr(&output.expr), place)
            }),
        );
        let rest = select.having.iter().chain(order_by.iter().map(|term| &term.expr));
        let rest = bag(14, rest.filter(|e| mentions(e)).map(|e| self.hash_expr(e)));
        self.set_colour(id, old);
        [filters, groups, outputs, rest].into_iter().fold(old, mix)
    }

    /// Among operands with equal hashes takes the next order that was not tried.
    fn choose(&mut self, operands: &mut [From]) {
        let hashes: Vec<u64> = operands.iter().map(|operand| self.hash_from(operand)).collect();
        let mut start = 0;
        while start < operands.len() {
            let length = hashes[start..].iter().take_while(|hash| **hash == hashes[start]).count();
            for place in 0..length.saturating_sub(1) {
                let pick = self.choices.take(length - place);
                operands[start + place..start + length].rotate_left(pick);
            }
            for place in 0..length {
                if length > 1 {
                    let ids: Vec<_> = operands[start + place].relations().iter().map(|r| r.id).collect();
                    for id in ids {
                        let colour = mix(self.colour(id), place as u64 + 1);
                        self.set_colour(id, colour);
                    }
                }
            }
            start += length;
        }
    }
}

/// Only reached if a join had no operands, which cannot be.
fn unreachable_from(select: &Select) -> From {
    let id = select.outputs.iter().find_map(|output| tools::as_column(&output.expr)).map(|c| c.relation);
    From::Relation(Relation::new(id.unwrap_or(RelationId(0)), RelationSource::Catalog))
}
