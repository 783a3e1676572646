//! What is known of two queries: `sqlgauge verify` on a pair.

use std::sync::Arc;

use sqlgauge_engine::{Database, Engine};
use sqlgauge_metrics::Verification;
use sqlgauge_sql::schema::Schema;
use sqlgauge_verify::{VerifyOptions, VerifyReport};

use crate::error::Error;
use crate::settings::VerifySettings;

/// The verdict on a pair over a schema. `left` is the gold.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use sqlgauge_core::{VerifySettings, verify_over_schema};
/// use sqlgauge_sql::schema::Schema;
/// use sqlgauge_verify::Verdict;
///
/// let schema = Schema::from_ddl("CREATE TABLE city (id INTEGER PRIMARY KEY, name TEXT)")?;
/// let [gold, prediction] = ["SELECT count(*) FROM city", "SELECT count(name) FROM city"];
/// let report = verify_over_schema(&VerifySettings::default(), &schema.into(), gold, prediction)?;
/// assert!(matches!(report.verdict, Verdict::Different(_)), "a city without a name tells them apart");
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// When SQLite refuses one of the texts, or cannot open a database in memory.
pub fn verify_over_schema(
    settings: &VerifySettings,
    schema: &Arc<Schema>,
    left: &str,
    right: &str,
) -> Result<VerifyReport, Error> {
    Ok(with_words(settings).verdict(schema, None, left, right)??)
}

/// The verdict on a pair over a database, whose rows are looked at too. It rests on no foreign key that they break.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use sqlgauge_core::{Context, Sample, VerifySettings, verify_over_database};
/// use sqlgauge_engine::{Engine, Limits, Moment};
/// use sqlgauge_verify::Verdict;
///
/// let folder = tempfile::tempdir()?;
/// let sample = Sample::unpack(folder.path())?;
/// let engine = Context::default().sqlite(Limits::default(), Moment::now())?;
/// let database = engine.open(&sample.database("bike_rental"))?;
///
/// let query = "SELECT count(*) FROM bike";
/// let report = verify_over_database(&VerifySettings::default(), &engine, &database, query, query)?;
/// assert!(matches!(report.verdict, Verdict::Equivalent(_)));
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// When SQLite refuses one of the texts, or cannot open a database in memory, or not every query could be run.
pub fn verify_over_database(
    settings: &VerifySettings,
    engine: &dyn Engine,
    database: &Database,
    left: &str,
    right: &str,
) -> Result<VerifyReport, Error> {
    over_database(&with_words(settings), engine, database, left, right)
}

/// [`verify_over_database`], with words only where the options ask for them.
pub(crate) fn over_database(
    verification: &Verification,
    engine: &dyn Engine,
    database: &Database,
    left: &str,
    right: &str,
) -> Result<VerifyReport, Error> {
    let schema = &database.kept_schema_for(engine, &[left, right]).schema;
    let verdict = verification.verdict(schema, Some((engine, database)), left, right);
    engine.check()?;
    Ok(verdict??)
}

/// Somebody looks at the verdict.
fn with_words(settings: &VerifySettings) -> Verification {
    let options = VerifyOptions { words: true, ..settings.options() };
    Verification::new(options, settings.solver.clone().map(Into::into))
}
