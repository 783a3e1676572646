//! Tells two queries apart, or shows that it cannot.
//!
//! [`search`] looks for a counterexample: a small database that satisfies the schema and on which the two queries
//! return different results on real SQLite. [`smt`] proves that no database of at most k rows per table is one.

pub mod search;
pub mod smt;
