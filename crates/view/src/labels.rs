//! Labels that people give: `PERSON/RUN/SYSTEM.jsonl` below the folder of labels, in a form that `sqlgauge import --correct` reads.
//!
//! A file holds the last label of each item, in the order in which they were first given, and is replaced as a whole. Each person has
//! a folder, so that the folders of several people can be laid beside each other.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use sqlgauge_base::{file, regular};
use sqlgauge_run::{RunFiles, sha256_of_bytes};

use crate::agreement::{Agreement, agreement};
use crate::runs::{FoundRun, find_runs};
use crate::{Dashboard, ViewError};

/// What a person says of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Verdict {
    Right,
    Wrong,
    Unsure,
}

/// A line of the file.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct LabelRow {
    pub(crate) id: String,
    /// 1, 0, or null where the person is not sure.
    correct: Option<u8>,
    pub(crate) verdict: Verdict,
    by: String,
    /// Seconds since 1970.
    at: u64,
    system: String,
    /// Name of the run as it was listed.
    run: String,
    /// SHA-256 of the prediction that was shown.
    shown: String,
}

/// A text as the name of a file: the same for no other text.
pub(crate) fn plain_name(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let name: String = text.chars().map(|c| if plain(c) { c } else { '_' }).take(80).collect();
    if name == text && !name.is_empty() {
        return name;
    }
    format!("{name}-{}", &sha256_of_bytes(text.as_bytes())[..8])
}

/// Seconds since 1970.
pub(crate) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs())
}

/// Writes lines of JSON in place of the file's.
pub(crate) fn write_lines<T: Serialize>(path: &Path, rows: &[T]) -> Result<(), ViewError> {
    let about = |source| ViewError::Write { path: path.to_owned(), source };
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(about)?;
    }
    file::write_atomically(path, |out| {
        rows.iter().try_for_each(|row| {
            serde_json::to_writer(&mut *out, row)?;
            out.write_all(b"\n")
        })
    })
    .map_err(about)
}

/// The lines of a file that are of that form; a file that is not there has none.
pub(crate) fn read_lines<T: for<'de> Deserialize<'de>>(path: &Path) -> Vec<T> {
    let text = regular::read_to_string(path).unwrap_or_default();
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

/// The labels of one system of a run, by all who gave some.
#[derive(Serialize)]
pub(crate) struct Labelled {
    run: String,
    name: String,
    system: String,
    people: Vec<Person>,
    pairs: Vec<Pair>,
}

#[derive(Serialize)]
struct Person {
    by: String,
    right: usize,
    wrong: usize,
    unsure: usize,
}

/// What two people say of the same items.
#[derive(Serialize)]
struct Pair {
    first: String,
    second: String,
    #[serde(flatten)]
    agreement: Agreement,
    /// The items on which they differ: id, and what each says.
    differ: Vec<(String, Verdict, Verdict)>,
}

impl Dashboard {
    /// The folder of what this person says.
    pub(crate) fn own_folder(&self) -> PathBuf {
        self.options.labels.join(plain_name(&self.options.labeller))
    }

    fn labels_file(&self, run: &FoundRun, system: &str) -> PathBuf {
        self.own_folder().join(&run.id).join(format!("{}.jsonl", plain_name(system)))
    }

    /// This person's labels of a system.
    pub(crate) fn labels(&self, run: &FoundRun, system: &str) -> Vec<LabelRow> {
        read_lines(&self.labels_file(run, system))
    }

    /// All labels of all people, by run and system.
    pub(crate) fn labelled(&self) -> Result<Vec<Labelled>, ViewError> {
        let people = folders_of(&self.options.labels);
        let mut all = Vec::new();
        for run in find_runs(&self.options.folders)? {
            let mut systems: BTreeMap<String, Vec<Vec<LabelRow>>> = BTreeMap::new();
            for file in people.iter().flat_map(|person| files_of(&person.join(&run.id))) {
                let rows: Vec<LabelRow> = read_lines(&file);
                if let Some(first) = rows.first() {
                    systems.entry(first.system.clone()).or_default().push(rows);
                }
            }
            all.extend(systems.into_iter().map(|(system, of)| Labelled::of(&run, system, &of)));
        }
        Ok(all)
    }

    /// Keeps a label, or takes the item's back where there is none.
    pub(crate) fn label(
        &self,
        run: &FoundRun,
        system: &str,
        id: &str,
        verdict: Option<Verdict>,
    ) -> Result<(), ViewError> {
        let unknown = || ViewError::UnknownItem { system: system.to_owned(), id: id.to_owned() };
        let item = RunFiles::open(&run.path)?.items.find(system, id)?.ok_or_else(unknown)?;
        let _one_at_a_time = self.labelling.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let mut rows = self.labels(run, system);
        let row = verdict.map(|verdict| LabelRow {
            id: id.to_owned(),
            correct: match verdict {
                Verdict::Right => Some(1),
                Verdict::Wrong => Some(0),
                Verdict::Unsure => None,
            },
            verdict,
            by: self.options.labeller.clone(),
            at: now(),
            system: system.to_owned(),
            run: run.name.clone(),
            shown: sha256_of_bytes(item.details.prediction.as_deref().unwrap_or_default().as_bytes()),
        });
        match (rows.iter().position(|row| row.id == id), row) {
            (Some(place), Some(row)) => rows[place] = row,
            (Some(place), None) => drop(rows.remove(place)),
            (None, Some(row)) => rows.push(row),
            (None, None) => return Ok(()),
        }
        write_lines(&self.labels_file(run, system), &rows)
    }
}

impl Labelled {
    fn of(run: &FoundRun, system: String, of_people: &[Vec<LabelRow>]) -> Self {
        let pairs = of_people.iter().enumerate().flat_map(|(at, first)| {
            of_people[at + 1..].iter().filter_map(move |second| Pair::of(first, second))
        });
        Self {
            run: run.id.clone(),
            name: run.name.clone(),
            system,
            people: of_people.iter().filter_map(|rows| Person::of(rows)).collect(),
            pairs: pairs.collect(),
        }
    }
}

impl Person {
    fn of(rows: &[LabelRow]) -> Option<Self> {
        let by = rows.first()?.by.clone();
        let count = |verdict| rows.iter().filter(|row| row.verdict == verdict).count();
        let [right, wrong, unsure] = [Verdict::Right, Verdict::Wrong, Verdict::Unsure].map(count);
        Some(Self { by, right, wrong, unsure })
    }
}

impl Pair {
    /// Of two people who labelled an item in common, as it was shown to both.
    fn of(first: &[LabelRow], second: &[LabelRow]) -> Option<Self> {
        let of_second: BTreeMap<(&str, &str), Verdict> =
            second.iter().map(|row| ((row.id.as_str(), row.shown.as_str()), row.verdict)).collect();
        let both: Vec<(&str, Verdict, Verdict)> = first
            .iter()
            .filter_map(|row| Some((row.id.as_str(), row.verdict, *of_second.get(&(&*row.id, &*row.shown))?)))
            .collect();
        let sure = both.iter().filter(|(_, a, b)| *a != Verdict::Unsure && *b != Verdict::Unsure);
        let agreement = agreement(sure.map(|(_, a, b)| (*a == Verdict::Right, *b == Verdict::Right)));
        let differ = both.iter().filter(|(_, a, b)| a != b).map(|(id, a, b)| ((*id).to_owned(), *a, *b));
        let (a, b) = (first.first()?, second.first()?);
        (!both.is_empty()).then(|| Self {
            first: a.by.clone(),
            second: b.by.clone(),
            agreement,
            differ: differ.collect(),
        })
    }
}

/// The folders in a folder, by name; links are not followed.
fn folders_of(path: &Path) -> Vec<PathBuf> {
    entries(path, std::fs::FileType::is_dir)
}

/// The files of JSON lines in a folder, by name.
fn files_of(path: &Path) -> Vec<PathBuf> {
    let mut files = entries(path, std::fs::FileType::is_file);
    files.retain(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
    files
}

fn entries(path: &Path, kind: impl Fn(&std::fs::FileType) -> bool) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(path) else { return Vec::new() };
    let wanted = entries.flatten().filter(|entry| entry.file_type().is_ok_and(|of| kind(&of)));
    let mut paths: Vec<PathBuf> = wanted.map(|entry| entry.path()).collect();
    paths.sort_unstable();
    paths
}
