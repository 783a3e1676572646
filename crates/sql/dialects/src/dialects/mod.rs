//! The registry: one file per dialect, and this list.

mod bigquery;
mod clickhouse;
mod duckdb;
mod hive;
mod mssql;
mod mysql;
mod oracle;
mod postgres;
mod redshift;
mod snowflake;
mod spark;

use crate::dialect::Dialect;

/// The dialects besides SQLite, those first whose rows have been compared.
pub static DIALECTS: &[&Dialect] = &[
    &duckdb::DUCKDB,
    &postgres::POSTGRES,
    &mysql::MYSQL,
    &bigquery::BIGQUERY,
    &snowflake::SNOWFLAKE,
    &redshift::REDSHIFT,
    &mssql::MSSQL,
    &oracle::ORACLE,
    &clickhouse::CLICKHOUSE,
    &spark::SPARK,
    &hive::HIVE,
];

/// The name of SQLite, whose texts are printed by crate `sql`.
pub const SQLITE: &str = "sqlite";

/// The dialect of that name; SQLite is none of them.
pub fn dialect(name: &str) -> Option<&'static Dialect> {
    DIALECTS.iter().copied().find(|dialect| dialect.name == name)
}

/// The names of all dialects, SQLite first.
pub fn names() -> impl Iterator<Item = &'static str> {
    std::iter::once(SQLITE).chain(DIALECTS.iter().map(|dialect| dialect.name))
}
