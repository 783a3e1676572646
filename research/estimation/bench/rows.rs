//! Estimates in a file, one per line, so that a bench that ends early continues behind the last one.
//!
//! The first line has the settings that an estimate depends on; a file of other settings is refused.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{Seek as _, SeekFrom, Write as _};
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use super::run::BenchRow;

/// Transfer, split, seed, system, method.
type Key = (String, usize, u64, String, String);

/// The estimates of earlier calls, and where new ones are written.
#[derive(Debug, Default)]
pub struct RowsFile {
    rows: BTreeMap<Key, BenchRow>,
    file: Option<File>,
}

impl RowsFile {
    /// Opens or makes a file. A last line that was cut off is dropped.
    ///
    /// # Errors
    /// When the file cannot be read or written, or was made with other settings.
    pub fn open(path: &Path, settings: &Value) -> Result<Self> {
        let context = || format!("{} cannot be read or written", path.display());
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)
            .with_context(context)?;
        let text = std::fs::read_to_string(path).with_context(context)?;
        let whole = &text[..text.rfind('\n').map_or(0, |at| at + 1)];
        let mut lines = whole.lines();
        match lines.next() {
            None => {}
            Some(first) if serde_json::from_str::<Value>(first)? == *settings => {}
            Some(first) => bail!(
                "{} was made with {first}, and these settings are {settings}: take another --out",
                path.display()
            ),
        }
        let mut rows = BTreeMap::new();
        for line in lines {
            let row: BenchRow = serde_json::from_str(line)
                .with_context(|| format!("{} has a line that is not an estimate: {line}", path.display()))?;
            rows.insert(key(&row), row);
        }
        file.set_len(whole.len() as u64).with_context(context)?;
        file.seek(SeekFrom::End(0)).with_context(context)?;
        if whole.is_empty() {
            writeln!(file, "{settings}").with_context(context)?;
        }
        Ok(Self { rows, file: Some(file) })
    }

    /// The estimate of an earlier call.
    pub(super) fn earlier(
        &self,
        (transfer, split): (&str, usize),
        seed: u64,
        system: &str,
        method: &str,
    ) -> Option<&BenchRow> {
        self.rows.get(&(transfer.to_owned(), split, seed, system.to_owned(), method.to_owned()))
    }

    /// Writes an estimate.
    pub(super) fn add(&mut self, row: &BenchRow) -> Result<()> {
        let Some(file) = &mut self.file else { return Ok(()) };
        writeln!(file, "{}", serde_json::to_string(row)?).context("an estimate cannot be written")
    }
}

fn key(row: &BenchRow) -> Key {
    (row.transfer.clone(), row.split, row.seed, row.system.clone(), row.method.clone())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn row(system: &str) -> BenchRow {
        BenchRow {
            transfer: "A → B".to_owned(),
            split: 0,
            seed: 1,
            system: system.to_owned(),
            method: "m".to_owned(),
            truth: 0.5,
            accuracy: 0.25,
            low: 0.125,
            high: 0.5,
            outside: false,
            distance: None,
            seconds: 2.0,
        }
    }

    #[test]
    fn a_file_continues_where_it_was_cut_off() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows.jsonl");
        let mut rows = RowsFile::open(&path, &json!({"level": 0.9})).unwrap();
        rows.add(&row("a")).unwrap();
        rows.add(&row("b")).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, &text[..text.len() - 9]).unwrap();
        let mut rows = RowsFile::open(&path, &json!({"level": 0.9})).unwrap();
        let earlier = |rows: &RowsFile, system: &str| rows.earlier(("A → B", 0), 1, system, "m").cloned();
        assert_eq!((earlier(&rows, "a"), earlier(&rows, "b")), (Some(row("a")), None));
        rows.add(&row("b")).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        let error = RowsFile::open(&path, &json!({"level": 0.8})).unwrap_err().to_string();
        assert!(error.contains("--out"), "{error}");
    }
}
