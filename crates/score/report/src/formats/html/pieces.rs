//! The items of a large run, in files beside the page.
//!
//! | file | content |
//! |---|---|
//! | `examples` | per example its labels, without texts |
//! | `columns-S` | statuses and scores of system S |
//! | `examples-K` | the texts of the examples of piece K |
//! | `items-S-K` | details of system S on those examples, as the log has them; a number: as that system's |
//! | `made.json` | for a server: what they were made of, and the XXH3 of each |
//!
//! A page that was opened from disk may not request a file, but it may load a script. So there each file is a call of
//! `sqlgaugePiece` with the name of the file and a text that is JSON, and its name ends in `.js`. A server sends the JSON
//! itself, and the names end in `.json`. The folder is prepared beside its place and takes it when it is whole.
//!
//! Beside a report every file is written anew: a run folder may come from a stranger, and so may its `made.json`. A server keeps
//! what was made of the same log by the same version and is whole, in a folder that only its user writes to.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};
use sqlgauge_base::regular;
use sqlgauge_run::{DetailOf, RawItem, Reasons, sha256_of_bytes, xxh3_of};
use twox_hash::XxHash3_64;

use super::columns::Cells;
use super::data::InPieces;
use super::said::Example;
use crate::{Report, ReportError};

/// Items of all systems in one piece, near enough: what a page of the list has to load.
const ITEMS_TOGETHER: usize = 10_000;
/// Examples of a piece, so that neither the files nor their number become large.
const LEAST_EXAMPLES: usize = 100;
const MOST_EXAMPLES: usize = 1000;
/// Another where the files of one log are to be others than before.
const FORMAT: u32 = 4;
const MADE: &str = "made.json";
/// What makes an answer wrong, among its details; not a name of the log.
pub(super) const WHY: &str = "why";

/// What the files are and what they were made of.
#[derive(Serialize, Deserialize)]
struct PieceManifest {
    /// [`made_of`] the report; `None` where its items have no index.
    of: Option<String>,
    size: usize,
    /// The statuses that the columns point to.
    statuses: Vec<String>,
    /// XXH3 by name.
    files: BTreeMap<String, String>,
}

/// What tells the files of that report from others; `None` where only reading all items would.
fn made_of(report: &Report) -> Option<String> {
    let names: Vec<&str> = report.summary.systems.iter().map(|system| system.system.as_str()).collect();
    let made_of =
        (FORMAT, env!("CARGO_PKG_VERSION"), &report.summary.metrics, names, report.items.fingerprint()?);
    Some(sha256_of_bytes(&serde_json::to_vec(&made_of).ok()?))
}

/// How a file of pieces holds its JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Carrier {
    Script,
    Json,
}

impl Carrier {
    fn file(self, name: &str) -> String {
        let extension = match self {
            Self::Script => "js",
            Self::Json => "json",
        };
        format!("{name}.{extension}")
    }

    fn text(self, name: &str, quoted: Quoted) -> String {
        match self {
            // A text of JSON, not an object: in a script an object may have keys that mean something.
            Self::Script => format!("sqlgaugePiece('{name}','{}');\n", quoted.text),
            Self::Json => quoted.text,
        }
    }
}

/// Statuses and pieces of that page of a server, if they are there as this report would make them.
pub(super) fn kept(page: &Path, report: &Report) -> Option<(Vec<String>, InPieces)> {
    let folder = folder_of(page);
    let manifest: PieceManifest = serde_json::from_slice(&regular::read(folder.join(MADE)).ok()?).ok()?;
    if manifest.of? != made_of(report)? {
        return None;
    }
    let is_kept = |(name, hash): (&String, &String)| {
        let file = Carrier::Json.file(name);
        let hash_of = || xxh3_of(&mut regular::open(folder.join(&file))?);
        is_piece(&file) && hash_of().is_ok_and(|now| written(now) == *hash)
    };
    let are_kept = manifest.files.par_iter().all(is_kept);
    are_kept.then(|| (manifest.statuses, InPieces { folder: name_of(&folder), size: manifest.size }))
}

fn written(hash: u64) -> String {
    format!("{hash:016x}")
}

fn name_of(folder: &Path) -> String {
    folder.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

pub(super) fn folder_of(page: &Path) -> PathBuf {
    let mut name = page.file_stem().unwrap_or_default().to_owned();
    name.push("-items");
    page.with_file_name(name)
}

/// Removes the pieces of an earlier report.
///
/// # Errors
/// [`ReportError::ForeignFolder`] when the folder holds something else.
pub(super) fn remove(folder: &Path) -> Result<(), ReportError> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    for entry in entries {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if !is_piece(&name) {
            return Err(ReportError::ForeignFolder { path: folder.to_owned(), entry: name });
        }
    }
    Ok(fs::remove_dir_all(folder)?)
}

fn is_piece(name: &str) -> bool {
    if name == MADE {
        return true;
    }
    let stem = name.strip_suffix(".json").or_else(|| name.strip_suffix(".js")).unwrap_or_default();
    let parts: Vec<&str> = stem.split('-').collect();
    let are_numbers = |numbers: &[&str]| numbers.iter().all(|number| number.parse::<usize>().is_ok());
    match parts.as_slice() {
        ["examples"] => true,
        ["examples" | "columns", number] => are_numbers(&[number]),
        ["items", system, piece] => are_numbers(&[system, piece]),
        _ => false,
    }
}

/// The files while the items pass by: system by system, and of a system in the order of the examples.
pub(super) struct Pieces {
    folder: PathBuf,
    prepared: PathBuf,
    pub(super) carrier: Carrier,
    size: usize,
    made_of: Option<String>,
    /// System and number of the piece that is being filled.
    open: (usize, usize),
    /// What it holds, by example.
    items: Vec<Option<Quoted>>,
    files: BTreeMap<String, String>,
}

/// A value as JSON, for a script inside a text of it: what [`Pieces`] put together without a look at it.
pub(super) struct Quoted {
    carrier: Carrier,
    text: String,
}

impl Quoted {
    pub(super) fn of(carrier: Carrier, value: &impl Serialize) -> Result<Self, serde_json::Error> {
        let mut quoted = Self { carrier, text: String::new() };
        quoted.push(&serde_json::to_string(value)?);
        Ok(quoted)
    }

    /// An object of values that are JSON.
    pub(super) fn of_object<'a>(
        carrier: Carrier,
        fields: impl Iterator<Item = (&'a str, &'a RawValue)> + Clone,
    ) -> Result<Self, serde_json::Error> {
        // With the marks around a key, and some room for escapes.
        let length: usize = fields.clone().map(|(key, value)| key.len() + value.get().len() + 4).sum();
        let mut quoted = Self { carrier, text: String::with_capacity(length + length / 8 + 2) };
        quoted.text.push('{');
        for (at, (key, value)) in fields.enumerate() {
            if at > 0 {
                quoted.text.push(',');
            }
            quoted.push(&serde_json::to_string(key)?);
            quoted.text.push(':');
            quoted.push(value.get());
        }
        quoted.text.push('}');
        Ok(quoted)
    }

    /// Escapes what a script's text in single quotes may not have. JSON in one line has few of them. The end of a line, which JSON has
    /// between values only, vanishes with the escape before it.
    fn push(&mut self, json: &str) {
        let mut rest = json;
        if self.carrier == Carrier::Json {
            return self.text.push_str(rest);
        }
        while let Some(at) = rest.find(['\\', '\'', '\r', '\n']) {
            self.text.push_str(&rest[..at]);
            self.text.push('\\');
            self.text.push_str(&rest[at..=at]);
            rest = &rest[at + 1..];
        }
        self.text.push_str(rest);
    }
}

impl Pieces {
    pub(super) fn beside(page: &Path, report: &Report, carrier: Carrier) -> Result<Self, ReportError> {
        let folder = folder_of(page);
        let mut prepared = folder.clone().into_os_string();
        prepared.push(".tmp");
        let prepared = PathBuf::from(prepared);
        remove(&prepared)?;
        fs::create_dir(&prepared)?;
        let size =
            (ITEMS_TOGETHER / report.summary.systems.len().max(1)).clamp(LEAST_EXAMPLES, MOST_EXAMPLES);
        let (made_of, files) = (made_of(report), BTreeMap::new());
        Ok(Self { folder, prepared, carrier, size, made_of, open: (0, 0), items: Vec::new(), files })
    }

    /// The next item.
    pub(super) fn put(&mut self, system: usize, row: usize, item: Quoted) -> Result<(), ReportError> {
        let (piece, place) = (row / self.size, row % self.size);
        if self.open != (system, piece) {
            self.close()?;
            self.open = (system, piece);
        }
        if self.items.len() <= place {
            self.items.resize_with(place + 1, || None);
        }
        self.items[place] = Some(item);
        Ok(())
    }

    fn close(&mut self) -> Result<(), ReportError> {
        let items = std::mem::take(&mut self.items);
        if items.is_empty() {
            return Ok(());
        }
        let (system, piece) = self.open;
        let texts = items.iter().map(|item| item.as_ref().map_or("null", |item| item.text.as_str()));
        let length: usize = texts.clone().map(|text| text.len() + 1).sum();
        let mut list = String::with_capacity(length + 2);
        for (at, text) in texts.enumerate() {
            list.push(if at == 0 { '[' } else { ',' });
            list.push_str(text);
        }
        list.push(']');
        let quoted = Quoted { carrier: self.carrier, text: list };
        self.write(&format!("items-{system}-{piece}"), quoted)
    }

    fn write(&mut self, name: &str, quoted: Quoted) -> Result<(), ReportError> {
        let text = self.carrier.text(name, quoted);
        fs::write(self.prepared.join(self.carrier.file(name)), &text)?;
        self.files.insert(name.to_owned(), written(XxHash3_64::oneshot(text.as_bytes())));
        Ok(())
    }

    /// Writes what is left and puts the folder into its place; returns its name and the examples per piece.
    pub(super) fn finish(
        mut self,
        labels: &[Box<RawValue>],
        texts: &[Box<RawValue>],
        cells: &[Cells],
        statuses: &[String],
    ) -> Result<InPieces, ReportError> {
        let carrier = self.carrier;
        self.close()?;
        self.write("examples", Quoted::of(carrier, &labels)?)?;
        for (system, cells) in cells.iter().enumerate() {
            self.write(&format!("columns-{system}"), Quoted::of(carrier, cells)?)?;
        }
        for (piece, texts) in texts.chunks(self.size).enumerate() {
            self.write(&format!("examples-{piece}"), Quoted::of(carrier, &texts)?)?;
        }
        if carrier == Carrier::Json {
            let (of, files) = (self.made_of.take(), std::mem::take(&mut self.files));
            let manifest = PieceManifest { of, size: self.size, statuses: statuses.to_owned(), files };
            fs::write(self.prepared.join(MADE), serde_json::to_vec(&manifest)?)?;
        }
        remove(&self.folder)?;
        fs::rename(&self.prepared, &self.folder)?;
        Ok(InPieces { folder: name_of(&self.folder), size: self.size })
    }
}

/// An item that is shown alone: what the page checks that it is, the texts of its example, and its details.
#[derive(Serialize)]
struct SingleItem<'a> {
    system: &'a str,
    id: &'a str,
    texts: Box<RawValue>,
    details: BTreeMap<&'a str, &'a RawValue>,
}

/// A piece of lines of the log as they stand there, with what makes wrong answers wrong.
pub(super) fn of_lines(lines: &[Option<Vec<u8>>], reasons: &Reasons) -> Result<Vec<u8>, ReportError> {
    let items: Vec<Option<RawItem<'_>>> = lines
        .iter()
        .map(|line| line.as_ref().map(|line| serde_json::from_slice(line)).transpose())
        .collect::<Result<_, _>>()?;
    let single = |item: &'_ RawItem<'_>| -> Result<Box<RawValue>, serde_json::Error> {
        let why = reasons.of_raw(item)?.map(|reason| to_raw_value(&reason)).transpose()?;
        let of_answer = item.details.entries().filter(|(_, _, of)| *of != DetailOf::Example);
        let details = of_answer.map(|(name, value, _)| (name, value));
        to_raw_value(&SingleItem {
            system: &item.system,
            id: &item.id,
            texts: Example::of(item).in_two()?.1,
            details: details.chain(why.iter().map(|why| (WHY, &**why))).collect(),
        })
    };
    let singles: Vec<Option<Box<RawValue>>> =
        items.iter().map(|item| item.as_ref().map(single).transpose()).collect::<Result<_, _>>()?;
    Ok(serde_json::to_vec(&singles)?)
}

impl Drop for Pieces {
    fn drop(&mut self) {
        // Gone already where everything went well.
        let _ = remove(&self.prepared);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_holds_something_else_stays() {
        let folder = tempfile::tempdir().unwrap();
        let items = folder.path().join("report-items");
        assert_eq!(folder_of(&folder.path().join("report.html")), items);
        remove(&items).unwrap();
        fs::create_dir(&items).unwrap();
        for name in ["examples.js", "examples-0.json", "columns-1.js", "items-0-12.js", MADE] {
            fs::write(items.join(name), "").unwrap();
        }
        fs::write(items.join("notes.txt"), "mine").unwrap();
        let error = remove(&items).unwrap_err().to_string();
        assert!(error.contains("notes.txt") && items.join("examples.js").exists(), "{error}");
        fs::remove_file(items.join("notes.txt")).unwrap();
        remove(&items).unwrap();
        assert!(!items.exists());
    }
}
