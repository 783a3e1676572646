//! Labels of some of a target's own answers, kept apart from the labels of known runs.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use sqlgauge_dataset::Label;

use crate::error::EstimateError;
use crate::pool::{Pool, QuestionIndex, SystemIndex};

/// For each system the labels of its answers to some of the target's questions, in [0, 1].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TargetLabels(HashMap<SystemIndex, BTreeMap<QuestionIndex, f64>>);

impl TargetLabels {
    /// Adds the labels of one system. Rows without a label are left out.
    /// `path` is the file that errors name.
    ///
    /// # Errors
    /// [`EstimateError::StrayLabel`] for an id that the target does not have.
    pub fn add(
        &mut self,
        pool: &Pool,
        system: SystemIndex,
        labels: &[Label],
        path: &Path,
    ) -> Result<(), EstimateError> {
        let of_system = self.0.entry(system).or_default();
        for label in labels {
            let Some(&question) = pool.target_ids.get(&label.id) else {
                return Err(EstimateError::StrayLabel { path: path.to_owned(), id: label.id.clone() });
            };
            of_system.extend(label.correct.map(|correct| (question, correct)));
        }
        Ok(())
    }

    /// The label of a system's answer to a question of the target.
    pub fn get(&self, system: SystemIndex, question: QuestionIndex) -> Option<f64> {
        self.0.get(&system)?.get(&question).copied()
    }
}
