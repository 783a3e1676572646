//! What every format is given.

use std::sync::Arc;

use sqlgauge_metrics::MetricKind;
use sqlgauge_run::{Gate, Items, Manifest, RawItem, Reason, Reasons, Summary, check_gates};

use crate::kind::Nature;
use crate::number;

/// A finished run, ready to be rendered.
#[derive(Debug, Clone)]
pub struct Report {
    /// What was run, on what, by which version.
    pub manifest: Manifest,
    /// Scores per system, their breakdown and the paired comparisons.
    pub summary: Summary,
    /// One entry per system and example, read when a format asks for them.
    pub items: Items,
    /// Bars that every system must reach (`--fail-under`); empty if there are none.
    pub gates: Vec<Gate>,
    /// What says why answers are wrong; without it a page does not say.
    pub reasons: Option<Arc<Reasons>>,
}

/// A gate applied to one system.
#[derive(Debug, Clone, PartialEq)]
pub struct GateOutcome {
    pub system: String,
    /// The bar that was applied.
    pub gate: Gate,
    /// The system's mean, `None` if the metric applies to no item of it.
    pub mean: Option<f64>,
    /// Whether the system reaches the bar.
    pub passed: bool,
}

impl Report {
    /// A report without gates.
    pub fn new(manifest: Manifest, summary: Summary, items: impl Into<Items>) -> Self {
        Self { manifest, summary, items: items.into(), gates: Vec::new(), reasons: None }
    }

    /// The same report with what says why answers are wrong.
    #[must_use]
    pub fn with_reasons(mut self, reasons: impl Into<Arc<Reasons>>) -> Self {
        self.reasons = Some(reasons.into());
        self
    }

    /// The same report with these gates.
    #[must_use]
    pub fn with_gates(mut self, gates: Vec<Gate>) -> Self {
        self.gates = gates;
        self
    }

    /// Every gate applied to every system, in the order of gates, then of systems.
    pub(crate) fn gate_outcomes(&self) -> Vec<GateOutcome> {
        let failures = check_gates(&self.summary, &self.gates);
        let pairs = self.gates.iter().flat_map(|gate| self.summary.systems.iter().map(move |s| (gate, s)));
        let outcome = |(gate, system): (&Gate, &sqlgauge_run::SystemSummary)| GateOutcome {
            system: system.system.clone(),
            gate: gate.clone(),
            mean: system.scores.get(&gate.metric).and_then(|score| score.mean),
            passed: !failures.iter().any(|f| f.system == system.system && f.gate == *gate),
        };
        pairs.map(outcome).collect()
    }

    /// Why the answer of an item is wrong.
    pub(crate) fn reason(&self, item: &RawItem<'_>) -> Option<Reason> {
        self.reasons.as_ref()?.of_raw(item).ok().flatten()
    }

    /// The number of items that a system's mean is the mean of.
    pub(crate) fn count_of(&self, system: &str, metric: &str) -> usize {
        let summary = self.summary.systems.iter().find(|s| s.system == system);
        summary.and_then(|system| system.scores.get(metric)).map_or(0, |score| score.count)
    }

    /// A mean with the interval that a system's score on the metric has.
    pub(crate) fn interval_of(&self, system: &str, metric: &str, mean: &str) -> String {
        let summary = self.summary.systems.iter().find(|s| s.system == system);
        let score = summary.and_then(|system| system.scores.get(metric));
        let ends = score.and_then(|score| score.low.zip(score.high));
        let write = |end| number::score(Some(end), Nature::of(metric));
        ends.map_or_else(
            || mean.to_owned(),
            |(low, high)| format!("{mean} [{}, {}]", write(low), write(high)),
        )
    }

    /// The metric that decides whether an item passes in formats that must say yes or no: the first gate's
    /// that can, else the first metric of the run that is right or wrong, else the first fraction. A metric
    /// with a unit of its own never decides.
    pub fn deciding_metric(&self) -> Option<&str> {
        let metrics = || self.summary.metrics.iter().map(String::as_str);
        let first_of = |kind| metrics().find(|metric| Nature::of(metric).kind == kind);
        let mut gated = self.gates.iter().map(|gate| gate.metric.as_str());
        gated
            .find(|gated| !Nature::of(gated).has_own_unit() && metrics().any(|metric| metric == *gated))
            .or_else(|| first_of(MetricKind::Binary))
            .or_else(|| first_of(MetricKind::Fraction))
    }
}
