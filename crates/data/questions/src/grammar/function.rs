//! Scalar functions and windows.

use super::{Category as C, Row, Rule, any, read, row};

const ONE: &[C] = &[C::Argument];

pub(super) const ROWS: &[Row] = &[
    row(Rule::Length, C::Basic, ONE, &[any("the length of $0")]),
    row(Rule::Uppercase, C::Basic, ONE, &[any("the uppercase form of $0")]),
    row(Rule::Lowercase, C::Basic, ONE, &[any("the lowercase form of $0")]),
    row(Rule::Absolute, C::Basic, ONE, &[any("the absolute value of $0")]),
    row(Rule::Rounded, C::Basic, ONE, &[any("the rounded $0")]),
    row(Rule::RoundedTo, C::Basic, &[C::Argument, C::Argument], &[any("the rounding of $0 to $1 decimals")]),
    row(Rule::Trimmed, C::Basic, ONE, &[any("the trimmed $0")]),
    row(Rule::Year, C::Basic, ONE, &[any("the year part of $0")]),
    row(Rule::Month, C::Basic, ONE, &[any("the month part of $0")]),
    row(Rule::DayOfMonth, C::Basic, ONE, &[any("the day part of $0")]),
    row(Rule::CallNone, C::Basic, &[C::Quoted], &[any("the value of function $0")]),
    row(Rule::CallStar, C::Call, &[C::Quoted], &[any("the value of function $0 for all records")]),
    row(Rule::Call, C::Basic, &[C::Quoted, C::Operand], &[any("the value of function $0 for ( $1[; ;] )")]),
    row(Rule::RowNumber, C::Call, &[], &[any("the position")]),
    row(Rule::Rank, C::Call, &[], &[any("the rank")]),
    row(Rule::DenseRank, C::Call, &[], &[any("the dense rank")]),
    row(Rule::Over1, C::Argument, &[C::Call, C::Within], &[any("( $0 $1 )")]),
    row(Rule::OverAll, C::Argument, &[C::Basic, C::Within], &[any("( $0 $1 )")]),
    row(Rule::WithinAll, C::Within, &[], &[any("over all of these"), read("over all records")]),
    row(Rule::WithinEach, C::Within, &[C::Operand], &[any("within each $0[, and]")]),
    row(Rule::WithinSorted, C::Within, &[C::OrderTerm], &[any("by $0[,_then_by ,_then_by]")]),
    row(
        Rule::WithinEachSorted,
        C::Within,
        &[C::Operand, C::OrderTerm],
        &[any("within each $0[, and] by $1[,_then_by ,_then_by]")],
    ),
];
