//! `evolve`, `synth` and `tables`: folders of data that are made.

use std::path::PathBuf;
use std::str::FromStr;

use pyo3::prelude::*;
use serde_json::{Value, json};
use sqlgauge_core::{EvolveJob, SynthJob, TablesJob};
use sqlgauge_dataset::BenchmarkSource;
use sqlgauge_dialects::{DIALECTS, Dialect};
use sqlgauge_evolve::versions::Steps;
use sqlgauge_evolve::{ChangeKind, EvolvePlan, read_script};
use sqlgauge_questions::QuestionStyle;
use sqlgauge_synth::sampler::{SAMPLERS, sampler};
use sqlgauge_synth::{Asking, Caps, CorpusSummary, Shares, SynthOptions, Tier};
use sqlgauge_tables::{DateOrder, DecimalMark, TablesOptions};

use crate::database::{Limited, not_ddl};
use crate::error::{Class, Failure};
use crate::inputs::{SubsetArguments, columns};
use crate::json::to_python;
use crate::watching::watched;

/// What a text names; an error says which argument it was given for.
fn named<T: FromStr<Err: std::error::Error + 'static>>(argument: &str, text: &str) -> Result<T, Failure> {
    text.parse().map_err(|error| {
        Failure::input(&format!("{argument}: {}", sqlgauge_core::sentence(&error as &dyn std::error::Error)))
    })
}

/// The kinds of those names, or `all`, each once.
fn kinds(names: &[String]) -> Result<Vec<ChangeKind>, Failure> {
    if names.iter().any(|name| name == "all") {
        return Ok(ChangeKind::ALL.to_vec());
    }
    let list = names.iter().map(|name| named("kinds", name)).collect::<Result<Vec<ChangeKind>, _>>()?;
    Ok(ChangeKind::ALL.into_iter().filter(|kind| list.contains(kind)).collect())
}

/// A job as `sqlgauge.evolve` hands it over.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Evolve {
    gold: PathBuf,
    questions: Option<PathBuf>,
    columns: Vec<(String, String)>,
    db: PathBuf,
    tables: Option<PathBuf>,
    out: PathBuf,
    kinds: Vec<String>,
    per_item: bool,
    steps: Option<u32>,
    script: Option<PathBuf>,
    seed: u64,
    intensity: f64,
    naturalness: String,
    subset: SubsetArguments,
    limits: Limited,
    jobs: usize,
}

impl Evolve {
    fn read(self) -> Result<EvolveJob, Failure> {
        not_ddl(&self.db)?;
        let columns = columns(&self.columns)?;
        let (gold, questions) = (self.gold.clone(), self.questions.clone());
        Ok(EvolveJob {
            benchmark: BenchmarkSource { gold, questions, columns, ..BenchmarkSource::default() },
            tables: self.tables.clone(),
            plan: self.plan()?,
            seed: self.seed,
            intensity: self.intensity,
            naturalness: named("naturalness", &self.naturalness)?,
            limits: self.limits.limits()?,
            subset: self.subset.subset()?,
            jobs: self.jobs,
            ..EvolveJob::new(self.gold, self.db, self.out)
        })
    }

    fn plan(&self) -> Result<EvolvePlan, Failure> {
        let kinds = kinds(&self.kinds)?;
        Ok(match (&self.script, self.steps) {
            (Some(path), _) => EvolvePlan::Script(read_script(path).map_err(sqlgauge_core::Error::from)?),
            (None, Some(steps)) => EvolvePlan::Steps { kinds, steps },
            (None, None) => EvolvePlan::Kinds { kinds, per_item: self.per_item },
        })
    }
}

/// Evolves a benchmark; returns the statistics of each benchmark that was written, and what was noticed.
#[pyfunction]
pub(crate) fn evolve_benchmark<'py>(
    py: Python<'py>,
    job: Evolve,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let job = job.read()?;
    let (evolved, notes) = watched(py, progress.as_ref(), move |context| Ok(job.run(context)?))?;
    to_python(py, &json!({"evolved": evolved, "notes": notes}))
}

/// A job as `sqlgauge.synth` hands it over.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Synth {
    db: Vec<PathBuf>,
    tables: Option<PathBuf>,
    pairs: u64,
    out: PathBuf,
    seed: u64,
    schema_versions: u32,
    kinds: Vec<String>,
    tiers: Option<[u8; 4]>,
    each: u64,
    styles: Option<Vec<String>>,
    dialects: Vec<String>,
    distractors: f64,
    ask_again: f64,
    variants: f64,
    near_misses: f64,
    sampler: Option<String>,
    budget: Option<f64>,
    jobs: usize,
}

impl Synth {
    fn read(self) -> Result<SynthJob, Failure> {
        self.db.iter().try_for_each(|path| not_ddl(path))?;
        let versions = Steps { kinds: kinds(&self.kinds)?, count: self.schema_versions, seed: self.seed };
        let options = self.options()?;
        let job = SynthJob::new(self.db, self.pairs, self.out);
        let options =
            SynthOptions { pairs: self.pairs, tool_version: job.options.tool_version.clone(), ..options };
        Ok(SynthJob { tables: self.tables, versions, options, jobs: self.jobs, ..job })
    }

    fn options(&self) -> Result<SynthOptions, Failure> {
        let defaults = SynthOptions::default();
        let styles = self.styles.as_ref().map(|names| {
            names.iter().map(|name| named("styles", name)).collect::<Result<Vec<QuestionStyle>, _>>()
        });
        let tiers = self.tiers.map(|shares| named("tiers", &shares.map(|share| share.to_string()).join(",")));
        let name = self.sampler.as_deref().unwrap_or(SAMPLERS[0].name);
        let choices = || SAMPLERS.iter().map(|sampler| sampler.name).collect::<Vec<_>>().join(", ");
        let sampler = sampler(name).ok_or_else(|| {
            Failure::input(&format!("there is no sampler {name:?}; choose from {}", choices()))
        })?;
        Ok(SynthOptions {
            dialects: dialects(&self.dialects)?,
            seed: self.seed,
            tiers: tiers.transpose()?.unwrap_or(defaults.tiers),
            each: self.each,
            sampler,
            asking: Asking {
                styles: styles.transpose()?.unwrap_or_else(|| QuestionStyle::all().collect()),
                distractors: self.distractors,
                again: self.ask_again,
            },
            beside: Shares { variants: self.variants, near_misses: self.near_misses },
            caps: Caps { cost: self.budget, ..defaults.caps },
            ..defaults
        })
    }
}

fn dialects(names: &[String]) -> Result<Vec<&'static Dialect>, Failure> {
    if names.iter().any(|name| name == "all") {
        return Ok(DIALECTS.to_vec());
    }
    let one = |name: &String| {
        let entry = DIALECTS.iter().copied().find(|dialect| dialect.name == name);
        let choices = || DIALECTS.iter().map(|dialect| dialect.name).collect::<Vec<_>>().join(", ");
        entry.ok_or_else(|| Failure::input(&format!("unknown dialect {name:?}; choose from {}", choices())))
    };
    names.iter().map(one).collect()
}

/// Makes a corpus; returns what became of it, and what was noticed.
#[pyfunction]
pub(crate) fn make_corpus<'py>(
    py: Python<'py>,
    job: Synth,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let job = job.read()?;
    let (summary, notes) = watched(py, progress.as_ref(), move |context| Ok(job.run(context)?))?;
    let CorpusSummary { tally, unmet, databases, left_out } = summary;
    let of_tiers = |count: &dyn Fn(Tier) -> u64| -> Value {
        Tier::ALL
            .iter()
            .map(|&tier| (tier.to_string(), count(tier)))
            .collect::<Vec<_>>()
            .into_iter()
            .collect()
    };
    let json = json!({
        "pairs": tally.pairs,
        "tiers": of_tiers(&|tier| tally.tiers.get(&tier).copied().unwrap_or(0)),
        "unmet": of_tiers(&|tier| Tier::ALL.iter().position(|other| *other == tier).map_or(0, |at| unmet[at])),
        "databases": databases,
        "left_out": left_out,
        "notes": notes,
    });
    to_python(py, &json)
}

/// A job as `sqlgauge.tables` hands it over; what is left out is the default of the command line.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
#[expect(clippy::struct_excessive_bools, reason = "each is an argument of its own")]
pub(crate) struct Tables {
    folder: PathBuf,
    out: PathBuf,
    foreign_key_score: Option<f64>,
    keep_wide: bool,
    keep_duplicates: bool,
    fill_short_lines: bool,
    strict: bool,
    decimal_mark: Option<String>,
    date_order: Option<String>,
    booleans: bool,
    min_latin: Option<f64>,
    jobs: usize,
}

impl Tables {
    fn read(self) -> Result<TablesJob, Failure> {
        let defaults = TablesOptions::default();
        let options = TablesOptions {
            foreign_key_score: self.foreign_key_score.unwrap_or(defaults.foreign_key_score),
            min_latin: self.min_latin.unwrap_or(defaults.min_latin),
            normalise: !self.keep_wide,
            drop_duplicate_rows: !self.keep_duplicates,
            fill_short_lines: self.fill_short_lines,
            strict: self.strict,
            decimal_mark: one_of(
                "decimal_mark",
                self.decimal_mark,
                [("point", DecimalMark::Point), ("comma", DecimalMark::Comma)],
            )?,
            date_order: one_of(
                "date_order",
                self.date_order,
                [("day-first", DateOrder::DayFirst), ("month-first", DateOrder::MonthFirst)],
            )?,
            booleans: self.booleans,
            ..defaults
        };
        Ok(TablesJob { options, jobs: self.jobs, ..TablesJob::new(self.folder, self.out) })
    }
}

/// The value that an argument names.
fn one_of<T>(argument: &str, name: Option<String>, values: [(&str, T); 2]) -> Result<Option<T>, Failure> {
    let Some(name) = name else { return Ok(None) };
    let [one, other] = values.each_ref().map(|(name, _)| *name);
    let wrong = Failure::new(Class::Input, &format!("{argument} is {name:?}; give {one:?} or {other:?}"));
    values.into_iter().find_map(|(label, value)| (label == name).then_some(Some(value))).ok_or(wrong)
}

/// Builds databases of tables; returns the decisions, as the lines of `tables.jsonl` have them.
#[pyfunction]
pub(crate) fn build_databases(py: Python<'_>, job: Tables) -> PyResult<Bound<'_, PyAny>> {
    let job = job.read()?;
    let (records, _) = watched(py, None, move |context| {
        let records: Vec<_> = job.run(context)?.records().collect();
        serde_json::to_value(records).map_err(|error| Failure::of(Class::Internal, &error))
    })?;
    to_python(py, &records)
}
