//! FROM clauses: their joins, and relations that come and go.

use sqlgauge_base::budget;
use sqlgauge_sql::canonical::conjunction;
use sqlgauge_sql::reads::columns as columns_of;
use sqlgauge_sql::tree::{Expr, From, Join, JoinKind, Relation, RelationId, Select};

use super::conditions::{add_conjunct, take_conjuncts};

/// Whether every condition of a join that reads one relation may read another in its place: SQLite lets ON read only
/// what is joined there.
pub(crate) fn may_stand_in(from: &From, old: RelationId, new: RelationId) -> bool {
    let From::Join(join) = from else { return true };
    let reads = join.on.iter().flat_map(columns_of).any(|column| column.relation == old);
    let sees = || {
        let relations = from.relations();
        budget::spend(relations.len());
        relations.iter().any(|relation| relation.id == new)
    };
    budget::spend(1);
    (!reads || sees()) && may_stand_in(&join.left, old, new) && may_stand_in(&join.right, old, new)
}

/// The relation of a FROM clause that is a single one.
pub(crate) fn single_relation(select: &Select) -> Option<&Relation> {
    match &select.from {
        Some(From::Relation(relation)) => Some(relation),
        _ => None,
    }
}

/// Joins `right` to a FROM clause by an inner join.
pub(crate) fn join_inner(left: Option<From>, right: From) -> From {
    match left {
        Some(left) => From::Join(Box::new(Join { kind: JoinKind::Inner, left, right, on: None })),
        None => right,
    }
}

/// The inner join of all of these, in their order.
pub(crate) fn join_all(operands: impl IntoIterator<Item = From>) -> Option<From> {
    operands.into_iter().fold(None, |from, operand| Some(join_inner(from, operand)))
}

/// Takes some relations out of the operands of an inner join and the conditions on them: as a join of their own, and the conditions that
/// read them.
pub(crate) fn take_part(
    operands: &mut Vec<From>,
    conditions: &mut Vec<Expr>,
    part: &[RelationId],
) -> (Option<From>, Option<Expr>) {
    let reads = |e: &mut Expr| columns_of(e).iter().any(|column| part.contains(&column.relation));
    let is_member =
        |operand: &mut From| operand.relations().iter().any(|relation| part.contains(&relation.id));
    let inside = conditions.extract_if(.., reads).collect();
    (join_all(operands.extract_if(.., is_member)), conjunction(inside))
}

/// The conditions of all joins of a FROM clause.
pub(crate) fn on_exprs(from: &From) -> Vec<&Expr> {
    let mut exprs = Vec::new();
    on_conditions(from, &mut exprs);
    exprs
}

pub(super) fn on_conditions<'f>(from: &'f From, exprs: &mut Vec<&'f Expr>) {
    if let From::Join(join) = from {
        on_conditions(&join.left, exprs);
        on_conditions(&join.right, exprs);
        exprs.extend(&join.on);
    }
}

/// Whether a relation may leave a FROM clause: it is a direct operand of an inner join. The preserved side of an outer
/// join must stay, or there is nothing left to preserve.
pub(crate) fn may_go(from: &From, relation: RelationId) -> bool {
    let From::Join(join) = from else { return false };
    let is_it = |side: &From| matches!(side, From::Relation(leaf) if leaf.id == relation);
    if is_it(&join.left) || is_it(&join.right) {
        return matches!(join.kind, JoinKind::Inner | JoinKind::Cross);
    }
    may_go(&join.left, relation) || may_go(&join.right, relation)
}

/// A FROM clause without one of its inner relations. The conditions of the join that goes are kept: on the join
/// around it if there is one, else as conditions of WHERE.
pub(crate) fn without(from: From, relation: RelationId, filter: &mut Option<Expr>) -> Option<From> {
    let mut orphans = Vec::new();
    let mut left = remove(from, relation, &mut orphans)?;
    match &mut left {
        From::Join(join) if matches!(join.kind, JoinKind::Inner | JoinKind::Cross) => {
            for conjunct in orphans {
                add_conjunct(&mut join.on, conjunct);
            }
        }
        _ => {
            for conjunct in orphans {
                add_conjunct(filter, conjunct);
            }
        }
    }
    Some(left)
}

fn remove(from: From, relation: RelationId, orphans: &mut Vec<Expr>) -> Option<From> {
    match from {
        From::Relation(leaf) => (leaf.id != relation).then_some(From::Relation(leaf)),
        From::Join(join) => {
            let Join { kind, left, right, on } = *join;
            match (remove(left, relation, orphans), remove(right, relation, orphans)) {
                (Some(left), Some(right)) => Some(From::Join(Box::new(Join { kind, left, right, on }))),
                (Some(only), None) | (None, Some(only)) => {
                    orphans.extend(on);
                    Some(only)
                }
                (None, None) => None,
            }
        }
    }
}

/// Takes a FROM clause apart into the operands of its inner joins and their conditions.
pub(crate) fn take_inner(from: From, operands: &mut Vec<From>, conditions: &mut Vec<Expr>) {
    match from {
        From::Join(join) if matches!(join.kind, JoinKind::Inner | JoinKind::Cross) => {
            let join = *join;
            take_inner(join.left, operands, conditions);
            take_inner(join.right, operands, conditions);
            let mut on = join.on;
            conditions.extend(take_conjuncts(&mut on));
        }
        other => operands.push(other),
    }
}
