//! Which files below a folder are tables.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::TablesError;

/// How the names of tables end.
pub(crate) const ENDINGS: [&str; 4] = ["csv", "tsv", "txt", "parquet"];

/// A file below the folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Source {
    pub(crate) path: PathBuf,
    /// Its path below the folder, with `/` between its parts.
    pub(crate) name: String,
    /// The end of its name in lower case.
    pub(crate) ending: String,
    /// Whether it is a link to a file outside of the folder of the tables.
    pub(crate) leads_out: bool,
}

impl Source {
    pub(crate) fn is_table(&self) -> bool {
        ENDINGS.contains(&self.ending.as_str())
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

/// All files below a folder in the order of their paths. Links to folders are not followed, so that there is an end,
/// and links to files that lie elsewhere are found but not to be read.
pub(crate) fn find(folder: &Path) -> Result<Vec<Source>, TablesError> {
    let refused = |source| TablesError::Read { path: folder.to_owned(), source };
    let root = fs::canonicalize(folder).map_err(refused)?;
    let mut found = Vec::new();
    let mut open = vec![(folder.to_owned(), String::new())];
    while let Some((path, name)) = open.pop() {
        let refused = |source| TablesError::Read { path: path.clone(), source };
        for entry in fs::read_dir(&path).map_err(refused)? {
            let entry = entry.map_err(refused)?;
            let own = entry.file_name().to_string_lossy().into_owned();
            let name = if name.is_empty() { own.clone() } else { format!("{name}/{own}") };
            let kind = entry.file_type().map_err(refused)?;
            if kind.is_dir() {
                open.push((entry.path(), name));
            } else if entry.path().is_file() && !own.starts_with('.') {
                let ending =
                    own.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase()).unwrap_or_default();
                let leads_out = kind.is_symlink() && !is_below(&root, &entry.path());
                found.push(Source { path: entry.path(), name, ending, leads_out });
            }
        }
    }
    found.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(found)
}

/// Whether the file that a link leads to lies below that folder.
fn is_below(root: &Path, link: &Path) -> bool {
    fs::canonicalize(link).is_ok_and(|target| target.starts_with(root))
}
