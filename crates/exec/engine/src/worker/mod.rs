//! Queries in processes of their own.
//!
//! SQLite can be stopped only between two instructions of its virtual machine, never inside one, nor while it compiles,
//! and all threads of a process share one heap limit. So a query that may take long, or much memory, runs in a child
//! process: one query at a time, under a heap limit of its own, ended when its time is over. What one query does is then
//! nothing to another, and the outcome of each is a function of its text, its database and the limits. The time is
//! what the child computes ([`Limits::timeout`](crate::Limits::timeout)), so a busy machine takes nothing from a query.
//!
//! The child is any program that calls [`serve_queries`]; a [`WorkerCommand`] names it. Parent and child speak over the
//! child's standard input and output, in frames whose length is bounded. The child has no other way out: it ends when its
//! standard input does, however the parent ended.

mod client;
mod server;
mod watchdog;
mod wire;

pub use client::WorkerCommand;
pub(crate) use client::{Workers, timeout_message};
pub use server::serve_queries;
pub(crate) use wire::{Request, Task, Until, decode_execution, encode_execution};
