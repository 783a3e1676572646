//! The databases of a benchmark: which files they are, and opened as targets.

use std::collections::{BTreeMap, HashMap};
use std::iter::once;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rayon::prelude::*;
use sqlgauge_dataset::{Databases, Example, Location, Tables, TablesEntry};
use sqlgauge_engine::{Database, Engine, EngineError};
use sqlgauge_metrics::Target;
use sqlgauge_metrics::esm::ForeignKeyMap;

use crate::error::RunError;
use crate::record::InputRecord;

/// The database files that a benchmark uses, by `db_id`.
#[derive(Debug, Clone)]
pub struct UsedDatabases {
    located: BTreeMap<String, Location>,
}

impl UsedDatabases {
    /// Finds the database of every example. `with_suite` says whether the other databases of its folder are
    /// used too, which only test-suite accuracy does.
    ///
    /// # Errors
    /// [`RunError::Dataset`] for the first `db_id`, in the order of the examples, that has no database.
    pub fn locate(databases: &Databases, examples: &[Example], with_suite: bool) -> Result<Self, RunError> {
        let mut located = BTreeMap::new();
        for example in examples {
            if located.contains_key(&example.db_id) {
                continue;
            }
            let mut location = databases.locate(&example.db_id)?;
            if !with_suite {
                location.suite = vec![location.main.clone()];
            }
            located.insert(example.db_id.clone(), location);
        }
        Ok(Self { located })
    }

    /// Every file with its role in the manifest: `database:ID`, and `suite:ID/FILE` for the others of its
    /// folder.
    pub fn files(&self) -> Vec<(String, PathBuf)> {
        let of_one = |(db_id, location): (&String, &Location)| {
            let mut files = vec![(format!("database:{db_id}"), location.main.clone())];
            for path in location.suite.iter().filter(|path| **path != location.main) {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                files.push((format!("suite:{db_id}/{name}"), path.clone()));
            }
            files
        };
        self.located.iter().flat_map(of_one).collect()
    }

    /// The records of all files with the digests of the databases that were opened from them, in parallel.
    ///
    /// # Errors
    /// [`RunError::Engine`] for the first file that is not the one that was opened, or that cannot be read.
    pub fn digest(&self, targets: &HashMap<String, Arc<Target>>) -> Result<Vec<InputRecord>, RunError> {
        let opened = targets.values().flat_map(|target| once(&target.database).chain(&target.suite));
        let opened: HashMap<&Path, &Arc<Database>> =
            opened.map(|database| (database.path(), database)).collect();
        let record = |(role, path): (String, PathBuf)| match opened.get(path.as_path()) {
            Some(database) => {
                let sha256 = database.content_hash()?.to_owned();
                Ok(InputRecord { role, path: path.display().to_string(), sha256 })
            }
            None => Err(EngineError::NotFound { path }.into()),
        };
        self.files().into_par_iter().map(record).collect::<Vec<Result<_, RunError>>>().into_iter().collect()
    }

    /// Opens all of them, in parallel. The catalog of a target is the one of `tables` where it has one, else
    /// the file's own.
    ///
    /// # Errors
    /// [`RunError::Engine`] for the first database, by `db_id`, that cannot be opened.
    pub fn open(
        &self,
        engine: &dyn Engine,
        tables: Option<&Tables>,
    ) -> Result<HashMap<String, Arc<Target>>, RunError> {
        let open = |(db_id, location): (&String, &Location)| -> Result<(String, Arc<Target>), RunError> {
            let database = engine.open(&location.main)?;
            let suite: Result<Vec<Arc<Database>>, _> = location
                .suite
                .iter()
                .map(
                    |path| if *path == location.main { Ok(Arc::clone(&database)) } else { engine.open(path) },
                )
                .collect();
            let mut target = Target::new(db_id, database);
            target.suite = suite?;
            if let Some(entry) = tables.and_then(|tables| tables.get(db_id)) {
                target =
                    target.with_schema(Arc::new(entry.schema())).with_foreign_keys(&official_keys(entry));
            }
            Ok((db_id.clone(), Arc::new(target)))
        };
        let opened: Vec<_> = self.located.par_iter().map(open).collect();
        opened.into_iter().collect()
    }
}

/// The foreign keys of a `tables.json` entry as the official exact set match reads them.
fn official_keys(entry: &TablesEntry) -> ForeignKeyMap {
    let numbered = |table: Option<usize>| table.and_then(|table| i64::try_from(table).ok()).unwrap_or(-1);
    let columns = entry.column_names_original.iter().map(|(table, name)| (numbered(*table), name));
    let columns: Vec<(i64, &String)> = columns.collect();
    ForeignKeyMap::from_tables_json(&entry.table_names_original, &columns, &entry.foreign_keys)
}
