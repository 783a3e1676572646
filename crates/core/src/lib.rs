//! How good a Text-to-SQL system is: the jobs of sqlgauge, from files to typed results.
//!
//! Each job is one command of the `sqlgauge` program. It is a struct whose `new` takes what is required and fills the rest
//! with the command's defaults, and a `run` that takes a [`Context`]: who watches, where slow queries run, and a wish to
//! stop. A job prints nothing, reads no environment variable and ends no process. [`Error`] names the thing at fault and the
//! remedy; [`sentence`] is an error with its causes in one sentence.
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use sqlgauge_core::{Context, Sample};
//!
//! let folder = tempfile::tempdir()?;
//! let job = Sample::unpack(folder.path())?.score_job(&["ex", "verify"], folder.path().join("run"))?;
//! let report = job.run(&Context::default())?;
//! for system in &report.summary.systems {
//!     println!("{}: {:?}", system.system, system.scores["ex@1"].mean);
//! }
//! # Ok(())
//! # }
//! ```
//!
//! | Question | Job | Command |
//! |---|---|---|
//! | How good is it? | [`ScoreJob`], [`ScorePairJob`] for one pair | `score` |
//! | | [`ResultsJob`] for results computed elsewhere, [`BundleJob`] | `score --results`, `bundle` |
//! | | [`ReportJob`], [`merge_runs`] | `report`, `merge` |
//! | | [`SamplesJob`] for lists of answers | `score` |
//! | | [`InitJob`], [`GoldenJob`] for an application with golden questions | `init`, `run` |
//! | | [`VersionsJob`] under several versions of the golds | `score --gold A=… --gold B=…` |
//! | Which is better? | [`CompareJob`] | `compare` |
//! | Are the golds right? | [`AuditJob`] | `audit` |
//! | Which of several answers? | [`VoteJob`] | `vote` |
//! | Why is an answer wrong? | [`ShowJob`] | `show` |
//! | Are two queries equivalent? | [`match_pair`] by rules | `match` |
//! | | [`verify_over_database`], [`verify_over_schema`], [`PairsJob`] for a file | `verify` |
//! | | [`SuiteJob`] keeps the counterexamples, [`PackJob`] makes a small suite of a benchmark | `pack` |
//! | How often is a metric wrong? | [`MetricErrorsJob`], [`AblateJob`] rule by rule | `report --errors`, `rules ablate` |
//! | How good is it without labels? | [`EstimateJob`], [`EvaluateJob`] by an evaluator | `estimate` |
//! | | [`LabelPlanJob`], [`LabelNextJob`], [`LabelAddJob`] for the fewest labels that make it sure, [`LabelTrialJob`] | `label` |
//! | | [`ImportJob`] for labels judged elsewhere | `import` |
//! | | [`EncodeJob`], [`ShiftJob`], [`FitJob`], [`AdaptJob`] | `encode`, `shift`, `fit`, `adapt` |
//! | What if the schema changes? | [`EvolveJob`], [`RobustnessJob`] | `evolve`, `robustness` |
//! | How to get data? | [`SynthJob`], [`TablesJob`], [`AugmentJob`] | `synth`, `tables`, `evolve --training` |
//! | | [`CoverageJob`] compares corpora | `coverage` |
//! | How to get answers? | [`PredictJob`] | `predict` |
//! | How is it written elsewhere? | [`TranslateJob`] | `translate` |
//! | What does it look like? | [`DemoJob`] on the bundled [`Sample`] | `demo` |
//!
//! The other commands (`inspect`, `rules`, `metrics`) are single calls of the libraries below this one.

#![deny(missing_docs, reason = "strangers read this crate")]

mod ablate;
mod answers;
mod audit;
mod augment;
mod bundle;
#[cfg(feature = "cli")]
pub mod cli;
mod compare;
mod context;
mod coverage;
mod demo;
mod encode;
pub mod engines;
mod error;
mod estimate;
#[cfg(feature = "evaluator")]
mod evaluate;
mod evolve;
#[cfg(feature = "evaluator")]
mod fit;
mod golden;
mod guard;
mod import;
mod label;
mod lines;
mod llm;
mod match_pair;
mod merge;
mod metric_errors;
mod one_database;
mod open_run;
mod pack;
mod pairs;
mod predict;
mod report;
mod results;
mod reuse;
mod robustness;
mod same;
mod sample;
mod samples;
mod schemas;
mod score;
mod score_pair;
mod sentence;
mod settings;
#[cfg(feature = "parquet")]
mod shift;
mod show;
mod source;
mod subset;
mod synth;
mod tables;
mod translate;
mod truth;
mod values;
mod verify_pair;
mod versions;
mod vote;
mod without_rows;
mod witnesses;
mod worker;

pub use ablate::{AblateJob, Ablation, AblationStep, StepCounts};
pub use answers::{AnswerCandidate, AnswerList, has_lists};
pub use audit::AuditJob;
pub use augment::{AugmentJob, EvolvedSchemas, TrainingData};
pub use bundle::{BundleJob, BundleSize};
pub use compare::{CompareJob, LeftOut, SystemComparison};
pub use context::{Context, Watcher};
pub use coverage::{CorpusFiles, CoverageJob};
pub use demo::{BeforeAndAfter, DemoJob, EstimateAndTruth, MatchedAnswer, RefutedAnswer, ShownPair, Tour};
#[cfg(feature = "parquet")]
pub use encode::EncodedWorkload;
pub use encode::{EncodeJob, EncoderModel};
pub use error::{Error, asks};
#[cfg(feature = "services")]
pub use estimate::JudgeSettings;
pub use estimate::{EstimateJob, Estimated, MonitorJob, SystemLabels, Watch, check_estimate_options};
#[cfg(feature = "evaluator")]
pub use evaluate::EvaluateJob;
pub use evolve::EvolveJob;
#[cfg(feature = "evaluator")]
pub use fit::{AdaptJob, FitJob};
pub use golden::{Application, GoldenAnswer, GoldenJob, GoldenRun, InitFile, InitJob};
pub use guard::{keep_database, keep_inputs, keep_run};
pub use import::{ImportJob, ImportedRun};
pub use label::{
    JudgedResult, LabelAddJob, LabelNextJob, LabelPlanJob, LabelQuestion, LabelTrial, LabelTrialJob,
    TextRows, WitnessOfTwo, label_document, label_goal, label_sentence,
};
pub use llm::{LlmLimits, LlmSettings};
pub use match_pair::{SchemaFacts, comparison_to_json, match_pair};
pub use merge::merge_runs;
pub use metric_errors::{MetricErrors, MetricErrorsJob, SystemErrors, TruthCounts};
pub use open_run::{OpenRun, StoredReport};
pub use pack::{PackJob, PackSize};
pub use pairs::PairsJob;
pub use predict::{PredictJob, Shots};
pub use report::ReportJob;
pub use results::{MetricCounts, ResultsJob, ScoredResults, SystemOutcome, SystemResults};
pub use reuse::{Reuse, reuse};
pub use robustness::{RobustnessJob, SystemFolder};
pub use same::VoteBy;
pub use sample::Sample;
pub use samples::{Abstention, Rate, SampleRules, Samples, SamplesJob, SystemSamples};
pub use schemas::SchemaSource;
pub use score::{ScoreJob, System};
pub use score_pair::ScorePairJob;
pub use sentence::sentence;
pub use settings::{NOW, VerifySettings, default_metrics, metrics_of, verifies};
#[cfg(feature = "parquet")]
pub use shift::{ShiftJob, WorkloadShift};
pub use show::{ExplainedItem, ItemPair, ItemWithRows, ShowJob, items_of_cause};
pub use source::Source;
pub use subset::{IdList, LabelCondition, Subset, SubsetError, failed_questions};
pub use synth::SynthJob;
pub use tables::TablesJob;
pub use translate::{TranslateJob, Translation};
pub use truth::ErrorCounts;
pub use values::{Address, CommandLine, EncoderName, NamedFile, OutputPath, Program, Variable};
pub use verify_pair::{verify_over_database, verify_over_schema};
pub use versions::{Agreement, Swap, VersionChange, Versions, VersionsJob};
pub use vote::{CurvePoint, Vote, VoteJob, VotedAnswer};
pub use witnesses::{SuiteJob, SuiteSize};
pub use worker::{WORKER_ARGUMENT, worker_by, worker_of};
