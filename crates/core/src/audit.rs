//! What is wrong with the golds of a benchmark: `sqlgauge audit`.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::PathBuf;
use std::sync::Arc;

use sqlgauge_audit::{
    Allowed, AuditedItem, Auditor, BenchmarkAudit, Finding, ItemAudit, Peer, Proposal, RuleSelection,
    RuleStanding,
};
use sqlgauge_base::pool::Pool;
use sqlgauge_dataset::{Benchmark, Columns, Databases, Example, FileFormat, PredictionSet, parse_benchmark};
use sqlgauge_engine::{Engine, Limits, Moment};
use sqlgauge_metrics::Verification;
use sqlgauge_verify::Verdict;

use crate::context::Context;
use crate::error::Error;
use crate::one_database::name_database;
use crate::score::System;
use crate::settings::VerifySettings;
use crate::source::Source;
use crate::subset::{self, Subset, pick};

/// Looks for defects in the golds of a benchmark.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use sqlgauge_core::{AuditJob, Context, Sample, Source};
///
/// let folder = tempfile::tempdir()?;
/// let sample = Sample::unpack(folder.path())?;
/// let job = AuditJob::new(Source::from(sample.questions.as_path()), sample.databases);
/// let audit = job.run(&Context::default())?;
/// // One entry for each gold: 41 questions, of which some have several.
/// assert_eq!(audit.items.len(), 48);
/// assert!(audit.items.iter().all(|item| !item.audit.has("does-not-run")));
/// # Ok(())
/// # }
/// ```
#[derive(Default)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct AuditJob {
    /// File with the gold queries (Spider .sql or dev.json, BIRD dev.json, JSONL, CSV, Parquet); `-` is standard
    /// input, here and in the other files
    #[cfg_attr(feature = "cli", arg(long, value_name = "FILE"))]
    pub gold: Source,
    /// File with the questions, where the gold file has none
    #[cfg_attr(feature = "cli", arg(long, value_name = "FILE"))]
    pub questions: Option<Source>,
    /// Folder with `DB_ID/DB_ID.sqlite`, or one database file
    // Or the address of a server.
    #[cfg_attr(feature = "cli", arg(long, value_name = "DIR"))]
    pub db: PathBuf,
    /// Answers of a system, which are compared with the golds; may be given several times
    #[cfg_attr(feature = "cli", arg(long = "pred", id = "predictions", value_name = "NAME=FILE"))]
    pub systems: Vec<System>,
    /// The rules that run.
    #[cfg_attr(feature = "cli", arg(skip))]
    pub rules: RuleSelection,
    /// Findings that are allowed: JSON lines of id, rule and reason
    #[cfg_attr(feature = "cli", arg(long, value_name = "FILE"))]
    pub allow: Option<Source>,
    /// How proposals are verified; without, they are not.
    #[cfg_attr(feature = "cli", arg(skip = Some(Self::default_verify())))]
    pub verify: Option<VerifySettings>,
    /// Which questions are looked at; by default all.
    #[cfg_attr(feature = "cli", command(flatten))]
    pub subset: Subset,
    /// Date, or date and time of UTC, that queries take for now [default: when the run began]
    #[cfg_attr(feature = "cli", arg(long, value_name = "TIME"))]
    pub now: Option<Moment>,
    /// Connections to each database of a server at once
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", default_value_t = 8,
        value_parser = clap::value_parser!(u16).range(1..)))]
    pub connections: u16,
    /// Worker threads; 0 means one per core
    #[cfg_attr(feature = "cli", arg(long, short, value_name = "N", default_value_t = 0))]
    pub jobs: usize,
    /// Format of the golds, where detection is wrong.
    #[cfg_attr(feature = "cli", arg(skip))]
    pub format: Option<FileFormat>,
    /// Format of the prediction files, where detection is wrong
    #[cfg_attr(feature = "cli", arg(long = "pred-format", value_name = "FORMAT",
        value_parser = crate::cli::file_format()))]
    pub prediction_format: Option<FileFormat>,
    /// Columns that the user named in the golds.
    #[cfg_attr(feature = "cli", arg(skip))]
    pub columns: Columns,
    /// Limits of every query.
    #[cfg_attr(feature = "cli", command(flatten))]
    pub limits: Limits,
}

impl AuditJob {
    /// Seconds for the verification of one proposal.
    pub const SECONDS: u64 = 2;

    /// The job with the defaults of `sqlgauge audit`.
    pub fn new(gold: Source, db: PathBuf) -> Self {
        Self { gold, db, verify: Some(Self::default_verify()), ..Self::default() }
    }

    fn default_verify() -> VerifySettings {
        let pair_timeout = Some(std::time::Duration::from_secs(Self::SECONDS));
        VerifySettings { pair_timeout, ..VerifySettings::default() }
    }

    /// Looks at every gold.
    ///
    /// # Errors
    /// When an input cannot be read or does not fit the others, an allowed finding has no reason, or the job is asked to stop.
    pub fn run(&self, context: &Context<'_>) -> Result<BenchmarkAudit, Error> {
        let watcher = context.watcher();
        let now = self.now.unwrap_or_else(Moment::now);
        let engine = context.engine_for(Some(&self.db), self.connections.into(), self.limits, now)?;
        let benchmark = self.benchmark()?;
        benchmark.notes.iter().for_each(|text| watcher.note(text));
        let allowed = self.allowed()?;
        let selection =
            subset::select(&self.subset, &benchmark.examples, &self.db, engine.as_ref(), watcher)?;
        let (positions, questions) = (selection.positions, benchmark.examples.len());
        let peers = self.peers(&benchmark, positions.as_deref())?;
        peers.iter().flat_map(|set| &set.notes).for_each(|text| watcher.note(text));
        let examples = pick(benchmark.examples, positions.as_deref());
        let mut items = self.audit(&examples, &peers, engine.as_ref(), context)?;
        let unused = allowed.apply(&mut items)?;
        unused.iter().for_each(|text| watcher.note(text));
        let rules = self.rules.rules().iter().map(|rule| rule.name).collect();
        Ok(BenchmarkAudit { source: self.gold.path().display().to_string(), questions, rules, items })
    }

    fn benchmark(&self) -> Result<Benchmark, Error> {
        let questions = self.questions.as_ref().map(Source::read).transpose()?;
        let format = self.gold.format(self.format)?;
        let mut benchmark = parse_benchmark(&self.gold.read()?, questions.as_ref(), format, &self.columns)?;
        name_database(&mut benchmark, Some(&self.db), None)?;
        Ok(benchmark)
    }

    fn allowed(&self) -> Result<Allowed, Error> {
        let Some(source) = &self.allow else { return Ok(Allowed::default()) };
        let bytes = source.read()?;
        let text = String::from_utf8_lossy(bytes.bytes()).into_owned();
        Allowed::parse(&text).map_err(|error| Error::Invalid(format!("{}: {error}", source.path().display())))
    }

    fn peers(&self, benchmark: &Benchmark, positions: Option<&[usize]>) -> Result<Vec<PredictionSet>, Error> {
        let read = |system: &System| {
            let mut set = system.read(benchmark, self.prediction_format, false, true)?;
            set.predictions = pick(std::mem::take(&mut set.predictions), positions);
            Ok(set)
        };
        self.systems.iter().map(read).collect()
    }

    fn audit(
        &self,
        examples: &[Example],
        peers: &[PredictionSet],
        engine: &dyn Engine,
        context: &Context<'_>,
    ) -> Result<Vec<AuditedItem>, Error> {
        let auditors = self.auditors(examples, engine)?;
        let verification = self.verify.as_ref().map(VerifySettings::verification);
        context.watcher().started("items", examples.len(), 0);
        let done = std::sync::atomic::AtomicUsize::new(0);
        let of_example = |position: usize| {
            let (example, verification) = (&examples[position], verification.as_ref());
            let items = Self::of_example(example, position, peers, &auditors, verification, context)?;
            context.watcher().advanced(done.fetch_add(1, std::sync::atomic::Ordering::Relaxed) + 1);
            Ok::<_, Error>(items)
        };
        let items = Pool::of(self.jobs).try_map(examples.len(), of_example)?;
        engine.check()?;
        engine.check_data()?;
        Ok(items.into_iter().flatten().collect())
    }

    /// An auditor for each database.
    fn auditors<'e>(
        &self,
        examples: &[Example],
        engine: &'e dyn Engine,
    ) -> Result<BTreeMap<String, Auditor<'e>>, Error> {
        let databases = Databases::open(&self.db)?;
        let mut auditors = BTreeMap::new();
        for example in examples {
            if let Entry::Vacant(place) = auditors.entry(example.db_id.clone()) {
                let located = databases.locate(&example.db_id);
                let main = located.map_err(|error| Error::asked_in_part(self.gold.path(), error))?.main;
                place.insert(Auditor::new(engine, engine.open(&main)?, self.rules.clone()));
            }
        }
        Ok(auditors)
    }

    fn of_example(
        example: &Example,
        position: usize,
        peers: &[PredictionSet],
        auditors: &BTreeMap<String, Auditor<'_>>,
        verification: Option<&Verification>,
        context: &Context<'_>,
    ) -> Result<Vec<AuditedItem>, Error> {
        if context.is_stopped() {
            return Err(Error::Invalid("the audit was stopped; run the same command again".to_owned()));
        }
        let Some(auditor) = auditors.get(&example.db_id) else { return Ok(Vec::new()) };
        let answer = |set: &'_ PredictionSet| set.predictions.get(position).cloned().flatten();
        let answers: Vec<(String, String)> =
            peers.iter().filter_map(|set| Some((set.system.clone(), answer(set)?.sql))).collect();
        let peers: Vec<Peer<'_>> = answers.iter().map(|(system, sql)| Peer { system, sql }).collect();
        let of_gold = |(gold, sql): (usize, &String)| {
            let mut audit =
                auditor.audit(sql, example.question.as_deref(), example.evidence.as_deref(), &peers);
            if let Some(verification) = verification {
                verify(auditor, verification, sql, &mut audit)?;
            }
            Ok(AuditedItem {
                id: example.id.clone(),
                index: example.index,
                gold,
                db_id: example.db_id.clone(),
                question: example.question.clone(),
                sql: sql.clone(),
                audit,
            })
        };
        example.golds.iter().enumerate().map(of_gold).collect()
    }
}

/// Verifies the proposals, which SQLite's meaning is needed for. A proposal that is equivalent to the gold shows that the finding has no effect: it is taken back,
/// unless it is a remark on style.
fn verify(
    auditor: &Auditor<'_>,
    verification: &Verification,
    gold: &str,
    audit: &mut ItemAudit,
) -> Result<(), Error> {
    let schema = Arc::clone(auditor.database().schema());
    if !auditor.engine().is_sqlite() {
        let proposals = audit.findings.iter_mut().filter_map(|finding| finding.rewrite.as_mut());
        proposals
            .for_each(|proposal| proposal.verdict = Some("unknown: verify is defined for SQLite".to_owned()));
        return Ok(());
    }
    for finding in &mut audit.findings {
        let Some(proposal) = &mut finding.rewrite else { continue };
        match verification.verdict(&schema, None, gold, &proposal.sql)? {
            Ok(report) => note(proposal, &report.verdict),
            Err(refused) => proposal.verdict = Some(format!("unknown: {refused}")),
        }
    }
    let is_without_effect = |finding: &Finding| {
        let verdict = finding.rewrite.as_ref().and_then(|proposal| proposal.verdict.as_deref());
        verdict == Some("equivalent") && finding.standing != RuleStanding::Hint
    };
    audit.findings.retain(|finding| !is_without_effect(finding));
    Ok(())
}

fn note(proposal: &mut Proposal, verdict: &Verdict) {
    proposal.verdict = Some(verdict.name().to_owned());
    if let Verdict::Different(counterexample) = verdict {
        proposal.difference.clone_from(&counterexample.explanation);
    }
}
