//! The same columns in another order.

use crate::cause::{Cause, Slip, Unclear};
use crate::pair::{Pair, Rest, Side};
use crate::words::both;

pub(crate) static CAUSE: Cause = Cause {
    id: "output-order",
    title: "columns in a different order",
    about: "Both show the same columns, but not in the same order.",
    example: [
        "SELECT name, age FROM singer",
        "SELECT age, name FROM singer",
        "The prediction shows `age, name` in this order, the gold `name, age`.",
    ],
    find,
};

fn find(pair: &Pair<'_>, rest: &mut Rest) -> Result<Vec<Slip>, Unclear> {
    let at = rest.outputs.clone();
    let mut left: Vec<usize> = at.clone();
    for &at_gold in &at {
        let place = left
            .iter()
            .position(|&other| pair.same(&pair.gold.outputs[at_gold], &pair.prediction.outputs[other]));
        let Some(place) = place else { return Ok(Vec::new()) };
        left.remove(place);
    }
    if at.is_empty() {
        return Ok(Vec::new());
    }
    rest.outputs.clear();
    Ok(vec![all_outputs(&CAUSE, pair, " in this order")?])
}

/// A slip in the outputs that only all of them show.
pub(super) fn all_outputs(cause: &'static Cause, pair: &Pair<'_>, how: &str) -> Result<Slip, Unclear> {
    let [prediction, gold] = both(
        pair.values(Side::Prediction, &pair.prediction.outputs)?,
        pair.values(Side::Gold, &pair.gold.outputs)?,
    )?;
    let queries = pair.exchange(|clauses, other, _| clauses.outputs.clone_from(&other.outputs));
    Ok(Slip::new(cause, [format!("shows {prediction}{how}"), gold], queries))
}
