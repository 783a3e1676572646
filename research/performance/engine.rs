//! Time of the engine beside that of stock SQLite: date functions over many rows, and a large result that comes from a
//! worker process.
//!
//! ```sh
//! cargo xtask research engine
//! ```
//! Each figure is the shortest of `--runs` runs; the runs of both sides take turns.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use clap::Parser;
use rusqlite::Connection;
use sqlgauge_engine::{Database, Engine, Execution, Limits, SqliteEngine, WorkerCommand};

/// Time of the engine beside that of stock SQLite
#[derive(Debug, Parser)]
struct Arguments {
    /// Rows that the date functions run over
    #[arg(long, default_value_t = 1_000_000)]
    rows: usize,
    /// Rows of five columns that a worker returns
    #[arg(long, default_value_t = 100_000)]
    result: usize,
    /// Runs of each query, of which the shortest counts
    #[arg(long, default_value_t = 5)]
    runs: usize,
}

const DATES: [&str; 6] = [
    "SELECT count(d) FROM t",
    "SELECT count(*) FROM t WHERE strftime('%Y', d) = '2020'",
    "SELECT max(date(d, '+1 day')) FROM t",
    "SELECT sum(julianday(d)) FROM t",
    "SELECT max(strftime('%Y-%m-%d %H:%M:%f', d, 'start of month', '+1 month')) FROM t",
    "SELECT count(*) FROM t WHERE julianday('now') > julianday(d)",
];

fn main() -> Result<()> {
    if std::env::args().any(|argument| argument == WORKER) {
        sqlgauge_engine::serve_queries();
        return Ok(());
    }
    let arguments = Arguments::parse();
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("dates.sqlite");
    let stock = Connection::open(&path)?;
    stock.execute_batch(&format!(
        "CREATE TABLE t(a INTEGER PRIMARY KEY, d TEXT, r REAL, s TEXT, b BLOB);
         WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {})
         INSERT INTO t SELECT i, datetime(i * 997, 'unixepoch'), i / 7.0, 'customer number ' || i, randomblob(16) FROM n;",
        arguments.rows.max(arguments.result)
    ))?;
    dates(&stock, &path, arguments.runs)?;
    worker(&path, &arguments)
}

fn dates(stock: &Connection, path: &Path, runs: usize) -> Result<()> {
    let engine = SqliteEngine::new(Limits::default());
    let database = engine.open(path)?;
    println!("{:>9}{:>9}{:>7}", "SQLite", "engine", "ratio");
    for sql in DATES {
        let (mut theirs, mut ours) = (Duration::MAX, Duration::MAX);
        for _ in 0..runs {
            theirs = theirs.min(timed(|| Ok(stock.query_row(sql, [], |_| Ok(()))?))?);
            ours = ours.min(timed(|| rows(&engine, &database, sql).map(drop))?);
        }
        let ratio = ours.as_secs_f64() / theirs.as_secs_f64();
        println!("{:>6} ms{:>6} ms{ratio:>7.2}  {sql}", theirs.as_millis(), ours.as_millis());
    }
    Ok(())
}

const WORKER: &str = "--serve-queries";

fn worker(path: &Path, arguments: &Arguments) -> Result<()> {
    let command = WorkerCommand::new(std::env::current_exe()?).argument(WORKER);
    let away = SqliteEngine::with_workers(Limits::default(), command)?.with_first_slice(Duration::ZERO);
    let here = SqliteEngine::new(Limits::default());
    let sql = format!("SELECT a, d, r, s, b FROM t LIMIT {}", arguments.result);
    for (place, engine) in [("here", here), ("in a worker", away)] {
        let database = engine.open(path)?;
        let mut shortest = Duration::MAX;
        for _ in 0..arguments.runs {
            let time = timed(|| {
                let execution = rows(&engine, &database, &sql)?;
                let count = execution.outcome.rows().map(|rows| rows.len());
                ensure!(count == Some(arguments.result), "{count:?} rows");
                Ok(())
            })?;
            shortest = shortest.min(time);
        }
        println!("{:>6} ms  {} rows of five columns {place}", shortest.as_millis(), arguments.result);
    }
    Ok(())
}

/// What a query that must not fail returned.
fn rows(engine: &SqliteEngine, database: &Database, sql: &str) -> Result<Execution> {
    let execution = engine.run(database, sql);
    execution.outcome.rows().with_context(|| format!("{sql}: {:?}", execution.outcome.failure()))?;
    Ok(execution)
}

fn timed(act: impl FnOnce() -> Result<()>) -> Result<Duration> {
    let started = Instant::now();
    act()?;
    Ok(started.elapsed())
}
