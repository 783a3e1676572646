//! How often do intervals hold the score that they are about? Answers of real systems with official outcomes, drawn by database and
//! by gold.
//!
//! | protocol | drawn | the truth |
//! |---|---|---|
//! | `halves` | half of the databases, interval from it | the score on the other half, with its interval's error added as squares |
//! | `raw-halves` | the same | the same score, its error not added: a right interval of 95 % holds it in 83 %, one of 90 % in 76 % |
//! | `databases` | so many databases, with replacement | the score on all databases |
//! | `differences` | the same, of two systems | the difference on all databases |
//! | `golds` | golds of one database, with replacement | the score on that database |
//!
//! Prints one row per benchmark, protocol, number of clusters, level and method: coverage and half the mean width, in percent.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Parser;
use serde_json::Value;
use sqlgauge_base::stats::{Interval, normal_quantile, paired_difference, wilson};
use sqlgauge_base::{ClusteredMean, Random};

/// Measure how often plain and clustered intervals hold the truth
#[derive(Parser)]
struct Arguments {
    /// Folder with `spider/`, `bird/`, `bird_platinum/`
    #[arg(long)]
    data: PathBuf,
    /// Draws per system, protocol and number of clusters
    #[arg(long, default_value_t = 200)]
    draws: usize,
    /// Resamples of the bootstrap
    #[arg(long, default_value_t = 400)]
    resamples: usize,
    /// Seed of all draws
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

const LEVELS: [f64; 2] = [0.9, 0.95];
const METHODS: [&str; 4] = ["plain", "bootstrap", "sandwich", "clustered"];
const DATABASES: [usize; 7] = [2, 3, 4, 5, 7, 10, 20];
/// Golds of a database that are enough to draw from.
const LEAST_GOLDS: usize = 20;

/// The questions of a benchmark and the outcomes of its systems.
struct Benchmark {
    name: &'static str,
    databases: Vec<String>,
    golds: Vec<String>,
    systems: Vec<Vec<f64>>,
}

/// Outcomes of one cluster.
type Cluster = Vec<f64>;

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    println!("benchmark\tprotocol\tclusters\tlevel\tmethod\tcoverage\thalf width\tdraws");
    for benchmark in [spider(&arguments.data)?, bird(&arguments.data)?, platinum(&arguments.data)?] {
        let by_database: Vec<Vec<Cluster>> =
            benchmark.systems.iter().map(|outcomes| clusters(outcomes, &benchmark.databases)).collect();
        halves(&benchmark, &by_database, &arguments);
        for count in DATABASES.into_iter().filter(|count| *count <= by_database[0].len()) {
            databases(&benchmark, &by_database, count, &arguments);
            differences(&benchmark, count, &arguments);
        }
        golds(&benchmark, &arguments);
    }
    Ok(())
}

/// Coverage and width by level and method.
#[derive(Default)]
struct Tally(BTreeMap<(usize, usize), (usize, usize, f64)>);

impl Tally {
    fn add(&mut self, level: usize, method: usize, interval: Interval, holds: bool) {
        let (hits, draws, width) = self.0.entry((level, method)).or_default();
        *hits += usize::from(holds);
        *draws += 1;
        *width += (interval.high.min(1.0) - interval.low.max(-1.0)) / 2.0;
    }

    fn print(&self, benchmark: &str, protocol: &str, clusters: usize) {
        for ((level, method), (hits, draws, width)) in &self.0 {
            let share = |part: f64| 100.0 * part / *draws as f64;
            println!(
                "{benchmark}\t{protocol}\t{clusters}\t{:.0}\t{}\t{:.1}\t{:.1}\t{draws}",
                100.0 * LEVELS[*level],
                METHODS[*method],
                share(*hits as f64),
                share(*width)
            );
        }
    }
}

fn halves(benchmark: &Benchmark, systems: &[Vec<Cluster>], arguments: &Arguments) {
    let (mut raw, mut added) = (Tally::default(), Tally::default());
    let half = systems[0].len() / 2;
    for (at, clusters) in systems.iter().enumerate() {
        let mut random = Random::new([arguments.seed, 0, at as u64]);
        for _ in 0..arguments.draws {
            let mut order: Vec<&Cluster> = clusters.iter().collect();
            random.shuffle(&mut order);
            let (first, second) = order.split_at(half);
            let (here, there) = (mean(first), mean(second));
            for (level, of) in LEVELS.into_iter().enumerate() {
                let [one, other] =
                    [first, second].map(|part| intervals(part, of, arguments.resamples, &mut random));
                for (method, (interval, other)) in one.into_iter().zip(other).enumerate() {
                    raw.add(level, method, interval, holds(interval, there));
                    // The distances of the ends that face each other (G. Y. Zou and A. Donner, 2008).
                    let reach = if there >= here {
                        (interval.high - here).hypot(there - other.low)
                    } else {
                        (here - interval.low).hypot(other.high - there)
                    };
                    added.add(level, method, interval, (there - here).abs() <= reach + f64::EPSILON);
                }
            }
        }
    }
    raw.print(benchmark.name, "raw-halves", half);
    added.print(benchmark.name, "halves", half);
}

fn databases(benchmark: &Benchmark, systems: &[Vec<Cluster>], count: usize, arguments: &Arguments) {
    let mut tally = Tally::default();
    for (at, clusters) in systems.iter().enumerate() {
        let truth = mean(&clusters.iter().collect::<Vec<_>>());
        let mut random = Random::new([arguments.seed, 1, at as u64, count as u64]);
        for _ in 0..arguments.draws {
            let drawn: Vec<&Cluster> = (0..count).filter_map(|_| random.pick(clusters)).collect();
            cover(&mut tally, &drawn, truth, arguments.resamples, &mut random);
        }
    }
    tally.print(benchmark.name, "databases", count);
}

fn golds(benchmark: &Benchmark, arguments: &Arguments) {
    let mut tally = Tally::default();
    let mut sizes = Vec::new();
    for (at, outcomes) in benchmark.systems.iter().enumerate() {
        let mut names = benchmark.databases.clone();
        names.sort_unstable();
        names.dedup();
        for (place, name) in names.iter().enumerate() {
            let here = |question: &usize| benchmark.databases[*question] == *name;
            let rows: Vec<usize> = (0..outcomes.len()).filter(here).collect();
            let values: Vec<f64> = rows.iter().map(|row| outcomes[*row]).collect();
            let keys: Vec<String> = rows.iter().map(|row| benchmark.golds[*row].clone()).collect();
            let clusters = clusters(&values, &keys);
            if clusters.len() < LEAST_GOLDS {
                continue;
            }
            sizes.push(clusters.len());
            let truth = values.iter().sum::<f64>() / values.len() as f64;
            let mut random = Random::new([arguments.seed, 2, at as u64, place as u64]);
            for _ in 0..arguments.draws.div_ceil(10) {
                let drawn: Vec<&Cluster> =
                    (0..clusters.len()).filter_map(|_| random.pick(&clusters)).collect();
                cover(&mut tally, &drawn, truth, arguments.resamples, &mut random);
            }
        }
    }
    sizes.sort_unstable();
    tally.print(benchmark.name, "golds", sizes.get(sizes.len() / 2).copied().unwrap_or_default());
}

fn cover(tally: &mut Tally, drawn: &[&Cluster], truth: f64, resamples: usize, random: &mut Random) {
    for (level, of) in LEVELS.into_iter().enumerate() {
        for (method, interval) in intervals(drawn, of, resamples, random).into_iter().enumerate() {
            tally.add(level, method, interval, holds(interval, truth));
        }
    }
}

/// Every system against the next one: the plain interval of a paired difference, and the clustered one.
fn differences(benchmark: &Benchmark, count: usize, arguments: &Arguments) {
    let mut tally = Tally::default();
    for (at, pair) in benchmark.systems.windows(2).enumerate() {
        let of_items: Vec<f64> = pair[0].iter().zip(&pair[1]).map(|(first, second)| first - second).collect();
        let clusters = clusters(&of_items, &benchmark.databases);
        let truth = mean(&clusters.iter().collect::<Vec<_>>());
        let mut random = Random::new([arguments.seed, 3, at as u64, count as u64]);
        for _ in 0..arguments.draws {
            let drawn: Vec<&Cluster> = (0..count).filter_map(|_| random.pick(&clusters)).collect();
            let values = || drawn.iter().copied().flatten();
            let moved = |is: fn(f64) -> bool| values().filter(|value| is(**value)).count() as u64;
            let (first, second) = (moved(|value| value > 0.0), moved(|value| value < 0.0));
            let Some(clustered) = clustered(&drawn) else { continue };
            for (level, of) in LEVELS.into_iter().enumerate() {
                let plain = paired_difference(first, second, values().count() as u64, of);
                let robust = hull(clustered.around(of), plain);
                tally.add(level, 0, plain, holds(plain, truth));
                tally.add(level, 3, robust, holds(robust, truth));
            }
        }
    }
    tally.print(benchmark.name, "differences", count);
}

/// By method: Wilson's, the percentile bootstrap of clusters, the usual sandwich with a normal quantile, and ours.
fn intervals(clusters: &[&Cluster], level: f64, resamples: usize, random: &mut Random) -> [Interval; 4] {
    let right: f64 = clusters.iter().copied().flatten().sum();
    let count: usize = clusters.iter().map(|cluster| cluster.len()).sum();
    let plain = wilson(right.round() as u64, count as u64, level);
    let share = right / count as f64;
    let off = |cluster: &&Cluster| (cluster.iter().sum::<f64>() - share * cluster.len() as f64).powi(2);
    let error = clusters.iter().map(off).sum::<f64>().sqrt() / count as f64;
    let half = normal_quantile(0.5 + level / 2.0) * error;
    let sandwich = Interval { low: share - half, high: share + half };
    let clustered = clustered(clusters).map_or(plain, |mean| hull(mean.share(level), plain));
    [plain, bootstrap(clusters, level, resamples, random), sandwich, clustered]
}

fn bootstrap(clusters: &[&Cluster], level: f64, resamples: usize, random: &mut Random) -> Interval {
    let sums: Vec<(f64, f64)> =
        clusters.iter().map(|cluster| (cluster.iter().sum(), cluster.len() as f64)).collect();
    let mut means: Vec<f64> = (0..resamples)
        .map(|_| {
            let drawn = (0..sums.len()).map(|_| sums[random.below(sums.len())]);
            let (sum, count) = drawn.fold((0.0, 0.0), |(sum, count), (s, c)| (sum + s, count + c));
            sum / count
        })
        .collect();
    means.sort_unstable_by(f64::total_cmp);
    let at = |share: f64| means[((share * resamples as f64) as usize).min(resamples - 1)];
    Interval { low: at((1.0 - level) / 2.0), high: at(f64::midpoint(1.0, level)) }
}

fn clustered(clusters: &[&Cluster]) -> Option<ClusteredMean> {
    let values = clusters.iter().enumerate();
    ClusteredMean::of(values.flat_map(|(at, cluster)| cluster.iter().map(move |value| (at, *value))))
}

fn hull(one: Interval, other: Interval) -> Interval {
    Interval { low: one.low.min(other.low), high: one.high.max(other.high) }
}

fn holds(interval: Interval, truth: f64) -> bool {
    // The sandwich of equal clusters has no width, and sums differ in the last digit.
    interval.low - 1e-12 <= truth && truth <= interval.high + 1e-12
}

fn mean(clusters: &[&Cluster]) -> f64 {
    let (sum, count) = clusters
        .iter()
        .fold((0.0, 0), |(sum, count), cluster| (sum + cluster.iter().sum::<f64>(), count + cluster.len()));
    sum / count.max(1) as f64
}

fn clusters(outcomes: &[f64], keys: &[String]) -> Vec<Cluster> {
    let mut by_key: BTreeMap<&str, Cluster> = BTreeMap::new();
    for (outcome, key) in outcomes.iter().zip(keys) {
        by_key.entry(key).or_default().push(*outcome);
    }
    by_key.into_values().collect()
}

fn folded(sql: &str) -> String {
    sql.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn read(path: &Path) -> Result<String> {
    std::fs::read_to_string(path).with_context(|| path.display().to_string())
}

fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    let mut files: Vec<PathBuf> = entries.map(|entry| Ok(entry?.path())).collect::<std::io::Result<_>>()?;
    files.sort_unstable();
    Ok(files)
}

fn spider(data: &Path) -> Result<Benchmark> {
    let golds = read(&data.join("spider/dev_gold.sql"))?;
    let rows: Vec<(&str, &str)> = golds.lines().filter_map(|line| line.rsplit_once('\t')).collect();
    let mut systems = Vec::new();
    for file in files(&data.join("spider/oracle/dev"))? {
        let outcome = |line: &str| -> Result<f64> {
            serde_json::from_str::<Value>(line)?["ex"].as_f64().context("no outcome")
        };
        systems.push(read(&file)?.lines().map(outcome).collect::<Result<_>>()?);
    }
    let databases = rows.iter().map(|(_, database)| (*database).to_owned()).collect();
    Ok(Benchmark {
        name: "spider",
        databases,
        golds: rows.iter().map(|(sql, _)| folded(sql)).collect(),
        systems,
    })
}

fn bird(data: &Path) -> Result<Benchmark> {
    let questions: Vec<Value> = serde_json::from_str(&read(&data.join("bird/llm_nl2sql/questions.json"))?)?;
    let gold_of: HashMap<String, String> =
        questions.iter().map(|one| (text(&one["question_id"]), folded(&text(&one["SQL"])))).collect();
    let table = read(&data.join("bird/llm_nl2sql/correct.tsv"))?;
    let mut lines = table.lines().map(|line| line.split('\t').collect::<Vec<_>>());
    let systems = lines.next().context("an empty table")?.len().saturating_sub(3);
    let rows: Vec<Vec<&str>> = lines.collect();
    let outcome = |row: &Vec<&str>, at: usize| row.get(3 + at).and_then(|text| text.parse().ok());
    let outcomes = |at: usize| rows.iter().map(|row| outcome(row, at)).collect::<Option<Vec<f64>>>();
    Ok(Benchmark {
        name: "bird",
        databases: rows.iter().map(|row| row[1].to_owned()).collect(),
        golds: rows.iter().map(|row| gold_of.get(row[0]).cloned().unwrap_or_default()).collect(),
        systems: (0..systems).map(outcomes).collect::<Option<_>>().context("a row without an outcome")?,
    })
}

/// The questions that every file has.
fn platinum(data: &Path) -> Result<Benchmark> {
    let mut reports: Vec<BTreeMap<String, Value>> = Vec::new();
    for file in files(&data.join("bird_platinum"))? {
        let report: Value = serde_json::from_str(&read(&file)?)?;
        let items = report["detailed_results"].as_array().context("no results")?;
        reports.push(items.iter().map(|item| (text(&item["question_id"]), item.clone())).collect());
    }
    let first = reports.first().context("no file")?;
    let is_common = |id: &&String| reports.iter().all(|report| report.contains_key(*id));
    let ids: Vec<&String> = first.keys().filter(is_common).collect();
    let column = |name: &str| -> Vec<String> { ids.iter().map(|id| text(&first[*id][name])).collect() };
    let is_right = |item: &Value| f64::from(u8::from(item["bird_grading"].as_bool() == Some(true)));
    Ok(Benchmark {
        name: "platinum",
        databases: column("db_id"),
        golds: column("ground_truth").iter().map(|sql| folded(sql)).collect(),
        systems: reports.iter().map(|report| ids.iter().map(|id| is_right(&report[*id])).collect()).collect(),
    })
}
