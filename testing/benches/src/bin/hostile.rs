//! Databases that cost more than their share, and what each command makes of them: time, memory, exit code.
//!
//! ```sh
//! cargo build --release --bin sqlgauge
//! cargo run --release --bin hostile                 # all cases, at the sizes below
//! cargo run --release --bin hostile -- --size 0.1   # a tenth of each size
//! cargo run --release --bin hostile -- --case wide  # those with that word in their name
//! ```
//! | case | what is hostile | the query reads |
//! |---|---|---|
//! | tables | 2,000 tables, each with a foreign key to the one before | one of them |
//! | wide | three tables of 2,000 columns | a small table beside them |
//! | constraints | 3,000 CHECKs, 60 UNIQUEs and 500 foreign keys of one table | a small table beside it |
//! | views | 24 views that each join the one before three times | the table below them |
//! | endless view | a recursive view without end | a table beside it |
//! | long check | `CHECK (a IN (...))` of 100,000 numbers | the table itself |
//! | long list | a small table | 10,000 rows of `IN (VALUES ...)` |
//! | files | 1,500 CSV files | (only `tables`) |
//!
//! A command may take 5 s and 300 MiB, and must end as its help says (codes 0 to 3) and not by a panic; the last line counts those
//! that did not, and the program fails if there are any.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;

use anyhow::Result;
use clap::Parser;
use rusqlite::Connection;
use serde_json::json;
use sqlgauge_benches::{Ended, measure_within};

const MOST_SECONDS: f64 = 5.0;
const MOST_MIB: f64 = 300.0;
/// After which a command is killed.
const END: Duration = Duration::from_secs(90);

const SMALL: &str = "CREATE TABLE small (id INTEGER PRIMARY KEY, name TEXT, a INTEGER);
    INSERT INTO small VALUES (0, 'n0', 0), (1, 'n1', 1), (2, 'n2', 2), (3, 'n3', 0), (4, 'n4', 1), (5, 'n5', 2);";

/// Databases that cost more than their share
#[derive(Debug, Parser)]
struct Arguments {
    /// The binary
    #[arg(long, default_value = "target/release/sqlgauge")]
    binary: PathBuf,
    /// Of each size, so much
    #[arg(long, default_value_t = 1.0)]
    size: f64,
    /// Only cases with that word in their name
    #[arg(long, default_value = "")]
    case: String,
    /// Folder for what is made, kept; a temporary one without it
    #[arg(long)]
    folder: Option<PathBuf>,
}

/// A hostile database: its name, the statements that make it, and the table that is asked.
struct Case {
    name: &'static str,
    /// Statements for that share of the size.
    sql: fn(f64) -> String,
    /// The table of the queries.
    table: fn(f64) -> String,
    /// What follows `WHERE` in one of them.
    filter: fn(f64) -> String,
}

fn scaled(most: usize, size: f64) -> usize {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "sizes are small and not negative"
    )]
    let scaled = (most as f64 * size).ceil() as usize;
    scaled.max(2)
}

fn small(_: f64) -> String {
    "small".to_owned()
}

fn plain(_: f64) -> String {
    "a > 1".to_owned()
}

static CASES: &[Case] = &[
    Case { name: "tables", sql: tables, table: |size| format!("t{}", scaled(2000, size) / 2), filter: plain },
    Case { name: "wide", sql: wide, table: small, filter: plain },
    Case { name: "constraints", sql: constraints, table: small, filter: plain },
    Case { name: "views", sql: views, table: small, filter: plain },
    Case {
        name: "endless view",
        sql: |_| {
            format!(
                "{SMALL} CREATE VIEW endless AS WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT n FROM r;"
            )
        },
        table: small,
        filter: plain,
    },
    Case {
        name: "long check",
        sql: |size| {
            SMALL.replace(
                "a INTEGER",
                &format!("a INTEGER CHECK (a IN ({}))", listed(scaled(100_000, size), |at| at.to_string())),
            )
        },
        table: small,
        filter: plain,
    },
    Case {
        name: "long list",
        sql: |_| SMALL.to_owned(),
        table: small,
        filter: |size| format!("a IN (VALUES {})", listed(scaled(10_000, size), |at| format!("({at})"))),
    },
];

fn listed(count: usize, of: impl Fn(usize) -> String) -> String {
    (0..count).map(of).collect::<Vec<_>>().join(", ")
}

fn tables(size: f64) -> String {
    let mut sql = String::new();
    for at in 0..scaled(2000, size) {
        let (key, value) = match at.checked_sub(1) {
            Some(before) => (format!(", prev INTEGER REFERENCES t{before}(id)"), ", 1"),
            None => (String::new(), ""),
        };
        // Writing to a String cannot fail.
        let _ = write!(
            sql,
            "CREATE TABLE t{at} (id INTEGER PRIMARY KEY, name TEXT, a INTEGER{key});
             INSERT INTO t{at} VALUES (0, 'n0', 0{value}), (1, 'n1', 2{value}), (2, 'n2', 4{value});"
        );
    }
    sql
}

fn wide(size: f64) -> String {
    let columns = scaled(2000, size) - 1;
    let kind = |at: usize| if at.is_multiple_of(2) { "INTEGER" } else { "TEXT" };
    let mut sql = SMALL.to_owned();
    for table in 0..3 {
        let columns_of = listed(columns, |at| format!("c{at} {}", kind(at)));
        let _ = write!(sql, "CREATE TABLE w{table} (id INTEGER PRIMARY KEY, {columns_of});");
        for row in 0..10 {
            let values = listed(columns, |at| ((row * 7 + at) % 13).to_string());
            let _ = write!(sql, "INSERT INTO w{table} VALUES ({row}, {values});");
        }
    }
    sql
}

fn constraints(size: f64) -> String {
    let (checks, uniques, keys) = (scaled(3000, size), scaled(60, size), scaled(500, size));
    let columns = 100;
    let parts = [
        listed(columns, |at| format!("c{at} INTEGER")),
        listed(keys, |at| format!("f{at} INTEGER REFERENCES p(id)")),
        listed(checks, |at| format!("CHECK (c{} > -{})", at % columns, at + 1)),
        listed(uniques, |at| format!("UNIQUE (c{at}, c{})", at + 1)),
    ];
    let mut sql = format!(
        "{SMALL} CREATE TABLE p (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO p VALUES (0, 'n0'), (1, 'n1');
         CREATE TABLE x (id INTEGER PRIMARY KEY, {});",
        parts.join(", ")
    );
    for row in 0..10 {
        let values =
            [listed(columns, |at| (row + at).to_string()), listed(keys, |at| ((row + at) % 2).to_string())];
        let _ = write!(sql, "INSERT INTO x VALUES ({row}, {});", values.join(", "));
    }
    sql
}

fn views(size: f64) -> String {
    let mut sql = SMALL.to_owned();
    let mut before = "small".to_owned();
    for at in 0..scaled(24, size) {
        let _ = write!(
            sql,
            "CREATE VIEW v{at} AS SELECT x.id AS id, x.name AS name, x.a AS a FROM {before} x JOIN {before} y JOIN {before} z;"
        );
        before = format!("v{at}");
    }
    sql
}

fn main() -> Result<ExitCode> {
    let arguments = Arguments::parse();
    let temporary = tempfile::tempdir()?;
    let folder = arguments.folder.as_deref().unwrap_or(temporary.path());
    println!("{:<14} {:<26} {:>8} {:>9}  end", "case", "command", "wall s", "peak MiB");
    let mut above = 0;
    let mut count = 0;
    for case in CASES.iter().filter(|case| case.name.contains(&arguments.case)) {
        for (name, mut command) in commands(&arguments, folder, case)? {
            above += usize::from(!is_fine(case.name, name, &measure_within(&mut command, END)?));
            count += 1;
        }
    }
    if "files".contains(&arguments.case) {
        let mut command = files(&arguments, folder)?;
        above += usize::from(!is_fine("files", "tables", &measure_within(&mut command, END)?));
        count += 1;
    }
    println!(
        "{above} of {count} above {MOST_SECONDS} s or {MOST_MIB} MiB, or ended otherwise than documented"
    );
    Ok(if above == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Prints what a command took; whether it kept to the limits.
fn is_fine(case: &str, command: &str, ended: &Ended) -> bool {
    let (wall, peak) = (ended.took.wall.as_secs_f64(), ended.took.peak_mib());
    let has_ended_well =
        ended.code.is_some_and(|code| (0..=3).contains(&code)) && !ended.error.contains("panicked");
    let is_fine = wall <= MOST_SECONDS && peak <= MOST_MIB && has_ended_well;
    let said = ended.error.lines().last().unwrap_or_default().chars().take(60).collect::<String>();
    let code = ended.code.map_or_else(|| "killed".to_owned(), |code| format!("code {code}"));
    println!(
        "{case:<14} {command:<26} {wall:>8.2} {peak:>9.1}  {code}{} {said}",
        if is_fine { "" } else { " ABOVE" }
    );
    is_fine
}

/// What is done with a case, each by its name.
fn commands(arguments: &Arguments, folder: &Path, case: &Case) -> Result<Vec<(&'static str, Command)>> {
    let db_id = case.name.replace(' ', "_");
    let root = folder.join("databases").join(&db_id);
    let path = root.join(&db_id).join(format!("{db_id}.sqlite"));
    std::fs::create_dir_all(root.join(&db_id))?;
    if !path.exists() {
        Connection::open(&path)?.execute_batch(&format!("BEGIN; {} COMMIT;", (case.sql)(arguments.size)))?;
    }
    let (table, filter) = ((case.table)(arguments.size), (case.filter)(arguments.size));
    let left = format!("SELECT name FROM {table} WHERE {filter}");
    let right = format!("SELECT name FROM {table} WHERE {filter} AND id >= 0");
    let gold = folder.join(format!("{db_id}.json"));
    let question = |sql: &str| json!({"db_id": &db_id, "question": "Which are there?", "query": sql});
    let questions = json!([question(&left), question(&format!("SELECT count(*) FROM {table}"))]);
    std::fs::write(&gold, questions.to_string())?;
    let out = folder.join("out").join(&db_id);
    let program = |given: &[&str]| {
        let mut command = Command::new(&arguments.binary);
        command.args(given);
        command
    };
    let with = |mut command: Command, more: &[(&str, &Path)]| {
        for (flag, path) in more {
            command.arg(flag).arg(path);
        }
        command
    };
    Ok(vec![
        ("verify", with(program(&["verify", "--left", &left, "--right", &right]), &[("--db", &path)])),
        ("match", with(program(&["match", &left, &right]), &[("--db", &path)])),
        ("translate", with(program(&["translate", &left, "--to", "all"]), &[("--db", &path)])),
        (
            "evolve --kinds all",
            with(
                program(&["evolve", "--kinds", "all"]),
                &[("--gold", &gold), ("--db", &root), ("--out", &out.join("evolve"))],
            ),
        ),
        (
            "evolve --steps 3",
            with(
                program(&["evolve", "--steps", "3"]),
                &[("--gold", &gold), ("--db", &root), ("--out", &out.join("steps"))],
            ),
        ),
        (
            "synth --count 60",
            with(program(&["synth", "--count", "60"]), &[("--db", &root), ("--out", &out.join("synth"))]),
        ),
        (
            "augment",
            with(
                program(&["augment", "--kinds", "rename-columns"]),
                &[("--gold", &gold), ("--db", &root), ("--out", &out.join("augmented.jsonl"))],
            ),
        ),
    ])
}

/// `tables` over as many files.
fn files(arguments: &Arguments, folder: &Path) -> Result<Command> {
    let sources = folder.join("files");
    std::fs::create_dir_all(&sources)?;
    for at in 0..scaled(1500, arguments.size) {
        let rows = (0..5).map(|row| format!("{},n{row},{}\n", row + at, (row * at) % 3));
        std::fs::write(
            sources.join(format!("f{at}.csv")),
            format!("id,name,a\n{}", rows.collect::<String>()),
        )?;
    }
    let mut command = Command::new(&arguments.binary);
    command.arg("tables").arg(&sources).arg("--out").arg(folder.join("corpus"));
    Ok(command)
}
