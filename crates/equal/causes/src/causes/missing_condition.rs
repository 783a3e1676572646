//! The answer leaves out a condition.

use crate::cause::{Cause, Slip, Unclear};
use crate::pair::{Pair, Rest};

pub(super) static CAUSE: Cause = Cause {
    id: "missing-condition",
    title: "a missing condition",
    about: "The gold has a condition that the answer leaves out.",
    example: [
        "SELECT name FROM singer WHERE age > 20 AND country = 'Peru'",
        "SELECT name FROM singer WHERE country = 'Peru'",
        "Only the gold tests `age > 20`.",
    ],
    find,
};

fn find(pair: &Pair<'_>, rest: &mut Rest) -> Result<Vec<Slip>, Unclear> {
    let only_gold = rest.take(|unlike| unlike.prediction.is_empty());
    only_gold.iter().map(|unlike| pair.tests_alone(&CAUSE, unlike)).collect()
}
