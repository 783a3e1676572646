//! Labels that people give: `PERSON/RUN/SYSTEM.jsonl` below the folder of labels, in a form that `sqlgauge import --correct` reads.
//!
//! A file holds the last label of each item, in the order in which they were first given. Each person has a folder, so that the
//! folders of several people can be laid beside each other. A label counts for the answer that was shown; one of an earlier answer
//! stays in the file, and is counted apart.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sqlgauge_base::rows::{Rows, turn};
use sqlgauge_estimate::labelling::{LabelRow, Verdict};
use sqlgauge_run::{Item, Items, RunFiles, sha256_of_bytes};

use crate::agreement::{Agreement, agreement};
use crate::runs::{FoundRun, find_runs};
use crate::{Dashboard, ViewError};

/// A label that is given, or taken back.
#[derive(Deserialize)]
pub(crate) struct Given {
    run: String,
    system: String,
    id: String,
    verdict: Option<Verdict>,
    /// SHA-256 of the prediction that the page shows.
    shown: String,
}

/// SHA-256 of the answer of an item; `None` where the log has only its beginning.
fn shown_of(item: &Item) -> Option<String> {
    item.details.whole_answer().map(|answer| sha256_of_bytes(answer.as_bytes()))
}

/// Whether a label is of the answer that the run has now.
fn is_current(row: &LabelRow, items: &Items) -> Result<bool, ViewError> {
    let item = items.find(&row.system, &row.id)?;
    Ok(item.as_ref().and_then(shown_of).is_some_and(|digest| digest == row.shown))
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
    earlier: usize,
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

    /// This person's labels of a system: by item the verdict, and whether it is of the answer that the run
    /// has now.
    pub(crate) fn labels_of(&self, run: &str, system: &str) -> Result<Value, ViewError> {
        let run = self.run(run)?;
        let rows: Rows<LabelRow> = Rows::read(self.labels_file(&run, system))?;
        let items = RunFiles::open(&run.path)?.items;
        let label = |row: &LabelRow| {
            let of = json!({"verdict": row.verdict, "current": is_current(row, &items)?});
            Ok((row.id.clone(), of))
        };
        rows.iter().map(label).collect::<Result<_, ViewError>>().map(Value::Object)
    }

    /// All labels of all people, by run and system, and why some of them cannot be read.
    pub(crate) fn labelled(&self) -> Result<Value, ViewError> {
        let people = folders_of(&self.options.labels);
        let (mut systems, mut problems) = (Vec::new(), Vec::new());
        for run in find_runs(&self.options.folders)? {
            let files: Vec<PathBuf> =
                people.iter().flat_map(|person| files_of(&person.join(&run.id))).collect();
            match labelled_of(&run, files, &mut problems) {
                Ok(of_run) => systems.extend(of_run),
                Err(error) => problems.push(sqlgauge_core::sentence(&error)),
            }
        }
        Ok(json!({"systems": systems, "problems": problems}))
    }

    /// Stores a label of the answer that was shown. Without a verdict it removes the item's label.
    pub(crate) fn label(&self, judgement: Given) -> Result<(), ViewError> {
        let Given { run, system, id, verdict, shown: digest } = judgement;
        let run = self.run(&run)?;
        let Some(item) = RunFiles::open(&run.path)?.items.find(&system, &id)? else {
            return Err(ViewError::UnknownItem { system, id });
        };
        match shown_of(&item) {
            None => return Err(ViewError::Cut { system, id }),
            Some(current) if current != digest => {
                return Err(ViewError::Changed { what: format!("the answer of {system:?} to {id:?}") });
            }
            Some(_) => {}
        }
        let _one_at_a_time = self.labelling.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let _turn = turn(&self.own_folder())?;
        let mut rows = Rows::read(self.labels_file(&run, &system))?;
        let row = verdict.map(|verdict| LabelRow {
            system,
            run: run.name,
            shown: digest,
            ..LabelRow::new(id.clone(), verdict, self.options.labeller.clone())
        });
        rows.put(row, |row: &LabelRow| row.id == id)?;
        Ok(rows.commit([rows.prepared()?])?)
    }
}

/// The labels of a run by system. What cannot be read is told to `problems`.
fn labelled_of(
    run: &FoundRun,
    files: Vec<PathBuf>,
    problems: &mut Vec<String>,
) -> Result<Vec<Labelled>, ViewError> {
    if files.is_empty() {
        return Ok(Vec::new());
    }
    let items = RunFiles::open(&run.path)?.items;
    let mut systems: BTreeMap<String, Vec<Vec<(LabelRow, bool)>>> = BTreeMap::new();
    for file in files {
        let rows: Vec<LabelRow> = match Rows::read(file) {
            Ok(rows) => rows.into_rows(),
            Err(error) => {
                problems.push(sqlgauge_core::sentence(&error));
                continue;
            }
        };
        let Some(system) = rows.first().map(|row| row.system.clone()) else { continue };
        let with_state = |row: LabelRow| Ok((is_current(&row, &items)?, row)).map(|(is, row)| (row, is));
        let rows: Vec<_> = rows.into_iter().map(with_state).collect::<Result<_, ViewError>>()?;
        systems.entry(system).or_default().push(rows);
    }
    Ok(systems.into_iter().map(|(system, of)| Labelled::of(run, system, of)).collect())
}

impl Labelled {
    /// Of the labels of each person, each with whether it counts.
    fn of(run: &FoundRun, system: String, of_people: Vec<Vec<(LabelRow, bool)>>) -> Self {
        let people = of_people.iter().filter_map(|rows| Person::of(rows)).collect();
        let current = |rows: Vec<(LabelRow, bool)>| -> Vec<LabelRow> {
            rows.into_iter().filter(|(_, is_current)| *is_current).map(|(row, _)| row).collect()
        };
        let of_people: Vec<Vec<LabelRow>> = of_people.into_iter().map(current).collect();
        let pairs = of_people.iter().enumerate().flat_map(|(at, first)| {
            of_people[at + 1..].iter().filter_map(move |second| Pair::of(first, second))
        });
        Self { run: run.id.clone(), name: run.name.clone(), system, people, pairs: pairs.collect() }
    }
}

impl Person {
    fn of(rows: &[(LabelRow, bool)]) -> Option<Self> {
        let by = rows.first()?.0.by.clone();
        let current = || rows.iter().filter(|(_, is_current)| *is_current);
        let count = |verdict| current().filter(|(row, _)| row.verdict == verdict).count();
        let [right, wrong, unsure] = [Verdict::Right, Verdict::Wrong, Verdict::Unsure].map(count);
        Some(Self { by, right, wrong, unsure, earlier: rows.len() - current().count() })
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
