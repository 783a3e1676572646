//! `-` in place of a file or of a query: standard input.
//!
//! A file is read in several places (its format, its rows, its digest), a pipe only once. So what comes in is kept
//! in a temporary file until the command ends ([`forget`]). One `-` per command: there is one standard input.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use sqlgauge_base::file::remedy;
use tempfile::TempDir;

use crate::source::Source;

/// The name of the file that keeps what came in; messages show it.
const NAME: &str = "standard input";

static KEPT: Mutex<Option<TempDir>> = Mutex::new(None);

/// The file that an argument names; `-` is standard input.
///
/// # Errors
/// When a second argument asks for standard input, or it cannot be read.
pub fn input_file(text: &str) -> Result<PathBuf, String> {
    if text != "-" {
        return Ok(PathBuf::from(text));
    }
    let failed = |error: io::Error| format!("standard input cannot be kept: {error}; {}", remedy(&error));
    let folder = new_folder().map_err(failed)?.ok_or_else(|| {
        "standard input can stand for one file only; write the other one to a file".to_owned()
    })?;
    let path = folder.join(NAME);
    let mut file = File::create(&path).map_err(failed)?;
    io::copy(&mut io::stdin().lock(), &mut file).map_err(failed)?;
    Ok(path)
}

/// A folder for standard input; `None` where there is one already. Not locked while standard input is read, which may
/// take for ever: a signal removes what came in until then.
fn new_folder() -> io::Result<Option<PathBuf>> {
    let mut folder = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if folder.is_some() {
        return Ok(None);
    }
    Ok(Some(folder.insert(TempDir::with_prefix("sqlgauge-")?).path().to_owned()))
}

/// The query that an argument is; `-` is standard input.
///
/// # Errors
/// As [`input_file`], and when what comes in is no text.
pub fn query(text: &str) -> Result<String, String> {
    if text != "-" {
        return Ok(text.to_owned());
    }
    let path = input_file(text)?;
    let mut query = String::new();
    File::open(&path)
        .and_then(|mut file| file.read_to_string(&mut query))
        .map_err(|error| format!("standard input is not a query in UTF-8: {error}"))?;
    Ok(query)
}

/// The path as a person gave it.
pub fn as_given(path: &Path) -> &Path {
    if is_kept(path) { Path::new("-") } else { path }
}

/// The file as an input, under the name that a person gave it.
pub fn source(file: PathBuf) -> Source {
    let name = as_given(&file);
    if name == file { Source::File(file) } else { Source::Kept { given: name.to_owned(), file } }
}

/// Whether the path is what standard input was kept in.
pub fn is_kept(path: &Path) -> bool {
    let folder = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    folder.as_ref().is_some_and(|of_stdin| path.parent() == Some(of_stdin.path()))
}

/// Removes what was kept.
pub fn forget() {
    KEPT.lock().unwrap_or_else(PoisonError::into_inner).take();
}
