//! The fewest labels that make an accuracy, a difference or a leaderboard sure.
//!
//! [`Design`] and [`Labelling`] say what to label next and when it is enough; [`proxy`] says what is likely before a label;
//! [`LabelFolder`] keeps plan, draws and labels.

mod design;
mod error;
mod folder;
mod plan;
pub mod proxy;
mod recalibrate;
mod rows;
#[cfg(test)]
mod tests;

pub use design::{
    Answers, BATCH, Batch, Design, Draw, Goal, Labelling, Quantity, Standing, Verdicts, random_labels,
};
pub use error::LabelError;
pub use folder::{Added, LabelFolder, QuantityStanding, Standings};
pub use plan::{LabelPlan, PlanAnswer, PlanItem, Wanted};
pub use rows::{BatchRow, DrawRow, LabelRow, Verdict};
