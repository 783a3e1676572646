//! What is known of two queries: `sqlgauge verify` on a pair.

use std::sync::Arc;

use sqlgauge_engine::{Database, Engine};
use sqlgauge_sql::schema::Schema;
use sqlgauge_verify::Report;

use crate::error::Error;
use crate::settings::VerifySettings;

/// The verdict on a pair over a schema. `left` is the gold.
///
/// # Errors
/// When SQLite refuses one of the texts, or cannot open a database in memory.
pub fn verify_over_schema(
    settings: &VerifySettings,
    schema: &Arc<Schema>,
    left: &str,
    right: &str,
) -> Result<Report, Error> {
    Ok(settings.verification().verdict(schema, None, left, right)??)
}

/// The verdict on a pair over a database, whose rows are looked at too. It rests on no foreign key that they break.
///
/// # Errors
/// When SQLite refuses one of the texts, or cannot open a database in memory, or not every query could be run.
pub fn verify_over_database(
    settings: &VerifySettings,
    engine: &dyn Engine,
    database: &Database,
    left: &str,
    right: &str,
) -> Result<Report, Error> {
    let schema = &database.kept_schema_for(engine, &[left, right]).schema;
    let verdict = settings.verification().verdict(schema, Some((engine, database)), left, right);
    engine.check()?;
    Ok(verdict??)
}
