//! Another order of the rows.

use crate::cause::{Cause, Slip, Unclear};
use crate::pair::{Pair, Rest, Side};
use crate::words::both;

pub(super) static CAUSE: Cause = Cause {
    id: "order",
    title: "a different order",
    about: "The queries sort by different values or in reverse, or one of them does not sort.",
    example: [
        "SELECT name FROM singer ORDER BY age DESC",
        "SELECT name FROM singer ORDER BY age",
        "The prediction sorts by `age`, the gold by `age DESC`.",
    ],
    find,
};

fn find(pair: &Pair<'_>, rest: &mut Rest) -> Result<Vec<Slip>, Unclear> {
    if !std::mem::take(&mut rest.order_by) {
        return Ok(Vec::new());
    }
    let (gold, prediction) = (&pair.gold.order_by, &pair.prediction.order_by);
    let words = if gold.is_empty() {
        [format!("sorts by {}", pair.order(Side::Prediction, prediction)?), String::new()]
    } else if prediction.is_empty() {
        [String::new(), format!("sorts by {}", pair.order(Side::Gold, gold)?)]
    } else {
        let [prediction, gold] =
            both(pair.order(Side::Prediction, prediction)?, pair.order(Side::Gold, gold)?)?;
        [format!("sorts by {prediction}"), format!("by {gold}")]
    };
    let queries = pair.exchange(|clauses, other, _| clauses.order_by.clone_from(&other.order_by));
    Ok(vec![Slip::new(&CAUSE, words, queries)])
}
