//! What sort of number a metric gives, which decides how it is written and which way is better.

use sqlgauge_metrics::MetricKind;

/// What a report must know of a metric to write its values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Nature {
    /// What its values mean.
    pub kind: MetricKind,
    /// Whether less is better.
    pub lower_is_better: bool,
    /// One sentence that says what it measures; empty for a metric that this version does not know.
    pub about: &'static str,
}

impl Nature {
    /// The nature of the metric with that id. One that this version does not know (the run may be of
    /// another) is taken for a fraction, of which more is better.
    pub fn of(metric: &str) -> Self {
        match sqlgauge_metrics::recorded(metric) {
            Some(metric) => Self {
                kind: metric.kind(),
                lower_is_better: !metric.higher_is_better(),
                about: metric.summary(),
            },
            None => Self { kind: MetricKind::Fraction, lower_is_better: false, about: "" },
        }
    }

    /// Whether values are in the metric's own unit and not in [0, 1].
    pub fn has_own_unit(self) -> bool {
        self.kind == MetricKind::Unbounded
    }

    pub(crate) fn better(self, a: f64, b: f64) -> f64 {
        if self.lower_is_better { a.min(b) } else { a.max(b) }
    }
}
