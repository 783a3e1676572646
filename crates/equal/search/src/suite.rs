//! Counterexamples as the files of a test suite.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::limits::Limit;
use rusqlite::types::Value;
use rusqlite::{Connection, ErrorCode, OpenFlags, ffi, params_from_iter};
use sqlgauge_sql::quote::name as quoted;

/// Steps of SQLite's virtual machine for the script of a counterexample; one of ours takes some dozen a row.
const MOST_STEPS: i32 = 50_000_000;
/// Steps between two looks at their number and at the time.
const STEPS_OF_A_CALL: i32 = 100;
/// Time for the script, and for putting its rows into a file: a step can be a call that takes a while.
const MOST_TIME: Duration = Duration::from_secs(5);
/// Most bytes of a value that a script makes; a longer script may make values of its own length. Calls on such values are fast, and
/// our own values have at most a quarter of this.
const VALUE_BYTES: usize = 64 << 10;
const MOST_VALUE_BYTES: usize = 1 << 20;
/// Pages of 4 KiB that the rows of a script may take in memory.
const MOST_PAGES: u32 = 16 << 10;
/// Instructions of one compiled statement. Generated columns that name each other twice are compiled to a power of their number,
/// before a step is taken; an INSERT of ours takes some for each of its values.
const MOST_INSTRUCTIONS: i32 = 2_000_000;

/// A database of a suite, and which predictions it tells from their gold, by number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    pub path: PathBuf,
    /// The predictions.
    pub told: BTreeSet<usize>,
}

/// As few of the databases as tell as many predictions from their golds as all of them do ([`cover`]).
pub fn chosen(candidates: &[Candidate]) -> Vec<&Candidate> {
    let sets: Vec<&BTreeSet<usize>> = candidates.iter().map(|candidate| &candidate.told).collect();
    cover(&sets).into_iter().map(|at| &candidates[at]).collect()
}

/// The places of as few sets as have all that any of them has: each time the one that adds most, the first of equals. The
/// greedy choice is within a factor of ln n of the fewest; its beginning has the most that so many sets chosen so have.
pub fn cover(sets: &[&BTreeSet<usize>]) -> Vec<usize> {
    let mut union: BTreeSet<usize> = BTreeSet::new();
    let mut chosen = Vec::new();
    loop {
        let added = |at: &usize| sets[*at].difference(&union).count();
        // Of equals `max_by_key` takes the last one.
        let best = (0..sets.len()).rev().max_by_key(added);
        let Some(best) = best.filter(|best| added(best) > 0) else { return chosen };
        union.extend(sets[best]);
        chosen.push(best);
    }
}

/// Writes a database with all tables, views and indexes of another and the rows of a counterexample's script.
///
/// # Errors
/// When the database cannot be read, the file cannot be written, or the rows break a constraint that the script does not
/// state.
pub fn fill(source: &Path, script: &str, path: &Path) -> rusqlite::Result<()> {
    let rows = rows_of(script)?;
    let mut target = Connection::open(path)?;
    // SQLite reads a table with generated columns once while it is defined.
    target.set_limit(Limit::SQLITE_LIMIT_VDBE_OP, MOST_INSTRUCTIONS)?;
    let filled = copy_schema(source, &target)
        // The schema's DEFAULTs, CHECKs and generated columns come from a file that nobody vouches for either.
        .and_then(|()| bound(&mut target, script.len()))
        .and_then(|()| copy_rows(&rows, &mut target));
    drop(target);
    if filled.is_err() {
        // The error says more than a file that cannot be removed.
        let _ = std::fs::remove_file(path);
    }
    filled
}

/// The database in memory that a script makes. The script may come from a log that somebody else wrote: it can create
/// tables with their indexes and views, put values into the tables, and nothing else.
pub(crate) fn rows_of(script: &str) -> rusqlite::Result<Connection> {
    let mut rows = Connection::open_in_memory()?;
    rows.pragma_update(None, "max_page_count", MOST_PAGES)?;
    // Nothing may be attached, and so no VACUUM INTO a file either.
    rows.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0)?;
    rows.authorizer(Some(|context: AuthContext<'_>| match context.action {
        AuthAction::CreateTable { .. }
        | AuthAction::CreateIndex { .. }
        | AuthAction::CreateView { .. }
        | AuthAction::Insert { .. }
        | AuthAction::Update { .. }
        | AuthAction::Read { .. }
        | AuthAction::Select
        | AuthAction::Function { .. }
        | AuthAction::Reindex { .. }
        | AuthAction::Transaction { .. } => Authorization::Allow,
        _ => Authorization::Deny,
    }))?;
    bound(&mut rows, script.len())?;
    rows.execute_batch(script).map_err(of_script)?;
    // What is read of it from here on is ours.
    rows.authorizer(None::<fn(AuthContext<'_>) -> Authorization>)?;
    Ok(rows)
}

/// The database in memory has a size limit: a script that fills it is at fault, not a full disk.
fn of_script(error: rusqlite::Error) -> rusqlite::Error {
    if error.sqlite_error_code() != Some(ErrorCode::DiskFull) {
        return error;
    }
    let mib = MOST_PAGES >> 8;
    let text = format!("its rows take more than {mib} MiB");
    rusqlite::Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_TOOBIG), Some(text))
}

/// Ends what takes more steps or time than a counterexample may, and refuses values that are longer than the script.
fn bound(connection: &mut Connection, script_bytes: usize) -> rusqlite::Result<()> {
    let most = script_bytes.clamp(VALUE_BYTES, MOST_VALUE_BYTES);
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, i32::try_from(most).unwrap_or(i32::MAX))?;
    connection.set_limit(Limit::SQLITE_LIMIT_VDBE_OP, MOST_INSTRUCTIONS)?;
    let (mut calls, deadline) = (0, Instant::now() + MOST_TIME);
    let is_over = move || {
        calls += 1;
        calls > MOST_STEPS / STEPS_OF_A_CALL || Instant::now() >= deadline
    };
    connection.progress_handler(STEPS_OF_A_CALL, Some(is_over))
}

pub(crate) fn texts(connection: &Connection, sql: &str) -> rusqlite::Result<Vec<String>> {
    connection.prepare(sql)?.query_map([], |row| row.get(0))?.collect()
}

/// The columns of a table that rows bring values for, which generated ones are not.
pub(crate) fn stored_columns(connection: &Connection, table: &str) -> rusqlite::Result<Vec<String>> {
    let sql = "SELECT name FROM pragma_table_xinfo(?) WHERE hidden = 0 ORDER BY cid";
    connection.prepare(sql)?.query_map([table], |row| row.get(0))?.collect()
}

/// Triggers are left out: rows are put in as they are.
fn copy_schema(source: &Path, target: &Connection) -> rusqlite::Result<()> {
    let source = Connection::open_with_flags(source, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    let statements = texts(
        &source,
        "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND type IN ('table', 'index', 'view') \
         AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY type = 'view', type = 'index', rowid",
    )?;
    target.pragma_update(None, "foreign_keys", false)?;
    // In one transaction: each by itself would wait for the disk.
    let transaction = target.unchecked_transaction()?;
    statements.iter().try_for_each(|sql| transaction.execute(sql, []).map(drop))?;
    transaction.commit()
}

fn copy_rows(rows: &Connection, target: &mut Connection) -> rusqlite::Result<()> {
    let transaction = target.transaction()?;
    for table in texts(rows, "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY rowid")? {
        let columns: Vec<String> = stored_columns(rows, &table)?.iter().map(|name| quoted(name)).collect();
        let mut all = rows.prepare(&format!("SELECT {} FROM {}", columns.join(", "), quoted(&table)))?;
        let places = vec!["?"; columns.len()].join(", ");
        let insert = format!("INSERT INTO {} ({}) VALUES ({places})", quoted(&table), columns.join(", "));
        let mut insert = transaction.prepare(&insert)?;
        let mut read = all.query([])?;
        while let Some(row) = read.next()? {
            let values: Vec<Value> = (0..columns.len()).map(|at| row.get(at)).collect::<Result<_, _>>()?;
            insert.execute(params_from_iter(values))?;
        }
    }
    transaction.commit()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(name: &str, predictions: &[usize]) -> Candidate {
        Candidate { path: name.into(), told: predictions.iter().copied().collect() }
    }

    #[test]
    fn the_fewest_databases_that_tell_the_most() {
        let candidates = [
            candidate("a", &[0, 1]),
            candidate("b", &[0, 1, 2]),
            candidate("c", &[3]),
            candidate("d", &[]),
            candidate("e", &[3]),
        ];
        let names: Vec<&Path> = chosen(&candidates).into_iter().map(|one| one.path.as_path()).collect();
        assert_eq!(names, [Path::new("b"), Path::new("c")]);
    }

    #[test]
    fn a_script_puts_rows_into_tables_and_does_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        Connection::open(at("source")).unwrap().execute_batch("CREATE TABLE t (a UNIQUE)").unwrap();
        let script = "CREATE TABLE t (a UNIQUE);\nINSERT INTO t VALUES (CAST(X'00' AS TEXT)), (2);\n";
        fill(&at("source"), script, &at("filled")).unwrap();
        let filled = Connection::open(at("filled")).unwrap();
        assert_eq!(filled.query_row("SELECT count(*) FROM t", [], |row| row.get(0)), Ok(2));

        let stolen = at("stolen").display().to_string();
        for hostile in [
            format!("ATTACH '{stolen}' AS s; CREATE TABLE s.t (a)"),
            format!("VACUUM INTO '{stolen}'"),
            format!("PRAGMA temp_store_directory = '{stolen}'"),
            "CREATE TABLE t AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n"
                .to_owned(),
            "CREATE TABLE t (a, b DEFAULT (hex(zeroblob(500000000)))); INSERT INTO t (a) VALUES (1)".to_owned(),
            format!(
                "CREATE TABLE t (a, b DEFAULT (zeroblob(60000))); INSERT INTO t (a) VALUES {}",
                vec!["(1)"; 2000].join(", ")
            ),
            "CREATE TABLE t (a); CREATE TRIGGER r AFTER INSERT ON t BEGIN DELETE FROM t; END".to_owned(),
        ] {
            assert!(fill(&at("source"), &hostile, &at("hostile")).is_err(), "{hostile}");
            assert!(!at("stolen").exists() && !at("hostile").exists(), "{hostile}");
        }
    }

    #[test]
    fn what_a_script_compiles_to_and_holds_is_bounded_and_its_own_fault() {
        let doubled: Vec<String> =
            (0..27).map(|at| format!("g{at} AS (coalesce(g{0}, 0) + coalesce(g{0}, 1))", at + 1)).collect();
        let compiled = format!(
            "CREATE TABLE t (a, {}, g27 AS (a), CHECK (g0 > 0)); INSERT INTO t (a) VALUES (1)",
            doubled.join(", ")
        );
        let large = format!(
            "CREATE TABLE t (a, b DEFAULT (zeroblob(60000))); INSERT INTO t (a) VALUES {}",
            vec!["(1)"; 2000].join(", ")
        );
        for script in [compiled, large] {
            let error = rows_of(&script).unwrap_err();
            assert_ne!(error.sqlite_error_code(), Some(ErrorCode::DiskFull), "{error}");
        }
    }

    #[test]
    fn expressions_of_the_schema_are_bounded_too() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let world = "CREATE TABLE t (a, b DEFAULT (hex(zeroblob(500000000))))";
        Connection::open(at("source")).unwrap().execute_batch(world).unwrap();
        let script = "CREATE TABLE t (a); INSERT INTO t VALUES (1)";
        assert!(fill(&at("source"), script, &at("filled")).is_err());
        assert!(!at("filled").exists());
    }
}
