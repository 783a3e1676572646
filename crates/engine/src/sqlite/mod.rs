//! SQLite, behind four locks that hold together on every run:
//!
//! 1. the file is opened read-only and as immutable, so that neither it nor anything beside it is written;
//! 2. an authorizer allows SELECT, READ, FUNCTION and RECURSIVE, and no function with an effect;
//! 3. `sqlite3_limit` bounds every dimension of a statement, and a heap limit bounds SQLite's memory;
//! 4. a progress handler ends a query at its time limit; a query that could spend long inside one instruction,
//!    where no handler is called, runs on a thread of its own that can be left behind.
//!
//! So that a thread left behind ends soon, no instruction may take very long: values are small at first
//! ([`Scale::Ordinary`](connection::Scale)), and a query that needs larger ones runs again with bounds on the
//! functions that would take long with them.

mod authorizer;
mod connection;
mod diagnosis;
mod engine;
mod guard;
mod large_values;
mod locks;
mod pool;
mod sandbox;
mod schema_reader;
mod shadow;

pub use engine::SqliteEngine;
pub use sandbox::{Budget, Sandbox};
