//! `sqlgauge verify`.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, bail};
use clap::{ArgGroup, Args};
use sqlgauge_core::cli::stdin::{input_file, query};
use sqlgauge_core::{
    Context, ItemPair, OutputPath, PairsJob, Reuse, ScoreJob, ShowJob, Source, Subset, System,
    VerifySettings, metrics_of, reuse, verify_over_database, verify_over_schema,
};
use sqlgauge_engine::{Engine, Limits, seconds};
use sqlgauge_metrics::{execution_metric, verify_id};
use sqlgauge_report::{Report as RunReport, ReportFormat, ShowOptions, Verdicts, verdict};
use sqlgauge_run::Shard;
use sqlgauge_verify::VerifyReport;

use crate::Verdict;
use crate::engine::engine;
use crate::options::{ClockOptions, GoldBar, database_file, schema_of};
use crate::output::{
    Style, colour, command_line, note, print, print_json, print_painted, print_with, text_tables, width,
};
use crate::scoring::verify_pairs;
use crate::solver::with_solver;

/// Find a database on which two queries differ, or prove that there is none
///
/// A pair: --left and --right. An item of a run: RUN --id ID. A file of pairs: --pairs and --out. Whole prediction files: --gold,
/// --pred and --out, which write a run like that of `score`.
///
/// Exit code of a pair: 0 if they are equivalent, 1 if they are different, 3 if it is unknown, 2 if one of them or the schema
/// cannot be read. Exit code of a run: 0 if every pair has been looked at, whatever the verdicts, 2 if an input cannot be read.
#[allow(clippy::struct_excessive_bools, reason = "each is a switch of its own")]
#[derive(Debug, Args)]
#[command(group(ArgGroup::new("run").args(["gold", "pairs"])))]
pub(crate) struct Verify {
    /// Run directory with the gold and the prediction of --id
    #[arg(value_name = "RUN", requires = "id", conflicts_with_all = ["left", "gold", "pairs", "db", "schema"])]
    scored: Option<PathBuf>,
    /// Id of an item of RUN
    #[arg(long, value_name = "ID", requires = "scored")]
    id: Option<String>,
    /// Name of the system; may be left out when the run has one
    #[arg(long, requires = "scored")]
    system: Option<String>,
    /// The gold query; `-` is standard input
    #[arg(long, value_name = "SQL", value_parser = query, requires = "right",
        required_unless_present_any = ["gold", "pairs", "scored"], conflicts_with_all = ["gold", "pairs"])]
    left: Option<String>,
    /// The other query
    #[arg(long, value_name = "SQL", value_parser = query, requires = "left")]
    right: Option<String>,
    /// SQLite file whose schema the queries are over, or a folder with one; with --gold, and with --pairs that name a `db`, the folder with
    /// `DB_ID/DB_ID.sqlite`
    #[arg(long, value_name = "FILE", required_unless_present_any = ["schema", "pairs", "scored"], conflicts_with = "schema")]
    db: Option<PathBuf>,
    /// `.sql` file with the DDL instead; `-` is standard input
    #[arg(long, value_name = "FILE", value_parser = input_file, conflicts_with_all = ["gold", "pairs"])]
    schema: Option<PathBuf>,
    /// File with the gold queries, to verify whole prediction files as a run; as for `score`
    #[arg(long, value_name = "FILE", requires_all = ["predictions", "out"])]
    gold: Option<Source>,
    /// File with pairs to verify as a run: one object `{"id", "ddl" or "db", "left", "right"}` per line; `db` is a SQLite
    /// file
    #[arg(long, value_name = "FILE", requires = "out", conflicts_with = "gold")]
    pairs: Option<Source>,
    /// Predictions of one system; may be given several times
    #[arg(long = "pred", id = "predictions", value_name = "NAME=FILE", requires = "gold")]
    predictions: Vec<System>,
    /// Verify shard I of N, e.g. 3/16; give every shard the same --now. `sqlgauge merge` puts them together
    #[arg(long, value_name = "I/N", requires_all = ["gold", "now"])]
    shard: Option<Shard>,
    /// Run directory to write; the same command again finishes an interrupted run
    #[arg(long, value_name = "DIR", requires = "run")]
    out: Option<OutputPath>,
    /// Discard the run that is in the folder
    #[arg(long, requires = "run")]
    restart: bool,
    /// Worker threads; 0 means one per core
    #[arg(long, short, value_name = "N", default_value_t = 0, requires = "run")]
    jobs: usize,
    /// Print nothing but errors
    #[arg(long, short, requires = "run", conflicts_with = "json")]
    quiet: bool,
    #[command(flatten)]
    how: VerifySettings,
    /// The old name of --pair-timeout
    #[arg(long, value_name = "SECONDS", value_parser = seconds, hide = true, conflicts_with = "pair_timeout")]
    timeout: Option<Duration>,
    /// Counterexamples like the rows of the given database come first always
    #[arg(long, hide = true)]
    realistic: bool,
    /// Where the random numbers of the search begin
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    subset: Subset,
    /// The benchmark that the predictions answer, where --gold was evolved from it
    #[arg(long, value_name = "FILE", requires = "gold")]
    answers_to: Option<Source>,
    #[command(flatten)]
    clock: ClockOptions,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Verify {
    pub(crate) fn run(mut self) -> Result<Verdict> {
        if self.gold.is_none() && !self.subset.is_all() {
            bail!("--db-id, --ids, --where and --limit take a part of a benchmark; give it with --gold");
        }
        if self.timeout.is_some() {
            note("--timeout is the old name of --pair-timeout");
        }
        if self.realistic {
            note(
                "--realistic has no effect any more: the search always looks first for a counterexample like the rows of the database",
            );
        }
        let pair_timeout = self.how.pair_timeout.or(self.timeout);
        let settings = with_solver(VerifySettings { pair_timeout, seed: self.seed, ..self.how.clone() })?;
        if let (Some(folder), Some(id)) = (&self.scored, &self.id) {
            let job = ShowJob { system: self.system.clone(), ..ShowJob::new(folder, id) };
            let ItemPair { gold, prediction, database, now } = job.pair()?;
            (self.db, self.clock.now) = (Some(database), self.clock.now.or(now));
            return self.pair(&gold, &prediction, &settings);
        }
        match (&self.left, &self.right) {
            (Some(left), Some(right)) => self.pair(left, right, &settings),
            _ => self.run_of_many(settings),
        }
    }

    fn pair(&self, left: &str, right: &str, settings: &VerifySettings) -> Result<Verdict> {
        let report = self.report(left, right, settings)?;
        if self.json {
            let mut object = report.to_json();
            object.insert("ms".to_owned(), report.times_to_json());
            print_json(&object)?;
        } else {
            let options = ShowOptions { width: width(), colour: colour(), rows: usize::MAX };
            print_painted(&verdict(left, right, &report, options))?;
        }
        Ok(ended(&report))
    }

    /// A verdict rests on no foreign key that the database breaks.
    fn report(&self, left: &str, right: &str, settings: &VerifySettings) -> Result<VerifyReport> {
        let Some(path) = &self.db else {
            // The arguments require the one or the other.
            let schema = schema_of(self.schema.as_deref().unwrap_or_else(|| "".as_ref()))?;
            return Ok(verify_over_schema(settings, &Arc::new(schema), left, right)?);
        };
        let engine = engine(Limits::default())?.at(self.clock.moment());
        let database = engine.open(&database_file(path)?)?;
        for broken in &database.kept_schema_for(&engine, &[left, right]).broken {
            note(format!("this foreign key is not assumed: FOREIGN KEY {broken}"));
        }
        Ok(verify_over_database(settings, &engine, &database, left, right)?)
    }

    fn run_of_many(mut self, settings: VerifySettings) -> Result<Verdict> {
        let Some(pairs) = self.pairs.take() else { return self.files(settings) };
        let job = PairsJob {
            pairs,
            databases: self.db,
            settings,
            now: self.clock.now,
            // The arguments require it.
            out: self.out.unwrap_or_default().into(),
            restart: self.restart,
            jobs: self.jobs,
            command: command_line(),
        };
        print_verdicts(&verify_pairs(&job, self.quiet)?, self.json, self.quiet, &job.out)?;
        Ok(Verdict::Done)
    }

    /// A run of the metric that verifies so, with the execution metric for which results are equal as for it.
    fn files(self, settings: VerifySettings) -> Result<Verdict> {
        let semantics = settings.options().semantics;
        let metrics = [execution_metric(semantics).unwrap_or("ex"), verify_id(semantics)];
        // The arguments require all three.
        let (gold, db, out) =
            (self.gold.unwrap_or_default(), self.db.unwrap_or_default(), self.out.unwrap_or_default());
        let job = ScoreJob {
            verify: settings,
            answers_to: self.answers_to,
            subset: Subset { seed: self.seed, ..self.subset },
            now: self.clock.now,
            shard: self.shard,
            restart: self.restart,
            jobs: self.jobs,
            command: command_line(),
            ..ScoreJob::new(gold, db, self.predictions, metrics_of(metrics)?, out)
        };
        let verdict = super::score::finish(&job, self.json, self.quiet, GoldBar::default())?;
        let is_alone = job.verify.only.is_some() && job.systems.len() > 1;
        if is_alone && !self.json && !self.quiet {
            print_reuse(&job.out)?;
        }
        Ok(verdict)
    }
}

/// Says of each system how many more answers fall to counterexamples of the others.
fn print_reuse(out: &Path) -> Result<()> {
    for Reuse { system, items, right, refuted } in reuse(out, &Context::default())? {
        let points = if items == 0 { 0.0 } else { 100.0 * refuted as f64 / items as f64 };
        let others = "refuted by counterexamples to other systems";
        print(&format!(
            "{system}: {refuted} of {right} right answers {others} ({points:.1} points of EX-SpotIt)\n"
        ))?;
    }
    Ok(())
}

/// Prints the scores and how many pairs got which verdict; as JSON, the latter alone.
fn print_verdicts(report: &RunReport, as_json: bool, is_quiet: bool, out: &Path) -> Result<()> {
    if as_json {
        let verdicts = Verdicts::of(report)?.unwrap_or_default();
        return verdicts.iter().try_for_each(|verdict| print_json(&verdict.to_json()));
    }
    if is_quiet {
        return Ok(());
    }
    print_with(Style::Painted, |page| text_tables().render(report, page))?;
    print(&format!("\nReport: {}\n", out.join("report.html").display()))
}

fn ended(report: &VerifyReport) -> Verdict {
    match report.verdict {
        sqlgauge_verify::Verdict::Equivalent(_) | sqlgauge_verify::Verdict::EquivalentUpTo(_) => {
            Verdict::Done
        }
        sqlgauge_verify::Verdict::Different(_) => Verdict::NotEqual,
        sqlgauge_verify::Verdict::Unknown(_) => Verdict::Unknown,
    }
}
