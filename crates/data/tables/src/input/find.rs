//! Finds the tables among the files below a folder.

use std::fs;
use std::path::{Path, PathBuf};

use super::{Refused, unreadable};
use crate::error::TablesError;
use crate::report::FileRefusal;

pub(crate) const ENDINGS: [&str; 4] = ["csv", "tsv", "txt", "parquet"];

#[derive(Debug, Clone)]
pub(crate) struct Source {
    pub(crate) path: PathBuf,
    /// Its path below the folder, with `/` between its parts and behind a folder that is not read.
    pub(crate) name: String,
    /// The end of its name in lower case.
    pub(crate) ending: String,
    /// Why it is not to be read.
    pub(crate) closed: Option<Refused>,
}

impl Source {
    pub(crate) fn is_table(&self) -> bool {
        !self.is_folder() && ENDINGS.contains(&self.ending.as_str())
    }

    /// Whether it is a folder that is not read.
    pub(crate) fn is_folder(&self) -> bool {
        self.name.ends_with('/')
    }

    /// The name of the table: that of the file.
    pub(crate) fn stem(&self) -> String {
        self.path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
    }

    /// The path of its folder below that of the tables.
    pub(crate) fn folder(&self) -> &str {
        self.name.rsplit_once('/').map_or("", |(folder, _)| folder)
    }
}

/// All files below a folder in the order of their paths. Links to folders are not followed, so that there is an end, and
/// links to files that lie elsewhere are found but not to be read, as are folders that the system refuses to list.
pub(crate) fn find(folder: &Path) -> Result<Vec<Source>, TablesError> {
    let refused = |source| TablesError::Read { path: folder.to_owned(), source };
    let root = fs::canonicalize(folder).map_err(refused)?;
    let (mut sources, mut open) = (Vec::new(), Vec::new());
    list(&root, folder, "", &mut sources, &mut open).map_err(refused)?;
    while let Some((path, name)) = open.pop() {
        if let Err(error) = list(&root, &path, &name, &mut sources, &mut open) {
            let closed = Some(unreadable(&error));
            sources.push(Source { path, name: format!("{name}/"), ending: String::new(), closed });
        }
    }
    sources.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(sources)
}

/// Adds the files of a folder, and the folders in it with their names.
fn list(
    root: &Path,
    folder: &Path,
    name: &str,
    sources: &mut Vec<Source>,
    open: &mut Vec<(PathBuf, String)>,
) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let file_name = entry.file_name().to_string_lossy().into_owned();
        let name = if name.is_empty() { file_name.clone() } else { format!("{name}/{file_name}") };
        let kind = entry.file_type()?;
        if file_name.starts_with('.') {
            continue;
        }
        if kind.is_dir() {
            open.push((entry.path(), name));
        } else {
            let ending =
                file_name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase()).unwrap_or_default();
            let path = entry.path();
            let closed = kind.is_symlink().then(|| closed(root, &path)).flatten();
            let name = if path.is_dir() { format!("{name}/") } else { name };
            sources.push(Source { path, name, ending, closed });
        }
    }
    Ok(())
}

/// Why what a link leads to is not read.
fn closed(root: &Path, link: &Path) -> Option<Refused> {
    let out = |detail: &str| Some(Refused::new(FileRefusal::LinkOut, detail));
    match fs::canonicalize(link) {
        Err(error) => Some(unreadable(&error)),
        Ok(target) if target.is_dir() => {
            out("it is a link to a folder, which is not followed; put a copy in its place")
        }
        Ok(target) if !target.starts_with(root) => {
            out("it is a link out of the folder; put a copy of the file in its place")
        }
        Ok(_) => None,
    }
}
