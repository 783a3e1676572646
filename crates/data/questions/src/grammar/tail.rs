//! Groups, order and limits.

use super::{Category as C, Row, Rule, any, only, read, row};
use crate::style::Styles as S;

const ONE: &[C] = &[C::Operand];

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
        Rule::ForEachOf,
        C::Group,
        &[C::Noun],
        &[any("for each $0"), only(S::CONCISE, "per $0"), only(S::FORMAL, "for every $0")],
    ),
    row(Rule::ForTop, C::Group, &[C::Operand, C::Most], &[any("for the $0[, and] with $1")]),
    row(
        Rule::KeepGroups,
        C::Having,
        &[C::Condition],
        &[any(", but only if $0"), any(", provided that $0"), only(S::CONCISE, "if $0")],
    ),
    row(
        Rule::KeepAmount,
        C::Having,
        &[C::Amount, C::Noun],
        &[any(", only where there are $0 $1"), read(", only for those with $0 $1")],
    ),
    // Of the rows that the conditions leave.
    row(Rule::KeepSuch, C::Having, &[C::Amount, C::Noun], &[any(", only where there are $0 such $1")]),
    // By the one thing that is shown.
    row(Rule::InOrder, C::Tail, &[], &[any(", in alphabetical order"), read("in alphabetical order")]),
    row(Rule::KeepWhose, C::Having, &[C::Simple], &[any("whose $0")]),
    row(
        Rule::Sorted,
        C::Tail,
        &[C::OrderTerm],
        &[
            any(", sorted by $0[,_then_by ,_then_by]"),
            any(", ordered by $0[,_then_by ,_then_by]"),
            read("sorted by $0[,_then_by ,_then_by]"),
            read("ordered by $0[,_then_by ,_then_by]"),
        ],
    ),
    row(
        Rule::SortedFirst,
        C::Tail,
        &[C::OrderTerm, C::Atom],
        &[
            any(", sorted by $0[,_then_by ,_then_by] , only the first $1"),
            read("sorted by $0[,_then_by ,_then_by] , only the first $1"),
            read("ordered by $0[,_then_by ,_then_by] , limited to the first $1"),
        ],
    ),
    row(
        Rule::SortedFrom,
        C::Tail,
        &[C::OrderTerm, C::Atom, C::Atom],
        &[
            any(", sorted by $0[,_then_by ,_then_by] , only $1 after skipping the first $2"),
            read("sorted by $0[,_then_by ,_then_by] , only $1 after skipping the first $2"),
        ],
    ),
    row(Rule::FirstRows, C::Tail, &[C::Atom], &[any("limited to the first $0"), any("but only $0 of them")]),
    row(Rule::RowsFrom, C::Tail, &[C::Atom, C::Atom], &[any("limited to $0 after skipping the first $1")]),
    row(
        Rule::TopOne,
        C::Tail,
        &[C::Most],
        &[any(", only for the one with $0"), any(", but only for the one with $0")],
    ),
    row(
        Rule::TopFew,
        C::Tail,
        &[C::Atom, C::Most],
        &[any(", only for the $0 with $1"), any(", but only for the $0 with $1")],
    ),
    row(Rule::Highest, C::Most, ONE, &[any("the highest $0"), read("the largest $0")]),
    row(Rule::Lowest, C::Most, ONE, &[any("the lowest $0"), read("the smallest $0")]),
    row(Rule::Latest, C::Most, ONE, &[any("the latest $0"), any("the most recent $0")]),
    row(Rule::Earliest, C::Most, ONE, &[any("the earliest $0")]),
    row(Rule::AlphabeticallyLast, C::Most, ONE, &[any("the alphabetically last $0")]),
    row(Rule::AlphabeticallyFirst, C::Most, ONE, &[any("the alphabetically first $0")]),
    row(Rule::MostRows, C::Most, &[C::Noun], &[any("the most $0")]),
    row(Rule::FewestRows, C::Most, &[C::Noun], &[any("the fewest $0")]),
    row(Rule::MostSuch, C::Most, &[C::Noun], &[any("the most such $0")]),
    row(Rule::FewestSuch, C::Most, &[C::Noun], &[any("the fewest such $0")]),
    row(Rule::TheMost, C::Degree, &[], &[any("the most")]),
    row(Rule::TheFewest, C::Degree, &[], &[any("the fewest")]),
    row(Rule::MoreThan, C::Amount, &[C::Atom], &[any("more than $0")]),
    row(Rule::AtLeast, C::Amount, &[C::Atom], &[any("at least $0")]),
    row(Rule::FewerThan, C::Amount, &[C::Atom], &[any("fewer than $0")]),
    row(Rule::AtMost, C::Amount, &[C::Atom], &[any("at most $0")]),
    row(Rule::Exactly, C::Amount, &[C::Atom], &[any("exactly $0")]),
    row(
        Rule::Ascending,
        C::OrderTerm,
        &[C::Operand],
        &[
            any("$0"),
            only(S::FORMAL, "$0 in ascending order"),
            only(S::DESCRIPTIVE, "$0 from lowest to highest"),
        ],
    ),
    row(
        Rule::Descending,
        C::OrderTerm,
        &[C::Operand],
        &[any("$0 in descending order"), read("$0 from highest to lowest")],
    ),
    row(Rule::AscendingText, C::OrderTerm, ONE, &[any("$0 in alphabetical order"), any("$0 alphabetically")]),
    row(Rule::DescendingText, C::OrderTerm, ONE, &[any("$0 in reverse alphabetical order")]),
    row(Rule::AscendingTime, C::OrderTerm, ONE, &[any("$0 from earliest to latest")]),
    row(Rule::DescendingTime, C::OrderTerm, ONE, &[any("$0 from latest to earliest")]),
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
