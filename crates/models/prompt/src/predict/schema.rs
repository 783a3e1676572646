//! The schema of a prompt, with some rows of its tables if they are wanted.

use std::fmt::Write as _;

use sqlgauge_engine::{Database, Engine, Value};
use sqlgauge_sql::PrintDialect;
use sqlgauge_sql::schema::{Schema, TableKind};

/// Characters of a value that a prompt shows.
const SHOWN_CHARACTERS: usize = 60;
/// Columns of a table whose values a prompt shows.
const SHOWN_COLUMNS: usize = 40;

/// Where example rows come from.
#[derive(Clone, Copy)]
pub struct ExampleRows<'a> {
    /// Runs the queries.
    pub engine: &'a dyn Engine,
    pub database: &'a Database,
    /// Rows of each table.
    pub count: u32,
}

/// The DDL, and below it as comments the first rows of each table of the schema. A table that the database lacks, or that
/// cannot be read within the engine's limits, has none.
pub fn schema_with_rows(ddl: &str, schema: &Schema, rows: ExampleRows<'_>) -> String {
    let mut text = ddl.trim_end().to_owned();
    for table in schema.tables().iter().filter(|table| table.kind != TableKind::Shadow) {
        let name = if rows.engine.is_sqlite() {
            PrintDialect::Sqlite.identifier(&table.name)
        } else {
            rows.engine.quoted(&table.name)
        };
        let sql = format!("SELECT * FROM {name} LIMIT {}", rows.count);
        let execution = rows.engine.run(rows.database, &sql);
        let Some(result) = execution.rows().filter(|rows| !rows.is_empty()) else { continue };
        let columns: Vec<&str> = result.columns.iter().take(SHOWN_COLUMNS).map(String::as_str).collect();
        let _infallible = write!(text, "\n-- Rows of {}: {}", table.name, columns.join(", "));
        for row in result.rows() {
            let cells: Vec<String> = row.iter().take(SHOWN_COLUMNS).map(cell).collect();
            let _infallible = write!(text, "\n--   {}", cells.join(", "));
        }
    }
    text
}

/// A value as SQL would write it, on one line.
fn cell(value: &Value) -> String {
    match value {
        Value::Null => "NULL".to_owned(),
        Value::Integer(number) => number.to_string(),
        Value::Real(number) => number.to_string(),
        Value::Text(bytes) => {
            let text = String::from_utf8_lossy(bytes);
            let line: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
            let start: String = line.chars().take(SHOWN_CHARACTERS).collect();
            let rest = if start.len() < line.len() { "…" } else { "" };
            sqlgauge_sql::quote::text(&format!("{start}{rest}"))
        }
        Value::Decimal(decimal) => decimal.to_string(),
        Value::Blob(bytes) => format!("<blob of {} bytes>", bytes.len()),
    }
}
