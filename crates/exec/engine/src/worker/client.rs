//! The parent's side: a pool of children, one query at a time in each.

use std::ffi::OsString;
use std::io::{self, BufReader, Read};
use std::path::PathBuf;
use std::process::{ChildStdin, ChildStdout, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use sqlgauge_base::child::Family;
use sqlgauge_base::program;

use crate::cpu;
use crate::cutoff::Cutoff;
use crate::engine::EngineError;
use crate::faults::Faults;
use crate::limits::Limits;
use crate::outcome::{Execution, Failure, FailureKind};

use super::wire::{
    LATE, RAN, Request, decode_execution, encode, greeting, longest_answer, read_frame, write_frame,
};

/// How long a child may take to say that it is there.
const START: Duration = Duration::from_secs(20);

/// How long after its time by the clock on the wall a worker may still report that its query has ended.
const GRACE: Duration = Duration::from_secs(1);

/// How long the way of a result to the parent may take.
const TRANSFER: Duration = Duration::from_mins(1);

/// How long a wish to stop may go unnoticed while a query runs.
const POLL: Duration = Duration::from_millis(10);

/// The nice value of a process that yields.
#[cfg(unix)]
const NICE: i32 = 10;

/// Longest greeting.
const GREETING_BYTES: usize = 1 << 10;

/// Waits between the attempts to start a child, for a machine that is short of processes or memory for a moment.
const PATIENCE: [Duration; 3] =
    [Duration::from_millis(50), Duration::from_millis(500), Duration::from_secs(2)];

/// The program that runs queries in a process of its own: one that calls [`serve_queries`](super::serve_queries) when it
/// is started with those arguments.
#[derive(Debug, Clone)]
pub struct WorkerCommand {
    program: PathBuf,
    arguments: Vec<OsString>,
    yields: bool,
}

impl WorkerCommand {
    /// That program, a path or a name in an absolute entry of `PATH`, without arguments.
    pub fn new(program: impl Into<PathBuf>) -> Self {
        Self { program: program.into(), arguments: Vec::new(), yields: false }
    }

    /// With processes that let others go first (a nice value of 10, on Unix): for a caller that has quick work to do while
    /// slow queries use up their time.
    #[must_use]
    pub fn yielding(self) -> Self {
        Self { yields: true, ..self }
    }

    /// With one more argument.
    #[must_use]
    pub fn argument(mut self, argument: impl Into<OsString>) -> Self {
        self.arguments.push(argument.into());
        self
    }

    /// A child whose frames are not longer than that, and that is there within that time.
    fn start(&self, longest: usize, within: Duration) -> io::Result<Worker> {
        let mut command = program::command_here(&self.program)?;
        command.args(&self.arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        // It gets a process group, so a signal from the terminal is for the parent, which may want to finish what is in work.
        let mut family = Family::start(&mut command)?;
        let child = family.child();
        #[cfg(unix)]
        if self.yields {
            // A child that cannot be asked to yield works all the same.
            let _ = rustix::process::setpriority_process(Some(rustix::process::Pid::from_child(child)), NICE);
        }
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        let (sender, messages) = sync_channel(2);
        let worker = Worker { family, stdin, messages };
        let stdout = stdout.ok_or(io::ErrorKind::BrokenPipe)?;
        thread::Builder::new()
            .name("sqlgauge-worker".to_owned())
            .spawn(move || listen(stdout, &sender, longest))?;
        match worker.messages.recv_timeout(within) {
            Ok(WorkerMessage::Frame(bytes)) if bytes == greeting() => Ok(worker),
            Ok(_) => Err(io::Error::other("it is of another version")),
            Err(_) => Err(io::Error::other("it did not report")),
        }
    }
}

/// What a child has said.
enum WorkerMessage {
    Ran,
    Late,
    Frame(Vec<u8>),
}

/// Passes on what the child says, until it says no more.
fn listen(stdout: ChildStdout, sender: &SyncSender<WorkerMessage>, longest: usize) {
    let mut stdout = BufReader::new(stdout);
    let mut next = GREETING_BYTES;
    let mut mark = [0];
    while let Ok(frame) = read_frame(&mut stdout, next) {
        next = longest;
        if sender.send(WorkerMessage::Frame(frame)).is_err() || stdout.read_exact(&mut mark).is_err() {
            return;
        }
        let message = match mark {
            [RAN] => WorkerMessage::Ran,
            [LATE] => WorkerMessage::Late,
            _ => return,
        };
        if sender.send(message).is_err() || mark == [LATE] {
            return;
        }
    }
}

/// A child that waits for a query. Dropping it kills it.
#[derive(Debug)]
struct Worker {
    family: Family,
    stdin: Option<ChildStdin>,
    messages: Receiver<WorkerMessage>,
}

/// How a query in a child ended.
enum Ended {
    /// With its execution.
    Ran(Execution),
    /// It was still running when its time was over.
    Late,
    /// The child ended, or talked nonsense.
    Died,
    /// Nobody wants its outcome any more.
    Stopped,
}

impl Worker {
    fn run(&mut self, request: &Request, cutoff: Cutoff<'_>) -> Ended {
        let Some(stdin) = &mut self.stdin else { return Ended::Died };
        if encode(request).and_then(|bytes| write_frame(stdin, &bytes)).is_err() {
            return Ended::Died;
        }
        match self.hear(cpu::wall_limit(request.limits.timeout).saturating_add(GRACE), cutoff) {
            Ok(WorkerMessage::Ran) => {}
            Ok(WorkerMessage::Frame(_)) | Err(RecvTimeoutError::Disconnected) => return Ended::Died,
            Err(RecvTimeoutError::Timeout) if cutoff.is_stopped() => return Ended::Stopped,
            Ok(WorkerMessage::Late) | Err(RecvTimeoutError::Timeout) => return Ended::Late,
        }
        match self.messages.recv_timeout(TRANSFER) {
            Ok(WorkerMessage::Frame(bytes)) => decode_execution(&bytes).map_or(Ended::Died, Ended::Ran),
            Ok(WorkerMessage::Ran | WorkerMessage::Late) | Err(_) => Ended::Died,
        }
    }

    /// What the child says next; nothing where it takes too long or is stopped.
    fn hear(&self, time: Duration, cutoff: Cutoff<'_>) -> Result<WorkerMessage, RecvTimeoutError> {
        if cutoff.stop.is_none() {
            return self.messages.recv_timeout(time);
        }
        let started = Instant::now();
        loop {
            let left = time.saturating_sub(started.elapsed());
            match self.messages.recv_timeout(left.min(POLL)) {
                Err(RecvTimeoutError::Timeout) if left > POLL && !cutoff.is_stopped() => {}
                heard => return heard,
            }
        }
    }
}

/// Children that wait for queries; as many as queries run at once.
#[derive(Debug)]
pub(crate) struct Workers {
    command: WorkerCommand,
    longest: usize,
    idle: Mutex<Vec<Worker>>,
    /// Why no child could be started, whenever that happened.
    faults: Faults<String>,
}

impl Workers {
    /// A pool for queries under those limits, with its first child.
    pub(crate) fn start(command: WorkerCommand, limits: &Limits) -> Result<Self, EngineError> {
        let longest = longest_answer(limits);
        let workers = Self { command, longest, idle: Mutex::default(), faults: Faults::default() };
        let first =
            workers.command.start(longest, START).map_err(|error| workers.error(&error.to_string()))?;
        workers.put(first);
        Ok(workers)
    }

    /// How often no child could be started.
    pub(crate) fn faults(&self) -> u64 {
        self.faults.count()
    }

    /// Whether every query could be given to a child, but for those before the first `faults`.
    pub(crate) fn check_since(&self, faults: u64) -> Result<(), EngineError> {
        self.faults.since(faults).map_or(Ok(()), |reason| Err(self.error(&reason)))
    }

    fn error(&self, reason: &str) -> EngineError {
        EngineError::NoWorker { program: self.command.program.clone(), reason: reason.to_owned() }
    }

    /// Runs a query in a child. One whose child dies runs once more in a fresh one, so that what ends a child from outside
    /// costs no query its outcome. What runs when it is stopped ends with its child, and has no outcome.
    pub(crate) fn run(&self, request: &Request, cutoff: Cutoff<'_>) -> Execution {
        let started = Instant::now();
        for _ in 0..2 {
            if cutoff.is_stopped() {
                return stopped(started);
            }
            let mut worker = match self.take() {
                Ok(worker) => worker,
                Err(error) => {
                    let reason = error.to_string();
                    let message = self.error(&reason).to_string();
                    self.faults.add(reason);
                    return failed(FailureKind::Machine, message, started);
                }
            };
            match worker.run(request, cutoff) {
                Ended::Ran(execution) => {
                    self.put(worker);
                    return execution;
                }
                Ended::Late => {
                    return failed(FailureKind::Timeout, timeout_message(&request.limits), started);
                }
                Ended::Stopped => return stopped(started),
                Ended::Died => {}
            }
        }
        failed(FailureKind::RuntimeError, "the process that ran it ended twice without an answer", started)
    }

    /// An idle child that still lives, or a new one.
    fn take(&self) -> io::Result<Worker> {
        loop {
            let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let Some(mut worker) = idle else { break };
            if !worker.family.has_ended() {
                return Ok(worker);
            }
        }
        for pause in PATIENCE {
            if let Ok(worker) = self.command.start(self.longest, START) {
                return Ok(worker);
            }
            thread::sleep(pause);
        }
        self.command.start(self.longest, START)
    }

    fn put(&self, worker: Worker) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(worker);
    }
}

/// The message of a query that ran into its time limit.
pub(crate) fn timeout_message(limits: &Limits) -> String {
    format!("not done after {} s", limits.timeout.as_secs_f64())
}

fn stopped(started: Instant) -> Execution {
    failed(FailureKind::RuntimeError, EngineError::Stopped.to_string(), started)
}

fn failed(kind: FailureKind, message: impl Into<String>, started: Instant) -> Execution {
    Execution { elapsed: started.elapsed(), ..Execution::failed(Failure::new(kind, message)) }
}
