//! The tests of this crate: one program, a module for each file.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod club;
#[cfg(target_os = "linux")]
mod dbapi;
#[cfg(unix)]
mod duckdb;
#[cfg(target_os = "linux")]
mod faults;
mod law;
mod mysql;
mod plugin;
mod postgresql;
#[path = "../servers/mod.rs"]
mod servers;
#[cfg(unix)]
mod tls;
