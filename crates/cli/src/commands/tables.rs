//! `sqlgauge tables`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use sqlgauge::{Context, TablesJob};
use sqlgauge_tables::{FileOutcome, ForeignKeyOutcome, REPORT_FILE, TablesOptions, TablesReport};

use crate::Verdict;
use crate::output::print;

/// Build SQLite databases with types and keys from a folder of CSV and Parquet files
#[derive(Debug, Args)]
pub struct Tables {
    /// Folder with the CSV and Parquet files; related tables of one folder may share a database
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// New or empty folder to write: `DB_ID/DB_ID.sqlite`, and `tables.jsonl` with the reason for every decision
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Lowest score at which a column becomes a foreign key to another table, from 0 to 1
    #[arg(long, value_name = "SCORE", default_value_t = TablesOptions::default().foreign_key_score)]
    foreign_key_score: f64,
    /// Keep wide tables whole, instead of splitting them along functional dependencies
    #[arg(long)]
    keep_wide: bool,
    /// Keep rows that repeat an earlier one
    #[arg(long)]
    keep_duplicates: bool,
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
    pub fn run(self) -> Result<Verdict> {
        let options = TablesOptions {
            foreign_key_score: self.foreign_key_score,
            normalise: !self.keep_wide,
            drop_duplicate_rows: !self.keep_duplicates,
            min_latin: self.min_latin,
            ..TablesOptions::default()
        };
        let report = TablesJob { options, jobs: self.jobs, ..TablesJob::new(self.folder, self.out) }
            .run(&Context::default())?;
        if !self.quiet {
            print(&summary(&report))?;
        }
        Ok(Verdict::Done)
    }
}

fn summary(report: &TablesReport) -> String {
    let mut refused: BTreeMap<&str, usize> = BTreeMap::new();
    for file in &report.files {
        if let FileOutcome::Refused { reason, .. } = file.outcome {
            *refused.entry(reason.name()).or_default() += 1;
        }
    }
    let used = report.files.len() - refused.values().sum::<usize>();
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
    for (reason, count) in refused {
        let _infallible = writeln!(text, "{count:>8} {reason}");
    }
    text
}
