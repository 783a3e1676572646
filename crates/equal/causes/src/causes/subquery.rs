//! One query compares with a subquery, the other does not.

use sqlgauge_sql::tree::Expr;
use sqlgauge_sql::visit::each_select;

use crate::cause::{Cause, Slip, Unclear};
use crate::clauses::Clause;
use crate::compare::subquery;
use crate::pair::{Pair, Rest, Unlike};

pub(crate) static CAUSE: Cause = Cause {
    id: "subquery",
    title: "a subquery",
    about: "Only one of the queries reads a table in a subquery, or they do so differently.",
    example: [
        "SELECT name FROM singer WHERE id NOT IN (SELECT singer_id FROM concert)",
        "SELECT name FROM singer",
        "Only the gold tests `id NOT IN (SELECT singer_id FROM concert)`.",
    ],
    find,
};

fn find(pair: &Pair<'_>, rest: &mut Rest) -> Result<Vec<Slip>, Unclear> {
    rest.merge();
    let unlikes =
        rest.take(|unlike| unlike.gold.iter().chain(&unlike.prediction).any(|expr| subquery(expr).is_some()));
    // What the subquery asks of its groups may be what the other asks of its own.
    let groups_differ = rest.group_by || rest.conditions.iter().any(|unlike| unlike.clause == Clause::Having);
    if groups_differ
        && unlikes.iter().flat_map(|unlike| unlike.gold.iter().chain(&unlike.prediction)).any(groups_inside)
    {
        return Err(Unclear::OtherShape);
    }
    let slip = |unlike: &Unlike| match unlike {
        one if one.prediction.is_empty() || one.gold.is_empty() => pair.tests_alone(&CAUSE, one),
        one => pair.tests_otherwise(&CAUSE, one),
    };
    unlikes.iter().map(slip).collect()
}

/// Whether a subquery of a condition groups.
fn groups_inside(expr: &Expr) -> bool {
    let mut groups = false;
    each_select(expr, |select| groups |= !select.group_by.is_empty() || select.having.is_some());
    groups
}
