//! Earlier estimates in a file, one JSON object per line: what drift from month to month is told by.
//!
//! A line is `{"as_of", "system", "method", "count", "accuracy", "level", "low", "high", "outside", "tool_version"}`.
//! A label that comes again replaces what it said before; the file is replaced as a whole, so that no line is ever half
//! there.

use std::path::{Path, PathBuf};
use std::{fs, io};

use serde::{Deserialize, Serialize};

use super::SystemEstimate;
use super::drift::Point;
use super::folder::write_text;
use crate::error::ReportError;

/// One line.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Line {
    as_of: String,
    system: String,
    method: String,
    count: usize,
    accuracy: f64,
    level: f64,
    low: f64,
    high: f64,
    outside: bool,
    tool_version: String,
}

impl Line {
    fn of(estimate: &SystemEstimate, label: &str, count: usize) -> Self {
        Self {
            as_of: label.to_owned(),
            system: estimate.system.clone(),
            method: estimate.method.clone(),
            count,
            accuracy: estimate.accuracy,
            level: estimate.interval.level,
            low: estimate.interval.low,
            high: estimate.interval.high,
            outside: estimate.outside,
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }

    fn point(&self) -> Point {
        Point {
            label: self.as_of.clone(),
            count: self.count,
            accuracy: self.accuracy,
            low: self.low,
            high: self.high,
            outside: self.outside,
        }
    }
}

/// The estimates of earlier calls.
#[derive(Debug, Clone, Default)]
pub struct History {
    path: PathBuf,
    lines: Vec<Line>,
}

impl History {
    /// Reads a file; one that is not there yet has no line.
    ///
    /// # Errors
    /// [`ReportError::UnreadableHistory`], [`ReportError::NoHistory`].
    pub fn read(path: &Path) -> Result<Self, ReportError> {
        let text = match fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            Err(source) => return Err(ReportError::UnreadableHistory { path: path.to_owned(), source }),
        };
        let filled = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        let lines = filled.map(|(at, line)| {
            serde_json::from_str(line)
                .map_err(|_| ReportError::NoHistory { path: path.to_owned(), line: at + 1 })
        });
        Ok(Self { path: path.to_owned(), lines: lines.collect::<Result<_, _>>()? })
    }

    /// The earlier estimates of the same system by the same method, each label once with its last value, without the
    /// label that is being estimated.
    pub fn before(&self, estimate: &SystemEstimate, label: &str) -> Vec<Point> {
        let mut points: Vec<Point> = Vec::new();
        let same = |line: &&Line| line.system == estimate.system && line.method == estimate.method;
        for line in self.lines.iter().filter(same).filter(|line| line.as_of != label) {
            match points.iter_mut().find(|point| point.label == line.as_of) {
                Some(point) => *point = line.point(),
                None => points.push(line.point()),
            }
        }
        points
    }

    /// Adds estimates of `count` questions under a label, and replaces the file.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn append(
        &mut self,
        estimates: &[SystemEstimate],
        label: &str,
        count: usize,
    ) -> Result<(), ReportError> {
        self.lines.extend(estimates.iter().map(|estimate| Line::of(estimate, label, count)));
        let mut text = String::new();
        for line in &self.lines {
            text.push_str(&serde_json::to_string(line)?);
            text.push('\n');
        }
        write_text(&self.path, &text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(method: &str, accuracy: f64) -> SystemEstimate {
        serde_json::from_value(serde_json::json!({"system": "s", "accuracy": accuracy,
            "interval": {"level": 0.9, "low": 0.0, "high": 1.0}, "outside": false, "outside_because": [],
            "method": method, "signals": [], "descriptors": {}, "by_database": [], "by_kind": [], "notes": []}))
        .unwrap()
    }

    #[test]
    fn keeps_the_last_line_of_a_label_and_of_one_method() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("h.jsonl");
        for (label, method, accuracy) in [
            ("may", "signals", 0.1),
            ("june", "signals", 0.2),
            ("may", "signals", 0.3),
            ("may", "source", 0.9),
        ] {
            History::read(&path).unwrap().append(&[estimate(method, accuracy)], label, 3).unwrap();
        }
        let history = History::read(&path).unwrap();
        let before = |label: &str| -> Vec<(String, f64)> {
            let points = history.before(&estimate("signals", 0.5), label);
            points.into_iter().map(|point| (point.label, point.accuracy)).collect()
        };
        assert_eq!(before("july"), [("may".to_owned(), 0.3), ("june".to_owned(), 0.2)]);
        assert_eq!(before("may"), [("june".to_owned(), 0.2)]);
        let beside: Vec<_> =
            fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(beside, ["h.jsonl"], "nothing is left beside the file");
    }

    #[test]
    fn a_line_that_is_none_is_named_and_the_file_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("h.jsonl");
        fs::write(&path, "\n{}\n").unwrap();
        let error = History::read(&path).unwrap_err().to_string();
        assert!(error.contains("line 2 is no line of a history"), "{error}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "\n{}\n");
    }
}
