//! The child's side: runs what it is sent, one query at a time.

use std::io::{self, Write};
use std::process::{ExitCode, exit};
use std::sync::Once;
use std::sync::mpsc::{Receiver, sync_channel};

use sqlgauge_base::deep_thread;

use crate::limits::Limits;
use crate::outcome::{Execution, Failure, FailureKind};
use crate::sqlite::run_alone;

use super::watchdog::Watchdog;
use super::wire::{
    RAN, Request, decode, encode_execution, greeting, longest_answer, read_frame, write_frame,
};

/// Runs the queries that standard input asks for, and writes what became of them to standard output, until standard input
/// ends. It is all that the `main` of a worker does, see [`WorkerCommand`](super::WorkerCommand); nothing else may use the
/// two.
pub fn serve_queries() -> ExitCode {
    // What the binding asserts when memory runs out is caught and has a typed outcome.
    std::panic::set_hook(Box::new(|_| ()));
    let (sender, requests) = sync_channel(1);
    let worker =
        Watchdog::start().and_then(|watchdog| deep_thread().spawn(move || answer_all(&requests, &watchdog)));
    if worker.is_err() || write_frame(&mut io::stdout(), &greeting()).is_err() {
        return ExitCode::FAILURE;
    }
    let mut stdin = io::stdin().lock();
    while let Some(request) =
        read_frame(&mut stdin, usize::MAX).ok().and_then(|bytes| decode::<Request>(&bytes))
    {
        if sender.send(request).is_err() {
            return ExitCode::FAILURE;
        }
    }
    // The parent is gone, or speaks another language: whatever runs here, nobody waits for it.
    exit(0)
}

fn answer_all(requests: &Receiver<Request>, watchdog: &Watchdog) {
    for request in requests {
        bound_memory(&request.limits);
        let execution = watchdog.over(request.limits.timeout, || run_alone(&request));
        if answer(&execution, &request.limits).is_err() {
            exit(0);
        }
    }
}

fn answer(execution: &Execution, limits: &Limits) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(&[RAN])?;
    stdout.flush()?;
    let mut bytes = encode_execution(execution)?;
    if bytes.len() > longest_answer(limits) {
        let message = "the names of the result's columns take more bytes than a result may";
        bytes = encode_execution(&Execution::failed(Failure::new(FailureKind::TooLarge, message)))?;
    }
    write_frame(&mut stdout, &bytes)
}

/// Bounds the memory of this process by more than the limits allow a query, should one find a way around them.
#[cfg(unix)]
fn bound_memory(limits: &Limits) {
    use rustix::process::{Resource, Rlimit, setrlimit};
    /// A result is held with room to grow, and once more for the way to the parent; then what the process itself takes.
    const RESULTS: u64 = 6;
    const OWN: u64 = 1 << 30;
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let results = (limits.max_bytes as u64).saturating_mul(RESULTS);
        let most = limits.max_heap_bytes.saturating_add(results).saturating_add(OWN);
        for (resource, most) in [(Resource::As, most), (Resource::Core, 0)] {
            // Where the system refuses, SQLite's own limits hold.
            let _ = setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) });
        }
    });
}

#[cfg(not(unix))]
fn bound_memory(_: &Limits) {}
