//! Runs, as the command line makes and reads them: with its engine, its progress, and a signal to stop.

use std::path::Path;

use anyhow::Result;
use sqlgauge_base::counted_of;
use sqlgauge_core::cli::stdin;
use sqlgauge_core::{Context, OpenRun, PairsJob, ScoreJob, metrics_of};
use sqlgauge_metrics::Metric;
use sqlgauge_report::Report;

use crate::engine::context;
use crate::interrupt::{Gently, how_to_go_on};
use crate::progress::Progress;

/// Reads the names of metrics separated by commas.
pub(crate) fn metrics(names: &str) -> Result<Vec<&'static dyn Metric>> {
    Ok(metrics_of(names.split(','))?)
}

/// Scores and writes the run directory with `report.html`; returns the report.
pub(crate) fn score(job: &ScoreJob, is_quiet: bool) -> Result<Report> {
    carry_out(|context| job.open(context), job.restart, is_quiet)
}

/// Verifies the pairs and writes the run directory with `report.html`; returns the report.
pub(crate) fn verify_pairs(job: &PairsJob, is_quiet: bool) -> Result<Report> {
    carry_out(|context| job.open(context), job.restart, is_quiet)
}

/// Opens a run, scores what is left of it and writes its report.
fn carry_out(
    open: impl FnOnce(&Context<'_>) -> Result<OpenRun, sqlgauge_core::Error>,
    restart: bool,
    is_quiet: bool,
) -> Result<Report> {
    let progress = Progress::new(is_quiet);
    let context = context(&progress)?;
    let run = open(&context)?;
    let again = if restart { "the same command without --restart" } else { "the same command" };
    let gently = Gently::new();
    let scored = run.score(&context);
    progress.finish();
    if let Err(sqlgauge_core::Error::Stopped { done, total, out }) = scored {
        let stopped =
            format!("{} has {}; {again} scores the others", out.display(), counted_of(done, total, "item"));
        return Err(gently.stopped(stopped).into());
    }
    scored?;
    how_to_go_on(format!("all items are in {}; {again} writes the report", run.path().display()));
    drop(gently);
    Ok(run.finish()?)
}

/// What an error about a database begins with: the file that asks about it.
pub(crate) fn asks(file: &Path) -> String {
    sqlgauge_core::asks(stdin::as_given(file))
}
