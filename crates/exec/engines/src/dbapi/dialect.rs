//! Facts about drivers: the dialect of the database behind each, and how a read-only transaction begins there.

use crate::catalog::{Catalog, Row, catalog_of};
use crate::locks::Attempt;
use crate::text::{Lexing, Way};
use crate::{duckdb, mysql, postgresql};

/// The name of the dialect where nobody says which it is.
pub(super) const UNKNOWN: &str = "sql";

/// A dialect, by what is the same for its drivers.
#[derive(Debug)]
pub(super) struct Dialect {
    /// By its name in crate `dialects`, where it is there.
    pub(super) name: &'static str,
    modules: &'static [&'static str],
    /// What begins a transaction that only reads.
    pub(super) begin: Option<&'static str>,
    /// The argument of `connect()` that is a file.
    pub(super) file: Option<&'static str>,
}

const READ_ONLY: Option<&str> = Some("SET TRANSACTION READ ONLY");

pub(super) static DIALECTS: [Dialect; 13] = [
    of("sqlite3", &["sqlite3", "pysqlite3"], Some("PRAGMA query_only = ON"), Some("database")),
    of("duckdb", &["duckdb"], Some("BEGIN TRANSACTION READ ONLY"), Some("database")),
    of("postgres", &["psycopg", "psycopg2", "pg8000", "pg8000.dbapi"], READ_ONLY, None),
    of(
        "mysql",
        &["pymysql", "MySQLdb", "mysql.connector", "mariadb"],
        Some("START TRANSACTION READ ONLY"),
        None,
    ),
    of("snowflake", &["snowflake.connector"], None, None),
    of("bigquery", &["google.cloud.bigquery.dbapi"], None, None),
    of("spark", &["databricks.sql", "pyhive.hive"], None, None),
    of("redshift", &["redshift_connector"], READ_ONLY, None),
    of("mssql", &["pymssql", "pytds", "mssql_python"], None, None),
    of("oracle", &["oracledb", "cx_Oracle"], READ_ONLY, None),
    of("trino", &["trino.dbapi", "prestodb.dbapi"], None, None),
    of("clickhouse", &["clickhouse_connect.dbapi", "clickhouse_driver.dbapi"], None, None),
    of(UNKNOWN, &[], None, None),
];

const fn of(
    name: &'static str,
    modules: &'static [&'static str],
    begin: Option<&'static str>,
    file: Option<&'static str>,
) -> Dialect {
    Dialect { name, modules, begin, file }
}

impl Dialect {
    pub(super) fn named(name: &str) -> Option<&'static Self> {
        DIALECTS.iter().find(|dialect| dialect.name == name)
    }

    pub(super) fn of_module(module: &str) -> &'static Self {
        let [.., unknown] = &DIALECTS;
        DIALECTS.iter().find(|dialect| dialect.modules.contains(&module)).unwrap_or(unknown)
    }

    /// A name of a table in its quotes.
    pub(super) fn quoted(&self) -> fn(&str) -> String {
        match self.name {
            "mysql" | "bigquery" | "spark" => mysql::catalog::quoted,
            _ => sqlgauge_sql::quote::name,
        }
    }

    /// The ways in which its server may read that text.
    pub(super) fn lexings(&self, sql: &str) -> Vec<Lexing> {
        match self.name {
            "mysql" => vec![mysql::text::lexing(""), mysql::text::lexing("ANSI_QUOTES,NO_BACKSLASH_ESCAPES")],
            "sqlite3" => vec![Lexing::of([Way::Brackets])],
            _ => Lexing::all(sql).collect(),
        }
    }

    /// What is tried of the locks that the server itself may have.
    pub(super) fn attempts(&self) -> &'static [Attempt] {
        match self.name {
            "postgres" => postgresql::catalog::LOCKS,
            "mysql" => mysql::catalog::LOCKS,
            "duckdb" => duckdb::catalog::LOCKS,
            _ => &[],
        }
    }

    /// The questions for columns, keys and comments that a server of this dialect answers.
    pub(super) fn questions(&self) -> Option<[&'static str; 3]> {
        match self.name {
            "postgres" => Some(postgresql::catalog::QUESTIONS),
            "mysql" => Some(mysql::catalog::QUESTIONS),
            "duckdb" => Some(duckdb::catalog::QUESTIONS),
            _ => None,
        }
    }

    /// The catalog of the answers to them.
    pub(super) fn catalog(&self, columns: &[Row], keys: &[Row], comments: &[Row]) -> Catalog {
        match self.name {
            "postgres" => postgresql::catalog::catalog_of(columns, keys, comments),
            _ => catalog_of(columns, keys, comments, self.quoted()),
        }
    }
}
