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
//! - [`keep_inputs`] and its like refuse an output that would take the place of an input.
//! - [`sentence`] is an error as one sentence.

mod context;
mod error;
mod estimate;
mod guard;
mod llm;
mod match_pair;
mod merge;
mod open_run;
mod pairs;
mod score;
mod sentence;
mod settings;
mod source;
mod verify_pair;
mod worker;

pub use context::{Context, Watcher};
pub use error::{Error, asks};
pub use estimate::{EstimateJob, Estimated, SystemLabels, check_estimate_options};
pub use guard::{keep_database, keep_inputs, keep_inputs_of_run, keep_run};
pub use llm::LlmSettings;
pub use match_pair::{Known, comparison_to_json, match_pair};
pub use merge::merge_runs;
pub use open_run::{OpenRun, StoredReport};
pub use pairs::PairsJob;
pub use score::{MakeEngine, ScoreJob, Surroundings, System};
pub use sentence::sentence;
pub use settings::{NOW, VerifySettings, gates_of, metrics_of, recorded_now, recorded_options, verifies};
pub use source::{Source, digest_sources};
pub use verify_pair::{verify_over_database, verify_over_schema};
pub use worker::{WORKER_ARGUMENT, worker_of};
