//! The catalog of a file, and the locks that are tried.

use sqlgauge_engine::FailureKind;

use crate::locks::{Attempt, Setup};

const COLUMNS: &str = "SELECT c.table_name, CASE WHEN t.table_name IS NULL THEN 'VIEW' ELSE 'TABLE' END, c.column_name, \
    c.data_type, CASE WHEN c.is_nullable THEN 'YES' ELSE 'NO' END \
    FROM duckdb_columns() c LEFT JOIN duckdb_tables() t ON t.table_oid = c.table_oid AND t.database_oid = c.database_oid \
    WHERE c.database_name = current_database() AND NOT c.internal ORDER BY c.schema_name, c.table_name, c.column_index";

const KEYS: &str = "SELECT table_name, CASE constraint_type WHEN 'PRIMARY KEY' THEN 'PRIMARY' ELSE constraint_name END, \
    unnest(constraint_column_names), referenced_table, unnest(referenced_column_names) \
    FROM (FROM duckdb_constraints() WHERE database_name = current_database() \
    AND constraint_type IN ('PRIMARY KEY', 'UNIQUE', 'FOREIGN KEY') ORDER BY table_name, constraint_index)";

/// `DuckDB` has comments since 0.10.
const COMMENTS: &str = "SELECT table_name, NULL, comment FROM duckdb_tables() \
    WHERE database_name = current_database() AND comment IS NOT NULL \
    UNION ALL SELECT view_name, NULL, comment FROM duckdb_views() WHERE database_name = current_database() AND comment IS NOT NULL \
    UNION ALL SELECT table_name, column_name, comment FROM duckdb_columns() WHERE database_name = current_database() \
    AND comment IS NOT NULL";

/// Of columns, keys and comments.
pub(crate) const QUESTIONS: [&str; 3] = [COLUMNS, KEYS, COMMENTS];

/// `DuckDB` has no roles.
pub(super) fn setup(_: &Setup) -> String {
    "-- DuckDB has no roles: the locks are in the process that opens the file. Nothing has to be run.\n\
     -- Python needs the package: pip install duckdb\n"
        .to_owned()
}

/// What is tried; each must fail, in that way.
pub(crate) const LOCKS: &[Attempt] = {
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
