//! The runs below some folders, and what the list says of each.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use serde::Serialize;
use sqlgauge_run::{
    ITEMS, MANIFEST, Manifest, RunFiles, Summary, SummaryBuilder, read_manifest, sha256_of_bytes,
};

use crate::ViewError;

/// Folders below each other that are looked into: a cycle of mounts, or a whole disk by mistake, ends.
const MOST_DEEP: usize = 8;
/// Entries of folders that are looked at.
const MOST_ENTRIES: usize = 200_000;

/// When a log was last written to, in seconds since 1970, and how long it is: another is another state of the run.
pub(crate) type LogState = (u64, u64);

/// A mean, the ends of its interval, and the number of items.
type Mean = (Option<f64>, Option<f64>, Option<f64>, usize);

/// A run directory, or another thing that the dashboard shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundRun {
    /// What addresses call it: the same as long as the folder is where it is.
    pub id: String,
    /// Where it is, as seen from the folder that was given.
    pub name: String,
    /// Where it is.
    pub path: PathBuf,
}

/// The runs below those folders, by name. Links are not followed, and folders that cannot be read are left out but for the ones
/// that were given.
///
/// # Errors
/// When one of those cannot be read.
pub fn find_runs(folders: &[PathBuf]) -> Result<Vec<FoundRun>, ViewError> {
    look(folders, |_, _| ())
}

/// The runs below those folders; `other` hears every other file with its name as seen from the folder that was given.
pub(crate) fn look(
    folders: &[PathBuf],
    mut other: impl FnMut(&Path, &dyn Fn() -> FoundRun),
) -> Result<Vec<FoundRun>, ViewError> {
    let mut runs = BTreeMap::new();
    let mut looked_at = 0;
    for folder in folders {
        let about = |source| ViewError::Folder { path: folder.clone(), source };
        let root = fs::canonicalize(folder).map_err(about)?;
        fs::read_dir(&root).map_err(about)?;
        let mut open = vec![(root.clone(), 0)];
        while let Some((path, depth)) = open.pop() {
            if [MANIFEST, ITEMS].iter().all(|name| path.join(name).is_file()) {
                let run = FoundRun::at(&path, &root, folder, folders.len() > 1);
                runs.insert(run.name.clone(), run);
                continue;
            }
            let Ok(entries) = fs::read_dir(&path) else { continue };
            for entry in entries.flatten().take(MOST_ENTRIES.saturating_sub(looked_at)) {
                looked_at += 1;
                let Ok(kind) = entry.file_type() else { continue };
                if kind.is_dir() && depth < MOST_DEEP {
                    open.push((entry.path(), depth + 1));
                } else if kind.is_file() {
                    let path = entry.path();
                    other(&path, &|| FoundRun::at(&path, &root, folder, folders.len() > 1));
                }
            }
        }
    }
    Ok(runs.into_values().collect())
}

impl FoundRun {
    fn at(path: &Path, root: &Path, folder: &Path, is_one_of_several: bool) -> Self {
        let inside = path.strip_prefix(root).unwrap_or(path);
        let last = || root.file_name().unwrap_or(root.as_os_str()).to_string_lossy().into_owned();
        let name = match (inside.as_os_str().is_empty(), is_one_of_several) {
            (true, _) => last(),
            (false, true) => folder.join(inside).display().to_string(),
            (false, false) => inside.display().to_string(),
        };
        let id = sha256_of_bytes(path.as_os_str().as_encoded_bytes())[..12].to_owned();
        Self { id, name, path: path.to_owned() }
    }

    pub(crate) fn state(&self) -> LogState {
        let log = state_of(&self.path.join(ITEMS));
        if log == (0, 0) { state_of(&self.path.join(MANIFEST)) } else { log }
    }
}

/// Time of the last change of a file in seconds since 1970, and its size in bytes; zeros if the file does not exist.
pub(crate) fn state_of(path: &Path) -> LogState {
    let Ok(seen) = fs::metadata(path) else { return (0, 0) };
    let changed = seen.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    (changed.map_or(0, |time| time.as_secs()), seen.len())
}

#[derive(Debug, Clone, Serialize)]
pub(crate) struct RunRow {
    pub(crate) id: String,
    pub(crate) name: String,
    /// Seconds since 1970.
    changed: u64,
    /// Why it cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
    #[serde(flatten)]
    content: Option<RunContent>,
}

#[derive(Debug, Clone, Serialize)]
struct RunContent {
    tool: String,
    engine: String,
    questions: usize,
    /// Which part of the benchmark was scored, where it was not all.
    #[serde(skip_serializing_if = "Option::is_none")]
    part: Option<String>,
    metrics: Vec<String>,
    /// File and SHA-256 of each gold file.
    golds: Vec<(String, String)>,
    systems: Vec<SystemRow>,
    total: usize,
    done: usize,
    /// What its queries took for now: mostly the time of the run. A copied or touched folder keeps it.
    #[serde(skip_serializing_if = "Option::is_none")]
    now: Option<String>,
}

#[derive(Debug, Clone, Serialize)]
struct SystemRow {
    name: String,
    scores: BTreeMap<String, Mean>,
}

impl RunRow {
    pub(crate) fn of(run: &FoundRun) -> Self {
        match RunContent::read(&run.path) {
            Ok(content) => Self { problem: None, content: Some(content), ..Self::unreadable(run, "") },
            Err(error) => Self::unreadable(run, &sqlgauge_core::sentence(&error)),
        }
    }

    /// One without content, for that reason.
    pub(crate) fn unreadable(run: &FoundRun, problem: &str) -> Self {
        let (id, name, changed) = (run.id.clone(), run.name.clone(), run.state().0);
        Self { id, name, changed, problem: Some(problem.to_owned()), content: None }
    }

    /// Whether it has that system, and its golds are those, by their SHA-256.
    pub(crate) fn asks(&self, golds: &[String], system: &str) -> bool {
        self.golds().is_some_and(|of_run| of_run == golds)
            && self
                .content
                .iter()
                .flat_map(|content| &content.systems)
                .any(|listed_system| listed_system.name == system)
    }

    /// SHA-256 of its golds; `None` where it cannot be read.
    pub(crate) fn golds(&self) -> Option<Vec<String>> {
        Some(self.content.as_ref()?.golds.iter().map(|(_, sha256)| sha256.clone()).collect())
    }

    /// By what runs stand in the order of time: when they ran, as they recorded it, then when they were last written to.
    pub(crate) fn time(&self) -> (Option<String>, u64) {
        (self.content.as_ref().and_then(|content| content.now.clone()), self.changed)
    }
}

impl RunContent {
    fn read(path: &Path) -> Result<Self, ViewError> {
        let manifest = read_manifest(path)?;
        let RunFiles { items, summary, .. } = RunFiles::open(path)?;
        let summary = summary.map_or_else(|| SummaryBuilder::of(&manifest, &items), Ok)?;
        Ok(Self::of(manifest, &summary))
    }

    fn of(manifest: Manifest, summary: &Summary) -> Self {
        let systems = summary.systems.iter().map(|system| {
            let scores = system.scores.iter();
            let row = scores
                .map(|(metric, score)| (metric.clone(), (score.mean, score.low, score.high, score.count)));
            SystemRow { name: system.system.clone(), scores: row.collect() }
        });
        let golds = manifest.inputs.iter().filter(|input| input.role.starts_with("gold"));
        Self {
            questions: manifest.examples,
            part: sqlgauge_report::part(&manifest),
            golds: golds.map(|gold| (gold.path.clone(), gold.sha256.clone())).collect(),
            systems: systems.collect(),
            total: manifest.total(),
            now: manifest.options.get(sqlgauge_core::NOW).and_then(|now| now.as_str()).map(str::to_owned),
            done: summary.systems.iter().flat_map(|system| system.statuses.values()).sum(),
            tool: manifest.tool_version,
            engine: manifest.engine,
            metrics: manifest.metrics,
        }
    }
}
