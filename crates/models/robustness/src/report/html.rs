//! `html`: one file that needs no network, no server and no script; a sibling of the other reports in look.

#![expect(clippy::format_push_string, reason = "a page is written once; what reads best wins")]

use crate::{RobustnessRow, SystemRobustness};

use super::sheets::{Drawn, sheets};
use super::{EX, RobustnessReport};
use sqlgauge_report::charts::{DriftMark, drift_chart, escape};
use sqlgauge_report::number::p_value;
use sqlgauge_report::page::{Page, provenance, section};
use sqlgauge_report::words::{many, optional, points as signed_points};

const OWN_STYLE: &str = include_str!("../../web/robustness.css");

/// The report as one self-contained HTML file.
pub fn html(report: &RobustnessReport) -> String {
    let sheets = sheets(&report.robustness);
    let mut nav: Vec<(String, String)> = if report.robustness.systems.len() > 4 {
        vec![("overview".to_owned(), "Systems".to_owned())]
    } else {
        sheets.iter().map(|drawn| (drawn.sheet.id.clone(), short(&drawn.sheet.title).to_owned())).collect()
    };
    nav.push(("run".to_owned(), "How it was run".to_owned()));
    Page {
        title: heading(report),
        nav,
        body: body(report, &sheets),
        tool_version: &report.robustness.manifest.tool_version,
    }
    .html(OWN_STYLE)
}

/// A title without the system before it.
fn short(title: &str) -> &str {
    title.rsplit_once(": ").map_or(title, |(_, rest)| rest)
}

fn heading(report: &RobustnessReport) -> String {
    match report.robustness.systems.as_slice() {
        [one] => format!("Robustness of {}", one.system),
        several => format!("Robustness of {}", many(several.len(), "system")),
    }
}

fn body(report: &RobustnessReport, sheets: &[Drawn]) -> String {
    let mut text = format!("<h1>{}</h1>\n", escape(&heading(report)));
    for system in &report.robustness.systems {
        text.push_str(&format!("<p class=\"lead\">{}</p>\n", summary(system)));
    }
    for drawn in sheets {
        let sheet = &drawn.sheet;
        text.push_str(&section(&sheet.id, &sheet.title, &sheet.note, &content(drawn)));
    }
    text.push_str(&provenance(&report.robustness.manifest));
    text
}

/// What the tables come to, in two sentences.
fn summary(system: &SystemRobustness) -> String {
    let mean = |scores: &std::collections::BTreeMap<String, sqlgauge_run::ScoreSummary>| {
        optional(scores.get(EX).and_then(|score| score.mean))
    };
    let mut text = format!(
        "<strong>{}</strong> answers {} % of the original right, and {} % on macro average over the changes of the schema.",
        escape(&system.system),
        mean(&system.original),
        mean(&system.macro_average)
    );
    let lost = |row: &&RobustnessRow| row.changes.get(EX).map_or(0.0, |change| change.difference);
    let worst = system.rows.iter().min_by(|a, b| lost(a).total_cmp(&lost(b)));
    if let Some((row, change)) =
        worst.and_then(|row| Some((row, row.changes.get(EX)?))).filter(|(_, c)| c.difference < 0.0)
    {
        text.push_str(&format!(
            " It loses most under {}: {} points on the same {} items (p {}).",
            escape(&row.label),
            signed_points(Some(change.difference)),
            change.count,
            escape(&p_value(change.p_value))
        ));
    }
    text
}

fn content(drawn: &Drawn) -> String {
    let Drawn { sheet, points } = drawn;
    let mut text = String::new();
    if points.len() > 1 {
        let marks: Vec<DriftMark> = points
            .iter()
            .filter_map(|point| {
                let score = point.score;
                Some(DriftMark {
                    label: point.label.clone(),
                    accuracy: score.mean?,
                    low: score.low?,
                    high: score.high?,
                    alarmed: false,
                })
            })
            .collect();
        text.push_str(&format!(
            "<figure class=\"chart\">{}</figure>\n",
            drift_chart(&sheet.title, &marks, None)
        ));
    }
    text.push_str(&sheet.html());
    if sheet.rows.iter().flatten().any(|cell| cell.tone.is_some()) {
        text.push_str(LEGEND);
    }
    text
}

const LEGEND: &str = "<p class=\"note legend\"><span class=\"toned\" style=\"--worse:100;--better:0\">30 points worse or more</span>\
<span class=\"toned\" style=\"--worse:0;--better:0\">as on the original</span>\
<span class=\"toned\" style=\"--worse:0;--better:100\">30 points better or more</span></p>\n";
