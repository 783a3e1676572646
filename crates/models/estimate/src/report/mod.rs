//! Reports of estimates: what an accuracy without labels rests on, one file per format.
//!
//! A [`Reliability`] is plain data, filled by the caller. Nothing is estimated here; [`drift`] only compares estimates
//! that follow each other. Questions and predictions are treated as hostile, as everywhere in this crate.

mod document;
pub mod drift;
mod folder;
mod history;
mod json;
mod model;
mod read;
pub(crate) mod words;

pub use folder::FILES;
pub use history::{BatchName, History, Line as HistoryLine};
pub use json::json;
pub use model::{AccuracyInterval, Answer, EstimatePart, Reliability, Signal, SystemEstimate};
pub use read::ALARM_BELOW;

/// Predictions that reports list per system, those that are most likely wrong first.
pub(crate) const LISTED_PREDICTIONS: usize = 50;
