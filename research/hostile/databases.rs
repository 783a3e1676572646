//! Databases that cost more than their share.
//!
//! | case | what is hostile | the query reads |
//! |---|---|---|
//! | tables | 2,000 tables, each with a foreign key to the one before | one of them |
//! | wide | three tables of 2,000 columns | a small table beside them |
//! | constraints | 3,000 CHECKs, 60 UNIQUEs and 500 foreign keys of one table | a small table beside it |
//! | views | 24 views that each join the one before three times | the table below them |
//! | endless view | a recursive view without end | a table beside it |
//! | long check | `CHECK (a IN (...))` of 100,000 numbers | the table itself |
//! | long list | a small table | 10,000 rows of `IN (VALUES ...)` |
//! | doubled columns | 26 generated columns, each of which names the next one twice | a small table beside them |
//!
//! Commands that read what an earlier one wrote come behind it.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use anyhow::Result;
use rusqlite::Connection;
use serde_json::json;
use sqlgauge_research::measure_within;

use crate::report::{END, LIMIT, Report};
use crate::{Round, scaled};

const SMALL: &str = "CREATE TABLE small (id INTEGER PRIMARY KEY, name TEXT, a INTEGER);
    INSERT INTO small VALUES (0, 'n0', 0), (1, 'n1', 1), (2, 'n2', 2), (3, 'n3', 0), (4, 'n4', 1), (5, 'n5', 2);";

/// A hostile database: its name, the statements that make it, and the table that is asked.
struct Case {
    name: &'static str,
    /// Statements for that share of the size.
    sql: fn(f64) -> String,
    /// The table of the queries.
    table: fn(f64) -> String,
    /// What follows `WHERE` in one of them.
    filter: fn(f64) -> String,
}

fn small(_: f64) -> String {
    "small".to_owned()
}

fn plain(_: f64) -> String {
    "a > 1".to_owned()
}

static CASES: &[Case] = &[
    Case { name: "tables", sql: tables, table: |size| format!("t{}", scaled(2000, size) / 2), filter: plain },
    Case { name: "wide", sql: wide, table: small, filter: plain },
    Case { name: "constraints", sql: constraints, table: small, filter: plain },
    Case { name: "views", sql: views, table: small, filter: plain },
    Case {
        name: "endless view",
        sql: |_| {
            format!(
                "{SMALL} CREATE VIEW endless AS WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT n FROM r;"
            )
        },
        table: small,
        filter: plain,
    },
    Case {
        name: "long check",
        sql: |size| {
            SMALL.replace(
                "a INTEGER",
                &format!("a INTEGER CHECK (a IN ({}))", listed(scaled(100_000, size), |at| at.to_string())),
            )
        },
        table: small,
        filter: plain,
    },
    Case {
        name: "long list",
        sql: |_| SMALL.to_owned(),
        table: small,
        filter: |size| format!("a IN (VALUES {})", listed(scaled(10_000, size), |at| format!("({at})"))),
    },
    Case { name: "doubled columns", sql: doubled, table: small, filter: plain },
];

fn listed(count: usize, of: impl Fn(usize) -> String) -> String {
    (0..count).map(of).collect::<Vec<_>>().join(", ")
}

fn tables(size: f64) -> String {
    let mut sql = String::new();
    for at in 0..scaled(2000, size) {
        let (key, value) = match at.checked_sub(1) {
            Some(before) => (format!(", prev INTEGER REFERENCES t{before}(id)"), ", 1"),
            None => (String::new(), ""),
        };
        // Writing to a String cannot fail.
        let _ = write!(
            sql,
            "CREATE TABLE t{at} (id INTEGER PRIMARY KEY, name TEXT, a INTEGER{key});
             INSERT INTO t{at} VALUES (0, 'n0', 0{value}), (1, 'n1', 2{value}), (2, 'n2', 4{value});"
        );
    }
    sql
}

/// The columns are put into the schema table: SQLite reads a table that it creates once, and runs out of memory over them.
fn doubled(size: f64) -> String {
    let last = scaled(26, size);
    let columns = listed(last, |at| format!("g{at} INTEGER AS (g{next} + g{next})", next = at + 1));
    format!(
        "{SMALL} CREATE TABLE big (id INTEGER PRIMARY KEY, g{last} INTEGER);
         PRAGMA writable_schema = ON;
         UPDATE sqlite_schema SET sql = 'CREATE TABLE big (id INTEGER PRIMARY KEY, g{last} INTEGER, {columns})'
         WHERE name = 'big';
         PRAGMA writable_schema = OFF;"
    )
}

fn wide(size: f64) -> String {
    let columns = scaled(2000, size) - 1;
    let kind = |at: usize| if at.is_multiple_of(2) { "INTEGER" } else { "TEXT" };
    let mut sql = SMALL.to_owned();
    for table in 0..3 {
        let columns_of = listed(columns, |at| format!("c{at} {}", kind(at)));
        let _ = write!(sql, "CREATE TABLE w{table} (id INTEGER PRIMARY KEY, {columns_of});");
        for row in 0..10 {
            let values = listed(columns, |at| ((row * 7 + at) % 13).to_string());
            let _ = write!(sql, "INSERT INTO w{table} VALUES ({row}, {values});");
        }
    }
    sql
}

fn constraints(size: f64) -> String {
    let (checks, uniques, keys) = (scaled(3000, size), scaled(60, size), scaled(500, size));
    let columns = 100;
    let parts = [
        listed(columns, |at| format!("c{at} INTEGER")),
        listed(keys, |at| format!("f{at} INTEGER REFERENCES p(id)")),
        listed(checks, |at| format!("CHECK (c{} > -{})", at % columns, at + 1)),
        listed(uniques, |at| format!("UNIQUE (c{at}, c{})", at + 1)),
    ];
    let mut sql = format!(
        "{SMALL} CREATE TABLE p (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO p VALUES (0, 'n0'), (1, 'n1');
         CREATE TABLE x (id INTEGER PRIMARY KEY, {});",
        parts.join(", ")
    );
    for row in 0..10 {
        let values =
            [listed(columns, |at| (row + at).to_string()), listed(keys, |at| ((row + at) % 2).to_string())];
        let _ = write!(sql, "INSERT INTO x VALUES ({row}, {});", values.join(", "));
    }
    sql
}

fn views(size: f64) -> String {
    let mut sql = SMALL.to_owned();
    let mut before = "small".to_owned();
    for at in 0..scaled(24, size) {
        let _ = write!(
            sql,
            "CREATE VIEW v{at} AS SELECT x.id AS id, x.name AS name, x.a AS a FROM {before} x JOIN {before} y JOIN {before} z;"
        );
        before = format!("v{at}");
    }
    sql
}

pub(crate) fn run(round: &Round<'_>, report: &mut Report) -> Result<()> {
    for case in CASES.iter().filter(|case| round.asks("databases", case.name)) {
        for (name, mut command) in commands(round, case)? {
            report.add(("databases", case.name, name), &measure_within(&mut command, END)?, LIMIT, None);
        }
    }
    Ok(())
}

/// What is done with a case, each by its name.
fn commands(round: &Round<'_>, case: &Case) -> Result<Vec<(&'static str, Command)>> {
    let (db_id, folder) = (case.name.replace(' ', "_"), &round.folder);
    let root = folder.join("databases").join(&db_id);
    let path = root.join(&db_id).join(format!("{db_id}.sqlite"));
    std::fs::create_dir_all(root.join(&db_id))?;
    if !path.exists() {
        Connection::open(&path)?.execute_batch(&format!("BEGIN; {} COMMIT;", (case.sql)(round.size)))?;
    }
    let (table, filter) = ((case.table)(round.size), (case.filter)(round.size));
    let left = format!("SELECT name FROM {table} WHERE {filter}");
    let right = format!("SELECT name FROM {table} WHERE {filter} AND id >= 0");
    let gold = folder.join(format!("{db_id}.json"));
    let question = |sql: &str| json!({"db_id": &db_id, "question": "Which are there?", "query": sql});
    let questions = json!([question(&left), question(&format!("SELECT count(*) FROM {table}"))]);
    std::fs::write(&gold, questions.to_string())?;
    let answers = |name: &str, first: &str| -> Result<String> {
        let path = folder.join(format!("{db_id}.{name}.sql"));
        std::fs::write(&path, format!("{first}\nSELECT count(id) FROM {table}\n"))?;
        Ok(format!("{name}={}", path.display()))
    };
    let (near, far) = (answers("near", &right)?, answers("far", &format!("SELECT name FROM {table}"))?);
    let systems = ["--pred", near.as_str(), "--pred", far.as_str()];
    let several = folder.join(format!("{db_id}.several.jsonl"));
    let lists = json!({"id": "0", "predictions": [&left, &right]}).to_string();
    let second = json!({"id": "1", "predictions": [format!("SELECT count(id) FROM {table}"), format!("SELECT 3 FROM {table}")]});
    std::fs::write(&several, format!("{lists}\n{second}\n"))?;
    let several = format!("several={}", several.display());
    let out = folder.join("out").join(&db_id);
    let run_of_score = out.join("score").display().to_string();
    let program = |words: &[&str]| round.program(words);
    let with = |mut command: Command, more: &[(&str, &Path)]| {
        for (flag, path) in more {
            command.arg(flag).arg(path);
        }
        command
    };
    Ok(vec![
        ("verify", with(program(&["verify", "--left", &left, "--right", &right]), &[("--db", &path)])),
        ("match", with(program(&["match", &left, &right]), &[("--db", &path)])),
        ("translate", with(program(&["translate", &left, "--to", "all"]), &[("--db", &path)])),
        (
            "evolve --kinds all",
            with(
                program(&["evolve", "--kinds", "all"]),
                &[("--gold", &gold), ("--db", &root), ("--out", &out.join("evolve"))],
            ),
        ),
        (
            "evolve --steps 3",
            with(
                program(&["evolve", "--steps", "3"]),
                &[("--gold", &gold), ("--db", &root), ("--out", &out.join("steps"))],
            ),
        ),
        (
            "synth --count 60",
            with(program(&["synth", "--count", "60"]), &[("--db", &root), ("--out", &out.join("synth"))]),
        ),
        (
            "augment",
            with(
                program(&["evolve", "--training", "--kinds", "rename-columns"]),
                &[("--gold", &gold), ("--db", &root), ("--out", &out.join("augmented.jsonl"))],
            ),
        ),
        (
            "synth --schema-versions 3",
            with(
                program(&["synth", "--count", "30", "--schema-versions", "3"]),
                &[("--db", &root), ("--out", &out.join("versions"))],
            ),
        ),
        ("audit", with(program(&["audit"]), &[("--gold", &gold), ("--db", &root)])),
        (
            "score --metrics ex,verify",
            with(
                program(&[&["score", "--metrics", "ex,verify"], &systems[..]].concat()),
                &[("--gold", &gold), ("--db", &root), ("--out", &out.join("score"))],
            ),
        ),
        (
            "pack",
            with(
                program(&[&["pack"], &systems[..]].concat()),
                &[("--gold", &gold), ("--db", &root), ("--out", &out.join("pack.bin"))],
            ),
        ),
        (
            "vote --by both",
            with(
                program(&["vote", "--by", "both", "--pred", &several]),
                &[("--gold", &gold), ("--db", &root), ("--out", &out.join("vote"))],
            ),
        ),
        (
            "witnesses",
            with(program(&["pack", "--witnesses", &run_of_score]), &[("--out", &out.join("witnesses"))]),
        ),
        (
            "bundle",
            with(program(&["bundle", &run_of_score]), &[("--db", &root), ("--out", &out.join("bundle.zip"))]),
        ),
        ("view --export", with(program(&["view", &run_of_score]), &[("--export", &out.join("view"))])),
    ])
}
