//! The program `sqlgauge`.

use std::process::ExitCode;

use sqlgauge_core::worker_of;

fn main() -> ExitCode {
    // Without the path of this program no query can run in a process of its own, and the first that should says so.
    let program = std::env::current_exe().unwrap_or_else(|_| "sqlgauge".into());
    ExitCode::from(sqlgauge::main(std::env::args_os().collect(), worker_of(&program)))
}
