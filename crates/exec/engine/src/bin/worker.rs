//! Runs queries for an engine in another process. For programs that use the library without such a command.

use std::process::ExitCode;

fn main() -> ExitCode {
    sqlgauge_engine::serve_queries()
}
