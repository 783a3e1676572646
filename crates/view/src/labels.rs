//! Labels that a person gives: one file per run and system, in a form that `sqlgauge import --correct` reads.
//!
//! A file holds the last label of each item, in the order in which they were first given, and is replaced as a whole.

use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use sqlgauge_base::{file, regular};
use sqlgauge_run::{RunFiles, sha256_of_bytes};

use crate::runs::FoundRun;
use crate::{Dashboard, ViewError};

/// What a person says of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Verdict {
    Right,
    Wrong,
    Unsure,
}

/// A line of the file.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct LabelRow {
    pub(crate) id: String,
    /// 1, 0, or null where the person is not sure.
    correct: Option<u8>,
    pub(crate) verdict: Verdict,
    by: String,
    /// Seconds since 1970.
    at: u64,
    system: String,
    /// Name of the run as it was listed.
    run: String,
    /// SHA-256 of the prediction that was shown.
    shown: String,
}

impl Dashboard {
    fn labels_file(&self, run: &FoundRun, system: &str) -> PathBuf {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        let mut name: String = system.chars().map(|c| if plain(c) { c } else { '_' }).take(80).collect();
        if name != system {
            name = format!("{name}-{}", &sha256_of_bytes(system.as_bytes())[..8]);
        }
        self.options.labels.join(&run.id).join(format!("{name}.jsonl"))
    }

    /// The labels of a system.
    pub(crate) fn labels(&self, run: &FoundRun, system: &str) -> Vec<LabelRow> {
        let text = regular::read_to_string(self.labels_file(run, system)).unwrap_or_default();
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    /// Keeps a label, or takes the item's back where there is none.
    pub(crate) fn label(
        &self,
        run: &FoundRun,
        system: &str,
        id: &str,
        verdict: Option<Verdict>,
    ) -> Result<(), ViewError> {
        let unknown = || ViewError::UnknownItem { system: system.to_owned(), id: id.to_owned() };
        let item = RunFiles::open(&run.path)?.items.find(system, id)?.ok_or_else(unknown)?;
        let _one_at_a_time = self.labelling.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let mut rows = self.labels(run, system);
        let at = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
        let row = verdict.map(|verdict| LabelRow {
            id: id.to_owned(),
            correct: match verdict {
                Verdict::Right => Some(1),
                Verdict::Wrong => Some(0),
                Verdict::Unsure => None,
            },
            verdict,
            by: self.options.labeller.clone(),
            at,
            system: system.to_owned(),
            run: run.name.clone(),
            shown: sha256_of_bytes(item.details.prediction.as_deref().unwrap_or_default().as_bytes()),
        });
        match (rows.iter().position(|row| row.id == id), row) {
            (Some(place), Some(row)) => rows[place] = row,
            (Some(place), None) => drop(rows.remove(place)),
            (None, Some(row)) => rows.push(row),
            (None, None) => return Ok(()),
        }
        self.write(run, system, &rows)
    }

    fn write(&self, run: &FoundRun, system: &str, rows: &[LabelRow]) -> Result<(), ViewError> {
        let path = self.labels_file(run, system);
        let about = |source| ViewError::Write { path: path.clone(), source };
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(about)?;
        }
        file::write_atomically(&path, |out| {
            rows.iter().try_for_each(|row| {
                serde_json::to_writer(&mut *out, row)?;
                out.write_all(b"\n")
            })
        })
        .map_err(about)
    }
}
