//! What the tables of a report say, whatever they are written in.

use std::collections::BTreeSet;

use crate::{METRICS, OutOfScopeRow, Robustness, RobustnessRow, SystemRobustness};
use sqlgauge_run::ScoreSummary;

use super::EX;
use sqlgauge_report::number::p_value;
use sqlgauge_report::sheet::{Sheet, SheetCell as Cell, header};
use sqlgauge_report::words::{NONE, optional, percent, points};

/// A difference of accuracy that is drawn in full colour.
const FULL_TONE: f64 = 0.3;

/// A table, with what is drawn above it.
pub(super) struct Drawn {
    pub sheet: Sheet,
    /// Accuracies to draw as a line, each with its interval.
    pub points: Vec<Point>,
}

/// A place on a curve.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Point {
    pub label: String,
    pub score: ScoreSummary,
}

fn toned(text: impl Into<String>, difference: Option<f64>) -> Cell {
    let tone = difference.map(|difference| (difference / FULL_TONE).clamp(-1.0, 1.0));
    Cell { tone, ..Cell::new(text) }
}

/// Every table of the report.
pub(super) fn sheets(robustness: &Robustness) -> Vec<Drawn> {
    let plain = |sheet| Drawn { sheet, points: Vec::new() };
    let mut sheets = Vec::new();
    if robustness.systems.len() > 1 {
        sheets.push(plain(overview(robustness)));
    }
    for (at, system) in robustness.systems.iter().enumerate() {
        sheets.push(plain(scores(at, system)));
        if !system.out_of_scope.is_empty() {
            sheets.push(plain(abstentions(at, system)));
        }
        sheets.extend(curves(at, system));
        sheets.extend(databases(at, system).map(plain));
    }
    sheets
}

/// The name of a row, with what tells it from others of its kind.
pub(super) fn name(row: &RobustnessRow, all: &[RobustnessRow]) -> String {
    let several = all.iter().filter(|other| other.label == row.label).count() > 1;
    if several { format!("{} at {}", row.label, row.intensity) } else { row.label.clone() }
}

fn mean(scores: &std::collections::BTreeMap<String, ScoreSummary>, metric: &str) -> Option<f64> {
    scores.get(metric)?.mean
}

/// `61.7 [58.7, 64.6]`.
pub(super) fn with_interval(score: Option<&ScoreSummary>) -> String {
    let Some(ScoreSummary { mean: Some(mean), low, high, .. }) = score else { return NONE.to_owned() };
    match low.zip(*high) {
        Some((low, high)) => format!("{} [{}, {}]", percent(*mean), percent(low), percent(high)),
        None => percent(*mean),
    }
}

/// `−9.1 [−11.8, −6.4]`.
pub(super) fn change(row: &RobustnessRow, metric: &str) -> String {
    row.changes.get(metric).map_or_else(
        || NONE.to_owned(),
        |change| {
            let of = |value: f64| points(Some(value));
            format!("{} [{}, {}]", of(change.difference), of(change.low), of(change.high))
        },
    )
}

/// What the change did to execution accuracy.
fn difference(row: &RobustnessRow) -> Option<f64> {
    row.changes.get(EX).map(|change| change.difference)
}

fn overview(robustness: &Robustness) -> Sheet {
    let systems = &robustness.systems;
    let mut labels: Vec<&str> = Vec::new();
    for row in systems.iter().flat_map(|system| &system.rows) {
        if !labels.contains(&row.label.as_str()) {
            labels.push(&row.label);
        }
    }
    let line = |name: &str, cell: &dyn Fn(&SystemRobustness) -> Cell| {
        std::iter::once(Cell::new(name)).chain(systems.iter().map(cell)).collect::<Vec<Cell>>()
    };
    let mut rows = vec![
        line("original, %", &|system| Cell::new(optional(mean(&system.original, EX)))),
        line("macro average, %", &|system| Cell::new(optional(mean(&system.macro_average, EX))).strong()),
    ];
    rows.extend(labels.iter().map(|label| {
        line(label, &|system| {
            let delta = system.rows.iter().find(|row| row.label == *label).and_then(difference);
            toned(points(delta), delta)
        })
    }));
    Sheet {
        id: "overview".to_owned(),
        title: "Systems".to_owned(),
        note:
            "execution accuracy; under a change its difference from the original on the same items, in points"
                .to_owned(),
        header: std::iter::once("schema".to_owned())
            .chain(systems.iter().map(|system| system.system.clone()))
            .collect(),
        rows,
        is_heat_map: true,
        ..Sheet::default()
    }
}

/// The paper's Table 3.
fn scores(at: usize, system: &SystemRobustness) -> Sheet {
    let original = vec![
        Cell::new("original"),
        Cell::new(system.items.to_string()),
        Cell::new(with_interval(system.original.get(METRICS[0]))),
        Cell::new(with_interval(system.original.get(METRICS[1]))),
        Cell::new(with_interval(system.original.get(EX))).strong(),
        Cell::new(optional(mean(&system.original, EX))),
        Cell::new(NONE),
        Cell::new(NONE),
        Cell::new(optional(system.false_positives.mean)),
    ];
    let mut rows = vec![original];
    rows.extend(system.rows.iter().map(|row| {
        let p = row.changes.get(EX).map_or_else(|| NONE.to_owned(), |change| p_value(change.p_value));
        vec![
            Cell::new(name(row, &system.rows)),
            Cell::new(row.items.to_string()),
            Cell::new(with_interval(row.scores.get(METRICS[0]))),
            Cell::new(with_interval(row.scores.get(METRICS[1]))),
            Cell::new(with_interval(row.scores.get(EX))).strong(),
            Cell::new(optional(mean(&row.original, EX))),
            toned(change(row, EX), difference(row)),
            Cell::new(p),
            Cell::new(optional(row.false_positives.mean)),
        ]
    }));
    let average = |metric: &str| Cell::new(with_interval(system.macro_average.get(metric))).strong();
    let none = || Cell::new("");
    rows.push(vec![
        Cell::new("macro average").strong(),
        none(),
        average(METRICS[0]),
        average(METRICS[1]),
        average(EX),
        none(),
        none(),
        none(),
        none(),
    ]);
    Sheet {
        id: format!("scores-{at}"),
        title: system.system.clone(),
        note: "percent with 95 % intervals; the change is in points, on the same items; p by McNemar's exact test".to_owned(),
        header: header(&[
            "schema",
            "items",
            "Table Match F1",
            "Column Match F1",
            "EX",
            "EX, original",
            "change of EX",
            "p",
            "abstains",
        ]),
        rows,
        ..Sheet::default()
    }
}

fn abstentions(at: usize, system: &SystemRobustness) -> Sheet {
    let row = |row: &OutOfScopeRow| {
        vec![
            Cell::new(row.label.clone()),
            Cell::new(row.items.to_string()),
            Cell::new(row.missing.to_string()),
            Cell::new(with_interval(Some(&row.true_positives))).strong(),
        ]
    };
    Sheet {
        id: format!("abstentions-{at}"),
        title: format!("{}: questions without an answer", system.system),
        note: format!(
            "share on which it abstains, in percent; on the original it abstains on {} %",
            optional(system.false_positives.mean)
        ),
        header: header(&["schema", "items", "without a prediction", "abstains (true positives)"]),
        rows: system.out_of_scope.iter().map(row).collect(),
        ..Sheet::default()
    }
}

/// A curve over the steps of a history, and one over the intensities of each kind that has several.
fn curves(at: usize, system: &SystemRobustness) -> Vec<Drawn> {
    let original = ("original".to_owned(), system.original.get(EX).copied());
    let mut curves = Vec::new();
    let steps: Vec<&RobustnessRow> = system.rows.iter().filter(|row| row.step.is_some()).collect();
    if !steps.is_empty() {
        let places = steps.iter().map(|row| (row.label.clone(), row.scores.get(EX).copied()));
        let points = std::iter::once(original.clone()).chain(places).collect();
        curves.push(curve(format!("steps-{at}"), format!("{}: step by step", system.system), points));
    }
    let kinds: BTreeSet<_> = system.rows.iter().filter_map(|row| row.kind).collect();
    for kind in kinds {
        let mut rows: Vec<&RobustnessRow> =
            system.rows.iter().filter(|row| row.kind == Some(kind) && row.step.is_none()).collect();
        if rows.len() > 1 {
            rows.sort_by(|a, b| a.intensity.total_cmp(&b.intensity));
            let places = rows.iter().map(|row| (row.intensity.to_string(), row.scores.get(EX).copied()));
            let points = std::iter::once(original.clone()).chain(places).collect();
            let title = format!("{}: {kind} by intensity", system.system);
            curves.push(curve(format!("intensity-{at}-{kind}"), title, points));
        }
    }
    curves
}

fn curve(id: String, title: String, places: Vec<(String, Option<ScoreSummary>)>) -> Drawn {
    let rows = places.iter().map(|(label, score)| {
        let items = score.map_or(0, |score| score.count);
        vec![
            Cell::new(label.clone()),
            Cell::new(items.to_string()),
            Cell::new(with_interval(score.as_ref())).strong(),
        ]
    });
    let sheet = Sheet {
        id,
        title,
        note: "execution accuracy in percent; the points are not of the same items".to_owned(),
        header: header(&["schema", "items", "EX"]),
        rows: rows.collect(),
        ..Sheet::default()
    };
    let points = places.into_iter().filter_map(|(label, score)| Some(Point { label, score: score? }));
    Drawn { sheet, points: points.collect() }
}

/// Execution accuracy by database and change, coloured by its difference from the original on the same items.
fn databases(at: usize, system: &SystemRobustness) -> Option<Sheet> {
    let names: BTreeSet<&str> =
        system.rows.iter().flat_map(|row| row.databases.keys()).map(String::as_str).collect();
    if names.is_empty() {
        return None;
    }
    let row = |database: &&str| {
        let cells = system.rows.iter().map(|row| {
            let cell = row.databases.get(*database);
            let evolved = cell.and_then(|cell| cell.evolved);
            let original = cell.and_then(|cell| cell.original);
            toned(optional(evolved), evolved.zip(original).map(|(evolved, original)| evolved - original))
        });
        std::iter::once(Cell::new(*database)).chain(cells).collect()
    };
    let names_of_rows =
        std::iter::once("database".to_owned()).chain(system.rows.iter().map(|row| name(row, &system.rows)));
    Some(Sheet {
        id: format!("databases-{at}"),
        title: format!("{}: by database", system.system),
        note:
            "execution accuracy in percent; the colour is its difference from the original on the same items"
                .to_owned(),
        header: names_of_rows.collect(),
        rows: names.iter().map(row).collect(),
        is_heat_map: true,
        is_folded: true,
    })
}
