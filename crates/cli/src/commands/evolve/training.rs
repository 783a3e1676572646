//! `sqlgauge evolve --training`.

use std::path::PathBuf;

use anyhow::Result;
use clap::{ArgGroup, Args};
use sqlgauge_base::counted;
use sqlgauge_core::{AugmentJob, EvolvedSchemas, Subset};
use sqlgauge_prompt::augment::SplitBy;

use super::Evolve;
use crate::output::print;

/// Training data of a benchmark and its evolved schemas, in place of evolved benchmarks.
#[derive(Debug, Args)]
#[command(next_help_heading = "Training data", group(ArgGroup::new("schemas").args(["evolved", "kinds"])))]
pub(crate) struct TrainingOptions {
    /// Make training data instead: questions with schemas and answers, as chats; OUT is a file of JSON lines, or a table where its name ends
    /// in .parquet
    #[arg(long, requires = "schemas", conflicts_with_all = ["per_item", "per_database", "steps", "script", "intensity",
        "naturalness", "names", "jobs", "Limits", "LlmOptions", "LlmLimits"])]
    pub training: bool,
    /// Folder that `sqlgauge evolve` made of the original; may be given several times. Without it the original is evolved by --kinds into the
    /// folder OUT.evolved
    #[arg(long, value_name = "DIR", requires = "training", conflicts_with = "kinds")]
    evolved: Vec<PathBuf>,
    /// Share of the examples that are for validation; they go into the file OUT.validation
    #[arg(long, value_name = "SHARE", requires = "training", default_value_t = 0.1)]
    validation: f64,
    /// Keep questions apart in place of databases: every database to validate on is trained on too
    #[arg(long, requires = "training")]
    intra_database: bool,
    /// Tables that an answer does not read and its example shows, at most
    #[arg(long, value_name = "N", requires = "training", default_value_t = 3)]
    irrelevant_tables: usize,
    /// Leave out the questions over the original schemas
    #[arg(long, requires = "training")]
    only_evolved: bool,
    /// File with the prompt, in place of the one that predict asks with
    #[arg(long, value_name = "FILE", requires = "training")]
    prompt: Option<PathBuf>,
}

impl TrainingOptions {
    pub(crate) fn make(&self, evolve: &Evolve) -> Result<()> {
        let job = self.job(evolve)?;
        let data = crate::engine::run(evolve.quiet, |context| job.run(context))?;
        if evolve.quiet {
            return Ok(());
        }
        let is_empty = data.validation == 0 && self.validation > 0.0 && !self.intra_database;
        let hint =
            if is_empty { "For validation on the same databases, give --intra-database.\n" } else { "" };
        print(&format!(
            "{} to train on: {}\n{} of {} databases to validate on: {}\nleft out: {} that repeat another, {} of the validation \
             that are trained on\n{hint}",
            counted(data.train, "example"),
            evolve.job.out.display(),
            counted(data.validation, "example"),
            if self.intra_database { "the same" } else { "other" },
            data.validation_file.display(),
            data.duplicates,
            data.leaks
        ))
    }

    fn job(&self, evolve: &Evolve) -> Result<AugmentJob> {
        let schemas = if self.evolved.is_empty() {
            EvolvedSchemas::Kinds(super::chosen(&evolve.kinds))
        } else {
            EvolvedSchemas::Folders(self.evolved.clone())
        };
        Ok(AugmentJob {
            benchmark: evolve.source()?,
            tables: evolve.job.tables.clone(),
            validation: self.validation,
            split_by: if self.intra_database { SplitBy::Question } else { SplitBy::Database },
            irrelevant_tables: self.irrelevant_tables,
            only_evolved: self.only_evolved,
            prompt: self.prompt.clone(),
            subset: Subset { seed: evolve.job.seed, ..evolve.job.subset.clone() },
            seed: evolve.job.seed,
            ..AugmentJob::new(&evolve.benchmark.gold, &evolve.benchmark.db, schemas, &evolve.job.out)
        })
    }
}
