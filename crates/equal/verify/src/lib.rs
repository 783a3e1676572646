//! Tells two queries apart, or shows that it cannot.
//!
//! - [`Verifier`] takes a pair through the stages in [`Stage`]: proof by rules, search for a counterexample, bounded
//!   proof. What it says is a [`Report`] with a [`Verdict`].
//! - [`search`] looks for a counterexample: a small database that satisfies the schema and on which the two queries
//!   return different results on real SQLite.
//! - [`mutation`] has what a slip of one place makes of a query.
//! - [`smt`] proves that no database of at most k rows per table is one.

mod explain;
mod json;
pub mod mutation;
mod options;
pub mod search;
pub mod smt;
mod spelling;
mod stages;
pub mod suite;
mod verdict;

pub use options::Options;
pub use spelling::Spelled;
pub use stages::{Beside, Data, Verifier};
pub use verdict::{BoundedProof, Counterexample, Defect, Proof, Refused, Report, Stage, Unknown, Verdict};
