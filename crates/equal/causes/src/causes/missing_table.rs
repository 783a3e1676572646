//! The answer leaves out a table.

use super::other_tables::{Words, are_new, joins, slip};
use crate::cause::{Cause, Slip, Unclear};
use crate::pair::{Pair, Rest, Side};

pub(super) static CAUSE: Cause = Cause {
    id: "missing-table",
    title: "a table is missing",
    about: "The gold joins a table that the answer does not read. What the gold asks, shows, groups or sorts by its columns \
            belongs to it.",
    example: [
        "SELECT singer.name FROM singer JOIN concert ON singer.id = concert.singer_id",
        "SELECT name FROM singer",
        "Only the gold joins `concert`.",
    ],
    find,
};

fn find(pair: &Pair<'_>, rest: &mut Rest) -> Result<Vec<Slip>, Unclear> {
    if !rest.extra.is_empty() || !are_new(&rest.missing, &pair.prediction) {
        return Ok(Vec::new());
    }
    let [more, fewer] = joins(pair, Side::Gold, &rest.missing)?;
    let words = Words { verb: "", both: [fewer, more] };
    slip(&CAUSE, pair, rest, words).map(|slip| vec![slip])
}
