//! Conditions as lists of conjuncts.

use sqlgauge_sql::canonical::conjunction;
use sqlgauge_sql::tree::{Expr, From, JoinKind};

/// Takes the conjuncts out of a condition.
pub(crate) fn take_conjuncts(condition: &mut Option<Expr>) -> Vec<Expr> {
    let mut conjuncts = Vec::new();
    if let Some(condition) = condition.take() {
        flatten_and(condition, &mut conjuncts);
    }
    conjuncts
}

fn flatten_and(expr: Expr, conjuncts: &mut Vec<Expr>) {
    match expr {
        Expr::And(list) => list.into_iter().for_each(|operand| flatten_and(operand, conjuncts)),
        other => conjuncts.push(other),
    }
}

pub(crate) fn conjuncts_of(condition: Option<&Expr>) -> Vec<&Expr> {
    match condition {
        Some(Expr::And(list)) => list.iter().flat_map(|operand| conjuncts_of(Some(operand))).collect(),
        Some(other) => vec![other],
        None => Vec::new(),
    }
}

pub(crate) fn add_conjunct(condition: &mut Option<Expr>, conjunct: Expr) {
    let mut all = take_conjuncts(condition);
    flatten_and(conjunct, &mut all);
    *condition = conjunction(all);
}

/// The conditions of the inner joins of a FROM clause that no outer join weakens.
pub(crate) fn on_conjuncts(from: &From) -> Vec<&Expr> {
    let mut conjuncts = Vec::new();
    let mut pending = vec![from];
    while let Some(from) = pending.pop() {
        let From::Join(join) = from else { continue };
        match join.kind {
            JoinKind::Inner | JoinKind::Cross => {
                pending.extend([&join.left, &join.right]);
                conjuncts.extend(conjuncts_of(join.on.as_ref()));
            }
            JoinKind::Left => pending.push(&join.left),
            JoinKind::Right => pending.push(&join.right),
            JoinKind::Full => {}
        }
    }
    conjuncts
}

/// Keeps only the conditions of inner joins that pass the test.
pub(crate) fn retain_on(from: &mut From, test: &dyn Fn(&Expr) -> bool) {
    let From::Join(join) = from else { return };
    if matches!(join.kind, JoinKind::Inner | JoinKind::Cross) {
        let mut conjuncts = take_conjuncts(&mut join.on);
        conjuncts.retain(|conjunct| test(conjunct));
        join.on = conjunction(conjuncts);
    }
    retain_on(&mut join.left, test);
    retain_on(&mut join.right, test);
}
