//! # Quotes around names
//!
//! ## What it does
//! Treats a name in double quotes, back ticks or brackets as the name. A text in double quotes that names no column
//! is a string constant, as in SQLite.
//!
//! ## Why it holds
//! Quotes are a part of the syntax and not of the name.
//!
//! ## Needs
//! Nothing.
//!
//! ## Example
//! ```sql
//! SELECT "singer"."name" FROM "singer"
//! SELECT singer.name FROM singer
//! ```
//!
//! ## Does not hold when
//! The quotes are single ones: `'name'` is a constant.
//!
//! ## Source
//! Paper, Table 1, P8, and Section 3.3, item 11.

use crate::profile::Profiles;
use crate::rule::{Rule, RuleCase, RuleStage};

pub(super) static RULE: Rule = Rule {
    id: "P8",
    name: "name-quotes",
    summary: "Names in quotes",
    profiles: Profiles::BOTH,
    stage: RuleStage::Resolution,
    cases: CASES,
    source: include_str!("name_quotes.rs"),
};

const SINGERS: &str = "CREATE TABLE singer (id INTEGER PRIMARY KEY, name TEXT, age INT);
     CREATE TABLE song (sid INTEGER PRIMARY KEY, singer_id INT REFERENCES singer(id), title TEXT, year INT);";

const CASES: &[RuleCase] = &[
    RuleCase::equal(SINGERS, "SELECT \"singer\".\"name\" FROM \"singer\"", "SELECT singer.name FROM singer"),
    RuleCase::equal(SINGERS, "SELECT `name` FROM [singer]", "SELECT name FROM singer"),
    RuleCase::equal(
        SINGERS,
        "SELECT id FROM singer WHERE name = \"Ann\"",
        "SELECT id FROM singer WHERE name = 'Ann'",
    ),
    RuleCase::differs(SINGERS, "SELECT 'name' FROM singer", "SELECT \"name\" FROM singer"),
];
