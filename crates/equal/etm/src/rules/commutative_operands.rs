//! # Order of operands
//!
//! ## What it does
//! Compares the operands of `=`, AND and OR as bags. In `etm@1` also those of `<>`, IS, `+`, `*`, `&`, `|`, the
//! elements of an IN list, and `a > b` with `b < a`; and the operands of UNION, INTERSECT and UNION ALL.
//!
//! ## Why it holds
//! AND and OR of three-valued logic are commutative and associative: the minimum and the maximum of FALSE < NULL <
//! TRUE. Comparison is symmetric and NULL on either side gives NULL; addition and multiplication of two numbers
//! commute also in floating point. Chains of `+` are not regrouped: floating point addition is not associative.
//!
//! ## Needs
//! For comparisons: not two operands with different collations, because SQLite takes the collation of the left one.
//!
//! ## Example
//! ```sql
//! SELECT name FROM singer WHERE age = 3 AND name = 'x'
//! SELECT name FROM singer WHERE 'x' = name AND 3 = age
//! ```
//!
//! ## Does not hold when
//! The operator does not commute (`-`, `/`, `||`), or the two operands of a comparison have different collations.
//!
//! ## Source
//! Paper, Table 1, P5.

use crate::profile::Profiles;
use crate::rule::{Rule, RuleCase, RuleStage};

pub(super) static RULE: Rule = Rule {
    id: "P5",
    name: "commutative-operands",
    summary: "Operands of =, AND and OR in a different order",
    profiles: Profiles::BOTH,
    stage: RuleStage::Comparison,
    cases: CASES,
    source: include_str!("commutative_operands.rs"),
};

const SINGERS: &str = "CREATE TABLE singer (id INTEGER PRIMARY KEY, name TEXT, age INT);
     CREATE TABLE song (sid INTEGER PRIMARY KEY, singer_id INT REFERENCES singer(id), title TEXT, year INT);";

const CASES: &[RuleCase] = &[
    RuleCase::equal(
        SINGERS,
        "SELECT name FROM singer WHERE age = 3 AND name = 'x'",
        "SELECT name FROM singer WHERE 'x' = name AND 3 = age",
    ),
    RuleCase::equal(
        SINGERS,
        "SELECT name FROM singer WHERE age = 3 OR name = 'x' OR id = 2",
        "SELECT name FROM singer WHERE id = 2 OR (name = 'x' OR age = 3)",
    ),
    RuleCase::equal(
        SINGERS,
        "SELECT name FROM singer WHERE age > 3 AND age <> id",
        "SELECT name FROM singer WHERE 3 < age AND id <> age",
    )
    .sound(),
    RuleCase::equal(
        SINGERS,
        "SELECT name FROM singer WHERE age IS NULL OR age = 1",
        "SELECT name FROM singer WHERE 1 = age OR age IS NULL",
    ),
    RuleCase::differs(SINGERS, "SELECT id - age FROM singer", "SELECT age - id FROM singer"),
    RuleCase::differs(
        SINGERS,
        "SELECT name FROM singer WHERE age = 3 AND (id = 1 OR id = 2)",
        "SELECT name FROM singer WHERE age = 3 AND id = 1 OR id = 2",
    ),
    RuleCase::differs(
        "CREATE TABLE t (a TEXT COLLATE NOCASE, b TEXT);",
        "SELECT 1 FROM t WHERE a = b",
        "SELECT 1 FROM t WHERE b = a",
    )
    .sound()
    .witness("INSERT INTO t VALUES ('x', 'X')"),
    RuleCase::differs(
        "CREATE TABLE p (x INT NOT NULL, y TEXT NOT NULL, PRIMARY KEY (y, x), UNIQUE (x, y)) STRICT; CREATE TABLE c (b INT PRIMARY KEY NOT NULL COLLATE NOCASE) WITHOUT ROWID, STRICT",
        "SELECT c.b FROM p JOIN c WHERE p.x = c.b LIMIT 2",
        "SELECT c.b FROM p JOIN c WHERE c.b = p.x LIMIT 2",
    )
    .sound()
    .witness("INSERT INTO p VALUES (2, '01'), (0, 'X'), (0, '5'); INSERT INTO c VALUES (0), (2)"),
    RuleCase::differs(
        "CREATE TABLE w (y INT)",
        "SELECT -y IS TRUE COLLATE NOCASE FROM w",
        "SELECT TRUE COLLATE NOCASE IS -y FROM w",
    )
    .sound()
    .witness("INSERT INTO w VALUES (2)"),
];
