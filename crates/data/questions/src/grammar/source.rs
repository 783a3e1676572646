//! Where the rows come from: tables, lists, and what goes with them.

use super::{Category as C, Row, Rule, Wording, any, read, row};

/// Adjectives that say nothing of the query.
const MODIFIERS: &[Wording] = &[
    any("well known"),
    any("wonderful"),
    any("much discussed"),
    any("coolest"),
    any("interesting"),
    any("so called"),
];

pub(super) const ROWS: &[Row] = &[
    row(Rule::Alone, C::Source, &[C::Relation], &[any("$0")]),
    row(Rule::Linked, C::Source, &[C::Member, C::Link], &[any("$0 $1[, and]")]),
    row(Rule::OfOuter, C::Source, &[C::Relation, C::Reference], &[any("$0 of $1")]),
    // Conditions of one of several tables, said of that table.
    row(Rule::Which, C::Member, &[C::Noun, C::Conjunct], &[any("$0 whose $1[and_whose and_whose]")]),
    row(Rule::Table, C::Relation, &[C::Noun], &[any("$0")]),
    row(Rule::ModifiedTable, C::Relation, &[C::Modifier, C::Noun], &[any("$0 $1")]),
    row(Rule::Modifier, C::Modifier, &[], MODIFIERS),
    row(Rule::List, C::Relation, &[C::Query], &[any("the results of ( $0 )")]),
    row(Rule::TheseRecords, C::Relation, &[], &[any("these records"), any("these results")]),
    row(Rule::DefinedList, C::Relation, &[C::Ordinal], &[any("the records of the $0 list")]),
    row(
        Rule::Their,
        C::InnerLink,
        &[C::Member],
        &[
            any("with their $0"),
            // Seems to ask for these too.
            read("together with their $0"),
            read("plus their $0"),
        ],
    ),
    // Tables of which nothing is shown.
    row(Rule::WithSome, C::InnerLink, &[C::Member], &[any("with $0")]),
    row(Rule::OfThose, C::InnerLink, &[C::Member], &[any("of $0")]),
    row(Rule::InThose, C::InnerLink, &[C::Member], &[any("in $0")]),
    row(Rule::ByThose, C::InnerLink, &[C::Member], &[any("by $0")]),
    row(
        Rule::TheirBy,
        C::InnerLink,
        &[C::Relation, C::Name],
        &[
            any("with their $0 by way of the $1"),
            read("together with their $0 by way of the $1"),
            read("with their $0 by $1"),
        ],
    ),
    row(Rule::Did, C::InnerLink, &[C::Member, C::Verb], &[any("that $1 $0")]),
    row(Rule::DoneBy, C::InnerLink, &[C::Member, C::Verb], &[any("$1 by $0")]),
    row(Rule::Of, C::InnerLink, &[C::Relation, C::Reference], &[any("with the $0 of $1")]),
    row(
        Rule::OfBy,
        C::InnerLink,
        &[C::Relation, C::Reference, C::Name],
        &[any("with the $0 of $1 by way of the $2"), read("with the $0 of $1 by $2")],
    ),
    row(
        Rule::JoinedOn,
        C::InnerLink,
        &[C::Relation, C::Condition],
        &[any("matched with $0 such that $1"), any("with those $0 for which $1")],
    ),
    row(Rule::Every, C::InnerLink, &[C::Relation], &[any("each paired with every one of the $0")]),
    row(Rule::IfAny, C::Link, &[C::InnerLink], &[any("$0 ( if any )"), any("$0 ( where there are any )")]),
    row(Rule::RightJoined, C::Link, &[C::InnerLink], &[any("$0 ( all of the latter )")]),
    row(Rule::FullJoined, C::Link, &[C::InnerLink], &[any("$0 ( all of both )")]),
    row(Rule::TheOne, C::Reference, &[C::Noun], &[any("the $0")]),
    row(Rule::TheNth, C::Reference, &[C::Ordinal, C::Noun], &[any("the $0 $1")]),
    row(Rule::ThatOne, C::Reference, &[C::Noun], &[any("that $0")]),
    row(Rule::ThatNth, C::Reference, &[C::Ordinal, C::Noun], &[any("that $0 $1")]),
    row(Rule::TheList, C::Reference, &[], &[any("the list")]),
    row(Rule::TheNthList, C::Reference, &[C::Ordinal], &[any("list number $0")]),
    row(Rule::ThatList, C::Reference, &[], &[any("that list")]),
    row(Rule::ThatNthList, C::Reference, &[C::Ordinal], &[any("that list number $0")]),
    // "That singer" is of the nearest query around that has one, "the outer singer" of the next.
    row(Rule::Outer, C::Reference, &[C::Reference], &[any("the outer $0")]),
    row(Rule::First, C::Ordinal, &[], &[any("first")]),
    row(Rule::Second, C::Ordinal, &[], &[any("second")]),
    row(Rule::Third, C::Ordinal, &[], &[any("third")]),
    row(Rule::Fourth, C::Ordinal, &[], &[any("fourth")]),
    row(Rule::Fifth, C::Ordinal, &[], &[any("fifth")]),
    row(Rule::Sixth, C::Ordinal, &[], &[any("sixth")]),
    row(Rule::Seventh, C::Ordinal, &[], &[any("seventh")]),
    row(Rule::Eighth, C::Ordinal, &[], &[any("eighth")]),
    row(Rule::Ninth, C::Ordinal, &[], &[any("ninth")]),
    row(Rule::Tenth, C::Ordinal, &[], &[any("tenth")]),
];
