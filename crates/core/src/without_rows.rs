//! Databases without rows, made from a schema file: what a metric needs that runs nothing.

use std::collections::BTreeSet;
use std::fs::create_dir;
use std::path::{Component, Path};

use rusqlite::Connection;
use sqlgauge_dataset::{Tables, load_tables};
use sqlgauge_run::{InputRecord, Manifest, StoredRun, recorded_file};
use sqlgauge_search::create_table;
use sqlgauge_sql::schema::{Schema, Table};
use tempfile::TempDir;

use crate::error::{About, Error};

/// A temporary folder with `DB_ID/DB_ID.sqlite` for every database that the examples ask about.
pub(crate) struct DatabasesWithoutRows(TempDir);

impl DatabasesWithoutRows {
    /// Makes them from the schemas of a file.
    ///
    /// # Errors
    /// When the file lacks one of the databases, or a database cannot be written.
    pub(crate) fn make(tables: &Tables, file: &Path, names: BTreeSet<&str>) -> Result<Self, Error> {
        let unwritable =
            |source| Error::Unwritable { path: std::env::temp_dir().join("sqlgauge schemas"), source };
        let folder = tempfile::tempdir().map_err(unwritable)?;
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

    /// Makes those of a run that was scored with a schema file; none where the file is not as it was.
    ///
    /// # Errors
    /// As [`DatabasesWithoutRows::make`].
    pub(crate) fn of_run(path: &Path, run: &StoredRun) -> Result<Option<Self>, Error> {
        let file = schema_file(&run.manifest).and_then(|file| recorded_file(path, file).ok());
        let names = run.items.iter().map(|item| item.db_id.as_str()).collect();
        file.map(|file| Self::make(&load_tables(&file)?, &file, names)).transpose()
    }

    /// The folder; it is deleted with this value.
    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }
}

/// The schema file that a run was scored with, where it has no databases.
pub(crate) fn schema_file(manifest: &Manifest) -> Option<&InputRecord> {
    let has_databases = manifest.inputs.iter().any(|input| input.role.starts_with("database:"));
    manifest.inputs.iter().find(|input| input.role == "tables").filter(|_| !has_databases)
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
    use crate::{Context, EstimateJob, Sample, ScoreJob, Source, System};

    /// What an estimate from a run in a folder notes of the target, whose questions are those of the sample.
    fn notes(sample: &Sample, known: &Path, job: EstimateJob) -> Result<String, Error> {
        let system = System::new("new", sample.predictions_of("baseline").unwrap());
        let job = EstimateJob {
            target: sample.questions.as_path().into(),
            known: vec![known.to_owned()],
            systems: vec![system],
            limits: Sample::limits(),
            ..job
        };
        Ok(job.run(&Context::default())?.report.estimates[0].notes.join(" "))
    }

    /// The queries of such a run saw no rows, and neither do those of such a target, whatever the other has.
    #[test]
    fn rows_are_those_of_the_target() {
        let folder = tempfile::tempdir().unwrap();
        let sample = Sample::unpack(&folder.path().join("sample")).unwrap();
        let [with, without] = ["rows", "schemas"].map(|name| folder.path().join(name));
        sample.score_job(&["ex"], &with).unwrap().run(&Context::default()).unwrap();
        let job = sample.score_job(&["esm"], &without).unwrap();
        ScoreJob { db: None, ..job }.run(&Context::default()).unwrap();
        let on_rows = || EstimateJob::new("", &sample.databases);
        let on_schemas = || EstimateJob {
            tables: Some(Source::from(sample.tables.as_path())),
            ..EstimateJob::new("", "")
        };
        let has_rows = |notes: String| !notes.contains("no database of the target has rows");
        assert!(has_rows(notes(&sample, &without, on_rows()).unwrap()));
        for run in [&with, &without] {
            assert!(!has_rows(notes(&sample, run, on_schemas()).unwrap()), "{}", run.display());
        }
        std::fs::remove_file(&sample.tables).unwrap();
        let message = notes(&sample, &without, on_rows()).unwrap_err().to_string();
        assert!(message.contains("tables.json") && message.contains("--known-db"), "{message}");
        let known_db = vec![sample.databases.clone()];
        assert!(has_rows(notes(&sample, &without, EstimateJob { known_db, ..on_rows() }).unwrap()));
    }

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
