//! The errors of tree matching as its rules are added one by one: `sqlgauge rules ablate`.
//!
//! # Contract
//! - The first step is the resolution of names, which cannot be left out: it does the rules of `RuleStage::Resolution`. Then
//!   each rule of the profile is added, in the order of the registry; the last step is the profile.
//! - Counted are the answers of the run whose truth is known, as by [`crate::MetricErrorsJob`]. An answer that the log has cut
//!   short is left out.
//! - The schemas are those of the run: its databases, which must not have changed, or its schema file.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

use rayon::prelude::*;
use serde::Serialize;
use sqlgauge_base::counted;
use sqlgauge_dataset::load_tables;
use sqlgauge_engine::{Engine, Limits, Moment};
use sqlgauge_etm::{Matcher, Profile, Rule, RuleStage, rules};
use sqlgauge_report::charts::{StepLine, lines_by_step};
use sqlgauge_report::write_together;
use sqlgauge_run::{Item, Manifest, RunError, RunFiles, recorded_file};
use sqlgauge_sql::schema::Schema;

use crate::context::Context;
use crate::error::{About, Error};
use crate::guard::keep_run;
use crate::metric_errors::quoted;
use crate::show::database_of;
use crate::truth::{ErrorCounts, Truth, Truths};
use crate::without_rows::schema_file;

/// Adds the rules of a profile one by one, and counts the false positives and false negatives of each step.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use sqlgauge_core::{AblateJob, Context, Sample};
/// use sqlgauge_etm::Profile;
///
/// let folder = tempfile::tempdir()?;
/// let run = folder.path().join("run");
/// Sample::unpack(folder.path())?.score_job(&["etm", "verify"], &run)?.run(&Context::default())?;
///
/// let ablation = AblateJob::new(run, Profile::Sound).run(&Context::default())?;
/// let [first, last] = [&ablation.steps[0], &ablation.steps[ablation.steps.len() - 1]];
/// assert!(last.systems[0].counts.false_negatives < first.systems[0].counts.false_negatives);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct AblateJob {
    /// Run directory.
    pub folder: PathBuf,
    /// The rules.
    pub profile: Profile,
    /// Labels of people, or of another judge; without, the verdicts of `verify` are the truth.
    pub labels: Option<PathBuf>,
    /// Folder to write, if any: [`Ablation::FILES`].
    pub out: Option<PathBuf>,
}

/// The errors of every step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Ablation {
    /// Id of the metric that the last step is.
    pub metric: &'static str,
    /// What the steps are held against: the id of `verify`, or `labels`.
    pub truth: String,
    /// The steps, from names alone to the whole profile.
    pub steps: Vec<AblationStep>,
}

/// The errors after one more rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AblationStep {
    /// The rule's id (`P4`, `14`, `S3`); `esm@1` for exact set match, and `names` for the resolution of names alone.
    pub step: String,
    /// The rule in a line.
    pub summary: String,
    /// One entry per system, in the order of the run.
    pub systems: Vec<StepCounts>,
}

/// The errors of a step about one system.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StepCounts {
    /// Its name.
    pub system: String,
    /// The errors.
    pub counts: ErrorCounts,
}

/// An answer of which the truth is known.
struct Answer {
    system: usize,
    db_id: String,
    /// One of which must match.
    golds: Vec<String>,
    prediction: String,
    is_right: bool,
    esm: Option<bool>,
}

impl AblateJob {
    /// The ablation of that profile over that run, by its verdicts, without files.
    pub fn new(folder: impl Into<PathBuf>, profile: Profile) -> Self {
        Self { folder: folder.into(), profile, labels: None, out: None }
    }

    /// Reads the run, and matches every answer once per step.
    ///
    /// # Errors
    /// When the run, its labels or its schemas cannot be read, or the folder cannot be written.
    pub fn run(&self, context: &Context<'_>) -> Result<Ablation, Error> {
        let RunFiles { manifest, items, .. } = RunFiles::open(&self.folder)?;
        if let Some(out) = &self.out {
            keep_run(out)?;
        }
        let truths = Truths::of(&self.folder, &manifest, self.labels.as_ref())?;
        let mut answers = Vec::new();
        let (mut cut, mut others) = (0, 0);
        items.for_each(|item| {
            others += usize::from(truths.of_item(item) == Truth::OtherAnswer);
            cut += usize::from(item.details.prediction_bytes.is_some());
            answers.extend(answer(item, &manifest, &truths));
            Ok::<(), RunError>(())
        })?;
        if others > 0 {
            let answers = counted(others, "answer");
            context.watcher().note(&format!("left out: {answers} with the label of an earlier answer"));
        }
        if cut > 0 {
            context.watcher().note(&format!("left out: {}, cut short by the log", counted(cut, "answer")));
        }
        let schemas = self.schemas(&manifest, &answers, context)?;
        let steps = self.steps(&manifest, &answers, &schemas, context)?;
        let ablation = Ablation { metric: self.profile.id(), truth: truths.name().to_owned(), steps };
        if let Some(out) = &self.out {
            ablation.write_to(out)?;
        }
        Ok(ablation)
    }

    fn schemas(
        &self,
        manifest: &Manifest,
        answers: &[Answer],
        context: &Context<'_>,
    ) -> Result<HashMap<String, Arc<Schema>>, Error> {
        let mut names: Vec<&str> = answers.iter().map(|answer| answer.db_id.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        if let Some(file) = schema_file(manifest) {
            let path = recorded_file(&self.folder, file)
                .map_err(|why| Error::Invalid(format!("the schemas {} {why}", file.path)))?;
            let tables = load_tables(&path)?;
            let of = |name: &str| Some((name.to_owned(), Arc::new(tables.get(name)?.schema())));
            return Ok(names.into_iter().filter_map(of).collect());
        }
        let engine = context.sqlite(Limits::default(), Moment::now())?;
        let of = |name: &str| {
            let database = engine.open(&database_of(&self.folder, manifest, name)?)?;
            // As the metrics do: a proof may not use a foreign key that the rows break.
            let schema = match self.profile {
                Profile::Sound => Arc::clone(&database.kept_schema(&engine).schema),
                Profile::Paper => Arc::clone(database.schema()),
            };
            Ok((name.to_owned(), schema))
        };
        names.into_iter().map(of).collect()
    }

    fn steps(
        &self,
        manifest: &Manifest,
        answers: &[Answer],
        schemas: &HashMap<String, Arc<Schema>>,
        context: &Context<'_>,
    ) -> Result<Vec<AblationStep>, Error> {
        let added: Vec<&'static Rule> = rules()
            .iter()
            .copied()
            .filter(|rule| rule.profiles.contains(self.profile))
            .filter(|rule| !matches!(rule.stage, RuleStage::Resolution))
            .collect();
        let counted =
            |step: &str, summary: &str, called: &(dyn Fn(&Answer) -> Option<bool> + Sync)| AblationStep {
                step: step.to_owned(),
                summary: summary.to_owned(),
                systems: counts(&manifest.systems, answers, called),
            };
        let mut steps = Vec::new();
        if answers.iter().any(|answer| answer.esm.is_some()) {
            steps.push(counted("esm@1", "Exact set match", &|answer| answer.esm));
        }
        context.watcher().started("steps", added.len() + 1, 0);
        for last in 0..=added.len() {
            let chosen = &added[..last];
            let called = |answer: &Answer| {
                let is_chosen = |rule: &Rule| chosen.iter().any(|other| std::ptr::eq(*other, rule));
                let schema = schemas.get(&answer.db_id)?;
                let matcher = Matcher::of_chosen(schema, self.profile, &is_chosen);
                Some(answer.golds.iter().any(|gold| matcher.is_right(gold, &answer.prediction)))
            };
            let (step, summary) =
                chosen.last().map_or(("names", "Resolution of names alone"), |rule| (rule.id, rule.summary));
            steps.push(counted(step, summary, &called));
            context.watcher().advanced(last + 1);
            if context.is_stopped() {
                return Err(Error::Invalid(
                    "stopped before all rules were added; nothing is written".to_owned(),
                ));
            }
        }
        Ok(steps)
    }
}

fn answer(item: &Item, manifest: &Manifest, truths: &Truths) -> Option<Answer> {
    let is_right = truths.of_item(item).decided()?;
    if item.details.prediction_bytes.is_some() {
        return None;
    }
    Some(Answer {
        system: manifest.systems.iter().position(|system| *system == item.system)?,
        db_id: item.db_id.clone(),
        golds: item.details.gold.iter().chain(item.details.golds.iter().flatten()).cloned().collect(),
        prediction: item.details.prediction.clone().unwrap_or_default(),
        is_right,
        esm: item.metrics.get("esm@1").copied().flatten().map(|score| score >= 1.0),
    })
}

fn counts(
    systems: &[String],
    answers: &[Answer],
    called: &(dyn Fn(&Answer) -> Option<bool> + Sync),
) -> Vec<StepCounts> {
    let calls: Vec<Option<bool>> = answers.par_iter().map(called).collect();
    let mut counts = vec![ErrorCounts::default(); systems.len()];
    for (answer, call) in answers.iter().zip(calls) {
        if let Some(call) = call {
            counts[answer.system].add(call, answer.is_right);
        }
    }
    let of = |(system, counts): (&String, ErrorCounts)| StepCounts { system: system.clone(), counts };
    systems.iter().zip(counts).map(of).collect()
}

impl Ablation {
    /// The files of [`Ablation::write_to`].
    pub const FILES: [&'static str; 4] =
        ["ablation.json", "ablation.csv", "false-negatives.svg", "false-positives.svg"];

    /// Writes the numbers, and a chart of each kind of error.
    ///
    /// # Errors
    /// When the folder cannot be made or a file not be written.
    pub fn write_to(&self, folder: &std::path::Path) -> Result<(), Error> {
        let json = serde_json::to_string_pretty(self)
            .map_err(|error| Error::Invalid(format!("the ablation cannot be written as JSON: {error}")))?;
        let negatives = self.chart("False negatives", |counts| counts.false_negatives);
        let positives = self.chart("False positives", |counts| counts.false_positives);
        let texts = [json, self.to_csv(), negatives, positives];
        write_together(folder, Self::FILES.into_iter().zip(texts)).about(|| folder.display().to_string())
    }

    /// A line per step and system, with a head.
    pub fn to_csv(&self) -> String {
        let mut text = String::from("step,system,judged,called_right,false_positives,false_negatives\n");
        for step in &self.steps {
            for StepCounts { system, counts } in &step.systems {
                let ErrorCounts { judged, called_right, false_positives, false_negatives } = counts;
                let (step, system) = (&step.step, quoted(system));
                let _infallible = writeln!(
                    text,
                    "{step},{system},{judged},{called_right},{false_positives},{false_negatives}"
                );
            }
        }
        text
    }

    fn chart(&self, what: &str, errors: impl Fn(&ErrorCounts) -> u64) -> String {
        let share =
            |counts: &ErrorCounts| (counts.judged > 0).then(|| errors(counts) as f64 / counts.judged as f64);
        let mut lines: BTreeMap<usize, StepLine<'_>> = BTreeMap::new();
        for step in &self.steps {
            for (at, of_system) in step.systems.iter().enumerate() {
                let line = lines
                    .entry(at)
                    .or_insert_with(|| StepLine { name: &of_system.system, values: Vec::new() });
                line.values.push(share(&of_system.counts));
            }
        }
        let labels: Vec<&str> = self.steps.iter().map(|step| step.step.as_str()).collect();
        let title = format!("{what} of {} as rules are added, percent of answers", self.metric);
        lines_by_step(&title, &labels, &lines.into_values().collect::<Vec<_>>())
    }
}
