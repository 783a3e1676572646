//! # A star for all columns
//!
//! ## What it does
//! Treats `*` as the list of all columns that it stands for. Resolution writes the star out, in the order of the
//! tables and of their columns.
//!
//! ## Why it holds
//! This is what `*` means.
//!
//! ## Needs
//! The list names all columns of all tables. In `etm@1` in the order of the schema, since the order of result
//! columns is a part of the answer.
//!
//! ## Example
//! ```sql
//! SELECT * FROM singer
//! SELECT id, name, age FROM singer
//! ```
//!
//! ## Does not hold when
//! A column is missing from the list.
//!
//! ## Source
//! Paper, Table 2, rule 11.

use crate::profile::Profiles;
use crate::rule::{Rule, RuleCase, RuleStage};

pub(super) static RULE: Rule = Rule {
    id: "11",
    name: "star-expansion",
    summary: "All columns by name instead of *",
    profiles: Profiles::BOTH,
    stage: RuleStage::Resolution,
    cases: CASES,
    source: include_str!("star_expansion.rs"),
};

const SINGERS: &str = "CREATE TABLE singer (id INTEGER PRIMARY KEY, name TEXT, age INT);
     CREATE TABLE song (sid INTEGER PRIMARY KEY, singer_id INT REFERENCES singer(id), title TEXT, year INT);";

const CASES: &[RuleCase] = &[
    RuleCase::equal(SINGERS, "SELECT * FROM singer", "SELECT id, name, age FROM singer"),
    RuleCase::equal(
        SINGERS,
        "SELECT song.* FROM singer JOIN song ON id = singer_id",
        "SELECT sid, singer_id, title, year FROM singer JOIN song ON id = singer_id",
    ),
    RuleCase::differs(SINGERS, "SELECT * FROM singer", "SELECT id, name FROM singer"),
    RuleCase::equal(SINGERS, "SELECT * FROM singer", "SELECT age, name, id FROM singer").paper(),
    RuleCase::differs(SINGERS, "SELECT * FROM singer", "SELECT age, name, id FROM singer").sound(),
];
