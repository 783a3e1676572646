//! The registry of rules: ids, pages, cases.

use std::collections::HashSet;

use sqlgauge_etm::{HEADINGS, Profile, Rule, find, rules};

#[test]
fn ids_and_names_are_unique_and_found() {
    let mut seen = HashSet::new();
    for rule in rules() {
        assert!(seen.insert(rule.id), "{} is used twice", rule.id);
        assert!(seen.insert(rule.name), "{} is used twice", rule.name);
        assert_eq!(find(rule.id).map(|rule| rule.id), Some(rule.id));
        assert_eq!(find(&rule.name.to_uppercase()).map(|rule| rule.id), Some(rule.id));
    }
}

/// The table and number in the paper, `None` for a rule of ours.
fn paper_number(rule: &Rule) -> Option<&'static str> {
    (!rule.id.starts_with('S')).then_some(rule.id)
}

#[test]
fn all_rules_of_the_paper_are_there() {
    let paper: Vec<String> =
        (0..=8).map(|n| format!("P{n}")).chain((1..=26).map(|n| n.to_string())).collect();
    let ours: Vec<&str> = rules().iter().copied().filter_map(paper_number).collect();
    assert_eq!(ours, paper);
    for rule in rules() {
        let in_paper = rule.profiles.contains(Profile::Paper);
        assert!(in_paper || paper_number(rule).is_none(), "{} is published", rule.id);
    }
}

#[test]
fn every_page_has_its_headings_in_order() {
    for rule in rules() {
        let page = rule.page();
        let headings: Vec<&str> = page.lines().filter_map(|line| line.strip_prefix("## ")).collect();
        assert_eq!(headings, HEADINGS, "page of {}", rule.id);
        assert!(page.starts_with("# "), "page of {} has no title", rule.id);
        let sections =
            page.split("\n## ").skip(1).map(|section| section.lines().skip(1).any(|line| !line.is_empty()));
        assert!(sections.into_iter().all(|filled| filled), "page of {} has an empty section", rule.id);
        assert!(!rule.summary.is_empty());
    }
}

#[test]
fn every_rule_has_a_pair_that_must_match_and_one_that_must_not() {
    for rule in rules() {
        for profile in Profile::ALL.into_iter().filter(|profile| rule.profiles.contains(*profile)) {
            let of = |equal: bool| {
                rule.cases.iter().any(|case| case.equal == equal && case.profiles.contains(profile))
            };
            assert!(of(true), "{} has no pair that {profile} must match", rule.id);
            assert!(of(false), "{} has no pair that {profile} must not match", rule.id);
        }
    }
}
