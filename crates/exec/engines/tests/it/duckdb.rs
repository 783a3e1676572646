//! DuckDB in processes of its own. Needs a Python with the package `duckdb`, named in `SQLGAUGE_PYTHON` or as `python3`.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use sqlgauge_engine::{Engine, FailureKind, Limits, Value};
use sqlgauge_engines::{Access, Kind};
use tempfile::TempDir;

use crate::club::{
    assert_catalog, assert_comments, assert_cut, assert_outcomes, cells, opened, python, runs,
};

const DDL: &str = "CREATE TABLE team (id INT PRIMARY KEY, name VARCHAR NOT NULL UNIQUE, budget DECIMAL(20, 4)); \
    CREATE TABLE player (id BIGINT PRIMARY KEY, team_id INT REFERENCES team (id), born DATE, height REAL); \
    INSERT INTO team VALUES (1, 'a', 0.1), (2, 'b', 12345678901234.5678); \
    INSERT INTO player SELECT n, n % 2 + 1, DATE '2000-01-01' + n::INT, 1.5 FROM range(1, 1001) r(n); \
    CREATE SEQUENCE numbers; CREATE VIEW tall AS SELECT * FROM player WHERE height > 1; \
    COMMENT ON TABLE team IS 'all teams'; COMMENT ON COLUMN team.budget IS 'in EUR'";

/// A folder with a file of that DDL; `None`, and says so, where the package is missing.
fn club_file() -> Option<(TempDir, PathBuf)> {
    if !runs(&["-c", "import duckdb"]) {
        println!("skipped: no Python with duckdb (pip install duckdb, SQLGAUGE_PYTHON)");
        return None;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("club.duckdb");
    run(&file, DDL);
    let address = PathBuf::from(format!("duckdb:{}", file.display()));
    Some((folder, address))
}

fn run(file: &Path, sql: &str) {
    let script = "import duckdb, sys; duckdb.connect(sys.argv[1]).execute(sys.argv[2])";
    assert!(runs(&["-c", script, file.to_str().unwrap(), sql]), "{sql}");
}

fn engine(seconds: u64) -> Arc<dyn Engine> {
    let limits = Limits { timeout: Duration::from_secs(seconds), max_rows: 200_000, ..Limits::default() };
    let access = Access { connections: 2, python: Some(python()), ..Access::default() };
    Kind::find("duckdb").unwrap().engine(limits, access)
}

#[test]
#[ignore = "long: cargo xtask long"]
fn the_catalog_and_the_values_are_the_files() {
    let Some((_folder, path)) = club_file() else { return };
    let engine = engine(60);
    let database = opened(&engine, &path);
    assert!(engine.name_and_version().starts_with("DuckDB "), "{}", engine.name_and_version());
    assert_catalog(&database, 4);
    assert_comments(&database);
    let decimal = |text: &str| Value::decimal(text).unwrap();
    for (sql, expected) in [
        ("SELECT sum(id) FROM player", vec![Value::Integer(500_500)]),
        ("SELECT budget FROM team ORDER BY id", vec![decimal("0.1"), decimal("12345678901234.5678")]),
        ("SELECT 0.1 + 0.2, 0.1::DOUBLE + 0.2::DOUBLE", vec![decimal("0.3"), Value::Real(0.1 + 0.2)]),
        (
            "SELECT 170141183460469231731687303715884105727",
            vec![decimal("170141183460469231731687303715884105727")],
        ),
        (
            "SELECT true, NULL, '\\x00'::BLOB, 2.00",
            vec![Value::Integer(1), Value::Null, Value::Blob([0].into()), Value::Integer(2)],
        ),
        ("SELECT DATE '2020-01-01', TIMESTAMPTZ '2020-01-01 02:00+02'", vec![Value::text("2020-01-01"); 2]),
        (
            "SELECT INTERVAL '1 month' = INTERVAL '30 days', INTERVAL '90 seconds'",
            vec![Value::Integer(1), Value::text("90 seconds")],
        ),
        (
            "SELECT [1.0, 2], {'b': 'x', 'a': 1}, '{\"b\": 1.0, \"a\": 2}'::JSON",
            vec![Value::text("[1,2]"), Value::text(r#"{"a":1,"b":"x"}"#), Value::text(r#"{"a":2,"b":1}"#)],
        ),
        ("FROM team SELECT count(*); -- one statement", vec![Value::Integer(2)]),
    ] {
        assert_eq!(cells(&engine, &database, sql), expected, "{sql}");
    }
    assert_cut(&engine, &database, "SELECT * FROM player a, player b");
    engine.check().unwrap();
}

/// What else a stranger may write here, and what becomes of it.
const HOSTILE: &[(&str, FailureKind)] = {
    use FailureKind::{
        Denied, InvalidQuery, NoSuchFunction, NoSuchTable, Parameters, RuntimeError, SyntaxError, Timeout,
        TooLarge,
    };
    &[
        ("SELECT 9223372036854775807 + 1", RuntimeError),
        ("SELEC 1", SyntaxError),
        ("SELECT name, count(*) FROM team", InvalidQuery),
        ("SELECT $1", Parameters),
        ("SELECT ?", Parameters),
        ("SELECT 'x'::INT", RuntimeError),
        // Commands.
        ("INSERT INTO team VALUES (3, 'c', 1) RETURNING id", Denied),
        ("CREATE TABLE x (a INT)", Denied),
        ("CREATE TEMP TABLE x (a INT)", Denied),
        ("CREATE MACRO f() AS 1", Denied),
        ("COPY team TO '/tmp/sqlgauge-duck'", Denied),
        ("COPY (SELECT 1) TO '/dev/stdout'", Denied),
        ("COPY team FROM '/etc/passwd'", Denied),
        ("EXPORT DATABASE '/tmp/sqlgauge-duck'", Denied),
        ("IMPORT DATABASE '/tmp/sqlgauge-duck'", Denied),
        ("ATTACH '/tmp/sqlgauge-duck'", Denied),
        ("ATTACH ':memory:' AS m", Denied),
        ("DETACH club", Denied),
        ("USE main", Denied),
        ("SET memory_limit = '100GB'", Denied),
        ("SET enable_external_access = true", Denied),
        ("RESET threads", Denied),
        ("SET VARIABLE x = 1", Denied),
        ("PRAGMA database_list", Denied),
        ("CALL pragma_version()", Denied),
        ("CHECKPOINT", Denied),
        ("PREPARE a AS SELECT 1", Denied),
        ("EXECUTE a", Denied),
        ("EXPLAIN ANALYZE SELECT 1", Denied),
        ("VACUUM", Denied),
        ("INSTALL httpfs", Denied),
        ("LOAD httpfs", Denied),
        ("CREATE SECRET (TYPE s3)", Denied),
        // Queries that would be more than that.
        ("SELECT nextval('numbers')", Denied),
        ("SELECT * FROM read_text('/etc/passwd')", Denied),
        ("SELECT * FROM read_csv('/etc/passwd')", Denied),
        ("SELECT * FROM read_blob('/etc/passwd')", Denied),
        ("SELECT * FROM glob('/*')", Denied),
        ("SELECT * FROM '/etc/passwd'", NoSuchTable),
        ("SELECT * FROM 'https://example.com/x.csv'", Denied),
        ("SELECT * FROM duckdb_secrets()", Denied),
        ("SELECT * FROM query('DROP TABLE team')", SyntaxError),
        ("SELECT * FROM connection", NoSuchTable),
        ("SELECT getenv('HOME')", NoSuchFunction),
        ("WITH a AS (INSERT INTO team VALUES (3, 'c', 1) RETURNING *) SELECT * FROM a", Denied),
        // Without end, and too much.
        ("WITH RECURSIVE a(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM a) SELECT count(*) FROM a", Timeout),
        (
            "SELECT count(*) FROM player a, player b, player c, player d WHERE hash(a.id, b.id, c.id, d.id) = 1",
            Timeout,
        ),
        ("SELECT a.id FROM player a, player b, player c", TooLarge),
        ("SELECT repeat('x', 100000000)", TooLarge),
        ("SELECT repeat('x', 1000000) || id FROM player", TooLarge),
        ("SELECT length(repeat('x', 2000000000))", TooLarge),
        ("SELECT list(i) FROM range(300000000) r(i)", TooLarge),
        ("SELECT string_agg(repeat('x', 1000000) || id, '') FROM player", TooLarge),
        ("SELECT i FROM range(1000000000) r(i) ORDER BY hash(i)", TooLarge),
    ]
};

#[test]
#[ignore = "long: cargo xtask long"]
fn whatever_a_text_says_it_has_a_typed_outcome_and_nothing_changes() {
    let Some((folder, path)) = club_file() else { return };
    let engine = engine(5);
    let database = opened(&engine, &path);
    let bytes = || std::fs::read(folder.path().join("club.duckdb")).unwrap();
    let before = bytes();
    let deep = format!("SELECT {}1{}", "(".repeat(50_000), ")".repeat(50_000));
    assert_outcomes(&engine, &database, HOSTILE);
    assert!(engine.run(&database, &deep).outcome.failure().is_some());
    assert_eq!(cells(&engine, &database, "SELECT count(*) FROM team"), [Value::Integer(2)]);
    engine.check().unwrap();
    assert!(bytes() == before);
    let names = std::fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(names, 1, "no file is beside the database");
    assert!(!Path::new("/tmp/sqlgauge-duck").exists());
}

#[test]
#[ignore = "long: cargo xtask long"]
fn check_tries_the_locks_and_a_file_that_changes_is_noticed() {
    let Some((folder, path)) = club_file() else { return };
    let kind = Kind::find("duckdb").unwrap();
    let (version, locks) =
        kind.check(&path, &Access { python: Some(python()), ..Access::default() }).unwrap();
    assert!(version.starts_with("DuckDB "), "{version}");
    let open: Vec<_> = locks.iter().filter(|lock| lock.holds == Some(false)).collect();
    assert!(open.is_empty() && locks.len() > 15, "{open:?}");
    let engine_before = engine(60);
    let database = opened(&engine_before, &path);
    assert_eq!(cells(&engine_before, &database, "SELECT 1"), [Value::Integer(1)]);
    drop(engine_before);
    let watching = engine(60);
    let watched = opened(&watching, &path);
    let other = folder.path().join("other.duckdb");
    run(&other, DDL);
    std::fs::rename(&other, folder.path().join("club.duckdb")).unwrap();
    let outcome = watching.run(&watched, "SELECT 1").outcome;
    assert_eq!(outcome.failure().map(|failure| failure.kind), Some(FailureKind::Machine));
    assert!(watching.check().unwrap_err().to_string().contains("changed"));
}

#[test]
#[ignore = "long: cargo xtask long"]
fn a_file_that_cannot_be_used_is_named() {
    let Some((folder, _)) = club_file() else { return };
    let error = |name: &str| {
        let path = PathBuf::from(format!("duckdb:{}", folder.path().join(name).display()));
        engine(5).open(&path).map(drop).unwrap_err().to_string()
    };
    assert!(error("missing.duckdb").contains("there is no file"));
    std::fs::write(
        folder.path().join("text.duckdb"),
        "no database, only text that is long enough".repeat(500),
    )
    .unwrap();
    assert!(error("text.duckdb").contains("check the path"), "{}", error("text.duckdb"));
}
