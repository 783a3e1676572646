//! The sentences that all formats of an estimate share.

use serde::Serialize;
pub(super) use sqlgauge_report::words::{NONE, many, optional, percent, points};

use super::{EstimatePart, SystemEstimate};
use crate::estimate::LABELS;

/// `47.3 [31.9, 62.8] n=500`.
pub(super) fn with_interval(estimate: &SystemEstimate) -> String {
    let interval = estimate.interval;
    let [low, high] = [interval.low, interval.high].map(percent);
    format!("{} [{low}, {high}] n={}", percent(estimate.accuracy), estimate.questions())
}

/// A level such as `90 %`, with decimals only where they say something.
pub(super) fn level(estimate: &SystemEstimate) -> String {
    let text = format!("{:.1}", 100.0 * estimate.interval.level);
    format!("{} %", text.strip_suffix(".0").unwrap_or(&text))
}

/// ` by ex@1`, ` by your labels`: what is meant by right; nothing where that is not known.
pub(super) fn by_metric(estimate: &SystemEstimate) -> String {
    match estimate.metric.as_str() {
        "" => String::new(),
        LABELS => " by your labels".to_owned(),
        metric => format!(" by {metric}"),
    }
}

impl SystemEstimate {
    /// What the estimate says: the same in a terminal, on a page, in JSON and in Python.
    pub fn sentence(&self) -> String {
        let [low, high] = [self.interval.low, self.interval.high].map(percent);
        let claim = format!(
            "An estimated {} % of {} are right{}",
            percent(self.accuracy),
            match self.questions() {
                0 => "the predictions".to_owned(),
                count => format!("the {}", many(count, "prediction")),
            },
            by_metric(self)
        );
        if self.outside {
            return format!(
                "{claim}. The target is unlike the labelled data, so this is an extrapolation: the true share may lie outside \
                 of {low} % to {high} %."
            );
        }
        format!("{claim}. With {} confidence the true share lies between {low} % and {high} %.", level(self))
    }

    /// The estimate as JSON has it: with its sentence.
    pub fn with_sentence(&self) -> impl Serialize + '_ {
        WithSentence { sentence: self.sentence(), estimate: self }
    }
}

#[derive(Serialize)]
struct WithSentence<'e> {
    sentence: String,
    #[serde(flatten)]
    estimate: &'e SystemEstimate,
}

/// Whether the target lies outside, and why, in one sentence.
pub(super) fn outside(estimate: &SystemEstimate) -> String {
    if !estimate.outside {
        return "Inside: the target is like the labelled data in all that shows without labels. Questions may be harder in ways \
                that do not show."
            .to_owned();
    }
    let because = match estimate.outside_because.as_slice() {
        [] => "the target differs from the labelled data".to_owned(),
        reasons => reasons.join("; "),
    };
    format!("Outside: {because}. A few labels on the target would help most.")
}

/// How far the estimate is from the known accuracy, in one sentence.
pub(super) fn against_known(estimate: &SystemEstimate) -> Option<String> {
    let source_accuracy = estimate.known_accuracy()?;
    let difference = estimate.accuracy - source_accuracy;
    let distance = points(Some(difference.abs())).replace('+', "");
    Some(match difference {
        _ if distance == "0.0" => {
            format!("Of its labelled answers as many are right ({} %).", percent(source_accuracy))
        }
        difference if difference < 0.0 => {
            format!(
                "Of its labelled answers {} % are right: {distance} points more.",
                percent(source_accuracy)
            )
        }
        _ => format!(
            "Of its labelled answers {} % are right: {distance} points less.",
            percent(source_accuracy)
        ),
    })
}

/// What a signal is, for those who meet its name for the first time.
pub(super) fn signal_meaning(name: &str) -> &'static str {
    match name {
        "accuracy" => "share that is right, by the labels",
        "answered" => "share of questions with an answer",
        "runs" => "share that executes as given",
        "first statement runs" => "share whose first statement executes",
        "agreement with other systems" => "mean share of other systems with the same result",
        "returns nothing" => "share whose result is empty",
        "questions and predictions" => "share that is right, by their structure alone",
        "answers above the threshold" => "share whose confidence exceeds the threshold",
        "confidence" => "mean confidence that counts",
        "agreement of all answers" => "the same, answers that do not run agreeing with nobody",
        _ => "",
    }
}

/// What a shift descriptor measures.
pub(super) fn descriptor_meaning(name: &str) -> &'static str {
    match name {
        "frechet_mean_shift" => "squared distance of the means",
        "frechet_standardised_mean_shift" => "the same per dimension, in the source's standard deviations",
        "frechet_spread_shift" => "squared distance of the standard deviations",
        "frechet_log_variance_mean" => "mean logarithm of the variance ratio: an overall stretch",
        "frechet_log_variance_std" => "its spread over dimensions: an uneven stretch",
        "mahalanobis_mean" => "mean distance from the source's centre, in standard deviations",
        "mahalanobis_std" => "spread of that distance",
        "swd" => "sliced Wasserstein distance",
        "swd_excess" => "the same, less what chance alone gives for sets of these sizes",
        "euclidean" => "distance of the means",
        "frechet_spread_ratio" => "squared differences of the standard deviations, in the source's",
        "swd_mean" => "sliced Wasserstein distance, the directions' mean",
        _ => "",
    }
}

/// A descriptor's value in four digits.
pub(super) fn descriptor(value: f64) -> String {
    if !value.is_finite() {
        NONE.to_owned()
    } else if value != 0.0 && value.abs() < 1e-3 {
        format!("{value:.1e}")
    } else if value.abs() >= 100.0 {
        format!("{value:.0}")
    } else {
        format!("{value:.3}")
    }
}

/// The status of a prediction in words.
pub(super) fn status(status: &str) -> String {
    if status == "ok" { "runs".to_owned() } else { status.replace('_', " ") }
}

/// The parts that pull the estimate down most, or those of least accuracy where there is no known accuracy, first.
pub(super) fn sorted(parts: &[EstimatePart]) -> Vec<&EstimatePart> {
    let key = |part: &EstimatePart| part.pull.unwrap_or(part.accuracy);
    let mut sorted: Vec<&EstimatePart> = parts.iter().collect();
    sorted.sort_by(|a, b| key(a).total_cmp(&key(b)).then_with(|| a.name.cmp(&b.name)));
    sorted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptors_have_four_digits() {
        assert_eq!(
            [descriptor(0.000_12), descriptor(0.0), descriptor(123.4), descriptor(1.5)],
            ["1.2e-4", "0.000", "123", "1.500"]
        );
    }
}
