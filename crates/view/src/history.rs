//! An item over the runs on the same golds.

use serde::Serialize;
use sqlgauge_run::{RunFiles, sha256_of_bytes};
use std::collections::BTreeMap;

use crate::runs::find_runs;
use crate::{Dashboard, ViewError};

/// Runs that are looked into, the latest first.
const MOST_RUNS: usize = 100;

/// What a system answered in a run.
#[derive(Serialize)]
pub(crate) struct HistoryRow {
    run: String,
    name: String,
    /// When it ran, as it recorded it.
    now: Option<String>,
    /// Seconds since 1970.
    changed: u64,
    status: String,
    metrics: BTreeMap<String, Option<f64>>,
    prediction: Option<String>,
    /// The same for the same prediction.
    text: String,
}

impl Dashboard {
    /// The answers of a system to an item, in the runs on the golds of that run, the latest first.
    pub(crate) fn history(&self, run: &str, system: &str, id: &str) -> Result<Vec<HistoryRow>, ViewError> {
        let runs = find_runs(&self.options.folders)?;
        let rows: Vec<_> = runs.iter().map(|folder| (folder, self.pages.row(folder))).collect();
        let Some(golds) = rows.iter().find(|(folder, _)| folder.id == run).and_then(|(_, row)| row.golds())
        else {
            return Err(ViewError::UnknownRun);
        };
        let mut alike: Vec<_> = rows.into_iter().filter(|(_, row)| row.asks(&golds, system)).collect();
        alike.sort_by_key(|(_, row)| std::cmp::Reverse(row.time()));
        let of_run = |(folder, row): (&crate::FoundRun, crate::runs::RunRow)| {
            // A run that is damaged is said to be so in the list of runs.
            let item = RunFiles::open(&folder.path).ok()?.items.find(system, id).ok()??;
            let text = item.details.prediction.as_deref().unwrap_or_default();
            let (now, changed) = row.time();
            Some(HistoryRow {
                run: folder.id.clone(),
                name: folder.name.clone(),
                now,
                changed,
                text: sha256_of_bytes(text.as_bytes())[..8].to_owned(),
                status: item.status,
                metrics: item.metrics.into_iter().collect(),
                prediction: item.details.prediction,
            })
        };
        Ok(alike.into_iter().take(MOST_RUNS).filter_map(of_run).collect())
    }
}
