//! Reports of a run, one file per format under [`formats`], and the terminal view of one item; reports of estimates
//! under [`reliability`]; of
//! schema changes under [`robustness`]; charts under [`charts`].
//!
//! A [`Report`] is plain data: what was run, the summary, and the items. Nothing is computed here that the
//! summary already says, nothing is printed, and every text that comes from a benchmark or from a system is
//! treated as hostile: escaped by the rules of the format that it goes into.

pub mod charts;
pub mod diff;
mod error;
pub mod formats;
mod grid;
mod kind;
mod layout;
mod number;
pub mod page;
pub mod reliability;
mod report;
pub mod robustness;
mod show;
mod spotit;
mod style;
mod system_table;
mod together;
mod token;
mod verdict;
mod verdicts;
mod versus;
mod view;
mod warning;

pub use error::ReportError;
pub use formats::{Format, all, find};
pub use kind::Nature;
pub use report::{GateOutcome, Report};
pub use show::{ShowOptions, show};
pub use together::write_together;
pub use verdict::verdict;
pub use verdicts::Verdicts;
pub use versus::Versus;
pub use view::{CounterexampleView, ItemView, ResultView};
pub use warning::{no_gold_runs, notes, warnings};
