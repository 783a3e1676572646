//! What a counterexample needs that a real database rarely has.
//!
//! A witness without needs is plain: some query returns a row, no column of a primary key is NULL, and every value is
//! of its column's declared type. SQLite allows more than that, and some pairs differ by nothing else; a search takes such a
//! witness only where it finds no plainer one, and the [`Need`]s say what it could not do without.

use sqlgauge_engine::{ResultSet, Value};
use sqlgauge_sql::schema::{Affinity, Column, Schema, TableId};

use super::values::is_time_text;
use super::witness::{Witness, WitnessTable};

/// What no plainer witness could be found without.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Need {
    /// NULL in a column of a primary key, which SQLite allows other than for INTEGER PRIMARY KEY, WITHOUT ROWID and STRICT.
    NullInKey,
    /// A value that is not of its column's declared type, such as a text in an INTEGER column.
    ValueOffType,
    /// Neither query returns a row: they differ in the number of columns alone.
    EmptyResult,
}

impl Need {
    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::NullInKey => "null-in-key",
            Self::ValueOffType => "value-off-type",
            Self::EmptyResult => "empty-result",
        }
    }
}

/// Rows of some columns of some tables; the other columns are NULL.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct FilledTables {
    /// The tables, and which of their columns have values.
    pub(super) columns: Vec<(TableId, Vec<u32>)>,
    pub(super) rows: Vec<Vec<Vec<Value>>>,
}

impl FilledTables {
    /// All columns of a witness; a table that it lacks is empty. `None` if a row has another width than its table.
    pub(super) fn of(witness: &Witness, schema: &Schema, tables: &[TableId]) -> Option<Self> {
        let columns = tables.iter().map(|&id| Some((id, schema.table(id)?.stored_columns())));
        let columns: Vec<(TableId, Vec<u32>)> = columns.collect::<Option<_>>()?;
        let rows = columns.iter().map(|(id, columns)| {
            let table = witness.table(&schema.table(*id)?.name);
            let rows = table.map(|table| table.rows.clone()).unwrap_or_default();
            rows.iter().all(|row| row.len() == columns.len()).then_some(rows)
        });
        Some(Self { rows: rows.collect::<Option<_>>()?, columns })
    }

    /// The rows as a witness without statements that create its tables.
    pub(super) fn witness(&self, schema: &Schema) -> Witness {
        let tables = self.columns.iter().zip(&self.rows).filter_map(|((id, columns), rows)| {
            let table = schema.table(*id)?;
            let names = columns.iter().filter_map(|&at| Some(table.column(at)?.name.clone())).collect();
            Some(WitnessTable::new(&table.name, names, String::new(), rows.clone()))
        });
        Witness { tables: tables.collect(), definitions: Vec::new() }
    }
}

/// The needs of a database on which the queries return that, in order.
pub(super) fn needs(
    schema: &Schema,
    filled: &FilledTables,
    left: &ResultSet,
    right: &ResultSet,
) -> Vec<Need> {
    let mut needs = Vec::new();
    let cells = filled.columns.iter().zip(&filled.rows).filter_map(|((id, columns), rows)| {
        let table = schema.table(*id)?;
        Some((0..).zip(columns).filter_map(move |(at, &column)| {
            let is_key = table.primary_key.contains(&column) && table.rowid_alias() != Some(column);
            Some((table.column(column)?, is_key, rows.iter().filter_map(move |row: &Vec<Value>| row.get(at))))
        }))
    });
    let (mut has_null_key, mut is_off_type) = (false, false);
    for (column, is_key, mut values) in cells.flatten() {
        has_null_key |= is_key && values.clone().any(|value| matches!(value, Value::Null));
        is_off_type |= values.any(|value| !is_of_type(value, column));
    }
    needs.extend(has_null_key.then_some(Need::NullInKey));
    needs.extend(is_off_type.then_some(Need::ValueOffType));
    if left.is_empty() && right.is_empty() {
        needs.push(Need::EmptyResult);
    }
    needs
}

/// Whether a stored value is what people expect of the column's declared type.
pub(super) fn is_of_type(value: &Value, column: &Column) -> bool {
    let declares = |word: &str| {
        let declared = column.declared_type.as_deref().unwrap_or_default().as_bytes();
        declared.windows(word.len()).any(|part| part.eq_ignore_ascii_case(word.as_bytes()))
    };
    let is_number = matches!(value, Value::Integer(_) | Value::Real(_));
    match column.affinity {
        _ if matches!(value, Value::Null) => true,
        Affinity::Text => matches!(value, Value::Text(_)),
        Affinity::Integer => matches!(value, Value::Integer(_)),
        Affinity::Numeric if declares("BOOL") => matches!(value, Value::Integer(0 | 1)),
        Affinity::Numeric if declares("DATE") || declares("TIME") => value.as_str().is_some_and(is_time_text),
        Affinity::Real | Affinity::Numeric => is_number,
        Affinity::Blob => true,
    }
}

/// A condition on a column by that name, true of the values that [`is_of_type`] calls false.
pub(super) fn is_off_type_in_sql(name: &str, column: &Column) -> String {
    let declares = |word: &str| {
        let declared = column.declared_type.as_deref().unwrap_or_default();
        declared.to_ascii_uppercase().contains(word)
    };
    let other_than = |classes: &str| format!("typeof({name}) NOT IN ('null', {classes})");
    match column.affinity {
        Affinity::Text => other_than("'text'"),
        Affinity::Integer => other_than("'integer'"),
        Affinity::Numeric if declares("BOOL") => {
            format!("({name} IS NOT NULL AND NOT (typeof({name}) = 'integer' AND {name} IN (0, 1)))")
        }
        Affinity::Numeric if declares("DATE") || declares("TIME") => {
            let (time, behind) = (is_time_in_sql(name), is_time_in_sql(&format!("substr({name}, 12)")));
            format!(
                "({name} IS NOT NULL AND NOT (typeof({name}) = 'text' AND ({time} OR date({name}) IS substr({name}, 1, 10) \
                 AND ({name} GLOB '????-??-??' OR {name} GLOB '????-??-??[ T]*' AND {behind}))))"
            )
        }
        Affinity::Real | Affinity::Numeric => other_than("'integer', 'real'"),
        Affinity::Blob => "0".to_owned(),
    }
}

/// Whether a text is a time of day, as [`is_time_text`] has it.
fn is_time_in_sql(text: &str) -> String {
    let fractions =
        ["", ":[0-9][0-9]", ":[0-9][0-9].[0-9]", ":[0-9][0-9].[0-9][0-9]", ":[0-9][0-9].[0-9][0-9][0-9]"];
    let shapes = fractions.map(|fraction| format!("{text} GLOB '[0-9][0-9]:[0-9][0-9]{fraction}'"));
    format!("(({}) AND time({text}) IS NOT NULL AND {text} < '24')", shapes.join(" OR "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_of_the_type_that_its_column_declares() {
        let sqlite = rusqlite::Connection::open_in_memory().unwrap();
        for (declared, value, fits) in [
            ("INTEGER", Value::Integer(1), true),
            ("INTEGER", Value::Real(1.5), false),
            ("INTEGER", Value::text("a"), false),
            ("INTEGER", Value::Null, true),
            ("VARCHAR(20)", Value::text("1"), true),
            ("REAL", Value::Integer(1), true),
            ("REAL", Value::text("1x"), false),
            ("DATE", Value::text("2000-01-01"), true),
            ("DATE", Value::text("x"), false),
            ("DATE", Value::Integer(2000), false),
            ("DATE", Value::text("2020-02-29"), true),
            ("DATE", Value::text("2019-02-29"), false),
            ("DATE", Value::text("2020-04-31"), false),
            ("DATE", Value::text("2020-13-01"), false),
            ("DATE", Value::text("-2020-01-01"), false),
            ("DATE", Value::text("2000-01-01 24:00"), false),
            ("DATE", Value::text("2000-01-01 10:00Z"), false),
            ("DATE", Value::text("2000-01-01 23:00-05:00"), false),
            ("DATE", Value::text("2000-01-01x"), false),
            ("DATE", Value::text("2000-01-01T10:00:00.125"), true),
            ("TIME", Value::text("24:00"), false),
            ("TIME", Value::text("10:60"), false),
            ("TIME", Value::text("1:30"), false),
            ("TIME", Value::text("10:30"), true),
            ("TIME", Value::text("10:30:00"), true),
            ("DATETIME", Value::text("2000-01-01 10:00:00"), true),
            ("BOOLEAN", Value::Integer(1), true),
            ("BOOLEAN", Value::Integer(2), false),
            ("DECIMAL(10, 2)", Value::Real(0.5), true),
            ("", Value::text("anything"), true),
        ] {
            let column = Column::new("c", Some(declared));
            assert_eq!(is_of_type(&value, &column), fits, "{declared} {value:?}");
            let sql = format!(
                "SELECT {} FROM (SELECT {} AS c)",
                is_off_type_in_sql("c", &column),
                super::super::literal(&value)
            );
            let is_off: bool = sqlite.query_row(&sql, [], |row| row.get(0)).unwrap();
            assert_eq!(is_off, !fits, "{sql}");
        }
    }
}
