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

static RULES: &[&AuditRule] = &[
    &does_not_run::RULE,
    &empty_result::RULE,
    &depends_on_plan::RULE,
    &systems_disagree::RULE,
    &tie_at_limit::RULE,
    &tie_possible_at_limit::RULE,
    &bare_column::RULE,
    &null_sorted_first::RULE,
    &text_as_number::RULE,
    &date_as_year::RULE,
    &integer_division::RULE,
    &near_literal::RULE,
    &constant_condition::RULE,
    &reversed_between::RULE,
    &or_beside_and::RULE,
    &join_without_key::RULE,
    &column_of_other_table::RULE,
    &joined_table_unused::RULE,
    &join_multiplies::RULE,
    &count_of_reference::RULE,
    &count_per_group::RULE,
    &group_by_name::RULE,
    &count_of_nullable::RULE,
    &limit_on_one_row::RULE,
    &limit_without_order::RULE,
    &constant_aggregated::RULE,
    &extremum_for_all::RULE,
    &direction_of_question::RULE,
    &extremum_missing::RULE,
    &output_columns::RULE,
    &aggregate_of_question::RULE,
    &literal_not_asked::RULE,
    &literal_spelled_otherwise::RULE,
    &value_not_used::RULE,
    &evidence_column_unused::RULE,
    &evidence_value_unused::RULE,
    &evidence_not_computed::RULE,
];

pub fn rules() -> &'static [&'static AuditRule] {
    RULES
}

pub fn find(name: &str) -> Option<&'static AuditRule> {
    RULES.iter().copied().find(|rule| rule.name == name)
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
    fn audited(rule: &AuditRule, case: &AuditCase) -> ItemAudit {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("case.sqlite");
        let connection = rusqlite::Connection::open(&path).expect("a database");
        connection.execute_batch(case.database).expect("the case's database is SQL");
        drop(connection);
        let engine = SqliteEngine::new(Limits::default());
        let database: Arc<_> = engine.open(&path).expect("the database opens");
        let selection = RuleSelection::of([rule.name]).expect("the rule has its name");
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
            for case in rule.cases {
                let audit = audited(rule, case);
                let is_checked = audit.unresolved.is_none() || rule.name == "does-not-run";
                if audit.has(rule.name) != case.fires || (!case.fires && !is_checked) {
                    wrong.push(format!("{}: {}\n  {audit:?}", rule.name, case.sql));
                }
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    #[test]
    fn every_rule_has_cases_both_ways_and_one_from_a_benchmark() {
        for rule in rules() {
            let fires = |wanted: bool| rule.cases.iter().any(|case| case.fires == wanted);
            let is_real = rule.cases.iter().any(|case| case.fires && case.from_benchmark);
            assert!(fires(true) && fires(false) && is_real, "{}", rule.name);
        }
    }

    #[test]
    fn every_rule_has_a_page_and_a_name_of_its_own() {
        let mut names: Vec<&str> = rules().iter().map(|rule| rule.name).collect();
        for rule in rules() {
            let page = rule.page();
            let headings: Vec<&str> = page.lines().filter_map(|line| line.strip_prefix("## ")).collect();
            assert_eq!(headings, HEADINGS, "{}", rule.name);
            assert!(page.starts_with("# ") && page.contains("```sql"), "{}", rule.name);
            let is_kebab = rule.name.chars().all(|c| c.is_ascii_lowercase() || c == '-');
            assert!(is_kebab && !rule.summary.ends_with('.'), "{}", rule.name);
        }
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), rules().len());
    }

    #[test]
    fn a_literal_of_two_arms_is_named_once() {
        let rule = find("near-literal").expect("it is a rule");
        let sql =
            "SELECT city FROM club WHERE city = 'lisbon' UNION SELECT name FROM club WHERE city = 'lisbon'";
        let finding = audited(rule, &AuditCase { sql, ..rule.cases[0] }).findings.remove(0);
        assert_eq!(finding.why, "no row has club.city = 'lisbon', but rows have 'Lisbon'");
        assert_eq!(finding.evidence.expect("rows").rows.len(), 1);
    }

    #[test]
    fn proposals_run() {
        for rule in rules() {
            for case in rule.cases.iter().filter(|case| case.fires) {
                for finding in audited(rule, case).findings {
                    let Some(rewrite) = finding.rewrite else { continue };
                    let proposed = AuditCase { sql: rewrite.sql.clone().leak(), ..*case };
                    let fails = audited(find("does-not-run").expect("it is a rule"), &proposed);
                    assert!(fails.findings.is_empty(), "{}: {}", rule.name, rewrite.sql);
                    assert!(!audited(rule, &proposed).has(rule.name), "{}: {}", rule.name, rewrite.sql);
                }
            }
        }
    }
}
