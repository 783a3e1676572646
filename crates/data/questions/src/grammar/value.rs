//! Values: columns, constants, arithmetic, choices and subqueries.

use super::{Category as C, Row, Rule, Wording, any, only, row};
use crate::style::Styles as S;

const TWO: &[C] = &[C::Atom, C::Atom];
const BRANCHES: &[Wording] = &[any("( $0[, ,] )")];

pub(super) const ROWS: &[Row] = &[
    row(Rule::Column, C::Column, &[C::Name], &[any("the $0")]),
    row(Rule::ColumnOf, C::Column, &[C::Name, C::Reference], &[any("the $0 of $1")]),
    row(Rule::Field, C::Column, &[C::Ordinal], &[any("the $0 column")]),
    row(Rule::FieldOf, C::Column, &[C::Ordinal, C::Reference], &[any("the $0 column of $1")]),
    row(Rule::TheCount, C::Column, &[], &[any("the count")]),
    // "The count of these results" would be how many there are.
    row(Rule::TheCounts, C::Column, &[], &[any("the counts")]),
    row(Rule::Computed, C::Column, &[], &[any("the computed value")]),
    row(Rule::RowId, C::Column, &[], &[any("the internal row number")]),
    row(Rule::RowIdOf, C::Column, &[C::Reference], &[any("the internal row number of $0")]),
    row(Rule::OutputAt, C::Basic, &[C::Ordinal], &[any("the $0 result")]),
    row(Rule::Literal, C::Basic, &[C::Value], &[any("$0")]),
    row(Rule::Plus, C::Operand, TWO, &[any("$0 plus $1"), only(S::CONCISE, "$0 + $1")]),
    row(Rule::Minus, C::Operand, TWO, &[any("$0 minus $1"), only(S::CONCISE, "$0 - $1")]),
    row(
        Rule::Times,
        C::Operand,
        TWO,
        &[any("$0 times $1"), any("$0 multiplied by $1"), only(S::CONCISE, "$0 * $1")],
    ),
    row(Rule::Over, C::Operand, TWO, &[any("$0 divided by $1"), only(S::CONCISE, "$0 / $1")]),
    row(Rule::Remainder, C::Operand, TWO, &[any("$0 modulo $1")]),
    row(Rule::Followed, C::Operand, TWO, &[any("$0 followed by $1")]),
    row(Rule::BitAnd, C::Operand, TWO, &[any("$0 masked with $1")]),
    row(Rule::BitOr, C::Operand, TWO, &[any("$0 merged bit by bit with $1")]),
    row(Rule::ShiftLeft, C::Operand, TWO, &[any("$0 shifted left by $1")]),
    row(Rule::ShiftRight, C::Operand, TWO, &[any("$0 shifted right by $1")]),
    row(Rule::Arrow, C::Operand, TWO, &[any("$0 at the path $1")]),
    row(Rule::LongArrow, C::Operand, TWO, &[any("$0 as plain value at the path $1")]),
    row(Rule::SubqueryOfAll, C::Atom, &[C::Argument, C::Source, C::Filter], &[any("$0 of all $1 $2?")]),
    row(Rule::InParentheses, C::Argument, &[C::Operand], &[any("( $0 )")]),
    row(Rule::Subquery, C::Argument, &[C::Query], &[any("( $0 )")]),
    row(Rule::Whether, C::Argument, &[C::Condition], &[any("( whether $0 )")]),
    row(Rule::Tuple, C::Argument, &[C::Operand], &[any("( the tuple $0[; ;] )")]),
    row(Rule::Negative, C::Basic, &[C::Argument], &[any("the negative of $0")]),
    row(Rule::Positive, C::Basic, &[C::Argument], &[any("the plain value of $0")]),
    row(Rule::BitNot, C::Basic, &[C::Argument], &[any("the inverted bits of $0")]),
    row(Rule::Branch, C::Branch, &[C::Operand, C::Condition], &[any("$0 if $1")]),
    row(Rule::Case, C::Argument, &[C::Branch], BRANCHES),
    row(Rule::CaseElse, C::Argument, &[C::Branch, C::Operand], &[any("( $0[, ,] , otherwise $1 )")]),
    row(Rule::CaseOf, C::Argument, &[C::Operand, C::Choice], &[any("( depending on $0 : $1[, ,] )")]),
    row(
        Rule::CaseOfElse,
        C::Argument,
        &[C::Operand, C::Choice, C::Operand],
        &[any("( depending on $0 : $1[, ,] , otherwise $2 )")],
    ),
    row(Rule::ChoiceOf, C::Choice, &[C::Operand, C::Operand], &[any("$0 for $1")]),
    row(Rule::CastTo, C::Basic, &[C::Argument, C::Quoted], &[any("the conversion of $0 to $1")]),
    row(Rule::AsDecimal, C::Basic, &[C::Argument], &[any("the decimal value of $0")]),
    row(Rule::AsWhole, C::Basic, &[C::Argument], &[any("the whole number of $0")]),
    row(Rule::SeparatedBy, C::Argument, &[C::Atom, C::Atom, C::Atom], &[any("( $0 and $1 joined by $2 )")]),
    row(
        Rule::CollatedBy,
        C::Basic,
        &[C::Argument, C::Quoted],
        &[any("the reading of $0 under collation $1")],
    ),
];
