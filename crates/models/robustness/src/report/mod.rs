//! Reports of robustness: what schema changes do to the scores of systems, one file per format.
//!
//! A [`RobustnessReport`] is plain data. What people read is its [`document`](RobustnessReport::document).

mod csv;
mod document;
mod folder;
mod json;
mod junit;

use crate::{METRICS, Robustness, RobustnessRow};

pub use csv::csv;
pub use folder::FILES;
pub use json::{json, jsonl};
pub use junit::junit;

/// Execution accuracy, by which changes are judged.
const EX: &str = METRICS[2];

/// A comparison, ready to be rendered.
#[derive(Debug, Clone, PartialEq)]
pub struct RobustnessReport {
    /// The comparison.
    pub robustness: Robustness,
    /// How much of its execution accuracy a system may lose under a change, in [0, 1].
    pub max_drop: Option<f64>,
}

impl RobustnessReport {
    /// The systems and rows whose loss is greater than allowed.
    pub fn failures(&self) -> impl Iterator<Item = (&str, &RobustnessRow)> {
        let rows = self
            .robustness
            .systems
            .iter()
            .flat_map(|system| system.rows.iter().map(move |row| (system.system.as_str(), row)));
        rows.filter(|(_, row)| self.is_failure(row))
    }

    fn is_failure(&self, row: &RobustnessRow) -> bool {
        let lost = row.changes.get(EX).map(|change| -change.difference);
        self.max_drop.zip(lost).is_some_and(|(most, lost)| lost > most)
    }
}
