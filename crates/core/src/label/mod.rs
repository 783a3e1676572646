//! The fewest labels that make a number sure: `sqlgauge label`.
//!
//! # Contract
//! - [`LabelPlanJob`] runs the answers and writes a plan; the others need its folder alone, and the databases to show rows.
//! - What is drawn and what the number is follows from plan, draws and labels ([`LabelFolder`]). Golds are not read.
//! - Queries are untrusted and run as everywhere.

mod add;
mod ask;
mod document;
mod plan;
mod trial;

use std::path::Path;

use sqlgauge_estimate::labelling::LabelFolder;

pub use self::add::LabelAddJob;
pub use self::ask::{JudgedResult, LabelNextJob, LabelQuestion, TextRows, WitnessOfTwo};
pub use self::document::{label_document, label_goal, label_sentence};
pub use self::plan::LabelPlanJob;
pub use self::trial::{LabelTrial, LabelTrialJob};
use crate::error::Error;

fn open(folder: &Path) -> Result<LabelFolder, Error> {
    Ok(LabelFolder::open(folder)?)
}
