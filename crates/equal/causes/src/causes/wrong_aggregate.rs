//! Another aggregate is shown.

use sqlgauge_sql::derive::has_aggregate;
use sqlgauge_sql::tree::Expr;

use super::output_order::all_outputs;
use crate::cause::{Cause, Slip, Unclear};
use crate::pair::{Pair, Rest, Side};
use crate::words::both;

pub(super) static CAUSE: Cause = Cause {
    id: "wrong-aggregate",
    title: "a different aggregate",
    about: "At one place of the result one of the queries computes a different aggregate, or none.",
    example: [
        "SELECT avg(age) FROM singer",
        "SELECT max(age) FROM singer",
        "The prediction shows `max(age)`, the gold `avg(age)`.",
    ],
    find,
};

fn find(pair: &Pair<'_>, rest: &mut Rest) -> Result<Vec<Slip>, Unclear> {
    shows_otherwise(&CAUSE, pair, rest, |at| {
        let outputs = [&pair.gold, &pair.prediction].map(|clauses| &clauses.outputs[*at]);
        outputs.into_iter().any(has_aggregate) && !differ_in_distinct(pair, outputs)
    })
}

/// Whether two aggregates are the same but for DISTINCT.
pub(super) fn differ_in_distinct(pair: &Pair<'_>, outputs: [&Expr; 2]) -> bool {
    let [Expr::Aggregate(gold), Expr::Aggregate(prediction)] = outputs else { return false };
    let mut other = prediction.clone();
    other.distinct = gold.distinct;
    gold.distinct != prediction.distinct && pair.same(outputs[0], &Expr::Aggregate(other))
}

/// Slips in the outputs of which something is so; they are taken out.
pub(super) fn shows_otherwise(
    cause: &'static Cause,
    pair: &Pair<'_>,
    rest: &mut Rest,
    wanted: impl Fn(&usize) -> bool,
) -> Result<Vec<Slip>, Unclear> {
    if are_crossed(pair, &rest.outputs) && rest.outputs.iter().any(&wanted) {
        rest.outputs.clear();
        return Ok(vec![all_outputs(cause, pair, "")?]);
    }
    let (places, left): (Vec<usize>, Vec<usize>) =
        std::mem::take(&mut rest.outputs).into_iter().partition(wanted);
    rest.outputs = left;
    places.into_iter().map(|at| shows(cause, pair, at)).collect()
}

/// Outputs that are compared each with each.
const MOST_CROSSED: usize = 50;

/// Whether an output of one stands at another place in the other, so that places say nothing alone.
fn are_crossed(pair: &Pair<'_>, places: &[usize]) -> bool {
    let is_same =
        |at: usize, other: usize| pair.same(&pair.gold.outputs[at], &pair.prediction.outputs[other]);
    places.len() <= MOST_CROSSED
        && places.iter().any(|&at| places.iter().any(|&other| other != at && is_same(at, other)))
}

fn shows(cause: &'static Cause, pair: &Pair<'_>, at: usize) -> Result<Slip, Unclear> {
    let [prediction, gold] = both(
        pair.code(Side::Prediction, &pair.prediction.outputs[at])?,
        pair.code(Side::Gold, &pair.gold.outputs[at])?,
    )?;
    let queries = pair.exchange(|clauses, other, _| clauses.outputs[at] = other.outputs[at].clone());
    Ok(Slip::new(cause, [format!("shows {prediction}"), gold], queries))
}
