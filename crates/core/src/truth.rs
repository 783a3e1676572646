//! Which answers of a run are right, by its verdicts or by labels: what the errors of a metric are counted against.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use serde::Serialize;
use sqlgauge_dataset::{Columns, Label, load_labels};
use sqlgauge_metrics::is_verify;
use sqlgauge_run::{Item, Manifest};

use crate::error::{About, Error};

/// Whether an answer is right.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Truth {
    /// Equivalent to its gold, or labelled right.
    Right {
        /// For tables of so many rows only: a bounded proof.
        bounded: bool,
    },
    /// A database tells it from its gold, SQLite refuses it, it is missing, or it is labelled wrong.
    Wrong,
    /// Nobody knows.
    Undecided,
    /// The benchmark's own query fails, or there is no label.
    NotJudged,
    /// The label is of an earlier answer.
    OtherAnswer,
}

impl Truth {
    /// Right or wrong, where that is known.
    pub(crate) fn decided(self) -> Option<bool> {
        match self {
            Self::Right { .. } => Some(true),
            Self::Wrong => Some(false),
            Self::Undecided | Self::NotJudged | Self::OtherAnswer => None,
        }
    }
}

/// Where the truth is from.
pub(crate) enum Truths {
    /// The verdicts of the run, by the metric of that id.
    Verdicts(String),
    /// Labels by system and id.
    Labels(HashMap<String, HashMap<String, Label>>),
}

impl Truths {
    /// The labels of a file where one is given, else the verdicts of the run.
    pub(crate) fn of(run: &Path, manifest: &Manifest, labels: Option<&PathBuf>) -> Result<Self, Error> {
        let Some(file) = labels else {
            let verifies = manifest.metrics.iter().find(|id| is_verify(id)).ok_or_else(|| no_truth(run))?;
            return Ok(Self::Verdicts(verifies.clone()));
        };
        let of_system = |system: &String| {
            let labels = match load_labels(file, None, Some(system), &Columns::default()) {
                Err(_) if manifest.systems.len() == 1 => {
                    load_labels(file, Some(system), None, &Columns::default())?
                }
                labels => labels
                    .about(|| format!("with several systems, the labels need a column named `{system}`"))?,
            };
            Ok((system.clone(), labels.into_iter().map(|label| (label.id.clone(), label)).collect()))
        };
        Ok(Self::Labels(manifest.systems.iter().map(of_system).collect::<Result<_, Error>>()?))
    }

    /// What it is, in a few words.
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Verdicts(id) => id,
            Self::Labels(_) => "labels",
        }
    }

    /// Whether an answer is right.
    pub(crate) fn of_item(&self, item: &Item) -> Truth {
        match self {
            Self::Verdicts(id) => by_verdict(item, id),
            Self::Labels(labels) => {
                let label = labels.get(&item.system).and_then(|labels| labels.get(&item.id));
                label.map_or(Truth::NotJudged, |label| by_label(item, label))
            }
        }
    }
}

fn by_label(item: &Item, label: &Label) -> Truth {
    let Some(correct) = label.correct else { return Truth::NotJudged };
    if !item.details.whole_answer().map_or(label.shown.is_none(), |answer| label.is_of(answer)) {
        return Truth::OtherAnswer;
    }
    if correct >= 1.0 { Truth::Right { bounded: false } } else { Truth::Wrong }
}

fn by_verdict(item: &Item, verify: &str) -> Truth {
    let Some(score) = item.metrics.get(verify).copied().flatten() else { return Truth::NotJudged };
    let verdict = item.details.verdict.as_ref().map(|record| record.verdict.as_str());
    match verdict {
        Some("equivalent") => Truth::Right { bounded: false },
        Some("equivalent_up_to") => Truth::Right { bounded: true },
        Some("different") => Truth::Wrong,
        // Refused by SQLite, or missing.
        None if score == 0.0 => Truth::Wrong,
        _ => Truth::Undecided,
    }
}

fn no_truth(run: &Path) -> Error {
    Error::Invalid(format!(
        "{} says of no answer whether it is right; score with --metrics …,verify, or give labels with --correct",
        run.display()
    ))
}

/// How often something that says right or wrong is mistaken.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct ErrorCounts {
    /// Answers of which the truth and the score are known.
    pub judged: u64,
    /// Those that it calls right.
    pub called_right: u64,
    /// Wrong answers that it calls right.
    pub false_positives: u64,
    /// Right answers that it calls wrong.
    pub false_negatives: u64,
}

impl ErrorCounts {
    /// Counts one answer.
    pub(crate) fn add(&mut self, called_right: bool, is_right: bool) {
        self.judged += 1;
        self.called_right += u64::from(called_right);
        self.false_positives += u64::from(called_right && !is_right);
        self.false_negatives += u64::from(!called_right && is_right);
    }
}
