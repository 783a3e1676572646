//! Runs untrusted SQL on a database under limits, with typed outcomes.
//!
//! - [`Engine`] is the door; [`SqliteEngine`] is the one behind it, with its four locks.
//! - [`Stoppable`] is an engine for one task, which somebody may want to end.
//! - [`WorkerCommand`] names the program in whose processes an engine runs what may take long; [`serve_queries`] is
//!   what that program does.
//! - [`Sandbox`] is a database in memory under the same locks, for many tiny databases.
//! - [`Database`] is an opened file with its catalog and content hash.
//! - [`KeptSchema`] is that catalog without the foreign keys that the rows break.
//! - [`Execution`] is what became of one query: [`Outcome::Rows`] or a typed [`Failure`].
//! - [`Moment`] is what the queries of an engine take for now; [`Dependence`] says which asked for it, or for chance.
//! - [`has_further_semicolon`] says which texts of one statement Python's `sqlite3` refuses.
//! - [`Enough`] says when a query need not be run to its end.
//! - [`compare`] says when two results count as equal, and where they differ.
//! - [`observed_types`] says which types the values of each column have.
//! - [`GoldCache`] keeps the executions of gold queries for all systems of a run.

#![deny(missing_docs, reason = "strangers read this crate")]

mod cache;
pub mod compare;
mod cpu;
mod cutoff;
mod database;
mod decimal;
mod engine;
mod enough;
mod faults;
mod foreign_keys;
mod kept_golds;
mod limits;
mod machine;
mod moment;
mod observe;
mod outcome;
mod sqlite;
mod statement;
mod value;
mod worker;

pub use cache::GoldCache;
pub use database::{Database, sha256_of};
pub use decimal::Decimal;
pub use engine::{Engine, EngineError};
pub use enough::Enough;
pub use faults::{FaultCount, Faults};
pub use foreign_keys::{BrokenForeignKey, KeptSchema};
pub use limits::{Limits, seconds};
pub use machine::machine_error;
pub use moment::{Moment, NotAMoment};
pub use observe::{NotObserved, observed_types, observed_types_for};
pub use outcome::{Dependence, Execution, Failure, FailureKind, Outcome};
pub use sqlite::{QueryBudget, Sandbox, SqliteEngine, Stoppable, immutable_uri};
pub use statement::has_further_semicolon;
pub use value::{Fingerprint, ResultSet, Value};
pub use worker::{WorkerCommand, serve_queries};
