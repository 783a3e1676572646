//! # Table prefix of a column
//!
//! ## What it does
//! Treats a column as the same whether or not the name of its table stands before it.
//!
//! ## Why it holds
//! A prefix only says where to look; resolution finds the same column of the same table instance.
//!
//! ## Needs
//! The name is not ambiguous, else neither SQLite nor the resolution accepts the query.
//!
//! ## Example
//! ```sql
//! SELECT name FROM singer
//! SELECT singer.name FROM singer
//! ```
//!
//! ## Does not hold when
//! The prefix names another table that has a column of that name.
//!
//! ## Source
//! Paper, Table 1, P1.

use crate::profile::Profiles;
use crate::rule::{Rule, RuleCase, RuleStage};

pub(super) static RULE: Rule = Rule {
    id: "P1",
    name: "table-prefix",
    summary: "A column with or without the name of its table",
    profiles: Profiles::BOTH,
    stage: RuleStage::Resolution,
    cases: CASES,
    source: include_str!("table_prefix.rs"),
};

const SINGERS: &str = "CREATE TABLE singer (id INTEGER PRIMARY KEY, name TEXT, age INT);
     CREATE TABLE song (sid INTEGER PRIMARY KEY, singer_id INT REFERENCES singer(id), title TEXT, year INT);";

const CASES: &[RuleCase] = &[
    RuleCase::equal(SINGERS, "SELECT name FROM singer", "SELECT singer.name FROM singer"),
    RuleCase::equal(
        SINGERS,
        "SELECT title FROM singer JOIN song ON singer.id = singer_id",
        "SELECT song.title FROM singer JOIN song ON singer.id = song.singer_id",
    ),
    RuleCase::differs(
        "CREATE TABLE a (x INT, y INT); CREATE TABLE b (x INT, y INT);",
        "SELECT a.x FROM a JOIN b ON a.y = b.y",
        "SELECT b.x FROM a JOIN b ON a.y = b.y",
    ),
];
