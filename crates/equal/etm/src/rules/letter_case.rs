//! # Letter case of names
//!
//! ## What it does
//! Treats names that differ only in the case of ASCII letters as the same name. Resolution looks every name up in
//! the schema, so nothing of its spelling is left when the rules run.
//!
//! ## Why it holds
//! SQLite compares the names of tables, columns, functions and collations without regard to the case of ASCII
//! letters.
//!
//! ## Needs
//! Nothing.
//!
//! ## Example
//! ```sql
//! SELECT name FROM singer
//! SELECT NAME FROM Singer
//! ```
//!
//! ## Does not hold when
//! The text is a string constant: `'A'` and `'a'` are two values.
//!
//! ## Source
//! Paper, Table 1, P0.

use crate::profile::Profiles;
use crate::rule::{Rule, RuleCase, RuleStage};

pub(super) static RULE: Rule = Rule {
    id: "P0",
    name: "letter-case",
    summary: "Names of tables and columns in another letter case",
    profiles: Profiles::BOTH,
    stage: RuleStage::Resolution,
    cases: CASES,
    source: include_str!("letter_case.rs"),
};

const SINGERS: &str = "CREATE TABLE singer (id INTEGER PRIMARY KEY, name TEXT, age INT);
     CREATE TABLE song (sid INTEGER PRIMARY KEY, singer_id INT REFERENCES singer(id), title TEXT, year INT);";

const CASES: &[RuleCase] = &[
    RuleCase::equal(SINGERS, "SELECT name FROM singer", "SELECT NAME FROM Singer"),
    RuleCase::equal(SINGERS, "SELECT count(id) FROM SINGER", "select COUNT(ID) from singer"),
    RuleCase::differs(
        SINGERS,
        "SELECT id FROM singer WHERE name = 'A'",
        "SELECT id FROM singer WHERE name = 'a'",
    ),
];
