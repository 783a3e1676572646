//! Databases without rows, made from a schema file: what a metric needs that runs nothing.

use std::collections::BTreeSet;
use std::fs::create_dir;
use std::path::{Component, Path, PathBuf};

use rusqlite::Connection;
use sqlgauge_dataset::{Example, Tables};
use sqlgauge_search::create_table;
use sqlgauge_sql::schema::{Schema, Table};
use tempfile::TempDir;

use crate::error::{About, Error};

/// Where the databases of a job are.
pub(crate) enum Ground {
    /// In the user's folder.
    Given(PathBuf),
    /// Made for the job, without rows.
    Made(DatabasesWithoutRows),
}

impl Ground {
    pub(crate) fn path(&self) -> &Path {
        match self {
            Self::Given(folder) => folder,
            Self::Made(databases) => databases.path(),
        }
    }

    pub(crate) fn without_rows(self) -> Option<DatabasesWithoutRows> {
        match self {
            Self::Given(_) => None,
            Self::Made(databases) => Some(databases),
        }
    }

    /// Whether the file was made for the job.
    pub(crate) fn has_made(&self, file: &Path) -> bool {
        matches!(self, Self::Made(databases) if file.starts_with(databases.path()))
    }
}

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
                    "{file} has no database {name:?}, which a question is about; check --tables"
                ))
            })?;
            create_dir(folder.path().join(name)).map_err(unwritable)?;
            let path = folder.path().join(name).join(format!("{name}.sqlite"));
            let schema = entry.schema();
            let result =
                Connection::open(&path).and_then(|database| database.execute_batch(&statements(&schema)));
            result.about(|| format!("{}: the schema of {name} cannot be made", file.display()))?;
        }
        Ok(Self(folder))
    }

    /// The folder; it is deleted with this value.
    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }
}

/// What makes the tables. Files that were made from databases list those that SQLite keeps for itself, such as `sqlite_sequence`,
/// and nobody else may make these.
fn statements(schema: &Schema) -> String {
    let is_reserved =
        |table: &&Table| table.name.get(..7).is_some_and(|start| start.eq_ignore_ascii_case("sqlite_"));
    let tables = schema.tables().iter().filter(|table| !is_reserved(table));
    tables.map(|table| create_table(schema, table)).collect::<Vec<_>>().join(";\n")
}

/// Whether the name of a database is the name of one file, and no path elsewhere.
fn is_file_name(name: &str) -> bool {
    let mut parts = Path::new(name).components();
    matches!((parts.next(), parts.next()), (Some(Component::Normal(_)), None))
}

#[cfg(test)]
mod tests {
    use sqlgauge_sql::schema::Column;

    use super::*;

    #[test]
    fn tables_that_sqlite_keeps_for_itself_are_left_to_it() {
        let table = |name: &str| Table::new(name, vec![Column::new("seq", Some("INT"))]);
        let script = statements(&Schema::new(vec![table("city"), table("SQLite_sequence"), table("sqlité")]));
        let database = Connection::open_in_memory().unwrap();
        database.execute_batch(&script).unwrap();
        let count = "SELECT COUNT(*) FROM sqlite_schema";
        assert_eq!(database.query_row(count, [], |row| row.get::<_, u32>(0)).unwrap(), 2, "{script}");
    }

    #[test]
    fn a_name_that_leads_elsewhere_is_not_a_file_name() {
        assert!(is_file_name("concert_singer"));
        for name in ["", "..", "../x", "a/b", "/etc"] {
            assert!(!is_file_name(name), "{name}");
        }
    }
}
