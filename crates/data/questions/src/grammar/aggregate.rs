//! What is computed over the rows of a group.

use super::{Category as C, Row, Rule, any, only, read, row};
use crate::style::Styles as S;

const ONE: &[C] = &[C::Argument];

pub(super) const ROWS: &[Row] = &[
    row(Rule::Number, C::Basic, &[], &[any("the number")]),
    row(
        Rule::CountRows,
        C::Basic,
        &[],
        &[any("the number of records"), only(S::CONCISE, "the record count")],
    ),
    row(Rule::NumberOf, C::Basic, &[C::Noun], &[any("the number of $0")]),
    row(
        Rule::CountKnown,
        C::Basic,
        ONE,
        &[any("the number of known $0"), only(S::CONCISE, "the count of $0")],
    ),
    row(
        Rule::CountDistinct,
        C::Basic,
        ONE,
        &[any("the number of different $0"), any("the number of distinct $0")],
    ),
    row(Rule::CountIf, C::Argument, &[C::Condition], &[any("( the number of cases where $0 )")]),
    row(Rule::Average, C::Basic, ONE, &[any("the average $0"), only(S::FORMAL, "the mean $0")]),
    row(Rule::AverageDistinct, C::Basic, ONE, &[any("the average of the different values of $0")]),
    row(Rule::Total, C::Basic, ONE, &[any("the total $0"), read("the sum of $0")]),
    row(Rule::TotalDistinct, C::Basic, ONE, &[any("the sum of the different values of $0")]),
    row(
        Rule::Maximum,
        C::Basic,
        ONE,
        &[any("the maximum $0"), read("the largest $0"), read("the biggest $0")],
    ),
    // Of dates and years.
    row(Rule::LatestOf, C::Basic, ONE, &[any("the latest $0")]),
    row(Rule::EarliestOf, C::Basic, ONE, &[any("the earliest $0")]),
    row(Rule::MaximumDistinct, C::Basic, ONE, &[any("the maximum of the different values of $0")]),
    row(Rule::Minimum, C::Basic, ONE, &[any("the minimum $0"), read("the smallest $0")]),
    row(Rule::MinimumDistinct, C::Basic, ONE, &[any("the minimum of the different values of $0")]),
    row(Rule::Joined, C::Basic, ONE, &[any("the enumeration of $0")]),
    row(Rule::JoinedDistinct, C::Basic, ONE, &[any("the enumeration of the different values of $0")]),
    row(Rule::Aggregate, C::Basic, &[C::Quoted, C::Operand], &[any("the aggregate $0 over ( $1[; ;] )")]),
    row(
        Rule::AggregateDistinct,
        C::Basic,
        &[C::Quoted, C::Operand],
        &[any("the aggregate $0 over the different values of ( $1[; ;] )")],
    ),
    row(
        Rule::OnlyThose,
        C::Argument,
        &[C::Basic, C::Condition],
        &[any("( $0 counting only those where $1 )")],
    ),
];
