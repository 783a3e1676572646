//! What the integration tests of this crate share.
#![allow(dead_code, reason = "no test program uses all of it")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use sqlgauge_engine::{Limits, Outcome, SqliteEngine, Value, WorkerCommand};

/// Tables of every sort, to be asked about.
pub(crate) const FIXTURE: &str = "
    CREATE TABLE t(id INTEGER PRIMARY KEY, name TEXT, score REAL);
    INSERT INTO t VALUES (1, 'ann', 1.5), (2, 'bob', 2.5), (3, 'cy', NULL);
    CREATE TABLE blobs(b BLOB);
    INSERT INTO blobs VALUES (x'00ff'), (CAST(x'fffe41' AS TEXT));
    CREATE INDEX t_name ON t(name);
    CREATE VIEW plain AS SELECT name FROM t;
    CREATE VIEW loader AS SELECT load_extension('/nowhere/x.so') AS l;
    CREATE VIEW peeks AS SELECT * FROM pragma_table_info('t');
    CREATE VIEW round AS SELECT * FROM trip;
    CREATE VIEW trip AS SELECT * FROM round;
    CREATE VIEW broken AS SELECT missing FROM nowhere;
    CREATE VIEW l0 AS SELECT 1 AS a FROM t, t b, t c;
    CREATE VIEW l1 AS SELECT a.a FROM l0 a, l0 b, l0 c, l0 d, l0 e;
    CREATE VIEW l2 AS SELECT a.a FROM l1 a, l1 b, l1 c, l1 d, l1 e;
    CREATE VIEW l3 AS SELECT a.a FROM l2 a, l2 b, l2 c, l2 d, l2 e;
    CREATE VIEW l4 AS SELECT a.a FROM l3 a, l3 b, l3 c, l3 d, l3 e;
    CREATE VIEW l5 AS SELECT a.a FROM l4 a, l4 b, l4 c, l4 d, l4 e;
    CREATE VIEW l6 AS SELECT a.a FROM l5 a, l5 b, l5 c, l5 d, l5 e;
    CREATE VIEW l7 AS SELECT a.a FROM l6 a, l6 b, l6 c, l6 d, l6 e;
    CREATE TRIGGER plain_insert INSTEAD OF INSERT ON plain BEGIN DELETE FROM t; END;
    CREATE TABLE made(a, b AS (hex(a) || 'x') STORED, CHECK (length(b) < 1000000));
    INSERT INTO made(a) VALUES ('q');
    CREATE VIRTUAL TABLE words USING fts5(body);
    INSERT INTO words VALUES ('the quick fox'), ('the slow ox');
";

/// The engine for untrusted texts: with this crate's own worker.
pub(crate) fn engine(limits: Limits) -> SqliteEngine {
    SqliteEngine::with_workers(limits, WorkerCommand::new(env!("CARGO_BIN_EXE_sqlgauge-worker"))).unwrap()
}

/// A database file in a folder of its own, made by running `ddl`.
pub(crate) fn database(folder: &Path, name: &str, ddl: &str) -> PathBuf {
    let path = folder.join(name);
    let connection = Connection::open(&path).unwrap();
    connection.execute_batch(ddl).unwrap();
    path
}

/// The status of an outcome; for rows, their values in short.
pub(crate) fn in_short(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Failed(failure) => failure.kind.to_string(),
        Outcome::Rows(rows) => {
            let rows: Vec<String> =
                rows.rows().map(|row| row.iter().map(value_in_short).collect::<Vec<_>>().join("|")).collect();
            rows.join("/")
        }
    }
}

fn value_in_short(value: &Value) -> String {
    match value {
        Value::Null => "NULL".to_owned(),
        Value::Integer(integer) => integer.to_string(),
        Value::Real(real) => format!("{real:?}"),
        Value::Text(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        Value::Decimal(decimal) => decimal.to_string(),
        Value::Blob(bytes) => format!("x{bytes:02x?}"),
    }
}

/// All files of a folder with their bytes.
pub(crate) fn snapshot(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_file())
        .map(|path| (path.clone(), std::fs::read(path).unwrap()))
        .collect()
}

/// The folder of real data, or `None` (said aloud) where there is none; in CI that is an error.
pub(crate) fn real_data() -> Option<PathBuf> {
    let folder = std::env::var_os("SQLGAUGE_DATA")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../../shared/data"), PathBuf::from);
    if folder.is_dir() {
        return Some(folder);
    }
    assert!(std::env::var_os("CI").is_none_or(|ci| ci != "true"), "no real data in {}", folder.display());
    eprintln!("skipped: no real data in {}", folder.display());
    None
}
