//! Progress of a run: a bar with rate and remaining time on a terminal, plain lines elsewhere.

use std::io::IsTerminal;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use sqlgauge::Watcher;
use sqlgauge_run::{Observer, Repair};

use crate::output::{note, say};

/// Time between two plain lines.
pub const LINE_EVERY: Duration = Duration::from_secs(10);

/// What is being worked through, and when a plain line last said so.
struct Work {
    noun: &'static str,
    total: usize,
    last_line: Instant,
}

/// Shows the progress of a command on standard error.
pub struct Progress {
    bar: ProgressBar,
    quiet: bool,
    plain: bool,
    work: Mutex<Work>,
}

impl Progress {
    /// `quiet` shows nothing.
    pub fn new(quiet: bool) -> Self {
        let on_terminal = std::io::stderr().is_terminal();
        let target =
            if quiet || !on_terminal { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        let bar = ProgressBar::with_draw_target(None, target);
        let plain = !quiet && !on_terminal;
        let work = Work { noun: "items", total: 0, last_line: Instant::now() };
        Self { bar, quiet, plain, work: Mutex::new(work) }
    }

    fn note(&self, text: &str) {
        if !self.quiet {
            self.bar.suspend(|| note(text));
        }
    }

    /// Begins to count to `total`.
    fn begin(&self, noun: &'static str, total: usize, resumed: usize) {
        let mut work = self.work.lock().unwrap_or_else(PoisonError::into_inner);
        (work.noun, work.total) = (noun, total);
        self.bar.set_length(total as u64);
        self.bar.set_position(resumed as u64);
        self.bar.reset_eta();
        let template = format!("{{bar:40}} {{human_pos}}/{{human_len}} {noun}  {{per_sec}}  {{eta}} left");
        if let Ok(style) = ProgressStyle::with_template(&template) {
            self.bar.set_style(style);
        }
    }

    fn count(&self, done: usize, verb: &str) {
        self.bar.set_position(done as u64);
        let mut work = self.work.lock().unwrap_or_else(PoisonError::into_inner);
        if self.plain && work.last_line.elapsed() >= LINE_EVERY {
            work.last_line = Instant::now();
            say(&format!("{done} of {} {}{verb}", work.total, work.noun));
        }
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

impl Observer for Progress {
    fn repaired(&self, repair: &Repair) {
        self.note(&repair.to_string());
    }

    fn started(&self, total: usize, resumed: usize) {
        self.begin("items", total, resumed);
        match total - resumed {
            _ if resumed == 0 => {}
            0 => self.note(&format!("all {total} items were scored before; nothing is left to score")),
            1 => self
                .note(&format!("{resumed} of {total} items were scored before; the last one is scored now")),
            left => {
                self.note(&format!("{resumed} of {total} items were scored before; {left} are scored now"));
            }
        }
    }

    fn advanced(&self, done: usize) {
        self.count(done, " scored");
    }
}

impl Watcher for Progress {
    fn note(&self, text: &str) {
        Self::note(self, text);
    }

    fn started(&self, noun: &'static str, total: usize, resumed: usize) {
        self.begin(noun, total, resumed);
    }

    fn advanced(&self, done: usize) {
        self.count(done, "");
    }
}
