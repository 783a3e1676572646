//! Time to fit the evaluator on a meta-set as large as the paper's, and the error of every regressor beside those of
//! the mean and of a ridge line.
//!
//! ```sh
//! cargo xtask research evaluator
//! ```
//! The meta-set is made up: sets of 40 heavy-tailed descriptors that follow a few hidden shifts, in 60 groups, with
//! an accuracy that falls with the shifts along a curved function, observed on a few hundred to ten thousand items.
//! `--export` writes it as CSV for other programs, split as here.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result};
use clap::Parser;
use sqlgauge_base::Random;
use sqlgauge_fusion::regressors::{self, Regressor};
use sqlgauge_fusion::{Evaluator, FitOptions, MetaSet, Parts, Rows, fit_parts};

/// Time to fit the evaluator, and its error
#[derive(Debug, Parser)]
struct Arguments {
    /// Sample sets
    #[arg(long, default_value_t = 30_000)]
    sets: usize,
    /// Descriptors per set
    #[arg(long, default_value_t = 40)]
    descriptors: usize,
    /// Seed of the sets and of the fit
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Regressors, separated by commas; all of them without it
    #[arg(long, value_delimiter = ',')]
    regressors: Vec<String>,
    /// Folder for train.csv, validation.csv and test.csv (accuracy first)
    #[arg(long)]
    export: Option<PathBuf>,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let parts = [(0, arguments.sets * 7 / 10), (1, arguments.sets / 10), (2, arguments.sets / 5)]
        .map(|(part, sets)| made_up(sets, arguments.descriptors, arguments.seed * 3 + part));
    let [train, validation, test] = parts;
    let (train, validation, test) = (train?, validation?, test?);
    if let Some(folder) = &arguments.export {
        for (name, part) in [("train", &train), ("validation", &validation), ("test", &test)] {
            export(part, &folder.join(format!("{name}.csv")))?;
        }
    }
    println!("{} sets of {} descriptors", arguments.sets, arguments.descriptors);
    println!(
        "{:<10} {:>8} {:>10} {:>12} {:>9} {:>7}",
        "regressor", "fit s", "predict s", "MAE points", "coverage", "epochs"
    );
    println!("{:<10} {:>8} {:>10} {:>12.3}", "mean", "", "", 100.0 * error_of_mean(&train, &test));
    let parts = Parts { train, validation, calibration: Some(test.select(&even(test.len()))) };
    let held_out = test.select(&odd(test.len()));
    for regressor in chosen(&arguments.regressors)? {
        measure(regressor, &parts, &held_out, arguments.seed)?;
    }
    Ok(())
}

fn chosen(names: &[String]) -> Result<Vec<&'static dyn Regressor>> {
    if names.is_empty() {
        return Ok(regressors::all().to_vec());
    }
    names.iter().map(|name| Ok(regressors::find(name)?)).collect()
}

fn measure(regressor: &dyn Regressor, parts: &Parts, held_out: &MetaSet, seed: u64) -> Result<()> {
    let start = Instant::now();
    let evaluator: Evaluator = fit_parts(parts, &FitOptions { regressor, seed, ..FitOptions::default() })?;
    let fitted = start.elapsed();
    let start = Instant::now();
    let estimates = evaluator.predict(held_out.rows())?;
    let predicted = start.elapsed();
    let errors = estimates.iter().zip(held_out.accuracy()).map(|(estimate, truth)| (estimate - truth).abs());
    let mae = errors.sum::<f64>() / held_out.len() as f64;
    let mut covered = 0;
    for (set, row) in held_out.rows().iter().enumerate().take(500) {
        let estimate = evaluator.estimate(row, held_out.sizes().map(|sizes| sizes[set]), 0.9)?;
        covered += usize::from((estimate.low..=estimate.high).contains(&held_out.accuracy()[set]));
    }
    println!(
        "{:<10} {:>8.2} {:>10.3} {:>12.3} {:>8.1}% {:>7}",
        regressor.id(),
        fitted.as_secs_f64(),
        predicted.as_secs_f64(),
        100.0 * mae,
        100.0 * f64::from(u32::try_from(covered)?) / held_out.len().min(500) as f64,
        evaluator.card().curve.len()
    );
    Ok(())
}

fn error_of_mean(train: &MetaSet, test: &MetaSet) -> f64 {
    let mean = train.accuracy().iter().sum::<f64>() / train.len() as f64;
    test.accuracy().iter().map(|accuracy| (accuracy - mean).abs()).sum::<f64>() / test.len() as f64
}

fn even(count: usize) -> Vec<usize> {
    (0..count).step_by(2).collect()
}

fn odd(count: usize) -> Vec<usize> {
    (1..count).step_by(2).collect()
}

/// Sample sets whose descriptors and accuracy follow four hidden shifts.
fn made_up(sets: usize, width: usize, seed: u64) -> Result<MetaSet> {
    let mut random = Random::new([seed, 0x5eed]);
    // How descriptors depend on the shifts is the same for every part.
    let mut fixed = Random::new([42]);
    let loadings: Vec<[f64; 4]> = (0..width).map(|_| std::array::from_fn(|_| fixed.normals()[0])).collect();
    let (mut values, mut accuracy, mut group, mut sizes) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for set in 0..sets {
        let shift: [f64; 4] = std::array::from_fn(|_| random.normals()[0]);
        let items = 10_f64.powf(2.0 + 2.0 * random.unit()).round();
        for loading in &loadings {
            let along: f64 = loading.iter().zip(&shift).map(|(loading, shift)| loading * shift).sum();
            values.push((0.6 * along + random.normals()[0] / items.sqrt() + 0.1 * random.normals()[0]).exp());
        }
        let curved = 0.8 + 0.9 * (1.5 * shift[0]).sin() - 0.5 * shift[1].powi(2) + 0.6 * shift[2] * shift[3];
        let truth = 1.0 / (1.0 + (-curved).exp());
        let noise = (truth * (1.0 - truth) / items).sqrt() * random.normals()[0];
        accuracy.push((truth + noise).clamp(0.0, 1.0));
        group.push(u32::try_from(set % 60)?);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "100 to 10,000")]
        sizes.push(items as usize);
    }
    let names = (0..width).map(|column| format!("descriptor {column}")).collect();
    Ok(MetaSet::new(names, Rows::new(width, values)?, accuracy, group)?.with_sizes(sizes)?)
}

fn export(part: &MetaSet, path: &Path) -> Result<()> {
    let mut text = String::new();
    for (row, accuracy) in part.rows().iter().zip(part.accuracy()) {
        write!(text, "{accuracy}")?;
        row.iter().try_for_each(|value| write!(text, ",{value}"))?;
        text.push('\n');
    }
    std::fs::write(path, text).with_context(|| format!("{} cannot be written", path.display()))
}
