//! What other commands left below the folders: audits, estimates, and their histories. A file is known by what it says, not by its
//! name.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::{Value, json};
use sqlgauge_base::regular;

use crate::runs::{look, state_of};
use crate::{Dashboard, ViewError};

/// Bytes of a first line that are looked at.
const FIRST_LINE: u64 = 1 << 20;
/// Bytes of a file of estimates that are read.
const MOST_BYTES: u64 = 64 << 20;

/// What a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum RecordKind {
    /// Findings of `audit --output-format jsonl`.
    Audit,
    /// `estimate.json` of a folder of `estimate --out`.
    Estimate,
    /// The lines of `estimate --history`.
    History,
}

/// A file that the dashboard shows.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Record {
    pub(crate) id: String,
    /// Where it is, as seen from the folder that was given.
    pub(crate) name: String,
    kind: RecordKind,
    /// Seconds since 1970.
    changed: u64,
    #[serde(skip)]
    pub(crate) path: PathBuf,
}

/// All records below those folders, by name.
pub(crate) fn find_records(folders: &[PathBuf]) -> Result<Vec<Record>, ViewError> {
    let mut records = BTreeMap::new();
    look(folders, |path, found| {
        if let Some(kind) = kind_of(path) {
            let found = found();
            let (id, name) = (found.id, found.name);
            let record =
                Record { id, name: name.clone(), kind, changed: state_of(path).0, path: path.to_owned() };
            records.insert(name, record);
        }
    })?;
    Ok(records.into_values().collect())
}

fn kind_of(path: &Path) -> Option<RecordKind> {
    if path.file_name()? == "estimate.json" {
        return path.with_file_name("run.json").is_file().then_some(RecordKind::Estimate);
    }
    if path.extension()? != "jsonl" {
        return None;
    }
    let mut line = String::new();
    BufReader::new(regular::open(path).ok()?.take(FIRST_LINE)).read_line(&mut line).ok()?;
    let first: BTreeMap<String, Value> = serde_json::from_str(&line).ok()?;
    let has = |keys: &[&str]| keys.iter().all(|key| first.contains_key(*key));
    if has(&["id", "sql", "findings"]) {
        Some(RecordKind::Audit)
    } else {
        has(&["as_of", "system", "method", "accuracy", "low", "high"]).then_some(RecordKind::History)
    }
}

impl Record {
    /// What the page of estimates says of an estimate or a history; why not, where it cannot be read.
    pub(crate) fn content(&self) -> Value {
        let content = match self.kind {
            RecordKind::Audit => return Value::Null,
            RecordKind::Estimate => self.estimate(),
            RecordKind::History => self.history(),
        };
        let head = json!({"id": self.id, "name": self.name, "kind": self.kind, "changed": self.changed});
        let mut all = content.unwrap_or_else(|error| json!({"problem": sqlgauge::sentence(&error)}));
        if let (Value::Object(all), Value::Object(head)) = (&mut all, head) {
            all.extend(head);
        }
        all
    }

    fn estimate(&self) -> Result<Value, ViewError> {
        let drift = self.path.with_file_name("drift.json");
        let drift = if drift.is_file() { read_json(&drift)? } else { json!([]) };
        Ok(json!({"estimates": read_json(&self.path)?, "drift": drift, "report": self.report().is_some()}))
    }

    /// The earlier estimates as series: by system and method, each label with what was said last.
    fn history(&self) -> Result<Value, ViewError> {
        let text = String::from_utf8_lossy(&read(&self.path)?).into_owned();
        let mut series: Vec<(String, Vec<Value>)> = Vec::new();
        for line in text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
            let text = |key: &str| line[key].as_str().unwrap_or_default().to_owned();
            let (name, label) = (format!("{} by {}", text("system"), text("method")), text("as_of"));
            let mut point = line;
            point["label"] = label.as_str().into();
            let at = series.iter().position(|(known, _)| *known == name).unwrap_or_else(|| {
                series.push((name, Vec::new()));
                series.len() - 1
            });
            let points = &mut series[at].1;
            match points.iter_mut().find(|known| known["label"] == label.as_str()) {
                Some(known) => *known = point,
                None => points.push(point),
            }
        }
        let series = series
            .into_iter()
            .map(|(system, points)| json!({"system": system, "points": points, "alarms": []}));
        Ok(json!({"estimates": [], "drift": series.collect::<Vec<_>>(), "report": false}))
    }

    /// The page that `estimate` wrote.
    pub(crate) fn report(&self) -> Option<PathBuf> {
        let page = self.path.with_file_name("report.html");
        (self.kind == RecordKind::Estimate && page.is_file()).then_some(page)
    }

    pub(crate) fn is(&self, kind: RecordKind) -> bool {
        self.kind == kind
    }
}

impl Dashboard {
    /// The record of that kind with that name.
    pub(crate) fn record(&self, kind: RecordKind, id: &str) -> Result<Record, ViewError> {
        let records = find_records(&self.options.folders)?;
        records.into_iter().find(|record| record.is(kind) && record.id == id).ok_or(ViewError::UnknownRun)
    }
}

/// The bytes of a file that is not too large.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, ViewError> {
    let about = |source| ViewError::Folder { path: path.to_owned(), source };
    let mut bytes = Vec::new();
    regular::open(path).map_err(about)?.take(MOST_BYTES).read_to_end(&mut bytes).map_err(about)?;
    Ok(bytes)
}

fn read_json(path: &Path) -> Result<Value, ViewError> {
    serde_json::from_slice(&read(path)?).map_err(|error| ViewError::Record {
        path: path.to_owned(),
        line: error.line(),
        message: error.to_string(),
    })
}
