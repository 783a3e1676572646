//! Other columns are shown, more or fewer.

use sqlgauge_sql::tree::Expr;

use super::wrong_aggregate::shows_otherwise;
use crate::cause::{Cause, Slip, Unclear};
use crate::pair::{Pair, Rest, Side};

pub(super) static CAUSE: Cause = Cause {
    id: "other-outputs",
    title: "other columns shown",
    about: "The answer shows more or fewer columns than the gold, or computes another value at one place.",
    example: [
        "SELECT name FROM singer",
        "SELECT name, age FROM singer",
        "Yours gives the age too, the gold does not.",
    ],
    find,
};

fn find(pair: &Pair<'_>, rest: &mut Rest) -> Result<Vec<Slip>, Unclear> {
    let mut slips = shows_otherwise(&CAUSE, pair, rest, |_| true)?;
    if std::mem::take(&mut rest.width) {
        let both = pair.exchange(|clauses, other, _| clauses.outputs.clone_from(&other.outputs));
        slips.push(Slip::new(&CAUSE, said(pair)?, both));
    }
    Ok(slips)
}

fn said(pair: &Pair<'_>) -> Result<[String; 2], Unclear> {
    let (own, other) = (&pair.gold.outputs, &pair.yours.outputs);
    let (extra, missing) = (left_over(pair, other, own), left_over(pair, own, other));
    // What one of them shows more often than the other is not said to be shown by one alone.
    let is_in = |list: &[Expr], expr: &Expr| list.iter().any(|other| pair.same(expr, other));
    let more_often =
        extra.iter().any(|expr| is_in(own, expr)) || missing.iter().any(|expr| is_in(other, expr));
    if missing.is_empty() && !more_often {
        let values = pair.one(|say| say.values(Side::Yours, extra.iter().copied()))?;
        return Ok([format!("gives {values} too"), "does not".to_owned()]);
    }
    if extra.is_empty() && !more_often {
        let values = pair.one(|say| say.values(Side::Gold, missing.iter().copied()))?;
        return Ok([format!("does not give {values}"), "does".to_owned()]);
    }
    let said = pair.both(|say| say.values(Side::Yours, other), |say| say.values(Side::Gold, own))?;
    Ok(said.map(|values| format!("gives {values}")))
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
