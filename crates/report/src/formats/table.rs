//! `table`: the report for a terminal.

use std::collections::BTreeMap;
use std::io::Write;

use comfy_table::{
    Attribute, Cell, CellAlignment, ContentArrangement, TableStyle, presets::UTF8_HORIZONTAL_ONLY,
};
use sqlgauge_run::{Comparison, ScoreSummary, SystemSummary};

use super::Format;
use crate::style::{Painter, printable};
use crate::{Nature, Report, ReportError, number};

/// The report as text tables.
#[derive(Debug, Clone, Copy)]
pub struct Table {
    /// Columns of the terminal; at least 40 are used.
    pub width: u16,
    /// Whether to use ANSI colours.
    pub colour: bool,
}

/// Spider's levels in their order; other groups follow by name.
const LEVELS: [&str; 7] = ["easy", "medium", "hard", "extra", "simple", "moderate", "challenging"];
/// More pairs than this are cut to those with the leader.
const MAX_PAIRS: usize = 15;
/// Terminal cells of a score with its interval and padding.
const SCORE_WIDTH: usize = 20;
const BOOK_STYLE: TableStyle = UTF8_HORIZONTAL_ONLY;

impl Format for Table {
    fn name(&self) -> &'static str {
        "table"
    }

    fn extension(&self) -> &'static str {
        "txt"
    }

    fn render(&self, report: &Report, out: &mut dyn Write) -> Result<(), ReportError> {
        self.leaderboard(report, out)?;
        self.counts(report, out)?;
        for dimension in ["hardness", "difficulty", "turn", "interaction"] {
            self.breakdown(report, dimension, out)?;
        }
        self.comparisons(report, out)?;
        self.gates(report, out)
    }
}

impl Table {
    fn painter(self) -> Painter {
        Painter { colour: self.colour }
    }

    fn title(self, text: &str, note: &str, out: &mut dyn Write) -> Result<(), ReportError> {
        writeln!(out, "{}  {}", self.painter().bold(text), self.painter().dim(note))?;
        Ok(())
    }

    pub(crate) fn new_table(self, header: &[&str]) -> comfy_table::Table {
        let mut table = comfy_table::Table::new();
        let mut style = BOOK_STYLE;
        style.row_separator = comfy_table::LineStyle::none();
        table.load_style(style);
        table.set_content_arrangement(ContentArrangement::Dynamic).set_width(self.width.max(40));
        if self.colour {
            table.enforce_styling();
        } else {
            table.force_no_tty();
        }
        let cells = header.iter().enumerate().map(|(i, name)| {
            let cell = Cell::new(printable(name)).add_attribute(Attribute::Bold);
            if i == 0 { cell } else { cell.set_alignment(CellAlignment::Right) }
        });
        table.set_header(cells.collect::<Vec<_>>());
        table
    }

    fn put(table: &comfy_table::Table, out: &mut dyn Write) -> Result<(), ReportError> {
        for line in table.lines() {
            writeln!(out, "{}", line.trim_end())?;
        }
        writeln!(out)?;
        Ok(())
    }

    fn leaderboard(self, report: &Report, out: &mut dyn Write) -> Result<(), ReportError> {
        self.title("Scores", "percent (vm-steps, ves: ratios) with 95 % intervals", out)?;
        for block in report.summary.metrics.chunks(self.metrics_per_block(report)) {
            let header: Vec<&str> =
                std::iter::once("system").chain(block.iter().map(String::as_str)).collect();
            let mut table = self.new_table(&header);
            for system in &report.summary.systems {
                let scores = block.iter().map(|metric| score_cell(report, system, metric));
                table.add_row(std::iter::once(name_cell(&system.system)).chain(scores).collect::<Vec<_>>());
            }
            Self::put(&table, out)?;
        }
        Ok(())
    }

    fn metrics_per_block(self, report: &Report) -> usize {
        let longest = report.summary.systems.iter().map(|s| s.system.chars().count()).max().unwrap_or(0);
        let free = usize::from(self.width.max(40)).saturating_sub(longest.min(30) + 2);
        (free / SCORE_WIDTH).max(1)
    }

    fn counts(self, report: &Report, out: &mut dyn Write) -> Result<(), ReportError> {
        self.title("Items", "what the scores are means of", out)?;
        let header = ["system", "requested", "scored", "missing", "gold failed", "statuses"];
        let mut table = self.new_table(&header);
        for system in &report.summary.systems {
            let counts = system.counts;
            let numbers = [counts.requested, counts.scored, counts.missing, counts.gold_failed];
            let mut row = vec![name_cell(&system.system)];
            row.extend(numbers.map(|n| Cell::new(n).set_alignment(CellAlignment::Right)));
            row.push(Cell::new(statuses(&system.statuses)));
            table.add_row(row);
        }
        Self::put(&table, out)
    }

    fn breakdown(self, report: &Report, dimension: &str, out: &mut dyn Write) -> Result<(), ReportError> {
        let groups = groups(&report.summary.systems, dimension);
        let Some(metric) = report.deciding_metric().filter(|_| !groups.is_empty()) else { return Ok(()) };
        self.title(&format!("By {dimension}: {}", printable(metric)), "mean, with the number of items", out)?;
        let header: Vec<&str> = std::iter::once("system").chain(groups.iter().copied()).collect();
        let mut table = self.new_table(&header);
        for system in &report.summary.systems {
            let cells = groups.iter().map(|group| group_cell(system, dimension, group, metric));
            table.add_row(std::iter::once(name_cell(&system.system)).chain(cells).collect::<Vec<_>>());
        }
        Self::put(&table, out)
    }

    fn comparisons(self, report: &Report, out: &mut dyn Write) -> Result<(), ReportError> {
        let all = &report.summary.comparisons;
        if all.is_empty() {
            return Ok(());
        }
        self.title(
            "Differences",
            "paired by item; * where p < 0.05, not adjusted for the number of pairs",
            out,
        )?;
        let header = ["pair", "metric", "difference [95 %]", "p", "only first", "only second"];
        let mut table = self.new_table(&header);
        let shown = shown_pairs(report);
        for comparison in &shown {
            table.add_row(comparison_row(comparison));
        }
        Self::put(&table, out)?;
        if shown.len() < all.len() {
            let rest = all.len() - shown.len();
            writeln!(
                out,
                "{rest} more comparisons: `sqlgauge compare RUN --systems A,B`, or the html report.\n"
            )?;
        }
        Ok(())
    }

    fn gates(self, report: &Report, out: &mut dyn Write) -> Result<(), ReportError> {
        for outcome in report.gate_outcomes() {
            let verdict =
                if outcome.passed { self.painter().good("passed") } else { self.painter().bad("failed") };
            writeln!(
                out,
                "gate {verdict}: {} of {} is {}, wanted at least {}",
                outcome.gate.metric,
                printable(&outcome.system),
                outcome.mean.map_or_else(|| "not applicable".to_owned(), |mean| format!("{mean:.4}")),
                outcome.gate.minimum
            )?;
        }
        Ok(())
    }
}

fn name_cell(name: &str) -> Cell {
    Cell::new(printable(name))
}

fn score_cell(report: &Report, system: &SystemSummary, metric: &str) -> Cell {
    let nature = Nature::of(metric);
    let Some(score) = system.scores.get(metric) else {
        return Cell::new(number::NOT_APPLICABLE).set_alignment(CellAlignment::Right);
    };
    let cell = Cell::new(number::interval(score, nature)).set_alignment(CellAlignment::Right);
    let best = report.summary.systems.len() > 1 && score.mean.is_some() && score.mean == best(report, metric);
    if best { cell.add_attribute(Attribute::Bold) } else { cell }
}

fn best(report: &Report, metric: &str) -> Option<f64> {
    let means =
        report.summary.systems.iter().filter_map(|s| s.scores.get(metric).and_then(|score| score.mean));
    let nature = Nature::of(metric);
    means.reduce(|a, b| nature.better(a, b))
}

fn statuses(counts: &BTreeMap<String, usize>) -> String {
    let mut sorted: Vec<_> = counts.iter().collect();
    sorted.sort_by_key(|(name, count)| (std::cmp::Reverse(**count), name.as_str()));
    sorted.iter().map(|(name, count)| format!("{} {count}", printable(name))).collect::<Vec<_>>().join(", ")
}

/// The groups of a dimension over all systems: known levels in their order, then the rest by name.
pub(super) fn groups<'a>(systems: &'a [SystemSummary], dimension: &str) -> Vec<&'a str> {
    let mut names: Vec<&str> = systems
        .iter()
        .filter_map(|system| system.breakdown.get(dimension))
        .flat_map(|groups| groups.keys().map(String::as_str))
        .collect();
    let rank = |name: &str| LEVELS.iter().position(|level| *level == name).unwrap_or(LEVELS.len());
    names.sort_by_key(|name| (rank(name), *name));
    names.dedup();
    names
}

/// A system's score in one group.
pub(super) fn group_score<'a>(
    system: &'a SystemSummary,
    dimension: &str,
    group: &str,
    metric: &str,
) -> Option<&'a ScoreSummary> {
    system.breakdown.get(dimension)?.get(group)?.get(metric)
}

fn group_cell(system: &SystemSummary, dimension: &str, group: &str, metric: &str) -> Cell {
    let text = match group_score(system, dimension, group, metric) {
        Some(score) => format!("{} ({})", number::score(score.mean, Nature::of(metric)), score.count),
        None => number::NOT_APPLICABLE.to_owned(),
    };
    Cell::new(text).set_alignment(CellAlignment::Right)
}

/// All comparisons if they are few, else those of the first metric with its leader.
pub(super) fn shown_pairs(report: &Report) -> Vec<&Comparison> {
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

fn comparison_row(comparison: &Comparison) -> Vec<Cell> {
    let nature = Nature::of(&comparison.metric);
    let star = if comparison.p_value < 0.05 { " *" } else { "" };
    let difference = |value| number::difference(value, nature);
    let interval = format!(
        "{} [{}, {}]",
        difference(comparison.difference),
        difference(comparison.low),
        difference(comparison.high)
    );
    let right = |text: String| Cell::new(text).set_alignment(CellAlignment::Right);
    vec![
        Cell::new(format!("{} − {}", printable(&comparison.first), printable(&comparison.second))),
        Cell::new(printable(&comparison.metric)),
        right(interval),
        right(format!("{}{star}", number::p_value(comparison.p_value))),
        right(comparison.only_first.to_string()),
        right(comparison.only_second.to_string()),
    ]
}
