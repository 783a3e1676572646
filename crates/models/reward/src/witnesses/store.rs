//! Witnesses as files: one SQL script each, which a `sqlite3` shell reads too.

use std::fmt::Write as _;
use std::fs;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Value, json};
use sqlgauge_base::file::{AtomicFile, remedy};
use sqlgauge_base::regular;
use sqlgauge_search::Witness;

use super::base::Base;
use super::{FORMAT, MOST, QuestionWitnesses, StoredWitness};
use crate::error::RewardError;
use crate::golds::Gold;

/// What says that the first witnesses have been made, and of what.
const BASE: &str = "base.json";

/// Characters of a `db_id` that a folder's name has.
const MAX_NAME: usize = 64;

/// Largest file that is read; ours have some hundred bytes.
const MAX_BYTES: u64 = 1 << 20;

/// The folder of one question.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
}

impl Folder {
    pub(super) fn new(root: &Path, db_id: &str, name: &str) -> Self {
        // With one database for all questions a db_id may be anything: it must not lead out of the folder.
        let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
        let db_id: String = db_id.chars().take(MAX_NAME).map(plain).collect();
        Self { path: root.join(format!("db-{db_id}")).join(name) }
    }

    /// What is there, of which `witnesses` need not be read again; `None` if the first witnesses have not been made.
    pub(super) fn read(
        &self,
        witnesses: Option<&Arc<QuestionWitnesses>>,
    ) -> Result<Option<Arc<QuestionWitnesses>>, RewardError> {
        let base = match witnesses {
            Some(witnesses) => Some(witnesses.with([])),
            None => self.read_base()?,
        };
        let Some(base) = base else { return Ok(None) };
        let mut names = self.names()?;
        names.truncate(MOST);
        if let Some(witnesses) =
            witnesses.filter(|witnesses| witnesses.list.iter().map(|item| &item.name).eq(&names))
        {
            return Ok(Some(Arc::clone(witnesses)));
        }
        let list: Result<Vec<Arc<StoredWitness>>, RewardError> = names
            .iter()
            .map(|name| match base.list.iter().find(|item| item.name == *name) {
                Some(item) => Ok(Arc::clone(item)),
                None => self.read_witness(name).map(Arc::new),
            })
            .collect();
        Ok(Some(Arc::new(QuestionWitnesses { list: list?, ..base })))
    }

    /// The names of the witnesses, in order.
    fn names(&self) -> Result<Vec<String>, RewardError> {
        let entries = fs::read_dir(&self.path).map_err(|source| unreadable(&self.path, source))?;
        let mut names = Vec::new();
        for entry in entries {
            let path = entry.map_err(|source| unreadable(&self.path, source))?.path();
            let name =
                path.file_stem().filter(|_| path.extension().is_some_and(|extension| extension == "sql"));
            names.extend(name.map(|name| name.to_string_lossy().into_owned()));
        }
        names.sort_unstable();
        Ok(names)
    }

    /// What the marker of the first witnesses says.
    fn read_base(&self) -> Result<Option<QuestionWitnesses>, RewardError> {
        let path = self.path.join(BASE);
        let text = match text_of(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(unreadable(&path, error)),
        };
        let base: Value = serde_json::from_str(&text).map_err(|error| unreadable(&path, error.into()))?;
        let none = base["none"].as_str().map(str::to_owned);
        let has_repeats = base["has_repeats"] == true;
        Ok(Some(QuestionWitnesses { list: Vec::new(), none, has_repeats }))
    }

    fn read_witness(&self, name: &str) -> Result<StoredWitness, RewardError> {
        let path = self.path.join(format!("{name}.sql"));
        let text = text_of(&path).map_err(|source| unreadable(&path, source))?;
        let witness = Witness::of_script(&text)
            .map_err(|error| unreadable(&path, io::Error::other(error.to_string())))?;
        if witness.tables.is_empty() {
            return Err(unreadable(&path, io::Error::new(io::ErrorKind::InvalidData, "it creates no table")));
        }
        // The name of the file is what other processes know it by.
        Ok(StoredWitness { name: name.to_owned(), ..StoredWitness::new(witness) })
    }

    /// Writes the first witnesses, the marker last.
    pub(super) fn write_base(&self, gold: &Gold, base: &Base) -> Result<(), RewardError> {
        fs::create_dir_all(&self.path).map_err(|source| unwritable(&self.path, source))?;
        let marker = json!({
            "format": FORMAT, "gold": gold.text, "tried": base.tried, "told": base.unequal,
            "equal": base.equal, "none": base.none, "has_repeats": base.has_repeats,
        });
        for witness in &base.witnesses {
            self.write(witness, "")?;
        }
        put(&self.path.join(BASE), &format!("{marker}\n"))
    }

    /// Writes a witness that tells that answer from the gold.
    pub(super) fn write(&self, witness: &StoredWitness, answer: &str) -> Result<(), RewardError> {
        let mut text = String::new();
        for line in answer.lines() {
            // Writing to a String cannot fail.
            let _ = writeln!(text, "-- {}", line.replace('\0', " "));
        }
        text.push_str(&witness.script);
        put(&self.path.join(format!("{}.sql", witness.name)), &text)
    }
}

fn text_of(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    regular::open(path)?.take(MAX_BYTES + 1).read_to_string(&mut text)?;
    if text.len() as u64 > MAX_BYTES {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "it is too large to be a witness"));
    }
    Ok(text)
}

/// A file that is there already says the same: its name follows from what is in it.
fn put(path: &Path, text: &str) -> Result<(), RewardError> {
    if path.exists() {
        return Ok(());
    }
    let written = AtomicFile::create(path).and_then(|mut file| {
        file.write_all(text.as_bytes())?;
        file.commit()
    });
    written.map_err(|source| unwritable(path, source))
}

pub(super) fn unwritable(path: &Path, source: io::Error) -> RewardError {
    let remedy = remedy(&source);
    RewardError::Witnesses { path: path.to_owned(), what: "written", source, remedy }
}

fn unreadable(path: &Path, source: io::Error) -> RewardError {
    let remedy = "remove it, and it is made anew";
    RewardError::Witnesses { path: path.to_owned(), what: "read", source, remedy }
}
