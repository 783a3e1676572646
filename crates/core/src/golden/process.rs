//! Asks a command: one process for a question.
//!
//! # Contract
//! - The question comes over standard input, its id and database in `SQLGAUGE_ID` and `SQLGAUGE_DB_ID`; standard output is the answer.
//! - The program's name is looked up as everywhere ([`program`]): never in the working directory, unless it is written as a path.
//!   It runs in the working directory, since its arguments are paths there.
//! - It ends within the time limit, with all that it started, whatever it prints or reads. More than [`MOST_BYTES`] is no answer.
//!
//! Threads of their own read and write, so that a command that neither reads nor writes, or hands its output on to another process,
//! cannot hold the caller.

use std::io::{Read, Write};
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use sqlgauge_base::child::Family;
use sqlgauge_base::program;
use sqlgauge_dataset::Example;

use super::ask::{MOST_BYTES, Patience};

/// Bytes of the end of standard error from which a message is taken.
const LAST_BYTES: usize = 4 << 10;
/// Bytes of standard error that are read at a time.
const PIECE_BYTES: usize = 64 << 10;
/// How often a command is looked at.
const POLL: Duration = Duration::from_millis(10);
/// How long what a command wrote last may be under way, after it has ended.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// Asks a command for the answer to a question.
///
/// # Errors
/// Why there is no answer.
pub(super) fn ask(words: &[String], example: &Example, patience: Patience<'_>) -> Result<String, String> {
    let deadline = Instant::now() + patience.time;
    let mut running =
        Running::start(words, example).map_err(|error| format!("cannot be started: {error}"))?;
    let mut output = None;
    let status = loop {
        if patience.stop.load(Ordering::Relaxed) {
            return Err("stopped".to_owned());
        }
        if Instant::now() >= deadline {
            return Err(format!("no answer within {} s (--timeout)", patience.time.as_secs_f64()));
        }
        output = output.or_else(|| running.output.recv_timeout(POLL).ok());
        if matches!(output, Some(None)) {
            return Err(format!("printed more than {} KiB", MOST_BYTES >> 10));
        }
        if running.family.has_ended() {
            break running.family.end().map_err(|error| error.to_string())?;
        }
        if output.is_some() {
            thread::sleep(POLL);
        }
    };
    if !status.success() {
        return Err(ending(status, &running.last_words()));
    }
    match output.or_else(|| running.output.recv_timeout(LAST_WORDS).ok()) {
        Some(Some(bytes)) => String::from_utf8(bytes).map_err(|_| "printed what is not UTF-8".to_owned()),
        Some(None) => Err(format!("printed more than {} KiB", MOST_BYTES >> 10)),
        None => Err("left its output to a process that does not end".to_owned()),
    }
}

struct Running {
    family: Family,
    /// All of standard output, or nothing where it was too much.
    output: Receiver<Option<Vec<u8>>>,
    /// The end of standard error.
    errors: Receiver<Vec<u8>>,
}

impl Running {
    fn start(words: &[String], example: &Example) -> std::io::Result<Self> {
        let mut command = program::command_here(Path::new(&words[0]))?;
        command
            .args(&words[1..])
            .env("SQLGAUGE_ID", &example.id)
            .env("SQLGAUGE_DB_ID", &example.db_id)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut family = Family::start(&mut command)?;
        let child = family.child();
        let (input, output, errors) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let question = example.question.clone().unwrap_or_default();
        // A command that does not read its input closes the pipe, which is no fault.
        thread::spawn(move || input.map(|mut input| input.write_all(question.as_bytes())));
        let (to_output, of_output) = channel();
        let (to_errors, of_errors) = channel();
        thread::spawn(move || output.map(|output| to_output.send(whole(output))));
        thread::spawn(move || errors.map(|errors| to_errors.send(end_of(errors))));
        Ok(Self { family, output: of_output, errors: of_errors })
    }

    /// The last line of standard error that has something in it.
    fn last_words(&self) -> String {
        let bytes = match self.errors.recv_timeout(LAST_WORDS) {
            Ok(bytes) => bytes,
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return String::new(),
        };
        let text = String::from_utf8_lossy(&bytes);
        text.lines().rev().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default().to_owned()
    }
}

/// All that is written, or nothing where it is more than an answer may have.
fn whole(output: impl Read) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let _ = output.take(MOST_BYTES as u64 + 1).read_to_end(&mut bytes);
    (bytes.len() <= MOST_BYTES).then_some(bytes)
}

/// The end of what is written. All of it is read, so that its writer does not wait.
fn end_of(mut errors: impl Read) -> Vec<u8> {
    let mut last = Vec::new();
    let mut piece = vec![0; PIECE_BYTES];
    while let Ok(length @ 1..) = errors.read(&mut piece) {
        last.extend_from_slice(&piece[..length]);
        let over = last.len().saturating_sub(LAST_BYTES);
        last.drain(..over);
    }
    last
}

fn ending(status: ExitStatus, last_words: &str) -> String {
    let how = match status.code() {
        Some(code) => format!("ended with exit code {code}"),
        None => "was ended by a signal".to_owned(),
    };
    if last_words.is_empty() { how } else { format!("{how}: {last_words}") }
}
