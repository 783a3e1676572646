//! What pushes back against work that creeps: instructions of small jobs, beside a table of what they took.
//!
//! # Contract
//! - Each job is one command on the bundled sample, on one thread. Valgrind counts the instructions of the development build.
//! - `xtask/work.tsv` has millions of instructions per job. A job may take 5 % more. Beyond, `docs/explanation/decisions.md` has a
//!   row under "What takes longer" with the new number and the reason.
//! - Numbers are of one compiler (`rust-toolchain.toml`) and one architecture: elsewhere the check does not run.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use crate::{cargo, limits, root};

const TABLE: &str = "xtask/work.tsv";
const SECTION: &str = "## What takes longer";
/// Percent that a job may take more.
const MARGIN: usize = 5;
/// Answers of each system.
const ANSWERS: usize = 200;

const MATCHED: [&str; 2] = [
    "SELECT bike_id FROM bike WHERE bike_id NOT IN (SELECT bike_id FROM repair)",
    "SELECT b.bike_id FROM bike AS b LEFT JOIN repair AS r ON r.bike_id = b.bike_id WHERE r.repair_id IS NULL",
];
const VERIFIED: [&str; 2] =
    ["SELECT bike_id FROM trip WHERE minutes > 30", "SELECT bike_id FROM trip WHERE minutes >= 30"];

/// A job: its name, the program, and its arguments in the folder of the sample's tour.
type Job = (&'static str, &'static str, &'static [&'static str]);

const DATABASE: &str = "benchmark/database/bike_rental/bike_rental.sqlite";
const JOBS: [Job; 10] = [
    ("start-up", "sqlgauge", &["--version"]),
    (
        "score 200 right and 200 wrong answers",
        "sqlgauge",
        &[
            "score",
            "--jobs",
            "1",
            "--metrics",
            "ex",
            "--gold",
            "work.json",
            "--db",
            "benchmark/database",
            "--pred",
            "right=right.jsonl",
            "--pred",
            "wrong=wrong.jsonl",
            "--out",
            "work",
        ],
    ),
    ("report", "sqlgauge", &["report", "work", "--format", "html", "--out", "work.html"]),
    ("match", "sqlgauge", &["match", "--db", DATABASE, MATCHED[0], MATCHED[1]]),
    ("verify", "sqlgauge", &["verify", "--db", DATABASE, VERIFIED[0], VERIFIED[1]]),
    (
        "evolve",
        "sqlgauge",
        &[
            "evolve",
            "--gold",
            "benchmark/questions.json",
            "--db",
            "benchmark/database",
            "--kinds",
            "rename-columns",
            "--out",
            "evolved-again",
        ],
    ),
    (
        "estimate",
        "sqlgauge",
        &[
            "estimate",
            "--known",
            "labelled",
            "--questions",
            "work.json",
            "--db",
            "benchmark/database",
            "--pred",
            "wrong=wrong.jsonl",
            "--out",
            "estimate-again",
        ],
    ),
    ("audit", "sqlgauge", &["audit", "--gold", "benchmark/questions.json", "--db", "benchmark/database"]),
    ("synth", "sqlgauge", &["synth", "--db", "benchmark/database", "--count", "20", "--out", "synth"]),
    ("reward", "examples/batch", &["sqlgauge-worker", "benchmark/database", "work.json", "wrong.jsonl"]),
];

/// Counts the instructions of all jobs and prints them beside their limits.
///
/// # Errors
/// If a job fails, or takes more than it may.
pub(crate) fn check() -> Result<()> {
    let table = limits::table(TABLE)?;
    let limits = limits::limits(&table, SECTION, |count| count * MARGIN / 100)?;
    limits::compare(&counts()?, &limits, TABLE, SECTION)
}

/// Writes what all jobs take now.
pub(crate) fn write() -> Result<()> {
    limits::write(TABLE, &counts()?)
}

fn counts() -> Result<Vec<(String, usize)>> {
    cargo(&["build", "--quiet", "--bin", "sqlgauge", "--bin", "sqlgauge-worker", "--example", "batch"])?;
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
    let programs = root().join(target).join("debug");
    let folder = programs.join("work");
    let _absent = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder)?;
    let status =
        Command::new(programs.join("sqlgauge")).args(["demo", "--out", "."]).current_dir(&folder).output();
    let output = status.context("the program cannot be started")?;
    ensure!(output.status.success(), "the tour failed: {}", String::from_utf8_lossy(&output.stderr));
    prepare(&folder)?;
    std::os::unix::fs::symlink(programs.join("sqlgauge-worker"), folder.join("sqlgauge-worker"))?;
    let counted = |(name, program, arguments): &Job| {
        Ok(((*name).to_owned(), instructions(&programs.join(program), arguments, &folder)?))
    };
    JOBS.iter().map(counted).collect()
}

/// Writes questions of the sample, and two systems that answer them: one with the golds, one with the golds of other questions.
fn prepare(folder: &Path) -> Result<()> {
    let text = std::fs::read_to_string(folder.join("benchmark/questions.json"))?;
    let questions: Vec<Value> = serde_json::from_str(&text)?;
    let (mut asked_again, mut right, mut wrong) = (Vec::new(), String::new(), String::new());
    for number in 0..ANSWERS {
        let at = number % questions.len();
        let mut question = questions[at].clone();
        let id = format!("{number}");
        question["id"] = json!(id);
        let others = questions.iter().cycle().skip(at + 1).take(questions.len());
        let other = others.clone().find(|other| other["db_id"] == question["db_id"]);
        let other = other.context("the sample has no other question of a database")?;
        right.push_str(&format!("{}\n", json!({"id": id, "sql": question["gold"]})));
        wrong.push_str(&format!("{}\n", json!({"id": id, "sql": other["gold"]})));
        asked_again.push(question);
    }
    std::fs::write(folder.join("work.json"), serde_json::to_string(&asked_again)?)?;
    std::fs::write(folder.join("right.jsonl"), right)?;
    Ok(std::fs::write(folder.join("wrong.jsonl"), wrong)?)
}

/// Millions of instructions of a command.
fn instructions(program: &Path, arguments: &[&str], folder: &Path) -> Result<usize> {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(program)
        .args(arguments)
        .env("RAYON_NUM_THREADS", "1")
        .current_dir(folder)
        .output()
        .context("valgrind cannot be started; apt-get install valgrind")?;
    let message = String::from_utf8_lossy(&output.stderr);
    // Two queries that differ end `verify` with 1.
    ensure!(
        matches!(output.status.code(), Some(0 | 1)),
        "{} {arguments:?} failed: {message}",
        program.display()
    );
    let count = message
        .split_once("Collected :")
        .and_then(|(_, rest)| rest.split_whitespace().next()?.parse::<usize>().ok());
    Ok(count.with_context(|| format!("valgrind counted nothing: {message}"))? / 1_000_000)
}
