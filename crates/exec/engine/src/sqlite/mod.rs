//! SQLite, behind four locks that hold together on every run:
//!
//! 1. the file is opened read-only and as immutable, so that neither it nor anything beside it is written;
//! 2. an authorizer allows SELECT, READ, FUNCTION and RECURSIVE, and no function with an effect;
//! 3. `sqlite3_limit` bounds every dimension of a statement, and a heap limit bounds SQLite's memory;
//! 4. a progress handler ends a query at its time limit; a query that could spend long where no handler is called, inside one
//!    instruction or in the compiler, runs in a process of its own that can be killed ([`crate::worker`]).
//!
//! Values are small at first ([`Scale::Ordinary`](connection::Scale)), so that no instruction takes long, and a query that
//! needs larger ones runs again with bounds on the functions that would take long with them.

mod authorizer;
mod clock;
mod connection;
mod diagnosis;
mod engine;
mod growth;
mod guard;
mod large_values;
mod locks;
mod pool;
mod random;
mod sandbox;
mod schema_reader;
mod shadow;
mod stoppable;

pub use connection::immutable_uri;
pub use engine::SqliteEngine;
pub(crate) use engine::run_alone;
pub(crate) use growth::growth_of;
pub use sandbox::{QueryBudget, Sandbox};
pub use stoppable::Stoppable;
