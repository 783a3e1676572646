//! Progress of a run: a bar with rate and remaining time on a terminal, plain lines elsewhere.

use std::fmt::Write;
use std::io::IsTerminal;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use sqlgauge_core::Watcher;

use crate::interrupt::{Gently, Stopped};
use crate::output::{note, say};

/// Time between two plain lines.
pub(crate) const LINE_EVERY: Duration = Duration::from_secs(10);

/// The time that is left at the mean pace so far: one slow item must not look like weeks. `None` before the first is done.
fn time_left(elapsed: Duration, [resumed, done, total]: [usize; 3]) -> Option<Duration> {
    let here = done.checked_sub(resumed).filter(|&here| here > 0)?;
    Some(elapsed.mul_f64(total.saturating_sub(done) as f64 / here as f64))
}

/// Shows how far a job has got, on standard error.
pub(crate) struct Progress {
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
    /// Those that were done before it began.
    resumed: usize,
    since: Instant,
    last_line: Instant,
    /// What else is true of it.
    detail: String,
}

impl Work {
    fn new(noun: &'static str, total: usize, resumed: usize) -> Self {
        let now = Instant::now();
        Self { noun, total, resumed, since: now, last_line: now, detail: String::new() }
    }
}

impl Progress {
    /// `is_quiet` shows nothing.
    pub(crate) fn new(is_quiet: bool) -> Self {
        let on_terminal = std::io::stderr().is_terminal();
        let target = if is_quiet || !on_terminal {
            ProgressDrawTarget::hidden()
        } else {
            ProgressDrawTarget::stderr()
        };
        let bar = ProgressBar::with_draw_target(None, target);
        let work = Work::new("items", 0, 0);
        let is_plain = !is_quiet && !on_terminal;
        Self { bar, is_quiet, is_plain, work: Mutex::new(work), gently: Mutex::default() }
    }

    /// The error of a job that stopped because of a signal.
    pub(crate) fn stopped(&self, text: impl Into<String>) -> Stopped {
        let gently = self.gently.lock().unwrap_or_else(PoisonError::into_inner).take();
        gently.unwrap_or_else(Gently::new).stopped(text)
    }

    /// Takes the bar away.
    pub(crate) fn finish(&self) {
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
        *self.work.lock().unwrap_or_else(PoisonError::into_inner) = Work::new(noun, total, resumed);
        let template = format!("{{bar:40}} {{human_pos}}/{{human_len}} {noun}  {{left}}  {{msg}}");
        if let Ok(style) = ProgressStyle::with_template(&template) {
            self.bar.set_style(style.with_key("left", move |state: &ProgressState, out: &mut dyn Write| {
                let done = usize::try_from(state.pos()).unwrap_or(total);
                let left = time_left(state.elapsed(), [resumed, done, total]);
                let _infallible = left.map(|left| write!(out, "{} left", HumanDuration(left)));
            }));
        }
        self.bar.set_length(total as u64);
        self.bar.set_position(resumed as u64);
        self.bar.reset_elapsed();
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
            let Work { noun, total, resumed, since, detail, .. } = &*work;
            let detail = if detail.is_empty() { String::new() } else { format!(", {detail}") };
            // While one item holds the rest up, the mean pace says nothing.
            let left = time_left(since.elapsed(), [*resumed, done, *total]).filter(|_| detail.is_empty());
            let left = left.map_or_else(String::new, |left| format!(", {} left", HumanDuration(left)));
            say(&format!("{done} of {total} {noun} done{left}{detail}"));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_left_goes_by_the_mean_pace_of_what_was_done_here() {
        let minute = Duration::from_mins(1);
        assert_eq!(time_left(minute, [0, 30, 120]), Some(minute * 3));
        assert_eq!(time_left(minute, [100, 110, 120]), Some(minute));
        assert_eq!(time_left(minute, [100, 100, 120]), None);
        assert_eq!(time_left(minute, [0, 120, 120]), Some(Duration::ZERO));
    }

    #[test]
    fn an_item_that_stands_still_adds_no_more_than_its_own_share() {
        let before = time_left(Duration::from_mins(1), [0, 100, 200]);
        let after = time_left(Duration::from_mins(2), [0, 100, 200]);
        assert_eq!(after, before.map(|left| left * 2));
    }
}
