//! Reads the folder of a report, to make its page again.

use std::collections::HashMap;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::DeserializeOwned;
use sqlgauge_base::regular;
use sqlgauge_report::ReportError;
use sqlgauge_run::RunError;

use super::drift::Series;
use super::folder::DRIFT;
use super::{Answer, Reliability, SystemEstimate};

/// The option of the manifest that is [`Reliability::alarm_below`].
pub const ALARM_BELOW: &str = "alarm_below";

/// A line of `predictions.jsonl`.
#[derive(Deserialize)]
struct Prediction {
    system: String,
    #[serde(flatten)]
    answer: Answer,
}

impl Reliability {
    /// Reads what [`Reliability::write_to`] wrote, but for the pages: no byte of these is taken over. Links are not followed.
    ///
    /// # Errors
    /// When the folder has no estimate, its files have more than `most` bytes together, or one has another form than
    /// `estimate` writes.
    pub fn read(folder: &Path, most: u64) -> Result<Self, ReportError> {
        let mut files = Files { folder, left: most };
        let manifest: sqlgauge_run::Manifest = files.json("run.json")?;
        let mut estimates: Vec<SystemEstimate> = files.json("estimate.json")?;
        let drift: Vec<Series> = if files.has(DRIFT) { files.json(DRIFT)? } else { Vec::new() };
        refuse_other_shares(&estimates, &drift).map_err(|message| ReportError::MalformedEstimate {
            path: folder.to_owned(),
            line: 1,
            message,
        })?;
        let mut answers: HashMap<String, Vec<Answer>> = HashMap::new();
        for (at, line) in files.read("predictions.jsonl")?.split(|byte| *byte == b'\n').enumerate() {
            if !line.trim_ascii().is_empty() {
                let Prediction { system, answer } = files.parse("predictions.jsonl", at, line)?;
                answers.entry(system).or_default().push(answer);
            }
        }
        for estimate in &mut estimates {
            estimate.items = answers.remove(&estimate.system).unwrap_or_default();
        }
        let target = manifest.inputs.iter().find(|input| input.role == "target");
        let target = target.and_then(|input| Path::new(&input.path).file_name());
        let target = target.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let alarm_below = manifest.options.get(ALARM_BELOW).and_then(serde_json::Value::as_f64);
        Ok(Self { manifest, target, estimates, drift, alarm_below })
    }
}

/// Charts have room for shares only.
fn refuse_other_shares(estimates: &[SystemEstimate], drift: &[Series]) -> Result<(), String> {
    let points = drift.iter().flat_map(|series| &series.points);
    let points = points.flat_map(|point| [point.accuracy, point.low, point.high]);
    let ends = |one: &SystemEstimate| [one.accuracy, one.interval.low, one.interval.high];
    match estimates.iter().flat_map(ends).chain(points).find(|share| !(0.0..=1.0).contains(share)) {
        Some(share) => Err(format!("{share} is not a share from 0 to 1")),
        None => Ok(()),
    }
}

/// The files of a folder, of so many bytes together.
struct Files<'a> {
    folder: &'a Path,
    left: u64,
}

impl Files<'_> {
    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    fn has(&self, name: &str) -> bool {
        self.path(name).symlink_metadata().is_ok_and(|entry| entry.is_file())
    }

    fn read(&mut self, name: &str) -> Result<Vec<u8>, ReportError> {
        let unreadable = |source| RunError::Unreadable { path: self.path(name), source };
        if !self.has(name) {
            return Err(unreadable(io::ErrorKind::NotFound.into()).into());
        }
        let mut bytes = Vec::new();
        let file = regular::open(self.path(name)).map_err(unreadable)?;
        file.take(self.left.saturating_add(1)).read_to_end(&mut bytes).map_err(unreadable)?;
        let left = self.left.checked_sub(bytes.len() as u64);
        self.left = left.ok_or_else(|| unreadable(io::ErrorKind::FileTooLarge.into()))?;
        Ok(bytes)
    }

    fn json<T: DeserializeOwned>(&mut self, name: &str) -> Result<T, ReportError> {
        let bytes = self.read(name)?;
        self.parse(name, 0, &bytes)
    }

    /// The value of a text that begins behind so many lines.
    fn parse<T: DeserializeOwned>(&self, name: &str, before: usize, text: &[u8]) -> Result<T, ReportError> {
        serde_json::from_slice(text).map_err(|error| ReportError::MalformedEstimate {
            path: self.path(name),
            line: before + error.line(),
            message: error.to_string(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn write(folder: &Path, name: &str, value: &Value) {
        std::fs::write(folder.join(name), value.to_string()).unwrap();
    }

    fn estimate(accuracy: f64) -> Value {
        json!([{"system": "s", "accuracy": accuracy, "interval": {"level": 0.9, "low": 0.1, "high": 0.9},
            "outside": false, "method": "signals", "signals": [], "descriptors": {}, "by_database": [],
            "by_kind": [], "notes": ["</style><script>hit</script>"]}])
    }

    /// A folder as `estimate --out` leaves it.
    fn folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let manifest = json!({"tool_version": "1", "engine": "e", "command": [], "metrics": [], "systems": ["s"],
            "inputs": [{"role": "target", "path": "/x/new.json", "sha256": "00"}],
            "options": {"alarm_below": 0.5}, "examples": 1});
        write(folder.path(), "run.json", &manifest);
        write(folder.path(), "estimate.json", &estimate(0.5));
        write(folder.path(), "drift.json", &json!([{"system": "s", "points": [], "alarms": []}]));
        let answer = json!({"system": "s", "id": "1", "db_id": "d", "question": "</p><script>hit</script>",
            "prediction": "SELECT 1", "status": "ok", "probability": 0.2, "reasons": ["r"]});
        write(folder.path(), "predictions.jsonl", &answer);
        folder
    }

    #[test]
    fn what_was_written_is_read_and_written_alike() {
        let folder = folder();
        std::fs::write(folder.path().join("report.html"), "<script>hit</script>").unwrap();
        let report = Reliability::read(folder.path(), 1 << 20).unwrap();
        assert_eq!((report.target.as_str(), report.alarm_below), ("new.json", Some(0.5)));
        let page = report.document().html();
        assert!(!page.contains("<script") && page.contains("&lt;script&gt;hit"));
        let again = tempfile::tempdir().unwrap();
        report.write_to(again.path()).unwrap();
        assert_eq!(Reliability::read(again.path(), 1 << 20).unwrap().document().html(), page);
    }

    #[test]
    fn a_file_of_another_form_is_named_with_its_line() {
        let cases: [(&str, Value, &str); 5] = [
            ("estimate.json", json!({"system": 1}), "estimate.json, line 1"),
            ("estimate.json", estimate(1e300), "not a share"),
            (
                "predictions.jsonl",
                json!({"system": "s", "id": "1"}),
                "predictions.jsonl, line 1: missing field",
            ),
            ("drift.json", json!([1]), "drift.json, line 1"),
            ("run.json", json!([]), "run.json, line 1"),
        ];
        for (file, content, expected) in cases {
            let folder = folder();
            write(folder.path(), file, &content);
            let error = Reliability::read(folder.path(), 1 << 20).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
        assert!(Reliability::read(folder().path(), 300).unwrap_err().to_string().contains("file too large"));
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_not_followed() {
        let (folder, other) = (folder(), folder());
        for name in ["drift.json", "estimate.json"] {
            std::fs::remove_file(folder.path().join(name)).unwrap();
            std::os::unix::fs::symlink(other.path().join(name), folder.path().join(name)).unwrap();
        }
        assert!(Reliability::read(folder.path(), 1 << 20).is_err());
    }
}
