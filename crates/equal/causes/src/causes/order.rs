//! Another order of the rows.

use crate::cause::{Cause, Slip, Unclear};
use crate::pair::{Pair, Rest, Side};

pub(super) static CAUSE: Cause = Cause {
    id: "order",
    title: "another order",
    about: "The queries sort by other values or the other way round, or one of them does not sort.",
    example: [
        "SELECT name FROM singer ORDER BY age DESC",
        "SELECT name FROM singer ORDER BY age",
        "Yours sorts by the age from the smallest, the gold sorts by the age from the largest.",
    ],
    find,
};

fn find(pair: &Pair<'_>, rest: &mut Rest) -> Result<Vec<Slip>, Unclear> {
    if !std::mem::take(&mut rest.order_by) {
        return Ok(Vec::new());
    }
    let (own, other) = (&pair.gold.order_by, &pair.yours.order_by);
    let said = if own.is_empty() {
        let by = pair.one(|say| say.order(Side::Yours, other))?;
        [format!("sorts by {by}"), "does not sort".to_owned()]
    } else if other.is_empty() {
        let by = pair.one(|say| say.order(Side::Gold, own))?;
        ["does not sort".to_owned(), format!("sorts by {by}")]
    } else {
        let said = pair.both(|say| say.order(Side::Yours, other), |say| say.order(Side::Gold, own))?;
        said.map(|by| format!("sorts by {by}"))
    };
    let both = pair.exchange(|clauses, other, _| clauses.order_by.clone_from(&other.order_by));
    Ok(vec![Slip::new(&CAUSE, said, both)])
}
