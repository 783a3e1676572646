//! What every crate may use and no crate should write again.

mod features;

pub use features::NotBuiltIn;
