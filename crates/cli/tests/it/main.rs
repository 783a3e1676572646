//! The tests of this crate: one program, a module for each file.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[cfg(unix)]
mod action;
#[cfg(unix)]
mod adversary;
mod audit;
mod augment;
mod chat;
mod command_line;
mod common;
mod compat_conformance;
#[cfg(feature = "parquet")]
mod encode;
#[cfg(feature = "engines")]
#[path = "../../../exec/engines/tests/servers/mod.rs"]
mod engine_servers;
mod errors;
mod estimate;
mod estimate_honest;
mod estimation_conformance;
mod evolve;
mod features;
mod files;
#[cfg(unix)]
mod golden;
mod golds;
mod isolation;
mod label;
mod law;
mod merge;
mod now;
#[cfg(feature = "services")]
mod predict;
#[cfg(unix)]
mod programs;
#[cfg(unix)]
mod readme;
mod resume;
#[cfg(feature = "services")]
mod rivals;
mod robustness;
#[cfg(feature = "services")]
#[path = "../../../models/llm/tests/server/mod.rs"]
mod server;
#[cfg(feature = "engines")]
mod servers;
#[cfg(feature = "parquet")]
mod shift;
mod synth;
mod tables;
#[cfg(unix)]
mod trust;
mod verify;
