//! Queries that somebody wants no more.
#![allow(clippy::unwrap_used, reason = "a test fails by panic")]

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use common::{database, engine, in_short};
use sqlgauge_engine::{Engine, EngineError, Limits, Stoppable};

/// Ends at no time limit of this test.
const ENDLESS: &str =
    "SELECT count(*) FROM (WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n)";

#[test]
fn a_query_that_runs_ends_soon_and_none_begins() {
    let folder = tempfile::tempdir().unwrap();
    let path = database(folder.path(), "a.sqlite", "CREATE TABLE t(a); INSERT INTO t VALUES (7);");
    let shared = Arc::new(engine(Limits { timeout: Duration::from_mins(1), ..Limits::default() }));
    let stop = Arc::new(AtomicBool::new(false));
    let of_task = Stoppable::new(Arc::clone(&shared), Arc::clone(&stop));
    let opened = of_task.open(&path).unwrap();
    assert_eq!(in_short(&of_task.run(&opened, "SELECT a FROM t").outcome), "7");
    assert!(of_task.check().is_ok());

    let (request_time, ended) = std::thread::scope(|scope| {
        let running = scope.spawn(|| (of_task.run(&opened, ENDLESS), Instant::now()));
        std::thread::sleep(Duration::from_millis(500));
        let request_time = Instant::now();
        stop.store(true, Ordering::SeqCst);
        let (execution, ended) = running.join().unwrap();
        assert!(execution.rows().is_none());
        (request_time, ended)
    });
    // Ten milliseconds, and what a busy machine adds; far below the time limit in any case.
    assert!(ended - request_time < Duration::from_secs(5), "{:?}", ended - request_time);
    assert!(matches!(of_task.check(), Err(EngineError::Stopped)));
    assert!(of_task.run(&opened, "SELECT a FROM t").rows().is_none());

    // What others run on the same engine is not touched.
    assert!(shared.check().is_ok());
    assert_eq!(in_short(&shared.run(&opened, "SELECT a FROM t").outcome), "7");
    assert_eq!(in_short(&shared.run(&opened, "SELECT printf('%d', a) FROM t").outcome), "7");
}
