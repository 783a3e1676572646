//! The tests of this crate: one program, a module for each file.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod budget;
mod etm;
mod evolve;
mod gold_resolution;
mod mined;
mod named;
mod names;
mod papers;
mod questions;
mod readings;
mod realistic;
mod refusals;
mod round_trip;
mod spider2;
mod sqlite_semantics;
mod synth;
mod tokens;
mod verify;
