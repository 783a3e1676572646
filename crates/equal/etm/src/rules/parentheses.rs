//! # Parentheses
//!
//! ## What it does
//! Forgets parentheses: the tree already has the structure that they give.
//!
//! ## Why it holds
//! Parentheses only group; the tree of `(a)` is the tree of `a`.
//!
//! ## Needs
//! Nothing.
//!
//! ## Example
//! ```sql
//! SELECT name FROM singer WHERE (age > 3)
//! SELECT name FROM singer WHERE age > 3
//! ```
//!
//! ## Does not hold when
//! They change the grouping, as in `a AND (b OR c)`.
//!
//! ## Source
//! Paper, Table 1, P7, and Section 3.3, item 9.

use crate::profile::Profiles;
use crate::rule::{Rule, RuleCase, RuleStage};

pub(super) static RULE: Rule = Rule {
    id: "P7",
    name: "parentheses",
    summary: "Parentheses that change nothing",
    profiles: Profiles::BOTH,
    stage: RuleStage::Resolution,
    cases: CASES,
    source: include_str!("parentheses.rs"),
};

const SINGERS: &str = "CREATE TABLE singer (id INTEGER PRIMARY KEY, name TEXT, age INT);
     CREATE TABLE song (sid INTEGER PRIMARY KEY, singer_id INT REFERENCES singer(id), title TEXT, year INT);";

const CASES: &[RuleCase] = &[
    RuleCase::equal(
        SINGERS,
        "SELECT name FROM singer WHERE (age > 3)",
        "SELECT name FROM singer WHERE age > 3",
    ),
    RuleCase::equal(SINGERS, "SELECT (age) FROM (singer)", "SELECT age FROM singer"),
    RuleCase::differs(SINGERS, "SELECT (age + 1) * 2 FROM singer", "SELECT age + 1 * 2 FROM singer"),
];
