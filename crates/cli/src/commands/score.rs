//! `sqlgauge score`.

use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow, bail, ensure};
use clap::Args;
use sqlgauge_core::cli::stdin::source;
use sqlgauge_core::{
    ResultsJob, SampleRules, SamplesJob, ScoreJob, VersionsJob, failed_questions, has_lists,
};
use sqlgauge_dataset::ColumnRole;
use sqlgauge_report::ReportFormat as _;
use sqlgauge_report::{ItemView, Report, warnings};
use sqlgauge_results::FairRules;
use sqlgauge_run::RunError;

use super::report::gate_verdict_of;
use crate::Verdict;
use crate::options::{
    GoldBar, GoldFile, ResultOptions, SampleOptions, column_help, columns, gold_file, metrics_help,
    with_columns,
};
use crate::output::{Style, command_line, note, print, print_document, print_json, print_with, text_tables};
use crate::scoring::{metrics, score};
use crate::solver::of_run;

/// Score predictions against gold queries
#[derive(Args)]
pub(crate) struct Score {
    /// File with the gold queries (Spider .sql or dev.json, BIRD dev.json, JSONL, CSV, Parquet); `-` is standard input, here and in
    /// the other files. Several versions of the golds, each as NAME=FILE, are scored one after the other and compared
    #[arg(long, value_name = "FILE", value_parser = gold_file, required_unless_present = "results")]
    gold: Vec<GoldFile>,
    #[arg(long, value_name = "IDS", help = metrics_help())]
    metrics: Option<String>,
    #[command(flatten)]
    job: ScoreJob,
    #[command(flatten)]
    results: ResultOptions,
    #[command(flatten)]
    samples: SampleOptions,
    #[command(flatten)]
    gold_bar: GoldBar,
    /// Seed of the draw of --limit
    #[arg(long, value_name = "N", default_value_t = 0, requires = "limit", help_heading = "Subset")]
    seed: u64,
    /// Take only the questions that a run of these systems got wrong, by its first metric that says right or wrong
    #[arg(long, value_name = "RUN", conflicts_with = "ids", help_heading = "Subset")]
    last_failed: Option<PathBuf>,
    #[arg(long = "column", value_name = "ROLE=COLUMN", help = column_help(ColumnRole::all()))]
    columns: Vec<String>,
    /// Print the summary as JSON, as summary.json has it
    #[arg(long, conflicts_with = "quiet")]
    json: bool,
    /// Print nothing but errors
    #[arg(long, short)]
    quiet: bool,
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
        let mut job = self.job;
        job.subset.seed = self.seed;
        if let Some(run) = &self.last_failed {
            let names: Vec<&str> = job.systems.iter().map(|system| system.name.as_str()).collect();
            job.subset.ids = Some(failed_questions(run, &names)?);
        }
        Ok(ScoreJob {
            gold: source(gold),
            verify: of_run(job.verify, &metrics)?,
            systems: with_columns(job.systems, &columns),
            metrics,
            columns,
            command: command_line(),
            ..job
        })
    }

    /// Scores under several versions of the golds.
    fn run_versions(mut self, golds: Vec<GoldFile>) -> Result<Verdict> {
        ensure!(
            self.job.shard.is_none(),
            "--shard takes one --gold; score each version in shards and compare the runs"
        );
        ensure!(self.job.answers_to.is_none(), "--answers-to takes one --gold");
        ensure!(
            self.job.gates.is_empty(),
            "--fail-under takes one --gold; set bars on the run of each version"
        );
        let (as_json, is_quiet, out) = (self.json, self.quiet, self.job.out.clone());
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
            ("--db", self.job.db.is_some()),
            ("--pred", !self.job.systems.is_empty()),
            ("--metrics", self.metrics.is_some()),
            ("--fail-under", !self.job.gates.is_empty()),
        ];
        if let Some((flag, _)) = unused.iter().find(|(_, is_given)| *is_given) {
            bail!(
                "{flag} cannot be used with --results, which runs no query; give --gold-results and --config"
            );
        }
        let ResultOptions { results, gold_results, result_config, tolerance, exact_columns } = self.results;
        ensure!(tolerance.is_finite() && tolerance >= 0.0, "--tolerance is a number from 0 on, as in 0.01");
        let job = ResultsJob {
            config: result_config,
            rules: FairRules { tolerance, extra_columns: !exact_columns },
            restart: self.job.restart,
            command: command_line(),
            ..ResultsJob::new(results, gold_results, &self.job.out)
        };
        let scored = crate::engine::run(self.quiet, |context| job.run(context))?;
        if self.json {
            let json = sqlgauge_report::find("json")?;
            print_with(Style::Plain, |out| json.render(&scored.report, out))?;
        } else if !self.quiet {
            print_document(&scored.document)?;
            print(&format!("Report: {}\n", self.job.out.join("report.html").display()))?;
        }
        Ok(Verdict::Done)
    }
}

/// What is to be said of lists of answers, if there are any.
fn sample_rules(samples: SampleOptions, job: &ScoreJob) -> Result<Option<SampleRules>> {
    if !samples.is_given() && !has_lists(job) {
        return Ok(None);
    }
    let mut rules = SampleRules { unanswerable: samples.unanswerable, ..SampleRules::default() };
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
