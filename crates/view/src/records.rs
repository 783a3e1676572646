//! What other commands left below the folders: audits, estimates and their histories, plans of labels. A file is known by what it says, not by its
//! name.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sqlgauge_base::regular;
use sqlgauge_estimate::Estimate;
use sqlgauge_estimate::labelling::LabelFolder;
use sqlgauge_estimate::report::Reliability;
use sqlgauge_estimate::report::drift::Series;

use crate::runs::{LogState, look, state_of};
use crate::{Dashboard, ViewError};

/// Bytes of a first line that are looked at.
const FIRST_LINE: u64 = 1 << 20;
/// Bytes of first lines that one listing reads, where each line counts as a block at least. The next listing goes on.
const MOST_LOOKED_AT: u64 = 64 << 20;
const BLOCK: u64 = 4096;
/// Bytes of all estimates together that the page shows.
const MOST_SHOWN: u64 = 16 << 20;
/// Bytes that the page of one estimate is made from.
const MOST_OF_PAGE: u64 = 64 << 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum RecordKind {
    /// Findings of `audit --output-format jsonl`.
    Audit,
    /// `estimate.json` of a folder of `estimate --out`.
    Estimate,
    /// The lines of `monitor --log`.
    History,
    /// `plan.json` of a folder of `label plan --out`.
    Plan,
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
    /// Why it has no page, where one was to be made.
    #[serde(skip)]
    pub(crate) problem: Option<String>,
}

/// A line of a history, as far as a page shows it.
#[derive(Debug, Serialize, Deserialize)]
struct Point {
    #[serde(skip_serializing)]
    system: String,
    #[serde(skip_serializing)]
    method: String,
    #[serde(rename(deserialize = "as_of"))]
    label: String,
    accuracy: f64,
    low: f64,
    high: f64,
}

/// What files of JSON lines are, by path and state: each is opened once.
#[derive(Default)]
pub(crate) struct KnownKinds(Mutex<HashMap<PathBuf, KnownKind>>);

type KnownKind = (LogState, Option<RecordKind>);

/// The records below some folders.
#[derive(Default)]
pub(crate) struct Records {
    pub(crate) list: Vec<Record>,
    /// Files of JSON lines that are left to a next listing.
    pub(crate) unread: usize,
}

/// All records below those folders.
pub(crate) fn find_records(folders: &[PathBuf], kinds: &KnownKinds) -> Result<Records, ViewError> {
    let mut kinds = kinds.0.lock().unwrap_or_else(PoisonError::into_inner);
    let before = std::mem::take(&mut *kinds);
    let mut listing = Listing { before, ..Listing::default() };
    let mut records = BTreeMap::new();
    look(folders, |path, run_at| {
        if let Some(kind) = listing.kind_of(path) {
            let run = run_at();
            let (id, name) = (run.id, run.name);
            let (changed, path) = (state_of(path).0, path.to_owned());
            let record = Record { id, name: name.clone(), kind, changed, path, problem: None };
            records.insert(name, record);
        }
    })?;
    *kinds = listing.now;
    Ok(Records { list: records.into_values().collect(), unread: listing.unread })
}

/// One look at all files.
#[derive(Default)]
struct Listing {
    before: HashMap<PathBuf, KnownKind>,
    now: HashMap<PathBuf, KnownKind>,
    looked_at: u64,
    unread: usize,
}

impl Listing {
    fn kind_of(&mut self, path: &Path) -> Option<RecordKind> {
        if path.file_name()? == "estimate.json" {
            return path.with_file_name("run.json").is_file().then_some(RecordKind::Estimate);
        }
        if path.file_name()? == LabelFolder::PLAN {
            return Some(RecordKind::Plan);
        }
        if path.extension()? != "jsonl" {
            return None;
        }
        let state = state_of(path);
        let kind = match self.before.get(path) {
            Some((of, kind)) if *of == state => *kind,
            _ if self.looked_at >= MOST_LOOKED_AT => {
                self.unread += 1;
                return None;
            }
            _ => {
                let line = first_line(path).unwrap_or_default();
                self.looked_at += BLOCK.max(line.len() as u64);
                kind_by(&line)
            }
        };
        self.now.insert(path.to_owned(), (state, kind));
        kind
    }
}

fn first_line(path: &Path) -> io::Result<Vec<u8>> {
    let mut line = Vec::new();
    BufReader::new(regular::open(path)?.take(FIRST_LINE)).read_until(b'\n', &mut line)?;
    Ok(line)
}

fn kind_by(line: &[u8]) -> Option<RecordKind> {
    let first: BTreeMap<String, Value> = serde_json::from_slice(line).ok()?;
    let has = |keys: &[&str]| keys.iter().all(|key| first.contains_key(*key));
    if has(&["id", "sql", "findings"]) {
        Some(RecordKind::Audit)
    } else {
        has(&["as_of", "system", "method", "accuracy", "low", "high"]).then_some(RecordKind::History)
    }
}

impl Record {
    /// What the page of estimates says of an estimate or a history; why not, where it cannot be read. `left`: bytes that may
    /// still be read.
    fn content(&self, left: &mut u64) -> Value {
        let content = match (self.kind, &self.problem) {
            (RecordKind::Audit | RecordKind::Plan, _) => return Value::Null,
            (_, Some(problem)) => Ok(json!({"problem": problem})),
            (RecordKind::Estimate, None) => self.estimate(left),
            (RecordKind::History, None) => self.history(left),
        };
        let head = json!({"id": self.id, "name": self.name, "kind": self.kind, "changed": self.changed});
        let mut all = content.unwrap_or_else(|error| json!({"problem": sqlgauge_core::sentence(&error)}));
        if let (Value::Object(all), Value::Object(head)) = (&mut all, head) {
            all.extend(head);
        }
        all
    }

    fn estimate(&self, left: &mut u64) -> Result<Value, ViewError> {
        let drift = self.path.with_file_name("drift.json");
        let has_drift = drift.symlink_metadata().is_ok_and(|entry| entry.is_file());
        let drift: Vec<Series> = if has_drift { read_json(&drift, left)? } else { Vec::new() };
        let estimates: Vec<Estimate> = read_json(&self.path, left)?;
        Ok(json!({"estimates": estimates, "drift": drift, "report": true}))
    }

    /// The earlier estimates as series: by system and method, each label with what was said last.
    fn history(&self, left: &mut u64) -> Result<Value, ViewError> {
        let bytes = read_from(&self.path, left)?;
        let mut series: Vec<(String, Vec<Point>)> = Vec::new();
        let mut damage = None;
        let lines = bytes.split(|byte| *byte == b'\n').enumerate();
        for (at, line) in lines.filter(|(_, line)| !line.trim_ascii().is_empty()) {
            let point: Point = match serde_json::from_slice(line) {
                Ok(point) => point,
                Err(error) => {
                    let error = malformed(&self.path, at, &error);
                    damage.get_or_insert_with(|| sqlgauge_core::sentence(&error));
                    continue;
                }
            };
            let name = format!("{} by {}", point.system, point.method);
            let at = series.iter().position(|(other, _)| *other == name).unwrap_or_else(|| {
                series.push((name, Vec::new()));
                series.len() - 1
            });
            let points = &mut series[at].1;
            match points.iter_mut().find(|other| other.label == point.label) {
                Some(other) => *other = point,
                None => points.push(point),
            }
        }
        let series = series
            .into_iter()
            .map(|(system, points)| json!({"system": system, "points": points, "alarms": []}));
        let drift: Vec<Value> = series.collect();
        Ok(json!({"estimates": [], "drift": drift, "report": false, "problem": damage}))
    }

    /// The page of an estimate, written anew from its data as `estimate` does.
    pub(crate) fn page(&self) -> Result<String, ViewError> {
        let folder = self.path.parent().ok_or(ViewError::UnknownRun)?;
        Ok(Reliability::read(folder, MOST_OF_PAGE)?.document().html())
    }

    pub(crate) fn is(&self, kind: RecordKind) -> bool {
        self.kind == kind
    }
}

impl Dashboard {
    pub(crate) fn records(&self) -> Result<Records, ViewError> {
        find_records(&self.options.folders, &self.kinds)
    }

    pub(crate) fn record(&self, kind: RecordKind, id: &str) -> Result<Record, ViewError> {
        let records = self.records()?.list;
        records.into_iter().find(|record| record.is(kind) && record.id == id).ok_or(ViewError::UnknownRun)
    }
}

/// What the pages of audits and estimates list.
pub(crate) fn listed(Records { list, unread }: &Records) -> Value {
    let of = |kind| list.iter().filter(move |record| record.is(kind)).collect::<Vec<_>>();
    let (audits, plans) = (of(RecordKind::Audit), of(RecordKind::Plan));
    let mut left = MOST_SHOWN;
    let estimates = list.iter().map(|record| record.content(&mut left)).filter(|content| !content.is_null());
    let estimates: Vec<Value> = estimates.collect();
    json!({"audits": audits, "plans": plans, "estimates": estimates, "unread": unread})
}

/// The bytes of a file, which are taken from what is left.
fn read_from(path: &Path, left: &mut u64) -> Result<Vec<u8>, ViewError> {
    let about = |source| ViewError::Folder { path: path.to_owned(), source };
    let mut bytes = Vec::new();
    regular::open(path)
        .map_err(about)?
        .take(left.saturating_add(1))
        .read_to_end(&mut bytes)
        .map_err(about)?;
    let too_large = || ViewError::TooLarge { path: path.to_owned() };
    *left = left.checked_sub(bytes.len() as u64).ok_or_else(too_large)?;
    Ok(bytes)
}

fn read_json<T: DeserializeOwned>(path: &Path, left: &mut u64) -> Result<T, ViewError> {
    serde_json::from_slice(&read_from(path, left)?).map_err(|error| malformed(path, 0, &error))
}

/// A text that begins behind so many lines of a file.
fn malformed(path: &Path, before: usize, error: &serde_json::Error) -> ViewError {
    ViewError::Record { path: path.to_owned(), line: before + error.line(), message: error.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listing_reads_so_much_and_the_next_one_goes_on() {
        let folder = tempfile::tempdir().unwrap();
        let audit = "{\"id\":\"1\",\"sql\":\"SELECT 1\",\"findings\":[]}\n";
        for at in 0..70 {
            std::fs::write(folder.path().join(format!("long-{at}.jsonl")), " ".repeat(1 << 20)).unwrap();
        }
        std::fs::write(folder.path().join("audit.jsonl"), audit).unwrap();
        let (folders, kinds) = ([folder.path().to_owned()], KnownKinds::default());
        let first = find_records(&folders, &kinds).unwrap();
        assert!((6..=7).contains(&first.unread), "{}", first.unread);
        let second = find_records(&folders, &kinds).unwrap();
        assert_eq!((second.list.len(), second.unread), (1, 0));
        // Another state of a file is looked at.
        std::fs::write(folder.path().join("long-3.jsonl"), audit).unwrap();
        assert_eq!(find_records(&folders, &kinds).unwrap().list.len(), 2);
        std::fs::remove_file(folder.path().join("audit.jsonl")).unwrap();
        assert_eq!(find_records(&folders, &kinds).unwrap().list.len(), 1);
    }

    /// One file of another form is listed with its reason; the others are as they would be without it.
    #[test]
    fn a_bad_estimate_hides_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let good =
            json!([{"system": "s", "accuracy": 0.5, "interval": {"level": 0.9, "low": 0.1, "high": 0.9},
            "outside": false, "method": "signals", "signals": [], "descriptors": {}, "by_database": [],
            "by_kind": [], "notes": []}])
            .to_string();
        let mut files = vec![("good", good.clone(), None), ("drift", good.clone(), Some("[{\"points\":1}]"))];
        for bad in ["", "{", "null", "{}", "[{}]", "[null]", "[[]]", "\u{0}", "[1e999]", "\u{feff}[]"] {
            files.push(("bad", bad.to_owned(), None));
        }
        // One value of another type at each place.
        for (key, _) in serde_json::from_str::<Value>(&good).unwrap()[0].as_object().unwrap() {
            let mut bad: Value = serde_json::from_str(&good).unwrap();
            bad[0][key] = json!({"interval": "x"});
            files.push(("bad", bad.to_string(), None));
        }
        for (at, (name, text, drift)) in files.iter().enumerate() {
            let folder = folder.path().join(format!("{at:02}-{name}"));
            std::fs::create_dir(&folder).unwrap();
            std::fs::write(folder.join("run.json"), "{}").unwrap();
            std::fs::write(folder.join("estimate.json"), text).unwrap();
            drift.iter().for_each(|drift| std::fs::write(folder.join("drift.json"), drift).unwrap());
        }
        let lines = "{\"as_of\":\"1\",\"system\":\"s\",\"method\":\"m\",\"accuracy\":0.5,\"low\":0,\"high\":1}\n\
            {\"as_of\":\"2\",\"system\":\"s\",\"method\":\"m\",\"accuracy\":\"0.5\",\"low\":[],\"high\":1}\n";
        std::fs::write(folder.path().join("history.jsonl"), lines).unwrap();
        let records = find_records(&[folder.path().to_owned()], &KnownKinds::default()).unwrap();
        let estimates = listed(&records)["estimates"].as_array().unwrap().clone();
        assert_eq!(estimates.len(), files.len() + 1);
        for (estimate, (name, text, _)) in estimates.iter().zip(&files) {
            let problem = estimate["problem"].as_str();
            assert_eq!(problem.is_none(), *name == "good", "{text}: {problem:?}");
            assert!(problem.is_none_or(|problem| problem.contains(".json, line")), "{problem:?}");
        }
        let history = estimates.last().unwrap();
        assert_eq!(history["drift"][0]["points"].as_array().unwrap().len(), 1, "{history}");
        assert!(history["problem"].as_str().unwrap().contains("history.jsonl, line 2"), "{history}");
    }

    #[test]
    fn estimates_that_are_too_much_together_say_so() {
        let folder = tempfile::tempdir().unwrap();
        let line =
            "{\"as_of\":\"1\",\"system\":\"s\",\"method\":\"m\",\"accuracy\":0.5,\"low\":0,\"high\":1}\n";
        for name in ["a", "b"] {
            let text = line.to_owned() + &" ".repeat(9 << 20);
            std::fs::write(folder.path().join(format!("{name}.jsonl")), text).unwrap();
        }
        let records = find_records(&[folder.path().to_owned()], &KnownKinds::default()).unwrap();
        let estimates = &listed(&records)["estimates"];
        assert!(estimates[0]["problem"].is_null() && estimates[0]["drift"][0]["system"] == "s by m");
        assert!(estimates[1]["problem"].as_str().unwrap().contains("too large"), "{estimates}");
    }
}
