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

static RULES: &[&Rule] = &[
    &letter_case::RULE,               // P0
    &table_prefix::RULE,              // P1
    &output_order::RULE,              // P2
    &table_alias::RULE,               // P3
    &join_order::RULE,                // P4
    &commutative_operands::RULE,      // P5
    &column_alias::RULE,              // P6
    &parentheses::RULE,               // P7
    &name_quotes::RULE,               // P8
    &extremum_by_subquery::RULE,      // 1
    &distinct_of_unique::RULE,        // 2
    &set_operation_of_filters::RULE,  // 3
    &dependent_group_keys::RULE,      // 4
    &except_of_column::RULE,          // 5
    &count_of_not_null::RULE,         // 6
    &is_not_null_of_not_null::RULE,   // 7
    &average_by_sum_and_count::RULE,  // 8
    &count_of_case::RULE,             // 9
    &extremum_by_order::RULE,         // 10
    &star_expansion::RULE,            // 11
    &quoted_number::RULE,             // 12
    &in_subquery_as_join::RULE,       // 13
    &join_without_use::RULE,          // 14
    &prefix_and_rest::RULE,           // 15
    &like_prefix::RULE,               // 16
    &order_by_julian_day::RULE,       // 17
    &in_list::RULE,                   // 18
    &equated_columns::RULE,           // 19
    &in_own_table::RULE,              // 20
    &set_operation_with_itself::RULE, // 21
    &between::RULE,                   // 22
    &negated_comparison::RULE,        // 23
    &iif::RULE,                       // 24
    &left_join_is_null::RULE,         // 25
    &common_table_expression::RULE,   // 26
    &trivial_conditions::RULE,        // S1
    &join_conditions_in_where::RULE,  // S2
    &right_join::RULE,                // S3
    &outer_join_without_effect::RULE, // S4
    &unused_outer_join::RULE,         // S5
    &order_by_alias::RULE,            // S6
    &order_without_effect::RULE,      // S7
    &in_as_exists::RULE,              // S8
    &not_in_as_not_exists::RULE,      // S9
    &exists_of_anything::RULE,        // S10
    &repetition_in_set::RULE,         // S11
    &group_by_as_distinct::RULE,      // S12
    &having_as_where::RULE,           // S13
    &subquery_in_from::RULE,          // S14
    &implied_not_null::RULE,          // S15
    &negation::RULE,                  // S16
    &other_spellings::RULE,           // S17
    &join_with_itself::RULE,          // S18
    &set_operation_as_exists::RULE,   // S19
    &count_of_distinct_rows::RULE,    // S20
    &value_of_single_row::RULE,       // S21
    &distinct_join_as_exists::RULE,   // S22
    &bound_of_count::RULE,            // S23
    &letter_case_of_pattern::RULE,    // S24
    &grouped_join_as_in::RULE,        // S25
    &in_of_set_operation::RULE,       // S26
    &not_null_of_aggregated::RULE,    // S27
    &keys_that_are_referred_to::RULE, // S28
    &null_group_in_in::RULE,          // S29
    &index_hint::RULE,                // S30
    &present_time::RULE,              // S31
    &real_factor::RULE,               // S32
];

/// All rules: the paper's in the order of its tables, then ours.
pub fn rules() -> &'static [&'static Rule] {
    RULES
}

/// The rule of that id or name, letter case ignored.
pub fn find(name: &str) -> Option<&'static Rule> {
    let is_meant = |rule: &&Rule| rule.id.eq_ignore_ascii_case(name) || rule.name.eq_ignore_ascii_case(name);
    RULES.iter().copied().find(is_meant)
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
        let true_ones: Vec<&str> = RULES.iter().map(|rule| rule.id).collect();
        assert_eq!(written, true_ones);
    }
}
