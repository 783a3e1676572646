//! The sentences that all formats of an estimate share.

use serde::Serialize;
use sqlgauge_base::capital;
pub(super) use sqlgauge_report::words::{many, optional, percent, points};

use super::drift::{Alarm, DriftPoint, Series};
use super::{EstimatePart, Reliability, SystemEstimate};
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
    /// Whether it says more than the labelled data do: labels of the target itself leave nothing to extrapolate.
    pub(super) fn is_extrapolation(&self) -> bool {
        self.outside && self.metric != LABELS
    }

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
        if self.is_extrapolation() {
            let beyond = match [low.as_str(), high.as_str()] {
                ["0.0", "100.0"] => "anywhere".to_owned(),
                ["0.0", _] => format!("above {high} %"),
                [_, "100.0"] => format!("below {low} %"),
                _ => format!("outside {low} % to {high} %"),
            };
            return format!(
                "{claim}. The target is unlike the labelled data, so this is an extrapolation: the true share may lie {beyond}."
            );
        }
        format!("{claim}. With {} confidence the true share lies between {low} % and {high} %.", level(self))
    }

    /// The estimate as JSON has it: with its sentence.
    pub fn with_sentence(&self) -> impl Serialize + '_ {
        WithSentence { sentence: self.sentence(), estimate: self, watch: None }
    }
}

impl Reliability {
    /// The estimates as `--json` prints them: with sentences, and of `monitor` with the points and alarms of `drift.json`.
    pub fn printed(&self) -> impl Iterator<Item = impl Serialize + '_> {
        self.estimates.iter().map(|estimate| {
            let series = self.drift.iter().find(|series| series.system == estimate.system);
            let watch = series.map(|Series { points, alarms, .. }| Watched { points, alarms });
            WithSentence { sentence: estimate.sentence(), estimate, watch }
        })
    }
}

#[derive(Serialize)]
struct Watched<'e> {
    points: &'e [DriftPoint],
    alarms: &'e [Alarm],
}

#[derive(Serialize)]
struct WithSentence<'e> {
    sentence: String,
    #[serde(flatten)]
    estimate: &'e SystemEstimate,
    #[serde(flatten)]
    watch: Option<Watched<'e>>,
}

/// Whether the target lies outside, and why, in one sentence.
pub(super) fn outside(estimate: &SystemEstimate) -> String {
    if estimate.metric == LABELS {
        return "Inside: labels of these questions say how many are right.".to_owned();
    }
    if !estimate.outside {
        return "Inside: what shows without labels lies within what the labelled data show. Questions may be harder in ways that do \
                not show."
            .to_owned();
    }
    let because = match estimate.outside_because.as_slice() {
        [] => "the target differs from the labelled data".to_owned(),
        reasons => reasons.iter().map(|reason| capital(reason)).collect::<Vec<_>>().join(". "),
    };
    format!("Outside the labelled data: {because}. A few labels on the target would help most.")
}

/// How far the estimate is from the known accuracy, in one sentence.
pub(super) fn against_known(estimate: &SystemEstimate) -> Option<String> {
    let source_accuracy = estimate.known_accuracy().filter(|_| estimate.metric != LABELS)?;
    let difference = estimate.accuracy - source_accuracy;
    let distance = points(Some(difference.abs())).replace('+', "");
    let share = percent(source_accuracy);
    // An estimate of an earlier version does not say how many.
    let questions = match estimate.labelled {
        0 => "labelled questions".to_owned(),
        count => many(count, "labelled question"),
    };
    Some(match difference {
        _ if distance == "0.0" => format!("On the {questions} it scored the same ({share} %)."),
        _ => format!(
            "It scored {share} % on the {questions}; the estimate is {distance} points {}.",
            if difference < 0.0 { "lower" } else { "higher" }
        ),
    })
}

/// What a signal is, for those who meet its name for the first time.
pub(super) fn signal_meaning(name: &str) -> &'static str {
    match name {
        "accuracy" => "share that is right, by the labels",
        "answered" => "share of questions with an answer",
        "runs" => "share that executes as given; an answer that does not is wrong",
        "item model" => "what the model of single answers adds",
        "everything else" => "what answers that do not run, and the means over known runs, add",
        "first statement runs" => "share whose first statement executes",
        "agreement with other systems" => "mean share of other systems with the same result",
        "returns nothing" => "share whose result is empty",
        "questions and predictions" => "share that looks right by structure alone",
        "answers above the threshold" => "share whose confidence exceeds the threshold",
        "confidence" => "mean confidence that counts",
        "agreement of all answers" => {
            "mean share of other systems with the same result; none for an answer that does not run"
        }
        _ => "",
    }
}

/// The parts that pull the estimate down most, or those of least accuracy where there is no known accuracy, first.
pub(super) fn sorted(parts: &[EstimatePart]) -> Vec<&EstimatePart> {
    let key = |part: &EstimatePart| part.pull.unwrap_or(part.accuracy);
    let mut sorted: Vec<&EstimatePart> = parts.iter().collect();
    sorted.sort_by(|a, b| key(a).total_cmp(&key(b)).then_with(|| a.name.cmp(&b.name)));
    sorted
}
