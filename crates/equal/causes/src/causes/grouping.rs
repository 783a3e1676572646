//! Other groups.

use crate::cause::{Cause, Slip, Unclear};
use crate::pair::{Pair, Rest, Side};
use crate::words::each;

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
    let by = |side: Side| {
        let keys = &pair.clauses(side).group_by;
        (!keys.is_empty()).then(|| pair.values(side, keys))
    };
    let words = each("groups", by(Side::Prediction), by(Side::Gold))?;
    let queries = pair.exchange(|clauses, other, _| clauses.group_by.clone_from(&other.group_by));
    Ok(vec![Slip::new(&CAUSE, words, queries)])
}
