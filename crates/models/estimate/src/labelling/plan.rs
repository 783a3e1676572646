//! The plan: questions, answers and goal in one file, which is all that later commands need.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use sqlgauge_run::{InputRecord, sha256_of_bytes};

use super::design::{Answers, Design, Goal, Quantity};

/// The form of the file.
pub(super) const FORMAT: &str = "sqlgauge-labels@1";

/// The number that the labels are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Wanted {
    /// The accuracy of every system; one question asks for the answers of all.
    Accuracy,
    /// The accuracy of the first system less that of the second.
    Difference,
}

/// `plan.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LabelPlan {
    /// `sqlgauge-labels@1`.
    pub format: String,
    /// Version of sqlgauge.
    pub tool_version: String,
    /// The command line as given.
    pub command: Vec<String>,
    /// The number that the labels are for.
    pub wanted: Wanted,
    /// When the labels are enough.
    pub goal: Goal,
    /// Seed of the draws.
    pub seed: u64,
    /// The time that queries take for now.
    pub now: String,
    /// Names of the systems.
    pub systems: Vec<String>,
    /// Every input file and database, with its SHA-256.
    pub inputs: Vec<InputRecord>,
    /// The questions, with the answer of each system.
    pub items: Vec<PlanItem>,
}

/// A question with the answer of each system.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlanItem {
    /// Id of the question.
    pub id: String,
    /// Its database.
    pub db_id: String,
    /// Its text.
    pub question: Option<String>,
    /// External knowledge given with it (BIRD).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<String>,
    /// The answers, in the order of `systems`.
    pub answers: Vec<PlanAnswer>,
}

/// An answer of a system.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlanAnswer {
    /// The query; empty where the system has none.
    pub sql: String,
    /// SHA-256 of the answer, as labels name it.
    pub shown: String,
    /// One verdict is of all answers to the question with the same number; null for an answer that does not run.
    pub class: Option<usize>,
    /// What is likely before a label: 1, the logit of being right, then values that get a weight from labels alone.
    pub features: Vec<f64>,
}

impl PlanAnswer {
    pub fn new(sql: &str, class: Option<usize>, features: Vec<f64>) -> Self {
        Self { sql: sql.to_owned(), shown: sha256_of_bytes(sql.as_bytes()), class, features }
    }
}

impl LabelPlan {
    /// A plan that asks for the labels of those items.
    pub fn new(wanted: Wanted, goal: Goal, systems: Vec<String>, items: Vec<PlanItem>) -> Self {
        Self {
            format: FORMAT.to_owned(),
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
            command: Vec::new(),
            wanted,
            goal,
            seed: 0,
            now: String::new(),
            systems,
            inputs: Vec::new(),
            items,
        }
    }

    /// What stands for the questions in labels of the plan: the same for every plan of them.
    pub fn run_name(&self) -> String {
        let parts =
            self.items.iter().flat_map(|item| [&item.id, &item.db_id].into_iter().chain(&item.question));
        let texts: Vec<String> = parts.map(|part| format!("{}:{part}", part.len())).collect();
        format!("{}{}", RUN, &sha256_of_bytes(texts.concat().as_bytes())[..12])
    }

    /// The quantities: one for each accuracy, or the difference.
    pub fn quantities(&self) -> Vec<Quantity> {
        match self.wanted {
            Wanted::Accuracy => (0..self.systems.len()).map(Quantity::Accuracy).collect(),
            Wanted::Difference => {
                let is_same = |item: &PlanItem| item.answers[0].class == item.answers[1].class;
                vec![Quantity::Difference {
                    first: 0,
                    second: 1,
                    same: self.items.iter().map(is_same).collect(),
                }]
            }
        }
    }

    /// What the labels are drawn by.
    pub fn design(&self) -> Design {
        let of = |system: usize| {
            let answers = || self.items.iter().map(move |item| &item.answers[system]);
            Answers {
                features: answers().map(|answer| answer.features.clone()).collect(),
                runs: answers().map(|answer| answer.class.is_some()).collect(),
            }
        };
        Design::new((0..self.systems.len()).map(of).collect(), self.quantities(), self.goal)
    }

    /// The places of the items by their ids.
    pub(super) fn places(&self) -> HashMap<&str, usize> {
        self.items.iter().enumerate().map(|(place, item)| (item.id.as_str(), place)).collect()
    }

    /// What is wrong with a plan that was read.
    pub(super) fn fault(&self) -> Option<String> {
        let width =
            self.items.first().and_then(|item| item.answers.first()).map_or(0, |of| of.features.len());
        let is_whole = |item: &PlanItem| {
            item.answers.len() == self.systems.len()
                && item.answers.iter().all(|answer| {
                    answer.features.len() == width && answer.features.iter().all(|value| value.is_finite())
                })
        };
        let systems = if self.wanted == Wanted::Difference { 2..=2 } else { 1..=usize::MAX };
        let fault = if self.format != FORMAT {
            format!("its format is {:?}, and this version reads {FORMAT:?}", self.format)
        } else if !systems.contains(&self.systems.len()) || width < 2 {
            "it has no question, or not as many systems as its goal needs".to_owned()
        } else if self.places().len() < self.items.len() {
            "an id stands there twice".to_owned()
        } else if let Some(item) = self.items.iter().find(|item| !is_whole(item)) {
            format!("item {:?} has not one answer of each system with {width} features", item.id)
        } else {
            return self.goal.fault();
        };
        Some(fault)
    }
}

/// What the names of the runs of plans begin with.
pub(super) const RUN: &str = "plan-";

impl Goal {
    /// What is wrong with a goal.
    pub fn fault(&self) -> Option<String> {
        if !(0.0 < self.width && self.width < 1.0) {
            return Some(format!("the width {} is not between 0 and 1; write 3 points as 0.03", self.width));
        }
        if !(0.5..1.0).contains(&self.level) {
            return Some(format!("the level {} is not from 0.5 to below 1; write 95 % as 0.95", self.level));
        }
        None
    }
}
