//! A tour of the product on the bundled sample: `sqlgauge demo`.
//!
//! # Contract
//! - Everything is computed when it runs, from the sample's questions, databases and three systems' answers. Which items
//!   the tour shows follows from the scores: the first that fit, in the order of the benchmark.
//! - No solver takes part, so that the tour is the same with and without one.
//! - The folder keeps what was made: `benchmark` (the sample), `run` (its scores), `labelled` (the run that the estimates
//!   know), `estimate`, `evolved` (the benchmark under another schema), `evolved-run`, and `index.html`, which links to all.

mod page;

use std::path::PathBuf;

use serde_json::json;
use sqlgauge_base::file::write_atomically;
use sqlgauge_engine::{Engine, Moment};
use sqlgauge_estimate::Estimate;
use sqlgauge_etm::{MatchReport, Profile};
use sqlgauge_evolve::{ChangeKind, EvolvePlan};
use sqlgauge_report::{ItemView, Report};
use sqlgauge_run::{Item, RunError};
use sqlgauge_verify::Verdict;

use crate::context::Context;
use crate::error::Error;
use crate::estimate::EstimateJob;
use crate::evolve::EvolveJob;
use crate::match_pair::{SchemaFacts, match_pair};
use crate::sample::Sample;
use crate::score::{ScoreJob, System};
use crate::settings::{VerifySettings, metrics_of};
use crate::source::Source;
use crate::verify_pair::verify_over_database;

/// What the sample is scored with.
const METRICS: &[&str] = &[
    "ex",
    "ex-spider",
    "ex-bird",
    "verify",
    "ex-spider-distinct",
    "esm",
    "esm-fair",
    "etm",
    "table-f1",
    "column-f1",
    "soft-f1",
    "vm-steps",
];
/// The systems whose accuracy is estimated; the third answers too rarely to learn from.
const ESTIMATED: [&str; 2] = ["careful", "baseline"];
/// The database with labels, and the one without.
const LABELLED: &str = "bike_rental";
const UNLABELLED: &str = "town_library";
/// An answer with a slip that nobody would defend, and a counterexample of one row.
const WRONG: (&str, &str) = ("careful", "lib-08");
/// The change of schema.
const CHANGE: ChangeKind = ChangeKind::RenameColumns;

/// The tour.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use sqlgauge_core::{Context, DemoJob};
///
/// let folder = tempfile::tempdir()?;
/// let demo = DemoJob { out: folder.path().join("demo"), command: Vec::new() }.run(&Context::default())?;
/// assert!(demo.page.is_file());
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct DemoJob {
    /// Folder to write.
    pub out: PathBuf,
    /// The command or call, for the record.
    pub command: Vec<String>,
}

/// What the tour has to show.
#[derive(Debug)]
pub struct Tour {
    /// The scores of three systems.
    pub report: Report,
    /// A wrong answer, and a small database that shows why.
    pub refuted: Option<RefutedAnswer>,
    /// An answer that exact set match calls wrong, and the rules that show that it is right.
    pub matched: Option<MatchedAnswer>,
    /// Estimates without labels, beside the truth.
    pub estimates: Vec<EstimateAndTruth>,
    /// What the answers are worth under another schema.
    pub evolved: Vec<BeforeAndAfter>,
    /// The page that links to everything.
    pub page: PathBuf,
}

/// A gold and an answer to the same question.
#[derive(Debug, Clone)]
pub struct ShownPair {
    /// The system.
    pub system: String,
    /// Id of the item.
    pub id: String,
    /// The question.
    pub question: String,
    /// The gold query.
    pub gold: String,
    /// The prediction.
    pub prediction: String,
}

/// A wrong answer with its counterexample.
#[derive(Debug)]
pub struct RefutedAnswer {
    /// The queries.
    pub pair: ShownPair,
    /// The verdict with its counterexample.
    pub verdict: sqlgauge_verify::VerifyReport,
}

/// An answer that is equal by rules although it is written otherwise.
#[derive(Debug)]
pub struct MatchedAnswer {
    /// The queries.
    pub pair: ShownPair,
    /// The comparison with the rules that were applied.
    pub comparison: MatchReport,
}

/// An estimate of a system's accuracy on a database without labels, and what it is.
#[derive(Debug)]
pub struct EstimateAndTruth {
    /// The estimate.
    pub estimate: Estimate,
    /// The accuracy by the golds, which the estimate has not seen.
    pub truth: f64,
}

/// A system's execution accuracy on the original and on the changed schema.
#[derive(Debug)]
pub struct BeforeAndAfter {
    /// The system.
    pub system: String,
    /// On the original.
    pub before: f64,
    /// The same answers on the changed schema.
    pub after: f64,
}

impl DemoJob {
    /// Scores the sample, and shows what the product has to say of it.
    ///
    /// # Errors
    /// When the folder cannot be written, or holds something else than a tour.
    pub fn run(&self, context: &Context<'_>) -> Result<Tour, Error> {
        let sample = Sample::unpack(&self.out.join("benchmark"))?;
        let report = self.scores(&sample, context)?;
        let items = report.items.to_vec()?;
        let engine = context.sqlite(Sample::limits(), Moment::now())?;
        let refuted = refuted(&items, &sample, &engine)?;
        let matched = matched(&items, &sample, &engine)?;
        let estimates = self.estimates(&sample, &items, context)?;
        let evolved = self.evolved(&sample, &report, context)?;
        let page = self.out.join("index.html");
        let demo = Tour { report, refuted, matched, estimates, evolved, page };
        let html = page::html(&demo);
        let unwritable = |source| RunError::Unwritable { path: demo.page.clone(), source };
        write_atomically(&demo.page, |out| out.write_all(html.as_bytes())).map_err(unwritable)?;
        Ok(demo)
    }

    fn scores(&self, sample: &Sample, context: &Context<'_>) -> Result<Report, Error> {
        let job = sample.score_job(METRICS, self.out.join("run"))?;
        ScoreJob { command: self.command.clone(), ..job }.run(context)
    }

    /// Estimates on one database, from labels on the other alone.
    fn estimates(
        &self,
        sample: &Sample,
        items: &[Item],
        context: &Context<'_>,
    ) -> Result<Vec<EstimateAndTruth>, Error> {
        let labelled = self.out.join("labelled");
        let of = |name: &str, db_id| System::new(name, part(items, Some(name), db_id));
        let systems = |db_id| ESTIMATED.iter().map(|name| of(name, db_id)).collect::<Vec<_>>();
        let job = ScoreJob {
            limits: Sample::limits(),
            command: self.command.clone(),
            ..ScoreJob::new(
                part(items, None, LABELLED),
                sample.databases.clone(),
                systems(LABELLED),
                metrics_of(["ex"])?,
                labelled.clone(),
            )
        };
        job.run(context)?;
        let job = EstimateJob {
            known: vec![labelled],
            systems: systems(UNLABELLED),
            limits: Sample::limits(),
            out: Some(self.out.join("estimate").into()),
            command: self.command.clone(),
            ..EstimateJob::new(part(items, None, UNLABELLED), &sample.databases)
        };
        let estimates = job.run(context)?.report.estimates;
        Ok(estimates
            .into_iter()
            .map(|estimate| EstimateAndTruth { truth: truth(items, &estimate), estimate })
            .collect())
    }

    /// The same answers on the benchmark with renamed columns.
    fn evolved(
        &self,
        sample: &Sample,
        original: &Report,
        context: &Context<'_>,
    ) -> Result<Vec<BeforeAndAfter>, Error> {
        let folder = self.out.join("evolved");
        let job = EvolveJob {
            plan: EvolvePlan::Kinds { kinds: vec![CHANGE], per_item: false },
            limits: Sample::limits(),
            ..EvolveJob::new(&sample.questions, &sample.databases, &folder)
        };
        job.run(context)?;
        let benchmark = folder.join(CHANGE.name());
        let systems =
            ESTIMATED.iter().filter_map(|name| Some(System::new(*name, sample.predictions_of(name)?)));
        let job = ScoreJob {
            limits: Sample::limits(),
            command: self.command.clone(),
            ..ScoreJob::new(
                Source::File(benchmark.join("dev.json")),
                benchmark.join("database"),
                systems.collect(),
                metrics_of(["ex"])?,
                self.out.join("evolved-run"),
            )
        };
        let evolved = job.run(context)?;
        let score = |report: &Report, name: &str| {
            let system = report.summary.systems.iter().find(|system| system.system == name)?;
            system.scores.get("ex@1")?.mean
        };
        let both = |name: &&str| {
            let (before, after) = (score(original, name)?, score(&evolved, name)?);
            Some(BeforeAndAfter { system: (*name).to_owned(), before, after })
        };
        Ok(ESTIMATED.iter().filter_map(both).collect())
    }
}

/// The questions of one database as JSON lines, with their golds; or a system's answers to them.
fn part(items: &[Item], system: Option<&str>, db_id: &str) -> Source {
    let wanted = system.unwrap_or(ESTIMATED[0]);
    let mut bytes = Vec::new();
    for item in items.iter().filter(|item| item.system == wanted && item.db_id == db_id) {
        let view = ItemView::new(item);
        let line = match system {
            Some(_) => match view.prediction() {
                Some(sql) => json!({"id": item.id, "sql": sql}),
                None => continue,
            },
            None => json!({"id": item.id, "db_id": db_id, "question": view.question(), "gold": view.golds()}),
        };
        bytes.extend_from_slice(line.to_string().as_bytes());
        bytes.push(b'\n');
    }
    Source::Memory { name: format!("{db_id} of the sample").into(), bytes: bytes.into() }
}

/// The accuracy that was estimated, by the golds.
fn truth(items: &[Item], estimate: &Estimate) -> f64 {
    let of = items.iter().filter(|item| item.system == estimate.system && item.db_id == UNLABELLED);
    let scores: Vec<f64> = of.filter_map(|item| score(item, "ex@1")).collect();
    scores.iter().sum::<f64>() / scores.len().max(1) as f64
}

fn score(item: &Item, metric: &str) -> Option<f64> {
    item.metrics.get(metric).copied().flatten()
}

fn is(item: &Item, metric: &str, value: f64) -> bool {
    score(item, metric).is_some_and(|score| score.total_cmp(&value).is_eq())
}

/// The pairs of the items that fit, each gold with the answer.
fn pairs<'a>(
    items: &'a [Item],
    fits: impl Fn(&Item) -> bool + 'a,
) -> impl Iterator<Item = (ShownPair, &'a str)> {
    items.iter().filter(move |item| fits(item)).flat_map(|item| {
        let view = ItemView::new(item);
        view.golds().into_iter().map(move |gold| {
            let text = |text: Option<&str>| text.unwrap_or_default().to_owned();
            let pair = ShownPair {
                system: item.system.clone(),
                id: item.id.clone(),
                question: text(view.question()),
                gold: gold.to_owned(),
                prediction: text(view.prediction()),
            };
            (pair, item.db_id.as_str())
        })
    })
}

/// The wrong answer of the tour, refuted by a database like the sample's.
fn refuted(items: &[Item], sample: &Sample, engine: &dyn Engine) -> Result<Option<RefutedAnswer>, Error> {
    let settings = VerifySettings::default();
    for (pair, db_id) in pairs(items, |item| (item.system.as_str(), item.id.as_str()) == WRONG) {
        let database = engine.open(&sample.database(db_id))?;
        let verdict = verify_over_database(&settings, engine, &database, &pair.gold, &pair.prediction)?;
        if let Verdict::Different(counterexample) = &verdict.verdict
            && counterexample
                .resemblance
                .as_ref()
                .is_some_and(|resemblance| resemblance.is_complete() == Some(true))
        {
            return Ok(Some(RefutedAnswer { pair, verdict }));
        }
    }
    Ok(None)
}

/// The first answer that exact set match calls wrong and rules prove right.
fn matched(items: &[Item], sample: &Sample, engine: &dyn Engine) -> Result<Option<MatchedAnswer>, Error> {
    for (pair, db_id) in pairs(items, |item| is(item, "esm@1", 0.0) && is(item, "etm@1", 1.0)) {
        let database = engine.open(&sample.database(db_id))?;
        let queries = [pair.gold.as_str(), pair.prediction.as_str()];
        let facts = SchemaFacts::of_database(engine, &database, Profile::Sound, &queries)?;
        let comparison = match_pair(&facts, Profile::Sound, &pair.gold, &pair.prediction);
        let rules =
            [&comparison.left, &comparison.right].into_iter().flatten().map(|form| form.applications.len());
        if comparison.verdict.is_equal() && rules.sum::<usize>() > 0 {
            return Ok(Some(MatchedAnswer { pair, comparison }));
        }
    }
    Ok(None)
}
