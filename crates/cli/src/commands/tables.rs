//! `sqlgauge tables`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use anyhow::{Result, ensure};
use clap::Args;
use sqlgauge_tables::{FileOutcome, ForeignKeyOutcome, Options, REPORT_FILE, Report, build};

use crate::Verdict;
use crate::output::print;

/// Make relational databases of loose tables: CSV and Parquet files become typed SQLite databases with keys
#[derive(Debug, Args)]
pub struct Tables {
    /// Folder of the tables; tables of one folder may come into one database
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Folder to write, which is empty or not there: `DB_ID/DB_ID.sqlite`, and `tables.jsonl` with every decision
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// From which score on an inclusion of columns becomes a foreign key, from 0 to 1
    #[arg(long, value_name = "SCORE", default_value_t = Options::default().foreign_key_score)]
    foreign_key_score: f64,
    /// Keep tables as they are, and do not split them along functional dependencies
    #[arg(long)]
    keep_wide: bool,
    /// Keep rows that repeat an earlier one
    #[arg(long)]
    keep_duplicates: bool,
    /// Smallest share of letters that are Latin, from 0 to 1; 0 takes every script
    #[arg(long, value_name = "SHARE", default_value_t = Options::default().min_latin)]
    min_latin: f64,
    /// Threads; the result does not depend on them
    #[arg(long, value_name = "N", alias = "threads")]
    jobs: Option<usize>,
    /// Print nothing but errors
    #[arg(long, short)]
    quiet: bool,
}

impl Tables {
    pub fn run(self) -> Result<Verdict> {
        for (option, value) in
            [("--foreign-key-score", self.foreign_key_score), ("--min-latin", self.min_latin)]
        {
            ensure!((0.0..=1.0).contains(&value), "{option} {value} is not between 0 and 1");
        }
        let options = Options {
            foreign_key_score: self.foreign_key_score,
            normalise: !self.keep_wide,
            drop_duplicate_rows: !self.keep_duplicates,
            min_latin: self.min_latin,
            ..Options::default()
        };
        let threads = rayon::ThreadPoolBuilder::new().num_threads(self.jobs.unwrap_or(0)).build()?;
        let report = threads.install(|| build(&self.folder, &self.out, &options))?;
        if !self.quiet {
            print(&said(&report))?;
        }
        Ok(Verdict::Done)
    }
}

fn said(report: &Report) -> String {
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
