//! The registry of rules: ids, pages, cases.

use std::collections::HashSet;

use sqlgauge_etm::{HEADINGS, Profile, find, rules};

#[test]
fn ids_and_names_are_unique_and_found() {
    let mut seen = HashSet::new();
    for rule in rules() {
        let meta = rule.meta();
        assert!(seen.insert(meta.id), "{} is used twice", meta.id);
        assert!(seen.insert(meta.name), "{} is used twice", meta.name);
        assert_eq!(find(meta.id).map(|rule| rule.meta().id), Some(meta.id));
        assert_eq!(find(&meta.name.to_uppercase()).map(|rule| rule.meta().id), Some(meta.id));
    }
}

#[test]
fn all_rules_of_the_paper_are_there() {
    let paper: Vec<String> =
        (0..=8).map(|n| format!("P{n}")).chain((1..=26).map(|n| n.to_string())).collect();
    let ours: Vec<&str> = rules().iter().filter_map(|rule| rule.meta().paper_number()).collect();
    assert_eq!(ours, paper);
    for rule in rules() {
        let meta = rule.meta();
        let in_paper = meta.profiles.contains(Profile::Paper);
        assert!(in_paper || meta.paper_number().is_none(), "{} is published", meta.id);
    }
}

#[test]
fn every_page_has_its_headings_in_order() {
    for rule in rules() {
        let meta = rule.meta();
        let page = meta.page();
        let headings: Vec<&str> = page.lines().filter_map(|line| line.strip_prefix("## ")).collect();
        assert_eq!(headings, HEADINGS, "page of {}", meta.id);
        assert!(page.starts_with("# "), "page of {} has no title", meta.id);
        let sections =
            page.split("\n## ").skip(1).map(|section| section.lines().skip(1).any(|line| !line.is_empty()));
        assert!(sections.into_iter().all(|filled| filled), "page of {} has an empty section", meta.id);
        assert!(!meta.summary.is_empty());
    }
}

#[test]
fn every_rule_has_a_pair_that_must_match_and_one_that_must_not() {
    for rule in rules() {
        let meta = rule.meta();
        for profile in Profile::ALL.into_iter().filter(|profile| meta.profiles.contains(*profile)) {
            let of = |equal: bool| {
                rule.meta().cases.iter().any(|case| case.equal == equal && case.profiles.contains(profile))
            };
            assert!(of(true), "{} has no pair that {profile} must match", meta.id);
            assert!(of(false), "{} has no pair that {profile} must not match", meta.id);
        }
    }
}
