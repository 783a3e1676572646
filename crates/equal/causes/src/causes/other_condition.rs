//! Another condition on the same columns.

use crate::cause::{Cause, Slip, Unclear};
use crate::pair::{Pair, Rest};

pub(super) static CAUSE: Cause = Cause {
    id: "other-condition",
    title: "a different condition",
    about: "Both ask something about the same columns, but not the same, and more differs than a constant, an operator or a column.",
    example: [
        "SELECT name FROM singer WHERE age BETWEEN 20 AND 30",
        "SELECT name FROM singer WHERE age > 20",
        "The prediction tests `age > 20`, the gold `age BETWEEN 20 AND 30`.",
    ],
    find,
};

fn find(pair: &Pair<'_>, rest: &mut Rest) -> Result<Vec<Slip>, Unclear> {
    let unlikes = rest.take(|unlike| !unlike.gold.is_empty() && !unlike.prediction.is_empty());
    unlikes.iter().map(|unlike| pair.tests_otherwise(&CAUSE, unlike)).collect()
}
