//! The results of a run, for a terminal and as Markdown. The HTML page is in `formats/html.rs`, since it has a script.

use std::collections::{BTreeMap, HashMap};

use sqlgauge_base::stats::Interval;
use sqlgauge_engine::compare::explain::shorten;
use sqlgauge_run::{Comparison, ScoreSummary, SystemSummary};

use crate::breakdown::{coverage, group_score, groups, says_little};
use crate::document::{Block, Cell, Document, Extent, Section, Table, Text};
use crate::system_table::system_tables;
use crate::words::{many, status, tests, torn};
use crate::{ItemView, Nature, Report, ReportError, clusters, notes, number, warnings};

/// More pairs than this are cut to those with the leader.
const MAX_PAIRS: usize = 15;
/// Failed items listed per system.
const MAX_FAILURES: usize = 50;
/// Characters of a question or a reason.
const MAX_TEXT: usize = 400;
/// Groups of a breakdown that are columns; more are rows of a folded section.
const MAX_GROUPS: usize = 6;
/// Dimensions of breakdowns, and whether a terminal shows them.
const DIMENSIONS: [(&str, Extent); 6] = [
    ("difficulty", Extent::All),
    ("hardness", Extent::All),
    ("turn", Extent::All),
    ("interaction", Extent::All),
    ("feature", Extent::Nothing),
    ("db_id", Extent::Nothing),
];
/// The title of the section with the bars that were set.
pub(crate) const GATES: &str = "Gates";

/// The report of a run.
pub(crate) fn document(report: &Report) -> Result<Document, ReportError> {
    let mut document = Document::new("Text-to-SQL scores");
    let preface = crate::part::preface(&report.manifest);
    document.lead.extend(preface.map(Block::callout));
    document.add(leaderboard(report));
    system_tables(report)?.iter().for_each(|table| document.add(table.section()));
    document.add(Section::new(GATES, "", gates(report)));
    document.add(counts(report));
    DIMENSIONS.iter().filter_map(|of| breakdown(report, *of)).for_each(|section| document.add(section));
    document.add(clusters::section(report));
    document.add(comparisons(report));
    failures(report)?.into_iter().for_each(|section| document.add(section));
    document.add_provenance(&report.manifest);
    Ok(document)
}

/// The scores alone: a row per system, a column per metric.
pub fn scores(report: &Report) -> Table {
    let metrics = &report.summary.metrics;
    let row = |system: &SystemSummary| {
        let scores = metrics.iter().map(|metric| score_cell(report, system, metric));
        std::iter::once(Cell::new(&system.system)).chain(scores).collect()
    };
    let columns = std::iter::once("system").chain(metrics.iter().map(String::as_str));
    Table { is_split: true, ..Table::of(columns, report.summary.systems.iter().map(row)) }
}

fn score_cell(report: &Report, system: &SystemSummary, metric: &str) -> Cell {
    let Some(score) = system.scores.get(metric) else { return Cell::new(number::NOT_APPLICABLE) };
    Cell {
        is_strong: is_best(report, score, metric),
        ..Cell::new(number::interval(score, Nature::of(metric)))
    }
}

/// Whether no other system of the run has a better mean.
pub(crate) fn is_best(report: &Report, score: &ScoreSummary, metric: &str) -> bool {
    report.summary.systems.len() > 1 && score.mean.is_some() && score.mean == best(report, metric)
}

/// The best mean of a metric, among the systems with nearly as many items as the one with most: of few items a mean may be
/// high by luck.
fn best(report: &Report, metric: &str) -> Option<f64> {
    let scores = || report.summary.systems.iter().filter_map(|system| system.scores.get(metric));
    let most = scores().map(|score| score.count).max()?;
    let nature = Nature::of(metric);
    let means = scores().filter(|score| 10 * score.count >= 9 * most).filter_map(|score| score.mean);
    means.reduce(|a, b| nature.better(a, b))
}

fn leaderboard(report: &Report) -> Section {
    let metrics = report.summary.metrics.iter();
    let ratios: Vec<&str> =
        metrics.filter(|metric| Nature::of(metric).has_own_unit()).map(String::as_str).collect();
    let ratios = if ratios.is_empty() {
        String::new()
    } else {
        format!(" ({}: ratios to the gold)", ratios.join(", "))
    };
    let note = if report.manifest.is_of_pairs() {
        "percent of the pairs that are not refuted; n: number of pairs. Without an interval: they are not a sample of questions".to_owned()
    } else {
        let about = clusters::about(&report.summary);
        format!("percent{ratios} [95 % interval{about}]; n: number of questions")
    };
    let mut section = Section::new("Scores", note, scores(report));
    if report.summary.systems.is_empty() {
        section.blocks.push(Block::prose("No system was scored."));
    }
    let warning = |text| Block::warning(Text::default().strong("warning:").plain(" ").plain(text));
    section.blocks.extend(warnings(&report.summary).into_iter().map(warning));
    section
}

fn gates(report: &Report) -> Table {
    let rows = report.gate_outcomes().into_iter().map(|outcome| {
        let gate = &outcome.gate;
        let (is, wanted) = gate.written(outcome.mean.unwrap_or_default());
        let is = if outcome.mean.is_some() { is } else { number::NOT_APPLICABLE.to_owned() };
        let result = if outcome.passed { Cell::new("passed") } else { Cell::new("failed").strong() };
        vec![
            gate.metric.as_str().into(),
            outcome.system.as_str().into(),
            format!("≥ {wanted}").into(),
            report.interval_of(&outcome.system, &gate.metric, &is).into(),
            report.count_of(&outcome.system, &gate.metric).to_string().into(),
            result,
        ]
    });
    Table::of(["gate", "system", "wanted", "is", "n", "result"], rows)
}

/// Questions with an answer that is not an empty text.
pub(crate) fn answered(system: &SystemSummary) -> usize {
    let blank = system.statuses.get("empty").copied().unwrap_or_default();
    system.counts.requested.saturating_sub(system.counts.missing + blank)
}

fn counts(report: &Report) -> Section {
    let row = |system: &SystemSummary| {
        let counts = system.counts;
        let numbers = [counts.requested, answered(system), counts.missing, counts.gold_failed];
        let numbers = numbers.map(|number| Cell::new(number.to_string()));
        let name = std::iter::once(Cell::new(&system.system));
        name.chain(numbers).chain([statuses(&system.statuses).into()]).collect()
    };
    let columns = ["system", "questions", "answered", "missing", "gold failed", "statuses"];
    let table = Table::of(columns, report.summary.systems.iter().map(row));
    let note = "a missing answer or an empty text scores 0; a question whose gold failed is left out";
    let mut section = Section::new("Answers", note, table).folded();
    section.blocks.extend(notes(&report.summary).into_iter().map(Block::note));
    section
}

fn statuses(counts: &BTreeMap<String, usize>) -> String {
    let mut sorted: Vec<_> = counts.iter().collect();
    sorted.sort_by_key(|(name, count)| (std::cmp::Reverse(**count), name.as_str()));
    sorted.iter().map(|(name, count)| format!("{} {count}", status(name))).collect::<Vec<_>>().join(", ")
}

fn breakdown(report: &Report, (dimension, terminal): (&str, Extent)) -> Option<Section> {
    let systems = &report.summary.systems;
    let groups = groups(systems, dimension);
    let metric = report.deciding_metric().filter(|_| !groups.is_empty())?;
    if says_little(report, dimension, metric) {
        return None;
    }
    let nature = Nature::of(metric);
    let cell = |system: &SystemSummary, group: &str| {
        Cell::new(number::with_count(group_score(system, dimension, group, metric), nature))
    };
    let has_few = groups.len() <= MAX_GROUPS;
    let table = if has_few {
        let columns = std::iter::once("system").chain(groups.iter().copied());
        let row = |system: &SystemSummary| {
            let cells = groups.iter().map(|group| cell(system, group));
            std::iter::once(Cell::new(&system.system)).chain(cells).collect()
        };
        Table::of(columns, systems.iter().map(row))
    } else {
        let columns = std::iter::once(dimension).chain(systems.iter().map(|system| system.system.as_str()));
        let row = |group: &&str| {
            let cells = systems.iter().map(|system| cell(system, group));
            std::iter::once(Cell::new(*group)).chain(cells).collect()
        };
        Table::of(columns, groups.iter().map(row))
    };
    let dimension = if dimension == "db_id" { "database" } else { dimension };
    let title = format!("By {dimension}: {metric}");
    let table = Table { is_split: true, ..table };
    let mut section = Section::new(title, "mean, with the number of answers", table).terminal(terminal);
    section.blocks.extend(coverage(report, dimension, metric).map(Block::note));
    section.is_folded = !has_few;
    Some(section)
}

/// All comparisons if they are few, else those of the first metric with its leader.
fn shown_pairs(report: &Report) -> Vec<&Comparison> {
    let all = &report.summary.comparisons;
    if all.len() <= MAX_PAIRS {
        return all.iter().collect();
    }
    let Some(metric) = report.summary.metrics.first() else { return Vec::new() };
    let top = best(report, metric);
    let leads = |s: &&SystemSummary| s.scores.get(metric).and_then(|score| score.mean) == top;
    let Some(leader) = report.summary.systems.iter().find(leads).map(|s| s.system.as_str()) else {
        return Vec::new();
    };
    let concerns = |c: &&Comparison| c.metric == *metric && (c.first == leader || c.second == leader);
    all.iter().filter(concerns).take(MAX_PAIRS).collect()
}

fn comparisons(report: &Report) -> Section {
    let pairs = shown_pairs(report);
    let adjusted =
        if report.summary.systems.len() > 2 { ", not adjusted for the number of pairs" } else { "" };
    let note = format!(
        "both systems on the same n questions, with 95 % intervals{}; p by {}; * p < 0.05{adjusted}{}",
        clusters::about(&report.summary),
        tests(pairs.iter().copied()),
        torn(pairs.iter().copied())
    );
    let row = |comparison: &&Comparison| {
        let names = [format!("{} − {}", comparison.first, comparison.second), comparison.metric.clone()];
        names.into_iter().chain(numbers(comparison)).map(Cell::new).collect()
    };
    let columns = ["pair", "metric", "n", "difference [95 %]", "p", "only first", "only second"];
    let mut section = Section::new("Differences", note, Table::of(columns, pairs.iter().map(row))).folded();
    let only_plain = |pair: &&Comparison| {
        clusters::only_plain(pair)
            .map(|text| Block::note(format!("{} − {}, {text}", pair.first, pair.second)))
    };
    section.blocks.extend(pairs.iter().filter_map(only_plain));
    let rest = report.summary.comparisons.len() - pairs.len();
    if rest > 0 {
        let more = Text::from(format!("{rest} more comparisons: "));
        let more = more.code("sqlgauge compare RUN --systems A,B").plain(", or the html report.");
        section.blocks.push(Block::prose(more));
    }
    section
}

/// n, difference, p, and on how many items the first and the second is better.
pub(crate) fn numbers(comparison: &Comparison) -> [String; 5] {
    let nature = Nature::of(&comparison.metric);
    let interval = Interval { low: comparison.low, high: comparison.high };
    let star = if comparison.p_value < 0.05 { " *" } else { "" };
    let (first, second) = comparison.in_favour();
    [
        comparison.count.to_string(),
        number::difference_with(comparison.difference, interval, nature),
        format!("{}{star}", number::p_value(comparison.p_value)),
        first.to_string(),
        second.to_string(),
    ]
}

/// Per system the items that are not right, the first of them listed.
fn failures(report: &Report) -> Result<Vec<Section>, ReportError> {
    let Some(metric) = report.deciding_metric() else { return Ok(Vec::new()) };
    let mut failed: HashMap<String, (usize, Vec<Vec<Cell>>)> = HashMap::new();
    report.items.for_each(|item| {
        let view = ItemView::new(item);
        if view.score(metric).is_some_and(|score| score < 1.0) {
            let (count, rows) = failed.entry(item.system.clone()).or_default();
            *count += 1;
            if rows.len() < MAX_FAILURES {
                rows.push(failure(view, metric));
            }
        }
        Ok::<(), ReportError>(())
    })?;
    let section = |system: &SystemSummary| {
        let (count, rows) = failed.remove(&system.system)?;
        let rest = count - rows.len();
        let table = Table::of(["id", "database", "question", "gold", "prediction", "reason"], rows);
        let title = format!("{}: {} not right by {metric}", system.system, many(count, "item"));
        let mut section = Section::new(title, "", table).folded().terminal(Extent::Nothing);
        if rest > 0 {
            section.blocks.push(Block::note(format!("{rest} more are in the html report.")));
        }
        Some(section)
    };
    Ok(report.summary.systems.iter().filter_map(section).collect())
}

fn failure(view: ItemView<'_>, metric: &str) -> Vec<Cell> {
    vec![
        view.item.id.as_str().into(),
        view.item.db_id.as_str().into(),
        shorten(view.question().unwrap_or_default(), MAX_TEXT).into(),
        Cell::new(view.golds().first().copied().unwrap_or_default()).code(),
        Cell::new(view.prediction().unwrap_or_default()).code(),
        shorten(&view.reason(metric).unwrap_or_default(), MAX_TEXT).into(),
    ]
}
