//! # Order of the result columns
//!
//! ## What it does
//! In the profile `etm-paper@1` the result columns are compared as a bag. In `etm@1` the order of the columns is a
//! part of the answer, so the rule is not used there.
//!
//! ## Why it holds
//! The paper takes an answer for the same whatever the order of its columns. Execution accuracy as `ex@1` defines
//! it compares column by column, as a reader of the answer does.
//!
//! ## Needs
//! Nothing.
//!
//! ## Example
//! ```sql
//! SELECT name, age FROM singer
//! SELECT age, name FROM singer
//! ```
//!
//! ## Does not hold when
//! Columns count by their place: with one singer `('Ann', 30)` the first query returns `('Ann', 30)`, the second
//! `(30, 'Ann')`. This is so under `ex@1`, which is why `etm@1` leaves the rule out.
//!
//! ## Source
//! Paper, Table 1, P2.

use crate::profile::Profiles;
use crate::rule::{Rule, RuleCase, RuleStage};

pub(super) static RULE: Rule = Rule {
    id: "P2",
    name: "output-order",
    summary: "Result columns in a different order",
    profiles: Profiles::PAPER,
    stage: RuleStage::Comparison,
    cases: CASES,
    source: include_str!("output_order.rs"),
};

const SINGERS: &str = "CREATE TABLE singer (id INTEGER PRIMARY KEY, name TEXT, age INT);
     CREATE TABLE song (sid INTEGER PRIMARY KEY, singer_id INT REFERENCES singer(id), title TEXT, year INT);";

const CASES: &[RuleCase] = &[
    RuleCase::equal(SINGERS, "SELECT name, age FROM singer", "SELECT age, name FROM singer").paper(),
    RuleCase::differs(SINGERS, "SELECT name, age FROM singer", "SELECT age, name FROM singer")
        .sound()
        .witness("INSERT INTO singer VALUES (1, 'Ann', 30)"),
    RuleCase::differs(SINGERS, "SELECT name, age FROM singer", "SELECT name, id FROM singer"),
];
