//! Reads two merged tables once where the query joins them by the key that linked them.

use sqlgauge_sql::canonical::{conjunction, conjuncts_of};
use sqlgauge_sql::tree::{
    BinaryOperator, ColumnRef, Expr, From, Join, JoinKind, Relation, RelationId, RelationSource,
};

use super::{Rewriting, add_conditions};
use crate::step::Merged;

/// A child and its parent in one FROM clause.
#[derive(Clone, Copy)]
struct Pair {
    child: RelationId,
    parent: RelationId,
}

/// Whose rows an outer join of two relations keeps.
#[derive(Clone, Copy)]
enum KeptRows {
    Rows(RelationId),
    All,
}

impl KeptRows {
    fn by(kind: JoinKind, first: RelationId, second: RelationId) -> Option<Self> {
        match kind {
            JoinKind::Left => Some(Self::Rows(first)),
            JoinKind::Right => Some(Self::Rows(second)),
            JoinKind::Full => Some(Self::All),
            JoinKind::Inner | JoinKind::Cross => None,
        }
    }
}

impl Rewriting<'_> {
    /// Puts one relation in the place of two that are joined as the merged tables were. `filter` is the WHERE clause.
    pub(super) fn join_merged(
        &mut self,
        mut from: From,
        filter: &mut Option<Expr>,
        conditions: &mut Vec<Expr>,
    ) -> From {
        let Some(merged) = &self.step.forth.merged else { return from };
        from = self.outer_pairs(from, merged, conditions);
        while let Some(pair) = self.find_pair(&from, filter.as_ref(), merged) {
            let mut carried = Vec::new();
            let (rest, survivor) = match without(from, pair.parent, &mut carried) {
                Ok(rest) => (rest, pair.child),
                Err(whole) => match without(whole, pair.child, &mut carried) {
                    Ok(rest) => (rest, pair.parent),
                    Err(whole) => return whole,
                },
            };
            from = rest;
            self.unite(&mut from, pair, merged, survivor);
            let is_link = |expr: &Expr| link_of(expr, pair, merged).is_some();
            let all = filter.take().map_or_else(Vec::new, conjuncts_of);
            *filter = conjunction(all.into_iter().filter(|expr| !is_link(expr)).collect());
            drop_links(&mut from, &is_link);
            carried.retain(|expr| !is_link(expr));
            match &mut from {
                From::Join(join) if matches!(join.kind, JoinKind::Inner | JoinKind::Cross) => {
                    add_conditions(&mut join.on, carried);
                }
                _ => add_conditions(filter, carried),
            }
            for projection in [&merged.child.1, &merged.parent.1] {
                conditions.extend(self.present(projection, survivor));
            }
        }
        from
    }

    /// The relation of the child reads the new table, which both are parts of.
    fn unite(&mut self, from: &mut From, pair: Pair, merged: &Merged, to: RelationId) {
        let source = self.source(merged.child.1.to);
        set_source(from, to, &source);
        self.substitute(pair.child, merged.child.0, &merged.child.1, to);
        self.substitute(pair.parent, merged.parent.0, &merged.parent.1, to);
        self.done.extend([pair.child, pair.parent]);
    }

    fn table_of(&self, relation: &Relation) -> Option<usize> {
        self.image(relation).map(|(table, _)| table)
    }

    /// A child and a parent that inner joins link, by the conditions of the joins or of WHERE.
    fn find_pair(&self, from: &From, filter: Option<&Expr>, merged: &Merged) -> Option<Pair> {
        let (mut leaves, mut links) = (Vec::new(), Vec::new());
        inner_part(from, &mut leaves, &mut links);
        links.extend(filter.into_iter().flat_map(operands));
        let of = |table: usize| leaves.iter().filter(move |leaf| self.table_of(leaf) == Some(table));
        for child in of(merged.child.0) {
            for parent in of(merged.parent.0) {
                let pair = Pair { child: child.id, parent: parent.id };
                let has = |key: &(u32, u32)| {
                    links.iter().any(|expr| link_of(expr, pair, merged).as_ref() == Some(key))
                };
                if merged.key.iter().all(has) {
                    return Some(pair);
                }
            }
        }
        None
    }

    /// Outer joins of parent and child by the key alone are rows of the new table, and a FULL JOIN is all of them.
    fn outer_pairs(&mut self, from: From, merged: &Merged, conditions: &mut Vec<Expr>) -> From {
        let From::Join(join) = from else { return from };
        let Join { kind, left, right, on } = *join;
        if let (From::Relation(first), From::Relation(second), Some(condition)) = (&left, &right, &on)
            && let Some(pair) = self.outer_pair(first, second, condition, merged)
            && let Some(rows) = KeptRows::by(kind, first.id, second.id)
        {
            let (to, mut from) = match rows {
                KeptRows::Rows(id) if id == second.id => (id, right),
                KeptRows::Rows(_) | KeptRows::All => (first.id, left),
            };
            if let KeptRows::Rows(id) = rows {
                let projection = if pair.child == id { &merged.child.1 } else { &merged.parent.1 };
                conditions.extend(self.present(projection, to));
            }
            self.unite(&mut from, pair, merged, to);
            return from;
        }
        let goes_left = matches!(kind, JoinKind::Inner | JoinKind::Cross | JoinKind::Left);
        let left = if goes_left { self.outer_pairs(left, merged, conditions) } else { left };
        From::Join(Box::new(Join { kind, left, right, on }))
    }

    fn outer_pair(&self, first: &Relation, second: &Relation, on: &Expr, merged: &Merged) -> Option<Pair> {
        let tables = (self.table_of(first)?, self.table_of(second)?);
        let pair = if tables == (merged.child.0, merged.parent.0) {
            Pair { child: first.id, parent: second.id }
        } else if tables == (merged.parent.0, merged.child.0) {
            Pair { child: second.id, parent: first.id }
        } else {
            return None;
        };
        let all: Vec<&Expr> = operands(on).collect();
        let has = |key: &(u32, u32)| all.iter().any(|expr| link_of(expr, pair, merged).as_ref() == Some(key));
        let is_link = |expr: &&Expr| link_of(expr, pair, merged).is_some();
        (merged.key.iter().all(has) && all.iter().all(is_link)).then_some(pair)
    }
}

fn operands(expr: &Expr) -> impl Iterator<Item = &Expr> {
    let all = match expr {
        Expr::And(list) => list.as_slice(),
        other => std::slice::from_ref(other),
    };
    all.iter()
}

/// The part of the key that a condition equates.
fn link_of(expr: &Expr, pair: Pair, merged: &Merged) -> Option<(u32, u32)> {
    let Expr::Binary(BinaryOperator::Equal, left, right) = expr else { return None };
    let (Expr::Column(left), Expr::Column(right)) = (&**left, &**right) else { return None };
    merged.key.iter().copied().find(|&(column, referred)| {
        let (child, parent) = (ColumnRef::at(pair.child, column), ColumnRef::at(pair.parent, referred));
        (*left, *right) == (child, parent) || (*left, *right) == (parent, child)
    })
}

/// The relations whose rows are all kept and joined by inner joins, with the conditions of those.
fn inner_part<'f>(from: &'f From, leaves: &mut Vec<&'f Relation>, links: &mut Vec<&'f Expr>) {
    match from {
        From::Relation(relation) => leaves.push(relation),
        From::Join(join) => match join.kind {
            JoinKind::Inner | JoinKind::Cross => {
                inner_part(&join.left, leaves, links);
                inner_part(&join.right, leaves, links);
                links.extend(join.on.iter().flat_map(operands));
            }
            JoinKind::Left => inner_part(&join.left, leaves, links),
            JoinKind::Right | JoinKind::Full => {}
        },
    }
}

/// FROM without a relation; the condition by which it was joined is carried on. `Err` where it is not there, or an outer
/// join keeps its rows.
fn without(from: From, gone: RelationId, carried: &mut Vec<Expr>) -> Result<From, From> {
    let From::Join(join) = from else { return Err(from) };
    let Join { kind, left, right, on } = *join;
    let is_gone = |side: &From| matches!(side, From::Relation(relation) if relation.id == gone);
    let is_inner = matches!(kind, JoinKind::Inner | JoinKind::Cross);
    if is_inner && (is_gone(&left) || is_gone(&right)) {
        carried.extend(on.into_iter().flat_map(conjuncts_of));
        return Ok(if is_gone(&left) { right } else { left });
    }
    let (left, right, is_without) = match without(left, gone, carried) {
        Ok(left) => (left, right, true),
        Err(left) => match without(right, gone, carried) {
            Ok(right) => (left, right, true),
            Err(right) => (left, right, false),
        },
    };
    let from = From::Join(Box::new(Join { kind, left, right, on }));
    if is_without { Ok(from) } else { Err(from) }
}

fn set_source(from: &mut From, id: RelationId, source: &RelationSource) {
    match from {
        From::Relation(relation) if relation.id == id => {
            relation.source = source.clone();
            relation.hint = None;
        }
        From::Relation(_) => {}
        From::Join(join) => {
            set_source(&mut join.left, id, source);
            set_source(&mut join.right, id, source);
        }
    }
}

/// Takes the equalities of the key out of the conditions of joins.
fn drop_links(from: &mut From, is_link: &dyn Fn(&Expr) -> bool) {
    if let From::Join(join) = from {
        if let Some(on) = join.on.take() {
            let mut all = conjuncts_of(on);
            all.retain(|expr| !is_link(expr));
            join.on = conjunction(all);
        }
        drop_links(&mut join.left, is_link);
        drop_links(&mut join.right, is_link);
    }
}
