//! Other groups.

use crate::cause::{Cause, Slip, Unclear};
use crate::pair::{Pair, Rest, Side};

pub(super) static CAUSE: Cause = Cause {
    id: "grouping",
    title: "grouped by another key",
    about: "The queries group by other values, or one of them does not group.",
    example: [
        "SELECT country, count(*) FROM singer GROUP BY country",
        "SELECT country, count(*) FROM singer GROUP BY name",
        "Yours groups by the name, the gold groups by the country.",
    ],
    find,
};

fn find(pair: &Pair<'_>, rest: &mut Rest) -> Result<Vec<Slip>, Unclear> {
    if !std::mem::take(&mut rest.group_by) {
        return Ok(Vec::new());
    }
    let (own, other) = (&pair.gold.group_by, &pair.yours.group_by);
    let said = if own.is_empty() {
        let by = pair.one(|say| say.values(Side::Yours, other))?;
        [format!("groups by {by}"), "does not group".to_owned()]
    } else if other.is_empty() {
        let by = pair.one(|say| say.values(Side::Gold, own))?;
        ["does not group".to_owned(), format!("groups by {by}")]
    } else {
        let said = pair.both(|say| say.values(Side::Yours, other), |say| say.values(Side::Gold, own))?;
        said.map(|by| format!("groups by {by}"))
    };
    let both = pair.exchange(|clauses, other, _| clauses.group_by.clone_from(&other.group_by));
    Ok(vec![Slip::new(&CAUSE, said, both)])
}
