//! The tests of this crate: one program, a module for each file.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;
mod gold_cache;
mod hostile_files;
mod real_data;
mod sandbox;
mod schema;
mod stoppable;
