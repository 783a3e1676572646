//! How this process was started.

use std::ffi::{OsStr, OsString};
use std::sync::OnceLock;

use anyhow::{Context as _, Result};
use sqlgauge_core::WORKER_ARGUMENT;
use sqlgauge_engine::WorkerCommand;

/// How this process was started.
pub(crate) struct Invocation {
    /// The command line, the program's name first.
    pub arguments: Vec<OsString>,
    /// How one more such process is started as a worker.
    pub worker: WorkerCommand,
}

static INVOCATION: OnceLock<Invocation> = OnceLock::new();

/// Keeps how this process was started; to be called before a command runs.
pub(crate) fn begin(invocation: Invocation) -> &'static Invocation {
    INVOCATION.get_or_init(|| invocation)
}

/// The command line of this process, the program's name first.
pub(crate) fn arguments() -> &'static [OsString] {
    INVOCATION.get().map_or(&[], |invocation| &invocation.arguments)
}

/// Whether these are the arguments of a worker.
pub(crate) fn is_worker(arguments: &[OsString]) -> bool {
    matches!(arguments, [_, only] if only == OsStr::new(WORKER_ARGUMENT))
}

/// How one more such process is started as a worker.
pub(crate) fn worker() -> Result<WorkerCommand> {
    let invocation = INVOCATION.get().context("nothing says how this program was started")?;
    Ok(invocation.worker.clone())
}
