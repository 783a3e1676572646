//! The database of a benchmark that names none.

use std::path::Path;

use sqlgauge_dataset::{Benchmark, Databases, Tables};

use crate::error::Error;

/// Names the database of the examples where their file does not: the one of the schema file, else the only one that was given.
///
/// # Errors
/// When there are several.
pub(crate) fn name_database(
    benchmark: &mut Benchmark,
    db: Option<&Path>,
    tables: Option<&Tables>,
) -> Result<(), Error> {
    if !benchmark.names_no_database() {
        return Ok(());
    }
    let described = tables.and_then(|tables| match tables.entries() {
        [entry] => Some(entry.db_id.clone()),
        _ => None,
    });
    let name = match (described, db) {
        (Some(name), _) => name,
        (None, Some(db)) => Databases::open(db)?.only()?,
        (None, None) => return Ok(()),
    };
    for example in &mut benchmark.examples {
        example.db_id.clone_from(&name);
    }
    Ok(())
}
