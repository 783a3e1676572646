//! Runs queries for an engine of another process: for programs that use the library and have no such command of their own.

use std::process::ExitCode;

fn main() -> ExitCode {
    sqlgauge_engine::serve_queries()
}
