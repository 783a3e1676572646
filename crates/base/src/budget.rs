//! Limits the analysis of untrusted texts by a budget of steps.
//!
//! # Contract
//! [`within`] runs an analysis that may take so many steps, and says [`TooComplex`] if it would take more. [`spend`] is
//! what walks, copies and searches call for their steps; outside of [`within`] it counts nothing. Steps and not time
//! decide, so that the same text has the same outcome on every machine.
//!
//! An analysis inside of another has a budget of its own and takes nothing from the other's: what is computed once and
//! shared must not depend on who asked for it first.
//!
//! An analysis that is over budget unwinds to its [`within`], from whatever depth and without the panic hook, so that
//! no walk in between has to carry the outcome. The steps belong to a thread: an analysis does not leave its own.
//!
//! The numbers stand here and nowhere else. One step takes a few nanoseconds; the largest query of the benchmarks and
//! predictions at hand takes less than a tenth of any of them.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// Steps to resolve a text against a schema.
pub const RESOLVE: u64 = 20_000_000;
/// Steps of one metric, or of one command, on a resolved query or a pair of them.
pub const ANALYSIS: u64 = 30_000_000;
/// Steps of printing a query for one dialect.
pub const TRANSLATION: u64 = 3_000_000;
/// Steps of one search for a counterexample, over all the databases that it tries.
pub const SEARCH: u64 = 30_000_000;
/// Steps for copying a node of a tree: what takes memory costs more than what looks at it.
pub const COPY: usize = 30;

/// The stack for texts that may nest deeply: what is not used of it costs nothing.
const DEEP_STACK_BYTES: usize = 256 << 20;
/// From how many bytes on a text may nest so deeply that it needs that stack.
const LONG_TEXT_BYTES: usize = 4_000;

thread_local! {
    static LEFT: Cell<u64> = const { Cell::new(u64::MAX) };
    /// What analyses with a budget of their own have taken.
    static TAKEN: Cell<u64> = const { Cell::new(0) };
}

/// The analysis takes more steps than it may.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("too_complex: its analysis takes more than {steps} steps")]
pub struct TooComplex {
    /// How many it may take.
    pub steps: u64,
}

/// What unwinds.
struct Spent;

/// Runs an analysis that may take that many steps.
///
/// # Errors
/// When it takes more.
pub fn within<T>(steps: u64, analysis: impl FnOnce() -> T) -> Result<T, TooComplex> {
    let around = LEFT.replace(steps);
    let outcome = catch_unwind(AssertUnwindSafe(analysis));
    TAKEN.set(TAKEN.get().saturating_add(steps - LEFT.replace(around)));
    outcome.map_err(|cause| match cause.downcast::<Spent>() {
        Ok(_) => TooComplex { steps },
        Err(other) => resume_unwind(other),
    })
}

/// Runs an analysis of texts of so many bytes, which may take [`ANALYSIS`] steps, on a stack that is large enough.
///
/// # Errors
/// When it takes more steps.
pub fn analyse<T>(bytes: usize, analysis: impl FnOnce() -> T) -> Result<T, TooComplex> {
    analyse_within(ANALYSIS, bytes, analysis)
}

/// Runs an analysis of texts of so many bytes, which may take that many steps, on a stack that is large enough.
///
/// # Errors
/// When it takes more steps.
pub fn analyse_within<T>(steps: u64, bytes: usize, analysis: impl FnOnce() -> T) -> Result<T, TooComplex> {
    within(steps, || {
        if bytes < LONG_TEXT_BYTES { analysis() } else { stacker::grow(DEEP_STACK_BYTES, analysis) }
    })
}

/// Takes steps from the budget of the analysis at hand, and ends it if they are not there.
#[inline]
pub fn spend(steps: usize) {
    match LEFT.get().checked_sub(steps as u64) {
        Some(left) => LEFT.set(left),
        None => resume_unwind(Box::new(Spent)),
    }
}

/// Takes the steps of copying that many nodes.
#[inline]
pub fn copy(nodes: usize) {
    spend(nodes.saturating_mul(COPY));
}

/// How many steps of the budget at hand an analysis takes.
pub fn taking<T>(analysis: impl FnOnce() -> T) -> (T, u64) {
    let before = LEFT.get();
    let value = analysis();
    (value, before.saturating_sub(LEFT.get()))
}

/// How many steps an analysis takes, those with a budget of their own included.
pub fn measure<T>(analysis: impl FnOnce() -> T) -> (T, u64) {
    let (around, before) = (LEFT.replace(u64::MAX), TAKEN.replace(0));
    let outcome = catch_unwind(AssertUnwindSafe(analysis));
    let left = LEFT.replace(around);
    let inside = TAKEN.replace(before);
    match outcome {
        Ok(value) => (value, (u64::MAX - left).saturating_add(inside)),
        Err(cause) => resume_unwind(cause),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_analysis_ends_where_its_steps_do() {
        let count = |upto: usize| (0..upto).map(|_| spend(1)).count();
        assert_eq!(within(10, || count(10)), Ok(10));
        assert_eq!(within(10, || count(11)), Err(TooComplex { steps: 10 }));
        // Nothing is left over from what was ended.
        assert_eq!(measure(|| count(7)), (7, 7));
        assert_eq!(measure(|| (count(2), within(10, || count(3)))), ((2, Ok(3)), 5));
        assert_eq!(within(10, || taking(|| (count(2), within(10, || count(3))))), Ok(((2, Ok(3)), 2)));
    }

    #[test]
    fn an_inner_analysis_has_a_budget_of_its_own() {
        let inner = || within(100, || spend(90));
        assert_eq!(within(10, || (inner(), spend(10))), Ok((Ok(()), ())));
        assert_eq!(within(10, || within(5, || spend(6))), Ok(Err(TooComplex { steps: 5 })));
    }

    #[test]
    fn another_panic_is_passed_on() {
        let outcome = catch_unwind(|| within(10, || resume_unwind(Box::new("other"))));
        assert_eq!(outcome.err().and_then(|cause| cause.downcast::<&str>().ok()).as_deref(), Some(&"other"));
    }
}
