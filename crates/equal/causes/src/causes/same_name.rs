//! A column of the same name, of another table.

use super::other_column::{columns_changed, replaced};
use crate::cause::{Cause, Slip, Unclear};
use crate::pair::{Pair, Rest};

pub(super) static CAUSE: Cause = Cause {
    id: "same-name",
    title: "a column of that name of the wrong table",
    about: "Where the gold takes a column of one table, the answer takes the column of that name of a different table.",
    example: [
        "SELECT singer.name FROM singer JOIN concert ON singer.id = concert.singer_id",
        "SELECT concert.name FROM singer JOIN concert ON singer.id = concert.singer_id",
        "The prediction shows `concert.name`, the gold `singer.name`.",
    ],
    find,
};

fn find(pair: &Pair<'_>, rest: &mut Rest) -> Result<Vec<Slip>, Unclear> {
    replaced(&CAUSE, pair, rest, |gold, prediction| {
        columns_changed(pair, gold, prediction).is_some_and(|changed| {
            let name = |column| pair.column_name(column).map(str::to_ascii_lowercase);
            changed.iter().all(|&(gold, other)| gold.relation != other.relation && name(gold) == name(other))
        })
    })
}
