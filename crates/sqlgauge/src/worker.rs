//! The program `sqlgauge` as the one in whose processes queries run.

use std::path::Path;

use sqlgauge_engine::WorkerCommand;

/// The only argument of a worker. No sub-command: nobody but sqlgauge starts one.
pub const WORKER_ARGUMENT: &str = "--run-queries";

/// How the program `sqlgauge` at that path is started as a worker.
pub fn worker_of(program: &Path) -> WorkerCommand {
    WorkerCommand::new(program).argument(WORKER_ARGUMENT)
}
