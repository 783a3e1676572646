//! DISTINCT in one query and not in the other.

use super::wrong_aggregate::{differ_in_distinct, shows_otherwise};
use crate::cause::{Cause, Slip, Unclear};
use crate::pair::{Pair, Rest};

pub(super) static CAUSE: Cause = Cause {
    id: "distinct",
    title: "DISTINCT",
    about: "One of the queries removes repeated rows, or counts different values, and the other does not.",
    example: [
        "SELECT DISTINCT country FROM singer",
        "SELECT country FROM singer",
        "Only the gold uses DISTINCT.",
    ],
    find,
};

fn find(pair: &Pair<'_>, rest: &mut Rest) -> Result<Vec<Slip>, Unclear> {
    let differ =
        |at: &usize| differ_in_distinct(pair, [&pair.gold.outputs[*at], &pair.prediction.outputs[*at]]);
    let mut slips = shows_otherwise(&CAUSE, pair, rest, differ)?;
    if std::mem::take(&mut rest.distinct) {
        let words = if pair.gold.distinct { ["", "uses DISTINCT"] } else { ["uses DISTINCT", ""] };
        let both = pair.exchange(|clauses, other, _| clauses.distinct = other.distinct);
        slips.push(Slip::new(&CAUSE, words.map(str::to_owned), both));
    }
    Ok(slips)
}
