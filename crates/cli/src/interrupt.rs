//! SIGINT and SIGTERM.
//!
//! A command that goes on where it was broken off is asked to stop ([`asked_to_stop`]): it finishes the line that it
//! writes and ends with [`Stopped`]. Any other ends at once: what it was preparing is taken away, and no output is
//! changed. Either way it is said how to go on, and the exit code is 130 or 143. A second signal ends the process
//! without a word.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::Duration;

use signal_hook::consts::{SIGINT, SIGTERM};
use sqlgauge_base::child::end_all;
use sqlgauge_base::file::abandon_pending;
use sqlgauge_core::cli::stdin;

use crate::output;

/// How long a signal may go unnoticed.
const POLL: Duration = Duration::from_millis(40);

/// The signal that came.
static CAUGHT: AtomicUsize = AtomicUsize::new(0);
/// Whether the command stops by itself when it is asked to.
static STOPS_BY_ITSELF: AtomicBool = AtomicBool::new(false);
/// Whether the process ends already: by itself, or by a signal. What comes second changes nothing.
static ENDS: AtomicBool = AtomicBool::new(false);
static STOP: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);
/// What a person should know when the command is broken off.
static HOW_TO_GO_ON: Mutex<String> = Mutex::new(String::new());

/// Listens from now on. Without a handler the system's own stays, which ends the process.
pub(crate) fn listen() {
    ENDS.store(false, Ordering::SeqCst);
    let (number, second) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
    for signal in [SIGINT, SIGTERM] {
        let code = usize::try_from(signal).unwrap_or_default();
        // In this order: the first signal finds that there was none.
        let _ = signal_hook::flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&second))
            .and_then(|_| signal_hook::flag::register(signal, Arc::clone(&second)))
            .and_then(|_| signal_hook::flag::register_usize(signal, Arc::clone(&number), code));
    }
    // A file that grows beyond `ulimit -f` is an error of the write, as a full disk is, and not the end of the process.
    #[cfg(unix)]
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Arc::new(AtomicBool::new(false)));
    let watch = move || {
        while number.load(Ordering::SeqCst) == 0 {
            std::thread::sleep(POLL);
        }
        CAUGHT.store(number.load(Ordering::SeqCst), Ordering::SeqCst);
        STOP.store(true, Ordering::SeqCst);
        while STOPS_BY_ITSELF.load(Ordering::SeqCst) {
            std::thread::sleep(POLL);
        }
        end();
    };
    let _ = std::thread::Builder::new().name("signals".to_owned()).spawn(watch);
}

/// In a process that another one of ours started: a signal to all of them, as a terminal sends it, is for that one, which
/// finishes what it is at and needs this one for it. This one ends with it.
pub(crate) fn leave_to_starter() {
    for signal in [SIGINT, SIGTERM] {
        let _ = signal_hook::flag::register(signal, Arc::new(AtomicBool::new(false)));
    }
}

/// What is said when the command is broken off: what is kept, and how to go on.
pub(crate) fn how_to_go_on(text: impl Into<String>) {
    *HOW_TO_GO_ON.lock().unwrap_or_else(PoisonError::into_inner) = text.into();
}

/// Set by a signal.
pub(crate) fn asked_to_stop() -> &'static Arc<AtomicBool> {
    &STOP
}

/// As long as this is there, a signal is a wish ([`asked_to_stop`]) and not the end.
pub(crate) struct Gently(());

impl Gently {
    pub(crate) fn new() -> Self {
        STOPS_BY_ITSELF.store(true, Ordering::SeqCst);
        Self(())
    }

    /// The error of a command that has stopped.
    pub(crate) fn stopped(self, text: impl Into<String>) -> Stopped {
        // The watcher must not end the process before the error is told.
        std::mem::forget(self);
        Stopped(text.into())
    }
}

impl Drop for Gently {
    fn drop(&mut self) {
        STOPS_BY_ITSELF.store(false, Ordering::SeqCst);
    }
}

/// A command was stopped by a signal; what was done, and how to go on.
#[derive(Debug)]
pub(crate) struct Stopped(String);

impl fmt::Display for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Stopped {}

/// The exit code of a process that a signal ended.
pub(crate) fn exit_code() -> u8 {
    u8::try_from(128 + CAUGHT.load(Ordering::SeqCst)).unwrap_or(130)
}

/// The command has done its work, unless a signal was faster, which then ends the process.
pub(crate) fn done() {
    while ENDS.swap(true, Ordering::SeqCst) {
        std::thread::park();
    }
}

fn end() {
    if ENDS.swap(true, Ordering::SeqCst) {
        return;
    }
    abandon_pending();
    end_all();
    stdin::forget();
    let text = HOW_TO_GO_ON.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let text = if text.is_empty() {
        "no output was changed; the same command begins again".to_owned()
    } else {
        text
    };
    output::say(&format!("interrupted: {text}"));
    std::process::exit(exit_code().into());
}
