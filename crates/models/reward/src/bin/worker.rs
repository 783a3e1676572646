//! Runs the queries of a reward: for tests, and for programs that have no such command of their own.

use std::process::ExitCode;

fn main() -> ExitCode {
    sqlgauge_engine::serve_queries()
}
