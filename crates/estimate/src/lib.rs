//! Descriptors and signals to an accuracy with an interval: one file per estimator.

mod adapt_options;
mod agreement;
pub mod bench;
mod boosting;
mod calibrate;
mod case;
mod confidence;
mod conformal;
mod error;
mod estimate;
pub mod estimators;
#[cfg(feature = "evaluator")]
pub mod evaluator;
mod items;
#[cfg(feature = "services")]
pub mod judges;
mod law;
mod load;
mod logistic;
mod novelty;
mod outcome;
mod pool;
mod probit;
mod random;
mod services;
mod sets;
mod signals;
mod target_labels;

pub use adapt_options::AdaptOptions;
pub use agreement::{Agreement, Ground};
pub use case::{Case, EstimateOptions, Evidence};
pub use error::EstimateError;
pub use estimate::{Estimate, Interval, ItemEstimate, Part, SignalValue};
pub use load::{IMPORTED_METRIC, Loader, confidence_of};
pub use pool::{Answer, Pool, PoolDatabase, Question};
#[cfg(feature = "services")]
pub use services::JudgeService;
pub use services::Services;
pub use signals::{GENERATED_DATABASES, SignalTable, Signals};
pub use target_labels::TargetLabels;
