//! `sqlgauge robustness`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use sqlgauge::{ScoreJob, keep_inputs, keep_run, metrics_of, recorded_now};
use sqlgauge_dataset::{
    BenchmarkSource, Columns, Format, PredictionOptions, Role, load_benchmark, load_predictions,
};
use sqlgauge_engine::{Engine, Moment};
use sqlgauge_evolve::Scope;
use sqlgauge_robustness::report::{FILES, RobustnessReport, table};
use sqlgauge_robustness::{
    Abstentions, Evolved, METRICS, Original, OutOfScopeAnswers, Scored, find, measure,
};
use sqlgauge_run::{Input, Items, Manifest, RunFiles, digest_inputs, read_manifest};

use crate::Verdict;
use crate::engine::engine;
use crate::options::{LimitOptions, SystemFile, column_help, columns, format, system_file, systems};
use crate::output::{colour, command_line, note, print, print_json, print_painted, say, width};
use crate::scoring::score;
use crate::stdin::source;

/// Compare systems on a benchmark and on its evolved schemas: the tables of EvoSchema with intervals and paired tests
#[derive(Debug, Args)]
pub struct RobustnessCommand {
    /// Run of the original benchmark (`sqlgauge score --metrics ex,table-f1,column-f1`) with the same systems
    #[arg(long, value_name = "DIR")]
    original: PathBuf,
    /// Folder that `sqlgauge evolve` wrote; may be given several times, as for several intensities
    #[arg(long, value_name = "DIR", required = true)]
    evolved: Vec<PathBuf>,
    /// Folder with the predictions of a system: a file per benchmark, as in DIR/rename-columns.jsonl; with several --evolved
    /// DIR/EVOLVED/rename-columns.jsonl. May be given several times
    #[arg(long = "pred", value_name = "NAME=DIR", required = true, value_parser = system_file)]
    predictions: Vec<SystemFile>,
    /// Folder to write: runs of all benchmarks, report.html, report.md, robustness.json, .jsonl, .csv, junit.xml
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Exit with code 1 if a system loses more execution accuracy than this under a change, from 0 to 1
    #[arg(long, value_name = "X")]
    max_drop: Option<f64>,
    /// Take the SQL out of the chatter of an LLM (code fences, explanations); abstentions are recognised in it then
    #[arg(long)]
    extract_sql: bool,
    /// Worker threads; 0 means one per core
    #[arg(long, short, value_name = "N", default_value_t = 0)]
    jobs: usize,
    /// Format of the prediction files, where detection is wrong
    #[arg(long, value_name = "FORMAT", value_parser = format())]
    pred_format: Option<Format>,
    #[arg(long = "column", value_name = "ROLE=COLUMN", help = column_help([Role::Id, Role::Database, Role::Prediction].into_iter()))]
    columns: Vec<String>,
    /// Print the comparison as JSON, as robustness.json has it
    #[arg(long, conflicts_with = "quiet")]
    json: bool,
    /// Print nothing but errors
    #[arg(long, short)]
    quiet: bool,
    #[command(flatten)]
    limits: LimitOptions,
}

/// An evolved benchmark and where the predictions on it are.
struct Benchmark {
    evolved: Evolved,
    /// Name in the output, unique.
    name: String,
    systems: Vec<SystemFile>,
}

impl RobustnessCommand {
    pub fn run(self) -> Result<Verdict> {
        if let Some(most) = self.max_drop.filter(|most| !(0.0..=1.0).contains(most)) {
            bail!("--max-drop {most} is no share from 0 to 1; 5 points are 0.05");
        }
        keep_run("--out", &self.out)?;
        let names: Vec<String> = self.predictions.iter().map(|file| file.system.clone()).collect();
        let run = RunFiles::open(&self.original)?;
        let now = recorded_now(&run.manifest)?;
        let original = Original::read(&self.original, run.manifest, &run.items, &names)?;
        let benchmarks = self.benchmarks()?;
        let inputs = self.inputs(&benchmarks)?;
        let manifest = self.manifest(names, inputs)?;
        let given = || manifest.inputs.iter().map(|input| (input.role.as_str(), Path::new(&input.path)));
        FILES.iter().try_for_each(|name| keep_inputs("--out", &self.out.join(name), given()))?;

        let mut runs: Vec<(&Evolved, Items)> = Vec::new();
        let mut out_of_scope = Vec::new();
        for benchmark in &benchmarks {
            let evolved = &benchmark.evolved;
            match evolved.scope() {
                Scope::Out => {
                    out_of_scope.push(OutOfScopeAnswers { evolved, systems: self.abstentions(benchmark)? });
                }
                Scope::In if evolved.items.is_empty() => {
                    self.note(&format!("{} has no item", evolved.benchmark().display()));
                }
                Scope::In => runs.push((evolved, self.score(benchmark, now)?)),
            }
        }
        let scored: Vec<Scored<'_>> = runs.iter().map(|(evolved, items)| Scored { evolved, items }).collect();
        let robustness = measure(manifest, &original, &scored, &out_of_scope)?;
        self.finish(&RobustnessReport { robustness, max_drop: self.max_drop })
    }

    fn finish(&self, report: &RobustnessReport) -> Result<Verdict> {
        report.write_to(&self.out)?;
        if self.json {
            print_json(&report.robustness)?;
        } else if !self.quiet {
            print_painted(&table(report, width(), colour()))?;
            print(&format!("Report: {}\n", self.out.join("report.html").display()))?;
        }
        let failures = report.failures().count();
        if failures > 0 {
            say(&format!(
                "{failures} losses are greater than --max-drop {}",
                self.max_drop.unwrap_or_default()
            ));
            return Ok(Verdict::GateFailed);
        }
        Ok(Verdict::Done)
    }

    fn note(&self, text: &str) {
        if !self.quiet {
            note(text);
        }
    }

    /// The evolved benchmarks on which there are predictions. One on which some systems have none is an error.
    fn benchmarks(&self) -> Result<Vec<Benchmark>> {
        let mut benchmarks: Vec<Benchmark> = Vec::new();
        for folder in &self.evolved {
            let several = self.evolved.len() > 1;
            let of = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
            for evolved in find(folder)? {
                let within = if several { PathBuf::from(&of) } else { PathBuf::new() };
                let found: Vec<Option<PathBuf>> = self
                    .predictions
                    .iter()
                    .map(|system| file_named(&system.path.join(&within), &evolved.label))
                    .collect::<Result<_>>()?;
                if found.iter().all(Option::is_none) {
                    self.note(&format!(
                        "{}: no system has predictions on it (DIR/{}.jsonl), so it is left out",
                        evolved.path.display(),
                        within.join(&evolved.label).display()
                    ));
                    continue;
                }
                let name =
                    within.join(&evolved.label).to_string_lossy().replace(std::path::MAIN_SEPARATOR, "-");
                ensure!(
                    benchmarks.iter().all(|known| known.name != name),
                    "two evolved benchmarks are called {name:?}; give each --evolved folder its own name"
                );
                let system = |(system, path): (&SystemFile, Option<PathBuf>)| {
                    let path = path.with_context(|| {
                        format!(
                            "{}={} has no predictions on {} ({}.jsonl or the like), and another system has",
                            system.system,
                            system.path.display(),
                            evolved.path.display(),
                            within.join(&evolved.label).display()
                        )
                    })?;
                    Ok(SystemFile { system: system.system.clone(), path })
                };
                let systems = self.predictions.iter().zip(found).map(system).collect::<Result<_>>()?;
                benchmarks.push(Benchmark { evolved, name, systems });
            }
        }
        ensure!(!benchmarks.is_empty(), "no system has predictions on any evolved benchmark; check --pred");
        Ok(benchmarks)
    }

    fn prediction_options(&self) -> Result<PredictionOptions> {
        Ok(PredictionOptions {
            format: self.pred_format,
            columns: columns(&self.columns)?,
            extract: self.extract_sql,
            only_sql: true,
        })
    }

    /// Scores the systems on a benchmark, or goes on with it; gives the items.
    fn score(&self, benchmark: &Benchmark, now: Option<Moment>) -> Result<Items> {
        let out = self.out.join("runs").join(&benchmark.name);
        let evolved = &benchmark.evolved;
        let (gold, systems) =
            (source(evolved.benchmark()), systems(benchmark.systems.clone(), &columns(&self.columns)?));
        let job = ScoreJob {
            prediction_format: self.pred_format,
            extract: self.extract_sql,
            limits: self.limits.limits()?,
            now,
            jobs: self.jobs,
            command: command_line(),
            ..ScoreJob::new(gold, evolved.databases(), systems, metrics_of(METRICS)?, out.clone())
        };
        self.note(&format!("scoring on {}", benchmark.name));
        let report = score(&job, self.quiet).with_context(|| format!("the run in {}", out.display()))?;
        Ok(report.items)
    }

    /// On how many questions each system abstains.
    fn abstentions(&self, benchmark: &Benchmark) -> Result<Vec<Abstentions>> {
        let gold = benchmark.evolved.benchmark();
        if benchmark.evolved.items.is_empty() {
            return Ok(vec![Abstentions::default(); benchmark.systems.len()]);
        }
        let source = BenchmarkSource { gold, columns: Columns::default(), ..BenchmarkSource::default() };
        let questions = load_benchmark(&source)?;
        let options = self.prediction_options()?;
        let count = |file: &SystemFile| {
            let set = load_predictions(&file.system, &file.path, &questions, &options)?;
            Ok(Abstentions::of(&set))
        };
        benchmark.systems.iter().map(count).collect()
    }

    /// What the comparison was made of.
    fn inputs(&self, benchmarks: &[Benchmark]) -> Result<Vec<Input>> {
        let mut files: Vec<(String, PathBuf)> =
            ["run.json", "items.jsonl"].map(|name| ("original".to_owned(), self.original.join(name))).into();
        for benchmark in benchmarks {
            files.push((format!("evolved:{}", benchmark.name), benchmark.evolved.benchmark()));
            files.extend(
                benchmark.systems.iter().map(|file| {
                    (format!("predictions:{}:{}", file.system, benchmark.name), file.path.clone())
                }),
            );
        }
        Ok(digest_inputs(&files)?)
    }

    fn manifest(&self, systems: Vec<String>, inputs: Vec<Input>) -> Result<Manifest> {
        let extraction = if self.extract_sql { sqlgauge_dataset::EXTRACTION.into() } else { false.into() };
        let options = BTreeMap::from([
            ("extract_sql".to_owned(), extraction),
            ("max_drop".to_owned(), self.max_drop.into()),
        ]);
        Ok(Manifest {
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
            engine: engine(self.limits.limits()?)?.name_and_version(),
            command: command_line(),
            metrics: METRICS.map(str::to_owned).into(),
            systems,
            inputs,
            options,
            examples: read_manifest(&self.original)?.examples,
        })
    }
}

/// The file in the folder that is called so, whatever its extension.
fn file_named(folder: &Path, name: &str) -> Result<Option<PathBuf>> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Ok(None) };
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let mut found: Vec<PathBuf> = paths
        .filter(|path| path.is_file() && path.file_stem().is_some_and(|stem| stem.to_string_lossy() == name))
        .collect();
    found.sort_unstable();
    if let [one, other, ..] = found.as_slice() {
        bail!(
            "{} and {} are both predictions on {name}; keep one of them there",
            one.display(),
            other.display()
        );
    }
    Ok(found.pop())
}
