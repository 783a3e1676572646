//! Compares two results: whether they count as equal, and where they differ. Metrics and the search for counterexamples
//! share it.
//!
//! - [`difference`] is the equality of `ex@1`; [`GoldOrder`] is the order of rows that counts for it.
//! - [`Semantics`] are the contracts beside it: sets, bags, lists.
//! - [`pyeq`] has values as Python sees them, on which the official scripts rest.
//! - [`explain`] puts a difference into words.

pub mod explain;
mod order;
pub mod pyeq;
mod rows;
mod semantics;

pub use rows::{COLUMNS_MOVED, GoldOrder, RELATIVE_TOLERANCE, difference, has_same_shape};
pub use semantics::{Semantics, UnknownSemantics};
