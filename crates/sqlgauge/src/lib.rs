//! What the command line and the Python package share: from texts and files to results.
//!
//! A function here is one command without its arguments and its printing. It reads no environment variable, prints
//! nothing and ends no process; what it needs of its surroundings (the program whose processes run queries, the solver,
//! a wish to stop) it is given.
//!
//! - [`worker_of`] names the program that runs queries in processes of its own.
//! - [`match_pair`] tells whether two queries mean the same: `sqlgauge match`.
//! - [`verify_over_database`], [`verify_over_schema`]: `sqlgauge verify` on a pair; [`PairsJob`] on a file of pairs.
//! - [`ScoreJob`] scores predictions against golds into a run directory: `sqlgauge score`. [`OpenRun`] is what is between
//!   its reading and its report, [`StoredReport`] a run that is there.
//! - [`merge_runs`] puts the parts of a run together: `sqlgauge merge`.
//! - [`EstimateJob`] estimates the accuracy of predictions without labels: `sqlgauge estimate`.
//! - [`EvaluateJob`] does the same from embeddings by an evaluator: `sqlgauge estimate --evaluator`. [`FitJob`] makes an
//!   evaluator, [`AdaptJob`] adapts one to another system.
//! - [`ShiftJob`] measures how far one workload lies from another: `sqlgauge shift`.
//! - [`TablesJob`] builds databases from loose CSV and Parquet files: `sqlgauge tables`.
//! - [`keep_inputs`] and its like refuse an output that would take the place of an input.
//! - [`sentence`] is an error as one sentence.

mod context;
mod demo;
mod error;
mod estimate;
mod evaluate;
mod fit;
mod guard;
#[cfg(feature = "services")]
mod llm;
mod match_pair;
mod merge;
mod open_run;
mod pairs;
mod sample;
mod score;
mod score_pair;
mod sentence;
mod settings;
mod shift;
mod source;
mod tables;
mod verify_pair;
mod worker;

pub use context::{Context, Watcher};
pub use demo::{BeforeAndAfter, Demo, DemoJob, EstimateAndTruth, MatchedAnswer, RefutedAnswer, ShownPair};
pub use error::{Error, asks};
#[cfg(feature = "services")]
pub use estimate::JudgeSettings;
pub use estimate::{
    EstimateHistory, EstimateJob, EstimateRecords, Estimated, SystemLabels, check_estimate_options,
};
pub use evaluate::EvaluateJob;
pub use fit::{AdaptJob, FitJob};
pub use guard::{keep_database, keep_inputs, keep_inputs_of_run, keep_run};
#[cfg(feature = "services")]
pub use llm::LlmSettings;
pub use match_pair::{Known, comparison_to_json, match_pair};
pub use merge::merge_runs;
pub use open_run::{OpenRun, StoredReport};
pub use pairs::PairsJob;
pub use sample::Sample;
pub use score::{ScoreJob, System};
pub use score_pair::ScorePairJob;
pub use sentence::sentence;
pub use settings::{NOW, VerifySettings, gates_of, metrics_of, recorded_now, recorded_options, verifies};
pub use shift::{ShiftJob, WorkloadShift};
pub use source::{Source, digest_sources};
pub use tables::TablesJob;
pub use verify_pair::{verify_over_database, verify_over_schema};
pub use worker::{WORKER_ARGUMENT, worker_of};
