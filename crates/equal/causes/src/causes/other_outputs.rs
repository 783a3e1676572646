//! Other columns are shown, more or fewer.

use sqlgauge_sql::tree::Expr;

use super::wrong_aggregate::shows_otherwise;
use crate::cause::{Cause, Slip, Unclear};
use crate::pair::{Pair, Rest, Side};
use crate::words::both;

pub(super) static CAUSE: Cause = Cause {
    id: "other-outputs",
    title: "selects different columns",
    about: "The answer shows more or fewer columns than the gold, or computes a different value at one place.",
    example: ["SELECT name FROM singer", "SELECT name, age FROM singer", "Only the prediction shows `age`."],
    find,
};

fn find(pair: &Pair<'_>, rest: &mut Rest) -> Result<Vec<Slip>, Unclear> {
    let mut slips = shows_otherwise(&CAUSE, pair, rest, |_| true)?;
    if std::mem::take(&mut rest.width) {
        let queries = pair.exchange(|clauses, other, _| clauses.outputs.clone_from(&other.outputs));
        slips.push(Slip::new(&CAUSE, words(pair)?, queries));
    }
    Ok(slips)
}

fn words(pair: &Pair<'_>) -> Result<[String; 2], Unclear> {
    let (gold_outputs, other) = (&pair.gold.outputs, &pair.prediction.outputs);
    let (extra, missing) = (left_over(pair, other, gold_outputs), left_over(pair, gold_outputs, other));
    // What one of them shows more often than the other is not said to be shown by one alone.
    let is_in = |list: &[Expr], expr: &Expr| list.iter().any(|other| pair.same(expr, other));
    let more_often =
        extra.iter().any(|expr| is_in(gold_outputs, expr)) || missing.iter().any(|expr| is_in(other, expr));
    if missing.is_empty() && !more_often {
        let values = pair.values(Side::Prediction, extra.iter().copied())?;
        return Ok([format!("shows {values}"), String::new()]);
    }
    if extra.is_empty() && !more_often {
        let values = pair.values(Side::Gold, missing.iter().copied())?;
        return Ok([String::new(), format!("shows {values}")]);
    }
    let [prediction, gold] =
        both(pair.values(Side::Prediction, other)?, pair.values(Side::Gold, gold_outputs)?)?;
    Ok([format!("shows {prediction}"), gold])
}

/// The outputs that have no counterpart, each counterpart taken once.
fn left_over<'e>(pair: &Pair<'_>, of: &'e [Expr], counterparts: &[Expr]) -> Vec<&'e Expr> {
    let mut free: Vec<&Expr> = counterparts.iter().collect();
    let has_none = |expr: &&Expr| match free.iter().position(|other| pair.same(expr, other)) {
        Some(at) => {
            free.remove(at);
            false
        }
        None => true,
    };
    of.iter().filter(has_none).collect()
}
