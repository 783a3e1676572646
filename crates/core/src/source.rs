//! Where an input comes from.

use std::borrow::Borrow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sqlgauge_dataset::{DatasetError, FileFormat, Input as Text};
use sqlgauge_run::{InputRecord, RunError, digest_inputs, sha256_of_bytes};

/// A file, or JSON lines in memory that have a name.
#[derive(Debug, Clone)]
pub enum Source {
    /// A file.
    File(PathBuf),
    /// A file that keeps what a person gave under another name, as what came over standard input.
    Kept {
        /// The file.
        file: PathBuf,
        /// The name, for messages and for the record of a run.
        given: PathBuf,
    },
    /// What a file of JSON lines of that name would hold.
    Memory {
        /// The name, for messages and for the record of a run.
        name: PathBuf,
        /// The content; clones share it.
        bytes: Arc<Vec<u8>>,
    },
}

/// A file without a name, for who fills it in later.
impl Default for Source {
    fn default() -> Self {
        Self::File(PathBuf::new())
    }
}

impl From<PathBuf> for Source {
    fn from(path: PathBuf) -> Self {
        Self::File(path)
    }
}

impl From<&Path> for Source {
    fn from(path: &Path) -> Self {
        Self::File(path.to_owned())
    }
}

impl From<&str> for Source {
    fn from(path: &str) -> Self {
        Self::File(path.into())
    }
}

impl Source {
    /// What a person calls it: the file, or the name.
    pub fn path(&self) -> &Path {
        match self {
            Self::File(path) | Self::Kept { given: path, .. } | Self::Memory { name: path, .. } => path,
        }
    }

    /// The file that holds the content, if one does.
    pub fn file(&self) -> Option<&Path> {
        match self {
            Self::File(path) | Self::Kept { file: path, .. } => Some(path),
            Self::Memory { .. } => None,
        }
    }

    /// The format, where it need not be detected; `given` is what a user said of files.
    ///
    /// # Errors
    /// Never: JSON lines are a format.
    pub(crate) fn format(&self, format: Option<FileFormat>) -> Result<Option<FileFormat>, DatasetError> {
        match self {
            Self::File(path) if path.is_dir() => "jsonl".parse().map(Some),
            Self::File(_) | Self::Kept { .. } => Ok(format),
            Self::Memory { .. } => "jsonl".parse().map(Some),
        }
    }

    /// The folder, if it is one: of files `ID.sql` with an answer each, which are read as rows.
    fn folder(&self) -> Option<&Path> {
        self.file().filter(|path| path.is_dir())
    }

    /// The content.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn read(&self) -> Result<Text, DatasetError> {
        if let Some(folder) = self.folder() {
            return Ok(Text::from_bytes(folder, rows_of_folder(folder)?));
        }
        match self {
            Self::File(path) | Self::Kept { file: path, .. } => Text::read(path),
            Self::Memory { name, bytes } => Ok(Text::of_shared(name, Arc::clone(bytes))),
        }
    }

    /// The content, for a reader of benchmarks or predictions; a large file of JSON lines stays on disk. `given` is the format that a
    /// user named.
    pub(crate) fn read_rows(&self, format: Option<FileFormat>) -> Result<Text, DatasetError> {
        match self.file().filter(|file| format.is_none() && !file.is_dir()) {
            Some(file) => Text::read_or_leave(file),
            None => self.read(),
        }
    }
}

/// The files `ID.sql` of a folder as JSON lines, in the order of their names. A file holds one answer, whatever its lines.
fn rows_of_folder(folder: &Path) -> Result<Vec<u8>, DatasetError> {
    let refused = |source| DatasetError::Read { path: folder.to_owned(), source };
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(refused)? {
        let path = entry.map_err(refused)?.path();
        if path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("sql")) && path.is_file() {
            files.push(path);
        }
    }
    if files.is_empty() {
        return Err(DatasetError::NotReadable {
            path: folder.to_owned(),
            problem: "is a folder without a file that ends in .sql".to_owned(),
            remedy: "give a file, or a folder with a file ID.sql for each question".to_owned(),
        });
    }
    files.sort_unstable();
    let mut rows = String::new();
    for path in files {
        let id = path.file_stem().unwrap_or_default().to_string_lossy();
        let sql = Text::read(&path)?;
        let row = serde_json::json!({"id": id, "sql": String::from_utf8_lossy(sql.bytes()).trim()});
        rows.push_str(&row.to_string());
        rows.push('\n');
    }
    Ok(rows.into_bytes())
}

/// The records of inputs with those roles, in their order.
///
/// # Errors
/// When a file cannot be read.
pub(crate) fn digest_sources<S: Borrow<Source>>(
    sources: &[(String, S)],
) -> Result<Vec<InputRecord>, RunError> {
    let is_file = |source: &Source| source.folder().is_none();
    let files = sources.iter().filter(|(_, source)| is_file(source.borrow()));
    let files: Vec<(String, PathBuf)> =
        files.filter_map(|(role, source)| Some((role.clone(), source.borrow().file()?.to_owned()))).collect();
    let mut digested = digest_inputs(&files)?.into_iter();
    let of_one = |(role, source): &(String, S)| {
        let source = source.borrow();
        let sha256 = match source {
            _ if !is_file(source) => sha256_of_bytes(source.read().ok()?.bytes()),
            Source::File(_) | Source::Kept { .. } => digested.next()?.sha256,
            Source::Memory { bytes, .. } => sha256_of_bytes(bytes),
        };
        Some(InputRecord { role: role.clone(), path: source.path().display().to_string(), sha256 })
    };
    Ok(sources.iter().filter_map(of_one).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_and_file_of_one_content_have_one_digest_and_keep_their_order() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("gold.jsonl");
        std::fs::write(&path, "{}").expect("a file");
        let memory = Source::Memory { name: "frame".into(), bytes: b"{}".to_vec().into() };
        let copy = Source::Kept { file: path.clone(), given: "-".into() };
        let file = Source::File(path);
        let sources = [("a", &memory), ("b", &file), ("c", &copy), ("d", &memory)]
            .map(|(role, of)| (role.to_owned(), of));
        let inputs = digest_sources(&sources).expect("all can be read");
        let roles: Vec<&str> = inputs.iter().map(|input| input.role.as_str()).collect();
        assert_eq!(roles, ["a", "b", "c", "d"]);
        assert!(inputs.iter().all(|input| input.sha256 == inputs[0].sha256));
        assert_eq!((inputs[0].path.as_str(), inputs[2].path.as_str()), ("frame", "-"));
    }
}
