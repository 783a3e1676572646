//! More or fewer rows are kept.

use crate::cause::{Cause, Slip, Unclear};
use crate::clauses::Clauses;
use crate::pair::{Pair, Rest, Side};
use crate::words::both;

pub(super) static CAUSE: Cause = Cause {
    id: "limit",
    title: "a different limit",
    about: "The queries keep different numbers of rows (LIMIT, OFFSET), or one of them keeps all.",
    example: [
        "SELECT name FROM singer ORDER BY age LIMIT 3",
        "SELECT name FROM singer ORDER BY age",
        "The prediction has no LIMIT, the gold has `LIMIT 3`.",
    ],
    find,
};

fn find(pair: &Pair<'_>, rest: &mut Rest) -> Result<Vec<Slip>, Unclear> {
    if !std::mem::take(&mut rest.limit) {
        return Ok(Vec::new());
    }
    let [prediction, gold] = both(limit_of(pair, Side::Prediction)?, limit_of(pair, Side::Gold)?)?;
    let queries = pair.exchange(|clauses, other, _| {
        clauses.limit.clone_from(&other.limit);
        clauses.offset.clone_from(&other.offset);
    });
    Ok(vec![Slip::new(&CAUSE, [format!("has {prediction}"), format!("has {gold}")], queries)])
}

/// The clause that says how many rows there are.
fn limit_of(pair: &Pair<'_>, side: Side) -> Result<String, Unclear> {
    let Clauses { limit, offset, .. } = pair.clauses(side);
    let Some(limit) = limit else { return Ok("no LIMIT".to_owned()) };
    let offset = match offset {
        Some(offset) => format!(" OFFSET {}", pair.sql(side, offset)?),
        None => String::new(),
    };
    Ok(format!("`LIMIT {}{offset}`", pair.sql(side, limit)?))
}
