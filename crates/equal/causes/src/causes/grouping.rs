//! Other groups.

use crate::cause::{Cause, Slip, Unclear};
use crate::pair::{Pair, Rest, Side};
use crate::words::both;

pub(super) static CAUSE: Cause = Cause {
    id: "grouping",
    title: "grouped by different values",
    about: "The queries group by different values, or one of them does not group.",
    example: [
        "SELECT country, count(*) FROM singer GROUP BY country",
        "SELECT country, count(*) FROM singer GROUP BY name",
        "The prediction groups by `name`, the gold by `country`.",
    ],
    find,
};

fn find(pair: &Pair<'_>, rest: &mut Rest) -> Result<Vec<Slip>, Unclear> {
    if !std::mem::take(&mut rest.group_by) {
        return Ok(Vec::new());
    }
    let (gold, prediction) = (&pair.gold.group_by, &pair.prediction.group_by);
    let words = if gold.is_empty() {
        [format!("groups by {}", pair.values(Side::Prediction, prediction)?), String::new()]
    } else if prediction.is_empty() {
        [String::new(), format!("groups by {}", pair.values(Side::Gold, gold)?)]
    } else {
        let [prediction, gold] =
            both(pair.values(Side::Prediction, prediction)?, pair.values(Side::Gold, gold)?)?;
        [format!("groups by {prediction}"), format!("by {gold}")]
    };
    let queries = pair.exchange(|clauses, other, _| clauses.group_by.clone_from(&other.group_by));
    Ok(vec![Slip::new(&CAUSE, words, queries)])
}
