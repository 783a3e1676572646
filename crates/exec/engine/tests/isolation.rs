//! What one query does is nothing to another.
#![allow(clippy::unwrap_used, reason = "a test fails by panic")]

mod common;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use common::{database, engine, in_short};
use sqlgauge_engine::{
    Database, Dependence, Engine, EngineError, Enough, FailureKind, Limits, Moment, SqliteEngine,
    WorkerCommand,
};

const FIXTURE: &str = "CREATE TABLE t(id INTEGER PRIMARY KEY, name TEXT); INSERT INTO t VALUES (1, 'ann'), (2, 'bob');
    CREATE TABLE n AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 30000) SELECT x FROM n;";

fn limits() -> Limits {
    Limits { timeout: Duration::from_secs(20), max_heap_bytes: 48 << 20, ..Limits::default() }
}

/// Large blobs, and beside them much work inside one instruction.
const ATTACK: &str = "SELECT length(a), length(b), json_extract(j, '$.a') FROM (\
    SELECT zeroblob(14000000) AS a, zeroblob(14000000) AS b, \
    json_object('a', printf('%.7000000c', 'x')) AS j, \
    printf('%.8000000c', 'a') LIKE '%' || printf('%.200c', 'a') || 'b' AS c) WHERE c IS NOT NULL";

/// Needs a good part of the heap.
const VICTIM: &str = "SELECT count(*) FROM (SELECT DISTINCT printf('%0800d', x) FROM n)";

#[test]
fn a_victim_is_the_same_with_and_without_an_attacker() {
    let folder = tempfile::tempdir().unwrap();
    let path = database(folder.path(), "shared.sqlite", FIXTURE);
    let alone = engine(limits());
    let of_victim = alone.run(&alone.open(&path).unwrap(), VICTIM).outcome;
    assert_eq!(in_short(&of_victim), "30000");
    let short = engine(Limits { timeout: Duration::from_millis(300), ..limits() });
    let (engine, attacked) = (engine(limits()), short.open(&path).unwrap());
    let database = engine.open(&path).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| (0..3).for_each(|_| _ = short.run(&attacked, ATTACK)));
            scope.spawn(|| (0..3).for_each(|_| assert_eq!(engine.run(&database, VICTIM).outcome, of_victim)));
        }
    });
}

#[test]
fn the_compiler_has_the_limits_of_the_query() {
    let folder = tempfile::tempdir().unwrap();
    let path = database(folder.path(), "a.sqlite", FIXTURE);
    let engine = engine(limits());
    let database = engine.open(&path).unwrap();
    let doubling = format!("{}SELECT 1 AS a{}", "SELECT a+a AS a FROM (".repeat(25), ")".repeat(25));
    assert_eq!(in_short(&engine.run(&database, &doubling).outcome), "too_large");
    assert_eq!(in_short(&engine.run(&database, "SELECT name FROM t WHERE id = 2").outcome), "bob");
}

#[test]
fn a_worker_stops_where_this_process_does() {
    let folder = tempfile::tempdir().unwrap();
    let path = database(folder.path(), "a.sqlite", FIXTURE);
    let (apart, here) = (engine(limits()), SqliteEngine::new(limits()));
    let (in_worker, in_process) = (apart.open(&path).unwrap(), here.open(&path).unwrap());
    let gold = here.run(&in_process, "SELECT x FROM n WHERE x < 5").rows().unwrap().clone();
    // printf is a function of which one call can take long, so the first engine asks a worker.
    let sql = "SELECT CAST(printf('%d', x) AS INT) FROM n";
    for (rows_over, foreign_to) in [(None, Some(&gold)), (Some(10), Some(&gold)), (Some(3), None)] {
        let enough = Enough { rows_over, foreign_to: foreign_to.cloned() };
        let (a, b) = (apart.run_until(&in_worker, sql, &enough), here.run_until(&in_process, sql, &enough));
        assert!(a.rows().is_some_and(|rows| rows.is_beginning()), "{enough:?}");
        assert_eq!((a.outcome, a.vm_steps), (b.outcome, b.vm_steps), "{enough:?}");
    }
}

/// A database whose queries all go to a worker.
fn of_virtual_table(engine: &SqliteEngine) -> (tempfile::TempDir, std::sync::Arc<Database>) {
    let folder = tempfile::tempdir().unwrap();
    let ddl = "CREATE TABLE t(a); INSERT INTO t VALUES (NULL), (1), (2.5), ('x'), (x'00ff'); \
               CREATE VIRTUAL TABLE w USING fts5(a);";
    let database = engine.open(&database(folder.path(), "ü b.sqlite", ddl)).unwrap();
    (folder, database)
}

#[test]
fn all_classes_of_values_come_back_from_a_worker() {
    let (apart, here) = (engine(limits()), SqliteEngine::new(limits()));
    let (_folder, database) = of_virtual_table(&apart);
    for sql in
        ["SELECT a, a AS a FROM t", "SELECT 1 WHERE 0", "SELECT nothing_there FROM t", "SELECT 1; SELECT 2"]
    {
        let (a, b) = (apart.run(&database, sql), here.run(&database, sql));
        assert_eq!((a.outcome, a.vm_steps), (b.outcome, b.vm_steps), "{sql}");
    }
}

#[test]
fn time_stands_still_wherever_a_query_runs() {
    let now: Moment = "2024-02-29T23:59:58Z".parse().unwrap();
    let (apart, here) = (engine(limits()).at(now), SqliteEngine::new(limits()).at(now));
    let (_folder, database) = of_virtual_table(&apart);
    let time = Dependence { time: true, chance: false };
    for (sql, expected, depends_on) in [
        ("SELECT datetime('now'), CURRENT_DATE", "2024-02-29 23:59:58|2024-02-29", time),
        ("SELECT strftime('%s', 'NOW', 'localtime') - unixepoch()", "0", time),
        ("SELECT date('now', '+1 year')", "2025-03-01", time),
        ("SELECT date('2020-01-01', 'utc')", "2020-01-01", time),
        ("SELECT date('2020-02-30')", "2020-03-01", Dependence::default()),
        ("SELECT random() IS NULL", "0", Dependence { time: false, chance: true }),
    ] {
        for engine in [&apart, &here] {
            let execution = engine.run(&database, sql);
            assert_eq!(
                (in_short(&execution.outcome).as_str(), execution.depends_on),
                (expected, depends_on),
                "{sql}"
            );
        }
    }
}

#[test]
fn random_numbers_are_the_same_wherever_and_however_often_a_query_runs() {
    let (apart, here) = (engine(limits()), SqliteEngine::new(limits()));
    let (_folder, database) = of_virtual_table(&apart);
    for (sql, rows) in [
        ("SELECT random(), random(), hex(randomblob(9)), length(randomblob(NULL)) FROM t", 5),
        ("SELECT a FROM t ORDER BY random()", 5),
        ("SELECT length(randomblob(100000)), length(randomblob('12x')), length(randomblob(-3))", 1),
    ] {
        let first = here.run(&database, sql).outcome;
        assert_eq!(first.rows().map(|rows| rows.len()), Some(rows), "{sql}");
        for engine in [&here, &apart, &apart] {
            assert_eq!(engine.run(&database, sql).outcome, first, "{sql}");
        }
    }
    let lengths = here.run(&database, "SELECT length(randomblob(100000)), length(randomblob('12x'))").outcome;
    assert_eq!(in_short(&lengths), "100000|12");
    let distinct = here.run(&database, "SELECT count(DISTINCT random()) FROM t").outcome;
    assert_eq!(in_short(&distinct), "5");
    assert_eq!(in_short(&here.run(&database, "SELECT randomblob(1e12)").outcome), "too_large");
}

#[test]
fn a_program_that_is_no_worker_is_an_error_that_names_it() {
    let missing = PathBuf::from("/nowhere/sqlgauge-worker");
    for program in [missing, std::env::current_exe().unwrap()] {
        // Another program answers something else, or nothing.
        let command = WorkerCommand::new(&program).argument("--help");
        let error = SqliteEngine::with_workers(limits(), command).unwrap_err();
        assert!(matches!(error, EngineError::NoWorker { .. }), "{error}");
        assert!(error.to_string().contains(program.to_str().unwrap()), "{error}");
    }
}

#[cfg(unix)]
#[test]
fn a_worker_that_dies_costs_no_outcome_and_one_that_cannot_be_replaced_is_told() {
    use std::os::unix::fs::symlink;
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("worker");
    symlink(env!("CARGO_BIN_EXE_sqlgauge-worker"), &program).unwrap();
    let engine = SqliteEngine::with_workers(
        Limits { timeout: Duration::from_millis(200), ..limits() },
        WorkerCommand::new(&program),
    )
    .unwrap();
    let (_folder, database) = of_virtual_table(&engine);
    let endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT median(x) FROM n";
    assert_eq!(in_short(&engine.run(&database, endless).outcome), "timeout");
    assert_eq!(in_short(&engine.run(&database, "SELECT count(*) FROM t").outcome), "5");
    assert!(engine.check().is_ok());
    // Whether the last one was killed depends on where it was when its time was over, so the next one is killed for sure.
    std::fs::remove_file(&program).unwrap();
    let stubborn = format!("SELECT count(*) FROM t WHERE {}", vec!["(a = 1 OR a = 2)"; 900].join(" AND "));
    let deadline = Instant::now() + Duration::from_mins(1);
    while engine.check().is_ok() && Instant::now() < deadline {
        let _ = engine.run(&database, &stubborn);
        let _ = engine
            .run(&database, "SELECT printf('%.8000000c', 'a') LIKE '%' || printf('%.200c', 'a') || 'b'");
    }
    let error = engine.check().unwrap_err();
    assert!(error.to_string().contains("worker"), "{error}");
}

/// The columns of all views are bounded together: from the first view that does not fit on, none is asked for its own.
#[test]
fn the_columns_of_many_wide_views_are_left_out_from_one_view_on() {
    let folder = tempfile::tempdir().unwrap();
    let columns: Vec<String> = (0..1000).map(|n| format!("a{n}")).collect();
    let wide: Vec<String> = (0..110).map(|n| format!("CREATE VIEW w{n} AS SELECT * FROM z, u;")).collect();
    let wide = wide.concat();
    let ddl = format!(
        "CREATE TABLE z ({}); CREATE TABLE u (b); {wide} CREATE VIEW narrow AS SELECT b FROM u;",
        columns.join(", ")
    );
    let database = engine(limits()).open(&database(folder.path(), "wide.sqlite", &ddl)).unwrap();
    let tables = database.schema().tables();
    let widths = tables.iter().map(|table| (table.name.as_str(), table.columns.len()));
    let expected = (0..110).map(|n| (format!("w{n}"), if n < 99 { 1001 } else { 0 }));
    let expected = expected.chain([("narrow".to_owned(), 0)]);
    assert!(
        widths.skip(2).eq(expected.collect::<Vec<_>>().iter().map(|(name, width)| (name.as_str(), *width)))
    );
}

/// Views of which SQLite's compiler makes so much that it cannot be asked here: in a worker it can be stopped.
#[test]
fn the_views_of_a_catalog_take_a_second_at_most() {
    let folder = tempfile::tempdir().unwrap();
    let chain = |links: usize| {
        let ctes: Vec<String> =
            (1..=links).map(|n| format!(", c{n} AS (SELECT x.a FROM c{} x, c{} y)", n - 1, n - 1)).collect();
        format!("WITH c0 AS (SELECT id AS a FROM t){} SELECT a AS first FROM c{links}", ctes.concat())
    };
    let doubling: String = (1..40)
        .map(|n| format!("CREATE VIEW d{n} AS SELECT x.a + y.a AS a FROM d{} x, d{} y;", n - 1, n - 1))
        .chain((0..200).map(|n| format!("CREATE VIEW e{n} AS SELECT a FROM d39;")))
        .collect();
    let endless: String =
        (0..20).map(|n| format!("CREATE VIEW f{n} AS {};", chain(60))).collect::<Vec<_>>().concat();
    let ddl = format!(
        "{FIXTURE} CREATE VIEW v AS {}; CREATE VIEW d0 AS SELECT id AS a FROM t; {doubling} {endless}",
        chain(5)
    );
    let path = database(folder.path(), "views.sqlite", &ddl);
    let engine = engine(limits());
    let started = Instant::now();
    let database = engine.open(&path).unwrap();
    // A second for the views, and what it takes to start a few workers on a machine at work.
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
    let width = |name: &str| {
        let tables = database.schema().tables();
        tables.iter().find(|table| table.name == name).map(|table| table.columns.len())
    };
    assert_eq!(database.schema().tables().len(), 2 + 1 + 40 + 200 + 20);
    // The view that is only suspected has its column, the others have none.
    assert_eq!(["t", "v", "d0", "e199", "f19"].map(width), [2, 1, 1, 0, 0].map(Some));
}

/// Says that the test runs in a process that may open few files.
#[cfg(unix)]
const FEW_FILES: &str = "SQLGAUGE_TEST_FEW_FILES";

/// Too many open files are a failure of the machine: no query has it as its outcome, and whoever asks the engine is told.
#[test]
#[cfg(unix)]
fn too_many_open_files_are_the_outcome_of_no_query() {
    let name = "too_many_open_files_are_the_outcome_of_no_query";
    if std::env::var_os(FEW_FILES).is_none() {
        let program = std::env::current_exe().unwrap();
        let mut child = std::process::Command::new("sh");
        child.args(["-c", "ulimit -n 64; exec \"$@\"", "sh"]).arg(program).args(["--exact", name]);
        let output = child.env(FEW_FILES, "1").output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = database(folder.path(), "a.sqlite", FIXTURE);
    let engine = SqliteEngine::new(limits());
    // Another database to the engine, for which no connection is idle.
    let database = engine.open(&path).unwrap().with_prelude("CREATE TEMP VIEW v AS SELECT 1");
    let mut files = Vec::new();
    while let Ok(file) = std::fs::File::open(&path) {
        files.push(file);
    }
    let execution = engine.run(&database, "SELECT count(*) FROM t");
    assert_eq!(execution.outcome.failure().unwrap().kind, FailureKind::Machine, "{:?}", execution.outcome);
    let error = engine.check().unwrap_err();
    assert!(matches!(&error, EngineError::Machine { path: named, .. } if *named == path), "{error}");
    assert!(error.to_string().contains("ulimit -n"), "{error}");
    drop(files);
    // With files again, the same query has its rows; the engine stays failed, because of what it returned before, but not
    // for a task that begins now.
    let began = engine.faults();
    assert_eq!(in_short(&engine.run(&database, "SELECT count(*) FROM t").outcome), "2");
    assert!(engine.check().is_err());
    assert!(engine.check_since(began).is_ok());
}
