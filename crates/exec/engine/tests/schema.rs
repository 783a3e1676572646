//! The catalog that is read from a file.
#![allow(clippy::unwrap_used, reason = "a test fails by panic")]

mod common;

use sqlgauge_engine::{Engine, Limits, SqliteEngine};
use sqlgauge_sql::schema::{Affinity, Collation, Schema, TableKind};

fn read(ddl: &str) -> Schema {
    let folder = tempfile::tempdir().unwrap();
    let path = common::database(folder.path(), "schema.sqlite", ddl);
    SqliteEngine::new(Limits::default()).open(&path).unwrap().schema().as_ref().clone()
}

#[test]
fn columns_keep_their_declarations() {
    let schema = read(
        "CREATE TABLE \"Mixed Case\"(
            Id INTEGER PRIMARY KEY AUTOINCREMENT,
            [full name] VARCHAR(20) NOT NULL DEFAULT 'x' COLLATE NOCASE,
            plain,
            made AS (Id + 1) VIRTUAL)",
    );
    let names: Vec<&str> = schema.tables().iter().map(|table| table.name.as_str()).collect();
    assert_eq!(names, ["Mixed Case"], "SQLite's own tables are left out");
    let [id, name, plain, sum] = schema.tables()[0].columns.as_slice() else { panic!("four columns") };
    assert_eq!((id.name.as_str(), id.affinity, id.not_null), ("Id", Affinity::Integer, true));
    assert_eq!(name.declared_type.as_deref(), Some("VARCHAR(20)"));
    assert_eq!(
        (name.not_null, name.default.as_deref(), &name.collation),
        (true, Some("'x'"), &Collation::NoCase)
    );
    assert_eq!((&plain.declared_type, plain.affinity, plain.not_null), (&None, Affinity::Blob, false));
    assert!(sum.generated && !plain.generated);
}

/// Each case: DDL of a table `t`, its primary key, the columns that are NOT NULL.
#[test]
fn primary_keys_forbid_null_only_where_sqlite_enforces_it() {
    for (ddl, key, not_null) in [
        ("CREATE TABLE t(a INTEGER PRIMARY KEY, b)", vec![0], vec![0]),
        ("CREATE TABLE t(a INT PRIMARY KEY, b)", vec![0], vec![]),
        ("CREATE TABLE t(a TEXT PRIMARY KEY, b NOT NULL)", vec![0], vec![1]),
        ("CREATE TABLE t(a INTEGER PRIMARY KEY DESC, b)", vec![0], vec![]),
        ("CREATE TABLE t(a INTEGER, b, PRIMARY KEY (a DESC))", vec![0], vec![0]),
        ("CREATE TABLE t(a, b, PRIMARY KEY (b, a))", vec![1, 0], vec![]),
        ("CREATE TABLE t(a, b, PRIMARY KEY (b, a)) WITHOUT ROWID", vec![1, 0], vec![0, 1]),
        ("CREATE TABLE t(a TEXT PRIMARY KEY, b INT) STRICT", vec![0], vec![0]),
        ("CREATE TABLE t(a, b)", vec![], vec![]),
    ] {
        let schema = read(ddl);
        let table = schema.table_named("t").unwrap();
        assert_eq!(table.primary_key, key, "{ddl}");
        let columns: Vec<usize> = (0..2).filter(|&at| table.columns[at].not_null).collect();
        assert_eq!(columns, not_null, "{ddl}");
    }
}

#[test]
fn not_null_by_the_primary_key_is_what_sqlite_does() {
    let connection = rusqlite::Connection::open_in_memory().unwrap();
    for (ddl, accepts_null) in [
        ("CREATE TABLE t(a INTEGER PRIMARY KEY DESC, b)", true),
        ("CREATE TABLE t(a INTEGER, b, PRIMARY KEY (a DESC))", false),
        ("CREATE TABLE t(a TEXT PRIMARY KEY, b INT) STRICT", false),
    ] {
        connection.execute_batch("DROP TABLE IF EXISTS t").unwrap();
        connection.execute_batch(ddl).unwrap();
        let _ = connection.execute("INSERT INTO t(a) VALUES (NULL)", []);
        let nulls: i64 =
            connection.query_row("SELECT count(*) FROM t WHERE a IS NULL", [], |row| row.get(0)).unwrap();
        assert_eq!(nulls > 0, accepts_null, "{ddl}");
    }
}

#[test]
fn only_indexes_that_hold_for_every_row_are_unique() {
    let schema = read(
        "CREATE TABLE t(a, b UNIQUE, c COLLATE NOCASE, d, UNIQUE (d, a), PRIMARY KEY (a));
         CREATE UNIQUE INDEX again ON t(d, a);
         CREATE UNIQUE INDEX partial ON t(d) WHERE d > 0;
         CREATE UNIQUE INDEX expression ON t(abs(d));
         CREATE UNIQUE INDEX finer ON t(c COLLATE BINARY);
         CREATE UNIQUE INDEX coarser ON t(d COLLATE NOCASE, b);
         CREATE INDEX ordinary ON t(d);",
    );
    let table = schema.table_named("T").unwrap();
    let mut unique = table.unique.clone();
    unique.sort();
    assert_eq!(unique, [vec![1], vec![3, 0], vec![3, 1]]);
}

#[test]
fn foreign_keys_come_in_declared_order() {
    let schema = read(
        "CREATE TABLE p(a, b, c, PRIMARY KEY (a, b));
         CREATE TABLE t(x REFERENCES p, y, z REFERENCES nowhere(q),
                        FOREIGN KEY (y, x) REFERENCES P(b, a));",
    );
    let table = schema.table_named("t").unwrap();
    let keys: Vec<_> = table
        .foreign_keys
        .iter()
        .map(|key| (key.columns.as_slice(), key.referenced_table.as_str(), key.referenced_columns.join(",")))
        .collect();
    assert_eq!(
        keys,
        [
            (&[0][..], "p", String::new()),
            (&[2][..], "nowhere", "q".to_owned()),
            (&[1, 0][..], "P", "b,a".to_owned()),
        ]
    );
}

#[test]
fn kinds_options_and_checks_are_read() {
    let schema = read(
        "CREATE TABLE w(a PRIMARY KEY CHECK (a > 0)) WITHOUT ROWID;
         CREATE TABLE s(a INT, b ANY, CHECK (a <> 3)) STRICT;
         CREATE VIEW v AS SELECT a, a + 1 AS next FROM s;
         CREATE VIEW broken AS SELECT * FROM nowhere;
         CREATE VIRTUAL TABLE f USING fts5(body);",
    );
    let table = |name: &str| schema.table_named(name).unwrap();
    assert!(table("w").without_rowid && !table("w").strict);
    assert_eq!(table("w").checks, ["a > 0"]);
    assert!(table("s").strict && !table("s").without_rowid);
    assert_eq!(table("s").columns[1].affinity, Affinity::Blob, "ANY of a STRICT table converts nothing");
    let columns =
        |name: &str| table(name).columns.iter().map(|column| column.name.as_str()).collect::<Vec<_>>();
    assert_eq!((table("v").kind, columns("v")), (TableKind::View, vec!["a", "next"]));
    assert_eq!((table("broken").kind, columns("broken")), (TableKind::View, vec![]));
    assert_eq!(table("f").kind, TableKind::Virtual);
    let hidden: Vec<bool> = table("f").columns.iter().map(|column| column.hidden).collect();
    assert_eq!(hidden, [false, true, true]);
}

/// SQLite itself says which tables are shadow tables.
#[test]
fn shadow_tables_are_those_that_sqlite_calls_so() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.sqlite");
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection
        .execute_batch(
            "CREATE VIRTUAL TABLE Docs USING fts5(title, body);
             CREATE VIRTUAL TABLE \"my notes\" USING FTS4(body);
             CREATE VIRTUAL TABLE boxes USING rtree(id, x0, x1);
             CREATE VIRTUAL TABLE small_ USING \"rtree_i32\"(id, x0, x1);
             CREATE VIRTUAL TABLE bare USING fts5(a, content='');
             CREATE TABLE docs_extra(a);
             CREATE TABLE other_idx(a);
             CREATE TABLE boxes_nodes(a);
             CREATE VIEW docs_view AS SELECT title FROM Docs;",
        )
        .unwrap();
    let mut statement =
        connection.prepare("SELECT name FROM pragma_table_list WHERE type = 'shadow' ORDER BY name").unwrap();
    let expected: Vec<String> =
        statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    drop(statement);
    drop(connection);
    let database = SqliteEngine::new(Limits::default()).open(&path).unwrap();
    let schema = database.schema();
    let shadows = schema.tables().iter().filter(|table| table.kind == TableKind::Shadow);
    let mut names: Vec<String> = shadows.map(|table| table.name.clone()).collect();
    names.sort();
    assert!(expected.len() > 15, "{expected:?}");
    assert_eq!(names, expected);
}
