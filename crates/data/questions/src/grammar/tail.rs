//! Groups, order and limits.

use super::{Category as C, Row, Rule, any, only, row};
use crate::style::Styles as S;

pub(super) const ROWS: &[Row] = &[
    row(
        Rule::ForEach,
        C::Group,
        &[C::Operand],
        &[
            any("for each $0[, and]"),
            only(S::CONCISE, "per $0[, and]"),
            only(S::FORMAL, "for every $0[, and]"),
        ],
    ),
    row(
        Rule::ForHighest,
        C::Group,
        &[C::Operand, C::Operand],
        &[any("for the $0[, and] with the highest $1")],
    ),
    row(Rule::ForLowest, C::Group, &[C::Operand, C::Operand], &[any("for the $0[, and] with the lowest $1")]),
    row(
        Rule::KeepGroups,
        C::Having,
        &[C::Condition],
        &[any("but only if $0"), any("provided that $0"), only(S::CONCISE, "if $0")],
    ),
    row(Rule::KeepWhose, C::Having, &[C::Simple], &[any("whose $0")]),
    row(
        Rule::Sorted,
        C::Tail,
        &[C::OrderTerm],
        &[any("sorted by $0[,_then_by ,_then_by]"), any("ordered by $0[,_then_by ,_then_by]")],
    ),
    row(
        Rule::SortedFirst,
        C::Tail,
        &[C::OrderTerm, C::Atom],
        &[
            any("sorted by $0[,_then_by ,_then_by] , only the first $1"),
            any("ordered by $0[,_then_by ,_then_by] , limited to the first $1"),
        ],
    ),
    row(
        Rule::SortedFrom,
        C::Tail,
        &[C::OrderTerm, C::Atom, C::Atom],
        &[any("sorted by $0[,_then_by ,_then_by] , only $1 after skipping the first $2")],
    ),
    row(Rule::FirstRows, C::Tail, &[C::Atom], &[any("limited to the first $0"), any("but only $0 of them")]),
    row(Rule::RowsFrom, C::Tail, &[C::Atom, C::Atom], &[any("limited to $0 after skipping the first $1")]),
    row(
        Rule::Highest,
        C::Tail,
        &[C::Operand],
        &[
            any("but only for the one with the highest $0"),
            any("only for the one with the highest $0"),
            only(S::METAPHORICAL, "but only for the champion with the highest $0"),
        ],
    ),
    row(
        Rule::HighestFew,
        C::Tail,
        &[C::Atom, C::Operand],
        &[any("but only for the $0 with the highest $1"), any("but only for the top $0 by $1")],
    ),
    row(
        Rule::Lowest,
        C::Tail,
        &[C::Operand],
        &[any("but only for the one with the lowest $0"), any("only for the one with the lowest $0")],
    ),
    row(
        Rule::LowestFew,
        C::Tail,
        &[C::Atom, C::Operand],
        &[any("but only for the $0 with the lowest $1"), any("but only for the bottom $0 by $1")],
    ),
    row(
        Rule::Ascending,
        C::OrderTerm,
        &[C::Operand],
        &[any("$0 in ascending order"), any("$0 from lowest to highest"), only(S::CONCISE, "$0 upwards")],
    ),
    row(
        Rule::Descending,
        C::OrderTerm,
        &[C::Operand],
        &[any("$0 in descending order"), any("$0 from highest to lowest"), only(S::CONCISE, "$0 downwards")],
    ),
    row(
        Rule::AscendingMissingLast,
        C::OrderTerm,
        &[C::Operand],
        &[any("$0 in ascending order with missing values last")],
    ),
    row(
        Rule::DescendingMissingFirst,
        C::OrderTerm,
        &[C::Operand],
        &[any("$0 in descending order with missing values first")],
    ),
    row(
        Rule::AscendingMissingFirst,
        C::OrderTerm,
        &[C::Operand],
        &[any("$0 in ascending order with missing values first")],
    ),
    row(
        Rule::DescendingMissingLast,
        C::OrderTerm,
        &[C::Operand],
        &[any("$0 in descending order with missing values last")],
    ),
];
