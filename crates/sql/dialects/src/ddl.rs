//! Tables of another engine that hold the values of a SQLite table.
//!
//! # Contract
//! One column per column, each of the type that all its values have, without keys and constraints: a text of
//! [`translate`](crate::translate) means the same with them and without. A column whose values have no common type is a
//! text column, which no translated text reads.

use std::fmt::Write as _;

use sqlgauge_sql::schema::TableId;

use crate::dialect::Dialect;
use crate::refused::{Construct, Refused};
use crate::types::{Type, TypedSchema};

/// CREATE TABLE for a table, in one line without semicolon.
///
/// # Errors
/// [`Construct::Identifier`] for a name that the dialect cannot have; [`Construct::Tree`] for a table of another schema.
pub fn create_table(
    dialect: &'static Dialect,
    typed: &TypedSchema<'_>,
    table: TableId,
) -> Result<String, Refused> {
    let refused = |construct, reason: String| Refused { dialect: dialect.name, construct, reason };
    let Some(definition) = typed.schema().table(table) else {
        return Err(refused(Construct::Tree, "the schema has no such table".to_owned()));
    };
    let quoted = |name: &str| {
        dialect.identifier(name).ok_or_else(|| refused(Construct::Identifier, format!("the name {name:?}")))
    };
    let mut text = format!("CREATE TABLE {} (", quoted(&definition.name)?);
    for (at, column) in (0..).zip(&definition.columns) {
        let separator = if at == 0 { "" } else { ", " };
        let column_type = dialect.column_types.of(typed.column(table, at).of);
        let column_type = column_type.unwrap_or(dialect.column_types.text);
        // Writing to a String cannot fail.
        let _ = write!(text, "{separator}{} {column_type}", quoted(&column.name)?);
    }
    text.push(')');
    text.push_str(dialect.behind_columns);
    Ok(text)
}

/// Whether the dialect can hold all values of a table: the first column that it cannot, and why.
///
/// # Errors
/// [`Construct::MixedColumn`] and [`Construct::EmptyText`] with the column.
pub fn table_is_sayable(
    dialect: &'static Dialect,
    typed: &TypedSchema<'_>,
    table: TableId,
) -> Result<(), Refused> {
    let columns = typed.schema().table(table).map_or(&[][..], |table| table.columns.as_slice());
    for (at, column) in (0..).zip(columns) {
        let profile = typed.column(table, at);
        let construct = match profile.of {
            Type::Mixed => Construct::MixedColumn,
            Type::Text if dialect.empty_is_null && profile.may_be_empty => Construct::EmptyText,
            Type::Text if dialect.pads_texts && profile.may_end_in_space => Construct::Padding,
            _ => continue,
        };
        return Err(Refused {
            dialect: dialect.name,
            construct,
            reason: format!("the column {}", column.name),
        });
    }
    Ok(())
}
