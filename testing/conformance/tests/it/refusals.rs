//! What SQLite refuses does not resolve, and what it prepares does: reason by reason over texts written for it, and
//! over all real golds and predictions.

use std::collections::BTreeMap;
use std::path::PathBuf;

use rayon::prelude::*;
use rusqlite::{Connection, OpenFlags};
use sqlgauge_conformance::{data, statements};
use sqlgauge_engine::{Engine, Limits, SqliteEngine};
use sqlgauge_sql::functions::{Function, FunctionKind};
use sqlgauge_sql::schema::Schema;
use sqlgauge_sql::{ErrorKind, resolve};

const SCHEMA: &str = "
    CREATE TABLE t (id INTEGER PRIMARY KEY, code TEXT NOT NULL UNIQUE, name TEXT, age INT, born TEXT NOT NULL);
    CREATE TABLE u (uid INTEGER PRIMARY KEY, t_id INT REFERENCES t(id), must INT NOT NULL REFERENCES t(id), v INT);
    CREATE INDEX by_name ON t (name);
";

/// Texts that differ in one thing that SQLite allows or not; it says itself which.
const TEXTS: &str = include_str!("../refusals.txt");

fn texts() -> impl Iterator<Item = &'static str> {
    TEXTS.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("--"))
}

#[test]
fn what_sqlite_prepares_resolves_and_what_it_refuses_does_not() {
    let schema = Schema::from_ddl(SCHEMA).unwrap();
    let sqlite = Connection::open_in_memory().unwrap();
    sqlite.execute_batch(SCHEMA).unwrap();
    let mut wrong = Vec::new();
    let (mut prepared, mut refused) = (0, 0);
    for sql in texts() {
        let sqlite = sqlite.prepare(sql).map(|_| ());
        let ours = resolve(sql, &schema);
        match &sqlite {
            Ok(()) => prepared += 1,
            Err(_) => refused += 1,
        }
        match (&sqlite, &ours) {
            (Ok(()), Err(error)) => wrong.push(format!("SQLite prepares: {sql} | {error}")),
            (Err(error), Ok(_)) => wrong.push(format!("resolves: {sql} | {error}")),
            (Err(_), Err(error)) if error.position().is_none() => {
                wrong.push(format!("no place: {sql} | {error}"));
            }
            (Err(_), Err(error)) if matches!(error.kind(), ErrorKind::Unsupported(_)) => {
                wrong.push(format!("not for its reason: {sql} | {error}"));
            }
            _ => {}
        }
    }
    println!("{prepared} texts that SQLite prepares, {refused} that it refuses");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(prepared > 80 && refused > 120);
}

/// The functions of the bundled SQLite with the numbers of arguments that each takes.
fn functions(sqlite: &Connection) -> BTreeMap<String, (i64, Option<i64>, bool)> {
    let mut all: BTreeMap<String, (i64, Option<i64>, bool)> = BTreeMap::new();
    let mut query = sqlite.prepare("SELECT lower(name), narg, type FROM pragma_function_list").unwrap();
    let rows = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get::<_, String>(2)?))).unwrap();
    for row in rows {
        let (name, count, kind): (String, i64, String) = row.unwrap();
        // SQLite writes "any", "at least 1" and "at least 2" as -1, -3 and -4.
        let (least, most) = match count {
            -1 => (0, None),
            below if below < -2 => (-2 - below, None),
            exact => (exact, Some(exact)),
        };
        let entry = all.entry(name).or_insert((least, most, false));
        entry.0 = entry.0.min(least);
        entry.1 = entry.1.zip(most).map(|(a, b)| a.max(b));
        entry.2 |= kind != "s";
    }
    all
}

#[test]
fn the_table_of_functions_is_that_of_sqlite() {
    let of_sqlite = functions(&Connection::open_in_memory().unwrap());
    let table: BTreeMap<String, (i64, Option<i64>, bool)> = Function::ALL
        .iter()
        .map(|function| {
            let properties = function.properties();
            let bounds = (
                i64::from(properties.least),
                properties.most.map(i64::from),
                properties.kind != FunctionKind::Scalar,
            );
            (function.name().to_owned(), bounds)
        })
        .collect();
    assert_eq!(table, of_sqlite);
}

#[test]
fn functions_that_are_null_on_null_are() {
    let sqlite = Connection::open_in_memory().unwrap();
    let samples = ["'2020-01-01'", "'{\"a\":[1]}'", "1", "'$'", "'abc'", "0.5", "x'00'", "'%Y'"];
    let mut tried = 0;
    for function in Function::ALL.iter().filter(|function| function.properties().null_on_null) {
        let properties = function.properties();
        for count in usize::from(properties.least.max(1))..=properties.most.map_or(2, usize::from) {
            for place in 0..count {
                for sample in samples {
                    let args: Vec<&str> =
                        (0..count).map(|n| if n == place { "NULL" } else { sample }).collect();
                    let sql = format!("SELECT {}({}) IS NULL", function.name(), args.join(", "));
                    // An argument that the function does not take is an error, which is no value either.
                    if let Ok(is_null) = sqlite.query_row(&sql, [], |row| row.get::<_, bool>(0)) {
                        assert!(is_null, "{sql}");
                        tried += 1;
                    }
                }
            }
        }
    }
    assert!(tried > 500, "{tried}");
}

#[test]
#[ignore = "long: cargo xtask long"]
fn real_queries_resolve_if_and_only_if_sqlite_prepares_them() {
    let Some(root) = data() else { return };
    let engine = SqliteEngine::new(Limits::default());
    let mut by_database: BTreeMap<PathBuf, Vec<String>> = BTreeMap::new();
    for statement in statements(&root) {
        by_database.entry(statement.database).or_default().push(statement.sql);
    }
    let check = |(path, texts): (&PathBuf, &Vec<String>)| {
        let database = engine.open(path).unwrap();
        let sqlite = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
        let compare = |sql: &String| {
            let prepared = sqlite.prepare(sql).map(|_| ());
            let resolved = resolve(sql, database.schema()).map(|_| ());
            // A second statement, a parameter or no query at all is none of SQLite's reasons.
            let ours_alone = resolved.as_ref().is_err_and(|error| {
                matches!(
                    error.kind(),
                    ErrorKind::Empty
                        | ErrorKind::MultipleStatements
                        | ErrorKind::NotAQuery(_)
                        | ErrorKind::Unsupported(_)
                )
            });
            (prepared.is_ok() != resolved.is_ok() && !ours_alone)
                .then(|| format!("{} | {sql} | SQLite: {prepared:?} | ours: {resolved:?}", path.display()))
        };
        texts.iter().filter_map(compare).collect::<Vec<_>>()
    };
    let count: usize = by_database.values().map(Vec::len).sum();
    let wrong: Vec<String> = by_database.par_iter().flat_map_iter(check).collect();
    println!("{count} texts, {} judged otherwise than by SQLite", wrong.len());
    wrong.iter().for_each(|line| println!("  {line}"));
    assert!(count > 10_000 && wrong.is_empty());
}
