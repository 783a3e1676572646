//! The log of `monitor`: earlier estimates, one JSON object per line.
//!
//! Lines are added whole or not at all, by one process after the other. A crash of the machine may leave a part of a line at
//! the end: [`History::torn`] reports it, readers skip it, and the next estimate cuts it off.

use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sqlgauge_base::file::append_lines;
use sqlgauge_base::regular;
use sqlgauge_run::RunError;

use super::SystemEstimate;
use super::drift::DriftPoint;
use crate::watch::{AnswerValue, BatchAnswers};
use sqlgauge_report::ReportError;

/// A line: the estimate of one system on one batch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Line {
    /// Name of the batch; of lines with equal name, system and method the last counts.
    as_of: String,
    /// Name of the system.
    system: String,
    /// Id of the method.
    method: String,
    /// Questions of the batch.
    count: usize,
    /// Estimated accuracy, in [0, 1].
    accuracy: f64,
    /// Probability that the interval contains the true accuracy.
    level: f64,
    /// Lower end of the interval.
    low: f64,
    /// Upper end.
    high: f64,
    /// Whether the batch lies outside of what the labels cover.
    outside: bool,
    /// Version of sqlgauge.
    tool_version: String,
    /// New reference: later batches are not compared with earlier lines.
    #[serde(default)]
    reference: bool,
    /// Hash of the known runs, alike in all batches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    known_runs: Option<String>,
    /// What later batches are compared with.
    #[serde(default)]
    answers: BatchAnswers,
}

/// What a batch is called and whether later ones are compared with it first.
#[derive(Debug, Clone, Copy)]
pub struct BatchName<'n> {
    pub label: &'n str,
    pub is_reference: bool,
    /// Number of questions.
    pub count: usize,
}

impl Line {
    fn of(estimate: &SystemEstimate, answers: &[AnswerValue], batch: BatchName<'_>) -> Self {
        Self {
            as_of: batch.label.to_owned(),
            system: estimate.system.clone(),
            method: estimate.method.clone(),
            count: batch.count,
            accuracy: estimate.accuracy,
            level: estimate.interval.level,
            low: estimate.interval.low,
            high: estimate.interval.high,
            outside: estimate.outside,
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
            reference: batch.is_reference,
            known_runs: None,
            answers: BatchAnswers::of(answers),
        }
    }

    /// What those lines say last of this one's system, method and label.
    fn last_of<'a>(&self, lines: &'a [Self]) -> Option<&'a Self> {
        let key = |line: &Self| (line.system.clone(), line.method.clone(), line.as_of.clone());
        lines.iter().rev().find(|line| key(line) == key(self))
    }

    fn point(&self) -> DriftPoint {
        DriftPoint {
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
    torn: Option<usize>,
    /// Hash of the known runs of the batch that is being estimated.
    known_runs: Option<String>,
}

impl History {
    /// Reads a file; one that is not there yet has no line.
    ///
    /// # Errors
    /// [`ReportError::UnreadableHistory`], [`ReportError::NoHistory`].
    pub fn read(path: &Path) -> Result<Self, ReportError> {
        let bytes = match regular::read(path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(source) => return Err(ReportError::UnreadableHistory { path: path.to_owned(), source }),
        };
        let mut history = Self { path: path.to_owned(), ..Self::default() };
        for (number, line) in lines_of(&bytes) {
            match serde_json::from_slice(line) {
                Ok(line) => history.lines.push(line),
                Err(_) if is_torn(line) => history.torn = Some(number),
                Err(_) => return Err(ReportError::NoHistory { path: path.to_owned(), line: number }),
            }
        }
        Ok(history)
    }

    /// The number of the last line, from 1, where that was not written to its end.
    pub fn torn(&self) -> Option<usize> {
        self.torn
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The log for a batch that is estimated from known runs with that hash.
    #[must_use]
    pub fn of_known_runs(self, hash: String) -> Self {
        Self { known_runs: Some(hash), ..self }
    }

    /// Whether an earlier batch was estimated from other known runs. A batch of an earlier version does not say from which.
    pub fn has_other_runs(&self, estimates: &[SystemEstimate], label: &str) -> bool {
        let mut lines = estimates.iter().flat_map(|estimate| self.lines_before(estimate, label));
        lines.any(|line| line.known_runs.is_some() && line.known_runs != self.known_runs)
    }

    /// The earlier estimates of the same system by the same method since the last reference, each label once with its last
    /// value, without the label that is being estimated; with the values of their answers.
    pub fn before(&self, estimate: &SystemEstimate, label: &str) -> Vec<(DriftPoint, BatchAnswers)> {
        let lines = self.lines_before(estimate, label).into_iter();
        lines.map(|line| (line.point(), line.answers.clone())).collect()
    }

    fn lines_before(&self, estimate: &SystemEstimate, label: &str) -> Vec<&Line> {
        let mut lines: Vec<&Line> = Vec::new();
        let same = |line: &&Line| line.system == estimate.system && line.method == estimate.method;
        for line in self.lines.iter().filter(same).filter(|line| line.as_of != label) {
            if line.reference {
                lines.clear();
            }
            match lines.iter_mut().find(|other| other.as_of == line.as_of) {
                Some(other) => *other = line,
                None => lines.push(line),
            }
        }
        lines
    }

    /// Whether a batch of that name is there, of other answers.
    pub fn has_other(&self, estimates: &[SystemEstimate], answers: &[Vec<AnswerValue>], label: &str) -> bool {
        let batch = BatchName { label, is_reference: false, count: 0 };
        estimates.iter().zip(answers).any(|(estimate, answers)| {
            let line = Line::of(estimate, answers, batch);
            line.last_of(&self.lines).is_some_and(|other| other.answers != line.answers)
        })
    }

    /// Adds the estimates of a batch, with the values of each system's answers.
    ///
    /// # Errors
    /// When the file cannot be written; it then has the lines that it had.
    pub fn append(
        &mut self,
        estimates: &[SystemEstimate],
        answers: &[Vec<AnswerValue>],
        batch: BatchName<'_>,
    ) -> Result<(), ReportError> {
        let lines = estimates.iter().zip(answers);
        let line = |(estimate, answers): (&SystemEstimate, &Vec<AnswerValue>)| {
            let known_runs = self.known_runs.clone();
            Line { known_runs, ..Line::of(estimate, answers, batch) }
        };
        let added: Vec<Line> = lines.map(line).collect();
        let texts: Vec<String> = added.iter().map(serde_json::to_string).collect::<Result<_, _>>()?;
        // A call that was broken off after its lines were there comes again, as does one beside it, and says the same.
        let missing = |bytes: &[u8]| {
            let lines = lines_of(bytes).filter_map(|(_, line)| serde_json::from_slice(line).ok());
            let lines: Vec<Line> = lines.collect();
            let missing = added.iter().zip(&texts).filter(|(line, _)| line.last_of(&lines) != Some(line));
            missing.flat_map(|(_, text)| [text.as_bytes(), b"\n"].concat()).collect()
        };
        append_lines(&self.path, missing, is_torn)
            .map_err(|source| RunError::Unwritable { path: self.path.clone(), source })?;
        self.lines.extend(added);
        self.torn = None;
        Ok(())
    }
}

/// The lines that hold something, each with its number from 1.
fn lines_of(bytes: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let lines = bytes.split_inclusive(|byte| *byte == b'\n').enumerate();
    lines.map(|(at, line)| (at + 1, line)).filter(|(_, line)| !line.iter().all(u8::is_ascii_whitespace))
}

/// Whether these bytes are the beginning of a line whose end was never written.
fn is_torn(line: &[u8]) -> bool {
    !line.ends_with(b"\n") && serde_json::from_slice::<Line>(line).is_err()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn estimate(method: &str, accuracy: f64) -> SystemEstimate {
        serde_json::from_value(serde_json::json!({"system": "s", "accuracy": accuracy,
            "interval": {"level": 0.9, "low": 0.0, "high": 1.0}, "outside": false, "outside_because": [],
            "method": method, "signals": [], "descriptors": {}, "by_database": [], "by_kind": [], "notes": []}))
        .unwrap()
    }

    fn batch(label: &str) -> BatchName<'_> {
        BatchName { label, is_reference: false, count: 3 }
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
            History::read(&path)
                .unwrap()
                .append(&[estimate(method, accuracy)], &[Vec::new()], batch(label))
                .unwrap();
        }
        let history = History::read(&path).unwrap();
        let before = |label: &str| -> Vec<(String, f64)> {
            let points = history.before(&estimate("signals", 0.5), label);
            points.into_iter().map(|(point, _)| (point.label, point.accuracy)).collect()
        };
        assert_eq!(before("july"), [("may".to_owned(), 0.3), ("june".to_owned(), 0.2)]);
        assert_eq!(before("may"), [("june".to_owned(), 0.2)]);
        let value = ("shop".to_owned(), (1, 1));
        let differs = |label: &str, values| history.has_other(&[estimate("signals", 0.5)], &[values], label);
        assert_eq!(
            [differs("may", vec![value]), differs("may", Vec::new()), differs("july", Vec::new())],
            [true, false, false]
        );
        let anew = BatchName { is_reference: true, ..batch("august") };
        History::read(&path).unwrap().append(&[estimate("signals", 0.4)], &[Vec::new()], anew).unwrap();
        let history = History::read(&path).unwrap();
        assert_eq!(history.before(&estimate("signals", 0.5), "september").len(), 1, "the reference alone");
        let files: Vec<_> =
            fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(files, ["h.jsonl"], "nothing is left beside the file");
    }

    #[test]
    fn batches_of_other_known_runs_are_told_apart() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("h.jsonl");
        let log = |runs: &str| History::read(&path).unwrap().of_known_runs(runs.to_owned());
        let june = [estimate("signals", 0.2)];
        // What an earlier version wrote may be of any runs.
        History::read(&path).unwrap().append(&june, &[Vec::new()], batch("april")).unwrap();
        assert!(!log("a").has_other_runs(&june, "may"));
        log("a").append(&june, &[Vec::new()], batch("may")).unwrap();
        let others = |runs, label| log(runs).has_other_runs(&june, label);
        assert_eq!([others("a", "june"), others("b", "june"), others("b", "may")], [false, true, false]);
        log("b").append(&june, &[Vec::new()], BatchName { is_reference: true, ..batch("june") }).unwrap();
        assert_eq!([others("a", "july"), others("b", "july")], [true, false]);
    }

    #[test]
    fn a_torn_end_is_passed_over_and_cut_off_by_the_next_estimate() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("h.jsonl");
        History::read(&path)
            .unwrap()
            .append(&[estimate("signals", 0.1)], &[Vec::new()], batch("may"))
            .unwrap();
        let whole = fs::read(&path).unwrap();
        let mut torn = whole.clone();
        torn.extend_from_slice(b"{\"as_of\":\"june\",\"sys");
        fs::write(&path, &torn).unwrap();
        let mut history = History::read(&path).unwrap();
        assert_eq!((history.torn(), history.lines.len()), (Some(2), 1));
        history.append(&[estimate("signals", 0.2)], &[Vec::new()], batch("june")).unwrap();
        let history = History::read(&path).unwrap();
        assert_eq!((history.torn(), history.lines.len()), (None, 2));
        assert!(fs::read(&path).unwrap().starts_with(&whole));
    }

    #[test]
    fn a_line_that_is_none_is_named_and_the_file_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("h.jsonl");
        fs::write(&path, "\n{}\n").unwrap();
        let error = History::read(&path).unwrap_err().to_string();
        assert!(error.contains("line 2 is not a line of a log"), "{error}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "\n{}\n");
    }
}
