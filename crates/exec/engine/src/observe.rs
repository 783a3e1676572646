//! The types of a database's columns by what is stored in them.
//!
//! # Contract
//! Every value of every column is looked at, once, by SQLite itself. A column without values has the type that it
//! declares. What is found holds for the file as it is.

use std::collections::HashSet;
use std::fmt::Write as _;

use sqlgauge_dialects::{Type, TypedSchema, ValueProfile, declared};
use sqlgauge_sql::PrintDialect as Sqlite;
use sqlgauge_sql::reads;
use sqlgauge_sql::schema::{Schema, Table, TableId, TableKind};
use sqlgauge_sql::tree::Query;

use crate::{Database, Engine, Outcome, Value};

/// Columns that one query looks at.
const COLUMNS: usize = 60;
/// What is asked of each column, 1 for yes.
const QUESTIONS: [&str; 11] = [
    "typeof({}) = 'integer'",
    "typeof({}) = 'real'",
    "typeof({}) = 'text'",
    "typeof({}) = 'blob'",
    "{} GLOB '*[^' || char(1) || '-' || char(127) || ']*'",
    "typeof({}) = 'text' AND instr({}, char(0)) > 0",
    "typeof({}) = 'text' AND {} IS NOT date({}) AND {} IS NOT datetime({})",
    "{} = ''",
    // Beside a number a text is made one where it looks like one; else the two are not equal.
    "typeof({}) = 'text' AND {} = CAST({} AS NUMERIC) AND {} || '' IS NOT CAST({} AS INTEGER) || ''",
    "typeof({}) = 'text' AND {} || '' IS NOT CAST({} AS INTEGER) || ''",
    "typeof({}) = 'text' AND substr({}, -1) = ' '",
];

/// Why the columns of a database could not be looked at.
#[derive(Debug, thiserror::Error)]
#[error("the columns of {table} could not be looked at: {reason}; allow more steps or time")]
pub struct NotObserved {
    /// The table.
    pub table: String,
    /// What the engine said.
    pub reason: String,
}

/// The types that the values of a database have; `schema` is that of the database.
///
/// # Errors
/// [`NotObserved`] when the engine gives up on a table.
pub fn observed_types<'s>(
    schema: &'s Schema,
    database: &Database,
    engine: &dyn Engine,
) -> Result<TypedSchema<'s>, NotObserved> {
    observed_where(schema, (database, engine), |_| true)
}

/// The same of the tables that the query reads; the other tables are not looked at, however many there are.
///
/// # Errors
/// [`NotObserved`] when the engine gives up on a table.
pub fn observed_types_for<'s>(
    query: &Query,
    schema: &'s Schema,
    database: &Database,
    engine: &dyn Engine,
) -> Result<TypedSchema<'s>, NotObserved> {
    let read: HashSet<TableId> = reads::tables(query).into_iter().map(|(_, table)| table).collect();
    observed_where(schema, (database, engine), |id| read.contains(&id))
}

fn observed_where<'s>(
    schema: &'s Schema,
    (database, engine): (&Database, &dyn Engine),
    is_read: impl Fn(TableId) -> bool,
) -> Result<TypedSchema<'s>, NotObserved> {
    let of_table = |(id, table): (TableId, &Table)| match table.kind {
        TableKind::Table if is_read(id) => profiles(table, database, engine),
        _ => Ok(vec![ValueProfile::of(Type::Mixed); table.columns.len()]),
    };
    let tables: Result<_, _> = schema.ids().zip(schema.tables()).map(of_table).collect();
    Ok(TypedSchema::found(schema, tables?))
}

fn profiles(
    table: &Table,
    database: &Database,
    engine: &dyn Engine,
) -> Result<Vec<ValueProfile>, NotObserved> {
    let mut profiles = Vec::new();
    for columns in table.columns.chunks(COLUMNS) {
        let mut sql = String::new();
        for column in columns {
            let name = Sqlite::Sqlite.identifier(&column.name);
            for question in QUESTIONS {
                let separator = if sql.is_empty() { "SELECT " } else { ", " };
                // Writing to a String cannot fail.
                let _ = write!(sql, "{separator}MAX({})", question.replace("{}", &name));
            }
        }
        let _ = write!(sql, " FROM {}", Sqlite::Sqlite.identifier(&table.name));
        let failed = |reason: String| NotObserved { table: table.name.clone(), reason };
        let rows = match engine.run(database, &sql).outcome {
            Outcome::Rows(rows) => rows,
            Outcome::Failed(failure) => return Err(failed(failure.to_string())),
        };
        let row = rows.row(0).ok_or_else(|| failed("no answer".to_owned()))?;
        let answers = row.chunks(QUESTIONS.len()).zip(columns);
        profiles.extend(answers.map(|(answers, column)| profile(answers, column.declared_type.as_deref())));
    }
    Ok(profiles)
}

fn profile(answers: &[Value], declaration: Option<&str>) -> ValueProfile {
    let is = |place: usize| matches!(answers.get(place), Some(Value::Integer(1)));
    let of = match (is(0), is(1), is(2), is(3)) {
        (true, false, false, false) => Type::Integer,
        (false, true, false, false) => Type::Real,
        (true, true, false, false) => Type::Number,
        (false, false, true, false) => Type::Text,
        (false, false, false, true) => Type::Blob,
        (false, false, false, false) => match declared(declaration) {
            Type::Mixed => Type::Text,
            kind => kind,
        },
        _ => Type::Mixed,
    };
    // A text with a NUL character is one that most engines cannot hold.
    let of = if is(5) { Type::Mixed } else { of };
    let is_text = of == Type::Text;
    ValueProfile {
        of,
        is_ascii: !is(4) && !is(5),
        is_date: is_text && !is(6),
        may_be_empty: is(7),
        may_end_in_space: is(10),
        has_plain_numbers: is_text && !is(8),
        is_integer: is_text && !is(9),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Limits, SqliteEngine};

    #[test]
    fn only_the_tables_of_the_query_are_looked_at() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("d.sqlite");
        let ddl =
            "CREATE TABLE t (i); CREATE TABLE u (i); INSERT INTO t VALUES (1); INSERT INTO u VALUES (1);";
        rusqlite::Connection::open(&path).unwrap().execute_batch(ddl).unwrap();
        let engine = SqliteEngine::new(Limits::default());
        let database = engine.open(&path).unwrap();
        let schema = database.schema().clone();
        let query = sqlgauge_sql::resolve("SELECT i FROM t WHERE i > 0", &schema).unwrap();
        let typed = observed_types_for(&query, &schema, &database, &engine).unwrap();
        let of = |table: &str| typed.column(schema.table_id(table).unwrap(), 0).of;
        assert_eq!((of("t"), of("u")), (Type::Integer, Type::Mixed));
    }

    #[test]
    fn what_is_stored_decides_and_not_what_is_declared() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("d.sqlite");
        rusqlite::Connection::open(&path)
            .unwrap()
            .execute_batch(
                "CREATE TABLE t (i INTEGER, n DECIMAL, d DATE, x TEXT, m INTEGER, e REAL, \"o d\", z TEXT, k TEXT, l TEXT, o TEXT);
                 INSERT INTO t VALUES (1, 1, '2020-01-31', 'é', 1, NULL, x'00', 'a' || char(0), '7', '7', '07'),
                                      (NULL, 1.5, '2020-02-01 10:00:00', '', 'a', NULL, x'01', 'b', '-8', 'n/a', 'x');",
            )
            .unwrap();
        let engine = SqliteEngine::new(Limits::default());
        let database = engine.open(&path).unwrap();
        let schema = database.schema().clone();
        let typed = observed_types(&schema, &database, &engine).unwrap();
        let table = schema.table_id("t").unwrap();
        let profiles: Vec<ValueProfile> = (0..11).map(|column| typed.column(table, column)).collect();
        let kinds: Vec<Type> = profiles.iter().map(|profile| profile.of).collect();
        let expected = [
            Type::Integer,
            Type::Number,
            Type::Text,
            Type::Text,
            Type::Mixed,
            Type::Real,
            Type::Blob,
            Type::Mixed,
            Type::Text,
            Type::Text,
            Type::Text,
        ];
        assert_eq!(kinds, expected);
        let numbers: Vec<(bool, bool)> =
            profiles.iter().map(|p| (p.has_plain_numbers, p.is_integer)).collect();
        assert_eq!(numbers[8..], [(true, true), (true, false), (false, false)]);
        assert!(profiles[2].is_date && profiles[2].is_ascii && !profiles[2].may_be_empty);
        assert!(!profiles[3].is_date && !profiles[3].is_ascii && profiles[3].may_be_empty);
    }
}
