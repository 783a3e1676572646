//! From estimates to the numbers of a table.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sqlgauge_base::stats::{bootstrap_mean, sample_deviation};

use super::run::BenchRow;

/// Resamples of a bootstrap.
const RESAMPLES: usize = 10_000;

/// How good a method was over some estimates. Errors are shares (0.02 is two points).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SummaryLine {
    /// What was known and asked.
    pub transfer: String,
    /// The system; `None` for all of them.
    pub system: Option<String>,
    /// The method.
    pub method: String,
    /// Estimates.
    pub count: usize,
    /// Mean absolute error.
    pub mae: f64,
    /// Its 95 % bootstrap interval over what is estimated (a system in a split, by the mean over seeds); `None` for a
    /// single one.
    pub mae_interval: Option<[f64; 2]>,
    /// Standard deviation of the mean absolute error between seeds; `None` for a single seed.
    pub between_seeds: Option<f64>,
    /// Mean error: above 0 it promises too much.
    pub bias: f64,
    /// Share of intervals that hold the truth.
    pub coverage: f64,
    /// Mean half-width of the intervals, as cut to [0, 1].
    pub half_width: f64,
    /// Pearson correlation of estimate and truth; `None` where one of them does not vary.
    pub pearson: Option<f64>,
    /// Mean seconds.
    pub seconds: f64,
}

impl SummaryLine {
    fn of(rows: &[&BenchRow], system: Option<&str>) -> Option<Self> {
        let first = rows.first()?;
        let count = rows.len() as f64;
        let mean = |of: &dyn Fn(&BenchRow) -> f64| rows.iter().map(|row| of(row)).sum::<f64>() / count;
        let error = |row: &BenchRow| (row.accuracy - row.truth).abs();
        let errors = means_by(rows, |row| (row.system.as_str(), row.split), error);
        let interval = (errors.len() > 1).then(|| bootstrap_mean(&errors, 0.95, RESAMPLES, 0)).flatten();
        Some(Self {
            transfer: first.transfer.clone(),
            system: system.map(str::to_owned),
            method: first.method.clone(),
            count: rows.len(),
            mae: mean(&error),
            mae_interval: interval.map(|interval| [interval.low, interval.high]),
            between_seeds: sample_deviation(&means_by(rows, |row| row.seed, error)),
            bias: mean(&|row| row.accuracy - row.truth),
            coverage: mean(&|row| f64::from(row.low <= row.truth && row.truth <= row.high)),
            half_width: mean(&|row| (row.high - row.low) / 2.0),
            pearson: pearson(rows),
            seconds: mean(&|row| row.seconds),
        })
    }
}

/// The mean of a number over the rows of each key.
fn means_by<'a, K: Ord>(
    rows: &[&'a BenchRow],
    key: impl Fn(&'a BenchRow) -> K,
    of: impl Fn(&BenchRow) -> f64,
) -> Vec<f64> {
    let mut sums: BTreeMap<K, (f64, f64)> = BTreeMap::new();
    for &row in rows {
        let sum = sums.entry(key(row)).or_default();
        *sum = (sum.0 + of(row), sum.1 + 1.0);
    }
    sums.into_values().map(|(sum, count)| sum / count).collect()
}

fn pearson(rows: &[&BenchRow]) -> Option<f64> {
    let count = rows.len() as f64;
    let mean = |of: fn(&BenchRow) -> f64| rows.iter().map(|row| of(row)).sum::<f64>() / count;
    let (x, y) = (mean(|row| row.truth), mean(|row| row.accuracy));
    let sum = |of: &dyn Fn(&BenchRow) -> f64| rows.iter().map(|row| of(row)).sum::<f64>();
    let xy = sum(&|row| (row.truth - x) * (row.accuracy - y));
    let (xx, yy) = (sum(&|row| (row.truth - x).powi(2)), sum(&|row| (row.accuracy - y).powi(2)));
    (xx * yy > 1e-18).then(|| xy / (xx * yy).sqrt())
}

/// By transfer and method, in the order of first appearance.
pub fn by_method(rows: &[BenchRow]) -> Vec<SummaryLine> {
    let mut keys: Vec<(&str, &str)> = Vec::new();
    for row in rows {
        let key = (row.transfer.as_str(), row.method.as_str());
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    keys.sort_by_key(|key| rows.iter().position(|row| row.transfer == key.0));
    let of = |(transfer, method): (&str, &str)| {
        let chosen: Vec<&BenchRow> =
            rows.iter().filter(|row| row.transfer == transfer && row.method == method).collect();
        SummaryLine::of(&chosen, None)
    };
    keys.into_iter().filter_map(of).collect()
}

/// By transfer, method and system: the cells of Tables III and IV.
pub fn by_system(rows: &[BenchRow]) -> Vec<SummaryLine> {
    let mut lines = Vec::new();
    for SummaryLine { transfer, method, .. } in by_method(rows) {
        let mut systems: Vec<&str> =
            rows.iter().filter(|row| row.transfer == transfer).map(|row| row.system.as_str()).collect();
        systems.sort_unstable();
        systems.dedup();
        for system in systems {
            let chosen: Vec<&BenchRow> = rows
                .iter()
                .filter(|row| row.transfer == transfer && row.method == method && row.system == system)
                .collect();
            lines.extend(SummaryLine::of(&chosen, Some(system)));
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(system: &str, truth: f64, accuracy: f64, half: f64) -> BenchRow {
        BenchRow {
            transfer: "A → B".to_owned(),
            split: 0,
            seed: 0,
            system: system.to_owned(),
            method: "m".to_owned(),
            truth,
            accuracy,
            low: accuracy - half,
            high: accuracy + half,
            outside: false,
            distance: None,
            seconds: 2.0,
        }
    }

    #[test]
    fn the_numbers_are_those_worked_out_by_hand() {
        let rows = [row("a", 0.5, 0.6, 0.15), row("b", 0.3, 0.2, 0.05), row("c", 0.4, 0.4, 0.1)];
        let lines = by_method(&rows);
        assert_eq!(lines.len(), 1);
        let line = &lines[0];
        let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-12, "{a} and {b}");
        near(line.mae, 0.2 / 3.0);
        near(line.bias, 0.0);
        near(line.coverage, 2.0 / 3.0);
        near(line.half_width, 0.1);
        // Deviations of truth 0.1, -0.1, 0 and of estimates 0.2, -0.2, 0.
        near(line.pearson.unwrap(), 1.0);
        let [low, high] = line.mae_interval.unwrap();
        assert!(low <= line.mae && line.mae <= high && (0.0..0.11).contains(&low) && high < 0.101);
        let cells = by_system(&rows);
        assert_eq!(cells.iter().map(|cell| cell.count).collect::<Vec<_>>(), [1, 1, 1]);
        assert_eq!((cells[0].mae_interval, cells[0].between_seeds, cells[0].pearson), (None, None, None));
    }

    #[test]
    fn several_seeds_are_no_more_systems() {
        let seeded = |seed, row: BenchRow| BenchRow { seed, ..row };
        let rows = [
            seeded(1, row("a", 0.5, 0.6, 0.1)),
            seeded(2, row("a", 0.5, 0.2, 0.1)),
            seeded(1, row("b", 0.5, 0.4, 0.1)),
            seeded(2, row("b", 0.5, 0.4, 0.1)),
        ];
        let line = &by_method(&rows)[0];
        let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-12, "{a} and {b}");
        near(line.mae, 0.15);
        // The seeds' means are 0.1 and 0.2.
        near(line.between_seeds.unwrap(), 0.1 / 2.0_f64.sqrt());
        // Two systems, with mean errors of 0.2 and 0.1: no resample lies beyond.
        let [low, high] = line.mae_interval.unwrap();
        assert!(low >= 0.1 - 1e-12 && high <= 0.2 + 1e-12);
    }
}
