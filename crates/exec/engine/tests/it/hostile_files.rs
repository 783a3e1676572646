//! Hostile and odd files: each has its typed outcome, and nothing is written anywhere.

use std::path::Path;

use crate::common::{FIXTURE, database, in_short, snapshot};
use rusqlite::Connection;
use sqlgauge_engine::{Engine, EngineError, Limits, SqliteEngine};

#[test]
fn hostile_files_have_a_typed_error() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let sound = std::fs::read(database(folder.path(), "sound.sqlite", FIXTURE)).unwrap();
    std::fs::write(at("text.sqlite"), "this is no database\n".repeat(100)).unwrap();
    std::fs::write(at("header.sqlite"), &sound[..50]).unwrap();
    std::fs::write(at("truncated.sqlite"), &sound[..4096 + 1000]).unwrap();
    std::fs::write(at("noise.sqlite"), [&sound[..100], &[0xa5; 8092]].concat()).unwrap();
    std::fs::write(at("wal.sqlite"), &sound).unwrap();
    std::fs::write(at("wal.sqlite-wal"), "frames").unwrap();
    std::fs::write(at("hot.sqlite"), &sound).unwrap();
    std::fs::write(at("hot.sqlite-journal"), b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7rest").unwrap();
    std::fs::create_dir(at("folder.sqlite")).unwrap();
    schema_entry(&at("latin1.sqlite"), "latin1", b"CREATE TABLE latin1(\"caf\xe9\")");
    let numbers = (0..300_000).map(|number| number.to_string()).collect::<Vec<_>>().join(",");
    database(folder.path(), "long.sqlite", &format!("CREATE TABLE t(a CHECK (a NOT IN ({numbers})))"));
    let engine = SqliteEngine::new(Limits::default());
    let before = snapshot(folder.path());
    for (name, expected) in [
        ("missing.sqlite", "NotFound"),
        ("folder.sqlite", "IsDirectory"),
        ("sound.sqlite/inside", "Unreadable"),
        ("text.sqlite", "NotADatabase"),
        ("header.sqlite", "Damaged"),
        ("truncated.sqlite", "Damaged"),
        ("noise.sqlite", "Damaged"),
        ("latin1.sqlite", "Damaged"),
        ("long.sqlite", "Oversized"),
        ("wal.sqlite", "NotAtRest"),
        ("hot.sqlite", "NotAtRest"),
    ] {
        let error = engine.open(&at(name)).unwrap_err();
        assert_eq!(format!("{error:?}").split([' ', '{']).next(), Some(expected), "{name}: {error}");
        assert!(error.to_string().contains(name), "{error}");
    }
    assert!(snapshot(folder.path()) == before, "the folder has changed");
}

#[cfg(unix)]
#[test]
fn what_is_left_beside_the_target_of_a_link_is_seen() {
    use std::os::unix::fs::symlink;
    let (folder, links) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let engine = SqliteEngine::new(Limits::default());
    for (name, suffix, content) in
        [("wal", "-wal", b"frames".as_slice()), ("hot", "-journal", b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7")]
    {
        let path = database(folder.path(), name, FIXTURE);
        let (link, twice) = (links.path().join(name), links.path().join(format!("{name}2")));
        symlink(&path, &link).unwrap();
        symlink(&link, &twice).unwrap();
        assert!(engine.open(&twice).is_ok());
        std::fs::write(folder.path().join(format!("{name}{suffix}")), content).unwrap();
        for path in [&path, &link, &twice] {
            let error = engine.open(path).unwrap_err();
            assert!(matches!(error, EngineError::NotAtRest { .. }), "{error}");
        }
    }
}

#[test]
fn odd_files_that_can_be_read_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("empty.sqlite"), "").unwrap();
    std::fs::write(at("empty.sqlite-journal"), [0; 512]).unwrap();
    schema_entry(&at("module.sqlite"), "m", b"CREATE VIRTUAL TABLE m USING unheard_of(a)");
    database(
        folder.path(),
        "utf16.sqlite",
        "PRAGMA encoding = 'UTF-16le'; CREATE TABLE é(ß); INSERT INTO é VALUES ('ü');",
    );
    database(folder.path(), "wal.sqlite", "PRAGMA journal_mode = WAL; CREATE TABLE t(a);");
    let mut damaged = std::fs::read(database(folder.path(), "damaged.sqlite", FIXTURE)).unwrap();
    damaged[4096..8192].fill(0xa5);
    std::fs::write(at("damaged.sqlite"), damaged).unwrap();
    let engine = SqliteEngine::new(Limits::default());
    for (name, sql, expected) in [
        ("empty.sqlite", "SELECT count(*) FROM sqlite_master", "0"),
        ("empty.sqlite", "SELECT * FROM t", "no_such_table"),
        ("module.sqlite", "SELECT * FROM m", "database_error"),
        ("module.sqlite", "SELECT 1", "1"),
        ("utf16.sqlite", "SELECT ß FROM é", "ü"),
        ("wal.sqlite", "SELECT count(*) FROM t", "0"),
        ("damaged.sqlite", "SELECT * FROM t", "database_error"),
        ("damaged.sqlite", "SELECT 1", "1"),
    ] {
        let database = engine.open(&at(name)).unwrap();
        assert_eq!(in_short(&engine.run(&database, sql).outcome), expected, "{name}: {sql}");
    }
    assert!(!at("wal.sqlite-shm").exists(), "nothing is made beside a database in WAL mode");
    let module = engine.open(&at("module.sqlite")).unwrap();
    assert!(module.schema().table_named("m").is_some_and(|table| table.columns.is_empty()));
}

#[test]
fn a_file_that_changes_while_it_is_open_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let path = database(folder.path(), "changing.sqlite", FIXTURE);
    let database = SqliteEngine::new(Limits::default()).open(&path).unwrap();
    std::fs::write(&path, "").unwrap();
    assert!(matches!(database.content_hash(), Err(EngineError::Changed { .. })));
    // An engine without a connection to the old file must not read the new one in its place.
    let outcome = SqliteEngine::new(Limits::default()).run(&database, "SELECT 1").outcome;
    assert_eq!(in_short(&outcome), "database_error");
}

/// A database whose catalog holds one statement that no program would have put there.
fn schema_entry(path: &Path, name: &str, statement: &[u8]) {
    let connection = Connection::open(path).unwrap();
    connection.execute_batch("CREATE TABLE ordinary(a); PRAGMA writable_schema = ON;").unwrap();
    connection
        .execute("INSERT INTO sqlite_schema VALUES ('table', ?1, ?1, 0, CAST(?2 AS TEXT))", (name, statement))
        .unwrap();
}
