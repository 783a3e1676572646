//! The databases that a corpus is made of.
//!
//! # Contract
//! A database is named by its folder or file. In the corpus its `db_id` is that name with every character that is not an
//! ASCII letter, a digit, `_` or `-` made `_`; two databases that come to one `db_id` are refused by name.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use sqlgauge_dataset::{Databases, DatasetError};

/// A database file and its name in the corpus.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CorpusSource {
    pub db_id: String,
    pub path: PathBuf,
}

/// Why there is nothing to make a corpus of.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// A folder that cannot be read.
    #[error(transparent)]
    Dataset(#[from] DatasetError),
    /// No database anywhere.
    #[error(
        "{} holds no database: there must be DB/DB.sqlite or DB.sqlite (or .sqlite3, .db) in it",
        folder.display()
    )]
    Nothing { folder: PathBuf },
    /// Two databases with one name.
    #[error("{} and {} would both be {db_id}: rename one of them", first.display(), second.display())]
    SameName {
        db_id: String,
        first: PathBuf,
        /// The other.
        second: PathBuf,
    },
}

/// All databases of those folders and files, in the order of their names.
///
/// # Errors
/// [`SourceError`].
pub fn sources(roots: &[PathBuf]) -> Result<Vec<CorpusSource>, SourceError> {
    let mut paths: BTreeMap<String, PathBuf> = BTreeMap::new();
    for root in roots {
        let all = Databases::open(root)?.all()?;
        if all.is_empty() {
            return Err(SourceError::Nothing { folder: root.clone() });
        }
        for (name, path) in all {
            let db_id = safe(&name);
            if let Some(first) = paths.insert(db_id.clone(), path.clone())
                && !is_same(&first, &path)
            {
                return Err(SourceError::SameName { db_id, first, second: path });
            }
        }
    }
    Ok(paths.into_iter().map(|(db_id, path)| CorpusSource { db_id, path }).collect())
}

fn is_same(first: &Path, second: &Path) -> bool {
    std::fs::canonicalize(first).ok() == std::fs::canonicalize(second).ok()
}

/// The name with safe characters only.
fn safe(name: &str) -> String {
    let is_safe = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let safe: String = name.chars().map(|c| if is_safe(c) { c } else { '_' }).collect();
    if safe.is_empty() { "_".to_owned() } else { safe }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_safe_and_unique() {
        let folder = tempfile::tempdir().unwrap();
        let make = |name: &str| {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        };
        let all = |root: &str| sources(&[folder.path().join(root)]);
        make("a/große \"Bühne\".sqlite");
        make("a/b.sqlite");
        let ids: Vec<String> = all("a").unwrap().into_iter().map(|source| source.db_id).collect();
        assert_eq!(ids, ["b", "gro_e__B_hne_"]);
        make("same/a b.sqlite");
        make("same/a+b.sqlite");
        let error = all("same").unwrap_err().to_string();
        assert!(error.contains("would both be a_b"), "{error}");
        make("none/notes.txt");
        let error = all("none").unwrap_err().to_string();
        assert!(error.contains("holds no database"), "{error}");
        assert!(all("nowhere").is_err());
    }
}
