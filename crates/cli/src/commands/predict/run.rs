//! Asking, in builds with the client.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use sqlgauge_core::{PredictJob, SchemaSource, Shots};
use sqlgauge_dataset::{BenchmarkSource, WorkloadSource};
use sqlgauge_prompt::predict::{PredictOutcome, PredictionLine, Status};

use super::Predict;
use crate::Verdict;
use crate::options::columns;
use crate::output::{note, print};

impl Predict {
    fn job(&self) -> Result<PredictJob> {
        let workload = WorkloadSource {
            path: self.questions.clone(),
            format: self.format,
            columns: columns(&self.columns)?,
        };
        let schemas = schema_source(self.db.as_ref(), self.tables.as_ref());
        let mut job = self.job.clone();
        job.subset.seed = job.seed.unwrap_or_default();
        let llm = self.llm.settings("predict", &job.out)?;
        Ok(PredictJob { workload, schemas, shots: self.shots(), llm, ..job })
    }

    fn shots(&self) -> Option<Shots> {
        let benchmark =
            BenchmarkSource { gold: self.shots_gold.clone()?, ddl: true, ..BenchmarkSource::default() };
        let schemas = schema_source(self.shots_db.as_ref(), self.shots_tables.as_ref());
        Some(Shots { count: self.shots?, benchmark, schemas })
    }

    pub(crate) fn run(self) -> Result<Verdict> {
        let job = self.job()?;
        let prediction = crate::engine::run(self.quiet, |context| job.run(context))?;
        if !self.quiet {
            print(&summary(&prediction, &self.job.out))?;
            notes(&prediction).iter().for_each(note);
        }
        if prediction.lines.iter().all(|line| line.answer.status.is_failure()) {
            let first = prediction.lines.first().and_then(|line| line.answer.error.as_deref());
            bail!("no question was answered: {}", first.unwrap_or("there was none"));
        }
        Ok(if prediction.stopped_by.is_some() { Verdict::Unfinished } else { Verdict::Done })
    }
}

fn schema_source(databases: Option<&PathBuf>, tables: Option<&PathBuf>) -> Option<SchemaSource> {
    let databases = databases.cloned().map(SchemaSource::Databases);
    databases.or_else(|| tables.cloned().map(SchemaSource::Tables))
}

fn summary(prediction: &PredictOutcome, out: &Path) -> String {
    let mut counts: BTreeMap<Status, usize> = BTreeMap::new();
    prediction.lines.iter().for_each(|line| *counts.entry(line.answer.status).or_default() += 1);
    let counts: Vec<String> =
        counts.iter().map(|(status, count)| format!("{count} {}", status.name())).collect();
    let usage = &prediction.usage;
    format!(
        "{} ({}) with {} and {} from the cache, {}: {}\n",
        sqlgauge_base::counted(prediction.lines.len(), "prediction"),
        counts.join(", "),
        sqlgauge_base::counted(usage.requests, "request"),
        sqlgauge_base::counted(usage.cached, "answer"),
        sqlgauge_base::counted(usage.prompt_tokens + usage.completion_tokens, "token"),
        out.display()
    )
}

/// What a person should know of answers that are missing.
fn notes(prediction: &PredictOutcome) -> Vec<String> {
    let mut notes = Vec::new();
    let unkept = prediction.usage.cache_write_failures;
    if unkept > 0 {
        notes.push(format!("not kept, and asked for again: {}", sqlgauge_base::counted(unkept, "answer")));
    }
    let pruned = prediction.lines.iter().filter_map(|line| line.schema.as_ref());
    let whole: Vec<&str> = pruned.filter_map(|schema| schema.error.as_deref()).collect();
    if let Some(first) = whole.first() {
        notes.push(format!("{} questions are shown the whole schema; of the first, {first}", whole.len()));
    }
    let failed: Vec<&PredictionLine> =
        prediction.lines.iter().filter(|line| line.answer.status.is_failure()).collect();
    if !failed.is_empty() {
        let why = failed.iter().find_map(|line| line.answer.error.as_deref());
        notes.push(format!(
            "{} of {} questions have no answer, and the same command asks for them again; the first says: {}",
            failed.len(),
            prediction.lines.len(),
            why.unwrap_or_default()
        ));
    }
    notes
}
