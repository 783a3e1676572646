//! `table`: the report for a terminal.

use std::collections::BTreeMap;
use std::io::Write;

use comfy_table::{
    Attribute, Cell, CellAlignment, ColumnConstraint, ContentArrangement, TableStyle, Width,
    presets::UTF8_HORIZONTAL_ONLY,
};
use sqlgauge_base::printable;
use sqlgauge_run::{Comparison, SystemSummary};
use unicode_width::UnicodeWidthStr;

use super::ReportFormat;
use super::breakdown::{coverage, group_score, groups, says_little};
use crate::style::Painter;
use crate::system_table::system_tables;
use crate::words::torn;
use crate::{Nature, Report, ReportError, notes, number, warnings};

#[derive(Debug, Clone, Copy)]
pub struct TextTables {
    /// Columns of the terminal; at least 40 are used.
    pub width: u16,
    /// Whether to use ANSI colours.
    pub colour: bool,
}

/// Characters of a name that a narrow terminal keeps together.
const LEAST_NAME: u16 = 12;

/// Characters of a word in the name of a column that are kept together.
const LONGEST_WORD: u16 = 24;

/// More pairs than this are cut to those with the leader.
const MAX_PAIRS: usize = 15;
/// Terminal cells that a column takes beyond its content.
const PADDING: u16 = 3;
/// Terminal cells that a name keeps for itself before it is broken over lines.
const NAME_WIDTH: usize = 30;
const BOOK_STYLE: TableStyle = UTF8_HORIZONTAL_ONLY;

impl ReportFormat for TextTables {
    fn name(&self) -> &'static str {
        "table"
    }

    fn extension(&self) -> &'static str {
        "txt"
    }

    fn render(&self, report: &Report, out: &mut dyn Write) -> Result<(), ReportError> {
        self.leaderboard(report, out)?;
        self.warnings(report, out)?;
        self.system_tables(report, out)?;
        self.counts(report, out)?;
        for dimension in ["difficulty", "hardness", "turn", "interaction"] {
            self.breakdown(report, dimension, out)?;
        }
        self.comparisons(report, out)?;
        self.gates(report, out)
    }
}

impl TextTables {
    fn painter(self) -> Painter {
        Painter { colour: self.colour }
    }

    /// A title with a note behind or below it, as lines.
    pub fn heading(self, title: &str, note: &str) -> String {
        let (title, note, painter) = (printable(title), printable(note), self.painter());
        let width = usize::from(self.width.max(40));
        if note.is_empty() {
            return format!("{}\n", painter.bold(&title));
        }
        if title.width() + 2 + note.width() <= width {
            return format!("{}  {}\n", painter.bold(&title), painter.dim(&note));
        }
        let lines = wrapped(&note, width).into_iter().map(|line| painter.dim(&line));
        let lines: Vec<String> = std::iter::once(painter.bold(&title)).chain(lines).collect();
        lines.join("\n") + "\n"
    }

    fn title(self, text: &str, note: &str, out: &mut dyn Write) -> Result<(), ReportError> {
        Ok(out.write_all(self.heading(text, note).as_bytes())?)
    }

    /// An empty table: its first column is of names, the others are of numbers.
    pub fn new_table(self, header: &[&str]) -> comfy_table::Table {
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
        table.set_header(header.iter().map(|name| Cell::new(printable(name)).add_attribute(Attribute::Bold)));
        let alignment = |at: usize| if at == 0 { CellAlignment::Left } else { CellAlignment::Right };
        Self::align(&mut table, &(0..header.len()).map(alignment).collect::<Vec<_>>());
        for (column, name) in table.column_iter_mut().zip(header) {
            column.set_constraint(whole_words(name));
        }
        table
    }

    fn align(table: &mut comfy_table::Table, alignments: &[CellAlignment]) {
        for (column, alignment) in table.column_iter_mut().zip(alignments) {
            column.set_cell_alignment(*alignment);
        }
    }

    /// Writes a table and an empty line.
    ///
    /// # Errors
    /// When the output does not take the bytes.
    pub fn put(table: &comfy_table::Table, out: &mut dyn Write) -> Result<(), ReportError> {
        for line in table.lines() {
            writeln!(out, "{}", line.trim_end())?;
        }
        writeln!(out)?;
        Ok(())
    }

    fn leaderboard(self, report: &Report, out: &mut dyn Write) -> Result<(), ReportError> {
        let note = "percent (vm-steps, ves: ratios) with 95 % intervals; n: items that it is the mean of";
        self.title("Scores", note, out)?;
        self.scores(report, out)?;
        if let Some(part) = crate::part(&report.manifest) {
            for line in wrapped(&printable(&part), usize::from(self.width.max(40))) {
                writeln!(out, "{line}")?;
            }
            writeln!(out)?;
        }
        Ok(())
    }

    /// Writes the scores alone: a row per system, a column per metric, without a title.
    ///
    /// # Errors
    /// When the output does not take the bytes.
    pub fn scores(self, report: &Report, out: &mut dyn Write) -> Result<(), ReportError> {
        let columns = report.summary.metrics.iter().map(|metric| {
            let cells = report.summary.systems.iter().map(|system| score_cell(report, system, metric));
            (metric.as_str(), cells.collect())
        });
        self.in_blocks(report, columns.collect(), out)
    }

    /// A table with a row per system, in as many blocks of columns as the width asks for.
    fn in_blocks(
        self,
        report: &Report,
        columns: Vec<(&str, Vec<Cell>)>,
        out: &mut dyn Write,
    ) -> Result<(), ReportError> {
        let systems = &report.summary.systems;
        let names = systems.iter().map(|system| printable(&system.system).width()).max().unwrap_or(0);
        let room =
            usize::from(self.width.max(40)).saturating_sub(names.clamp(6, NAME_WIDTH) + usize::from(PADDING));
        let mut columns = columns.into_iter().peekable();
        while columns.peek().is_some() {
            let (mut block, mut used) = (Vec::new(), 0);
            while let Some(column) = columns.next_if(|column| {
                used += column_width(column);
                block.is_empty() || used <= room
            }) {
                block.push(column);
            }
            let header: Vec<&str> =
                std::iter::once("system").chain(block.iter().map(|(title, _)| *title)).collect();
            let mut table = self.new_table(&header);
            for (row, system) in systems.iter().enumerate() {
                let cells = block.iter().map(|(_, cells)| cells[row].clone());
                table.add_row(std::iter::once(name_cell(&system.system)).chain(cells).collect::<Vec<_>>());
            }
            whole_numbers(&mut table, 1);
            Self::put(&table, out)?;
        }
        Ok(())
    }

    fn warnings(self, report: &Report, out: &mut dyn Write) -> Result<(), ReportError> {
        let warnings = warnings(&report.summary);
        for warning in &warnings {
            for line in wrapped(&format!("warning: {}", printable(warning)), usize::from(self.width.max(40)))
            {
                writeln!(out, "{}", self.painter().bad(&line))?;
            }
        }
        if !warnings.is_empty() {
            writeln!(out)?;
        }
        Ok(())
    }

    fn system_tables(self, report: &Report, out: &mut dyn Write) -> Result<(), ReportError> {
        for table in system_tables(report)? {
            out.write_all(table.sheet().text(self).as_bytes())?;
        }
        Ok(())
    }

    fn counts(self, report: &Report, out: &mut dyn Write) -> Result<(), ReportError> {
        self.title("Items", "what the scores are means of", out)?;
        let header = ["system", "requested", "scored", "missing", "gold failed", "statuses"];
        let mut table = self.new_table(&header);
        let alignments = header.map(|name| match name {
            "system" | "statuses" => CellAlignment::Left,
            _ => CellAlignment::Right,
        });
        Self::align(&mut table, &alignments);
        for system in &report.summary.systems {
            let counts = system.counts;
            let numbers = [counts.requested, counts.scored, counts.missing, counts.gold_failed];
            let mut row = vec![name_cell(&system.system)];
            row.extend(numbers.map(|n| Cell::new(n).set_alignment(CellAlignment::Right)));
            row.push(Cell::new(statuses(&system.statuses)));
            table.add_row(row);
        }
        Self::put(&table, out)?;
        for note in notes(&report.summary) {
            writeln!(out, "{}\n", self.painter().dim(&note))?;
        }
        Ok(())
    }

    fn breakdown(self, report: &Report, dimension: &str, out: &mut dyn Write) -> Result<(), ReportError> {
        let groups = groups(&report.summary.systems, dimension);
        let Some(metric) = report.deciding_metric().filter(|_| !groups.is_empty()) else { return Ok(()) };
        if says_little(report, dimension, metric) {
            return Ok(());
        }
        self.title(&format!("By {dimension}: {}", printable(metric)), "mean, with the number of items", out)?;
        let nature = Nature::of(metric);
        let columns = groups.iter().map(|group| {
            let cells = report.summary.systems.iter().map(|system| {
                let score = group_score(system, dimension, group, metric);
                Cell::new(number::with_count(score, nature)).set_alignment(CellAlignment::Right)
            });
            (*group, cells.collect())
        });
        self.in_blocks(report, columns.collect(), out)?;
        if let Some(note) = coverage(report, dimension, metric) {
            writeln!(out, "{note}\n")?;
        }
        Ok(())
    }

    fn comparisons(self, report: &Report, out: &mut dyn Write) -> Result<(), ReportError> {
        let all = &report.summary.comparisons;
        if all.is_empty() {
            return Ok(());
        }
        let pairs = shown_pairs(report);
        let note = format!(
            "paired by item, over the n items that both were scored on; * where p < 0.05, not adjusted for the number of pairs{}",
            torn(pairs.iter().copied())
        );
        self.title("Differences", &note, out)?;
        let header = ["pair", "metric", "n", "difference [95 %]", "p", "only first", "only second"];
        let mut table = self.new_table(&header);
        for comparison in &pairs {
            table.add_row(comparison_row(comparison));
        }
        whole_numbers(&mut table, 1);
        let width = usize::from(self.width.max(40));
        let pair_width = pairs.iter().map(|c| pair_of(c).width()).max().unwrap_or(0);
        let others: usize = table
            .column_max_content_widths()
            .iter()
            .skip(1)
            .map(|w| usize::from(*w) + usize::from(PADDING))
            .sum();
        if others + pair_width.min(NAME_WIDTH) + usize::from(PADDING) <= width {
            Self::put(&table, out)?;
        } else {
            for comparison in &pairs {
                list(comparison, width, out)?;
            }
        }
        if pairs.len() < all.len() {
            let rest = all.len() - pairs.len();
            let more =
                format!("{rest} more comparisons: `sqlgauge compare RUN --systems A,B`, or the html report.");
            for line in wrapped(&more, width) {
                writeln!(out, "{line}")?;
            }
            writeln!(out)?;
        }
        Ok(())
    }

    fn gates(self, report: &Report, out: &mut dyn Write) -> Result<(), ReportError> {
        for outcome in report.gate_outcomes() {
            let verdict =
                if outcome.passed { self.painter().good("passed") } else { self.painter().bad("failed") };
            let metric = &outcome.gate.metric;
            let (is, wanted) = outcome.gate.written(outcome.mean.unwrap_or_default());
            let is = if outcome.mean.is_some() { is } else { "not applicable".to_owned() };
            let n = report.count_of(&outcome.system, metric);
            let system = printable(&outcome.system);
            writeln!(out, "gate {verdict}: {metric} of {system} is {is} (n={n}), wanted at least {wanted}")?;
        }
        Ok(())
    }
}

/// The words of a text in lines of that width; a longer word has a line of its own.
pub fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut().filter(|line| line.width() + 1 + word.width() <= width) {
            Some(line) => {
                line.push(' ');
                line.push_str(word);
            }
            None => lines.push(word.to_owned()),
        }
    }
    lines
}

fn name_cell(name: &str) -> Cell {
    Cell::new(printable(name))
}

fn column_width((title, cells): &(&str, Vec<Cell>)) -> usize {
    let content = cells.iter().map(|cell| cell.content().width()).max().unwrap_or(0);
    content.max(title.width()) + usize::from(PADDING)
}

/// A column that breaks no word of its name.
fn whole_words(name: &str) -> ColumnConstraint {
    let longest = printable(name).split_whitespace().map(UnicodeWidthStr::width).max().unwrap_or(0);
    ColumnConstraint::LowerBoundary(Width::Fixed(
        u16::try_from(longest).unwrap_or(u16::MAX).min(LONGEST_WORD) + PADDING - 1,
    ))
}

/// Numbers are not broken over lines: the first columns give way, as far as a name can still be read.
pub fn whole_numbers(table: &mut comfy_table::Table, first: usize) {
    let widths = table.column_max_content_widths();
    for (place, (column, width)) in table.column_iter_mut().zip(widths).enumerate() {
        column.set_constraint(if place < first {
            ColumnConstraint::LowerBoundary(Width::Fixed(width.min(LEAST_NAME) + PADDING))
        } else {
            ColumnConstraint::ContentWidth
        });
    }
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

/// The best mean of a metric, among the systems with nearly as many items as the one with most: of few items a mean may be
/// high by luck.
fn best(report: &Report, metric: &str) -> Option<f64> {
    let scores = || report.summary.systems.iter().filter_map(|system| system.scores.get(metric));
    let most = scores().map(|score| score.count).max()?;
    let nature = Nature::of(metric);
    let means = scores().filter(|score| 10 * score.count >= 9 * most).filter_map(|score| score.mean);
    means.reduce(|a, b| nature.better(a, b))
}

fn statuses(counts: &BTreeMap<String, usize>) -> String {
    let mut sorted: Vec<_> = counts.iter().collect();
    sorted.sort_by_key(|(name, count)| (std::cmp::Reverse(**count), name.as_str()));
    sorted.iter().map(|(name, count)| format!("{} {count}", printable(name))).collect::<Vec<_>>().join(", ")
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

fn pair_of(comparison: &Comparison) -> String {
    format!("{} − {}", printable(&comparison.first), printable(&comparison.second))
}

/// n, difference, p, only first, only second.
pub fn numbers(comparison: &Comparison) -> [String; 5] {
    let nature = Nature::of(&comparison.metric);
    let star = if comparison.p_value < 0.05 { " *" } else { "" };
    let difference = |value| number::difference(value, nature);
    [
        comparison.count.to_string(),
        format!(
            "{} [{}, {}]",
            difference(comparison.difference),
            difference(comparison.low),
            difference(comparison.high)
        ),
        format!("{}{star}", number::p_value(comparison.p_value)),
        comparison.only_first.to_string(),
        comparison.only_second.to_string(),
    ]
}

fn comparison_row(comparison: &Comparison) -> Vec<Cell> {
    let right = |text: String| Cell::new(text).set_alignment(CellAlignment::Right);
    let names = [Cell::new(pair_of(comparison)), Cell::new(printable(&comparison.metric))];
    names.into_iter().chain(numbers(comparison).map(right)).collect()
}

/// What the row says, for a terminal on which no row fits.
fn list(comparison: &Comparison, width: usize, out: &mut dyn Write) -> Result<(), ReportError> {
    let [n, difference, p, only_first, only_second] = numbers(comparison);
    let heading = format!("{}, {}", pair_of(comparison), printable(&comparison.metric));
    let numbers = format!("{difference} on n={n}, p {p}, only first {only_first}, only second {only_second}");
    for line in wrapped(&heading, width) {
        writeln!(out, "{line}")?;
    }
    for line in wrapped(&numbers, width - 2) {
        writeln!(out, "  {line}")?;
    }
    Ok(writeln!(out)?)
}
