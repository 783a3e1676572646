//! What the tables of a report say, for the terminal and for Markdown.

use sqlgauge_report::sheet::{Sheet, SheetCell as Cell, header};

use super::drift::Series;
use super::words::{self, by_metric, level, optional, percent, points, status, with_interval};
use super::{EstimatePart, Reliability, SystemEstimate};

fn standing(outside: bool) -> &'static str {
    if outside { "outside" } else { "inside" }
}

/// The systems by their estimates.
pub(super) fn ranking(report: &Reliability) -> Sheet {
    let level = report.estimates.first().map(level).unwrap_or_default();
    let by = report.estimates.first().map(by_metric).unwrap_or_default();
    let row = |estimate: &SystemEstimate| {
        vec![
            estimate.system.as_str().into(),
            Cell::new(with_interval(estimate)).strong(),
            optional(estimate.known_accuracy()).into(),
            estimate.method.as_str().into(),
            standing(estimate.outside).into(),
        ]
    };
    Sheet {
        title: "Estimated accuracy".to_owned(),
        note: format!("percent{by}, with {level} intervals"),
        header: header(&["system", "estimate", "known", "method", "labels"]),
        rows: report.ranked().into_iter().map(row).collect(),
        ..Sheet::default()
    }
}

/// What the estimate follows from; nothing where the method has no signals.
pub(super) fn signals(estimate: &SystemEstimate) -> Option<Sheet> {
    let row = |signal: &super::Signal| {
        let (home, target) = (optional(signal.known), optional(signal.target));
        vec![signal.name.as_str().into(), home.into(), target.into(), points(signal.effect).into()]
    };
    (!estimate.signals.is_empty()).then(|| Sheet {
        title: "What it follows from".to_owned(),
        note: "percent; effect on the estimate in points".to_owned(),
        header: header(&["signal", "labelled", "target", "effect"]),
        rows: estimate.signals.iter().map(row).collect(),
        ..Sheet::default()
    })
}

/// At most so many parts of the target; nothing where there are none.
pub(super) fn parts(what: &str, parts: &[EstimatePart], most: usize) -> Option<Sheet> {
    let row = |part: &EstimatePart| {
        let shares = [percent(part.accuracy), percent(part.runs), points(part.pull)];
        let count = std::iter::once(part.count.to_string().into());
        std::iter::once(part.name.as_str().into()).chain(count).chain(shares.map(Cell::from)).collect()
    };
    let listed = words::sorted(parts);
    let note = if listed.len() > most {
        format!("percent; {most} of {} that pull the estimate down most, pull in points", listed.len())
    } else {
        "percent; by their pull on the estimate, in points".to_owned()
    };
    (!parts.is_empty()).then(|| Sheet {
        title: format!("By {what}"),
        note,
        header: header(&[what, "questions", "estimate", "runs", "pull"]),
        rows: listed.into_iter().take(most).map(row).collect(),
        is_folded: true,
        ..Sheet::default()
    })
}

/// At most so many predictions that are probably wrong; nothing where there are none. With their texts if asked for.
pub(super) fn doubtful(estimate: &SystemEstimate, most: usize, with_texts: bool) -> Option<Sheet> {
    let row = |answer: &super::Answer| {
        let reasons = match answer.reasons.as_slice() {
            [] if answer.status == "ok" => "resembles answers that were wrong".to_owned(),
            [] => status(&answer.status),
            reasons => reasons.join("; "),
        };
        let mut row: Vec<Cell> = vec![
            answer.id.as_str().into(),
            percent(answer.probability).into(),
            answer.db_id.as_str().into(),
            reasons.into(),
        ];
        if with_texts {
            row.extend([answer.question.as_str().into(), Cell::new(&answer.prediction).code()]);
        }
        row
    };
    let listed = estimate.most_doubtful(most);
    let texts: &[&str] = if with_texts { &["question", "prediction"] } else { &[] };
    (!listed.is_empty()).then(|| Sheet {
        title: "Most likely wrong".to_owned(),
        note: "probability of being right, in percent".to_owned(),
        header: header(&[&["id", "right", "database", "why"][..], texts].concat()),
        rows: listed.into_iter().map(row).collect(),
        is_folded: true,
        ..Sheet::default()
    })
}

/// At most so many of the last batches.
pub(super) fn drift(series: &Series, most: usize) -> Sheet {
    let left = series.points.len().saturating_sub(most);
    let rows = series.points.iter().skip(left).map(|point| {
        let alarm = if series.rings_at(&point.label) { "alarm" } else { "" };
        vec![
            point.label.as_str().into(),
            point.count.to_string().into(),
            format!("{} [{}, {}]", percent(point.accuracy), percent(point.low), percent(point.high)).into(),
            standing(point.outside).into(),
            Cell::new(alarm).strong(),
        ]
    });
    Sheet {
        title: format!("Drift of {}", series.system),
        note: if left > 0 {
            format!("percent; the last {most} batches")
        } else {
            "percent, by batch".to_owned()
        },
        header: header(&["batch", "questions", "estimate", "labels", "alarm"]),
        rows: rows.collect(),
        ..Sheet::default()
    }
}
