//! `sqlgauge vote`.

use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::Args;
use sqlgauge_core::{OutputPath, ScoreJob, Source, Subset, System, VerifySettings, VoteBy, VoteJob};
use sqlgauge_engine::Limits;

use crate::Verdict;
use crate::options::{ClockOptions, FormatOptions, columns};
use crate::output::{command_line, print, print_document, print_json};
use crate::scoring::metrics;
use crate::solver::with_solver;

/// Choose one of several answers to each question
#[derive(Debug, Args)]
pub(crate) struct Vote {
    /// File with the gold queries; the choice and the first answer are scored
    #[arg(long, value_name = "FILE", required_unless_present = "questions")]
    gold: Option<Source>,
    /// File with the questions: in place of --gold, or beside a gold file without questions
    #[arg(long, value_name = "FILE")]
    questions: Option<Source>,
    /// Folder with `DB_ID/DB_ID.sqlite`, or one database file
    #[arg(long, value_name = "DIR")]
    db: PathBuf,
    /// Several answers to each question: a list in `predictions`, with `weights` or `logprobs`; rows with the same id; or columns
    /// `sql_1`, `sql_2`
    #[arg(long = "pred", value_name = "NAME=FILE")]
    predictions: System,
    /// Two answers are equal by their results; by a proof; or by their results unless `verify` finds a database where they differ
    #[arg(long, value_name = "WHAT", default_value = "result", value_parser = sqlgauge_core::cli::vote_by())]
    by: VoteBy,
    /// Metrics of the gain, the first one decides
    #[arg(long, value_name = "IDS")]
    metrics: Option<String>,
    /// Folder to write: NAME.jsonl with the choices, vote.html, and with golds a run
    #[arg(long, value_name = "DIR")]
    out: OutputPath,
    /// Discard the run that is in the folder
    #[arg(long)]
    restart: bool,
    /// Worker threads; 0 means one per core
    #[arg(long, short, value_name = "N", default_value_t = 0)]
    jobs: usize,
    #[command(flatten)]
    subset: Subset,
    /// Seed of the draw of --limit
    #[arg(long, value_name = "N", default_value_t = 0, requires = "limit", help_heading = "Subset")]
    seed: u64,
    #[command(flatten)]
    clock: ClockOptions,
    #[command(flatten)]
    formats: FormatOptions,
    #[command(flatten)]
    limits: Limits,
    #[command(flatten)]
    verify: VerifySettings,
    /// Print JSON
    #[arg(long, conflicts_with = "quiet")]
    json: bool,
    /// Print nothing but errors
    #[arg(long, short)]
    quiet: bool,
}

impl Vote {
    pub(crate) fn run(self) -> Result<Verdict> {
        let metrics = self.metrics.as_deref().map_or_else(|| Ok(Vec::new()), metrics)?;
        let has_golds = self.gold.is_some();
        let (file, questions) = match (self.gold, self.questions) {
            (Some(gold), questions) => (gold, questions),
            (None, Some(questions)) => (questions, None),
            (None, None) => bail!("give --gold or --questions"),
        };
        let columns = columns(&self.formats.columns)?;
        let system = System { columns: columns.clone(), ..self.predictions };
        let job = ScoreJob {
            questions,
            columns,
            extract: self.formats.extract_sql,
            format: self.formats.format,
            prediction_format: self.formats.pred_format,
            verify: with_solver(self.verify)?,
            limits: self.limits,
            now: self.clock.now,
            restart: self.restart,
            jobs: self.jobs,
            subset: Subset { seed: self.seed, ..self.subset },
            command: command_line(),
            ..ScoreJob::new(file, self.db, Vec::new(), metrics, self.out)
        };
        let vote = VoteJob { by: self.by, has_golds, ..VoteJob::new(job, system) };
        let voted = crate::engine::run(self.quiet, |context| vote.run(context))?;
        if self.json {
            print_json(&voted.to_json(self.by))?;
        } else if !self.quiet {
            print_document(&voted.document(self.by))?;
            print(&format!("Choices: {}\n", voted.file.display()))?;
        }
        Ok(Verdict::Done)
    }
}
