//! A small database as plain values.

use std::fmt::{self, Write as _};

use sqlgauge_engine::Value;
use sqlgauge_sql::quote::name as quoted;

use crate::suite::{rows_of, stored_columns, texts};

/// The rows of one table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WitnessTable {
    /// Name as declared.
    pub name: String,
    /// Column names in declared order.
    pub columns: Vec<String>,
    /// Values as SQLite stores them, row after row in the order of insertion.
    pub rows: Vec<Vec<Value>>,
    create: String,
}

impl WitnessTable {
    /// A table of that name, columns, CREATE TABLE statement (without a semicolon) and rows.
    pub fn new(name: &str, columns: Vec<String>, create: String, rows: Vec<Vec<Value>>) -> Self {
        Self { name: name.to_owned(), columns, rows, create }
    }

    /// The CREATE TABLE statement, without a semicolon.
    pub fn create_statement(&self) -> &str {
        &self.create
    }
}

/// A database: the tables that two queries read, with those that they refer to by foreign keys.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Witness {
    /// The tables, those that are referred to first where that is possible.
    pub tables: Vec<WitnessTable>,
    /// The statements, without a semicolon, that create what else there is: UNIQUE indexes, and the views that the queries
    /// read.
    pub definitions: Vec<String>,
}

impl Witness {
    /// The database that a script makes, as [`Witness::script`] writes it. The script may be anybody's: it can create tables
    /// and put values into them, within a budget, and nothing else.
    ///
    /// # Errors
    /// What SQLite says of it.
    pub fn of_script(script: &str) -> rusqlite::Result<Self> {
        let rows = rows_of(script)?;
        let of_other_kinds = "SELECT sql FROM sqlite_master WHERE type IN ('index', 'view') AND sql IS NOT NULL ORDER BY rowid";
        let definitions = texts(&rows, of_other_kinds)?;
        let all = "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY rowid";
        let tables = texts(&rows, all)?.into_iter().map(|name| {
            let create = rows.query_row(
                "SELECT sql FROM sqlite_master WHERE type = 'table' AND name = ?",
                [&name],
                |row| row.get(0),
            )?;
            let columns = stored_columns(&rows, &name)?;
            let list: Vec<String> = columns.iter().map(|column| quoted(column)).collect();
            let mut statement =
                rows.prepare(&format!("SELECT {} FROM {} NOT INDEXED", list.join(", "), quoted(&name)))?;
            let width = columns.len();
            let values = statement.query_map([], |row| {
                (0..width).map(|at| Ok(Value::from(row.get_ref(at)?))).collect::<rusqlite::Result<_>>()
            })?;
            Ok(WitnessTable::new(&name, columns, create, values.collect::<rusqlite::Result<_>>()?))
        });
        Ok(Self { tables: tables.collect::<rusqlite::Result<_>>()?, definitions })
    }

    pub fn rows(&self) -> usize {
        self.tables.iter().map(|table| table.rows.len()).sum()
    }

    /// The table of that name, case ignored.
    pub fn table(&self, name: &str) -> Option<&WitnessTable> {
        self.tables.iter().find(|table| table.name.eq_ignore_ascii_case(name))
    }

    /// The database as a script of CREATE TABLE and INSERT statements.
    pub fn script(&self) -> String {
        self.to_string()
    }
}

impl fmt::Display for Witness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for table in &self.tables {
            writeln!(f, "{};", table.create)?;
        }
        for definition in &self.definitions {
            writeln!(f, "{};", definition.trim_end())?;
        }
        for table in self.tables.iter().filter(|table| !table.rows.is_empty()) {
            write!(f, "INSERT INTO {} VALUES ", quoted(&table.name))?;
            for (at, row) in table.rows.iter().enumerate() {
                let values: Vec<String> = row.iter().map(literal).collect();
                write!(f, "{}({})", if at > 0 { ", " } else { "" }, values.join(", "))?;
            }
            writeln!(f, ";")?;
        }
        Ok(())
    }
}

/// The value as SQL.
pub fn literal(value: &Value) -> String {
    let hex = |bytes: &[u8]| {
        bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut hex, byte| {
            // Writing to a String cannot fail.
            let _ = write!(hex, "{byte:02X}");
            hex
        })
    };
    match value {
        Value::Null => "NULL".to_owned(),
        // The parser reads this number as a float.
        Value::Integer(i64::MIN) => "(-9223372036854775807 - 1)".to_owned(),
        Value::Integer(integer) => integer.to_string(),
        Value::Real(real) if real.is_infinite() => (if *real > 0.0 { "9e999" } else { "-9e999" }).to_owned(),
        Value::Real(real) => format!("{real:?}"),
        Value::Text(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) if !text.contains('\0') => sqlgauge_sql::quote::text(text),
            _ => format!("CAST(X'{}' AS TEXT)", hex(bytes)),
        },
        Value::Decimal(decimal) => decimal.to_string(),
        Value::Blob(bytes) => format!("X'{}'", hex(bytes)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_makes_the_database_that_wrote_it() {
        let script = "CREATE TABLE \"b\" (\"id\" INTEGER PRIMARY KEY, \"x\" REAL);\nCREATE TABLE \"a\" (\"t\" TEXT, \"n\");\n\
                      INSERT INTO \"b\" VALUES (1, 2.0), (3, NULL);\nINSERT INTO \"a\" VALUES ('it''s', X'00FF');\n";
        let witness = Witness::of_script(script).unwrap();
        assert_eq!(witness.script(), script);
        assert_eq!(witness.rows(), 3);
        let script = "CREATE TABLE \"t\" (\"a\" INT, \"d\" INT GENERATED ALWAYS AS (\"a\" * 2), \"b\" TEXT);\n\
                      CREATE UNIQUE INDEX \"u\" ON \"t\" (\"a\") WHERE b > 'k';\nCREATE VIEW \"v\" (\"x\") AS SELECT d FROM t;\n\
                      INSERT INTO \"t\" VALUES (1, 'a'), (1, 'z');\n";
        let witness = Witness::of_script(script).unwrap();
        assert_eq!(witness.script(), script);
        assert_eq!(witness.tables[0].columns, ["a", "b"]);
        assert!(Witness::of_script(&script.replace("'a'", "'y'")).is_err());
        for hostile in ["ATTACH ':memory:' AS s", "CREATE TABLE t (a); DELETE FROM t", "SELEC"] {
            assert!(Witness::of_script(hostile).is_err(), "{hostile}");
        }
    }

    #[test]
    fn values_read_back_as_they_were() {
        let connection = rusqlite::Connection::open_in_memory().unwrap();
        for value in [
            Value::Null,
            Value::Integer(i64::MIN),
            Value::Integer(-3),
            Value::Real(0.1),
            Value::Real(2.0),
            Value::Real(1e300),
            Value::Real(f64::NEG_INFINITY),
            Value::text("it's"),
            Value::text("a\0b"),
            Value::Blob([0, 255].into()),
        ] {
            let sql = format!("SELECT {}", literal(&value));
            let read = connection.query_row(&sql, [], |row| Ok(Value::from(row.get_ref(0)?))).unwrap();
            assert_eq!(read, value, "{sql}");
        }
    }
}
