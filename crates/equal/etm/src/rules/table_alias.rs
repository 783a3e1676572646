//! # Table aliases
//!
//! ## What it does
//! Treats a table under an alias as the table itself. Every table instance has an identity of its own, so two
//! instances of one table stay two, and an alias ends with the query that it stands in.
//!
//! ## Why it holds
//! An alias only names a table instance; the comparison renames instances freely.
//!
//! ## Needs
//! Nothing.
//!
//! ## Example
//! ```sql
//! SELECT singer.name FROM singer
//! SELECT t.name FROM singer AS t
//! ```
//!
//! ## Does not hold when
//! The alias moves a condition from one of two instances of a table to the other.
//!
//! ## Source
//! Paper, Table 1, P3, and Section 3.3, item 4.

use crate::profile::Profiles;
use crate::rule::{Rule, RuleCase, RuleStage};

pub(super) static RULE: Rule = Rule {
    id: "P3",
    name: "table-alias",
    summary: "A table under another name",
    profiles: Profiles::BOTH,
    stage: RuleStage::Resolution,
    cases: CASES,
    source: include_str!("table_alias.rs"),
};

const SINGERS: &str = "CREATE TABLE singer (id INTEGER PRIMARY KEY, name TEXT, age INT);
     CREATE TABLE song (sid INTEGER PRIMARY KEY, singer_id INT REFERENCES singer(id), title TEXT, year INT);";

const CASES: &[RuleCase] = &[
    RuleCase::equal(SINGERS, "SELECT singer.name FROM singer", "SELECT t.name FROM singer AS t"),
    RuleCase::equal(
        SINGERS,
        "SELECT a.name FROM singer a JOIN song b ON a.id = b.singer_id WHERE b.year = 1",
        "SELECT x.name FROM singer x JOIN song y ON x.id = y.singer_id WHERE y.year = 1",
    ),
    RuleCase::equal(
        SINGERS,
        "SELECT a.name FROM singer a JOIN singer b ON a.age = b.age WHERE b.id = 1",
        "SELECT b.name FROM singer b JOIN singer a ON b.age = a.age WHERE a.id = 1",
    )
    .sound(),
    RuleCase::differs(
        SINGERS,
        "SELECT a.name FROM singer a JOIN singer b ON a.age = b.age WHERE a.id = 1",
        "SELECT a.name FROM singer a JOIN singer b ON a.age = b.age WHERE b.id = 1",
    )
    .sound(),
    RuleCase::differs(SINGERS, "SELECT name FROM singer", "SELECT t.title FROM song AS t"),
];
