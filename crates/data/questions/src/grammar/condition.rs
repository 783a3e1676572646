//! Conditions: comparisons and how they are joined.

use super::{Category as C, Row, Rule, any, only, read, row};
use crate::style::Styles as S;

const TWO: &[C] = &[C::Operand, C::Operand];
const THREE: &[C] = &[C::Operand, C::Operand, C::Operand];
const NAMED: &[C] = &[C::Name, C::Atom];
const LIST: &[C] = &[C::Operand, C::Atom];
const NESTED: &[C] = &[C::Operand, C::Nested];
const LINKED: &[C] = &[C::Source, C::Filter];
const SHARED: &[C] = &[C::Name, C::Source, C::Filter];
const OF_ONE: &[C] = &[C::Reference, C::Source, C::Filter];
const LIVELY: S = S::COLLOQUIAL.and(S::CONVERSATIONAL).and(S::METAPHORICAL).and(S::VAGUE);

pub(super) const ROWS: &[Row] = &[
    row(Rule::Where, C::Filter, &[C::Condition], &[any("where $0"), only(S::FORMAL, "for which $0")]),
    row(Rule::Whose, C::Filter, &[C::Condition], &[any("whose $0")]),
    row(Rule::WhoseAll, C::Filter, &[C::Conjunct], &[any("whose $0[[and_whose and_whose]]")]),
    row(Rule::WhoseAny, C::Filter, &[C::Disjunct], &[any("whose $0[[or_whose or_whose]]")]),
    row(Rule::Relatives, C::Filter, &[C::Relative], &[any("$0")]),
    row(
        Rule::Relatives,
        C::Filter,
        &[C::Conjunct, C::Relative],
        &[any("whose $0[and_whose and_whose] and $1")],
    ),
    row(Rule::HaveSome, C::Relative, LINKED, &[any("that have $0 $1?")]),
    row(Rule::HaveNone, C::Relative, LINKED, &[any("that have no $0 $1?"), any("without $0 $1?")]),
    row(Rule::AppearIn, C::Relative, LINKED, &[any("that appear in $0 $1?"), any("that are in $0 $1?")]),
    row(
        Rule::NotAppearIn,
        C::Relative,
        LINKED,
        &[any("that do not appear in $0 $1?"), any("that are not in $0 $1?")],
    ),
    row(Rule::ShareWith, C::Relative, SHARED, &[any("that share their $0 with $1 $2?")]),
    row(Rule::ShareWithNone, C::Relative, SHARED, &[any("that share their $0 with no $1 $2?")]),
    row(Rule::BelongTo, C::Relative, LINKED, &[any("that belong to $0 $1?")]),
    row(Rule::NotBelongTo, C::Relative, LINKED, &[any("that do not belong to $0 $1?")]),
    row(Rule::And, C::Condition, &[C::Conjunct], &[any("$0[[and and]]")]),
    row(Rule::Or, C::Condition, &[C::Disjunct], &[any("$0[[or or]]")]),
    row(Rule::Either, C::Conjunct, &[C::Unit], &[any("either $0[[or or]]")]),
    row(Rule::Both, C::Disjunct, &[C::Unit], &[any("both $0[[and and]]")]),
    row(Rule::InBrackets, C::Unit, &[C::Condition], &[any("( $0 )")]),
    // Without brackets what follows might be taken for a part of what is not so.
    row(
        Rule::Not,
        C::Unit,
        &[C::Condition],
        &[any("it is not the case that ( $0 )"), any("it is not true that ( $0 )")],
    ),
    row(Rule::Equal, C::Simple, TWO, &[any("$0 is $1"), read("$0 equals $1"), read("$0 is equal to $1")]),
    row(
        Rule::NotEqual,
        C::Simple,
        TWO,
        &[any("$0 is not $1"), read("$0 differs from $1"), read("$0 is something other than $1")],
    ),
    row(
        Rule::Less,
        C::Simple,
        TWO,
        &[any("$0 is less than $1"), any("$0 is below $1"), only(LIVELY, "$0 is under $1")],
    ),
    row(
        Rule::LessEqual,
        C::Simple,
        TWO,
        &[any("$0 is at most $1"), only(S::FORMAL, "$0 does not exceed $1")],
    ),
    row(
        Rule::Greater,
        C::Simple,
        TWO,
        &[
            any("$0 is greater than $1"),
            any("$0 is above $1"),
            only(LIVELY, "$0 is over $1"),
            only(S::FORMAL, "$0 exceeds $1"),
        ],
    ),
    row(
        Rule::GreaterEqual,
        C::Simple,
        TWO,
        &[any("$0 is at least $1"), only(S::FORMAL, "$0 is no less than $1")],
    ),
    // Comparisons with a text: a date, or a place in the alphabet.
    row(Rule::Before, C::Simple, TWO, &[any("$0 is before $1")]),
    row(Rule::NotAfter, C::Simple, TWO, &[any("$0 is $1 or earlier"), read("$0 is on or before $1")]),
    row(Rule::After, C::Simple, TWO, &[any("$0 is after $1")]),
    row(Rule::NotBefore, C::Simple, TWO, &[any("$0 is $1 or later"), read("$0 is on or after $1")]),
    // Comparisons with what all rows of the table have.
    row(Rule::AboveAverage, C::Simple, &[C::Column], &[any("$0 is above the overall average")]),
    row(Rule::BelowAverage, C::Simple, &[C::Column], &[any("$0 is below the overall average")]),
    row(Rule::HighestOfAll, C::Simple, &[C::Column], &[any("$0 is the highest of all")]),
    row(Rule::LowestOfAll, C::Simple, &[C::Column], &[any("$0 is the lowest of all")]),
    // What rows "have": "an age above 30", and of a plural "sales above 30".
    row(Rule::HaveEqual, C::Trait, NAMED, &[any("the $0 $1")]),
    row(
        Rule::HaveOther,
        C::Trait,
        NAMED,
        &[any("a $0 other than $1"), any("an $0 other than $1"), read("$0 other than $1")],
    ),
    row(
        Rule::HaveMore,
        C::Trait,
        NAMED,
        &[
            any("a $0 above $1"),
            any("an $0 above $1"),
            read("$0 above $1"),
            any("a $0 over $1"),
            any("an $0 over $1"),
            read("$0 over $1"),
        ],
    ),
    row(
        Rule::HaveAtLeast,
        C::Trait,
        NAMED,
        &[any("a $0 of at least $1"), any("an $0 of at least $1"), read("$0 of at least $1")],
    ),
    row(
        Rule::HaveLess,
        C::Trait,
        NAMED,
        &[
            any("a $0 below $1"),
            any("an $0 below $1"),
            read("$0 below $1"),
            any("a $0 under $1"),
            any("an $0 under $1"),
            read("$0 under $1"),
        ],
    ),
    row(
        Rule::HaveAtMost,
        C::Trait,
        NAMED,
        &[any("a $0 of at most $1"), any("an $0 of at most $1"), read("$0 of at most $1")],
    ),
    row(
        Rule::HaveBetween,
        C::Trait,
        &[C::Name, C::Atom, C::Atom],
        &[any("a $0 between $1 and $2"), any("an $0 between $1 and $2"), read("$0 between $1 and $2")],
    ),
    row(
        Rule::HaveAfter,
        C::Trait,
        NAMED,
        &[any("a $0 after $1"), any("an $0 after $1"), read("$0 after $1")],
    ),
    row(
        Rule::HaveBefore,
        C::Trait,
        NAMED,
        &[any("a $0 before $1"), any("an $0 before $1"), read("$0 before $1")],
    ),
    row(
        Rule::HaveUntil,
        C::Trait,
        NAMED,
        &[any("a $0 of $1 or earlier"), any("an $0 of $1 or earlier"), read("$0 of $1 or earlier")],
    ),
    row(
        Rule::HaveFrom,
        C::Trait,
        NAMED,
        &[any("a $0 of $1 or later"), any("an $0 of $1 or later"), read("$0 of $1 or later")],
    ),
    row(
        Rule::HaveContaining,
        C::Trait,
        NAMED,
        &[any("a $0 that contains $1"), any("an $0 that contains $1"), read("$0 that contains $1")],
    ),
    row(
        Rule::HaveStarting,
        C::Trait,
        NAMED,
        &[any("a $0 that starts with $1"), any("an $0 that starts with $1"), read("$0 that starts with $1")],
    ),
    row(Rule::Is, C::Simple, TWO, &[any("$0 is the same as $1")]),
    row(Rule::IsNot, C::Simple, TWO, &[any("$0 is not the same as $1")]),
    row(
        Rule::Between,
        C::Simple,
        THREE,
        &[any("$0 is between $1 and $2"), only(S::FORMAL, "$0 lies between $1 and $2")],
    ),
    row(
        Rule::NotBetween,
        C::Simple,
        THREE,
        &[any("$0 is not between $1 and $2"), any("$0 is outside $1 to $2")],
    ),
    row(Rule::Contains, C::Simple, TWO, &[any("$0 contains $1"), any("$0 includes $1")]),
    row(Rule::NotContains, C::Simple, TWO, &[any("$0 does not contain $1")]),
    row(Rule::StartsWith, C::Simple, TWO, &[any("$0 starts with $1"), any("$0 begins with $1")]),
    row(Rule::NotStartsWith, C::Simple, TWO, &[any("$0 does not start with $1")]),
    row(Rule::EndsWith, C::Simple, TWO, &[any("$0 ends with $1")]),
    row(Rule::NotEndsWith, C::Simple, TWO, &[any("$0 does not end with $1")]),
    row(Rule::Like, C::Simple, TWO, &[any("$0 matches the pattern $1"), any("$0 looks like $1")]),
    row(Rule::NotLike, C::Simple, TWO, &[any("$0 does not match the pattern $1")]),
    row(Rule::LikeEscape, C::Simple, THREE, &[any("$0 matches the pattern $1 with escape character $2")]),
    row(
        Rule::NotLikeEscape,
        C::Simple,
        THREE,
        &[any("$0 does not match the pattern $1 with escape character $2")],
    ),
    row(Rule::Glob, C::Simple, TWO, &[any("$0 matches the file pattern $1")]),
    row(Rule::NotGlob, C::Simple, TWO, &[any("$0 does not match the file pattern $1")]),
    row(Rule::Regexp, C::Simple, TWO, &[any("$0 matches the regular expression $1")]),
    row(Rule::NotRegexp, C::Simple, TWO, &[any("$0 does not match the regular expression $1")]),
    row(Rule::Matches, C::Simple, TWO, &[any("$0 matches the search $1")]),
    row(Rule::NotMatches, C::Simple, TWO, &[any("$0 does not match the search $1")]),
    row(Rule::OneOf, C::Simple, LIST, &[any("$0 is one of $1[, or]"), any("$0 is any of $1[, or]")]),
    row(Rule::NoneOf, C::Simple, LIST, &[any("$0 is none of $1[, or]"), any("$0 is not one of $1[, or]")]),
    row(Rule::EitherOf, C::Simple, LIST, &[any("$0 is $1[[, or]]"), any("$0 is either $1[[, or]]")]),
    row(Rule::NeitherOf, C::Simple, LIST, &[any("$0 is neither $1[[nor nor]]")]),
    row(Rule::Among, C::Simple, NESTED, &[any("$0 is among $1"), any("$0 appears among $1")]),
    row(Rule::NotAmong, C::Simple, NESTED, &[any("$0 is not among $1"), any("$0 does not appear among $1")]),
    row(
        Rule::Missing,
        C::Simple,
        &[C::Operand],
        &[any("$0 is missing"), any("$0 is not known"), read("$0 has no value")],
    ),
    row(
        Rule::NotMissing,
        C::Simple,
        &[C::Operand],
        &[any("$0 is known"), any("$0 is not missing"), read("$0 has a value")],
    ),
    row(Rule::Belongs, C::Simple, OF_ONE, &[any("$0 belongs to $1 $2?")]),
    row(Rule::NotBelongs, C::Simple, OF_ONE, &[any("$0 does not belong to $1 $2?")]),
    row(Rule::Appears, C::Simple, OF_ONE, &[any("$0 appears in $1 $2?")]),
    row(Rule::NotAppears, C::Simple, OF_ONE, &[any("$0 does not appear in $1 $2?")]),
    row(
        Rule::There,
        C::Simple,
        &[C::Source, C::Filter],
        &[any("there are $0 $1?"), any("there is at least one of the $0 $1?")],
    ),
    row(
        Rule::ThereNone,
        C::Simple,
        &[C::Source, C::Filter],
        &[any("there are no $0 $1?"), any("there is none of the $0 $1?")],
    ),
    row(Rule::ThereRow, C::Simple, &[C::Query], &[any("there is any result of ( $0 )")]),
    row(Rule::ThereNoRow, C::Simple, &[C::Query], &[any("there is no result of ( $0 )")]),
    row(Rule::Holds, C::Simple, &[C::Operand], &[any("$0 holds")]),
];
