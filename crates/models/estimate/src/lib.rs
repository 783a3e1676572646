//! Descriptors and signals to an accuracy with an interval: one file per estimator.

mod alone;
mod calibrate;
mod case;
mod classifier;
mod confidence;
mod conformal;
mod error;
mod errors;
mod estimate;
pub mod estimators;
mod items;
#[cfg(feature = "services")]
pub mod judges;
pub mod labelling;
mod law;
mod load;
mod logistic;
mod observations;
mod outcome;
mod overlap;
mod peer_agreement;
mod pool;
pub mod report;
mod sets;
mod standing;
mod structure;
mod sums;
mod target_labels;
mod threshold;
pub mod watch;

pub use alone::AloneMoves;
pub use case::{EstimateOptions, PoolEvidence, Standing, TargetCase};
pub use error::EstimateError;
pub use errors::Spread;
pub use estimate::{
    ACCURACY, AccuracyInterval, Estimate, EstimatePart, ItemEstimate, LABELS, LawSlopes, SignalValue,
};
pub use load::{IMPORTED_METRIC, Loader, asked_of_one, binary_metric};
pub use logistic::solve;
pub use observations::{GENERATED_DATABASES, Observation, Observations};
pub use overlap::Overlap;
pub use peer_agreement::{AgreementGround, PeerAgreement};
pub use pool::{Pool, PoolAnswer, PoolDatabase, PoolQuestion, QuestionIndex, SystemIndex};
pub use target_labels::TargetLabels;
