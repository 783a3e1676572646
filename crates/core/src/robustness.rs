//! What systems lose under evolved schemas: `sqlgauge robustness`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use sqlgauge_dataset::{BenchmarkSource, Columns, EXTRACTION, FileFormat, load_benchmark};
use sqlgauge_engine::{Engine, Limits, Moment};
use sqlgauge_evolve::Answerability;
use sqlgauge_robustness::report::{FILES, RobustnessReport};
use sqlgauge_robustness::{
    ANSWERS_TO_ORIGINAL, Abstentions, Evolved, METRICS, Original, OutOfScopeAnswers, Scored, find, measure,
};
use sqlgauge_run::{ITEMS, InputRecord, Items, MANIFEST, Manifest, RunFiles, digest_inputs, recorded_file};

use crate::context::Context;
use crate::error::Error;
use crate::guard::{keep_inputs, keep_run};
use crate::score::{SUBSET, ScoreJob, System};
use crate::settings::{metrics_of, recorded_now};
use crate::source::Source;
use crate::values::OutputPath;

/// Compares systems on a benchmark and on its evolved schemas: the tables of EvoSchema with intervals and paired tests.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use sqlgauge_core::{Context, EvolveJob, RobustnessJob, Sample, SystemFolder};
/// use sqlgauge_evolve::{ChangeKind, EvolvePlan};
///
/// let folder = tempfile::tempdir()?;
/// let at = |name: &str| folder.path().join(name);
/// let context = Context::default();
/// let sample = Sample::unpack(folder.path())?;
/// sample.score_job(&["ex", "table-f1", "column-f1"], at("run"))?.run(&context)?;
/// let plan = EvolvePlan::Kinds { kinds: vec![ChangeKind::RenameColumns], per_item: false };
/// EvolveJob { plan, ..EvolveJob::new(&sample.questions, &sample.databases, at("evolved")) }.run(&context)?;
///
/// // A system that answers as it did before: it knows nothing of the new names.
/// std::fs::create_dir(at("careful"))?;
/// let answers = sample.predictions_of("careful").expect("a file of it");
/// std::fs::copy(answers, at("careful").join("rename-columns.jsonl"))?;
///
/// let systems = vec![SystemFolder { name: "careful".to_owned(), folder: at("careful") }];
/// let job = RobustnessJob::new(at("run"), vec![at("evolved")], systems, at("robustness"));
/// let report = RobustnessJob { max_drop: Some(0.1), limits: Sample::limits(), ..job }.run(&context)?;
/// assert_eq!(report.failures().count(), 1);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct RobustnessJob {
    /// Run of the original benchmark (`sqlgauge score --metrics ex,table-f1,column-f1`) with the same systems
    #[cfg_attr(feature = "cli", arg(long, value_name = "DIR"))]
    pub original: PathBuf,
    /// Folders that `sqlgauge evolve` wrote; may be given several times
    #[cfg_attr(feature = "cli", arg(long, value_name = "DIR"))]
    pub evolved: Vec<PathBuf>,
    /// Folder with the predictions of a system: a file per benchmark, as in DIR/rename-columns.jsonl; with several --evolved
    /// DIR/EVOLVED/rename-columns.jsonl. Or one file with predictions for the original: then no system is asked again, and the
    /// report says what old queries lose. May be given several times
    #[cfg_attr(
        feature = "cli",
        arg(long = "pred", id = "predictions", value_name = "NAME=DIR|FILE", required = true)
    )]
    pub systems: Vec<SystemFolder>,
    /// Folder to write: runs of all benchmarks, report.html, report.md, robustness.json, .jsonl, .csv, junit.xml
    #[cfg_attr(feature = "cli", arg(long, value_name = "DIR"))]
    pub out: OutputPath,
    /// Exit with code 1 if a system loses more execution accuracy than this under a change, from 0 to 1
    #[cfg_attr(feature = "cli", arg(long, value_name = "X"))]
    pub max_drop: Option<f64>,
    /// Take the SQL out of the chatter of an LLM (code fences, explanations); abstentions are recognised in it then
    #[cfg_attr(feature = "cli", arg(long = "extract-sql"))]
    pub extract: bool,
    /// Worker threads; 0 means one per core
    #[cfg_attr(feature = "cli", arg(long, short, value_name = "N", default_value_t = 0))]
    pub jobs: usize,
    /// Format of the prediction files, where detection is wrong
    #[cfg_attr(feature = "cli", arg(long = "pred-format", value_name = "FORMAT",
        value_parser = crate::cli::file_format()))]
    pub prediction_format: Option<FileFormat>,
    /// Columns that the user named in the predictions.
    #[cfg_attr(feature = "cli", arg(skip))]
    pub columns: Columns,
    /// Limits of every query.
    #[cfg_attr(feature = "cli", command(flatten))]
    pub limits: Limits,
    /// The command or call, for the record.
    #[cfg_attr(feature = "cli", arg(skip))]
    pub command: Vec<String>,
}

/// A system's predictions on several benchmarks.
#[derive(Debug, Clone)]
pub struct SystemFolder {
    /// Name of the system.
    pub name: String,
    /// Folder with a file per benchmark, as in `rename-columns.jsonl`; where there are several evolved folders,
    /// `EVOLVED/rename-columns.jsonl`. Or one file, whose predictions for the original are taken on every benchmark: what is lost
    /// by whoever answers as if nothing had changed.
    pub folder: PathBuf,
}

/// An evolved benchmark and where the predictions on it are.
struct EvolvedBenchmark {
    evolved: Evolved,
    /// Name in the output, unique.
    name: String,
    systems: Vec<System>,
}

impl RobustnessJob {
    /// The job with the defaults of the command line.
    pub fn new(
        original: impl Into<PathBuf>,
        evolved: Vec<PathBuf>,
        systems: Vec<SystemFolder>,
        out: impl Into<PathBuf>,
    ) -> Self {
        Self { original: original.into(), evolved, systems, out: out.into().into(), ..Self::default() }
    }

    /// Scores the systems on the evolved benchmarks, or goes on with that, and writes the comparison.
    ///
    /// # Errors
    /// When an input cannot be read, a system has no predictions where another has some, the original run lacks a system or
    /// a metric, the job is asked to stop, or the folder cannot be written.
    pub fn run(&self, context: &Context<'_>) -> Result<RobustnessReport, Error> {
        if let Some(value) = self.max_drop.filter(|most| !(0.0..=1.0).contains(most)) {
            return Err(Error::OutOfUnit { option: "--max-drop", value });
        }
        keep_run(&self.out)?;
        let names: Vec<String> = self.systems.iter().map(|system| system.name.clone()).collect();
        let run = RunFiles::open(&self.original)?;
        let (now, examples) = (recorded_now(&run.manifest)?, run.manifest.examples);
        let part = run.manifest.options.get(SUBSET).cloned();
        let answers_to = self.answers_to(&run.manifest)?;
        let original = Original::read(&self.original, run.manifest, &run.items, &names)?;
        let benchmarks = self.benchmarks(context)?;
        let inputs = self.inputs(&benchmarks)?;
        let paths = || inputs.iter().map(|input| (input.role.as_str(), Path::new(&input.path)));
        FILES.iter().try_for_each(|name| keep_inputs("--out", &self.out.join(name), paths()))?;
        let engine = context.sqlite(self.limits, Moment::now())?.name_and_version();
        let mut manifest = self.manifest(names, inputs, engine, examples);
        manifest.options.extend(part.map(|part| (SUBSET.to_owned(), part)));

        let mut runs: Vec<(&Evolved, Items)> = Vec::new();
        let mut out_of_scope = Vec::new();
        for benchmark in &benchmarks {
            let evolved = &benchmark.evolved;
            match evolved.scope() {
                Answerability::Out => {
                    out_of_scope.push(OutOfScopeAnswers {
                        evolved,
                        systems: self.abstentions(benchmark, answers_to.as_ref())?,
                    });
                }
                Answerability::In if evolved.items.is_empty() => {
                    context.watcher().note(&format!("{} has no item", evolved.benchmark().display()));
                }
                Answerability::In => {
                    let items = self.score(benchmark, answers_to.clone(), now, context)?;
                    runs.push((evolved, items));
                }
            }
        }
        let scored: Vec<Scored<'_>> = runs.iter().map(|(evolved, items)| Scored { evolved, items }).collect();
        let robustness = measure(manifest, &original, &scored, &out_of_scope)?;
        let report = RobustnessReport { robustness, max_drop: self.max_drop };
        report.write_to(&self.out)?;
        Ok(report)
    }

    /// The original's golds, where the systems' predictions are for it.
    fn answers_to(&self, manifest: &Manifest) -> Result<Option<Source>, Error> {
        let files = self.systems.iter().filter(|system| system.folder.is_file()).count();
        if files == 0 {
            return Ok(None);
        }
        if files < self.systems.len() {
            let text =
                "--pred names folders and files; give a folder for every system, or a file for every one";
            return Err(Error::Invalid(text.to_owned()));
        }
        let gold = manifest.inputs.iter().find(|input| input.role == "gold");
        let gold = gold.and_then(|input| recorded_file(&self.original, input).ok());
        gold.map(|path| Some(Source::File(path))).ok_or_else(|| {
            Error::Invalid(format!(
                "the golds of {} are no longer where they were or have changed, and --pred answers them; score the original again",
                self.original.display()
            ))
        })
    }

    /// The evolved benchmarks on which there are predictions.
    fn benchmarks(&self, context: &Context<'_>) -> Result<Vec<EvolvedBenchmark>, Error> {
        let mut benchmarks: Vec<EvolvedBenchmark> = Vec::new();
        for folder in &self.evolved {
            let parent = folder.file_name().unwrap_or_default();
            let within = if self.evolved.len() > 1 { PathBuf::from(parent) } else { PathBuf::new() };
            for evolved in find(folder)? {
                let place = within.join(&evolved.label);
                let Some(systems) = self.systems_on(&evolved, &place)? else {
                    context.watcher().note(&format!(
                        "{}: no system has predictions on it (DIR/{}.jsonl), so it is left out",
                        evolved.path.display(),
                        place.display()
                    ));
                    continue;
                };
                let name = place.to_string_lossy().replace(std::path::MAIN_SEPARATOR, "-");
                if benchmarks.iter().any(|other| other.name == name) {
                    return Err(Error::Invalid(format!(
                        "two evolved benchmarks are called {name:?}; give each --evolved folder its own name"
                    )));
                }
                benchmarks.push(EvolvedBenchmark { evolved, name, systems });
            }
        }
        if benchmarks.is_empty() {
            let text = "no system has predictions on any evolved benchmark; check --pred";
            return Err(Error::Invalid(text.to_owned()));
        }
        Ok(benchmarks)
    }

    /// The systems with their predictions on a benchmark; `None` where none has any. That some have none is an error.
    fn systems_on(&self, evolved: &Evolved, place: &Path) -> Result<Option<Vec<System>>, Error> {
        let file_of = |system: &SystemFolder| {
            if system.folder.is_file() {
                return Ok(Some(system.folder.clone()));
            }
            file_named(&system.folder.join(place))
        };
        let files = self.systems.iter().map(file_of);
        let files: Vec<Option<PathBuf>> = files.collect::<Result<_, _>>()?;
        if files.iter().all(Option::is_none) {
            return Ok(None);
        }
        let on = |(system, file): (&SystemFolder, Option<PathBuf>)| {
            let missing = || {
                Error::Invalid(format!(
                    "{}={} has no predictions on {} ({}.jsonl or the like), and another system has",
                    system.name,
                    system.folder.display(),
                    evolved.path.display(),
                    place.display()
                ))
            };
            let predictions = Source::File(file.ok_or_else(missing)?);
            Ok(System { columns: self.columns.clone(), ..System::new(&system.name, predictions) })
        };
        self.systems.iter().zip(files).map(on).collect::<Result<_, _>>().map(Some)
    }

    /// Scores the systems on a benchmark, or goes on with it; gives the items.
    fn score(
        &self,
        benchmark: &EvolvedBenchmark,
        answers_to: Option<Source>,
        now: Option<Moment>,
        context: &Context<'_>,
    ) -> Result<Items, Error> {
        let out = self.out.join("runs").join(&benchmark.name);
        let (evolved, systems) = (&benchmark.evolved, benchmark.systems.clone());
        let gold = Source::File(evolved.benchmark());
        let job = ScoreJob {
            prediction_format: self.prediction_format,
            extract: self.extract,
            answers_to,
            limits: self.limits,
            now,
            jobs: self.jobs,
            command: self.command.clone(),
            ..ScoreJob::new(gold, evolved.databases(), systems, metrics_of(METRICS)?, out.clone())
        };
        context.watcher().note(&format!("scoring on {}", benchmark.name));
        match job.run(context) {
            Ok(report) => Ok(report.items),
            Err(stopped @ Error::Stopped { .. }) => Err(stopped),
            Err(error) => {
                let what = format!("the run in {}", out.display());
                Err(Error::About { what, source: Box::new(error) })
            }
        }
    }

    /// On how many questions each system abstains.
    fn abstentions(
        &self,
        benchmark: &EvolvedBenchmark,
        answers_to: Option<&Source>,
    ) -> Result<Vec<Abstentions>, Error> {
        let gold = benchmark.evolved.benchmark();
        if benchmark.evolved.items.is_empty() {
            return Ok(vec![Abstentions::default(); benchmark.systems.len()]);
        }
        let questions = load_benchmark(&BenchmarkSource { gold, ..BenchmarkSource::default() })?;
        let original = answers_to.map(|source| {
            let gold = source.path().to_owned();
            load_benchmark(&BenchmarkSource { gold, ..BenchmarkSource::default() })
        });
        let original = original.transpose()?;
        let count = |system: &System| {
            let (format, extract) = (self.prediction_format, self.extract);
            let set = match &original {
                Some(original) => system.read_answers_to(original, &questions, format, extract)?,
                None => system.read(&questions, format, extract, true)?,
            };
            Ok(Abstentions::of(&set))
        };
        benchmark.systems.iter().map(count).collect()
    }

    /// What the comparison rests on.
    fn inputs(&self, benchmarks: &[EvolvedBenchmark]) -> Result<Vec<InputRecord>, Error> {
        let mut files: Vec<(String, PathBuf)> =
            [MANIFEST, ITEMS].map(|name| ("original".to_owned(), self.original.join(name))).into();
        for EvolvedBenchmark { evolved, name, systems } in benchmarks {
            files.push((format!("evolved:{name}"), evolved.benchmark()));
            files.extend(systems.iter().map(|system| {
                let role = format!("predictions:{}:{name}", system.name);
                (role, system.predictions.path().to_owned())
            }));
        }
        Ok(digest_inputs(&files)?)
    }

    fn manifest(
        &self,
        systems: Vec<String>,
        inputs: Vec<InputRecord>,
        engine: String,
        examples: usize,
    ) -> Manifest {
        let extraction = if self.extract { EXTRACTION.into() } else { false.into() };
        let options = BTreeMap::from([
            ("extract_sql".to_owned(), extraction),
            ("max_drop".to_owned(), self.max_drop.into()),
            (
                ANSWERS_TO_ORIGINAL.to_owned(),
                self.systems.iter().any(|system| system.folder.is_file()).into(),
            ),
        ]);
        Manifest {
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
            engine,
            command: self.command.clone(),
            metrics: METRICS.map(str::to_owned).into(),
            systems,
            inputs,
            options,
            examples,
        }
    }
}

/// The file of that name, whatever its extension.
fn file_named(path: &Path) -> Result<Option<PathBuf>, Error> {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return Ok(None) };
    let Ok(entries) = std::fs::read_dir(folder) else { return Ok(None) };
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let is_it = |path: &PathBuf| path.is_file() && path.file_stem() == Some(name);
    let mut files: Vec<PathBuf> = paths.filter(is_it).collect();
    files.sort_unstable();
    if let [one, other, ..] = files.as_slice() {
        return Err(Error::Invalid(format!(
            "{} and {} are both predictions on {}; keep one of them there",
            one.display(),
            other.display(),
            name.to_string_lossy()
        )));
    }
    Ok(files.pop())
}
