//! A resolved query as text of twelve SQL dialects: with SQLite's meaning, or refused by name.
//!
//! - [`translate`] prints a query for a [`Dialect`], or says [`Refused`] with the [`Construct`] that the dialect cannot say.
//! - [`TypedSchema`] says which type the values of each column have: by declaration, or by what was found of them (crate `engine`).
//! - [`DIALECTS`] is the registry; each dialect is a table of facts in a file of its own.
//! - [`create_table`] is the table that the texts are over.
//! - [`reading`] is the other way, for seeing what a text of PostgreSQL, MySQL or DuckDB is made of; [`schema_of_dump`] of their DDL.
//!
//! The law: on the tables that [`create_table`] makes, filled with the values of the SQLite database, a text returns the
//! rows that the query returns in SQLite, numbers compared by value. What SQLite leaves open (which of equal rows a LIMIT
//! keeps, the order of rows without ORDER BY, which row a subquery as a value takes) an engine may choose otherwise.
//! Arithmetic that overflows 64 bits is an error in the other engines, where SQLite goes on with a real number.

mod ddl;
mod dialect;
mod dialects;
mod printer;
mod reading;
mod refused;
mod types;

pub use ddl::{create_table, table_is_sayable};
pub use dialect::{CheckLevel, Dialect};
pub use dialects::{DIALECTS, SQLITE, dialect, names};
pub use printer::translate;
pub use reading::{UnreadStatement, reading, schema_of_dump};
pub use refused::{Construct, Refused};
pub use types::{Type, TypedSchema, ValueProfile, declared};
