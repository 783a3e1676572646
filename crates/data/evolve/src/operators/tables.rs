//! Tables: rename, add, drop.

use sqlgauge_sql::resolve;
use sqlgauge_sql::schema::{Schema, TableKind};
use sqlgauge_sql::tree::{Expr, Literal, Output, Query, Select};

use super::{Draft, key_names, refer};
use crate::step::{ChangeError, Image, table_at};

pub(super) fn rename(old: &Schema, table: &str, to: &str) -> Result<Draft, ChangeError> {
    let at = table_at(old, table)?;
    let mut draft = Draft::identity(old);
    if !old.tables()[at].name.eq_ignore_ascii_case(to) {
        draft.is_free(to)?;
    }
    to.clone_into(&mut draft.tables[at].name);
    let original = &old.tables()[at];
    refer(&mut draft, &original.name, to, &key_names(original), |name| Some(name.to_owned()));
    Ok(draft)
}

pub(super) fn add(old: &Schema, ddl: &str, rows: Option<&str>) -> Result<Draft, ChangeError> {
    let unreadable = |text: &str, message: String| ChangeError::Unreadable { text: text.to_owned(), message };
    let schema = Schema::from_ddl(ddl).map_err(|error| unreadable(ddl, error.to_string()))?;
    let [table] = schema.tables() else {
        return Err(unreadable(ddl, "write one CREATE TABLE statement".to_owned()));
    };
    if table.kind != TableKind::Table {
        return Err(unreadable(ddl, "it creates no table".to_owned()));
    }
    let mut draft = Draft::identity(old);
    draft.is_free(&table.name)?;
    let rows = match rows {
        Some(text) => resolve(text, old).map_err(|error| unreadable(text, error.to_string()))?,
        None => nothing(table.columns.len()),
    };
    if rows.width() != table.columns.len() {
        let message = format!("it has {} columns, the table {}", rows.width(), table.columns.len());
        return Err(unreadable(ddl, message));
    }
    draft.tables.push(table.clone());
    draft.back.images.push(Image::Query(rows));
    Ok(draft)
}

/// A query of that many columns without rows.
fn nothing(width: usize) -> Query {
    let null = || Output::of(Expr::Literal(Literal::Null));
    Query::of_select(Select {
        filter: Some(Expr::Literal(Literal::Boolean(false))),
        ..Select::of(std::iter::repeat_with(null).take(width).collect())
    })
}

pub(super) fn drop(old: &Schema, table: &str) -> Result<Draft, ChangeError> {
    let at = table_at(old, table)?;
    let mut draft = Draft::identity(old);
    if draft.tables.len() < 2 {
        return Err(ChangeError::NotApplicable(format!("{table:?} is the only table")));
    }
    let original = &old.tables()[at];
    draft.forth.images[at] = Image::Gone;
    draft.remove(at);
    refer(&mut draft, &original.name, &original.name, &key_names(original), |_| None);
    Ok(draft)
}
