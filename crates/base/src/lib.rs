//! What every crate may use and no crate should write again.

pub mod budget;
mod features;
mod random;

pub use features::NotBuiltIn;
pub use random::{Random, seed_of};
