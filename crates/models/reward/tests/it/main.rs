//! The tests of this crate: one program, a module for each file.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod codes;
mod common;
mod extraction;
mod server;
#[path = "../../../../exec/engines/tests/servers/mod.rs"]
mod servers;
mod spider;
mod witnesses;
