//! One query compares with a subquery, the other does not.

use crate::cause::{Cause, Slip, Unclear};
use crate::compare::subquery;
use crate::pair::{Pair, Rest, Unlike};

pub(super) static CAUSE: Cause = Cause {
    id: "subquery",
    title: "a subquery",
    about: "Only one of the queries compares with a subquery, or they do so in other ways.",
    example: [
        "SELECT name FROM singer WHERE id NOT IN (SELECT singer_id FROM concert)",
        "SELECT name FROM singer",
        "Yours does not ask that the id is not among (the singer ids of concerts), the gold does.",
    ],
    find,
};

fn find(pair: &Pair<'_>, rest: &mut Rest) -> Result<Vec<Slip>, Unclear> {
    rest.merge();
    let taken =
        rest.take(|unlike| unlike.gold.iter().chain(&unlike.yours).any(|expr| subquery(expr).is_some()));
    let slip = |unlike: &Unlike| match unlike {
        one if one.yours.is_empty() => super::missing_condition::slip(&CAUSE, pair, one),
        one if one.gold.is_empty() => super::extra_condition::slip(&CAUSE, pair, one),
        one => pair.asks_otherwise(&CAUSE, one),
    };
    taken.iter().map(slip).collect()
}
