//! Progress of a run: a bar with rate and remaining time on a terminal, plain lines elsewhere.

use std::io::IsTerminal;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};
use sqlgauge::Watcher;

use crate::interrupt::{Gently, Stopped};
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
    /// As long as it is there, a signal is a wish.
    gently: Mutex<Option<Gently>>,
}

/// What is counted.
struct Work {
    noun: &'static str,
    total: usize,
    last_line: Instant,
    /// What else is true of it.
    detail: String,
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
        let work = Work { noun: "items", total: 0, last_line: Instant::now(), detail: String::new() };
        let is_plain = !is_quiet && !on_terminal;
        Self { bar, is_quiet, is_plain, work: Mutex::new(work), gently: Mutex::default() }
    }

    /// The error of a job that stopped because of a signal.
    pub fn stopped(&self, text: impl Into<String>) -> Stopped {
        let gently = self.gently.lock().unwrap_or_else(PoisonError::into_inner).take();
        gently.unwrap_or_else(Gently::new).stopped(text)
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
            Work { noun, total, last_line: Instant::now(), detail: String::new() };
        let template =
            format!("{{bar:40}} {{human_pos}}/{{human_len}} {noun}  {{per_sec}}  {{eta}} left  {{msg}}");
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
            let Work { noun, total, detail, .. } = &*work;
            let detail = if detail.is_empty() { String::new() } else { format!(", {detail}") };
            let left = HumanDuration(self.bar.eta());
            say(&format!("{done} of {total} {noun} done, {left} left{detail}"));
        }
    }

    fn detail(&self, text: &str) {
        text.clone_into(&mut self.work.lock().unwrap_or_else(PoisonError::into_inner).detail);
        self.bar.set_message(text.to_owned());
    }

    fn heeds_stop(&self, heeds: bool) {
        let gently = heeds.then(Gently::new);
        *self.gently.lock().unwrap_or_else(PoisonError::into_inner) = gently;
    }
}
