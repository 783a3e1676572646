//! The items of a large run, in files beside the page.
//!
//! | file | content |
//! |---|---|
//! | `examples.js` | per example its labels, without texts |
//! | `columns-S.js` | statuses and scores of system S |
//! | `examples-K.js` | the texts of the examples of piece K |
//! | `items-S-K.js` | prediction and details of system S on those examples; a number: as that system's |
//!
//! A page that was opened from disk may not request a file, but it may load a script. So each file is a call of
//! `sqlgaugePiece` with the name of the file and a text that is JSON. The folder is prepared beside its place and takes
//! it when it is whole.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::value::RawValue;

use super::data::Cells;
use crate::ReportError;

/// Items of all systems in one piece, near enough: what a page of the list has to load.
const ITEMS_TOGETHER: usize = 10_000;
/// Examples of a piece, so that neither the files nor their number become large.
const LEAST_EXAMPLES: usize = 100;
const MOST_EXAMPLES: usize = 1000;

/// The folder of the pieces of that page.
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
            return Err(ReportError::ForeignFolder { path: folder.to_owned(), found: name });
        }
    }
    Ok(fs::remove_dir_all(folder)?)
}

fn is_piece(name: &str) -> bool {
    let parts: Vec<&str> = name.strip_suffix(".js").unwrap_or_default().split('-').collect();
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
    size: usize,
    /// System and number of the piece that is being filled.
    open: (usize, usize),
    /// What it holds, by example.
    held: Vec<Option<Quoted>>,
}

/// A value as JSON inside a text that is JSON: what [`Pieces`] put together without a look at it.
pub(super) struct Quoted(String);

impl Quoted {
    pub(super) fn of(value: &impl Serialize) -> Result<Self, serde_json::Error> {
        let quoted = serde_json::to_string(&serde_json::to_string(value)?)?;
        // Without the quotes around it.
        Ok(Self(quoted[1..quoted.len() - 1].to_owned()))
    }
}

impl Pieces {
    /// Prepares the pieces of that page.
    pub(super) fn beside(page: &Path, systems: usize) -> Result<Self, ReportError> {
        let folder = folder_of(page);
        let mut prepared = folder.clone().into_os_string();
        prepared.push(".tmp");
        let prepared = PathBuf::from(prepared);
        remove(&prepared)?;
        fs::create_dir(&prepared)?;
        let size = (ITEMS_TOGETHER / systems.max(1)).clamp(LEAST_EXAMPLES, MOST_EXAMPLES);
        Ok(Self { folder, prepared, size, open: (0, 0), held: Vec::new() })
    }

    /// The next item.
    pub(super) fn put(&mut self, system: usize, row: usize, item: Quoted) -> Result<(), ReportError> {
        let (piece, place) = (row / self.size, row % self.size);
        if self.open != (system, piece) {
            self.close()?;
            self.open = (system, piece);
        }
        if self.held.len() <= place {
            self.held.resize_with(place + 1, || None);
        }
        self.held[place] = Some(item);
        Ok(())
    }

    fn close(&mut self) -> Result<(), ReportError> {
        let held = std::mem::take(&mut self.held);
        if held.is_empty() {
            return Ok(());
        }
        let (system, piece) = self.open;
        self.write(&format!("items-{system}-{piece}"), |out| {
            for (at, item) in held.iter().enumerate() {
                out.write_all(if at == 0 { b"[" } else { b"," })?;
                out.write_all(item.as_ref().map_or("null", |item| item.0.as_str()).as_bytes())?;
            }
            out.write_all(b"]")
        })
    }

    /// Writes a file; `put` writes JSON as it stands inside a text.
    fn write(
        &self,
        name: &str,
        put: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), ReportError> {
        let path = self.prepared.join(format!("{name}.js"));
        let mut out = BufWriter::with_capacity(1 << 16, File::create(path)?);
        // A text of JSON, not an object: in a script an object may have keys that mean something.
        write!(out, "sqlgaugePiece(\"{name}\",\"")?;
        put(&mut out)?;
        out.write_all(b"\");\n")?;
        Ok(out.flush()?)
    }

    fn write_value(&self, name: &str, value: &impl Serialize) -> Result<(), ReportError> {
        let quoted = Quoted::of(value)?;
        self.write(name, |out| out.write_all(quoted.0.as_bytes()))
    }

    /// Writes what is left and puts the folder into its place; returns its name and the examples per piece.
    pub(super) fn finish(
        mut self,
        labels: &[Box<RawValue>],
        texts: &[Option<Box<RawValue>>],
        cells: &[Cells],
    ) -> Result<(String, usize), ReportError> {
        self.close()?;
        self.write_value("examples", &labels)?;
        for (system, cells) in cells.iter().enumerate() {
            self.write_value(&format!("columns-{system}"), cells)?;
        }
        for (piece, texts) in texts.chunks(self.size).enumerate() {
            self.write_value(&format!("examples-{piece}"), &texts)?;
        }
        remove(&self.folder)?;
        fs::rename(&self.prepared, &self.folder)?;
        let name = self.folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok((name, self.size))
    }
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
        for name in ["examples.js", "examples-0.js", "columns-1.js", "items-0-12.js"] {
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
