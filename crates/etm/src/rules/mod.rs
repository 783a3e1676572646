//! The rules, one file each, and their registry.
//!
//! Tables 1 to 3 of the paper (P0 to P8, 1 to 26) come first, then rules of ours (S1…). Within a step of a
//! comparison rules are tried in the order of the registry.

mod average_by_sum_and_count;
mod between;
mod bound_of_count;
mod column_alias;
mod common_table_expression;
mod commutative_operands;
mod count_of_case;
mod count_of_distinct_rows;
mod count_of_not_null;
mod dependent_group_keys;
mod distinct_join_as_exists;
mod distinct_of_unique;
mod equated_columns;
mod except_of_column;
mod exists_of_anything;
mod extremum_by_order;
mod extremum_by_subquery;
mod group_by_as_distinct;
mod grouped_join_as_in;
mod having_as_where;
mod iif;
mod implied_not_null;
mod in_as_exists;
mod in_list;
mod in_of_set_operation;
mod in_own_table;
mod in_subquery_as_join;
mod is_not_null_of_not_null;
mod join_conditions_in_where;
mod join_order;
mod join_with_itself;
mod join_without_use;
mod keys_that_are_referred_to;
mod left_join_is_null;
mod letter_case;
mod letter_case_of_pattern;
mod like_prefix;
mod name_quotes;
mod negated_comparison;
mod negation;
mod not_in_as_not_exists;
mod not_null_of_aggregated;
mod null_group_in_in;
mod order_by_alias;
mod order_by_julian_day;
mod order_without_effect;
mod other_spellings;
mod outer_join_without_effect;
mod output_order;
mod parentheses;
mod prefix_and_rest;
mod quoted_number;
mod repetition_in_set;
mod right_join;
mod set_operation_as_exists;
mod set_operation_of_filters;
mod set_operation_with_itself;
mod star_expansion;
mod subquery_in_from;
mod table_alias;
mod table_prefix;
mod trivial_conditions;
mod unused_outer_join;
mod value_of_single_row;

use crate::rule::Rule;

static RULES: &[&dyn Rule] = &[
    &letter_case::LetterCase,
    &table_prefix::TablePrefix,
    &output_order::OutputOrder,
    &table_alias::TableAlias,
    &join_order::JoinOrder,
    &commutative_operands::CommutativeOperands,
    &column_alias::ColumnAlias,
    &parentheses::Parentheses,
    &name_quotes::NameQuotes,
    &extremum_by_subquery::ExtremumBySubquery,
    &distinct_of_unique::DistinctOfUnique,
    &set_operation_of_filters::SetOperationOfFilters,
    &dependent_group_keys::DependentGroupKeys,
    &except_of_column::ExceptOfColumn,
    &count_of_not_null::CountOfNotNull,
    &is_not_null_of_not_null::IsNotNullOfNotNull,
    &average_by_sum_and_count::AverageBySumAndCount,
    &count_of_case::CountOfCase,
    &extremum_by_order::ExtremumByOrder,
    &star_expansion::StarExpansion,
    &quoted_number::QuotedNumber,
    &in_subquery_as_join::InSubqueryAsJoin,
    &join_without_use::JoinWithoutUse,
    &prefix_and_rest::PrefixAndRest,
    &like_prefix::LikePrefix,
    &order_by_julian_day::OrderByJulianDay,
    &in_list::InList,
    &equated_columns::EquatedColumns,
    &in_own_table::InOwnTable,
    &set_operation_with_itself::SetOperationWithItself,
    &between::Between,
    &negated_comparison::NegatedComparison,
    &iif::Iif,
    &left_join_is_null::LeftJoinIsNull,
    &common_table_expression::CommonTableExpression,
    &trivial_conditions::TrivialConditions,
    &join_conditions_in_where::JoinConditionsInWhere,
    &right_join::RightJoin,
    &outer_join_without_effect::OuterJoinWithoutEffect,
    &unused_outer_join::UnusedOuterJoin,
    &order_by_alias::OrderByAlias,
    &order_without_effect::OrderWithoutEffect,
    &in_as_exists::InAsExists,
    &not_in_as_not_exists::NotInAsNotExists,
    &exists_of_anything::ExistsOfAnything,
    &repetition_in_set::RepetitionInSet,
    &group_by_as_distinct::GroupByAsDistinct,
    &having_as_where::HavingAsWhere,
    &subquery_in_from::SubqueryInFrom,
    &implied_not_null::ImpliedNotNull,
    &negation::Negation,
    &other_spellings::OtherSpellings,
    &join_with_itself::JoinWithItself,
    &set_operation_as_exists::SetOperationAsExists,
    &count_of_distinct_rows::CountOfDistinctRows,
    &value_of_single_row::ValueOfSingleRow,
    &distinct_join_as_exists::DistinctJoinAsExists,
    &bound_of_count::BoundOfCount,
    &letter_case_of_pattern::LetterCaseOfPattern,
    &grouped_join_as_in::GroupedJoinAsIn,
    &in_of_set_operation::InOfSetOperation,
    &not_null_of_aggregated::NotNullOfAggregated,
    &keys_that_are_referred_to::KeysThatAreReferredTo,
    &null_group_in_in::NullGroupInIn,
];

/// All rules: the paper's in the order of its tables, then ours.
pub fn rules() -> &'static [&'static dyn Rule] {
    RULES
}

/// The rule of that id or name, letter case ignored.
pub fn find(name: &str) -> Option<&'static dyn Rule> {
    let is_meant = |rule: &&&'static dyn Rule| {
        let meta = rule.meta();
        meta.id.eq_ignore_ascii_case(name) || meta.name.eq_ignore_ascii_case(name)
    };
    RULES.iter().find(is_meant).copied()
}
