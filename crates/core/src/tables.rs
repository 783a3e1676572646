//! Relational databases from loose tables: `sqlgauge tables`.

use std::path::PathBuf;

use sqlgauge_tables::{TablesOptions, TablesReport, build};

use crate::context::Context;
use crate::error::Error;

/// Builds typed SQLite databases with keys from the CSV and Parquet files below a folder.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use sqlgauge_core::{Context, TablesJob};
///
/// let folder = tempfile::tempdir()?;
/// let tables = folder.path().join("tables");
/// std::fs::create_dir(&tables)?;
/// std::fs::write(tables.join("city.csv"), "id,name\n1,Rome\n2,Oslo\n3,Bern\n")?;
///
/// let report = TablesJob::new(tables, folder.path().join("databases")).run(&Context::default())?;
/// assert_eq!(report.databases.len(), 1);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct TablesJob {
    /// Folder of the tables.
    pub folder: PathBuf,
    /// Folder to write: a new or an empty one.
    pub out: PathBuf,
    /// Thresholds and choices.
    pub options: TablesOptions,
    /// Threads; 0 means one per core. The result does not depend on them.
    pub jobs: usize,
}

impl TablesJob {
    /// The job with the default options, on all cores.
    pub fn new(folder: PathBuf, out: PathBuf) -> Self {
        Self { folder, out, options: TablesOptions::default(), jobs: 0 }
    }

    /// Writes the databases, and the report of every decision beside them. It reports no progress and runs to its end.
    ///
    /// # Errors
    /// When an option is out of range, no table can be used, `out` is not empty, or a file cannot be read or written.
    pub fn run(&self, _: &Context<'_>) -> Result<TablesReport, Error> {
        let TablesOptions { foreign_key_score, min_latin, .. } = self.options;
        for (option, value) in [("--foreign-key-score", foreign_key_score), ("--min-latin", min_latin)] {
            if !(0.0..=1.0).contains(&value) {
                return Err(Error::OutOfUnit { option, value });
            }
        }
        let threads = rayon::ThreadPoolBuilder::new().num_threads(self.jobs).build()?;
        Ok(threads.install(|| build(&self.folder, &self.out, &self.options))?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_score_out_of_range_is_refused_before_anything_is_written() {
        let folder = tempfile::tempdir().expect("a folder");
        let out = folder.path().join("out");
        let mut job = TablesJob::new(folder.path().to_owned(), out.clone());
        job.options.min_latin = 1.5;
        let error = job.run(&Context::default()).expect_err("1.5 is out of range");
        assert_eq!(error.to_string(), "--min-latin 1.5 is not between 0 and 1");
        assert!(!out.exists());
    }
}
