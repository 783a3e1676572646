//! What a report of estimates is made from.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sqlgauge_run::Manifest;

use super::drift::Series;

/// Estimates of one or several systems on one target.
#[derive(Debug, Clone, PartialEq)]
pub struct Reliability {
    /// What was read and how: tool version, command, inputs, options, number of questions.
    pub manifest: Manifest,
    /// Name of the target, for people.
    pub target: String,
    /// One per system, in the order asked for.
    pub estimates: Vec<SystemEstimate>,
    /// Estimates that follow each other, one series per system; empty where there are none.
    pub drift: Vec<Series>,
    /// The bar of `--alarm-below`.
    pub alarm_below: Option<f64>,
}

/// An interval that is to hold the true accuracy.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// Probability with which it is to.
    pub level: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// A signal over the labelled answers and over the target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Signal {
    /// Its name.
    pub name: String,
    /// Over the system's own labelled answers.
    pub known: Option<f64>,
    /// Over the target.
    pub target: Option<f64>,
    /// By how much it moved the estimate.
    pub effect: Option<f64>,
}

/// A database or a kind of question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Part {
    /// Its name.
    pub name: String,
    /// Questions.
    pub count: usize,
    /// Estimated accuracy.
    pub accuracy: f64,
    /// Share of predictions that run.
    pub runs: f64,
    /// By how much it pulls the estimate away from the known accuracy.
    pub pull: Option<f64>,
}

/// A prediction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// Id of the question.
    pub id: String,
    /// Its database.
    pub db_id: String,
    /// The question.
    pub question: String,
    /// The prediction as given.
    pub prediction: String,
    /// How it ended.
    pub status: String,
    /// Probability that it is right.
    pub probability: f64,
    /// What speaks against it, in words.
    pub reasons: Vec<String>,
}

/// The estimate of one system. The fields are those of `estimate --json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SystemEstimate {
    /// Name of the system.
    pub system: String,
    /// Estimated accuracy, in [0, 1].
    pub accuracy: f64,
    /// Its interval.
    pub interval: Interval,
    /// The target lies outside what the labels cover.
    pub outside: bool,
    /// Id of the estimator.
    pub method: String,
    /// What the estimate follows from.
    pub signals: Vec<Signal>,
    /// Shift descriptors by name.
    pub descriptors: BTreeMap<String, f64>,
    /// By database.
    pub by_database: Vec<Part>,
    /// By kind of question.
    pub by_kind: Vec<Part>,
    /// What was left out or assumed.
    pub notes: Vec<String>,
    /// The predictions; not part of the JSON.
    #[serde(skip)]
    pub items: Vec<Answer>,
}

impl SystemEstimate {
    /// The accuracy over the system's own labelled answers, which the estimators give as the signal `accuracy`.
    pub fn known_accuracy(&self) -> Option<f64> {
        let accuracy = self.signals.iter().find(|signal| signal.name == "accuracy")?;
        accuracy.known.filter(|known| known.is_finite())
    }

    /// The predictions most likely wrong, at most `most` of them; equally likely ones in the target's order. Where all
    /// have the same probability, nothing orders them and there are none.
    pub fn most_doubtful(&self, most: usize) -> Vec<&Answer> {
        let Some(first) = self.items.first() else { return Vec::new() };
        // A method without a view on single answers gives all the same probability, but reasons still count.
        let flat = self.items.iter().all(|item| item.probability.total_cmp(&first.probability).is_eq());
        let mut items: Vec<&Answer> =
            self.items.iter().filter(|item| !flat || !item.reasons.is_empty()).collect();
        items.sort_by(|a, b| a.probability.total_cmp(&b.probability));
        items.truncate(most);
        items
    }
}

impl Reliability {
    /// The systems with the highest estimate first.
    pub fn ranked(&self) -> Vec<&SystemEstimate> {
        let mut ranked: Vec<&SystemEstimate> = self.estimates.iter().collect();
        ranked.sort_by(|a, b| b.accuracy.total_cmp(&a.accuracy));
        ranked
    }
}
