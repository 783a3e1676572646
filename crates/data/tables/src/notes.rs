//! Explains what was left out and what stayed as it was written.

use std::fmt::Write as _;

use sqlgauge_base::listed;

use crate::report::{ColumnRecord, FileOutcome, FileRefusal, Lines, TableRecord, TablesReport};
use crate::values::Doubt;

/// Sentences about what a user may not expect, each about one file, in the order of the files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Notes {
    /// Files that are left out, with the reason.
    pub files: Vec<String>,
    /// Rows that are left out or filled up, with their lines.
    pub rows: Vec<String>,
    /// Columns that stay text although they hold something else, have no value, or lost a unit.
    pub columns: Vec<String>,
}

impl TablesReport {
    /// What a user may not expect.
    pub fn notes(&self) -> Notes {
        let mut notes = Notes::default();
        let mut others: Vec<&str> = Vec::new();
        for file in &self.files {
            match &file.outcome {
                FileOutcome::Refused { reason: FileRefusal::NotATable, .. } => others.push(&file.file),
                FileOutcome::Refused { detail, .. } => notes.files.push(format!("{}: {detail}", file.file)),
                FileOutcome::Used(table) => notes.table(&file.file, table),
            }
        }
        notes.others(&others);
        notes
    }
}

impl Notes {
    /// Files whose names are not those of tables: one line for all of them.
    fn others(&mut self, names: &[&str]) {
        const NAMED: usize = 3;
        let Some(examples) = names.get(..names.len().min(NAMED)).filter(|examples| !examples.is_empty())
        else {
            return;
        };
        let mut line = examples.join(", ");
        if names.len() > NAMED {
            let _infallible = write!(line, " and {} more", names.len() - NAMED);
        }
        self.files.push(format!("{line}: not a table, by its file extension"));
    }

    fn table(&mut self, file: &str, table: &TableRecord) {
        let ragged = &table.ragged;
        let separator = table.delimiter.unwrap_or(',');
        let long = format!("left out; put quotes around values that hold {separator:?}");
        let rows = [
            (&table.duplicate_rows, "repeated", "left out; --keep-duplicates keeps them"),
            (
                &ragged.short,
                "too few values",
                "left out; --fill-short-lines keeps them, with NULL for the rest",
            ),
            (&ragged.filled, "too few values", "the rest is NULL"),
            (&ragged.long, "too many values", &long),
        ];
        for (lines, what, outcome) in rows.iter().filter(|(lines, ..)| lines.count > 0) {
            self.rows.push(format!("{file}: {}: {what}, {outcome}", counted(lines)));
        }
        self.columns.extend(table.columns.iter().filter_map(|column| about(file, column)));
        if !table.empty_columns.is_empty() {
            let names: Vec<String> = table.empty_columns.iter().map(|name| format!("`{name}`")).collect();
            self.columns.push(format!("{file}: left out, because without a value: {}", names.join(", ")));
        }
    }
}

/// `2 lines (7, 12)`, or `2 rows` of a format without line numbers.
fn counted(lines: &Lines) -> String {
    let noun = if lines.first.is_empty() { "row" } else { "line" };
    let numbers: Vec<String> = lines.first.iter().map(u64::to_string).collect();
    let more = if lines.count > lines.first.len() as u64 { ", …" } else { "" };
    let which = if numbers.is_empty() { String::new() } else { format!(" ({}{more})", numbers.join(", ")) };
    format!("{}{which}", sqlgauge_base::counted(lines.count, noun))
}

fn about(file: &str, column: &ColumnRecord) -> Option<String> {
    let name = column.was.as_ref().unwrap_or(&column.name);
    match (column.doubt, &column.unit) {
        (Some(doubt), _) => {
            Some(format!("{file}: `{name}` stays text: {}", sentence(doubt, &column.examples)))
        }
        (None, Some(unit)) => {
            Some(format!("{file}: `{name}` is {}: `{unit}` is taken off its values", column.kind.name()))
        }
        (None, None) => None,
    }
}

/// Why the values stay as they are, and what to do.
fn sentence(doubt: Doubt, examples: &[String]) -> String {
    let [one, other] = [0, 1].map(|at| examples.get(at).map_or("", String::as_str));
    match doubt {
        Doubt::DateOrderUnknown => format!(
            "in `{one}` the day or the month may come first; say which with --date-order day-first or month-first"
        ),
        Doubt::DateOrderMixed => {
            format!("`{one}` has the day first and `{other}` the month; write all dates alike")
        }
        Doubt::DatePrecisionMixed => format!(
            "`{one}` and `{other}` differ in precision; give every date a time and a zone, or none of them"
        ),
        Doubt::DecimalMarkUnknown => format!(
            "`{one}` has two readings; say which with --decimal-mark point (as in 1,234.5) or comma (as in 1.234,5)"
        ),
        Doubt::DecimalMarkMixed => {
            format!("`{one}` has a decimal point and `{other}` a decimal comma; write all numbers alike")
        }
        Doubt::UnitMixed => {
            format!("`{one}` and `{other}` have different units; give each unit its own column")
        }
        Doubt::Brackets => {
            format!("`{one}` may be a negative number or a remark; write negative numbers with a minus")
        }
        Doubt::YesNo => {
            let words: Vec<String> = examples.iter().map(|word| format!("`{word}`")).collect();
            format!("its values are {}; --booleans stores 1 and 0 instead", listed(&words))
        }
        Doubt::NearlyNumbers => nearly("numbers", one),
        Doubt::NearlyDates => nearly("dates or times", one),
    }
}

fn nearly(what: &str, odd: &str) -> String {
    format!("most values are {what}, but `{odd}` is not; if it stands for a missing value, write NA")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_counted_and_the_first_are_named() {
        let lines = |numbers: std::ops::RangeInclusive<u64>| {
            let mut lines = Lines::default();
            numbers.for_each(|number| lines.push(Some(number)));
            counted(&lines)
        };
        assert_eq!(lines(4..=4), "1 line (4)");
        assert_eq!(lines(4..=5), "2 lines (4, 5)");
        assert_eq!(lines(1..=7), "7 lines (1, 2, 3, 4, 5, …)");
        let mut of_parquet = Lines::default();
        of_parquet.push(None);
        assert_eq!(counted(&of_parquet), "1 row");
    }
}
