//! `--fail-under METRIC=X`: a bar that every system must reach.

use std::fmt;

use sqlgauge_metrics::MetricKind;

use crate::record::Summary;

/// The least mean that a metric must have.
#[derive(Debug, Clone, PartialEq)]
pub struct Gate {
    pub metric: String,
    /// The least mean, in the unit of the metric: 0.8 for 80 %.
    pub minimum: f64,
}

/// Why a text is no gate.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum GateError {
    /// Not of the form `METRIC=X`.
    #[error("invalid bar {text:?}: write METRIC=X with a number X, for example ex-spider=0.8")]
    Malformed { text: String },
    /// The run does not score the metric.
    #[error("the run does not score {metric:?}; name one of its metrics: {metrics}")]
    NotScored {
        /// The metric as written.
        metric: String,
        metrics: String,
    },
    /// Lower is better, so that a least mean says nothing.
    #[error("{metric} cannot have a bar: lower is better there; set one on another metric")]
    Cost { metric: String },
    /// The bar is outside of what the metric can reach.
    #[error("the bar {minimum} for {metric} is not between 0 and 1; write 80 % as 0.8")]
    OutOfRange { metric: String, minimum: f64 },
}

impl Gate {
    /// Reads `METRIC=X`, where METRIC is one of the ids `scored`, with or without its version.
    ///
    /// # Errors
    /// [`GateError`] when the text is malformed, the metric is not scored or is a cost, or X is not in [0, 1].
    pub fn parse(text: &str, scored: &[String]) -> Result<Self, GateError> {
        let malformed = || GateError::Malformed { text: text.to_owned() };
        let (name, minimum) = text.split_once('=').ok_or_else(malformed)?;
        let (name, minimum) = (name.trim(), minimum.trim().parse::<f64>().map_err(|_| malformed())?);
        let named = |id: &&String| *id == name || id.split('@').next() == Some(name);
        let metric = scored
            .iter()
            .find(named)
            .cloned()
            .ok_or_else(|| GateError::NotScored { metric: name.to_owned(), metrics: scored.join(", ") })?;
        if sqlgauge_metrics::lower_is_better(&metric) {
            return Err(GateError::Cost { metric });
        }
        // A cost has a unit of its own; anything else lies in [0, 1].
        let has_unit = sqlgauge_metrics::find(&metric).is_ok_and(|m| m.kind() == MetricKind::Unbounded);
        if !minimum.is_finite() || (!has_unit && !(0.0..=1.0).contains(&minimum)) {
            return Err(GateError::OutOfRange { metric, minimum });
        }
        Ok(Self { metric, minimum })
    }

    /// A mean and the bar as a reader sees them: percent, costs in their own unit, with as many decimals as tell
    /// the two apart.
    pub fn written(&self, mean: f64) -> (String, String) {
        let has_unit = sqlgauge_metrics::find(&self.metric).is_ok_and(|m| m.kind() == MetricKind::Unbounded);
        let (scale, unit) = if has_unit { (1.0, "") } else { (100.0, " %") };
        let decimals = |value: f64| (1..=6).map(move |digits| format!("{:.digits$}", value * scale));
        let distance =
            |text: &str| text.parse::<f64>().map_or(f64::NAN, |number| number - self.minimum * scale);
        let side = |distance: f64| if distance.abs() < 1e-9 { 0.0 } else { distance.signum() };
        let truth = side((mean - self.minimum) * scale);
        let find = |value: f64, truth: f64| {
            let fitting = decimals(value).find(|text| side(distance(text)).total_cmp(&truth).is_eq());
            fitting.or_else(|| decimals(value).next_back()).unwrap_or_default()
        };
        (format!("{}{unit}", find(mean, truth)), format!("{}{unit}", find(self.minimum, 0.0)))
    }
}

/// A system that stays under a bar.
#[derive(Debug, Clone, PartialEq)]
pub struct GateFailure {
    pub system: String,
    /// The bar.
    pub gate: Gate,
    /// The system's mean; `None` when the metric applied to no item.
    pub mean: Option<f64>,
    /// The ends of its interval.
    pub interval: Option<(f64, f64)>,
}

impl fmt::Display for GateFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { system, gate, mean, interval } = self;
        let metric = &gate.metric;
        let (is, wanted) = gate.written(mean.unwrap_or_default());
        match mean {
            Some(_) => {
                let ends = interval.map(|(low, high)| [gate.written(low).0, gate.written(high).0]);
                let ends = ends.map(|[low, high]| format!(" (95 % interval {low} to {high})"));
                write!(f, "{system}: {metric} is {is}{}, under {wanted}", ends.unwrap_or_default())
            }
            None => write!(f, "{system}: {metric} applies to no item, so it does not reach {wanted}"),
        }
    }
}

/// Every system and bar where the mean is below the bar or there is no mean, system by system.
pub fn check_gates(summary: &Summary, gates: &[Gate]) -> Vec<GateFailure> {
    let failure = |system: &crate::SystemSummary, gate: &Gate| {
        let score = system.scores.get(&gate.metric);
        let mean = score.and_then(|score| score.mean);
        let interval = score.and_then(|score| score.low.zip(score.high));
        let reached = mean.is_some_and(|mean| mean >= gate.minimum);
        (!reached).then(|| GateFailure { system: system.system.clone(), gate: gate.clone(), mean, interval })
    };
    summary
        .systems
        .iter()
        .flat_map(|system| gates.iter().filter_map(move |gate| failure(system, gate)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_under_its_bar_never_looks_as_if_it_reached_it() {
        let cases = [
            ("ex@1", 0.7996, 0.8, ("79.96 %", "80.0 %")),
            ("ex@1", 0.8, 0.8, ("80.0 %", "80.0 %")),
            ("soft-f1@1", 0.812_34, 0.805, ("81.2 %", "80.5 %")),
            ("ex@1", 0.9999, 1.0, ("99.99 %", "100.0 %")),
            ("ex@1", 0.5, 0.1234, ("50.0 %", "12.34 %")),
            ("ves@1", 1.254, 1.25, ("1.3", "1.25")),
        ];
        for (metric, mean, minimum, (is, wanted)) in cases {
            let gate = Gate { metric: metric.to_owned(), minimum };
            assert_eq!(gate.written(mean), (is.to_owned(), wanted.to_owned()));
        }
    }
}
