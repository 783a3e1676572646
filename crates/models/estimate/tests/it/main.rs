//! The tests of this crate: one program, a module for each file.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[cfg(feature = "services")]
mod judges;
mod reliability;
#[cfg(feature = "services")]
#[path = "../../../llm/tests/server/mod.rs"]
mod server;
