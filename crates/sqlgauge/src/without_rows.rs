//! Databases without rows, made from a schema file: what a metric needs that runs nothing.

use std::collections::BTreeSet;
use std::fs::create_dir;
use std::path::{Component, Path};

use rusqlite::Connection;
use sqlgauge_dataset::{Example, Tables};
use sqlgauge_search::create_table;
use tempfile::TempDir;

use crate::error::{About, Error};

/// A temporary folder with `DB_ID/DB_ID.sqlite` for every database that the examples ask about.
pub(crate) struct DatabasesWithoutRows(TempDir);

impl DatabasesWithoutRows {
    /// Makes them from the schemas of a file.
    ///
    /// # Errors
    /// When the file lacks one of the databases, or a database cannot be written.
    pub(crate) fn make(tables: &Tables, file: &Path, examples: &[Example]) -> Result<Self, Error> {
        let unwritable =
            |source| Error::Unwritable { path: std::env::temp_dir().join("sqlgauge schemas"), source };
        let folder = tempfile::tempdir().map_err(unwritable)?;
        let names: BTreeSet<&str> = examples.iter().map(|example| example.db_id.as_str()).collect();
        for name in names {
            let entry = tables.get(name).filter(|_| is_file_name(name)).ok_or_else(|| {
                let file = file.display();
                Error::Invalid(format!(
                    "{file} has no database {name:?}, which the golds ask about; check --tables"
                ))
            })?;
            create_dir(folder.path().join(name)).map_err(unwritable)?;
            let path = folder.path().join(name).join(format!("{name}.sqlite"));
            let schema = entry.schema();
            let statements: Vec<String> =
                schema.tables().iter().map(|table| create_table(&schema, table)).collect();
            let made =
                Connection::open(&path).and_then(|database| database.execute_batch(&statements.join(";\n")));
            made.about(|| format!("{}: the schema of {name} cannot be made", file.display()))?;
        }
        Ok(Self(folder))
    }

    /// The folder; it is deleted with this value.
    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }
}

/// Whether the name of a database is the name of one file, and no path elsewhere.
fn is_file_name(name: &str) -> bool {
    let mut parts = Path::new(name).components();
    matches!((parts.next(), parts.next()), (Some(Component::Normal(_)), None))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_leads_elsewhere_is_not_a_file_name() {
        assert!(is_file_name("concert_singer"));
        for name in ["", "..", "../x", "a/b", "/etc"] {
            assert!(!is_file_name(name), "{name}");
        }
    }
}
