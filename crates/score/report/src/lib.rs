//! Reports of a run, one file per format under [`formats`], and the terminal view of one item.
//!
//! Every report is a [`Document`](document::Document), which is written for a terminal, as Markdown and as HTML. What it says of
//! estimates, schema changes, audits and corpora is in their crates; [`charts`] and [`words`] are for all.
//!
//! A [`Report`] is plain data: what was run, the summary, and the items. Nothing is computed here that the
//! summary already says, nothing is printed, and every text that comes from a benchmark or from a system is
//! treated as hostile: escaped by the rules of the format that it goes into.

mod breakdown;
pub mod charts;
pub mod clusters;
mod counterexample;
pub mod diff;
pub mod document;
mod error;
mod fixes;
pub mod formats;
mod grid;
mod kind;
pub mod layout;
pub mod number;
mod overview;
mod page;
mod part;
mod report;
mod show;
mod solver_alone;
mod spotit;
mod style;
mod system_table;
mod together;
pub mod token;
mod transcripts;
mod verdict;
mod verdicts;
mod versus;
mod view;
mod warning;
pub mod words;

pub use counterexample::counterexample_sentences;
pub use error::ReportError;
pub use fixes::title as cause_title;
pub use formats::{ReportFormat, all, find};
pub use kind::Nature;
pub use overview::scores;
pub use part::part;
pub use report::{GateOutcome, Report};
pub use show::{ShowOptions, show};
pub use style::Painter;
pub use together::write_together;
pub use verdict::verdict;
pub use verdicts::Verdicts;
pub use versus::Versus;
pub use view::ItemView;
pub use warning::{executes, no_gold_runs, notes, warnings};
