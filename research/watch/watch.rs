//! How often does `monitor` ring without a change, and how soon after one?
//!
//! Reads two logs of `monitor --log`: answers before a change, and after it. Batches are drawn from them with replacement: a year of 52
//! batches of the first for false alarms, eight of the first and then the second for delays. Prints one row per size of a batch.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Parser;
use serde::Deserialize;
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
}

/// Batches of a year, and before a change.
const YEAR: usize = 52;
const BEFORE: usize = 8;

#[derive(Deserialize)]
struct Line {
    answers: BTreeMap<String, Vec<(u16, u8)>>,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let (before, after) = (answers(&arguments.before)?, answers(&arguments.after)?);
    let mut random = Random::new([arguments.seed]);
    println!("size\tfalse alarms a year\tmedian delay\tworst tenth\tnever in a year");
    for size in [25, 50, 100, 200] {
        let mut draw = |from: &[AnswerValue]| -> BatchAnswers {
            let batch: Vec<AnswerValue> = (0..size).filter_map(|_| random.pick(from).cloned()).collect();
            BatchAnswers::of(&batch)
        };
        let bound = (YEAR * size) as f64;
        let mut alarms = 0;
        let mut delays = Vec::new();
        for _ in 0..arguments.series {
            let year: Vec<_> = (0..=YEAR).map(|_| draw(&before)).collect();
            alarms += changes(&year, bound).len();
            let changed: Vec<_> =
                (0..BEFORE + YEAR).map(|at| draw(if at < BEFORE { &before } else { &after })).collect();
            let first = changes(&changed, bound).into_iter().find(|(at, _)| *at >= BEFORE);
            delays.push(first.map_or(YEAR + 1, |(at, _)| at - BEFORE + 1));
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
