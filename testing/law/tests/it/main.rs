//! The tests of this crate: one program, a module for each file.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod catalog;
mod contradict;
mod conversions;
mod encoder;
mod law;
mod planted;
mod values;
