//! Progress of a run: a bar with rate and remaining time on a terminal, plain lines elsewhere.

use std::cell::Cell;
use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use sqlgauge_run::{Observer, Repair};

use crate::output::{note, say};

/// Time between two plain lines.
pub const LINE_EVERY: Duration = Duration::from_secs(10);

/// Shows the progress of a run on standard error.
pub struct Progress {
    bar: ProgressBar,
    quiet: bool,
    plain: bool,
    total: Cell<usize>,
    last_line: Cell<Instant>,
}

impl Progress {
    /// `quiet` shows nothing.
    pub fn new(quiet: bool) -> Self {
        let on_terminal = std::io::stderr().is_terminal();
        let target =
            if quiet || !on_terminal { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        let bar = ProgressBar::with_draw_target(None, target);
        if let Ok(style) =
            ProgressStyle::with_template("{bar:40} {human_pos}/{human_len} items  {per_sec}  {eta} left")
        {
            bar.set_style(style);
        }
        let plain = !quiet && !on_terminal;
        Self { bar, quiet, plain, total: Cell::new(0), last_line: Cell::new(Instant::now()) }
    }

    fn note(&self, text: &str) {
        if !self.quiet {
            self.bar.suspend(|| note(text));
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
        self.total.set(total);
        self.bar.set_length(total as u64);
        self.bar.set_position(resumed as u64);
        self.bar.reset_eta();
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
        self.bar.set_position(done as u64);
        if self.plain && self.last_line.get().elapsed() >= LINE_EVERY {
            self.last_line.set(Instant::now());
            say(&format!("{done} of {} items scored", self.total.get()));
        }
    }
}
