//! The tests of this crate: one program, a module for each file.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod benchmarks;
mod labels;
mod pairing;
#[cfg(feature = "parquet")]
mod parquet;
mod predictions;
mod real_data;
mod robustness;
mod tables;
mod workloads;
