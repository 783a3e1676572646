//! Chooses the most readable text of a rewritten query.
//!
//! # Contract
//! A text means a query if it resolves to it, up to the numbers of relations. The text that was there is kept where it
//! still means the query; then comes the one with names put in place of names; then the query printed with the text's
//! aliases; then, where names hide each other there, the one that qualifies everything.

use sqlgauge_sql::schema::Schema;
use sqlgauge_sql::tree::Query;
use sqlgauge_sql::{Aliases, PrintDialect, PrintError, print, print_as_written, renumber, resolve};

pub(crate) fn means(text: &str, query: &Query, schema: &Schema) -> bool {
    resolve(text, schema).is_ok_and(|reading| canonical(reading) == canonical(query.clone()))
}

fn canonical(mut query: Query) -> Query {
    renumber(&mut query);
    query
}

/// The text of the query: the first earlier text that means it, else a newly printed one.
///
/// # Errors
/// Where SQL has no words for the query.
pub(crate) fn choose(
    before: &[&str],
    query: &Query,
    schema: &Schema,
    aliases: &Aliases,
) -> Result<String, PrintError> {
    match before.iter().find(|text| means(text, query, schema)) {
        Some(text) => Ok((*text).to_owned()),
        None => brief(query, schema, aliases),
    }
}

/// The query as a person would write it.
///
/// # Errors
/// Where SQL has no words for the query.
pub(crate) fn brief(query: &Query, schema: &Schema, aliases: &Aliases) -> Result<String, PrintError> {
    match print_as_written(query, schema, PrintDialect::Sqlite, aliases, None) {
        Ok(text) if means(&text, query, schema) => Ok(text),
        _ => print(query, schema, PrintDialect::Sqlite),
    }
}
