//! # Column aliases
//!
//! ## What it does
//! Treats a result column under an alias as the expression itself; references to the alias in WHERE, GROUP BY,
//! HAVING and ORDER BY are the expression.
//!
//! ## Why it holds
//! An alias names a value and does not change it. Names of result columns are no part of the answer.
//!
//! ## Needs
//! Nothing.
//!
//! ## Example
//! ```sql
//! SELECT age AS a FROM singer
//! SELECT age FROM singer
//! ```
//!
//! ## Does not hold when
//! A column of the table has the name of the alias: WHERE, GROUP BY and HAVING then mean the column, ORDER BY the
//! alias.
//!
//! ## Source
//! Paper, Table 1, P6.

use crate::profile::Profiles;
use crate::rule::{Rule, RuleCase, RuleStage};

pub(super) static RULE: Rule = Rule {
    id: "P6",
    name: "column-alias",
    summary: "A result column under another name",
    profiles: Profiles::BOTH,
    stage: RuleStage::Resolution,
    cases: CASES,
    source: include_str!("column_alias.rs"),
};

const SINGERS: &str = "CREATE TABLE singer (id INTEGER PRIMARY KEY, name TEXT, age INT);
     CREATE TABLE song (sid INTEGER PRIMARY KEY, singer_id INT REFERENCES singer(id), title TEXT, year INT);";

const CASES: &[RuleCase] = &[
    RuleCase::equal(SINGERS, "SELECT age AS a FROM singer", "SELECT age FROM singer"),
    RuleCase::equal(
        SINGERS,
        "SELECT name, COUNT(*) AS n FROM singer GROUP BY name HAVING n > 2",
        "SELECT name, COUNT(*) FROM singer GROUP BY name HAVING COUNT(*) > 2",
    ),
    RuleCase::differs(
        SINGERS,
        "SELECT -age AS id FROM singer ORDER BY id",
        "SELECT -age AS id FROM singer ORDER BY singer.id",
    ),
];
