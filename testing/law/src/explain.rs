//! The steps of one query, with what each returns.

use std::fmt::Write as _;
use std::rc::Rc;

use sqlgauge_etm::law::Stepper;
use sqlgauge_sql::resolve;
use sqlgauge_sql::schema::Schema;

use crate::check::named;
use crate::database::{Database, Layout};
use crate::generate::text;
use crate::shrink::spelled;

/// Every step of the query to its normal form and its rows on the database that the statements make.
///
/// # Errors
/// When the schema or the query is not understood, or SQLite refuses a statement.
pub fn explain(sql: &str, statements: &str) -> anyhow::Result<String> {
    let schema = Rc::new(Schema::from_ddl(statements)?);
    let database = Database::of(&[statements.to_owned()], &schema, Vec::new(), Vec::new(), Layout::Plain)?;
    let start = Stepper::start(&resolve(sql, &schema)?);
    let mut out = format!("{sql}\n  {}\n", spelled(&database.run(sql)));
    let mut add = |name: &str, query| {
        let printed = text(query, &schema).unwrap_or_else(|| "(cannot be written)".to_owned());
        let _ = writeln!(out, "{name}: {printed}\n  {}", spelled(&database.run(&printed)));
    };
    add("resolution", &start);
    let trace = Stepper::new(&schema).steps(&start);
    for step in &trace.steps {
        add(&named(step.change), &step.query);
    }
    if let Some(reason) = trace.stopped {
        let _ = writeln!(out, "{reason}");
    }
    Ok(out)
}
