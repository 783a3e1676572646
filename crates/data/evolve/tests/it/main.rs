//! The tests of this crate: one program, a module for each file.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod actions;
mod common;
mod constraints;
mod determined;
mod equivalent;
mod folder;
mod large;
mod odd_schemas;
mod readable;
