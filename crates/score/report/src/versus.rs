//! Two systems beside each other for a terminal: means, paired differences, the items on which they part.
//!
//! A mean is over the items that its system was scored on, a difference over those that both were scored on. Where
//! these are not the same items, a note says so and gives both means over the items in common.

use std::fmt::Write as _;

use comfy_table::{Cell, CellAlignment};
use sqlgauge_base::{capital, printable};
use sqlgauge_run::{Comparison, ScoreSummary, Summary};
use unicode_width::UnicodeWidthStr;

use crate::formats::TextTables;
use crate::formats::table::{push_wrapped, whole_numbers, wrapped};
use crate::overview::numbers;
use crate::style::Painter;
use crate::words::{many, tests, torn};
use crate::{Nature, ReportError, clusters, number};

/// Two systems of a run and where they part.
#[derive(Debug)]
pub struct Versus<'a> {
    /// The summary of the two systems alone, the first before the second.
    pub summary: &'a Summary,
    pub metric: &'a str,
    /// Ids of the items on which only the first is right or scores better.
    pub only_first: &'a [String],
    /// Ids of the items on which only the second is right or scores better.
    pub only_second: &'a [String],
    /// What a reader must know of the runs first, each in one sentence without its full stop.
    pub notes: &'a [String],
    /// How many ids of each side to list.
    pub limit: usize,
}

impl Versus<'_> {
    /// The comparison as text that ends with a line feed.
    ///
    /// # Errors
    /// When the text cannot be written.
    pub fn render(&self, tables: TextTables) -> Result<String, ReportError> {
        let painter = Painter { colour: tables.colour };
        let width = usize::from(tables.width.max(40));
        let mut text = String::new();
        for (label, system) in ["first ", "second"].iter().zip(&self.summary.systems) {
            let _infallible =
                writeln!(text, "{}  {}", painter.dim(label), painter.bold(&printable(&system.system)));
        }
        for note in self.notes {
            push_wrapped(&mut text, &format!("{}.", capital(&printable(note))), width);
        }
        text.push('\n');
        let comparisons = &self.summary.comparisons;
        let mut note = format!(
            "(n): the number of questions that a score is over; the difference is over the n that both have, with 95 % intervals{}; \
             p by {}; * p < 0.05{}{}",
            clusters::about(self.summary),
            tests(comparisons),
            torn(comparisons),
            less_is_better(comparisons)
        );
        if comparisons.is_empty() {
            note.clear();
        }
        text.push_str(&tables.heading("Scores", &note));
        let header =
            ["metric", "first (n)", "second (n)", "n", "difference [95 %]", "p", "only first", "only second"];
        let mut table = tables.new_table(&header);
        table.add_rows(comparisons.iter().map(|comparison| self.row(comparison)));
        whole_numbers(&mut table, 0);
        let rows: Vec<String> = table.lines().map(|line| line.trim_end().to_owned()).collect();
        if table.row_count() == 0 {
            text.push_str("No metric has a score for both on any item.\n");
        } else if rows.iter().all(|row| row.width() <= width) {
            let rows: Vec<String> = rows.iter().map(|row| painter.paint(row)).collect();
            text += &(rows.join("\n") + "\n\n");
        } else {
            comparisons.iter().for_each(|comparison| self.list(comparison, width, &mut text));
        }
        let notes = comparisons.iter().filter_map(|comparison| self.subset(comparison));
        for note in notes.chain(comparisons.iter().filter_map(clusters::only_plain)) {
            push_wrapped(&mut text, &note, width);
        }
        for (side, ids) in [("first", self.only_first), ("second", self.only_second)] {
            text.push('\n');
            push_wrapped(&mut text, &self.side(side, ids), width);
        }
        Ok(text)
    }

    fn row(&self, comparison: &Comparison) -> Vec<Cell> {
        let right = |text: String| Cell::new(text).set_alignment(CellAlignment::Right);
        let numbers = self.numbers(comparison).map(right);
        std::iter::once(Cell::new(printable(&comparison.metric))).chain(numbers).collect()
    }

    /// What the row says, for a terminal on which no row fits.
    fn list(&self, comparison: &Comparison, width: usize, text: &mut String) {
        let [first, second, n, difference, p, only_first, only_second] = self.numbers(comparison);
        let values = format!(
            "first {first}, second {second}, difference {difference} on n={n}, p: {p}, only first {only_first}, \
             only second {only_second}"
        );
        let _infallible = writeln!(text, "{}", printable(&comparison.metric));
        wrapped(&values, width - 2).iter().for_each(|line| {
            let _infallible = writeln!(text, "  {line}");
        });
        text.push('\n');
    }

    /// First, second, n, difference, p, only first, only second.
    fn numbers(&self, comparison: &Comparison) -> [String; 7] {
        let nature = Nature::of(&comparison.metric);
        let [first, second] = [0, 1].map(|at| number::with_count(self.score(at, &comparison.metric), nature));
        let [n, difference, p, only_first, only_second] = numbers(comparison);
        [first, second, n, difference, p, only_first, only_second]
    }

    fn score(&self, system: usize, metric: &str) -> Option<&ScoreSummary> {
        self.summary.systems.get(system)?.scores.get(metric)
    }

    /// Says so where the difference is over other items than the means.
    fn subset(&self, comparison: &Comparison) -> Option<String> {
        let Comparison { metric, count, first_mean, second_mean, .. } = comparison;
        let (first, second) = (self.score(0, metric)?.count, self.score(1, metric)?.count);
        if first == *count && second == *count {
            return None;
        }
        let nature = Nature::of(metric);
        let mean = |value: Option<f64>| number::score(value, nature);
        Some(format!(
            "{}: the difference is over the {} that both were scored on, the means over {first} and \
             {second}. On the {count} in common the means are {} and {}.",
            printable(metric),
            many(*count, "item"),
            mean(*first_mean),
            mean(*second_mean),
        ))
    }

    fn side(&self, side: &str, ids: &[String]) -> String {
        let listed: Vec<String> = ids.iter().take(self.limit).map(|id| printable(id)).collect();
        let rest = ids.len() - listed.len();
        let more = if rest > 0 { format!(" and {rest} more (--items)") } else { String::new() };
        let list = if listed.is_empty() { "none".to_owned() } else { listed.join(" ") };
        format!(
            "{}: {} on which only the {side} is right or scores better: {list}{more}",
            printable(self.metric),
            many(ids.len(), "item")
        )
    }
}

/// `; less is better: vm-steps@1`
fn less_is_better(comparisons: &[Comparison]) -> String {
    let less = comparisons.iter().map(|comparison| comparison.metric.as_str());
    let less: Vec<&str> = less.filter(|metric| Nature::of(metric).lower_is_better).collect();
    if less.is_empty() { String::new() } else { format!("; less is better: {}", less.join(", ")) }
}
