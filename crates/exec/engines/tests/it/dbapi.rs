//! DB-API drivers in processes of their own: `sqlite3` of the standard library, and a driver that misbehaves. With the long tests `duckdb`,
//! `psycopg` and `pymysql`, where the Python of `SQLGAUGE_PYTHON` has them.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use sqlgauge_engine::FailureKind::{Denied, InvalidQuery, NoSuchTable, RuntimeError, Timeout};
use sqlgauge_engine::{Database, Engine, FailureKind, Limits, Outcome, Value};
use sqlgauge_engines::{Access, Kind};
use sqlgauge_sql::schema::{Column, Table};
use tempfile::TempDir;

use crate::club::{assert_catalog, assert_cut, assert_outcomes, cells, opened, python, runs};
use crate::servers::PASSWORD;
use crate::servers::mariadb::MariaDb;
use crate::servers::postgresql::Server;

const DDL: &str = "CREATE TABLE team (id INTEGER PRIMARY KEY, name VARCHAR(20) NOT NULL UNIQUE, budget DECIMAL(20, 4)); \
    CREATE TABLE player (id INTEGER PRIMARY KEY, team_id INTEGER REFERENCES team (id), height REAL); \
    INSERT INTO team VALUES (1, 'a', 0.5), (2, 'b', 2); \
    INSERT INTO player VALUES (1, 1, 1.5), (2, 2, NULL); \
    CREATE VIEW tall AS SELECT * FROM player WHERE height > 1";

fn engine(python: PathBuf, seconds: u64) -> Arc<dyn Engine> {
    let limits = Limits { timeout: Duration::from_secs(seconds), max_rows: 10_000, ..Limits::default() };
    let access = Access { connections: 2, python: Some(python), ..Access::default() };
    Kind::find("dbapi").unwrap().engine(limits, access)
}

/// A folder with a SQLite file of that DDL, and its address.
fn sqlite_club() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("club.sqlite");
    let script = "import sqlite3, sys; sqlite3.connect(sys.argv[1]).executescript(sys.argv[2])";
    assert!(runs(&["-c", script, file.to_str().unwrap(), DDL]));
    let address = format!("dbapi:sqlite3?database={}", file.display());
    (folder, PathBuf::from(address))
}

/// A file that only its owner may read.
fn private(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    path
}

fn failure(outcome: &Outcome) -> (Option<FailureKind>, &str) {
    (outcome.failure().map(|failure| failure.kind), outcome.failure().map_or("", |failure| &failure.message))
}

#[test]
fn sqlite_by_its_driver_has_its_catalog_values_and_outcomes() {
    let (_folder, path) = sqlite_club();
    let engine = engine(python(), 20);
    let database = opened(&engine, &path);
    assert!(engine.name_and_version().starts_with("DB-API sqlite3 "), "{}", engine.name_and_version());
    assert!(engine.name_and_version().contains(" on 3."), "{}", engine.name_and_version());
    assert!(!engine.is_sqlite());
    assert_catalog(&database, 3);
    for (sql, expected) in [
        (
            "SELECT id, budget, NULL, x'00ff', 'é' FROM team WHERE id = 1",
            vec![
                Value::Integer(1),
                Value::Real(0.5),
                Value::Null,
                Value::Blob([0, 255].into()),
                Value::text("é"),
            ],
        ),
        ("SELECT CAST(x'ff41' AS TEXT)", vec![Value::Text([255, 65].into())]),
        ("WITH a AS (SELECT 1 AS b) SELECT b FROM a -- end", vec![Value::Integer(1)]),
        ("SELECT 9223372036854775807, 1e999", vec![Value::Integer(i64::MAX), Value::Real(f64::INFINITY)]),
    ] {
        assert_eq!(cells(&engine, &database, sql), expected, "{sql}");
    }
    assert_cut(
        &engine,
        &database,
        "WITH RECURSIVE a(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM a LIMIT 5000) SELECT n FROM a",
    );
    assert_outcomes(
        &engine,
        &database,
        &[
            ("WITH a AS (SELECT 1) DELETE FROM team", Denied),
            ("PRAGMA query_only = OFF", Denied),
            ("ATTACH '/tmp/x' AS y", Denied),
            ("SELECT ?", FailureKind::Parameters),
            (
                "SELECT a.id FROM team a, team b, team c, (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 9000) SELECT i FROM n)",
                FailureKind::TooLarge,
            ),
            ("SELECT zeroblob(1000000000)", FailureKind::TooLarge),
        ],
    );
    engine.check().unwrap();
}

/// The tables of an address with their columns and types, `?` where a type is unknown.
fn described(python: PathBuf, address: &str) -> Vec<String> {
    let database = opened(&engine(python, 20), Path::new(address));
    let column =
        |column: &Column| format!("{} {}", column.name, column.declared_type.as_deref().unwrap_or("?"));
    let columns = |table: &Table| table.columns.iter().map(column).collect::<Vec<_>>().join(", ");
    let tables = database.schema().tables().iter();
    tables.map(|table| format!("{}: {}", table.name, columns(table))).collect()
}

#[test]
fn tables_that_the_address_names_have_the_columns_that_a_query_returns() {
    let (_folder, path) = sqlite_club();
    let of_values =
        ["team: id INTEGER, name TEXT, budget REAL", "player: id INTEGER, team_id INTEGER, height REAL"];
    assert_eq!(described(python(), &format!("{}&tables=team,none,player", path.display())), of_values);
    // A driver names types, or says of which kind they are, or neither.
    for (code, declared) in [("'decimal(9, 2)'", "decimal(9, 2)"), ("7", "NUMERIC"), ("8", "?")] {
        let module = LIAR.replace("(1, 2)", "(1, None)").replace("(\"b\", None)", &format!("('b', {code})"));
        let (_folder, python) = python_with(&format!("{module}\nNUMBER = 7\n"));
        assert_eq!(described(python, "dbapi:liar?tables=t"), [format!("t: a INTEGER, b {declared}")]);
    }
}

#[test]
fn a_query_of_a_driver_ends_at_its_time_limit() {
    let (_folder, path) = sqlite_club();
    let engine = engine(python(), 1);
    let database = opened(&engine, &path);
    let begun = Instant::now();
    let endless = "WITH RECURSIVE a(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM a) SELECT count(*) FROM a";
    assert_eq!(failure(&engine.run(&database, endless).outcome).0, Some(Timeout));
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    assert_eq!(cells(&engine, &database, "SELECT 1"), [Value::Integer(1)]);
}

#[test]
fn check_says_which_locks_a_driver_lacks() {
    let (_folder, path) = sqlite_club();
    let access = || Access { python: Some(python()), ..Access::default() };
    let kind = Kind::find("dbapi").unwrap();
    let state = |locks: &[sqlgauge_engines::LockResult], name: &str| {
        locks.iter().find(|lock| lock.name == name).unwrap_or_else(|| panic!("{name}: {locks:?}")).holds
    };
    let (_, locks) = kind.check(&path, &access()).unwrap();
    assert_eq!(locks.iter().filter(|lock| lock.holds == Some(false)).count(), 0, "{locks:?}");
    assert_eq!(state(&locks, "makes no table"), Some(true));
    assert_eq!(state(&locks, "reads no file, asks no other server"), None);
    // Of a dialect that nobody knows, no transaction that only reads begins.
    let unknown = Path::new("dbapi:sqlite3?database=:memory:&dialect=sql");
    let (_, locks) = kind.check(unknown, &access()).unwrap();
    assert_eq!(state(&locks, "makes no table"), Some(false));
    assert_eq!(state(&locks, "runs in a transaction that only reads"), None);
}

#[test]
fn check_names_the_columns_whose_types_stay_unknown() {
    let (_folder, python) = python_with(&LIAR.replace("(1, 2)", "(1, None)"));
    let access = Access { python: Some(python), ..Access::default() };
    let (_, locks) = Kind::find("dbapi").unwrap().check(Path::new("dbapi:liar?tables=t"), &access).unwrap();
    let unknown: Vec<_> = locks.iter().filter(|lock| lock.message.starts_with("types unknown: ")).collect();
    assert!(unknown.len() == 1 && unknown[0].message.contains(": t.b; "), "{locks:?}");
}

#[test]
fn an_address_of_a_driver_holds_no_secret_and_its_file_is_private() {
    let (folder, _) = sqlite_club();
    let database = folder.path().join("club.sqlite");
    let file = private(folder.path(), "a.json", &format!("{{\"database\": {database:?}}}"));
    let text = private(folder.path(), "b.json", &format!("{database:?}"));
    let toml = private(folder.path(), "c.toml", &format!("database = {database:?}\n"));
    for file in [&file, &text, &toml] {
        let path = PathBuf::from(format!("dbapi:sqlite3?connect={}", file.display()));
        let engine = engine(python(), 20);
        let database = opened(&engine, &path);
        assert_eq!(cells(&engine, &database, "SELECT count(*) FROM team"), [Value::Integer(2)]);
    }
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
    for (address, expected) in [
        (format!("dbapi:sqlite3?connect={}", file.display()), "chmod 600"),
        ("dbapi:psycopg?password=abc".to_owned(), "would be recorded"),
        ("dbapi:os;system".to_owned(), "not the name of a module"),
        ("dbapi:sqlite3?database=/no/such".to_owned(), "there is no file"),
        ("dbapi:sqlite3?dialect=french".to_owned(), "choose from"),
        ("dbapi:sqlgauge_has_no_such_driver".to_owned(), "install the driver"),
        ("dbapi:json".to_owned(), "has no connect()"),
        ("dbapi:sqlite3?wrong=1".to_owned(), "MODULE.connect()"),
    ] {
        let error = engine(python(), 5).open(Path::new(&address)).map(drop).unwrap_err().to_string();
        assert!(error.contains(expected) && !error.contains("abc"), "{address}: {error}");
    }
}

/// A driver that does what the text asks for.
const LIAR: &str = r#"
import os, sys, time
apilevel, threadsafety, paramstyle, __version__ = "2.0", 1, "qmark", "0.1"
class Error(Exception): pass
class DatabaseError(Error): pass
class OperationalError(DatabaseError): pass
class Odd: pass
class Loud:
    def __str__(self): raise ValueError("no text")
class Mute(DatabaseError):
    def __str__(self): raise ValueError("no text")
class Text(str):
    def encode(self, *_): raise ValueError("no bytes")
class Cursor:
    description = [("a", None), ("b", None)]
    rows = [(1, 2)]
    def execute(self, sql):
        self.rows = [(1, 2)]
        word = sql.split("'")[1] if "'" in sql else ""
        if word == "hang": time.sleep(600)
        if word == "exit": os._exit(3)
        if word == "raise exit": raise SystemExit(0)
        if word == "keyboard": raise KeyboardInterrupt
        if word == "recursion":
            def deep(): return deep()
            deep()
        if word == "print": print("noise", flush=True); os.write(1, b"noise\n"); os.write(2, b"noise\n")
        if word == "input": input()
        if word == "close": os.close(0); os.close(1)
        if word == "odd error": raise KeyError("odd")
        if word == "long error": raise DatabaseError("x" * 100_000_000)
        if word == "dirty error": raise DatabaseError("\udcff\ud800\x00")
        if word == "mute error": raise Mute()
        if word == "class": raise type("ProgrammingError", (Error,), {})("no such table: x")
        if word == "bytes error": raise DatabaseError(b"\xff")
        if word == "memory": self.rows = ["x" * (1 << 40)]
        if word == "wide": self.rows = [(1, 2, 3)]
        if word == "narrow": self.rows = [(1,)]
        if word == "no row": self.rows = [7]
        if word == "odd": self.rows = [(Odd(), 1)]
        if word == "loud": self.rows = [(Loud(), 1)]
        if word == "text": self.rows = [(Text("a"), "\ud800")]
        if word == "deep":
            value = []
            for _ in range(100_000): value = [value]
            self.rows = [(value, 1)]
        if word == "nan": self.rows = [(float("nan"), {1: {2}})]
        if word == "flood": self.rows = iter(lambda: (1, "x" * 1000), None)
        if word == "slow": self.rows = (time.sleep(0.1) or (n, 1) for n in iter(int, 1))
        if word == "nothing": self.description = None
        if word == "lie": self.description = 7
    def fetchmany(self, _):
        rows, self.rows = self.rows, []
        return rows
    def close(self): pass
class Connection:
    def cursor(self): return Cursor()
    def rollback(self): pass
def connect(**_): return Connection()
"#;

/// A Python with that module, in an environment of its own.
fn python_with(module: &str) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("env");
    assert!(runs(&["-m", "venv", "--without-pip", place.to_str().unwrap()]));
    let library = std::fs::read_dir(place.join("lib")).unwrap().next().unwrap().unwrap().path();
    std::fs::write(library.join("site-packages/liar.py"), module).unwrap();
    let python = place.join("bin/python");
    (folder, python)
}

/// What the liar does, and what becomes of it.
const LIES: &[(&str, Option<FailureKind>, &str)] = {
    use FailureKind::{Denied, NoSuchTable, RuntimeError, Timeout, TooLarge};
    &[
        ("print", None, ""),
        ("close", None, ""),
        ("nan", None, ""),
        ("hang", Some(Timeout), "ran longer"),
        ("slow", Some(Timeout), "ran longer"),
        ("exit", Some(RuntimeError), "ended the connection"),
        ("raise exit", Some(RuntimeError), "raised SystemExit"),
        ("keyboard", Some(RuntimeError), "raised KeyboardInterrupt"),
        ("recursion", Some(RuntimeError), "raised RecursionError"),
        ("input", Some(RuntimeError), "raised EOFError"),
        ("odd error", Some(RuntimeError), "raised KeyError: 'odd'"),
        ("long error", Some(RuntimeError), "xxx"),
        ("dirty error", Some(RuntimeError), ""),
        ("mute error", Some(RuntimeError), "Mute"),
        ("bytes error", Some(RuntimeError), "xff"),
        ("class", Some(NoSuchTable), "no such table"),
        ("memory", Some(TooLarge), "memory"),
        ("wide", Some(RuntimeError), "a row of 3 values for 2 columns"),
        ("narrow", Some(RuntimeError), "a row of 1 values for 2 columns"),
        ("no row", Some(RuntimeError), "raised TypeError"),
        ("odd", Some(RuntimeError), "a value of the class Odd, which has no text"),
        ("loud", Some(RuntimeError), "raised ValueError: no text"),
        ("text", None, ""),
        ("deep", Some(RuntimeError), "raised RecursionError"),
        ("flood", Some(TooLarge), "returns more than 10000 rows"),
        ("nothing", Some(Denied), "returns no rows"),
        ("lie", Some(RuntimeError), "raised TypeError"),
    ]
};

#[test]
fn a_driver_that_misbehaves_has_typed_outcomes() {
    let (_folder, python) = python_with(LIAR);
    let engine = engine(python, 2);
    let database: Arc<Database> = opened(&engine, Path::new("dbapi:liar"));
    let right = [Value::Integer(1), Value::Integer(2)];
    for (lie, expected, words) in LIES {
        let outcome = engine.run(&database, &format!("SELECT '{lie}'")).outcome;
        let (kind, message) = failure(&outcome);
        assert_eq!(kind, *expected, "{lie}: {outcome:?}");
        assert!(message.contains(words) && message.len() < 5000, "{lie}: {message}");
        assert_eq!(cells(&engine, &database, "SELECT 1"), right, "after {lie}");
    }
    engine.check().unwrap();
}

#[test]
fn a_database_that_is_gone_blames_no_query() {
    let gone = LIAR.replace(
        "def connect(**_): return Connection()",
        "
def connect(**_):
    if os.path.exists(os.path.join(os.path.dirname(__file__), 'gone')): raise OperationalError('no route')
    return Connection()
",
    );
    let gone = gone.replace("        if word == \"hang\"", "
        if os.path.exists(os.path.join(os.path.dirname(__file__), 'gone')): raise OperationalError('connection reset')
        if word == \"hang\"");
    let (folder, python) = python_with(&gone);
    let engine = engine(python, 5);
    let database = opened(&engine, Path::new("dbapi:liar"));
    assert!(engine.run(&database, "SELECT 1").rows().is_some());
    let library = std::fs::read_dir(folder.path().join("env/lib")).unwrap().next().unwrap().unwrap().path();
    std::fs::write(library.join("site-packages/gone"), "").unwrap();
    assert_eq!(failure(&engine.run(&database, "SELECT 1").outcome).0, Some(FailureKind::Machine));
    assert!(engine.check().unwrap_err().to_string().contains("same command again"));
}

/// Whether that Python has the module; says so where it has not.
fn has(module: &str) -> bool {
    let has = runs(&["-c", &format!("import {module}")]);
    if !has {
        println!("skipped: no Python with {module} (pip install {module}, SQLGAUGE_PYTHON)");
    }
    has
}

/// A driver has the catalog, the outcomes and the locks that the engine of the same database has.
fn assert_like_engine(path: &Path, texts: &[(&str, FailureKind)]) {
    let engine = engine(python(), 5);
    let database = opened(&engine, path);
    assert_catalog(&database, 3);
    assert_outcomes(&engine, &database, texts);
    engine.check().unwrap();
    engine.check_data().unwrap();
    let access = Access { python: Some(python()), ..Access::default() };
    let (_, locks) = Kind::find("dbapi").unwrap().check(path, &access).unwrap();
    let open: Vec<_> = locks.iter().filter(|lock| lock.holds == Some(false)).collect();
    assert!(open.is_empty() && locks.len() > 20, "{open:?}");
}

#[test]
#[ignore = "long: cargo xtask long"]
fn psycopg_is_like_the_engine_of_postgresql() {
    let Some(server) = Server::start().filter(|_| has("psycopg")) else { return };
    server.database("club", DDL);
    let folder = tempfile::tempdir().unwrap();
    let arguments = serde_json::json!({
        "host": "127.0.0.1", "port": server.port, "user": "sqlgauge", "password": PASSWORD,
        "options": "-c client_connection_check_interval=1s",
    });
    let file = private(folder.path(), "pg.json", &arguments.to_string());
    let path = PathBuf::from(format!("dbapi:psycopg?connect={}&dbname=club", file.display()));
    assert_like_engine(
        &path,
        &[
            ("SELECT pg_sleep(1)", Denied),
            ("SELECT name, count(*) FROM team", InvalidQuery),
            ("SELECT 1 / (id - id) FROM team", RuntimeError),
            ("SELECT count(*) FROM generate_series(1, 100000000000)", Timeout),
            ("SELECT set_config('transaction_read_only', 'off', false)", Denied),
        ],
    );
    let engine = engine(python(), 20);
    let database = opened(&engine, &path);
    let values = "SELECT 0.10::numeric, true, date '2020-01-01', timestamptz '2020-01-01 02:00+02', \
        '{\"b\": 1.0, \"a\": 2}'::jsonb, '\\x00ff'::bytea, interval '90 seconds', 18446744073709551616::numeric";
    let native = Kind::find("postgresql").unwrap().engine(
        Limits::default(),
        Access { password: Some(sqlgauge_engines::Secret(PASSWORD.into())), ..Access::default() },
    );
    let native_database = opened(&native, &server.address("sqlgauge", "club"));
    assert_eq!(cells(&engine, &database, values), cells(&native, &native_database, values));
}

#[test]
#[ignore = "long: cargo xtask long"]
fn pymysql_is_like_the_engine_of_mysql() {
    let Some(server) = MariaDb::start().filter(|_| has("pymysql")) else { return };
    server.database("club", DDL);
    // The driver sends passwords in Latin-1.
    server.sql("", "ALTER USER sqlgauge@'%' IDENTIFIED BY 'plain'");
    let folder = tempfile::tempdir().unwrap();
    let arguments = serde_json::json!({
        "host": "127.0.0.1", "port": server.port, "user": "sqlgauge", "password": "plain", "charset": "utf8mb4",
    });
    let file = private(folder.path(), "my.json", &arguments.to_string());
    let path = PathBuf::from(format!("dbapi:pymysql?connect={}&database=club", file.display()));
    assert_like_engine(
        &path,
        &[
            ("SELECT SLEEP(1)", Denied),
            ("SELECT * FROM information_schema.processlist", Denied),
            (
                "WITH RECURSIVE a(n) AS (SELECT 1 UNION ALL SELECT 1 FROM a) SELECT (SELECT 1 UNION SELECT 2) FROM team",
                RuntimeError,
            ),
            (
                "SELECT count(*) FROM information_schema.columns a, information_schema.columns b, information_schema.columns c",
                Timeout,
            ),
        ],
    );
}

#[test]
#[ignore = "long: cargo xtask long"]
fn duckdb_by_its_driver_is_like_its_engine() {
    if !has("duckdb") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("club.duckdb");
    let script = "import duckdb, sys; duckdb.connect(sys.argv[1]).execute(sys.argv[2])";
    assert!(runs(&["-c", script, file.to_str().unwrap(), DDL]));
    let options = r#"{"read_only": true, "config": {"enable_external_access": "false", "lock_configuration": "true",
        "memory_limit": "512MB", "threads": "1", "temp_directory": ""}}"#;
    let options = private(folder.path(), "duck.json", options);
    let path =
        PathBuf::from(format!("dbapi:duckdb?connect={}&database={}", options.display(), file.display()));
    assert_like_engine(
        &path,
        &[
            ("SELECT * FROM read_text('/etc/passwd')", Denied),
            ("SELECT * FROM '/etc/passwd'", NoSuchTable),
            (
                "WITH RECURSIVE a(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM a) SELECT count(*) FROM a",
                Timeout,
            ),
        ],
    );
}
