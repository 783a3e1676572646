//! How far each estimator is off: part of the labels of scored runs is hidden, and the estimates are compared with them.
//!
//! ```sh
//! cargo xtask research bench-estimators --runs spider bird --protocol leave-dataset-out --out bench
//! ```

use std::collections::{BTreeSet, HashMap};
use std::io;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use clap::{Args, Parser, ValueEnum};
use serde_json::{Value, json};
use sqlgauge_base::file::write_atomically;
use sqlgauge_base::without_secrets;
use sqlgauge_core::{WORKER_ARGUMENT, keep_run, sentence};
use sqlgauge_dataset::Databases;
use sqlgauge_engine::{Engine, Limits, Moment, SqliteEngine, WorkerCommand};
use sqlgauge_estimate::EstimateOptions;
use sqlgauge_estimate::estimators::{self, Estimator, Fusion, FusionOptions};
use sqlgauge_report::charts::{AccuracyPoint, MethodRow, mae_by_method, predicted_against_true};
use sqlgauge_research::bench::{
    BenchOptions, BenchRun, FamiliesReport, PeerAvailability, Protocol, Results, RowsFile, SeededTrial,
    by_method, by_system, markdown, peer_transfers, run, transfers, trials,
};
use sqlgauge_shift::{DescriptorSet, Slices};

/// What is left out.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum HeldOut {
    /// Known is one run, the target another
    #[value(name = "leave-dataset-out")]
    Dataset,
    /// One system's labels on one run are unknown, all others are known
    #[value(name = "leave-model-out")]
    Model,
    /// Some databases of a run are known, the target is the others
    #[value(name = "leave-databases-out")]
    Databases,
    /// One system alone: its answers to most databases are known, the target is a group of hard, easy or any databases
    #[value(name = "leave-groups-out")]
    Groups,
    /// One system on the other runs, alone and beside other families' answers, judged by what other families show
    #[value(name = "leave-family-out")]
    Families,
}

/// Whose unlabelled answers to the target are there.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum PeerAnswers {
    /// Only the system's own
    None,
    /// Those of all systems of the run
    All,
}

/// The parts of `fusion` that are compared.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Ablated {
    /// Largest sample set (Figure 5)
    Sizes,
    /// Regressors and numbers of sample sets (Figure 6)
    Regressors,
    /// Directions of the sliced distance (Figure 11, Table V)
    Slices,
    /// Descriptors alone and together, with and without the Euclidean distance (section IV-B)
    Descriptors,
}

/// Benchmark estimators: hide part of the labels, compare the estimates with them
#[derive(Debug, Parser)]
struct BenchEstimators {
    /// Run directories, one per dataset, each with the answers of several systems
    #[arg(long, value_name = "DIR", required = true, num_args = 1..)]
    runs: Vec<PathBuf>,
    /// The part to leave out
    #[arg(long, value_enum)]
    protocol: HeldOut,
    /// Systems of one family, separated by commas (leave-family-out); others are families of their own
    #[arg(long = "family", value_name = "NAME=SYSTEMS")]
    families: Vec<String>,
    /// Methods, separated by commas; all by default
    #[arg(long, value_name = "IDS", value_delimiter = ',')]
    methods: Vec<String>,
    /// Systems to ask about; all that the protocol allows by default
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    systems: Vec<String>,
    /// Whose unlabelled answers to the target are there
    #[arg(long, value_enum, default_value = "all")]
    peers: PeerAnswers,
    /// Databases that are known (leave-databases-out)
    #[arg(long, value_name = "N", default_value_t = 10)]
    known_databases: usize,
    /// Random splits (leave-databases-out); splits of each system (leave-groups-out)
    #[arg(long, value_name = "N", default_value_t = 5)]
    splits: usize,
    /// Share of the target's answers whose labels are given to methods that ask for some
    #[arg(long, value_name = "SHARE", default_value_t = 0.1)]
    labelled: f64,
    /// Parts of `fusion` to compare, separated by commas: after the methods of --methods, or alone
    #[arg(long, value_enum, value_delimiter = ',')]
    ablate: Vec<Ablated>,
    /// Sample sets that the methods `fusion*` learn from
    #[arg(long, value_name = "N", default_value_t = EstimateOptions::default().sample_sets)]
    sample_sets: usize,
    /// Folder that has databases of runs which are not where they were; may be given several times
    #[arg(long, value_name = "DIR")]
    known_db: Vec<PathBuf>,
    /// Metric that is meant by accuracy; each run's first one of 0 and 1 by default
    #[arg(long, value_name = "ID")]
    metric: Option<String>,
    /// Probability with which intervals are to hold the truth
    #[arg(long, value_name = "P", default_value_t = 0.9)]
    level: f64,
    /// Seed of everything random
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Repeat everything with so many seeds, from --seed on; the tables say how much errors vary between them
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=100))]
    seeds: u8,
    /// Folder for results.json, results.md and report.html. Estimates stand in its rows.jsonl as they come; called again with it,
    /// the bench continues
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Show no progress
    #[arg(long, short)]
    quiet: bool,
    #[command(flatten)]
    limits: LimitOptions,
    /// Date, or date and time of UTC, that queries take for now [default: when the run began]
    #[arg(long, value_name = "TIME", value_parser = |text: &str| text.parse::<Moment>())]
    now: Option<Moment>,
}

/// The limits of a query.
#[derive(Debug, Args)]
#[command(next_help_heading = "Limits")]
struct LimitOptions {
    /// Seconds that one query may take
    #[arg(long, value_name = "SECONDS", default_value_t = 30.0)]
    timeout: f64,
    /// Rows that one result may have
    #[arg(long, value_name = "N", default_value_t = Limits::default().max_rows)]
    max_rows: usize,
    /// Bytes that one result may have
    #[arg(long, value_name = "N", default_value_t = Limits::default().max_bytes)]
    max_bytes: usize,
    /// Bytes of memory that SQLite may use for one query
    #[arg(long, value_name = "N", default_value_t = Limits::default().max_heap_bytes)]
    max_heap: u64,
}

impl LimitOptions {
    fn limits(&self) -> Result<Limits> {
        let timeout = Duration::try_from_secs_f64(self.timeout).ok().filter(|time| !time.is_zero());
        let timeout =
            timeout.with_context(|| format!("--timeout {} is not a positive time", self.timeout))?;
        let Self { max_rows, max_bytes, max_heap, .. } = *self;
        Ok(Limits { timeout, max_rows, max_bytes, max_heap_bytes: max_heap, ..Limits::default() })
    }
}

fn main() -> ExitCode {
    if std::env::args().skip(1).eq([WORKER_ARGUMENT]) {
        return sqlgauge_engine::serve_queries();
    }
    match BenchEstimators::parse().run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {}", sentence(error.as_ref()));
            ExitCode::from(2)
        }
    }
}

impl BenchEstimators {
    fn run(self) -> Result<()> {
        if !(0.5..1.0).contains(&self.level) || !(0.0..1.0).contains(&self.labelled) {
            bail!("--level is from 0.5 to below 1, and --labelled from 0 to below 1");
        }
        keep_run(&self.out)?;
        std::fs::create_dir_all(&self.out)
            .with_context(|| format!("{} cannot be made; choose another --out", self.out.display()))?;
        let worker = WorkerCommand::new(std::env::current_exe()?).argument(WORKER_ARGUMENT);
        let now = self.now.unwrap_or_else(Moment::now);
        let engine: Arc<dyn Engine> =
            Arc::new(SqliteEngine::with_workers(self.limits.limits()?, worker)?.at(now));
        let read = |path: &PathBuf| BenchRun::read(path.clone(), self.metric.as_deref());
        let runs = self.runs.iter().map(read).collect::<Result<Vec<_>, _>>()?;
        let Some((protocol, peers)) = self.protocol() else {
            return self.leave_families_out(&runs, engine.as_ref());
        };
        let wanted: BTreeSet<String> = self.systems.iter().cloned().collect();
        let names: BTreeSet<String> = runs.iter().flat_map(BenchRun::systems).collect();
        if let Some(stranger) = wanted.difference(&names).next() {
            let list = names.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
            bail!("--systems {stranger}: no run has a system of that name; they have {list}");
        }
        let ablated: Vec<(String, Box<dyn Estimator>)> =
            self.ablate.iter().flat_map(|part| part.methods()).collect();
        let mut methods: Vec<(String, &dyn Estimator)> = Vec::new();
        if ablated.is_empty() || !self.methods.is_empty() {
            methods.extend(self.methods()?);
        }
        methods.extend(ablated.iter().map(|(name, method)| (name.clone(), method.as_ref())));
        let options = BenchOptions {
            methods,
            estimate: EstimateOptions {
                level: self.level,
                sample_sets: self.sample_sets,
                ..EstimateOptions::default()
            },
            labelled: self.labelled,
            databases: self.known_db.iter().map(|path| Databases::open(path)).collect::<Result<_, _>>()?,
        };
        let mut rows = RowsFile::open(&self.out.join("rows.jsonl"), &self.settings())?;
        let seeds = (0..self.seeds).map(|at| self.seed.wrapping_add(u64::from(at)));
        let trials = SeededTrial::of(seeds, |seed| trials(&runs, protocol, peers, &wanted, seed));
        if trials.is_empty() {
            bail!(
                "the runs give no trial of this protocol: check --systems, --known-databases and the systems of the runs"
            );
        }
        let progress = |done: usize| {
            if !self.quiet {
                eprintln!("{done} of {} trials", trials.len());
            }
        };
        let all = run(&runs, &trials, engine.as_ref(), &options, &mut rows, &progress)?;
        self.write(&all)?;
        Ok(())
    }

    /// What an estimate depends on, beside its seed, system and method.
    fn settings(&self) -> Value {
        let peers = matches!(self.peers, PeerAnswers::All);
        let mut runs = self.runs.clone();
        runs.sort();
        json!({
            "runs": runs, "protocol": self.name(), "peers": peers, "known_databases": self.known_databases,
            "splits": self.splits, "labelled": self.labelled, "metric": self.metric, "level": self.level,
            "sample_sets": self.sample_sets,
        })
    }

    fn leave_families_out(&self, runs: &[BenchRun], engine: &dyn Engine) -> Result<()> {
        let mut families: HashMap<&str, &str> = HashMap::new();
        for text in &self.families {
            let (name, systems) = text
                .split_once('=')
                .with_context(|| format!("--family {text}: write a name and its systems, as in llama=a,b"))?;
            families.extend(systems.split(',').map(|system| (system, name)));
        }
        let family = |system: &str| families.get(system).copied().unwrap_or(system).to_owned();
        let databases =
            self.known_db.iter().map(|path| Databases::open(path)).collect::<Result<Vec<_>, _>>()?;
        let options = EstimateOptions { level: self.level, seed: self.seed, ..EstimateOptions::default() };
        let alone = transfers(runs, &family, engine, &databases, options)?;
        let with_peers = match self.peers {
            PeerAnswers::None => Vec::new(),
            PeerAnswers::All => peer_transfers(runs, &family, engine, &databases, options)?,
        };
        let report = FamiliesReport::new(&alone, &with_peers, self.level);
        if report.alone.is_empty() {
            bail!(
                "the runs hold no system of three families with answers to the first run and to another; give more --runs"
            );
        }
        let text = report.markdown();
        let record =
            json!({"command": command_line(), "level": self.level, "seed": self.seed, "report": report});
        self.write_file("results.json", &format!("{}\n", serde_json::to_string_pretty(&record)?))?;
        self.write_file("results.md", &text)?;
        print!("{text}");
        Ok(())
    }

    /// `None` for families, which are judged in a way of their own.
    fn protocol(&self) -> Option<(Protocol, PeerAvailability)> {
        let protocol = match self.protocol {
            HeldOut::Families => return None,
            HeldOut::Dataset => Protocol::LeaveDatasetOut,
            HeldOut::Model => Protocol::LeaveModelOut,
            HeldOut::Groups => Protocol::LeaveGroupsOut { splits: self.splits },
            HeldOut::Databases => {
                Protocol::LeaveDatabasesOut { databases: self.known_databases, splits: self.splits }
            }
        };
        let peers = match self.peers {
            PeerAnswers::None => PeerAvailability::None,
            PeerAnswers::All => PeerAvailability::All,
        };
        Some((protocol, peers))
    }

    fn methods(&self) -> Result<Vec<(String, &'static dyn Estimator)>> {
        if self.methods.is_empty() {
            return Ok(estimators::all().iter().map(|method| (method.id().to_owned(), *method)).collect());
        }
        self.methods.iter().map(|id| Ok((id.clone(), estimators::find(id)?))).collect()
    }

    fn write(&self, results: &Results) -> Result<()> {
        let text = markdown(results, &format!("Estimators: {}", self.name()));
        let record = json!({
            "command": command_line(),
            "protocol": self.name(),
            "level": self.level,
            "seed": self.seed,
            "seeds": self.seeds,
            "labelled": self.labelled,
            "by_method": by_method(&results.rows),
            "by_system": by_system(&results.rows),
            "results": results,
        });
        self.write_file("results.json", &format!("{}\n", serde_json::to_string_pretty(&record)?))?;
        self.write_file("results.md", &text)?;
        self.write_file("report.html", &page(results, &text))?;
        print!("{text}");
        Ok(())
    }

    fn write_file(&self, name: &str, text: &str) -> Result<()> {
        let path = self.out.join(name);
        write_atomically::<io::Error>(&path, |out| out.write_all(text.as_bytes()))
            .with_context(|| format!("{} cannot be written", path.display()))
    }

    fn name(&self) -> String {
        self.protocol.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }
}

impl Ablated {
    /// `fusion` with each choice, by its name in the tables.
    fn methods(self) -> Vec<(String, Box<dyn Estimator>)> {
        let method =
            |(name, options)| -> (String, Box<dyn Estimator>) { (name, Box::new(Fusion { options })) };
        self.choices().into_iter().map(method).collect()
    }

    fn choices(self) -> Vec<(String, FusionOptions)> {
        let default = FusionOptions::DEFAULT;
        match self {
            Self::Sizes => [100, 200, 500, 1000, 2000]
                .map(|largest| (format!("set size ≤ {largest}"), FusionOptions { largest, ..default }))
                .into(),
            // The network on the sets of the options is `fusion`, and SVR learns from 2,000 sets at most.
            Self::Regressors => {
                [("mlp", 2), ("svr", 2), ("knn", 3), ("tree", 3), ("forest", 3), ("boosting", 3)]
                    .into_iter()
                    .flat_map(|(regressor, sizes)| {
                        [300, 3000, 30_000].into_iter().take(sizes).map(move |sets| (regressor, sets))
                    })
                    .map(|(regressor, sets)| {
                        let options = FusionOptions { sets: Some(sets), regressor, ..default };
                        (format!("{sets} sets, {regressor}"), options)
                    })
                    .collect()
            }
            Self::Slices => {
                let random = [8, 16, 32, 64].map(|slices| ("AR-SWD", Slices::Random(slices)));
                let hybrid = [(4, 12), (6, 16), (8, 16), (10, 24), (12, 32)]
                    .map(|(principal, random)| ("HSWD", Slices::Hybrid { principal, random }));
                let choice =
                    |(name, slices)| (format!("{name} ({slices})"), FusionOptions { slices, ..default });
                random.into_iter().chain(hybrid).map(choice).collect()
            }
            Self::Descriptors => DescriptorSet::ALL
                .map(|descriptors| {
                    (format!("descriptors {descriptors}"), FusionOptions { descriptors, ..default })
                })
                .into(),
        }
    }
}

/// The command line, the program's name first.
fn command_line() -> Vec<String> {
    std::env::args_os().map(|word| without_secrets(&word.to_string_lossy()).into_owned()).collect()
}

/// One file with charts and tables.
fn page(results: &Results, text: &str) -> String {
    let points: Vec<AccuracyPoint> = results
        .rows
        .iter()
        .map(|row| AccuracyPoint {
            label: format!("{}, {}, {}", row.system, row.transfer, row.method),
            group: row.method.clone(),
            truth: row.truth,
            accuracy: row.accuracy,
            low: row.low,
            high: row.high,
        })
        .collect();
    let mut html = String::from("<!doctype html><meta charset=\"utf-8\"><title>Estimators</title>");
    html.push_str(
        "<style>body{font:15px sans-serif;max-width:1100px;margin:2em auto}pre{overflow:auto}</style>",
    );
    html.push_str(&predicted_against_true(&points));
    let mut transfers: Vec<String> = Vec::new();
    let lines = by_method(&results.rows);
    lines.iter().for_each(|line| {
        if !transfers.contains(&line.transfer) {
            transfers.push(line.transfer.clone());
        }
    });
    for transfer in transfers {
        let of_transfer = lines.iter().filter(|line| line.transfer == transfer);
        let bars: Vec<MethodRow> = of_transfer
            .map(|line| {
                let [low, high] = line.mae_interval.unwrap_or([line.mae; 2]);
                let emphasised = matches!(line.method.as_str(), "auto" | "signals" | "equivalents");
                MethodRow {
                    method: line.method.clone(),
                    mae: line.mae,
                    low,
                    high,
                    count: line.count,
                    emphasised,
                }
            })
            .collect();
        html.extend(["<h2>", &escaped(&transfer), "</h2>"]);
        html.push_str(&mae_by_method(&bars));
    }
    html.extend(["<pre>", &escaped(text), "</pre>"]);
    html
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
