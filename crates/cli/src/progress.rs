//! Progress of a run: a bar with rate and remaining time on a terminal, plain lines elsewhere.

use std::io::IsTerminal;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use sqlgauge::Watcher;

use crate::output::{note, say};

/// Time between two plain lines.
pub const LINE_EVERY: Duration = Duration::from_secs(10);

/// Shows how far a job has got, on standard error.
pub struct Progress {
    bar: ProgressBar,
    is_quiet: bool,
    /// Whether lines are written where there is no terminal for a bar.
    is_plain: bool,
    work: Mutex<Work>,
}

/// What is counted.
struct Work {
    noun: &'static str,
    total: usize,
    last_line: Instant,
}

impl Progress {
    /// `is_quiet` shows nothing.
    pub fn new(is_quiet: bool) -> Self {
        let on_terminal = std::io::stderr().is_terminal();
        let target = if is_quiet || !on_terminal {
            ProgressDrawTarget::hidden()
        } else {
            ProgressDrawTarget::stderr()
        };
        let bar = ProgressBar::with_draw_target(None, target);
        let work = Work { noun: "items", total: 0, last_line: Instant::now() };
        Self { bar, is_quiet, is_plain: !is_quiet && !on_terminal, work: Mutex::new(work) }
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

impl Watcher for Progress {
    fn note(&self, text: &str) {
        if !self.is_quiet {
            self.bar.suspend(|| note(text));
        }
    }

    fn started(&self, noun: &'static str, total: usize, resumed: usize) {
        *self.work.lock().unwrap_or_else(PoisonError::into_inner) =
            Work { noun, total, last_line: Instant::now() };
        let template = format!("{{bar:40}} {{human_pos}}/{{human_len}} {noun}  {{per_sec}}  {{eta}} left");
        if let Ok(style) = ProgressStyle::with_template(&template) {
            self.bar.set_style(style);
        }
        self.bar.set_length(total as u64);
        self.bar.set_position(resumed as u64);
        self.bar.reset_eta();
        let rest = match total - resumed {
            _ if resumed == 0 => return,
            0 => return self.note(&format!("all {total} {noun} were done before; nothing is left to do")),
            1 => "the last one is done now".to_owned(),
            left => format!("{left} are done now"),
        };
        self.note(&format!("{resumed} of {total} {noun} were done before; {rest}"));
    }

    fn advanced(&self, done: usize) {
        self.bar.set_position(done as u64);
        let mut work = self.work.lock().unwrap_or_else(PoisonError::into_inner);
        if self.is_plain && work.last_line.elapsed() >= LINE_EVERY {
            work.last_line = Instant::now();
            say(&format!("{done} of {} {} done", work.total, work.noun));
        }
    }
}
