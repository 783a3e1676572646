//! The same conditions, joined by AND in one query and by OR in the other.

use sqlgauge_sql::tree::Expr;

use crate::cause::{Cause, Slip, Unclear};
use crate::clauses::Clause;
use crate::pair::{Pair, Rest, Unlike};

pub(super) static CAUSE: Cause = Cause {
    id: "connective",
    title: "AND for OR",
    about: "Both ask the same conditions, one of them all together (AND), the other any of them (OR).",
    example: [
        "SELECT name FROM singer WHERE age > 20 AND country = 'Peru'",
        "SELECT name FROM singer WHERE age > 20 OR country = 'Peru'",
        "The prediction tests `age > 20 OR country = 'Peru'`, the gold `age > 20 AND country = 'Peru'`.",
    ],
    find,
};

fn find(pair: &Pair<'_>, rest: &mut Rest) -> Result<Vec<Slip>, Unclear> {
    let mut slips = Vec::new();
    while let Some(unlike) = next(pair, rest) {
        slips.push(pair.tests_otherwise(&CAUSE, &unlike)?);
    }
    Ok(slips)
}

/// The parts of a condition joined by either word.
fn operands(expr: &Expr) -> Option<&[Expr]> {
    match expr {
        Expr::And(list) | Expr::Or(list) => Some(list),
        _ => None,
    }
}

fn next(pair: &Pair<'_>, rest: &mut Rest) -> Option<Unlike> {
    let of = |clause: Clause, side: fn(&Unlike) -> &Vec<Expr>| -> Vec<Expr> {
        let same_clause = rest.conditions.iter().filter(|unlike| unlike.clause == clause);
        same_clause.flat_map(side).cloned().collect()
    };
    let unlike_pair = [Clause::Where, Clause::Having].into_iter().find_map(|clause| {
        let (gold, prediction) = (of(clause, |unlike| &unlike.gold), of(clause, |unlike| &unlike.prediction));
        let of_gold =
            gold.iter().find_map(|expr| Some((vec![expr.clone()], counterpart(pair, expr, &prediction)?)));
        let pair_of =
            || prediction.iter().find_map(|expr| Some((counterpart(pair, expr, &gold)?, vec![expr.clone()])));
        let (gold, prediction) = of_gold.or_else(pair_of)?;
        Some(Unlike { clause, gold, prediction })
    })?;
    for unlike in &mut rest.conditions {
        unlike.gold.retain(|expr| !unlike_pair.gold.contains(expr));
        unlike.prediction.retain(|expr| !unlike_pair.prediction.contains(expr));
    }
    rest.conditions.retain(|unlike| !unlike.gold.is_empty() || !unlike.prediction.is_empty());
    Some(unlike_pair)
}

/// What of the other query has the same operands: one condition of the other connective, or each a condition of its own.
fn counterpart(pair: &Pair<'_>, expr: &Expr, others: &[Expr]) -> Option<Vec<Expr>> {
    let parts = operands(expr)?;
    let same_operands = |other: &&Expr| {
        let Some(list) = operands(other) else { return false };
        let has = |expr: &Expr| list.iter().any(|other| pair.same(expr, other));
        list.len() == parts.len() && parts.iter().all(has)
    };
    let whole = others.iter().find(same_operands).map(|other| vec![other.clone()]);
    whole.or_else(|| {
        parts.iter().map(|part| others.iter().find(|other| pair.same(part, other)).cloned()).collect()
    })
}
