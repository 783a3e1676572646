//! Servers as engines of untrusted SQL, with the locks in the server or in a process of Python.
//!
//! - [`KINDS`] is the list of them; [`open`] makes the engine of an address.
//! - [`Kind::setup`] prints the SQL that makes a role which can only read; [`Kind::check`] tries each lock.
//! - [`Access`] is what a person gives besides the address: the password, how many connections, variables of the environment.

mod address;
mod catalog;
#[cfg(unix)]
mod dbapi;
#[cfg(unix)]
mod duckdb;
mod json;
mod kind;
mod locks;
mod mysql;
mod pool;
mod postgresql;
#[cfg(unix)]
mod python;
mod rows;
mod server;
mod socket;
mod text;
mod tls;
mod trial;
mod values;
mod volatile;

pub use kind::{Access, KINDS, Kind, Secret, Variables, open};
pub use locks::{LockResult, Setup};
