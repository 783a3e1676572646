//! The evaluator of FusionSQL: shift descriptors to accuracy.
//!
//! A [`MetaSet`] holds, for each of many sample sets, the shift descriptors of the set against the source and the
//! accuracy that a system truly reached on it. [`fit`] learns the map between the two (paper section IV-B, Eq. 6-10)
//! with any of the regressors of Figure 6; [`fine_tune`] is `fusion-tl`, [`meta_train`] with [`adapt`] is
//! `fusion-ml` (section IV-C, Eq. 13). The result, an [`Evaluator`], is saved as a folder and gives an [`FittedEstimate`]
//! with an interval for the descriptors of an unlabelled target.
//!
//! Everything is drawn from one seed and is the same bit for bit whatever the number of threads. (Between two models
//! of processor, the last bits may differ: matrix products are summed in the order that suits the processor.)
//!
//! # How wide an interval is
//!
//! Of the meta-set, some groups (datasets, databases or models: what the caller says belongs together) are never
//! trained on. On their sets the error is divided by what is expected of a set of `n` items at a distance `e`
//! outside of what training saw:
//!
//! `scale(p, n, e) = sqrt(tau² + p (1 - p) / n) (1 + e)`,
//!
//! where `p` is the estimate, `tau` the error on validation sets that is not the noise of `n` answers, and `e` the
//! largest excess of a descriptor over its range in training, in units of its (robustly standardised) spread.
//! The interval is `p ± q scale(p, n, e)`, cut to `[0, 1]`; so it grows with the distance outside, in proportion.
//! `q` depends on the number `K` of held-out groups ([`Basis`]):
//! - `K / (K + 1)` at least the level (9 groups for 90 %): split conformal over groups; each group weighs
//!   `1 / (K + 1)`, shared by its sets (Lee, Barber and Willett 2023, "Distribution-free inference with hierarchical
//!   data"): a new group is covered with the probability of the level if groups are exchangeable;
//! - fewer: no distribution-free interval is finite, so errors of groups are taken as normal around zero, and `q` is
//!   the quantile of Student's t with `K` degrees of freedom times the root mean square of the groups' scores (6.3
//!   for one group at 90 %);
//! - none: `[0, 1]`.
//!
//! `fusion-tl` has labels of the target itself ([`Evaluator::measured`]): each part of them is held out once. `tau²` is what the
//! squared errors of the estimates without a part exceed the noise of the part's labels by, and the noise of all labels, `p (1 - p) / n`;
//! the parts are the groups. `p` is the share of right labels with one more right and one more wrong, and the scores have a mean square of 1 at least.
//!
//! An estimate is `outside` if a descriptor lies beyond everything seen in fitting, held-out sets included.

#![cfg(feature = "evaluator")]

mod adapt_options;
mod blob;
mod calibration;
mod card;
mod corpus;
mod error;
mod fit;
mod folder;
mod meta_set;
mod network;
mod ranges;
pub mod regressors;
mod reptile;
mod scaler;
mod subset;
mod transfer;

pub use adapt_options::AdaptOptions;
pub use blob::{Blob, BlobValues};
pub use calibration::Basis;
pub use card::{Calibrated, Card, CorpusCard, EncoderCard, Epoch, FORMAT, Provenance, SourceCard};
pub use corpus::{CorpusOptions, CorpusStage, TargetEstimate, adapt_to_file, evaluate_target, fit_files};
pub use error::EvaluatorError;
pub use fit::{Evaluator, FitOptions, FittedEstimate, Parts, fit, fit_parts};
pub use folder::FOLDER_FILES;
pub use meta_set::{MIN_SETS, MetaSet, Rows};
pub use regressors::{Regressor, find};
pub use reptile::{ReptileOptions, adapt, meta_train};
pub use transfer::{HeldOutPart, fine_tune, sample_subsets};
