//! The result as data.

use std::collections::BTreeMap;

use serde::Serialize;
use sqlgauge_evolve::ChangeKind;
use sqlgauge_run::{Manifest, ScoreSummary};

/// The metrics of the paper's Table 3, in its order.
pub const METRICS: [&str; 3] = ["table-f1@2", "column-f1@2", "ex@1"];

/// The option of a manifest that says that the predictions are answers to the original.
pub const ANSWERS_TO_ORIGINAL: &str = "answers_to_original";

/// What schema changes do to the scores of systems.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Robustness {
    /// What was compared, by which version.
    pub manifest: Manifest,
    /// One per system, in the order asked for.
    pub systems: Vec<SystemRobustness>,
}

/// What schema changes do to one system.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SystemRobustness {
    pub system: String,
    /// Items of the original.
    pub items: usize,
    /// Its scores on all items of the original, by metric.
    pub original: BTreeMap<String, ScoreSummary>,
    /// The share of the original's questions on which it abstains.
    pub false_positives: ScoreSummary,
    /// One per evolved benchmark in scope: kinds in the paper's order, then steps.
    pub rows: Vec<RobustnessRow>,
    /// By metric, the mean over the kinds of change in scope; see the crate's contract.
    pub average_over_changes: BTreeMap<String, ScoreSummary>,
    /// The same with the original as one more kind, as `EvoSchema`'s tables count.
    pub average_with_original: BTreeMap<String, ScoreSummary>,
    /// Evolved benchmarks on which its answers to the original stand: over their schemas it was not asked again.
    pub not_asked_again: usize,
    /// One per evolved benchmark out of scope.
    pub out_of_scope: Vec<OutOfScopeRow>,
}

/// A system on an evolved benchmark in scope.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RobustnessRow {
    /// The name of the benchmark's folder.
    pub label: String,
    /// The kind of change; null for a script.
    pub kind: Option<ChangeKind>,
    /// How much was changed, between 0 and 1.
    pub intensity: f64,
    /// The step of a history; null without one.
    pub step: Option<u32>,
    pub items: usize,
    /// Its scores, by metric.
    pub scores: BTreeMap<String, ScoreSummary>,
    /// The scores on the original of the same items, by metric.
    pub original: BTreeMap<String, ScoreSummary>,
    /// What the change did, by metric; a metric that applies to no item on both sides has none.
    pub changes: BTreeMap<String, AccuracyChange>,
    /// The share of its questions on which the system abstains.
    pub false_positives: ScoreSummary,
    /// Execution accuracy by database of the original.
    pub databases: BTreeMap<String, DatabaseCell>,
}

/// The difference between evolved and original on the same items.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct AccuracyChange {
    /// Items to which the metric applies on both sides.
    pub count: usize,
    /// Mean on the evolved minus mean on the original.
    pub difference: f64,
    /// Lower end of its 95 % interval (paired by item: of the exact test for execution accuracy, a bootstrap otherwise).
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Exact two-sided `McNemar` p-value for execution accuracy, paired sign-flip test otherwise.
    pub p_value: f64,
    /// Items right, or scored higher, on the evolved schema only.
    pub gained: usize,
    /// Items right, or scored higher, on the original schema only.
    pub lost: usize,
}

/// Execution accuracy on one database.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct DatabaseCell {
    pub items: usize,
    /// Mean on the evolved schema; null where it applies to no item.
    pub evolved: Option<f64>,
    /// Mean on the original schema, of the same items.
    pub original: Option<f64>,
}

/// A system on an evolved benchmark whose questions have no answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OutOfScopeRow {
    /// The name of the benchmark's folder.
    pub label: String,
    pub kind: Option<ChangeKind>,
    /// How much was changed, between 0 and 1.
    pub intensity: f64,
    pub items: usize,
    /// Items without a prediction.
    pub missing: usize,
    /// The share on which the system abstains.
    pub true_positives: ScoreSummary,
}
