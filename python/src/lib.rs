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

/// What Python sees: one entry per file.
#[pyo3::pymodule(gil_used = false)]
mod _native {
    #[pymodule_export]
    use crate::auditing::audit_golds;
    #[pymodule_export]
    use crate::database::{Database, locate_database};
    #[pymodule_export]
    use crate::error::{DatabaseError, Error, InputError, InternalError, QueryError, RunError};
    #[pymodule_export]
    use crate::estimating::estimate_systems;
    #[pymodule_export]
    use crate::frame::column_names;
    #[pymodule_export]
    use crate::labelling::{label_add, label_next, label_plan, label_status};
    #[pymodule_export]
    use crate::making::{build_databases, evolve_benchmark, make_corpus};
    #[pymodule_export]
    use crate::matching::match_queries;
    #[pymodule_export]
    use crate::program::main;
    #[pymodule_export]
    use crate::reward::{Reward, RewardResult};
    #[pymodule_export]
    use crate::runs::{ItemReader, compare_systems, merge_parts, run_manifest, run_summary, write_report};
    #[pymodule_export]
    use crate::schema::Schema;
    #[pymodule_export]
    use crate::scoring::{score_lists, score_pair, score_run, score_versions, vote};
    #[pymodule_export]
    use crate::showing::show_item;
    #[pymodule_export]
    use crate::translating::translate_query;
    #[pymodule_export]
    use crate::vectors::{Encoder, ShiftReference};
    #[pymodule_export]
    use crate::verifying::verify_queries;
    #[pymodule_export]
    use crate::words::in_python;

    #[pymodule_export]
    #[expect(non_upper_case_globals, reason = "the name that Python has for it")]
    const __version__: &str = env!("CARGO_PKG_VERSION");

    #[pymodule_init]
    fn init() {
        crate::call::remember_panics();
    }
}
