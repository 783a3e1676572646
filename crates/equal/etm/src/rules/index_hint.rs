//! # Index hints
//!
//! ## What it does
//! Drops INDEXED BY and NOT INDEXED.
//!
//! ## Why it holds
//! A hint says by which index SQLite reads a table, and so in which order, but not which rows.
//!
//! ## Needs
//! The rows of the query depend on no order in which SQLite reads its tables.
//!
//! ## Example
//! ```sql
//! SELECT name FROM t INDEXED BY t_age WHERE age > 3
//! SELECT name FROM t WHERE age > 3
//! ```
//!
//! ## Does not hold when
//! LIMIT, a scalar subquery or a bare column beside an aggregate takes the first row that is read:
//! `SELECT name FROM t NOT INDEXED WHERE age > 3 LIMIT 1`.
//!
//! ## Source
//! Ours.

use sqlgauge_sql::tree::{From, Query};

use crate::context::RuleContext;
use crate::profile::Profiles;
use crate::rule::{Rule, RuleCase, RuleStage, Shape};
use crate::sensitive::Sensitivity;

pub(super) static RULE: Rule = Rule {
    id: "S30",
    name: "index-hint",
    summary: "INDEXED BY and NOT INDEXED where no order of rows shows",
    profiles: Profiles::SOUND,
    stage: RuleStage::Query(Shape::ANY, query),
    cases: CASES,
    source: include_str!("index_hint.rs"),
};

fn query(query: &mut Query, context: &mut RuleContext<'_>) -> usize {
    if context.sensitivity != Sensitivity::None {
        return 0;
    }
    query.as_select_mut().and_then(|select| select.from.as_mut()).map_or(0, drop_hints)
}

fn drop_hints(from: &mut From) -> usize {
    match from {
        From::Relation(relation) => usize::from(relation.hint.take().is_some()),
        From::Join(join) => drop_hints(&mut join.left) + drop_hints(&mut join.right),
    }
}

const SCHEMA: &str = "CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT, age INT);
CREATE INDEX t_age ON t (age DESC)";

const KEYED: &str = "CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT, age INT UNIQUE)";

const ROWS: &str = "INSERT INTO t VALUES (1, 'a', 5), (2, 'b', 9)";

const CASES: &[RuleCase] = &[
    RuleCase::equal(
        KEYED,
        "SELECT name FROM t INDEXED BY sqlite_autoindex_t_1 WHERE age > 3",
        "SELECT name FROM t WHERE age > 3",
    )
    .sound(),
    RuleCase::equal(
        KEYED,
        "SELECT a.name FROM t AS a NOT INDEXED JOIN t AS b INDEXED BY sqlite_autoindex_t_1 ON a.age = b.age ORDER BY a.id, b.id LIMIT 2",
        "SELECT a.name FROM t AS a JOIN t AS b ON a.age = b.age ORDER BY a.id, b.id LIMIT 2",
    )
    .sound(),
    RuleCase::differs(
        SCHEMA,
        "SELECT name FROM t NOT INDEXED WHERE age > 3 LIMIT 1",
        "SELECT name FROM t WHERE age > 3 LIMIT 1",
    )
    .sound()
    .witness(ROWS),
    RuleCase::differs(
        SCHEMA,
        "SELECT name FROM t NOT INDEXED WHERE age > 3 LIMIT 1",
        "SELECT name FROM t INDEXED BY T_AGE WHERE age > 3 LIMIT 1",
    )
    .sound()
    .witness(ROWS),
    RuleCase::differs(
        SCHEMA,
        "SELECT name, COUNT(*) FROM t NOT INDEXED WHERE age > 3",
        "SELECT name, COUNT(*) FROM t INDEXED BY t_age WHERE age > 3",
    )
    .sound()
    .witness(ROWS),
    // Of the rows with one name SQLite keeps the first that it reads, and sorts by its id.
    RuleCase::differs(
        SCHEMA,
        "SELECT DISTINCT name FROM t NOT INDEXED WHERE age > 3 ORDER BY id, name LIMIT 1",
        "SELECT DISTINCT name FROM t INDEXED BY t_age WHERE age > 3 ORDER BY id, name LIMIT 1",
    )
    .sound()
    .witness("INSERT INTO t VALUES (1, 'a', 5), (2, 'b', 7), (3, 'a', 9)"),
    RuleCase::differs(
        SCHEMA,
        "SELECT (SELECT name FROM t NOT INDEXED WHERE age > 3)",
        "SELECT (SELECT name FROM t INDEXED BY t_age WHERE age > 3)",
    )
    .sound()
    .witness(ROWS),
];
