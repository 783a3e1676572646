//! What besides its inputs decides the result of a run, and how that is recorded.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use serde_json::Value;
use sqlgauge_dataset::{Benchmark, EXTRACTION, PairedBy, PredictionSet};
use sqlgauge_engine::compare::Semantics;
#[cfg(feature = "cli")]
use sqlgauge_engine::seconds;
use sqlgauge_engine::{Limits, Moment};
use sqlgauge_metrics::{Metric, Verification, find, is_verify, verify_id};
use sqlgauge_run::{Gate, Manifest, PAIRED_BY, read_manifest};
use sqlgauge_verify::{ColumnValues, OnlyStage, VerifyOptions};

use crate::error::Error;
use crate::values::Program;

/// The option of a run that says what its queries took for now.
pub const NOW: &str = "now";

/// By what the answers of each system were paired with the questions, as an option of their run; `before` are those that were paired
/// before they were read.
pub(crate) fn pairing(sets: &[PredictionSet], before: &BTreeMap<String, PairedBy>) -> (String, Value) {
    let by = |set: &PredictionSet| before.get(&set.system).unwrap_or(&set.paired_by).to_string();
    let paired_by = sets.iter().map(|set| (set.system.clone(), by(set).into()));
    (PAIRED_BY.to_owned(), Value::Object(paired_by.collect()))
}

/// How `verify` verifies. The defaults are the same for a pair, for the metric and in Python.
#[derive(Debug, Clone, Default)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct VerifySettings {
    /// What of a result counts: what `ex@1` compares, or rows as a set, a bag, a list; in a run it makes of the metric `verify` the one
    /// that compares so, as `verify-set` [default: ex]
    #[cfg_attr(feature = "cli", arg(long, value_name = "NAME", value_parser = crate::cli::semantics(),
        help_heading = "Verification"))]
    pub semantics: Option<Semantics>,
    /// Rows of each table up to which a bounded proof goes [default: 5]
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", help_heading = "Verification"))]
    pub bound: Option<usize>,
    /// Seconds for verifying one pair, all stages together [default: 300]
    #[cfg_attr(feature = "cli", arg(long, value_name = "SECONDS", value_parser = seconds,
        help_heading = "Verification"))]
    pub pair_timeout: Option<Duration>,
    /// Values of a counterexample: those that columns declare, or any that SQLite stores there [default: rows, what the rows of the
    /// given database keep; without rows declared]
    #[cfg_attr(feature = "cli", arg(long, value_name = "NAME", value_parser = crate::cli::column_values(),
        help_heading = "Verification"))]
    pub values: Option<ColumnValues>,
    /// Let one stage decide alone: `solver` asks for bounds 1 to --bound, without rules and search, as SpotIt does
    #[cfg_attr(feature = "cli", arg(long, value_name = "STAGE", value_parser = crate::cli::only_stage(),
        help_heading = "Verification"))]
    pub only: Option<OnlyStage>,
    /// Ask the solver for the counterexample with the fewest rows
    #[cfg_attr(feature = "cli", arg(long, help_heading = "Verification"))]
    pub fewest: bool,
    /// The solver Z3; without it the variable `SQLGAUGE_SOLVER`, then PATH, then Python's package z3-solver
    // The caller looks in these places: a job without a solver leaves out bounded proofs.
    #[cfg_attr(feature = "cli", arg(long, value_name = "PATH", help_heading = "Verification"))]
    pub solver: Option<Program>,
    /// Where the random numbers of the search begin.
    #[cfg_attr(feature = "cli", arg(skip))]
    pub seed: u64,
}

impl VerifySettings {
    /// The options of the stages.
    pub fn options(&self) -> VerifyOptions {
        VerifyOptions {
            semantics: self.semantics.unwrap_or_default(),
            bound: self.bound.unwrap_or(5),
            solver_time: self.pair_timeout.unwrap_or(Duration::from_mins(5)),
            values: self.values.unwrap_or_default(),
            only: self.only,
            proves_fewest: self.fewest,
            seed: self.seed,
            ..VerifyOptions::default()
        }
    }

    /// What the settings change of a result, by name.
    pub fn recorded(&self) -> Vec<(String, Value)> {
        let options = self.options();
        let time = u64::try_from(options.solver_time.as_millis()).unwrap_or(u64::MAX);
        let recorded: [(&str, Value); 4] = [
            ("verify_values", options.values.name().into()),
            ("verify_bound", options.bound.into()),
            ("verify_solver_ms", time.into()),
            ("verify_solver", self.solver.is_some().into()),
        ];
        let fewest = options.proves_fewest.then_some(("verify_fewest", true.into()));
        let only = options.only.map(|stage| ("verify_only", stage.name().into()));
        let seed = (options.seed != 0).then_some(("verify_seed", options.seed.into()));
        recorded
            .into_iter()
            .chain(fewest)
            .chain(only)
            .chain(seed)
            .map(|(name, value)| (name.to_owned(), value))
            .collect()
    }

    /// The metrics with `verify` as the one whose semantics the settings name.
    ///
    /// # Errors
    /// When only others verify, whose ids name their semantics.
    pub(crate) fn named(&self, metrics: Vec<&'static dyn Metric>) -> Result<Vec<&'static dyn Metric>, Error> {
        let Some(semantics) = self.semantics else { return Ok(metrics) };
        let (plain, meant) = (verify_id(Semantics::Ex), verify_id(semantics));
        let verifying = || metrics.iter().map(|metric| metric.id()).filter(|id| is_verify(id));
        if let Some(other) = verifying().find(|id| *id != meant).filter(|_| verifying().all(|id| id != plain))
        {
            return Err(Error::Invalid(format!(
                "--semantics {semantics} is for the metric verify; {other} says by its id what counts, so leave out the option"
            )));
        }
        let name = |metric: &'static dyn Metric| if metric.id() == plain { meant } else { metric.id() };
        metrics_of(metrics.into_iter().map(name))
    }

    /// What verifies with these settings.
    pub fn verification(&self) -> Verification {
        Verification::new(self.options(), self.solver.clone().map(Into::into))
    }
}

/// The metrics of a benchmark for which none are named: they need nothing but one run of both queries.
///
/// `ex` comes first. Where questions have evidence, the benchmark is BIRD's or like it: its own execution accuracy and `ex`. Else
/// the official execution accuracies and exact set match stand behind `ex`.
pub fn default_metrics(benchmark: &Benchmark) -> Vec<&'static dyn Metric> {
    let with_evidence = benchmark.examples.iter().any(|example| example.evidence.is_some());
    let names: &[&str] =
        if with_evidence { &["ex-bird", "ex"] } else { &["ex", "ex-spider", "ex-bird", "esm"] };
    names.iter().filter_map(|name| find(name).ok()).collect()
}

/// The metrics of those names, each once, in their order.
///
/// # Errors
/// When there is no such metric, or no name.
pub fn metrics_of<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<Vec<&'static dyn Metric>, Error> {
    let mut metrics: Vec<&'static dyn Metric> = Vec::new();
    for name in names.into_iter().map(str::trim).filter(|name| !name.is_empty()) {
        let metric = find(name)?;
        if metrics.iter().all(|other| other.id() != metric.id()) {
            metrics.push(metric);
        }
    }
    if metrics.is_empty() { Err(Error::NoMetric) } else { Ok(metrics) }
}

/// The bars, each written as `METRIC=X`, of a run that scores those metrics.
///
/// # Errors
/// When one is malformed, or of a metric that is not scored.
pub(crate) fn gates_of(texts: &[String], metrics: &[String]) -> Result<Vec<Gate>, Error> {
    Ok(texts.iter().map(|text| Gate::parse(text, metrics)).collect::<Result<Vec<_>, _>>()?)
}

/// Whether one of the metrics verifies.
pub fn verifies(metrics: &[&'static dyn Metric]) -> bool {
    metrics.iter().any(|metric| is_verify(metric.id()))
}

/// Says so where `verify` stands alone with BIRD's execution accuracy, for which another counts results as it does.
pub(crate) fn note_on_verify(metrics: &[&'static dyn Metric]) -> Option<String> {
    let has = |id: &str| metrics.iter().any(|metric| metric.id() == id);
    let [plain, set] = [Semantics::Ex, Semantics::Set].map(verify_id);
    let [ex, bird] = ["ex@1", "ex-bird@1"].map(has);
    (has(plain) && bird && !ex && !has(set)).then(|| {
        format!("{plain} counts rows as ex@1 does; {set} compares them as ex-bird@1 does, and gives EX-SpotIt with it")
    })
}

/// The options of a scored run as its record has them.
pub(crate) fn recorded_options(
    limits: &Limits,
    now: Moment,
    extract: bool,
    verify: Option<&VerifySettings>,
) -> BTreeMap<String, Value> {
    let mut options: BTreeMap<String, Value> = [
        ("timeout_ms", Value::from(u64::try_from(limits.timeout.as_millis()).unwrap_or(u64::MAX))),
        ("max_rows", limits.max_rows.into()),
        ("max_bytes", limits.max_bytes.into()),
        ("max_heap_bytes", limits.max_heap_bytes.into()),
        (NOW, now.to_string().into()),
        ("extract_sql", if extract { EXTRACTION.into() } else { false.into() }),
    ]
    .into_iter()
    .map(|(name, value)| (name.to_owned(), value))
    .collect();
    options.extend(verify.into_iter().flat_map(VerifySettings::recorded));
    options
}

/// What the queries of a run take for now where nobody said: the moment of the run that goes on in that folder, else
/// this one.
///
/// # Errors
/// When the record of the run cannot be read.
pub(crate) fn started_at(out: &Path, goes_on: bool) -> Result<Moment, Error> {
    let recorded = if goes_on { recorded_now(&read_manifest(out)?)? } else { None };
    Ok(recorded.unwrap_or_else(Moment::now))
}

/// What the queries of a run took for now; `None` for a run of an earlier version, where time passed.
///
/// # Errors
/// When the record holds something else than a time.
pub(crate) fn recorded_now(manifest: &Manifest) -> Result<Option<Moment>, Error> {
    let recorded = manifest.options.get(NOW).and_then(Value::as_str);
    Ok(recorded.map(str::parse).transpose()?)
}
