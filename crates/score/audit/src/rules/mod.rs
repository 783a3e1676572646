//! The rules, one file each, and their registry.
//!
//! First what shows when the gold runs, then what query, schema and rows say, then what the question says.

mod aggregate_of_question;
mod bare_column;
mod column_of_other_table;
mod constant_aggregated;
mod constant_condition;
mod count_of_nullable;
mod count_of_reference;
mod count_per_group;
mod date_as_year;
mod depends_on_plan;
mod direction_of_question;
mod does_not_run;
mod empty_result;
mod evidence_column_unused;
mod evidence_not_computed;
mod evidence_value_unused;
mod extremum_for_all;
mod extremum_missing;
mod group_by_name;
mod integer_division;
mod join_multiplies;
mod join_without_key;
mod joined_table_unused;
mod limit_on_one_row;
mod limit_without_order;
mod literal_not_asked;
mod literal_spelled_otherwise;
mod near_literal;
mod null_sorted_first;
mod or_beside_and;
mod output_columns;
mod reversed_between;
mod systems_disagree;
mod text_as_number;
mod tie_at_limit;
mod tie_possible_at_limit;
mod value_not_used;

use crate::rule::AuditRule;

static RULES: &[&dyn AuditRule] = &[
    &does_not_run::DoesNotRun,
    &empty_result::EmptyResult,
    &depends_on_plan::DependsOnPlan,
    &systems_disagree::SystemsDisagree,
    &tie_at_limit::TieAtLimit,
    &tie_possible_at_limit::TiePossibleAtLimit,
    &bare_column::BareColumn,
    &null_sorted_first::NullSortedFirst,
    &text_as_number::TextAsNumber,
    &date_as_year::DateAsYear,
    &integer_division::IntegerDivision,
    &near_literal::NearLiteral,
    &constant_condition::ConstantCondition,
    &reversed_between::ReversedBetween,
    &or_beside_and::OrBesideAnd,
    &join_without_key::JoinWithoutKey,
    &column_of_other_table::ColumnOfOtherTable,
    &joined_table_unused::JoinedTableUnused,
    &join_multiplies::JoinMultiplies,
    &count_of_reference::CountOfReference,
    &count_per_group::CountPerGroup,
    &group_by_name::GroupByName,
    &count_of_nullable::CountOfNullable,
    &limit_on_one_row::LimitOnOneRow,
    &limit_without_order::LimitWithoutOrder,
    &constant_aggregated::ConstantAggregated,
    &extremum_for_all::ExtremumForAll,
    &direction_of_question::DirectionOfQuestion,
    &extremum_missing::ExtremumMissing,
    &output_columns::OutputColumns,
    &aggregate_of_question::AggregateOfQuestion,
    &literal_not_asked::LiteralNotAsked,
    &literal_spelled_otherwise::LiteralSpelledOtherwise,
    &value_not_used::ValueNotUsed,
    &evidence_column_unused::EvidenceColumnUnused,
    &evidence_value_unused::EvidenceValueUnused,
    &evidence_not_computed::EvidenceNotComputed,
];

pub fn rules() -> &'static [&'static dyn AuditRule] {
    RULES
}

pub fn find(name: &str) -> Option<&'static dyn AuditRule> {
    RULES.iter().copied().find(|rule| rule.meta().name == name)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use sqlgauge_engine::{Engine, Limits, SqliteEngine};

    use super::*;
    use crate::auditor::{Auditor, RuleSelection};
    use crate::item::Peer;
    use crate::report::ItemAudit;
    use crate::rule::{AuditCase, HEADINGS};

    /// What one rule says of a case.
    fn audited(rule: &dyn AuditRule, case: &AuditCase) -> ItemAudit {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("case.sqlite");
        let connection = rusqlite::Connection::open(&path).expect("a database");
        connection.execute_batch(case.database).expect("the case's database is SQL");
        drop(connection);
        let engine = SqliteEngine::new(Limits::default());
        let database: Arc<_> = engine.open(&path).expect("the database opens");
        let selection = RuleSelection::of([rule.meta().name]).expect("the rule has its name");
        let question = Some(case.question).filter(|question| !question.is_empty());
        let names = ["one", "two", "three", "four"];
        let peers: Vec<Peer<'_>> =
            names.iter().zip(case.peers).map(|(system, sql)| Peer { system, sql }).collect();
        let evidence = Some(case.evidence).filter(|evidence| !evidence.is_empty());
        Auditor::new(&engine, database, selection).audit(case.sql, question, evidence, &peers)
    }

    #[test]
    fn every_rule_reports_its_cases_and_no_other() {
        let mut wrong = Vec::new();
        for rule in rules() {
            for case in rule.meta().cases {
                let audit = audited(*rule, case);
                let is_checked = audit.unresolved.is_none() || rule.meta().name == "does-not-run";
                if audit.has(rule.meta().name) != case.fires || (!case.fires && !is_checked) {
                    wrong.push(format!("{}: {}\n  {audit:?}", rule.meta().name, case.sql));
                }
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    #[test]
    fn every_rule_has_cases_both_ways_and_one_from_a_benchmark() {
        for meta in rules().iter().map(|rule| rule.meta()) {
            let fires = |wanted: bool| meta.cases.iter().any(|case| case.fires == wanted);
            let is_real = meta.cases.iter().any(|case| case.fires && case.from_benchmark);
            assert!(fires(true) && fires(false) && is_real, "{}", meta.name);
        }
    }

    #[test]
    fn every_rule_has_a_page_and_a_name_of_its_own() {
        let mut names: Vec<&str> = rules().iter().map(|rule| rule.meta().name).collect();
        for meta in rules().iter().map(|rule| rule.meta()) {
            let page = meta.page();
            let headings: Vec<&str> = page.lines().filter_map(|line| line.strip_prefix("## ")).collect();
            assert_eq!(headings, HEADINGS, "{}", meta.name);
            assert!(page.starts_with("# ") && page.contains("```sql"), "{}", meta.name);
            let is_kebab = meta.name.chars().all(|c| c.is_ascii_lowercase() || c == '-');
            assert!(is_kebab && !meta.summary.ends_with('.'), "{}", meta.name);
        }
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), rules().len());
    }

    #[test]
    fn proposals_run() {
        for rule in rules() {
            for case in rule.meta().cases.iter().filter(|case| case.fires) {
                for finding in audited(*rule, case).findings {
                    let Some(rewrite) = finding.rewrite else { continue };
                    let proposed = AuditCase { sql: rewrite.sql.clone().leak(), ..*case };
                    let fails = audited(find("does-not-run").expect("it is a rule"), &proposed);
                    assert!(fails.findings.is_empty(), "{}: {}", rule.meta().name, rewrite.sql);
                    assert!(
                        !audited(*rule, &proposed).has(rule.meta().name),
                        "{}: {}",
                        rule.meta().name,
                        rewrite.sql
                    );
                }
            }
        }
    }
}
