//! # Order of inner joins
//!
//! ## What it does
//! Compares the tables of inner joins as a bag. Relations are ordered by what they read and by the conditions that
//! mention them; where that leaves a tie, all orders of the tied relations are tried.
//!
//! ## Why it holds
//! An inner join is a filtered product, and products commute and associate as bags of rows.
//!
//! ## Needs
//! All joins in question are inner joins (comma, JOIN, INNER JOIN, CROSS JOIN). In `etm@1` also: the result does
//! not depend on the order in which tables are read (LIMIT with ties, bare columns beside aggregates).
//!
//! ## Example
//! ```sql
//! SELECT title FROM singer JOIN song ON id = singer_id
//! SELECT title FROM song JOIN singer ON id = singer_id
//! ```
//!
//! ## Does not hold when
//! A join is an outer one, or LIMIT cuts through rows with equal sort keys: which of them SQLite returns depends on
//! its plan, and that on the order of the tables.
//!
//! ## Source
//! Paper, Table 1, P4.

use crate::profile::Profiles;
use crate::rule::{Rule, RuleCase, RuleStage};

pub(super) static RULE: Rule = Rule {
    id: "P4",
    name: "join-order",
    summary: "Inner joins in a different order",
    profiles: Profiles::BOTH,
    stage: RuleStage::Comparison,
    cases: CASES,
    source: include_str!("join_order.rs"),
};

const SINGERS: &str = "CREATE TABLE singer (id INTEGER PRIMARY KEY, name TEXT, age INT);
     CREATE TABLE song (sid INTEGER PRIMARY KEY, singer_id INT REFERENCES singer(id), title TEXT, year INT);";

const BRACKETS: &str = "CREATE TABLE e (id INTEGER PRIMARY KEY NOT NULL, k INT, c TEXT NOT NULL, UNIQUE (k), UNIQUE (c)); CREATE TABLE r (k FLOATING POINT, z INT NOT NULL, UNIQUE (k, z)); CREATE TABLE kz (id INTEGER NOT NULL, k INT NOT NULL, z INT, PRIMARY KEY (z, id), UNIQUE (k, z))";

const CASES: &[RuleCase] = &[
    RuleCase::equal(SINGERS, "SELECT title, name FROM singer JOIN song ON id = singer_id", "SELECT title, name FROM song JOIN singer ON id = singer_id"),
    RuleCase::equal(SINGERS, "SELECT a.name, c.title FROM singer a, song b, song c WHERE a.id = b.singer_id AND a.id = c.singer_id AND b.year = 1 AND c.year = 2", "SELECT a.name, b.title FROM song b, song c, singer a WHERE a.id = c.singer_id AND a.id = b.singer_id AND b.year = 2 AND c.year = 1").sound(),
    RuleCase::differs(SINGERS, "SELECT name, title FROM singer LEFT JOIN song ON id = singer_id", "SELECT name, title FROM song LEFT JOIN singer ON id = singer_id"),
    RuleCase::differs(
        "CREATE TABLE n (a)",
        "SELECT q.a FROM n p JOIN n q WHERE p.a = q.a ORDER BY q.a LIMIT 2",
        "SELECT p.a FROM n p JOIN n q WHERE q.a = p.a ORDER BY p.a LIMIT 2",
    )
    .sound()
    .witness("INSERT INTO n VALUES (1.0), (1)"),
    // The scalar subquery has the first row of `q`, which is of the table that SQLite reads first.
    RuleCase::differs(
        "CREATE TABLE t (a INT); CREATE TABLE u (b INT, c INT); CREATE TABLE w (d INT)",
        "WITH q(x) AS (SELECT b FROM w JOIN u WHERE d = c UNION ALL SELECT -1) SELECT (SELECT x FROM q) FROM t",
        "WITH q(x) AS (SELECT b FROM u JOIN w WHERE d = c UNION ALL SELECT -1) SELECT (SELECT x FROM q) FROM t",
    )
    .sound()
    .witness("INSERT INTO t VALUES (1); INSERT INTO u VALUES (1, 0), (3, 1); INSERT INTO w VALUES (1), (0)"),
    // Of a join in brackets SQLite reads all columns, so that it reads `e` by another index.
    RuleCase::differs(
        BRACKETS,
        "SELECT b.c FROM kz RIGHT JOIN (SELECT id, k, c FROM (SELECT a.id, r.k, a.c FROM e AS a JOIN r WHERE r.k OR a.id = -1.0 LIMIT 1)) AS q ON q.id JOIN e AS b",
        "SELECT b.c FROM e AS b JOIN (kz RIGHT JOIN (SELECT id, k, c FROM (SELECT a.id, r.k, a.c FROM e AS a JOIN r WHERE r.k OR a.id = -1.0 LIMIT 1)) AS q ON q.id)",
    )
    .sound()
    .witness("INSERT INTO e VALUES (0, NULL, 'A'), (20, 5, '1'); INSERT INTO r VALUES (1, 3); INSERT INTO kz VALUES (2, 0, 2), (5, 0, NULL)"),
];
