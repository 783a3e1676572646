//! Shared by every crate, so that none writes it again.

pub mod budget;
pub mod calendar;
pub mod child;
mod closest;
mod clustered;
mod counted;
mod deep;
mod features;
pub mod file;
mod hex;
pub mod json;
mod markdown;
mod named;
mod panics;
pub mod pool;
mod printable;
pub mod probit;
pub mod program;
mod random;
pub mod regular;
pub mod rows;
mod secrets;
pub mod server;
pub mod stats;

pub use closest::closest;
pub use clustered::ClusteredMean;
pub use counted::{capital, counted, counted_of, listed, noun_for, verb_for};
pub use deep::{DEEP_STACK_BYTES, deep_thread, on_deep_stack};
pub use features::NotBuiltIn;
pub use hex::hex;
pub use markdown::markdown_text;
pub use panics::panic_text;
pub use printable::{is_obeyed, printable, printable_json, printable_lines, visible};
pub use random::{Random, seed_of};
pub use secrets::without_secrets;
