//! Reports of estimates: what an accuracy without labels rests on, one file per format.
//!
//! A [`Reliability`] is plain data, filled by the caller. Nothing is estimated here; [`drift`] only compares estimates
//! that follow each other. Questions and predictions are treated as hostile, as everywhere in this crate.

pub mod drift;
mod folder;
mod history;
mod html;
mod json;
mod markdown;
mod model;
mod read;
mod sheets;
mod table;
pub(crate) mod words;

pub use folder::FILES;
pub use history::History;
pub use html::html;
pub use json::json;
pub use markdown::markdown;
pub use model::{AccuracyInterval, Answer, EstimatePart, Reliability, Signal, SystemEstimate};
pub use read::ALARM_BELOW;
pub use table::table;

/// Predictions that reports list per system, those that are most likely wrong first.
pub(crate) const LISTED_PREDICTIONS: usize = 50;
