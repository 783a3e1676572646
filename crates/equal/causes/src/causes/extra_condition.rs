//! The answer asks what the gold does not.

use crate::cause::{Cause, Slip, Unclear};
use crate::clauses::Clause;
use crate::pair::{Pair, Rest, Side, Unlike};

pub(super) static CAUSE: Cause = Cause {
    id: "extra-condition",
    title: "a condition too many",
    about: "The answer asks something about columns of which the gold asks nothing else in its place.",
    example: [
        "SELECT name FROM singer",
        "SELECT name FROM singer WHERE age > 20",
        "Yours asks that the age is greater than 20, the gold does not.",
    ],
    find,
};

fn find(pair: &Pair<'_>, rest: &mut Rest) -> Result<Vec<Slip>, Unclear> {
    let taken = rest.take(|unlike| unlike.gold.is_empty());
    taken.iter().map(|unlike| slip(&CAUSE, pair, unlike)).collect()
}

/// The slip of conditions that only the answer has.
pub(super) fn slip(cause: &'static Cause, pair: &Pair<'_>, unlike: &Unlike) -> Result<Slip, Unclear> {
    let said = pair.one(|say| say.conditions(Side::Yours, &unlike.yours))?;
    let of_group = if unlike.clause == Clause::Having { " of a group" } else { "" };
    let yours = format!("asks{of_group} that {said}");
    Ok(pair.of_conditions(cause, unlike, [yours, "does not".to_owned()]))
}
