//! How often does `monitor` ring without a change, and how soon after one?
//!
//! Reads two logs of `monitor --log`: answers before a change, and after it. Batches are drawn from them with replacement: eight of the
//! first, and then a year of 52 of the first for false alarms, or of the second for delays. Prints one row per size of a batch.
//! `--series-out` has the first series for `peers.py`, which reads them with the defaults of other tools.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Parser;
use serde::Deserialize;
use serde_json::{Value, json};
use sqlgauge_base::Random;
use sqlgauge_estimate::watch::{AnswerValue, BatchAnswers, changes};

/// Count false alarms of `monitor`, and batches until it rings
#[derive(Parser)]
struct Arguments {
    /// Log of answers before the change
    #[arg(long)]
    before: PathBuf,
    /// Log of answers after it
    #[arg(long)]
    after: PathBuf,
    /// Series per row
    #[arg(long, default_value_t = 200)]
    series: usize,
    /// Seed of all draws
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// File for the first series of each row, with the batches that rang
    #[arg(long)]
    series_out: Option<PathBuf>,
}

/// Batches of a year, and before a change.
const YEAR: usize = 52;
const BEFORE: usize = 8;
/// Series of a row that are written.
const WRITTEN: usize = 100;

#[derive(Deserialize)]
struct Line {
    answers: BTreeMap<String, Vec<(u16, u8)>>,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let (before, after) = (answers(&arguments.before)?, answers(&arguments.after)?);
    let file = |path: &PathBuf| File::create(path).with_context(|| path.display().to_string());
    let mut out = arguments.series_out.as_ref().map(file).transpose()?.map(BufWriter::new);
    let mut random = Random::new([arguments.seed]);
    println!("size\tfalse alarms a year\tmedian delay\tworst tenth\tnever in a year");
    for size in [25, 50, 100, 200] {
        let mut alarms = 0;
        let mut delays = Vec::new();
        for series in 0..arguments.series {
            for (is_changed, second) in [(false, &before), (true, &after)] {
                let batches = drawn([&before, second], size, &mut random);
                let rings = rings(&batches, size);
                if let Some(out) = out.as_mut().filter(|_| series < WRITTEN) {
                    writeln!(out, "{}", line(size, is_changed, &rings, &batches))?;
                }
                if is_changed {
                    delays.push(rings.first().map_or(YEAR + 1, |at| at - BEFORE + 1));
                } else {
                    alarms += rings.len();
                }
            }
        }
        delays.sort_unstable();
        let never = delays.iter().filter(|delay| **delay > YEAR).count();
        println!(
            "{size}\t{:.2}\t{}\t{}\t{never}",
            alarms as f64 / arguments.series as f64,
            delays[delays.len() / 2],
            delays[delays.len() * 9 / 10],
        );
    }
    Ok(())
}

/// A line of `--series-out`: the two values of each answer, by batch.
fn line(size: usize, is_changed: bool, rings: &[usize], batches: &[Vec<AnswerValue>]) -> Value {
    let values = |batch: &Vec<AnswerValue>| batch.iter().map(|answer| answer.1).collect();
    let batches: Vec<Vec<(u16, u8)>> = batches.iter().map(values).collect();
    json!({"size": size, "before": BEFORE, "changed": is_changed, "rings": rings, "batches": batches})
}

/// Batches of the first answers, and then a year of the second.
fn drawn(answers: [&[AnswerValue]; 2], size: usize, random: &mut Random) -> Vec<Vec<AnswerValue>> {
    let mut batch = |at: usize| {
        let from = answers[usize::from(at >= BEFORE)];
        (0..size).filter_map(|_| random.pick(from).cloned()).collect()
    };
    (0..BEFORE + YEAR).map(&mut batch).collect()
}

/// The batches of the year in which `monitor` rings.
fn rings(batches: &[Vec<AnswerValue>], size: usize) -> Vec<usize> {
    let batches: Vec<BatchAnswers> = batches.iter().map(|batch| BatchAnswers::of(batch)).collect();
    let all = changes(&batches, (YEAR * size) as f64);
    all.into_iter().map(|(at, _)| at).filter(|at| *at >= BEFORE).collect()
}

fn answers(log: &Path) -> Result<Vec<AnswerValue>> {
    let text = std::fs::read_to_string(log).with_context(|| log.display().to_string())?;
    let mut all = Vec::new();
    for line in text.lines() {
        let Line { answers } = serde_json::from_str(line).with_context(|| log.display().to_string())?;
        all.extend(
            answers
                .into_iter()
                .flat_map(|(name, values)| values.into_iter().map(move |value| (name.clone(), value))),
        );
    }
    Ok(all)
}
