//! `sqlgauge tables`.

use std::fmt::Write as _;
use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use sqlgauge_core::{Context, OutputPath, TablesJob};
use sqlgauge_tables::{
    DateOrder, DecimalMark, FileOutcome, ForeignKeyOutcome, REPORT_FILE, TablesOptions, TablesReport,
};

use crate::Verdict;
use crate::output::print;

/// Make relational databases from CSV and Parquet files
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
pub(crate) struct Tables {
    /// Folder with the CSV and Parquet files; related tables of one folder may share a database
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// New or empty folder to write: `DB_ID/DB_ID.sqlite`, and `tables.jsonl` with the reason for every decision
    #[arg(long, value_name = "DIR")]
    out: OutputPath,
    /// Lowest score at which a column becomes a foreign key to another table, from 0 to 1
    #[arg(long, value_name = "SCORE", default_value_t = TablesOptions::default().foreign_key_score)]
    foreign_key_score: f64,
    /// Keep wide tables whole, instead of splitting them along functional dependencies
    #[arg(long)]
    keep_wide: bool,
    /// Keep rows that repeat an earlier one
    #[arg(long)]
    keep_duplicates: bool,
    /// Keep lines with fewer values than the header has names, with NULL for the rest
    #[arg(long)]
    fill_short_lines: bool,
    /// End with an error at the first line or file that would be left out because it cannot be read: too few or too many
    /// values, not a text, damaged, not allowed
    #[arg(long)]
    strict: bool,
    /// Decimal mark of columns whose values leave it open, such as 1,234; without it they stay text
    #[arg(long, value_name = "MARK", value_parser = decimal_mark())]
    decimal_mark: Option<DecimalMark>,
    /// What comes first in columns of dates that leave it open, such as 05/01/2024; without it they stay text
    #[arg(long, value_name = "ORDER", value_parser = date_order())]
    date_order: Option<DateOrder>,
    /// Store words for yes and no as 1 and 0 (true/false, yes/no, y/n, t/f)
    #[arg(long)]
    booleans: bool,
    /// Refuse a table in which a smaller share of the letters is Latin, from 0 to 1; 0 accepts every script
    #[arg(long, value_name = "SHARE", default_value_t = TablesOptions::default().min_latin)]
    min_latin: f64,
    /// Worker threads; 0 means one per core. The result does not depend on them
    #[arg(long, short, alias = "threads", value_name = "N", default_value_t = 0)]
    jobs: usize,
    /// Print nothing but errors
    #[arg(long, short)]
    quiet: bool,
}

impl Tables {
    pub(crate) fn run(self) -> Result<Verdict> {
        let options = TablesOptions {
            foreign_key_score: self.foreign_key_score,
            normalise: !self.keep_wide,
            drop_duplicate_rows: !self.keep_duplicates,
            min_latin: self.min_latin,
            fill_short_lines: self.fill_short_lines,
            strict: self.strict,
            decimal_mark: self.decimal_mark,
            date_order: self.date_order,
            booleans: self.booleans,
            ..TablesOptions::default()
        };
        let report = TablesJob { options, jobs: self.jobs, ..TablesJob::new(self.folder, self.out.into()) }
            .run(&Context::default())?;
        if !self.quiet {
            print(&summary(&report))?;
        }
        Ok(Verdict::Done)
    }
}

fn decimal_mark() -> impl TypedValueParser<Value = DecimalMark> {
    let marks = [
        PossibleValue::new("point").help("1,234.5: commas group digits"),
        PossibleValue::new("comma").help("1.234,5: points group digits"),
    ];
    PossibleValuesParser::new(marks)
        .map(|mark| if mark == "point" { DecimalMark::Point } else { DecimalMark::Comma })
}

fn date_order() -> impl TypedValueParser<Value = DateOrder> {
    let orders = [
        PossibleValue::new("day-first").help("05/01/2024 is the 5th of January"),
        PossibleValue::new("month-first").help("05/01/2024 is the 1st of May"),
    ];
    PossibleValuesParser::new(orders)
        .map(|order| if order == "day-first" { DateOrder::DayFirst } else { DateOrder::MonthFirst })
}

/// Most lines of one kind.
const MOST_LINES: usize = 20;

fn summary(report: &TablesReport) -> String {
    let used = report.files.iter().filter(|file| matches!(file.outcome, FileOutcome::Used(_))).count();
    let declared = report
        .foreign_keys
        .iter()
        .filter(|key| matches!(key.outcome, ForeignKeyOutcome::Declared | ForeignKeyOutcome::BySplit));
    let tables: usize = report.databases.iter().map(|database| database.tables.len()).sum();
    let mut text = format!(
        "files used: {used} of {}; databases: {}; tables: {tables}; foreign keys: {}; {REPORT_FILE} has every decision\n",
        report.files.len(),
        report.databases.len(),
        declared.count()
    );
    let notes = report.notes();
    for (title, lines) in [("files left out", notes.files), ("rows", notes.rows), ("columns", notes.columns)]
    {
        if !lines.is_empty() {
            let _infallible = writeln!(text, "{title}:");
        }
        for line in lines.iter().take(MOST_LINES) {
            let _infallible = writeln!(text, "  {line}");
        }
        if lines.len() > MOST_LINES {
            let _infallible = writeln!(text, "  and {} more, in {REPORT_FILE}", lines.len() - MOST_LINES);
        }
    }
    text
}
