//! The answer asks what the gold does not.

use crate::cause::{Cause, Slip, Unclear};
use crate::pair::{Pair, Rest};

pub(super) static CAUSE: Cause = Cause {
    id: "extra-condition",
    title: "a condition too many",
    about: "The answer has a condition that the gold does not have.",
    example: [
        "SELECT name FROM singer",
        "SELECT name FROM singer WHERE age > 20",
        "Only the prediction tests `age > 20`.",
    ],
    find,
};

fn find(pair: &Pair<'_>, rest: &mut Rest) -> Result<Vec<Slip>, Unclear> {
    rest.take(|unlike| unlike.gold.is_empty()).iter().map(|unlike| pair.tests_alone(&CAUSE, unlike)).collect()
}
