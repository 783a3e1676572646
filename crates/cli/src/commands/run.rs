//! `sqlgauge run`.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Result, anyhow, ensure};
use clap::Args;
use sqlgauge_core::cli::stdin::{input_file, source};
use sqlgauge_core::{Address, Application, CommandLine, GoldenJob, GoldenRun, OutputPath, Variable};
use sqlgauge_engine::seconds;

use super::{compare, score};
use crate::Verdict;
use crate::interrupt::Stopped;
use crate::options::{GoldBar, metrics_help};
use crate::output::{command_line, note, print, print_json};
use crate::scoring::metrics;

/// Items that the comparison lists for each side.
const LISTED: usize = 10;

/// Ask an application golden questions, score its answers, and compare them with the last run
#[derive(Debug, Args)]
pub(crate) struct Run {
    /// File with questions and golds, as `score --gold` reads it
    #[arg(long, value_name = "FILE", value_parser = input_file)]
    questions: PathBuf,
    /// A database, a folder of databases, or a server, as for `score`
    #[arg(long, value_name = "DIR")]
    db: PathBuf,
    #[command(flatten)]
    pub(super) application: ApplicationOptions,
    #[arg(long, value_name = "IDS", help = metrics_help())]
    metrics: Option<String>,
    /// Exit with code 1 if the mean is below the bar; may be given several times
    #[arg(long, value_name = "METRIC=X")]
    fail_under: Vec<String>,
    /// Exit with code 1 if the run loses more than this many points against the last one that passed, by its first metric, and the paired
    /// test takes that for real (p < 0.05)
    #[arg(long, value_name = "POINTS")]
    max_regression: Option<f64>,
    #[command(flatten)]
    gold_bar: GoldBar,
    /// Folder for the runs, each named by its time; the one to compare with is looked for there
    #[arg(long, value_name = "DIR", default_value = "runs")]
    runs: OutputPath,
    /// Run directory to write, in place of a new one in --runs
    #[arg(long, value_name = "DIR")]
    out: Option<OutputPath>,
    /// Questions that are asked at the same time
    #[arg(long, short, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..))]
    jobs: u16,
    /// Seconds that one answer may take
    #[arg(long, value_name = "SECONDS", value_parser = seconds, default_value = "120")]
    timeout: Duration,
    /// Print summary and comparison as JSON
    #[arg(long, conflicts_with = "quiet")]
    json: bool,
    /// Print nothing but errors
    #[arg(long, short)]
    quiet: bool,
}

/// What is asked: one of the two ways.
#[derive(Debug, Clone, Args)]
pub(crate) struct ApplicationOptions {
    /// Command that answers a question: the question is its input, `SQLGAUGE_ID` and `SQLGAUGE_DB_ID` are in its environment, its output is
    /// the answer. It runs without a shell, once for each question
    #[arg(long, value_name = "COMMAND", conflicts_with = "ask_url")]
    pub ask: Option<CommandLine>,
    /// Address that answers a question: it gets a POST of `{"id", "question", "db_id"}`
    #[arg(long, value_name = "URL")]
    pub ask_url: Option<Address>,
    /// Environment variable with the key that the address gets, as `Authorization: Bearer`
    #[arg(long, value_name = "NAME", conflicts_with = "ask")]
    pub ask_key_env: Option<Variable>,
    /// Field with the SQL in an answer that is JSON, as in data.sql [default: sql]
    #[arg(long, value_name = "FIELD")]
    pub answer_path: Option<String>,
}

impl ApplicationOptions {
    /// The application, if one is named.
    pub(crate) fn application(&self) -> Option<Application> {
        let command = self.ask.as_ref().map(|command| Application::Command((**command).to_owned()));
        command.or_else(|| self.ask_url.as_ref().map(|url| Application::Url((**url).to_owned())))
    }

    /// The key, if a variable is named.
    ///
    /// # Errors
    /// When the variable is not set.
    fn key(&self) -> Result<Option<String>> {
        let Some(name) = self.ask_key_env.as_deref() else { return Ok(None) };
        let key = std::env::var(name).ok().filter(|key| !key.trim().is_empty());
        Ok(Some(key.ok_or_else(|| {
            anyhow!("the environment variable {name} of --ask-key-env is not set: put the key of the address into it")
        })?))
    }
}

impl Run {
    pub(crate) fn run(self) -> Result<Verdict> {
        let (as_json, is_quiet) = (self.json, self.quiet);
        let (most, golds, names_run) = (self.max_regression, self.gold_bar, self.out.is_some());
        ensure!(most.is_none_or(compare::is_bar), compare::NOT_A_BAR);
        let job = self.job()?;
        let scored = crate::engine::run(is_quiet, |context| job.run(context));
        if !names_run && scored.as_ref().is_err_and(anyhow::Error::is::<Stopped>) {
            note(format!("--out {} goes on with this run", job.out.display()));
        }
        let run = scored?;
        if as_json {
            print_json(&run.to_json())?;
        }
        let bars = score::show(&run.report, &run.out, false, as_json || is_quiet, golds)?;
        if !as_json && !is_quiet {
            print_comparison(&run)?;
        }
        let comparison = run.comparison.as_ref().map(|(_, comparison)| comparison);
        let change = comparison.map_or(Verdict::Done, |comparison| compare::gate(comparison, most, golds));
        let passes = [bars, change] == [Verdict::Done; 2];
        run.keep_passed(passes)?;
        Ok(if passes { Verdict::Done } else { Verdict::GateFailed })
    }

    fn job(self) -> Result<GoldenJob> {
        let application = self.application.application();
        let application = application.ok_or_else(|| {
            anyhow!(
                "--ask is missing: give the command that answers a question, or its address with --ask-url"
            )
        })?;
        let key = self.application.key()?;
        let runs: PathBuf = self.runs.into();
        let out = self.out.map_or_else(|| GoldenJob::new_folder(&runs), Into::into);
        Ok(GoldenJob {
            answer_path: self.application.answer_path,
            key,
            metrics: self.metrics.as_deref().map_or_else(|| Ok(Vec::new()), metrics)?,
            gates: self.fail_under,
            runs,
            jobs: self.jobs.into(),
            timeout: self.timeout,
            command: command_line(),
            ..GoldenJob::new(source(self.questions), self.db, application, out)
        })
    }
}

/// What changed since the last run, if there is one.
fn print_comparison(run: &GoldenRun) -> Result<()> {
    let Some((last, comparison)) = &run.comparison else {
        return print("No earlier run of these questions passed: nothing to compare with\n");
    };
    print(&format!("\nCompared with {}\n", last.display()))?;
    compare::print_compared(comparison, LISTED)
}
