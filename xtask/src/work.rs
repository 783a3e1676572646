//! `cargo xtask work`: the instructions of small jobs, next to a table of what they took before.
//!
//! # Contract
//! - Each job is one command on the bundled sample, on one thread. Valgrind counts the instructions of the development build.
//! - `xtask/work.tsv` has millions of instructions per job. A job may take 5 % more. Beyond, `docs/explanation/decisions.md` has a
//!   row under "What takes longer" with the new number and the reason.
//! - Numbers are of one compiler (`rust-toolchain.toml`) and one architecture: elsewhere the check does not run.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use crate::{cargo, limits, root};

const TABLE: &str = "xtask/work.tsv";
const SECTION: &str = "## What takes longer";
/// Percent that a job may take more.
const MARGIN: usize = 5;
/// How often a job is counted at most.
const COUNTS: usize = 3;
/// Answers of each system.
const ANSWERS: usize = 200;

const MATCHED: [&str; 2] = [
    "SELECT bike_id FROM bike WHERE bike_id NOT IN (SELECT bike_id FROM repair)",
    "SELECT b.bike_id FROM bike AS b LEFT JOIN repair AS r ON r.bike_id = b.bike_id WHERE r.repair_id IS NULL",
];
const VERIFIED: [&str; 4] = [
    "--left",
    "SELECT bike_id FROM trip WHERE minutes > 30",
    "--right",
    "SELECT bike_id FROM trip WHERE minutes >= 30",
];

/// A job in the folder of the sample's tour.
struct Job {
    name: &'static str,
    program: &'static str,
    /// Its arguments, which stand apart from each other by a space.
    words: &'static str,
    /// Further arguments, which have spaces.
    queries: &'static [&'static str],
    /// How it ends: a job that ends otherwise failed.
    code: i32,
}

const fn sqlgauge(name: &'static str, words: &'static str) -> Job {
    Job { name, program: "sqlgauge", words, queries: &[], code: 0 }
}

const JOBS: [Job; 10] = [
    sqlgauge("start-up", "--version"),
    sqlgauge(
        "score 200 right and 200 wrong answers",
        "score --jobs 1 --metrics ex --gold work.json --db benchmark/database --pred right=right.jsonl --pred wrong=wrong.jsonl --out work",
    ),
    sqlgauge("report", "report work --output-format html --out work.html"),
    Job {
        queries: &MATCHED,
        ..sqlgauge("match", "match --db benchmark/database/bike_rental/bike_rental.sqlite")
    },
    Job {
        queries: &VERIFIED,
        // Two queries that differ.
        code: 1,
        ..sqlgauge("verify", "verify --db benchmark/database/bike_rental/bike_rental.sqlite")
    },
    sqlgauge(
        "evolve",
        "evolve --gold benchmark/questions.json --db benchmark/database --kinds rename-columns --out evolved-again",
    ),
    sqlgauge(
        "estimate",
        "estimate --known labelled --questions work.json --db benchmark/database --pred wrong=wrong.jsonl --out estimate-again",
    ),
    sqlgauge("audit", "audit --gold benchmark/questions.json --db benchmark/database"),
    sqlgauge("synth", "synth --db benchmark/database --count 20 --out synth"),
    Job {
        program: "examples/batch",
        ..sqlgauge("reward", "./sqlgauge-worker benchmark/database work.json wrong.jsonl")
    },
];

/// Counts the instructions of all jobs and prints them beside their limits.
///
/// # Errors
/// If a job fails, or takes more than it may.
pub(crate) fn check() -> Result<()> {
    let table = limits::table(TABLE)?;
    let limits = limits::limits(&table, SECTION, |count| count * MARGIN / 100)?;
    let fits = |name: &str, count| limits.get(name).is_none_or(|limit| count <= *limit);
    limits::compare(&counts(&fits)?, &limits, TABLE, SECTION)
}

/// Writes what all jobs take now.
pub(crate) fn write() -> Result<()> {
    limits::write(TABLE, &counts(&|_, _| true)?)
}

/// Millions of instructions of each job. One that does not fit is counted again: a query that waits for a core runs twice.
fn counts(fits: &dyn Fn(&str, usize) -> bool) -> Result<Vec<(String, usize)>> {
    cargo("build --quiet --bin sqlgauge --bin sqlgauge-worker --example batch")?;
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
    let count = |job: &Job| {
        let mut least = instructions(&programs.join(job.program), job, &folder)?;
        for _ in 1..COUNTS {
            if fits(job.name, least) {
                break;
            }
            least = least.min(instructions(&programs.join(job.program), job, &folder)?);
        }
        Ok((job.name.to_owned(), least))
    };
    JOBS.iter().map(count).collect()
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
        let _infallible = writeln!(right, "{}", json!({"id": id, "sql": question["gold"]}));
        let _infallible = writeln!(wrong, "{}", json!({"id": id, "sql": other["gold"]}));
        asked_again.push(question);
    }
    std::fs::write(folder.join("work.json"), serde_json::to_string(&asked_again)?)?;
    std::fs::write(folder.join("right.jsonl"), right)?;
    Ok(std::fs::write(folder.join("wrong.jsonl"), wrong)?)
}

/// Millions of instructions of a command.
fn instructions(program: &Path, job: &Job, folder: &Path) -> Result<usize> {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(program)
        .args(job.words.split(' '))
        .args(job.queries)
        .env("RAYON_NUM_THREADS", "1")
        .current_dir(folder)
        .output()
        .context("valgrind cannot be started; apt-get install valgrind")?;
    let report = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.code() == Some(job.code), "the job {} failed: {report}", job.name);
    let count = report
        .split_once("Collected :")
        .and_then(|(_, rest)| rest.split_whitespace().next()?.parse::<usize>().ok());
    Ok(count.with_context(|| format!("valgrind counted nothing: {report}"))? / 1_000_000)
}
