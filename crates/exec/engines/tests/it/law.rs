//! The law of all servers: the outcome of a query is the same alone and among any neighbours.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use sqlgauge_engine::{Engine, Enough, FailureKind, Limits, Value};
use sqlgauge_engines::{Access, Kind, Secret};

use crate::club::{cells, opened, python, runs};
use crate::servers::PASSWORD;
use crate::servers::mariadb::MariaDb;
use crate::servers::postgresql::Server;

const ITEMS: &str = "CREATE TABLE items (id INT PRIMARY KEY); INSERT INTO items VALUES ";

fn ddl() -> String {
    let rows: Vec<String> = (1..=100).map(|id| format!("({id})")).collect();
    format!("{ITEMS}{}", rows.join(", "))
}

fn engine_of(kind: &str, connections: usize) -> Arc<dyn Engine> {
    let limits = Limits {
        timeout: Duration::from_secs(20),
        max_rows: 5000,
        max_value_bytes: 1 << 20,
        ..Limits::default()
    };
    let password = Some(Secret(PASSWORD.into()));
    Kind::find(kind)
        .unwrap()
        .engine(limits, Access { password, connections, python: Some(python()), ..Access::default() })
}

/// What hides a command from a reader by whose rules comments do not nest.
const HIDDEN: &str = "/* /* */ SELECT 1 -- */ ";

/// A query, and how many rows its gold has where it may stop early.
type Query = (&'static str, Option<usize>);

/// Queries that stop early, fail, are too large, are refused, or are right.
const QUERIES: [Query; 12] = [
    ("SELECT id + 0 FROM items", Some(1)),
    ("SELECT count(*) + 0 * 1 FROM items a, items b", None),
    ("SELECT a.id FROM items a, items b", Some(2000)),
    ("SELECT sum(id) FROM items", Some(1)),
    ("SELECT a.id FROM items a, items b, items c", None),
    ("SELECT id FROM items ORDER BY id DESC LIMIT 3", Some(3)),
    ("SELECT nothing FROM items", None),
    ("SELECT max(a.id * b.id) FROM items a, items b", None),
    ("DELETE FROM items", None),
    ("SELECT 1; SELECT 2", None),
    ("", None),
    ("SELECT repeat('x', 2000000) FROM items", None),
];

/// Status and, of a whole result, the values.
fn outcome(
    engine: &dyn Engine,
    database: &sqlgauge_engine::Database,
    (sql, over): Query,
) -> (String, Vec<Value>) {
    let enough = Enough { rows_over: over, foreign_to: None };
    let execution = engine.run_until(database, sql, &enough);
    let rows = execution.rows().filter(|rows| !rows.is_beginning());
    (execution.outcome.status().to_owned(), rows.map(|rows| rows.values().to_vec()).unwrap_or_default())
}

/// Runs the queries alone, then so many by one connection and by several, in a changing order.
fn assert_law(kind: &str, path: &Path, most: usize, turns: usize) {
    let alone: Vec<_> = QUERIES
        .iter()
        .map(|&query| {
            let engine = engine_of(kind, 1);
            outcome(engine.as_ref(), &opened(&engine, path), query)
        })
        .collect();
    assert_eq!(alone[1].1, [Value::Integer(10_000)]);
    for connections in [1, most] {
        let engine = engine_of(kind, connections);
        let database = opened(&engine, path);
        let next = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..connections {
                scope.spawn(|| {
                    while let Some(turn) =
                        Some(next.fetch_add(1, Ordering::Relaxed)).filter(|&turn| turn < turns)
                    {
                        // An order that no turn repeats soon; the pair of the issue comes in every second turn.
                        let at = if turn % 4 < 2 { turn % 2 } else { turn * turn % 11 + turn % 2 };
                        let result = outcome(engine.as_ref(), &database, QUERIES[at]);
                        assert_eq!(result, alone[at], "{} in turn {turn} of {connections}", QUERIES[at].0);
                    }
                });
            }
        });
        engine.check().unwrap();
    }
}

/// What a query may leave, and what the next one asks for it; the answer is as if there had been none.
fn assert_nothing_left(kind: &str, path: &Path, pairs: &[(&str, &str, &str)]) {
    let engine = engine_of(kind, 1);
    let database = opened(&engine, path);
    for &(leaver, observer, expected) in pairs {
        let left = engine.run(&database, leaver).outcome;
        let is_query = leaver.starts_with("SELECT");
        assert!(
            is_query || left.failure().is_some_and(|failure| failure.kind == FailureKind::Denied),
            "{leaver}: {left:?}"
        );
        assert_eq!(cells(&engine, &database, observer), [Value::text(expected)], "after {leaver}");
    }
    engine.check().unwrap();
}

#[test]
#[ignore = "long: cargo xtask long"]
fn neighbours_change_no_outcome_on_postgresql() {
    let Some(server) = Server::start() else { return };
    let path = server.database("shop", &ddl());
    assert_law("postgresql", &path, 8, 240);
    let prepared = "SELECT count(*)::text FROM pg_prepared_statements";
    let pairs = [
        ("PREPARE left_behind AS SELECT 1", prepared, "0"),
        ("LISTEN a", "SELECT count(*)::text FROM pg_listening_channels()", "0"),
        ("SET statement_timeout = 0", "SELECT current_setting('statement_timeout')", "20s"),
        (
            "SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE",
            "SELECT current_setting('transaction_read_only')",
            "on",
        ),
        ("SET TimeZone = 'Asia/Tokyo'", "SELECT current_setting('TimeZone')", "UTC"),
        ("COMMIT", "SELECT current_setting('transaction_read_only')", "on"),
        ("COMMIT", "SELECT current_setting('transaction_isolation')", "repeatable read"),
        ("ROLLBACK", "SELECT current_setting('statement_timeout')", "20s"),
        (
            "DECLARE a CURSOR WITH HOLD FOR SELECT 1",
            "SELECT count(*)::text FROM pg_cursors WHERE is_holdable",
            "0",
        ),
        ("CREATE TEMP TABLE a (b int)", "SELECT count(*)::text FROM pg_class WHERE relname = 'a'", "0"),
        (
            "DO $$ BEGIN PERFORM set_config('work_mem', '1GB', false); END $$",
            "SELECT current_setting('work_mem')",
            "64MB",
        ),
        ("SAVEPOINT before_query", "SELECT current_setting('transaction_read_only')", "on"),
        ("DISCARD ALL", "SELECT current_setting('statement_timeout')", "20s"),
        (
            "LOAD 'auto_explain'",
            "SELECT coalesce(current_setting('auto_explain.log_nested_statements', true), 'none')",
            "none",
        ),
    ];
    assert_nothing_left("postgresql", &path, &pairs);
    let hidden = pairs.map(|(leaver, observer, expected)| (format!("{HIDDEN}{leaver}"), observer, expected));
    let hidden: Vec<_> =
        hidden.iter().map(|(leaver, observer, expected)| (leaver.as_str(), *observer, *expected)).collect();
    assert_nothing_left("postgresql", &path, &hidden);
}

#[test]
#[ignore = "long: cargo xtask long"]
fn neighbours_change_no_outcome_on_mariadb() {
    let Some(server) = MariaDb::start() else { return };
    let path = server.database("shop", &ddl());
    assert_law("mysql", &path, 8, 240);
    let locks = "SELECT CAST(@@in_transaction AS CHAR)";
    assert_nothing_left(
        "mysql",
        &path,
        &[
            ("SELECT @a := 7", "SELECT COALESCE(CAST(@a AS CHAR CHARACTER SET utf8mb4), 'none')", "none"),
            ("SET max_statement_time = 0", "SELECT CAST(@@max_statement_time AS CHAR)", "20.000000"),
            ("PREPARE a FROM 'SELECT 1'", locks, "1"),
            ("SELECT GET_LOCK('a', 0)", locks, "1"),
            ("SELECT LAST_INSERT_ID(5)", "SELECT CAST(LAST_INSERT_ID() AS CHAR)", "0"),
            ("COMMIT", "SELECT CAST(@@tx_read_only + 0 AS CHAR)", "1"),
        ],
    );
}

#[cfg(unix)]
#[test]
#[ignore = "long: cargo xtask long"]
fn neighbours_change_no_outcome_on_duckdb() {
    let Some((_folder, path)) = duckdb() else { return };
    assert_law("duckdb", &path, 3, 12);
    let engine = engine_of("duckdb", 1);
    let database = opened(&engine, &path);
    let after_seed = || {
        let _any = engine.run(&database, "SELECT setseed(0.5)");
        cells(&engine, &database, "SELECT random()")
    };
    assert_ne!(after_seed(), after_seed());
    // The memory that one took is there for the next.
    let large = engine.run(&database, "SELECT length(repeat('x', 2000000000))").outcome;
    assert_eq!(large.failure().map(|failure| failure.kind), Some(FailureKind::TooLarge));
    let sorted = "SELECT max(i) FROM (SELECT i FROM range(1000000) r(i) ORDER BY hash(i))";
    assert_eq!(cells(&engine, &database, sorted), [Value::Integer(999_999)]);
}

#[cfg(unix)]
fn duckdb() -> Option<(tempfile::TempDir, PathBuf)> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("shop.duckdb");
    let script = "import duckdb, sys; duckdb.connect(sys.argv[1]).execute(sys.argv[2])";
    if !runs(&["-c", script, file.to_str().unwrap(), &ddl()]) {
        println!("skipped: no Python with duckdb (pip install duckdb, SQLGAUGE_PYTHON)");
        return None;
    }
    let address = PathBuf::from(format!("duckdb:{}", file.display()));
    Some((folder, address))
}
