//! What a report of estimates is made from.

pub use crate::{
    AccuracyInterval, Estimate as SystemEstimate, EstimatePart, ItemEstimate as Answer, SignalValue as Signal,
};
use sqlgauge_run::Manifest;

use super::drift::Series;

/// Estimates of one or several systems on one target.
#[derive(Debug, Clone, PartialEq)]
pub struct Reliability {
    /// What was read and how: tool version, command, inputs, options, number of questions.
    pub manifest: Manifest,
    pub target: String,
    /// One per system, in the order asked for.
    pub estimates: Vec<SystemEstimate>,
    /// Estimates that follow each other, one series per system; empty where there are none.
    pub drift: Vec<Series>,
    /// The bar of `--alarm-below`.
    pub alarm_below: Option<f64>,
}

impl Reliability {
    /// The systems with the highest estimate first.
    pub fn ranked(&self) -> Vec<&SystemEstimate> {
        let mut ranked: Vec<&SystemEstimate> = self.estimates.iter().collect();
        ranked.sort_by(|a, b| b.accuracy.total_cmp(&a.accuracy));
        ranked
    }
}
