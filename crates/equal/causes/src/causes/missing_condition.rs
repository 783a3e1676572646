//! The answer leaves out a condition.

use crate::cause::{Cause, Slip, Unclear};
use crate::clauses::Clause;
use crate::pair::{Pair, Rest, Side, Unlike};

pub(super) static CAUSE: Cause = Cause {
    id: "missing-condition",
    title: "a missing condition",
    about: "The gold asks something about columns of which the answer asks nothing else in its place.",
    example: [
        "SELECT name FROM singer WHERE age > 20 AND country = 'Peru'",
        "SELECT name FROM singer WHERE country = 'Peru'",
        "Yours does not ask that the age is greater than 20, the gold does.",
    ],
    find,
};

fn find(pair: &Pair<'_>, rest: &mut Rest) -> Result<Vec<Slip>, Unclear> {
    let taken = rest.take(|unlike| unlike.yours.is_empty());
    taken.iter().map(|unlike| slip(&CAUSE, pair, unlike)).collect()
}

/// The slip of conditions that only the gold has.
pub(super) fn slip(cause: &'static Cause, pair: &Pair<'_>, unlike: &Unlike) -> Result<Slip, Unclear> {
    let said = pair.one(|say| say.conditions(Side::Gold, &unlike.gold))?;
    let of_group = if unlike.clause == Clause::Having { " of a group" } else { "" };
    let yours = format!("does not ask{of_group} that {said}");
    Ok(pair.of_conditions(cause, unlike, [yours, "does".to_owned()]))
}
