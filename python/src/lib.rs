//! The Python module `sqlgauge._native`: the libraries of the command line as Python objects.
//!
//! Nothing is computed here. A file of this crate takes arguments from Python, calls a crate and hands back what it says;
//! what users see is `python/sqlgauge`, which is typed and documented there.
//!
//! - **Threads.** Whatever works does so on a thread of its own, with the interpreter released (`call`); the calling
//!   thread looks for signals meanwhile, so that Ctrl-C ends any call.
//! - **Processes.** What cannot be shared with a child process (threads, processes that run queries, connections) is made
//!   anew in it (`process`).
//! - **Errors.** Every error is a `sqlgauge.Error` with the sentence of the command line (`error`); a panic is one too.

#![expect(clippy::needless_pass_by_value, reason = "PyO3 hands arguments over by value")]
#![expect(clippy::doc_markdown, reason = "the texts of classes are what help() of Python prints")]

mod auditing;
mod call;
mod database;
mod error;
mod estimating;
mod frame;
mod inputs;
mod json;
mod labelling;
mod making;
mod matching;
mod process;
mod program;
mod reward;
mod runs;
mod schema;
mod scoring;
mod showing;
mod translating;
mod vectors;
mod verifying;
mod watching;
mod words;

use pyo3::prelude::*;

/// What is registered: one line per file.
#[pymodule(gil_used = false)]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    call::remember_panics();
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    error::register(module)?;
    program::register(module)?;
    database::register(module)?;
    schema::register(module)?;
    frame::register(module)?;
    matching::register(module)?;
    verifying::register(module)?;
    scoring::register(module)?;
    auditing::register(module)?;
    runs::register(module)?;
    words::register(module)?;
    showing::register(module)?;
    making::register(module)?;
    translating::register(module)?;
    estimating::register(module)?;
    labelling::register(module)?;
    reward::register(module)?;
    vectors::register(module)?;
    Ok(())
}
