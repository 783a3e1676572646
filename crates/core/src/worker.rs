//! The program `sqlgauge` as the one in whose processes queries run.

use std::ffi::OsString;
use std::path::Path;

use sqlgauge_engine::WorkerCommand;

/// The only argument of a worker. No sub-command: nobody but sqlgauge starts one.
pub const WORKER_ARGUMENT: &str = "--run-queries";

/// How the program `sqlgauge` at that path is started as a worker.
pub fn worker_of(program: &Path) -> WorkerCommand {
    worker_by(program, &[])
}

/// As [`worker_of`], where another program runs the command line, and needs these arguments before ours.
pub fn worker_by(program: &Path, arguments: &[OsString]) -> WorkerCommand {
    let command = arguments.iter().fold(WorkerCommand::new(program), WorkerCommand::argument);
    command.argument(WORKER_ARGUMENT)
}
