//! Tells two queries apart, or shows that it cannot.
//!
//! [`search`] looks for a counterexample: a small database that satisfies the schema and on which the two queries
//! return different results on real SQLite.

pub mod search;
