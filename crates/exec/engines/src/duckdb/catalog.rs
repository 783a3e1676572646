//! The catalog of a file, and the locks that are tried.

use std::collections::HashMap;

use sqlgauge_engine::{FailureKind, Value};
use sqlgauge_sql::schema::{Action, Column, ForeignKey, Schema, Table, TableKind};

use super::child::Child;
use crate::locks::{Attempt, Setup};
use crate::server::{Broken, Catalog};

const COLUMNS: &str = "SELECT c.schema_name, c.table_name, t.table_name IS NULL, c.column_name, c.data_type, NOT c.is_nullable \
    FROM duckdb_columns() c LEFT JOIN duckdb_tables() t ON t.table_oid = c.table_oid AND t.database_oid = c.database_oid \
    WHERE c.database_name = current_database() AND NOT c.internal ORDER BY c.schema_name, c.table_name, c.column_index";

/// Columns of a key are a list as JSON.
const KEYS: &str = "SELECT table_name, constraint_type, to_json(constraint_column_names), referenced_table, \
    to_json(referenced_column_names) FROM duckdb_constraints() WHERE database_name = current_database() \
    AND constraint_type IN ('PRIMARY KEY', 'UNIQUE', 'FOREIGN KEY') ORDER BY ALL";

/// Reads the catalog.
pub(super) fn read(child: &mut Child) -> Result<Catalog, Broken> {
    let (columns, keys) = (child.rows(Some(COLUMNS))?, child.rows(Some(KEYS))?);
    let digest = format!("{columns:?}{keys:?}");
    let mut tables: Vec<Table> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for row in &columns {
        let [_, name, is_view, column, declared, not_null] = row.as_slice() else { continue };
        let (Some(name), Some(column)) = (name.as_str(), column.as_str()) else { continue };
        let at = *places.entry(name.to_owned()).or_insert(tables.len());
        if at == tables.len() {
            let mut table = Table::new(name.to_owned(), Vec::new());
            if *is_view == Value::Integer(1) {
                table.kind = TableKind::View;
            }
            tables.push(table);
        }
        let mut column = Column::new(column.to_owned(), declared.as_str());
        column.not_null = *not_null == Value::Integer(1);
        tables[at].columns.push(column);
    }
    for row in &keys {
        let [table, kind, columns, target, target_columns] = row.as_slice() else { continue };
        let Some(&at) = table.as_str().and_then(|name| places.get(name)) else { continue };
        key(&mut tables[at], kind, &names(columns), target, names(target_columns));
    }
    Ok(Catalog { schema: Schema::new(tables), tables: Vec::new(), digest })
}

fn key(table: &mut Table, kind: &Value, columns: &[String], target: &Value, referenced: Vec<String>) {
    let place = |name: &String| {
        let at = table.columns.iter().position(|column| column.name == *name)?;
        u32::try_from(at).ok()
    };
    let Some(columns) = columns.iter().map(place).collect::<Option<Vec<u32>>>() else { return };
    match (kind.as_str(), target.as_str()) {
        (Some("PRIMARY KEY"), _) => table.primary_key = columns,
        (Some("UNIQUE"), _) => table.unique.push(columns),
        (_, Some(target)) => table.foreign_keys.push(ForeignKey {
            columns,
            referenced_table: target.to_owned(),
            referenced_columns: referenced,
            on_delete: Action::default(),
            on_update: Action::default(),
            deferred: false,
        }),
        _ => {}
    }
}

fn names(list: &Value) -> Vec<String> {
    list.as_str().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
}

/// `DuckDB` has no roles.
pub(super) fn setup(_: &Setup) -> String {
    "-- DuckDB has no roles: the locks are in the process that opens the file. Nothing has to be run.\n\
     -- Python needs the package: pip install duckdb\n"
        .to_owned()
}

/// What is tried; each must fail, in that way.
pub(super) const LOCKS: &[Attempt] = {
    use FailureKind::{
        Denied, InvalidQuery, MultipleStatements, NoSuchFunction, NoSuchTable, RuntimeError, Timeout,
        TooLarge,
    };
    &[
        Attempt::new("reads no file", "SELECT * FROM read_text('/etc/passwd')", &[Denied]),
        Attempt::new("reads no file as a table", "SELECT * FROM '/etc/passwd'", &[Denied, NoSuchTable]),
        Attempt::new("lists no folder", "SELECT * FROM glob('/*')", &[Denied]),
        Attempt::new("looks into no file", "SELECT * FROM sniff_csv('/etc/passwd')", &[Denied]),
        Attempt::new(
            "reads no file by a name that is computed",
            "SELECT * FROM query_table('/etc/passwd')",
            &[Denied, NoSuchTable, InvalidQuery, RuntimeError],
        ),
        Attempt::new("reads no environment", "SELECT getenv('HOME')", &[NoSuchFunction]),
        Attempt::new("reads no variable of Python", "SELECT * FROM connection", &[NoSuchTable]),
        Attempt::new("sees no secrets", "SELECT * FROM duckdb_secrets()", &[Denied]),
        Attempt::new("writes no file", "COPY (SELECT 1) TO '/tmp/sqlgauge-lock'", &[Denied]),
        Attempt::new("opens no other database", "ATTACH '/tmp/sqlgauge-lock.duckdb'", &[Denied]),
        Attempt::new("loads no extension", "LOAD httpfs", &[Denied]),
        Attempt::new("installs no extension", "INSTALL httpfs", &[Denied]),
        Attempt::new("changes no setting", "SET threads = 4", &[Denied]),
        Attempt::new("sets no variable", "SET VARIABLE sqlgauge_lock = 1", &[Denied]),
        Attempt::new("prepares no statement", "PREPARE sqlgauge_lock AS SELECT 1", &[Denied]),
        Attempt::new("calls no command", "CALL pragma_version()", &[Denied]),
        Attempt::new("makes no table", "CREATE TABLE sqlgauge_lock (a INT)", &[Denied]),
        Attempt::new("makes no temporary table", "CREATE TEMP TABLE sqlgauge_lock (a INT)", &[Denied]),
        Attempt::new("runs one statement", "SELECT 1; SELECT 2", &[MultipleStatements]),
        Attempt::new(
            "runs no statement in a query",
            "SELECT * FROM query('DROP TABLE x')",
            &[Denied, InvalidQuery, FailureKind::SyntaxError],
        ),
        Attempt::new("takes no more memory", "SELECT length(repeat('x', 2000000000))", &[TooLarge]),
        Attempt::new(
            "ends at its time limit",
            "WITH RECURSIVE a(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM a) SELECT count(*) FROM a",
            &[Timeout, TooLarge],
        ),
    ]
};
