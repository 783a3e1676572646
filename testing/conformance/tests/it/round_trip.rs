//! The law of crate `sql`: a query that executes, printed after resolution, executes to the same result. And
//! resolution agrees with SQLite on what is wrong where a table or column is missing.

use std::collections::{BTreeMap, HashMap};
use std::sync::Mutex;
use std::time::Duration;

use rayon::prelude::*;
use sqlgauge_conformance::{Statement, data, one_of, statements};
use sqlgauge_engine::{Engine, FailureKind, Limits, Outcome, ResultSet, SqliteEngine, Value};
use sqlgauge_sql::{ErrorKind, PrintDialect, print, resolve};

#[derive(Default)]
struct Tally {
    executed: usize,
    resolved: usize,
    same: usize,
    misnamed: usize,
    naming_errors: usize,
    unresolved: Vec<String>,
    different: Vec<String>,
    disagreements: Vec<String>,
}

fn bag(rows: &ResultSet) -> HashMap<&[Value], usize> {
    let mut bag = HashMap::new();
    for row in rows.rows() {
        *bag.entry(row).or_default() += 1;
    }
    bag
}

fn check(engine: &SqliteEngine, patient: &SqliteEngine, statement: &Statement, tally: &Mutex<Tally>) {
    let database = engine.open(&statement.database).unwrap();
    let resolved = resolve(&statement.sql, database.schema());
    let outcome = engine.run(&database, &statement.sql).outcome;
    let describe = |what: String| format!("{} | {} | {what}", database.path().display(), statement.sql);
    match outcome {
        Outcome::Rows(rows) => {
            let printed = resolved.map_err(|error| error.to_string()).and_then(|query| {
                print(&query, database.schema(), PrintDialect::Sqlite).map_err(|error| error.to_string())
            });
            let again = printed.as_ref().ok().map(|sql| patient.run(&database, sql).outcome);
            let mut tally = tally.lock().unwrap();
            tally.executed += 1;
            match (printed, again) {
                (Ok(_), Some(Outcome::Rows(other))) if bag(&rows) == bag(&other) => {
                    tally.resolved += 1;
                    tally.same += 1;
                }
                (Ok(sql), again) => {
                    tally.resolved += 1;
                    let reason = match again {
                        Some(Outcome::Failed(failure)) => failure.message,
                        _ => "other rows".to_owned(),
                    };
                    tally.different.push(describe(format!("{reason} | {sql}")));
                }
                (Err(error), _) => tally.unresolved.push(describe(error)),
            }
        }
        Outcome::Failed(failure) => {
            let wanted = matches!(
                failure.kind,
                FailureKind::NoSuchTable | FailureKind::NoSuchColumn | FailureKind::AmbiguousColumn
            );
            if !wanted {
                return;
            }
            let agrees = match (&resolved, failure.kind) {
                (Err(error), FailureKind::NoSuchTable) => matches!(error.kind(), ErrorKind::UnknownTable(_)),
                (Err(error), FailureKind::NoSuchColumn) => {
                    matches!(error.kind(), ErrorKind::UnknownColumn(_))
                }
                (Err(error), _) => matches!(error.kind(), ErrorKind::AmbiguousColumn(_)),
                (Ok(_), _) => false,
            };
            let same_name =
                resolved.as_ref().is_err_and(|error| failure.message.starts_with(&error.kind().to_string()));
            let mut tally = tally.lock().unwrap();
            tally.naming_errors += 1;
            tally.misnamed += usize::from(agrees && !same_name);
            if !agrees || !same_name {
                let ours = resolved.map_or_else(|error| error.to_string(), |_| "resolved".to_owned());
                tally.disagreements.push(describe(format!("SQLite: {} | ours: {ours}", failure.message)));
            }
        }
    }
}

#[test]
#[ignore = "long: cargo xtask long"]
fn every_query_that_executes_prints_back_to_the_same_result() {
    let Some(root) = data() else { return };
    let engine =
        |seconds| SqliteEngine::new(Limits { timeout: Duration::from_secs(seconds), ..Limits::default() });
    // What the statement does in a second, its printed form may take long for on a busy machine.
    let (engine, patient) = (engine(1), engine(120));
    let tally = Mutex::new(Tally::default());
    let statements: Vec<_> = statements(&root).into_iter().step_by(one_of(2)).collect();
    statements.par_iter().for_each(|statement| check(&engine, &patient, statement, &tally));
    let tally = tally.into_inner().unwrap();
    let lists = BTreeMap::from([
        ("unresolved", &tally.unresolved),
        ("different", &tally.different),
        ("naming", &tally.disagreements),
    ]);
    for (name, list) in lists {
        for line in list {
            println!("{name}: {line}");
        }
    }
    println!(
        "{} statements, {} executed, {} resolved, {} same after printing; {} naming errors, {} for another reason, {} of them with another name",
        statements.len(),
        tally.executed,
        tally.resolved,
        tally.same,
        tally.naming_errors,
        tally.disagreements.len(),
        tally.misnamed,
    );
    assert!(tally.executed > 10_000);
    assert_eq!(tally.resolved, tally.executed, "every query that executes resolves");
    assert_eq!(tally.same, tally.executed, "every query that executes prints back to the same result");
    assert_eq!(tally.disagreements.len(), 0, "naming errors are refused for the same name");
}
