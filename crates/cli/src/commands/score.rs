//! `sqlgauge score`.

use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow, bail, ensure};
use clap::Args;
use sqlgauge_core::{
    ResultsJob, SampleRules, SamplesJob, ScoreJob, SystemResults, VersionsJob, failed_questions, has_lists,
};
use sqlgauge_dataset::ColumnRole;
use sqlgauge_report::ReportFormat as _;
use sqlgauge_report::{ItemView, Report, warnings};
use sqlgauge_results::FairRules;
use sqlgauge_run::{RunError, Shard};

use super::report::gate_verdict_of;
use crate::Verdict;
use crate::options::{
    ClockOptions, DrawnSubsetOptions, FormatOptions, GoldBar, GoldFile, LimitOptions, ResultOptions,
    SampleOptions, SystemFile, VerifyFlags, column_help, columns, gold_file, metrics_help, system_file,
    systems,
};
use crate::output::{Style, command_line, note, print, print_document, print_json, print_with, text_tables};
use crate::scoring::{metrics, score};
use crate::stdin::{input_file, source};
use crate::values::OutputPath;

/// Score predictions against gold queries
#[derive(Debug, Args)]
#[allow(clippy::struct_excessive_bools, reason = "each is a switch of its own")]
pub(crate) struct Score {
    /// File with the gold queries (Spider .sql or dev.json, BIRD dev.json, JSONL, CSV, Parquet); `-` is standard input, here and in
    /// the other files. Several versions of the golds, each as NAME=FILE, are scored one after the other and compared
    #[arg(long, value_name = "FILE", value_parser = gold_file, required_unless_present = "results")]
    gold: Vec<GoldFile>,
    /// File with the questions, where the gold file has none
    #[arg(long, value_name = "FILE", value_parser = input_file)]
    questions: Option<PathBuf>,
    /// Folder with `DB_ID/DB_ID.sqlite`, or one database file, or a server (`postgresql://USER@HOST:PORT/{db_id}`,
    /// `mysql://USER@HOST:PORT/{db_id}`, password in PGPASSWORD or `SQLGAUGE_DB_PASSWORD`), or DuckDB files
    /// (`duckdb:FOLDER/{db_id}.duckdb`); may be left out where --tables is given and no metric runs a query
    #[arg(long, value_name = "DIR", required_unless_present_any = ["results", "tables"])]
    db: Option<PathBuf>,
    /// Schema file (tables.json); exact set match takes foreign keys from it
    #[arg(long, value_name = "FILE", value_parser = input_file)]
    tables: Option<PathBuf>,
    /// Predictions of one system; may be given several times
    #[arg(long = "pred", value_name = "NAME=FILE", required_unless_present = "results", value_parser = system_file)]
    predictions: Vec<SystemFile>,
    #[command(flatten)]
    results: ResultOptions,
    #[command(flatten)]
    samples: SampleOptions,
    /// The benchmark that the predictions answer, where --gold was evolved from it
    #[arg(long, value_name = "FILE", value_parser = input_file)]
    answers_to: Option<PathBuf>,
    #[arg(long, value_name = "IDS", help = metrics_help())]
    metrics: Option<String>,
    /// Witness pack (`sqlgauge pack`): score with the metric `pack` too
    #[arg(long, value_name = "FILE")]
    pack: Option<PathBuf>,
    /// Run directory to write; the same command again finishes an interrupted run
    #[arg(long, value_name = "DIR")]
    out: OutputPath,
    /// Discard the run that is in the folder
    #[arg(long)]
    restart: bool,
    #[command(flatten)]
    subset: DrawnSubsetOptions,
    /// Leave out questions whose databases are missing, and say so
    #[arg(long, help_heading = "Subset")]
    skip_missing_db: bool,
    /// Take only the questions that a run of these systems got wrong, by its first metric that says right or wrong
    #[arg(long, value_name = "RUN", conflicts_with = "ids", help_heading = "Subset")]
    last_failed: Option<PathBuf>,
    #[command(flatten)]
    clock: ClockOptions,
    /// Worker threads; 0 means one per core
    #[arg(long, short, value_name = "N", default_value_t = 0)]
    jobs: usize,
    /// Connections to each database of a server at once
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..))]
    connections: u16,
    /// Folder that keeps results of golds: another run asks the database only for new ones
    #[arg(long, value_name = "DIR")]
    gold_cache: Option<OutputPath>,
    /// Score shard I of N, e.g. 3/16; give every shard the same --now. `sqlgauge merge` puts them together
    #[arg(long, value_name = "I/N", requires = "now")]
    shard: Option<Shard>,
    /// Exit with code 1 if a system's mean is below the bar; may be given several times
    #[arg(long, value_name = "METRIC=X")]
    fail_under: Vec<String>,
    #[command(flatten)]
    gold_bar: GoldBar,
    /// Take the SQL out of the chatter of an LLM (code fences, explanations); off for official scores
    #[arg(long)]
    extract_sql: bool,
    #[command(flatten)]
    formats: FormatOptions,
    #[arg(long = "column", value_name = "ROLE=COLUMN", help = column_help(ColumnRole::all()))]
    columns: Vec<String>,
    /// Print the summary as JSON, as summary.json has it
    #[arg(long, conflicts_with = "quiet")]
    json: bool,
    /// Print nothing but errors
    #[arg(long, short)]
    quiet: bool,
    #[command(flatten)]
    limits: LimitOptions,
    #[command(flatten)]
    verify: VerifyFlags,
}

impl Score {
    pub(crate) fn run(mut self) -> Result<Verdict> {
        if !self.results.results.is_empty() {
            return self.run_results();
        }
        let (as_json, is_quiet, gold_bar) = (self.json, self.quiet, self.gold_bar);
        let mut golds = std::mem::take(&mut self.gold);
        if golds.len() > 1 {
            return self.run_versions(golds);
        }
        let gold =
            golds.pop().ok_or_else(|| anyhow!("--gold is missing; give the file with the gold queries"))?;
        let samples = std::mem::take(&mut self.samples);
        let job = self.job(gold.whole())?;
        if let Some(rules) = sample_rules(samples, &job)? {
            return run_samples(&SamplesJob { job, rules }, as_json, is_quiet, gold_bar);
        }
        finish(&job, as_json, is_quiet, gold_bar)
    }

    fn job(self, gold: PathBuf) -> Result<ScoreJob> {
        let columns = columns(&self.columns)?;
        let metrics = self.metrics.as_deref().map_or_else(|| Ok(Vec::new()), metrics)?;
        let verify = self.verify.of_run(&metrics)?;
        let systems = systems(self.predictions, &columns);
        let mut subset = self.subset.subset()?;
        if let Some(run) = &self.last_failed {
            let names: Vec<&str> = systems.iter().map(|system| system.name.as_str()).collect();
            let failed = failed_questions(run, &names)?;
            subset.ids = Some(failed.ids);
            subset.ids_are = Some(format!("that were wrong by {} in {}", failed.metric, run.display()));
        }
        Ok(ScoreJob {
            connections: self.connections.into(),
            gold_cache: self.gold_cache.map(Into::into),
            questions: self.questions.map(source),
            format: self.formats.format,
            columns,
            tables: self.tables.map(source),
            answers_to: self.answers_to.map(source),
            prediction_format: self.formats.pred_format,
            extract: self.extract_sql,
            pack: self.pack,
            verify,
            limits: self.limits.limits()?,
            now: self.clock.now,
            subset,
            skip_missing_db: self.skip_missing_db,
            shard: self.shard,
            gates: self.fail_under,
            restart: self.restart,
            jobs: self.jobs,
            command: command_line(),
            ..ScoreJob::new(source(gold), self.db, systems, metrics, self.out.into())
        })
    }

    /// Scores under several versions of the golds.
    fn run_versions(mut self, golds: Vec<GoldFile>) -> Result<Verdict> {
        ensure!(
            self.shard.is_none(),
            "--shard takes one --gold; score each version in shards and compare the runs"
        );
        ensure!(self.answers_to.is_none(), "--answers-to takes one --gold");
        ensure!(
            self.fail_under.is_empty(),
            "--fail-under takes one --gold; set bars on the run of each version"
        );
        let (as_json, is_quiet, out) = (self.json, self.quiet, self.out.clone());
        let versions =
            golds.into_iter().map(GoldFile::named).map(|(name, path)| (name, source(path))).collect();
        let samples = std::mem::take(&mut self.samples);
        let job = self.job(PathBuf::new())?;
        let lists = sample_rules(samples, &job)?;
        let job = VersionsJob { versions, job, lists };
        let versions = crate::engine::run(is_quiet, |context| job.run(context))?;
        if as_json {
            print_json(&versions.to_json())?;
        } else if !is_quiet {
            print_document(&versions.document())?;
            print(&format!("Report: {}\n", out.join("versions.html").display()))?;
        }
        Ok(Verdict::Done)
    }

    /// Scores results that were computed elsewhere.
    fn run_results(self) -> Result<Verdict> {
        let unused = [
            ("--gold", !self.gold.is_empty()),
            ("--db", self.db.is_some()),
            ("--pred", !self.predictions.is_empty()),
            ("--metrics", self.metrics.is_some()),
            ("--fail-under", !self.fail_under.is_empty()),
        ];
        if let Some((flag, _)) = unused.iter().find(|(_, is_given)| *is_given) {
            bail!(
                "{flag} cannot be used with --results, which runs no query; give --gold-results and --config"
            );
        }
        let ResultOptions { results, gold_results, result_config, tolerance, exact_columns } = self.results;
        ensure!(tolerance.is_finite() && tolerance >= 0.0, "--tolerance is a number from 0 on, as in 0.01");
        let system = |file: SystemFile| SystemResults { name: file.system, path: file.path };
        let job = ResultsJob {
            config: result_config,
            rules: FairRules { tolerance, extra_columns: !exact_columns },
            restart: self.restart,
            command: command_line(),
            ..ResultsJob::new(results.into_iter().map(system).collect(), gold_results, &self.out)
        };
        let scored = crate::engine::run(self.quiet, |context| job.run(context))?;
        if self.json {
            let json = sqlgauge_report::find("json")?;
            print_with(Style::Plain, |out| json.render(&scored.report, out))?;
        } else if !self.quiet {
            print_document(&scored.document)?;
            print(&format!("Report: {}\n", self.out.join("report.html").display()))?;
        }
        Ok(Verdict::Done)
    }
}

/// What is to be said of lists of answers, if there are any.
fn sample_rules(samples: SampleOptions, job: &ScoreJob) -> Result<Option<SampleRules>> {
    if !samples.is_given() && !job.systems.iter().any(has_lists) {
        return Ok(None);
    }
    let mut rules = SampleRules { unanswerable: samples.unanswerable.map(source), ..SampleRules::default() };
    if !samples.k.is_empty() {
        ensure!(!samples.k.contains(&0), "--k is a number of answers from 1 on");
        rules.ks = samples.k;
    }
    if !samples.penalty.is_empty() {
        ensure!(
            samples.penalty.iter().all(|number| number.is_finite() && *number >= 0.0),
            "--penalty is a number from 0 on"
        );
        rules.penalties = samples.penalty;
    }
    Ok(Some(rules))
}

/// Scores lists of answers. The bars are for the first of each.
fn run_samples(job: &SamplesJob, as_json: bool, is_quiet: bool, golds: GoldBar) -> Result<Verdict> {
    let out = job.job.out.clone();
    let scored = crate::engine::run(is_quiet, |context| job.run(context))?;
    if as_json {
        print_json(&scored.to_json())?;
    } else if !is_quiet {
        print_document(&scored.document())?;
        print(&format!("Report: {}\n", out.join("samples.html").display()))?;
    }
    warnings(&scored.report.summary).into_iter().for_each(note);
    Ok(gate_verdict_of(&scored.report, golds, |system| system.ends_with("#1")))
}

/// Runs the job, prints the leaderboard or the summary as JSON, and says which bars were not reached.
pub(super) fn finish(job: &ScoreJob, as_json: bool, is_quiet: bool, golds: GoldBar) -> Result<Verdict> {
    show(&score(job, is_quiet)?, &job.out, as_json, is_quiet, golds)
}

/// Prints the leaderboard or the summary as JSON, and says which bars were not reached.
pub(super) fn show(
    report: &Report,
    out: &Path,
    as_json: bool,
    is_quiet: bool,
    golds: GoldBar,
) -> Result<Verdict> {
    if as_json {
        let json = sqlgauge_report::find("json")?;
        print_with(Style::Plain, |out| json.render(report, out))?;
    } else if !is_quiet {
        print_with(Style::Painted, |out| text_tables().render(report, out))?;
        print(&format!("\nReport: {}\n", out.join("report.html").display()))?;
    }
    if let Some(sentence) = sqlgauge_report::no_gold_runs(&report.summary.golds) {
        bail!("{sentence}; the first says: {}", first_gold_error(report)?);
    }
    Ok(super::report::gate_verdict(report, golds))
}

fn first_gold_error(report: &Report) -> Result<String> {
    let mut first = None;
    report.items.for_each(|item| {
        let error = || ItemView::new(item).gold_error().map(str::to_owned);
        first = first.take().or_else(error);
        Ok::<(), RunError>(())
    })?;
    Ok(first.unwrap_or_else(|| "nothing".to_owned()))
}
