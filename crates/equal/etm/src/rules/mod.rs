//! The rules, one file each, and their registry.
//!
//! Tables 1 to 3 of the paper (P0 to P8, 1 to 26) come first, then rules of ours (S1…). Within a step of a
//! comparison rules are tried in the order of the registry.
//!
//! To find the file of rule 14, look for `// 14` in the registry below.

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
mod index_hint;
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
mod present_time;
mod quoted_number;
mod real_factor;
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
    &letter_case::LetterCase,                           // P0
    &table_prefix::TablePrefix,                         // P1
    &output_order::OutputOrder,                         // P2
    &table_alias::TableAlias,                           // P3
    &join_order::JoinOrder,                             // P4
    &commutative_operands::CommutativeOperands,         // P5
    &column_alias::ColumnAlias,                         // P6
    &parentheses::Parentheses,                          // P7
    &name_quotes::NameQuotes,                           // P8
    &extremum_by_subquery::ExtremumBySubquery,          // 1
    &distinct_of_unique::DistinctOfUnique,              // 2
    &set_operation_of_filters::SetOperationOfFilters,   // 3
    &dependent_group_keys::DependentGroupKeys,          // 4
    &except_of_column::ExceptOfColumn,                  // 5
    &count_of_not_null::CountOfNotNull,                 // 6
    &is_not_null_of_not_null::IsNotNullOfNotNull,       // 7
    &average_by_sum_and_count::AverageBySumAndCount,    // 8
    &count_of_case::CountOfCase,                        // 9
    &extremum_by_order::ExtremumByOrder,                // 10
    &star_expansion::StarExpansion,                     // 11
    &quoted_number::QuotedNumber,                       // 12
    &in_subquery_as_join::InSubqueryAsJoin,             // 13
    &join_without_use::JoinWithoutUse,                  // 14
    &prefix_and_rest::PrefixAndRest,                    // 15
    &like_prefix::LikePrefix,                           // 16
    &order_by_julian_day::OrderByJulianDay,             // 17
    &in_list::InList,                                   // 18
    &equated_columns::EquatedColumns,                   // 19
    &in_own_table::InOwnTable,                          // 20
    &set_operation_with_itself::SetOperationWithItself, // 21
    &between::Between,                                  // 22
    &negated_comparison::NegatedComparison,             // 23
    &iif::Iif,                                          // 24
    &left_join_is_null::LeftJoinIsNull,                 // 25
    &common_table_expression::CommonTableExpression,    // 26
    &trivial_conditions::TrivialConditions,             // S1
    &join_conditions_in_where::JoinConditionsInWhere,   // S2
    &right_join::RightJoin,                             // S3
    &outer_join_without_effect::OuterJoinWithoutEffect, // S4
    &unused_outer_join::UnusedOuterJoin,                // S5
    &order_by_alias::OrderByAlias,                      // S6
    &order_without_effect::OrderWithoutEffect,          // S7
    &in_as_exists::InAsExists,                          // S8
    &not_in_as_not_exists::NotInAsNotExists,            // S9
    &exists_of_anything::ExistsOfAnything,              // S10
    &repetition_in_set::RepetitionInSet,                // S11
    &group_by_as_distinct::GroupByAsDistinct,           // S12
    &having_as_where::HavingAsWhere,                    // S13
    &subquery_in_from::SubqueryInFrom,                  // S14
    &implied_not_null::ImpliedNotNull,                  // S15
    &negation::Negation,                                // S16
    &other_spellings::OtherSpellings,                   // S17
    &join_with_itself::JoinWithItself,                  // S18
    &set_operation_as_exists::SetOperationAsExists,     // S19
    &count_of_distinct_rows::CountOfDistinctRows,       // S20
    &value_of_single_row::ValueOfSingleRow,             // S21
    &distinct_join_as_exists::DistinctJoinAsExists,     // S22
    &bound_of_count::BoundOfCount,                      // S23
    &letter_case_of_pattern::LetterCaseOfPattern,       // S24
    &grouped_join_as_in::GroupedJoinAsIn,               // S25
    &in_of_set_operation::InOfSetOperation,             // S26
    &not_null_of_aggregated::NotNullOfAggregated,       // S27
    &keys_that_are_referred_to::KeysThatAreReferredTo,  // S28
    &null_group_in_in::NullGroupInIn,                   // S29
    &index_hint::IndexHints,                            // S30
    &present_time::PresentTime,                         // S31
    &real_factor::RealFactor,                           // S32
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_registry_says_the_number_of_every_rule() {
        let written: Vec<&str> = include_str!("mod.rs")
            .lines()
            .filter(|line| line.trim_start().starts_with('&') && line.contains("::"))
            .map(|line| line.rsplit_once("// ").map_or("none", |(_, number)| number))
            .collect();
        let true_ones: Vec<&str> = RULES.iter().map(|rule| rule.meta().id).collect();
        assert_eq!(written, true_ones);
    }
}
