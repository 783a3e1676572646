//! Questions, answers and databases to a plan.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rayon::prelude::*;
use sqlgauge_dataset::{Columns, Databases, Example, FileFormat, PredictionSet, parse_workload};
use sqlgauge_engine::{Engine, Limits, Moment, ResultSet};
use sqlgauge_estimate::asked_of_one;
use sqlgauge_estimate::labelling::proxy::{self, Results};
use sqlgauge_estimate::labelling::{Answers, Goal, LabelFolder, LabelPlan, PlanAnswer, PlanItem, Wanted};
use sqlgauge_estimate::report::Reliability;
use sqlgauge_metrics::Target;
use sqlgauge_run::UsedDatabases;

use crate::context::Context;
use crate::error::Error;
use crate::one_database::name_database;
use crate::same::{Sameness, VoteBy};
use crate::score::System;
use crate::settings::VerifySettings;
use crate::source::{Source, digest_sources};
use crate::subset::{Subset, pick, select_without_golds};
use crate::values::OutputPath;

/// Plans which answers to label.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use sqlgauge_core::{Context, LabelAddJob, LabelNextJob, LabelPlanJob, Sample, System};
///
/// let folder = tempfile::tempdir()?;
/// let sample = Sample::unpack(folder.path())?;
/// let system = |name: &str| System::new(name, sample.predictions_of(name).expect("a file of it"));
/// let out = folder.path().join("labels");
/// let job = LabelPlanJob::new(sample.questions.as_path(), vec![system("careful")], &sample.databases, &out);
/// let job = LabelPlanJob { peers: vec![system("baseline")], width: 0.1, ..job };
/// job.run(&Context::default())?;
///
/// let questions = LabelNextJob::new(&out).run(&Context::default())?;
/// let add = LabelAddJob { id: Some(questions[0].id.clone()), verdict: vec!["right".to_owned()], ..LabelAddJob::new(&out) };
/// assert_eq!(add.run()?.labels, 1);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct LabelPlanJob {
    /// File with the questions (golds in it are not read)
    #[cfg_attr(feature = "cli", arg(long, value_name = "FILE"))]
    pub questions: Source,
    /// Predictions of the system whose accuracy is wanted; repeat for a leaderboard, where one label is of all
    #[cfg_attr(
        feature = "cli",
        arg(long = "pred", id = "predictions", value_name = "NAME=FILE", required = true)
    )]
    pub systems: Vec<System>,
    /// Predictions of a second system: wanted is the accuracy of --pred less its own
    #[cfg_attr(feature = "cli", arg(long, value_name = "NAME=FILE"))]
    pub against: Option<System>,
    /// Predictions of another system on the same questions, to compare answers with; repeat for more
    #[cfg_attr(feature = "cli", arg(long = "peer", value_name = "NAME=FILE"))]
    pub peers: Vec<System>,
    /// Folder that `estimate --out` wrote, whose probabilities take the place of peers
    #[cfg_attr(feature = "cli", arg(long, value_name = "DIR", conflicts_with = "peers"))]
    pub estimate: Option<PathBuf>,
    /// Folder with `DB_ID/DB_ID.sqlite`, one database file, or the address of a server
    #[cfg_attr(feature = "cli", arg(long, value_name = "DIR"))]
    pub db: PathBuf,
    /// Half the width of the interval, as a share: 0.03 is ±3 points
    #[cfg_attr(feature = "cli", arg(long, value_name = "X", default_value_t = 0.03))]
    pub width: f64,
    /// Probability that the interval contains the true accuracy (0.5 <= P < 1)
    #[cfg_attr(feature = "cli", arg(long, value_name = "P", default_value_t = 0.95))]
    pub level: f64,
    /// Stop as soon as it is sure which of the two is better
    #[cfg_attr(feature = "cli", arg(long, requires = "against"))]
    pub winner: bool,
    /// Two answers are equal by their results; by a proof; or by their results unless `verify` finds a database where they differ
    #[cfg_attr(feature = "cli", arg(long, value_name = "WHAT", default_value = "both", value_parser = crate::cli::vote_by()))]
    pub by: VoteBy,
    /// Seed of the random draws
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", default_value_t = 0))]
    pub seed: u64,
    /// Folder to write: plan.json, and later draws.jsonl and labels.jsonl
    #[cfg_attr(feature = "cli", arg(long, value_name = "DIR"))]
    pub out: OutputPath,
    /// Format of the file with the questions or golds, where detection is wrong
    #[cfg_attr(feature = "cli", arg(long, value_name = "FORMAT", value_parser = crate::cli::file_format()))]
    pub format: Option<FileFormat>,
    /// Format of the prediction files, where detection is wrong
    #[cfg_attr(feature = "cli", arg(long = "pred-format", value_name = "FORMAT",
        value_parser = crate::cli::file_format()))]
    pub prediction_format: Option<FileFormat>,
    /// Date, or date and time of UTC, that queries take for now [default: when the run began]
    #[cfg_attr(feature = "cli", arg(long, value_name = "TIME"))]
    pub now: Option<Moment>,
    /// Columns of the questions that the user named.
    #[cfg_attr(feature = "cli", arg(skip))]
    pub columns: Columns,
    /// Which of the questions are taken.
    #[cfg_attr(feature = "cli", command(flatten))]
    pub subset: Subset,
    /// Limits of every query.
    #[cfg_attr(feature = "cli", command(flatten))]
    pub limits: Limits,
    /// How two answers are told apart.
    #[cfg_attr(feature = "cli", command(flatten))]
    pub verify: VerifySettings,
    /// The command or call, for the record.
    #[cfg_attr(feature = "cli", arg(skip))]
    pub command: Vec<String>,
}

/// What a result has in common with an equal one: width, rows, their set or, of a query that sorts, their order.
type ResultKey = (usize, usize, u64, bool);

/// The answers to one question.
struct Answered<'a> {
    texts: Vec<&'a str>,
    /// Results by number, systems first, then peers.
    results: Vec<Option<usize>>,
    empty: Vec<bool>,
    /// Answers of systems that take one verdict.
    classes: Vec<Option<usize>>,
}

impl LabelPlanJob {
    /// The job with the defaults of the command line.
    pub fn new(
        questions: impl Into<Source>,
        systems: Vec<System>,
        db: impl Into<PathBuf>,
        out: impl Into<PathBuf>,
    ) -> Self {
        Self {
            questions: questions.into(),
            systems,
            db: db.into(),
            out: out.into().into(),
            width: 0.03,
            level: 0.95,
            by: VoteBy::Both,
            ..Self::default()
        }
    }

    /// Runs the answers and writes the plan.
    ///
    /// # Errors
    /// When an input cannot be read, a query could not be run, an option is out of range, or the folder has a plan with labels.
    pub fn run(&self, context: &Context<'_>) -> Result<LabelFolder, Error> {
        let goal = Goal { width: self.width, level: self.level, winner: self.winner };
        if let Some(fault) = goal.fault() {
            return Err(Error::Invalid(fault));
        }
        if self.against.is_some() && self.systems.len() != 1 {
            return Err(Error::Invalid("--against compares one --pred with one other system".to_owned()));
        }
        let wanted = if self.against.is_some() { Wanted::Difference } else { Wanted::Accuracy };
        let (examples, sets) = self.read(context)?;
        let now = self.now.unwrap_or_else(Moment::now);
        let engine = context.engine_for(Some(&self.db), 0, self.limits, now)?;
        let by = self.by.on(engine.as_ref(), context.watcher())?;
        let used = UsedDatabases::locate(&Databases::open(&self.db)?, &examples, false)
            .map_err(|error| Error::asked_in_part(self.questions.path(), error))?;
        let targets = used.open(engine.as_ref(), None)?;
        let opened = targets.iter().map(|(name, target)| (name.as_str(), target.database.path()));
        asked_of_one(opened).iter().for_each(|text| context.watcher().note(text));
        self.refuse_without_rows(engine.as_ref(), &targets)?;
        let count = sets.len() - self.peers.len();
        let answered = self.answer(&examples, (&sets, count), (engine.as_ref(), by), &targets)?;
        engine.check_data()?;
        let answers = self.proxies(&answered, &examples, &sets[..count])?;
        let items = examples.into_iter().zip(&answered).enumerate().map(|(place, (example, of))| PlanItem {
            id: example.id,
            db_id: example.db_id,
            question: example.question,
            evidence: example.evidence,
            answers: (0..count)
                .map(|at| PlanAnswer::new(of.texts[at], of.classes[at], answers[at].features[place].clone()))
                .collect(),
        });
        let systems = sets[..count].iter().map(|set| set.system.clone()).collect();
        let plan = LabelPlan {
            command: self.command.clone(),
            seed: self.seed,
            now: now.to_string(),
            inputs: [digest_sources(&self.inputs())?, used.digest(&targets)?].concat(),
            ..LabelPlan::new(wanted, goal, systems, items.collect())
        };
        Ok(LabelFolder::create(&self.out, &plan)?)
    }

    fn inputs(&self) -> Vec<(String, &Source)> {
        let mut inputs = vec![("target".to_owned(), &self.questions)];
        let systems = self.systems.iter().chain(&self.against);
        inputs.extend(systems.map(|system| (format!("predictions:{}", system.name), &system.predictions)));
        inputs.extend(self.peers.iter().map(|peer| (format!("peer:{}", peer.name), &peer.predictions)));
        inputs
    }

    /// The questions that are taken, and the answers of systems and peers to them.
    fn read(&self, context: &Context<'_>) -> Result<(Vec<Example>, Vec<PredictionSet>), Error> {
        let format = self.questions.format(self.format)?;
        let mut workload = parse_workload(&self.questions.read()?, format, &self.columns)?;
        name_database(&mut workload, Some(&self.db), None)?;
        let all = self.systems.iter().chain(&self.against).chain(&self.peers);
        let names: Vec<&str> = all.clone().map(|system| system.name.as_str()).collect();
        let is_twice = |at: &usize| names[..*at].contains(&names[*at]);
        if let Some(twice) = (0..names.len()).find(is_twice) {
            let name = names[twice];
            return Err(Error::Invalid(format!(
                "two systems are named {name}; write NAME=FILE with different names"
            )));
        }
        let mut sets = Vec::new();
        for system in all {
            let set = system.read(&workload, self.prediction_format, false, false)?;
            set.notes.iter().for_each(|text| context.watcher().note(text));
            sets.push(set);
        }
        let subset = Subset { seed: self.seed, ..self.subset.clone() };
        if let Some(part) =
            select_without_golds(&subset, &workload.examples, Some(&self.db), context.watcher())?
        {
            sets = sets.into_iter().map(|set| set.of_part(&part, &workload.examples)).collect();
            workload.examples = pick(workload.examples, Some(&part));
        }
        Ok((workload.examples, sets))
    }

    /// Without rows, all results are empty and equal, which says nothing.
    fn refuse_without_rows(
        &self,
        engine: &dyn Engine,
        targets: &HashMap<String, Arc<Target>>,
    ) -> Result<(), Error> {
        let empty = targets.values().filter(|target| !target.database.has_rows(engine));
        let empty: BTreeSet<&str> = empty.map(|target| target.db_id.as_str()).collect();
        match empty.first() {
            None => Ok(()),
            Some(first) => Err(Error::Invalid(format!(
                "{}: the database {first} has no rows, so no answer to it can be judged; give --db with rows, or --db-id with the databases that have some",
                self.db.display()
            ))),
        }
    }

    fn answer<'a>(
        &self,
        examples: &[Example],
        (sets, count): (&'a [PredictionSet], usize),
        (engine, by): (&dyn Engine, VoteBy),
        targets: &HashMap<String, Arc<Target>>,
    ) -> Result<Vec<Answered<'a>>, Error> {
        let answer = |(place, example): (usize, &Example)| -> Result<Answered<'a>, Error> {
            let database = &targets[&example.db_id].database;
            let texts =
                sets.iter().map(|set| set.predictions[place].as_ref().map_or("", |of| of.sql.as_str()));
            let texts: Vec<&str> = texts.collect();
            let mut numbers: HashMap<ResultKey, usize> = HashMap::new();
            let mut of_text: HashMap<&str, (Option<usize>, bool)> = HashMap::new();
            for text in texts.iter().copied().filter(|text| !text.trim().is_empty()) {
                if of_text.contains_key(text) {
                    continue;
                }
                let execution = engine.run(database, text);
                engine.check()?;
                let key = execution.rows().map(|rows| (key(rows, text), rows.is_empty()));
                let next = numbers.len();
                let number = key.map(|(key, _)| *numbers.entry(key).or_insert(next));
                of_text.insert(text, (number, key.is_some_and(|(_, is_empty)| is_empty)));
            }
            let (results, empty): (Vec<_>, Vec<_>) =
                texts.iter().map(|text| of_text.get(text).copied().unwrap_or_default()).unzip();
            let sameness = Sameness { by, verify: &self.verify, engine, database };
            let classes = classes(&sameness, &texts[..count], &results)?;
            Ok(Answered { texts, results, empty, classes })
        };
        examples.par_iter().enumerate().map(answer).collect()
    }

    /// What is likely of each answer before a label.
    fn proxies(
        &self,
        answered: &[Answered<'_>],
        examples: &[Example],
        systems: &[PredictionSet],
    ) -> Result<Vec<Answers>, Error> {
        let results = |system: usize| Results {
            sql: answered.iter().map(|of| of.texts[system]).collect(),
            classes: answered.iter().map(|of| of.results[system]).collect(),
            empty: answered.iter().map(|of| of.empty[system]).collect(),
        };
        let all: Vec<Results<'_>> =
            (0..answered.first().map_or(0, |of| of.texts.len())).map(results).collect();
        let estimates = self.estimate.as_deref().map(probabilities).transpose()?;
        let of_system = |at: usize| {
            let peers: Vec<&Results<'_>> =
                all.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, peer)| peer).collect();
            if let Some(estimates) = &estimates {
                let name = &systems[at].system;
                let probability = |place: usize| {
                    estimates.get(&(name.clone(), examples[place].id.clone())).copied().unwrap_or(0.5)
                };
                return proxy::with_probabilities(&all[at], probability);
            }
            if peers.is_empty() { proxy::unknown(&all[at]) } else { proxy::by_agreement(&all[at], &peers) }
        };
        Ok((0..systems.len()).into_par_iter().map(of_system).collect())
    }
}

fn key(rows: &ResultSet, text: &str) -> ResultKey {
    let sorts = text.to_ascii_lowercase().contains("order by");
    let print = if sorts { rows.ordered_fingerprint() } else { rows.fingerprint() };
    (rows.width(), print.rows, print.set, sorts)
}

/// Answers of one result that take one verdict: each is compared with the first of a class.
fn classes(
    sameness: &Sameness<'_>,
    texts: &[&str],
    results: &[Option<usize>],
) -> Result<Vec<Option<usize>>, Error> {
    let mut firsts: Vec<usize> = Vec::new();
    let mut classes = Vec::new();
    for (at, result) in results[..texts.len()].iter().enumerate() {
        let mut class = None;
        for (number, first) in firsts.iter().enumerate().filter(|(_, first)| results[**first] == *result) {
            if sameness.holds(texts[*first], texts[at])? {
                class = Some(number);
                break;
            }
        }
        if class.is_none() && result.is_some() {
            class = Some(firsts.len());
            firsts.push(at);
        }
        classes.push(class);
    }
    Ok(classes)
}

/// Bytes of an estimate's files.
const MOST_BYTES: u64 = 1 << 30;

/// The probability of each answer that an estimate has, by system and id.
fn probabilities(folder: &Path) -> Result<HashMap<(String, String), f64>, Error> {
    let report = Reliability::read(folder, MOST_BYTES)?;
    let of = |estimate: sqlgauge_estimate::Estimate| {
        let system = estimate.system;
        estimate.items.into_iter().map(move |item| ((system.clone(), item.id), item.probability))
    };
    Ok(report.estimates.into_iter().flat_map(of).collect())
}
