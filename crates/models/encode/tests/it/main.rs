//! The tests of this crate: one program, a module for each file.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod documentation;
#[cfg(feature = "parquet")]
mod file;
#[cfg(feature = "services")]
mod http;
#[cfg(feature = "neural")]
mod neural;
mod real_data;
#[cfg(feature = "services")]
#[path = "../../../llm/tests/server/mod.rs"]
mod server;
#[cfg(feature = "parquet")]
mod store;
mod workload;
