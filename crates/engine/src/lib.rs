//! Runs untrusted SQL on a database under limits, with typed outcomes.
//!
//! - [`Engine`] is the door; [`SqliteEngine`] is the one behind it, with its four locks.
//! - [`Database`] is an opened file with its catalog and content hash.
//! - [`Execution`] is what became of one query: [`Outcome::Rows`] or a typed [`Failure`].
//! - [`GoldCache`] keeps the executions of gold queries for all systems of a run.

mod cache;
mod database;
mod engine;
mod limits;
mod outcome;
mod sqlite;
mod statement;
mod value;

pub use cache::GoldCache;
pub use database::Database;
pub use engine::{Engine, EngineError};
pub use limits::Limits;
pub use outcome::{Execution, Failure, FailureKind, Outcome};
pub use sqlite::SqliteEngine;
pub use value::{Fingerprint, ResultSet, Value};
