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

pub(crate) fn add_conjunct(condition: &mut Option<Expr>, conjunct: Expr) {
    let mut all = take_conjuncts(condition);
    flatten_and(conjunct, &mut all);
    *condition = conjunction(all);
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
