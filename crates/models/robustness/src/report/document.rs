//! What the report says, whatever it is written in.

use std::collections::{BTreeMap, BTreeSet};

use sqlgauge_base::listed;

use crate::{METRICS, OutOfScopeRow, RobustnessRow, SystemRobustness};
use sqlgauge_run::ScoreSummary;

use super::{EX, RobustnessReport};
use sqlgauge_report::charts::{DriftMark, drift_chart};
use sqlgauge_report::document::{Block, Cell, Document, Drawing, Extent, Section, Table, Text};
use sqlgauge_report::number::{p_in_words, p_value};
use sqlgauge_report::part;
use sqlgauge_report::words::{NONE, many, optional, percent, points};

/// A difference of accuracy that is drawn in full colour.
const FULL_TONE: f64 = 0.3;
/// What a cell of the tables of accuracies holds.
const BY_POINTS: &str = "execution accuracy in percent (points gained or lost on the same items)";
/// What the colours mean.
const LEGEND: [&str; 3] = ["worse by 30 points or more", "as on the original", "better by 30 points or more"];
/// With more systems, only the overview has a link at the head of the page.
const MOST_LINKED: usize = 4;

impl RobustnessReport {
    pub fn document(&self) -> Document {
        let systems = &self.robustness.systems;
        let is_old = systems.iter().any(|system| system.not_asked_again > 0);
        let of = if is_old { "Robustness of the old answers of" } else { "Robustness of" };
        let mut document = Document::new(match systems.as_slice() {
            [one] => format!("{of} {}", one.system),
            several => format!("{of} {}", many(several.len(), "system")),
        });
        let part = part(&self.robustness.manifest);
        document.lead.extend(part.map(|part| Block::callout(format!("The original is {part}."))));
        document.lead.extend(old_answers(systems).into_iter().map(Block::warning));
        document.lead.extend(systems.iter().map(summary));
        let failures = self.failures().map(|(system, row)| self.failure(system, row));
        document.lead.extend(failures.map(Block::warning));
        document.add(overview(systems));
        for system in systems {
            let mut sections = vec![before_and_after(system), scores(system)];
            // Whoever was not asked again could not abstain.
            sections.extend((system.not_asked_again == 0).then(|| abstentions(system)));
            sections.extend(curves(system));
            sections.push(databases(system));
            for mut section in sections {
                let is_linked = |title: &String| match systems.len() {
                    1 => true,
                    2..=MOST_LINKED => *title == system.system,
                    _ => false,
                };
                section.link = section.link.filter(is_linked).map(|title| short(&title));
                document.add(section);
            }
        }
        document.add_provenance(&self.robustness.manifest);
        document
    }

    fn failure(&self, system: &str, row: &RobustnessRow) -> String {
        let most = 100.0 * self.max_drop.unwrap_or_default();
        let lost = row.changes.get(EX).map_or(NONE.to_owned(), |change| {
            let of = |value: f64| points(Some(-value)).replace('+', "");
            format!("{} [{}, {}]", of(change.difference), of(change.high), of(change.low))
        });
        format!("{system}: {} loses {lost} points of EX, more than {most:.1}", row.label)
    }
}

/// A title without the system before it.
fn short(title: &str) -> String {
    title.rsplit_once(": ").map_or(title, |(_, rest)| rest).to_owned()
}

/// What the tables come to, in two sentences.
fn summary(system: &SystemRobustness) -> Block {
    let mut text = Text::default()
        .strong(&system.system)
        .plain(format!(" answers {} % of the original right", optional(mean(&system.original, EX))));
    if let Some(average) = mean(&system.average_over_changes, EX) {
        let over = match system.rows.as_slice() {
            [only] => format!("after {}", only.label),
            several => format!("on average over {}", many(several.len(), "change")),
        };
        text = text.plain(format!(
            ", and {} % {over} ({} % with the original as one more, as EvoSchema's tables count)",
            percent(average),
            optional(mean(&system.average_with_original, EX))
        ));
    }
    let mut text = text.plain(".");
    let differences: Vec<f64> = system.rows.iter().filter_map(difference).collect();
    if differences.len() > 1 {
        let mean = differences.iter().sum::<f64>() / differences.len() as f64;
        let (verb, mean) = if mean < 0.0 { ("lose", -mean) } else { ("gain", mean) };
        let mean = points(Some(mean)).replace('+', "");
        text = text.plain(format!(" The same questions {verb} {mean} points on average."));
    }
    let change = |row: &RobustnessRow| row.changes.get(EX).map_or(0.0, |change| change.difference);
    let worst = system.rows.iter().min_by(|a, b| change(a).total_cmp(&change(b)));
    let worst = worst.and_then(|row| Some((row, row.changes.get(EX)?)));
    let Some((row, change)) = worst.filter(|(_, change)| change.difference < 0.0) else {
        return Block::lead(text);
    };
    let what = match system.rows.as_slice() {
        [_] => "The change is".to_owned(),
        _ => format!("It loses most under {}:", row.label),
    };
    Block::lead(text.plain(format!(
        " {what} {} points on the same {} items ({}).",
        points(Some(change.difference)),
        change.count,
        p_in_words(change.p_value)
    )))
}

/// Says that a system was not asked again, where its answers to the original were scored over changed schemas.
fn old_answers(systems: &[SystemRobustness]) -> Option<String> {
    let all = |system: &SystemRobustness| system.rows.len() + system.out_of_scope.len();
    let old: Vec<&SystemRobustness> = systems.iter().filter(|system| system.not_asked_again > 0).collect();
    let whole = old.iter().all(|system| system.not_asked_again >= all(system));
    let who = match old.as_slice() {
        [] => return None,
        _ if whole && old.len() == systems.len() && old.len() > 1 => "All systems".to_owned(),
        _ => {
            let one = |system: &&SystemRobustness| match (system.not_asked_again, all(system)) {
                (count, all) if count >= all => system.system.clone(),
                (count, all) => format!("{} ({count} of {all} changed schemas)", system.system),
            };
            listed(&old.iter().map(one).collect::<Vec<_>>())
        }
    };
    let left_out = if old.iter().any(|system| !system.out_of_scope.is_empty()) {
        " Changes that leave questions without an answer are left out: a system that is not asked cannot abstain."
    } else {
        ""
    };
    Some(format!(
        "{who}: the old answers were run again, and the systems did not see these schemas. The loss shows what breaks in the queries, \
         not how robust a system is.{left_out}"
    ))
}

/// The averages of a system, with their names.
pub(super) fn averages(system: &SystemRobustness) -> [(&'static str, &BTreeMap<String, ScoreSummary>); 2] {
    [
        ("average over the changes", &system.average_over_changes),
        ("average with the original", &system.average_with_original),
    ]
}

/// The name of a row, with what tells it from others of its kind.
pub(super) fn name(row: &RobustnessRow, all: &[RobustnessRow]) -> String {
    let several = all.iter().filter(|other| other.label == row.label).count() > 1;
    if several { format!("{} at {}", row.label, row.intensity) } else { row.label.clone() }
}

fn mean(scores: &BTreeMap<String, ScoreSummary>, metric: &str) -> Option<f64> {
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

fn toned(text: String, difference: Option<f64>) -> Cell {
    Cell::new(text).toned(difference.map(|difference| difference / FULL_TONE))
}

/// The systems next to each other; nothing of a single one.
fn overview(systems: &[SystemRobustness]) -> Section {
    let columns = std::iter::once("schema").chain(systems.iter().map(|system| system.system.as_str()));
    let mut table = Table { is_heat_map: true, legend: Some(LEGEND), ..Table::new(columns) };
    if systems.len() > 1 {
        let mut row = |name: &str, cell: &dyn Fn(&SystemRobustness) -> Cell| {
            table.push(std::iter::once(Cell::new(name)).chain(systems.iter().map(cell)));
        };
        row("original", &|system| Cell::new(optional(mean(&system.original, EX))));
        row("average over the changes", &|system| {
            Cell::new(optional(mean(&system.average_over_changes, EX))).strong()
        });
        let mut seen = BTreeSet::new();
        let labels = systems.iter().flat_map(|system| &system.rows).map(|row| row.label.as_str());
        for label in labels.filter(|label| seen.insert(*label)) {
            row(label, &|system| {
                let row = system.rows.iter().find(|row| row.label == label);
                let delta = row.and_then(difference);
                let after = row.and_then(|row| mean(&row.scores, EX));
                toned(format!("{} ({})", optional(after), points(delta)), delta)
            });
        }
    }
    Section::new("Systems", BY_POINTS, table)
}

/// The paper's Table 3.
fn scores(system: &SystemRobustness) -> Section {
    let mut table = Table::new([
        "schema",
        "items",
        "Table Match F1",
        "Column Match F1",
        "EX",
        "EX, original",
        "change of EX",
        "p",
        "abstains",
    ]);
    (table.legend, table.is_split) = (Some(LEGEND), true);
    let of = |scores: &BTreeMap<String, ScoreSummary>, metric: usize| {
        Cell::new(with_interval(scores.get(METRICS[metric])))
    };
    table.push([
        Cell::new("original"),
        Cell::new(system.items.to_string()),
        of(&system.original, 0),
        of(&system.original, 1),
        of(&system.original, 2).strong(),
        Cell::new(optional(mean(&system.original, EX))),
        Cell::new(NONE),
        Cell::new(NONE),
        Cell::new(optional(system.false_positives.mean)),
    ]);
    for row in &system.rows {
        let p = row.changes.get(EX).map_or_else(|| NONE.to_owned(), |change| p_value(change.p_value));
        table.push([
            Cell::new(name(row, &system.rows)),
            Cell::new(row.items.to_string()),
            of(&row.scores, 0),
            of(&row.scores, 1),
            of(&row.scores, 2).strong(),
            Cell::new(optional(mean(&row.original, EX))),
            toned(change(row, EX), difference(row)),
            Cell::new(p),
            Cell::new(optional(row.false_positives.mean)),
        ]);
    }
    // The average over one change is the change.
    for (name, scores) in averages(system).into_iter().skip(usize::from(system.rows.len() == 1)) {
        let averages = [0, 1, 2].map(|metric| of(scores, metric).strong());
        let head = [Cell::new(name).strong(), Cell::default()];
        table.push(head.into_iter().chain(averages).chain(std::iter::repeat_with(Cell::default).take(4)));
    }
    let note = "percent, with 95 % intervals by databases, or where they are few by questions with one gold; the change in points, on the same items";
    Section::new(format!("{}: every metric", system.system), note, table).folded()
}

/// Execution accuracy on the same items, on the original schema and on each changed one. A terminal has it in the table of all
/// metrics.
fn before_and_after(system: &SystemRobustness) -> Section {
    let row = |row: &RobustnessRow| {
        let (before, after) = (mean(&row.original, EX), mean(&row.scores, EX));
        let ends = before.zip(after);
        vec![
            Cell {
                link: Some(format!("runs/{}/report.html", row.label)),
                ..Cell::new(name(row, &system.rows))
            },
            ends.map_or_else(Cell::default, |(from, to)| Cell::drawn(Drawing::Change { from, to })),
            Cell::new(optional(before)),
            Cell::new(optional(after)).strong(),
            toned(change(row, EX), difference(row)),
            Cell::new(row.items.to_string()),
        ]
    };
    let columns = ["schema", "drawn", "original", "changed", "points [95 %]", "items"];
    let note = "execution accuracy in percent on the same items, before and after the change";
    let table = Table::of(columns, system.rows.iter().map(row));
    Section::new(&system.system, note, table).terminal(Extent::Nothing)
}

fn abstentions(system: &SystemRobustness) -> Section {
    let row = |row: &OutOfScopeRow| {
        vec![
            Cell::new(&row.label),
            Cell::new(row.items.to_string()),
            Cell::new(row.missing.to_string()),
            Cell::new(with_interval(Some(&row.true_positives))).strong(),
        ]
    };
    let columns = ["schema", "items", "without a prediction", "abstains, %"];
    let note = format!(
        "questions that the changed schema cannot answer, so a system should abstain; on the original it abstains in {} %",
        optional(system.false_positives.mean)
    );
    let table = Table::of(columns, system.out_of_scope.iter().map(row));
    Section::new(format!("{}: abstention", system.system), note, table)
}

/// A curve over the steps of a history, and one over the intensities of each kind that has several.
fn curves(system: &SystemRobustness) -> Vec<Section> {
    let mut curves = Vec::new();
    let steps: Vec<&RobustnessRow> = system.rows.iter().filter(|row| row.step.is_some()).collect();
    if !steps.is_empty() {
        let places = steps.iter().map(|row| (row.label.clone(), row.scores.get(EX)));
        curves.push(curve(system, "step by step", places));
    }
    let kinds: BTreeSet<_> = system.rows.iter().filter_map(|row| row.kind).collect();
    for kind in kinds {
        let mut rows: Vec<&RobustnessRow> =
            system.rows.iter().filter(|row| row.kind == Some(kind) && row.step.is_none()).collect();
        if rows.len() > 1 {
            rows.sort_by(|a, b| a.intensity.total_cmp(&b.intensity));
            let places = rows.iter().map(|row| (row.intensity.to_string(), row.scores.get(EX)));
            curves.push(curve(system, &format!("{kind} by intensity"), places));
        }
    }
    curves
}

/// Accuracies as a line, each with its interval, and as a table.
fn curve<'r>(
    system: &'r SystemRobustness,
    what: &str,
    places: impl Iterator<Item = (String, Option<&'r ScoreSummary>)>,
) -> Section {
    let title = format!("{}: {what}", system.system);
    let mut table = Table::new(["schema", "items", "EX"]);
    let mut marks = Vec::new();
    for (label, score) in std::iter::once(("original".to_owned(), system.original.get(EX))).chain(places) {
        let items = score.map_or(0, |score| score.count).to_string();
        let accuracy = Cell::new(with_interval(score)).strong();
        table.push([Cell::new(&label), Cell::new(items), accuracy]);
        if let Some(ScoreSummary { mean: Some(accuracy), low: Some(low), high: Some(high), .. }) = score {
            marks.push(DriftMark { label, accuracy: *accuracy, low: *low, high: *high, alarmed: false });
        }
    }
    let note = "execution accuracy in percent; each point has its own items";
    let chart = (marks.len() > 1).then(|| Block::chart(drift_chart(&title, &marks, None)));
    let mut section = Section::new(title, note, table);
    section.blocks.splice(0..0, chart);
    section
}

/// Execution accuracy by database and change, coloured by its difference from the original on the same items.
fn databases(system: &SystemRobustness) -> Section {
    let names: BTreeSet<&str> =
        system.rows.iter().flat_map(|row| row.databases.keys()).map(String::as_str).collect();
    let row = |database: &&str| {
        let cells = system.rows.iter().map(|row| {
            let cell = row.databases.get(*database);
            let evolved = cell.and_then(|cell| cell.evolved);
            let original = cell.and_then(|cell| cell.original);
            let delta = evolved.zip(original).map(|(evolved, original)| evolved - original);
            toned(format!("{} ({})", optional(evolved), points(delta)), delta)
        });
        std::iter::once(Cell::new(*database)).chain(cells).collect()
    };
    let columns =
        std::iter::once("database".to_owned()).chain(system.rows.iter().map(|row| name(row, &system.rows)));
    // A single database is the whole.
    let rows = names.iter().filter(|_| names.len() > 1).map(row);
    let table = Table { is_heat_map: true, legend: Some(LEGEND), ..Table::of(columns, rows) };
    let section = Section::new(format!("{}: by database", system.system), BY_POINTS, table);
    Section { is_folded: true, ..section.terminal(Extent::Nothing) }
}
