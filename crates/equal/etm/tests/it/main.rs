//! The tests of this crate: one program, a module for each file.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod cases;
mod common;
mod facts;
mod large;
mod operands;
mod plan;
mod refutation;
mod registry;
