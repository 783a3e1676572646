//! Whole questions: how they open, what is said beside the point, and turns of a dialogue.

use super::{Category as C, Row, Rule, Wording, any, only, row};
use crate::style::Styles as S;

const OPENINGS: &[Wording] = &[
    only(S::IMPERATIVE.and(S::CONCISE), "show"),
    only(S::IMPERATIVE.and(S::CONCISE), "list"),
    only(S::IMPERATIVE, "find"),
    only(S::IMPERATIVE, "give"),
    only(S::IMPERATIVE, "return"),
    only(S::FORMAL, "please provide"),
    only(S::FORMAL, "please list"),
    only(S::FORMAL, "please show"),
    only(S::COLLOQUIAL, "can you get me"),
    only(S::COLLOQUIAL, "hey , give me"),
    only(S::COLLOQUIAL, "show me"),
    only(S::COLLOQUIAL, "i want to see"),
    only(S::INTERROGATIVE, "what are"),
    only(S::DESCRIPTIVE, "i am looking for"),
    only(S::DESCRIPTIVE, "i would like to know"),
    only(S::DESCRIPTIVE, "i need"),
    only(S::VAGUE, "i am curious about"),
    only(S::VAGUE, "i would love to know"),
    only(S::VAGUE, "do you happen to know"),
    only(S::METAPHORICAL, "help me track down"),
    only(S::METAPHORICAL, "pull up"),
    only(S::METAPHORICAL, "dig up"),
    only(S::CONVERSATIONAL, "hi , could you tell me"),
    only(S::CONVERSATIONAL, "could you please tell me"),
    only(S::CONVERSATIONAL, "quick question : do you know"),
    only(S::MULTI_TURN, "first , show me"),
    only(S::MULTI_TURN, "to start , give me"),
    only(S::MULTI_TURN, "let us start with"),
];

/// The same before "each" and before a number: nobody is curious about each country.
const PLAIN_OPENINGS: &[Wording] = &[
    only(S::IMPERATIVE.and(S::CONCISE), "show"),
    only(S::IMPERATIVE.and(S::CONCISE), "give"),
    only(S::IMPERATIVE, "find"),
    only(S::FORMAL, "please list"),
    only(S::FORMAL, "please show"),
    only(S::COLLOQUIAL, "give me"),
    only(S::COLLOQUIAL, "show me"),
    only(S::INTERROGATIVE, "can you list"),
    only(S::INTERROGATIVE, "can you show"),
    only(S::DESCRIPTIVE, "i would like to see"),
    only(S::DESCRIPTIVE, "i need"),
    only(S::VAGUE, "can you show me"),
    only(S::VAGUE, "i want to see"),
    only(S::METAPHORICAL, "pull up"),
    only(S::METAPHORICAL, "dig up"),
    only(S::CONVERSATIONAL, "could you list"),
    only(S::CONVERSATIONAL, "could you please show me"),
    only(S::MULTI_TURN, "show me"),
    only(S::MULTI_TURN, "give me"),
];

/// Sentences of a column of the schema that say nothing of the query.
const ASIDES: &[Wording] = &[
    any("we also store the $0 of each $1"),
    any("i already know the $0 of every $1"),
    any("my colleague asked about the $0 of the $1 yesterday"),
    any("the $0 of each $1 was updated last week"),
    any("do not worry about the $0 of the $1"),
    any("somebody else will look at the $0 of each $1"),
    any("our manager keeps asking for the $0 of the $1"),
    any("the old report had the $0 of every $1"),
];

/// What is asked about each group, whose keys are shown too.
const EACH: &[C] = &[C::Operand, C::Opening, C::Operand, C::Source, C::Filter, C::Having, C::Tail];

pub(super) const ROWS: &[Row] = &[
    row(Rule::Opening, C::Opening, &[], OPENINGS),
    row(Rule::OpeningOne, C::Opening, &[], &[any("what is")]),
    row(Rule::OpeningPlain, C::Opening, &[], PLAIN_OPENINGS),
    row(Rule::Aside, C::Aside, &[C::Name, C::Noun], ASIDES),
    row(Rule::Ask, C::Sentence, &[C::Opening, C::Query], &[any("$0 $1")]),
    row(Rule::AskGroups, C::Sentence, &[C::Opening, C::Core, C::Group], &[any("$2 , $0 $1")]),
    row(Rule::AskEach, C::Sentence, EACH, &[any("for each $0[, and] , $1 $2[, and] of $3 $4? $5? $6?")]),
    row(
        Rule::AskEachFor,
        C::Sentence,
        EACH,
        &[any("for each $0[, and] , $1 $2[, and] for all $3 $4? $5? $6?")],
    ),
    row(
        Rule::AskEachOfTheir,
        C::Sentence,
        &[C::Operand, C::Member, C::Opening, C::Operand, C::Member, C::Having, C::Tail],
        &[any("for each $0[, and] of $1 , $2 $3[, and] of their $4 $5? $6?")],
    ),
    row(
        Rule::HowMany,
        C::Sentence,
        &[C::Source, C::Filter],
        &[
            any("how many $0 are there $1?"),
            only(S::COLLOQUIAL.and(S::CONVERSATIONAL), "how many $0 do we have $1?"),
        ],
    ),
    row(
        Rule::HowManyDifferent,
        C::Sentence,
        &[C::Operand, C::Source, C::Filter],
        &[any("how many different $0 do the $1 $2? have")],
    ),
    row(
        Rule::HowManyMore,
        C::Sentence,
        &[C::Source, C::Filter, C::Name, C::Atom, C::Atom],
        &[any("how many more $0 are there $1? whose $2 is $3 than $4")],
    ),
    row(
        Rule::HowManyMoreOf,
        C::Sentence,
        &[C::Source, C::Filter, C::Name, C::Atom, C::Atom],
        &[any("how many more $0 $1? have the $2 $3 than $4")],
    ),
    row(
        Rule::PercentOf,
        C::Sentence,
        &[C::Source, C::Filter, C::Trait],
        &[any("what percentage of $0 $1? have $2"), any("what percentage of the $0 $1? have $2")],
    ),
    row(
        Rule::PercentIs,
        C::Sentence,
        &[C::Source, C::Filter, C::Name, C::Atom],
        &[
            any("for what percentage of $0 $1? is the $2 $3"),
            any("for what percentage of the $0 $1? is the $2 $3"),
        ],
    ),
    row(
        Rule::EachPercent,
        C::Sentence,
        &[C::Operand, C::Source, C::Filter, C::Trait],
        &[
            any("for each $0[, and] , what percentage of $1 $2? have $3"),
            any("for each $0[, and] , what percentage of the $1 $2? have $3"),
        ],
    ),
    row(Rule::WithAside, C::Question, &[C::Aside, C::Sentence], &[any("$0 . $1")]),
    row(Rule::WithDefinitions, C::Question, &[C::Definition, C::Sentence], &[any("$0[; ;] . $1")]),
    row(
        Rule::Definition,
        C::Definition,
        &[C::Ordinal, C::Nested],
        &[any("make the $0 list from $1"), any("let the $0 list be $1")],
    ),
    row(
        Rule::OnlyDefinition,
        C::Definition,
        &[C::Nested],
        &[any("first find $0"), any("first , take $0"), any("start from $0")],
    ),
    row(Rule::Dialogue, C::Question, &[C::Sentence, C::Turn], &[any("$0 | $1[| |]")]),
    row(
        Rule::TurnFilter,
        C::Turn,
        &[C::Filter],
        &[any("show only those $0"), any("now only the ones $0"), any("i only want those $0")],
    ),
    row(Rule::TurnGroup, C::Turn, &[C::Group], &[any("do that $0"), any("now show that $0")]),
    row(
        Rule::TurnHaving,
        C::Turn,
        &[C::Having],
        &[any("show only the groups $0"), any("of those , take the ones $0")],
    ),
    row(Rule::TurnTail, C::Turn, &[C::Tail], &[any("do that $0"), any("now do that $0")]),
];
