//! What schema changes do to the scores of systems (`EvoSchema`, section 6).
//!
//! # Contract
//! - A [`Robustness`] has for each system the scores of Table 3 of the paper (Table Match F1, Column Match F1, execution
//!   accuracy: [`METRICS`]) on the original and on each evolved benchmark, with the 95 % intervals of every summary.
//! - An evolved benchmark has fewer items than the original where a kind is not feasible for all. So each row also has the
//!   original's scores *on the same items*, and the paired difference with its interval and its test (exact `McNemar` for
//!   execution accuracy). A row of different items than the original's row says nothing by itself.
//! - Average over the changes: the mean over every kind in scope that has items. A kind of several intensities counts once. Its
//!   interval is a bootstrap over the original's items, since an item is in many rows. Steps of a history do not count.
//! - Average with the original: the same with the original as one more kind. Only so are the paper's averages reproduced.
//! - Answers to the original that are scored on an evolved benchmark are counted, and the report says that nobody was asked again.
//! - Out of scope: the share of questions without an answer on which a system abstains (true positives), and of questions
//!   with one (false positives); what an abstention is says [`sqlgauge_dataset::is_abstention`]. A missing prediction is none.
//! - What does not apply is null, never 0.

mod average;
mod error;
mod evolved;
mod measure;
mod model;
pub mod report;

pub use error::RobustnessError;
pub use evolved::{Evolved, find};
pub use measure::{Abstentions, Original, OutOfScopeAnswers, Scored, measure};
pub use model::{
    ANSWERS_TO_ORIGINAL, AccuracyChange, DatabaseCell, METRICS, OutOfScopeRow, Robustness, RobustnessRow,
    SystemRobustness,
};
