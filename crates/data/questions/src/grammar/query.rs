//! Queries: what is shown of what, and how lists are put together.

use super::{Category as C, Row, Rule, any, read, row};

const CLAUSES: &[C] = &[C::Distinct, C::Outputs, C::Source, C::Filter, C::Group, C::Having, C::Tail];

/// What is shown of groups: their keys, what is computed, and the clauses.
const GROUPS: &[C] = &[C::Operand, C::Operand, C::Source, C::Filter, C::Having, C::Tail];

pub(super) const ROWS: &[Row] = &[
    row(Rule::Distinct, C::Distinct, &[], &[any("the different"), any("the distinct"), any("the unique")]),
    row(Rule::Outputs, C::Outputs, &[C::Operand], &[any("$0[, and]")]),
    row(Rule::Everything, C::Outputs, &[], &[any("all the columns"), any("all the details")]),
    row(
        Rule::Select,
        C::Core,
        CLAUSES,
        &[any("$0? $1 of $2 $3? $4? $5? $6?"), any("$0? $1 of all $2 $3? $4? $5? $6?")],
    ),
    row(
        Rule::SelectFor,
        C::Core,
        CLAUSES,
        &[any("$0? $1 for all $2 $3? $4? $5? $6?"), read("$0? $1 from $2 $3? $4? $5? $6?")],
    ),
    row(
        Rule::SelectTop,
        C::Core,
        &[C::Outputs, C::Relation, C::Filter, C::Most],
        &[any("$0 of the $1 $2? with $3")],
    ),
    row(
        Rule::SelectTopAmong,
        C::Core,
        &[C::Outputs, C::Relation, C::Filter, C::Most],
        &[any("$0 of the $1 with $3 among those $2")],
    ),
    row(
        Rule::SelectTopFewAmong,
        C::Core,
        &[C::Outputs, C::Atom, C::Relation, C::Filter, C::Most],
        &[any("$0 of the $1 $2 with $4 among those $3")],
    ),
    // Groups, whose keys are shown too.
    row(
        Rule::ByKeys,
        C::Core,
        &[C::Operand, C::Source, C::Filter, C::Name, C::Having, C::Tail],
        &[any("$0[, and] of $1 $2? by $3[, and] $4? $5?")],
    ),
    row(
        Rule::ByTheirKeys,
        C::Core,
        &[C::Operand, C::Member, C::Name, C::Noun, C::Having, C::Tail],
        &[any("$0[, and] of $1 by the $2[, and] of the $3 $4? $5?")],
    ),
    row(
        Rule::SelectTopFew,
        C::Core,
        &[C::Outputs, C::Atom, C::Relation, C::Filter, C::Most],
        &[any("$0 of the $1 $2 $3? with $4")],
    ),
    row(
        Rule::EachOfIts,
        C::Core,
        GROUPS,
        &[any("each $0[, and] along with $1[, and] of its $2 $3? $4? $5?")],
    ),
    row(Rule::EachFor, C::Core, GROUPS, &[any("each $0[, and] along with $1[, and] for all $2 $3? $4? $5?")]),
    row(
        Rule::EachRow,
        C::Core,
        &[C::Operand, C::Member, C::Operand, C::Member, C::Filter, C::Having, C::Tail],
        &[any("$0[, and] of each $1 along with $2[, and] of its $3 $4? $5? $6?")],
    ),
    row(
        Rule::EachOfTheir,
        C::Core,
        &[C::Operand, C::Operand, C::Member, C::Member, C::Having, C::Tail],
        &[any("each $0[, and] of $3 along with $1[, and] of their $2 $4? $5?")],
    ),
    row(
        Rule::RowsAmount,
        C::Core,
        &[C::Outputs, C::Member, C::Amount, C::Member],
        &[any("$0 of $1 that have $2 $3"), any("$0 of all $1 that have $2 $3")],
    ),
    row(
        Rule::RowsDegree,
        C::Core,
        &[C::Outputs, C::Member, C::Degree, C::Member],
        &[any("$0 of the $1 that has $2 $3")],
    ),
    row(
        Rule::RowsDegreeFew,
        C::Core,
        &[C::Outputs, C::Atom, C::Member, C::Degree, C::Member],
        &[any("$0 of the $1 $2 that have $3 $4")],
    ),
    row(
        Rule::RowsTop,
        C::Core,
        &[C::Outputs, C::Member, C::Most, C::Member],
        &[any("$0 of the $1 with $2 of its $3")],
    ),
    row(
        Rule::EachWith,
        C::Core,
        &[C::Outputs, C::Member, C::Name, C::Noun, C::Tail],
        &[
            any("$0 of $1 , each with the $2[, and] of its $3 $4?"),
            any("$0 of all $1 , each with the $2[, and] of its $3 $4?"),
        ],
    ),
    row(
        Rule::EachWithOf,
        C::Core,
        &[C::Outputs, C::Member, C::Name, C::Noun, C::Tail, C::Member],
        &[any("$0 of $1 of $5 , each with the $2[, and] of its $3 $4?")],
    ),
    row(
        Rule::KeysAmount,
        C::Core,
        &[C::Operand, C::Amount, C::Source, C::Filter],
        &[any("$0[, and] with $1 $2 $3?"), any("$0[, and] that have $1 $2 $3?")],
    ),
    row(
        Rule::KeysDegree,
        C::Core,
        &[C::Operand, C::Degree, C::Source, C::Filter],
        &[any("$0[, and] with $1 $2 $3?"), read("$0[, and] that has $1 $2 $3?")],
    ),
    row(
        Rule::KeysDegreeFew,
        C::Core,
        &[C::Atom, C::Operand, C::Degree, C::Source, C::Filter],
        &[any("the $0 $1[, and] with $2 $3 $4?")],
    ),
    row(
        Rule::KeysAmountFor,
        C::Core,
        &[C::Operand, C::Amount, C::Noun, C::Source, C::Filter],
        &[any("$0[, and] with $1 $2 for all $3 $4?"), any("$0[, and] that have $1 $2 for all $3 $4?")],
    ),
    row(
        Rule::KeysTopFor,
        C::Core,
        &[C::Operand, C::Most, C::Source, C::Filter],
        &[any("$0[, and] with $1 for all $2 $3?")],
    ),
    row(
        Rule::KeysTop,
        C::Core,
        &[C::Operand, C::Most, C::Source, C::Filter],
        &[any("$0[, and] with $1 of the $2 $3?"), any("$0[, and] with $1 of all $2 $3?")],
    ),
    row(
        Rule::SelectValues,
        C::Core,
        &[C::Distinct, C::Outputs, C::Filter, C::Tail],
        &[any("nothing but $0? $1 $2? $3?")],
    ),
    row(Rule::Compound, C::Query, &[C::Part, C::SetPart], &[any("$0 $1[ ]")]),
    row(Rule::CompoundSorted, C::Query, &[C::Part, C::SetPart, C::Tail], &[any("$0 $1[ ] , all of it $2")]),
    row(Rule::Bare, C::Part, &[C::Core], &[any("$0")]),
    row(Rule::Those, C::Part, &[C::Source, C::Filter], &[any("those of $0 $1?"), any("those of all $0 $1?")]),
    row(Rule::Bracketed, C::Part, &[C::Query], &[any("( $0 )")]),
    row(Rule::Bracketed, C::Nested, &[C::Query], &[any("( $0 )")]),
    row(Rule::Union, C::SetPart, &[C::Part], &[any(", together with $0"), any(", and also $0")]),
    row(
        Rule::UnionAll,
        C::SetPart,
        &[C::Part],
        &[any(", followed , repetitions kept , by $0"), any(", and in addition , repetitions kept , $0")],
    ),
    row(
        Rule::Intersect,
        C::SetPart,
        &[C::Part],
        &[any(", as far as they are also among $0"), any(", but only what is also among $0")],
    ),
    row(
        Rule::Except,
        C::SetPart,
        &[C::Part],
        &[any(", except $0"), any(", leaving out $0"), any(", but without $0")],
    ),
];
