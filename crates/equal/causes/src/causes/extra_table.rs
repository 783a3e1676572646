//! The answer joins a table too many.

use super::other_tables::{Words, are_new, joins, slip};
use crate::cause::{Cause, Slip, Unclear};
use crate::pair::{Pair, Rest, Side};

pub(super) static CAUSE: Cause = Cause {
    id: "extra-table",
    title: "a table too many",
    about: "The answer joins a table that the gold does not read. What the answer asks, shows, groups or sorts by its columns \
            belongs to it.",
    example: [
        "SELECT name FROM singer",
        "SELECT singer.name FROM singer JOIN concert ON singer.id = concert.singer_id",
        "Only the prediction joins `concert`.",
    ],
    find,
};

fn find(pair: &Pair<'_>, rest: &mut Rest) -> Result<Vec<Slip>, Unclear> {
    if !rest.missing.is_empty() || !are_new(&rest.extra, &pair.gold) {
        return Ok(Vec::new());
    }
    let [more, fewer] = joins(pair, Side::Prediction, &rest.extra)?;
    let words = Words { verb: "", both: [more, fewer] };
    slip(&CAUSE, pair, rest, words).map(|slip| vec![slip])
}
