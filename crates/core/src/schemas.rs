//! Where the schemas of a workload are.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sqlgauge_dataset::{Benchmark, Databases, load_tables};
use sqlgauge_dialects::SQLITE;
use sqlgauge_engine::{Engine, Limits, Moment};
use sqlgauge_sql::schema::Schema;

use crate::context::Context;
use crate::error::Error;

/// Where the schemas of a workload are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SchemaSource {
    /// A folder of databases, one database, or the address of a server; rows are not needed.
    Databases(PathBuf),
    /// A `tables.json`.
    Tables(PathBuf),
}

impl SchemaSource {
    /// The folder of databases or the address, where it is one.
    pub(crate) fn folder(&self) -> Option<&Path> {
        match self {
            Self::Databases(folder) => Some(folder),
            Self::Tables(_) => None,
        }
    }

    /// The schema of every database of the workload, and the dialect of its queries.
    pub(crate) fn read(
        &self,
        workload: &Benchmark,
        context: &Context<'_>,
    ) -> Result<(HashMap<String, Arc<Schema>>, &'static str), Error> {
        let engine = context.engine_for(self.folder(), 1, Limits::default(), Moment::now())?;
        let schemas = self.read_by(workload, engine.as_ref())?;
        Ok((schemas, self.folder().map_or(SQLITE, |_| engine.dialect())))
    }

    /// The same by that engine.
    pub(crate) fn read_by(
        &self,
        workload: &Benchmark,
        engine: &dyn Engine,
    ) -> Result<HashMap<String, Arc<Schema>>, Error> {
        let mut names: Vec<&str> = workload.examples.iter().map(|example| example.db_id.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        let schemas = match self {
            Self::Databases(folder) => of_databases(folder, &names, engine)?,
            Self::Tables(file) => of_tables(file, &names)?,
        };
        Ok(names.into_iter().map(str::to_owned).zip(schemas).collect())
    }
}

fn of_databases(folder: &Path, names: &[&str], engine: &dyn Engine) -> Result<Vec<Arc<Schema>>, Error> {
    let databases = Databases::open(folder)?;
    let schema = |name: &&str| Ok(Arc::clone(engine.open(&databases.locate(name)?.main)?.schema()));
    names.iter().map(schema).collect()
}

fn of_tables(file: &Path, names: &[&str]) -> Result<Vec<Arc<Schema>>, Error> {
    let tables = load_tables(file)?;
    let schema = |name: &&str| {
        let missing = || {
            let file = file.display();
            Error::Invalid(format!(
                "{file} has no database {name:?}, which the workload asks about; check --tables"
            ))
        };
        Ok(Arc::new(tables.get(name).ok_or_else(missing)?.schema()))
    };
    names.iter().map(schema).collect()
}
