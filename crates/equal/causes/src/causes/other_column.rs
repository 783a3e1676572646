//! Another column at the same place.

use sqlgauge_sql::reads;
use sqlgauge_sql::tree::{ColumnRef, Expr, Literal};
use sqlgauge_sql::visit::change_exprs;

use super::wrong_aggregate::shows_otherwise;
use crate::cause::{Cause, Slip, Unclear};
use crate::pair::{Pair, Rest, Unlike};
use crate::same::apart;

pub(super) static CAUSE: Cause = Cause {
    id: "other-column",
    title: "a different column",
    about: "The answer takes a different column at a place where all else is the same: in a condition, or in what it shows.",
    example: [
        "SELECT max(age) FROM singer",
        "SELECT max(height) FROM singer",
        "The prediction shows `max(height)`, the gold `max(age)`.",
    ],
    find,
};

fn find(pair: &Pair<'_>, rest: &mut Rest) -> Result<Vec<Slip>, Unclear> {
    replaced(&CAUSE, pair, rest, |gold, prediction| columns_changed(pair, gold, prediction).is_some())
}

/// Slips in conditions and outputs of which something is so.
pub(super) fn replaced(
    cause: &'static Cause,
    pair: &Pair<'_>,
    rest: &mut Rest,
    wanted: impl Fn(&Expr, &Expr) -> bool,
) -> Result<Vec<Slip>, Unclear> {
    let mut slips = Vec::new();
    while let Some(unlike) = next(rest, &wanted) {
        slips.push(pair.tests_otherwise(cause, &unlike)?);
    }
    let shows = |at: &usize| wanted(&pair.gold.outputs[*at], &pair.prediction.outputs[*at]);
    slips.extend(shows_otherwise(cause, pair, rest, shows)?);
    Ok(slips)
}

/// The next two conditions, one of each query, of which it is so; taken out.
fn next(rest: &mut Rest, wanted: &impl Fn(&Expr, &Expr) -> bool) -> Option<Unlike> {
    let differing = rest.conditions.iter().find_map(|unlike| {
        let gold = unlike.gold.iter().map(|gold| (unlike.clause, gold));
        gold.flat_map(|(clause, gold)| {
            let same = rest.conditions.iter().filter(move |other| other.clause == clause);
            same.flat_map(|other| &other.prediction).map(move |prediction| (clause, gold, prediction))
        })
        .find(|(_, gold, prediction)| wanted(gold, prediction))
        .map(|(clause, gold, prediction)| Unlike {
            clause,
            gold: vec![gold.clone()],
            prediction: vec![prediction.clone()],
        })
    })?;
    for unlike in &mut rest.conditions {
        unlike.gold.retain(|expr| !differing.gold.contains(expr));
        unlike.prediction.retain(|expr| !differing.prediction.contains(expr));
    }
    rest.conditions.retain(|unlike| !unlike.gold.is_empty() || !unlike.prediction.is_empty());
    Some(differing)
}

/// The columns of two expressions that are the same but for columns: each of the gold with that of the answer, where they
/// are not the same.
pub(super) fn columns_changed(
    pair: &Pair<'_>,
    gold: &Expr,
    prediction: &Expr,
) -> Option<Vec<(ColumnRef, ColumnRef)>> {
    let blank = |expr: &Expr| {
        let mut expr = expr.clone();
        change_exprs(&mut expr, |expr| {
            if matches!(expr, Expr::Column(_)) {
                *expr = Expr::Literal(Literal::Null);
            }
        });
        expr
    };
    let [gold, prediction] = [&apart(gold), &apart(prediction)];
    if blank(gold) != blank(prediction) {
        return None;
    }
    let both = reads::columns(gold).into_iter().zip(reads::columns(prediction));
    let representative = |column: ColumnRef| pair.classes.representative(column);
    let changed: Vec<_> =
        both.filter(|(gold, prediction)| representative(*gold) != representative(*prediction)).collect();
    (!changed.is_empty()).then_some(changed)
}
