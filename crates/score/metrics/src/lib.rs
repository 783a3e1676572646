//! Metrics for Text-to-SQL: one file per metric, and the statistics of their scores.
//!
//! - [`Metric`] is what every metric is; [`all`] lists them, [`find`] looks one up by id.
//! - [`Pair`] is what a metric scores: a gold, a prediction and the [`Target`] database. Metrics that look at
//!   one pair share its executions.
//! - [`lexical`] has the form of a text that all texts share which SQLite cannot tell apart.
//! - [`score_best`] scores a prediction against several accepted golds.
//!
//! A metric's contract stands at the head of its file. A gold that fails is the benchmark's failure: every
//! execution metric is then null. A prediction that fails scores 0 with the reason.

mod best;
mod column_f1;
pub mod columns;
mod detail;
pub mod esm;
mod esm_fair;
mod etm;
mod ex;
pub mod ex_bird;
pub mod ex_spider;
mod ex_subset;
mod ex_tolerance;
mod exact_set_match;
mod fitting;
pub mod lexical;
mod metric;
pub mod official;
mod order_text;
mod pack;
mod pair;
mod r_ves;
mod registry;
pub mod set_f1;
pub mod soft_f1;
mod suite;
mod table_f1;
mod timing;
mod verification;
mod verify;
mod ves;
mod vm_steps;

pub use best::score_best;
pub use detail::MetricDetail;
pub use metric::{Metric, MetricInfo, MetricKind, Reads, Score};
pub use pack::PackedTarget;
pub use pair::{GoldFacts, Pair, Target};
pub use r_ves::RVes;
pub use registry::{UnknownMetric, all, find, is_execution_accuracy, lower_is_better, recorded};
pub use suite::{suite_execution_match, suite_execution_match_plugged};
pub use verification::Verification;
pub use verify::{execution_metric, is_verify, score_of_verdict, verify_id, verify_semantics};
pub use ves::Ves;
