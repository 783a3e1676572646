//! The estimators, one file each.

mod agreement;
mod atc_mc;
mod atc_ne;
mod auto;
mod doc;
mod equivalents;
#[cfg(feature = "evaluator")]
mod fusion;
#[cfg(feature = "evaluator")]
mod fusion_ml;
#[cfg(feature = "evaluator")]
mod fusion_tl;
#[cfg(feature = "services")]
mod judge_arena;
#[cfg(feature = "services")]
mod judge_bug;
#[cfg(feature = "services")]
mod judged;
mod ppi;
#[cfg(feature = "evaluator")]
mod sampling;
mod signals;
mod source;

use sqlgauge_base::NotBuiltIn;

use crate::case::TargetCase;
use crate::error::EstimateError;
use crate::estimate::Estimate;

pub use self::agreement::FromAgreement;
pub use self::atc_mc::AtcMc;
pub use self::atc_ne::AtcNe;
pub use self::auto::Auto;
pub use self::doc::Doc;
pub use self::equivalents::Equivalents;
#[cfg(feature = "evaluator")]
pub use self::fusion::Fusion;
#[cfg(feature = "evaluator")]
pub use self::fusion_ml::FusionMl;
#[cfg(feature = "evaluator")]
pub use self::fusion_tl::FusionTl;
#[cfg(feature = "services")]
pub use self::judge_arena::JudgeArena;
#[cfg(feature = "services")]
pub use self::judge_bug::JudgeBug;
pub use self::ppi::Ppi;
#[cfg(feature = "evaluator")]
pub use self::sampling::FusionOptions;
pub use self::signals::FromSignals;
pub use self::source::SourceAccuracy;

pub trait Estimator: Send + Sync {
    /// Its name on the command line.
    fn id(&self) -> &'static str;

    /// The accuracy of the case's target.
    ///
    /// # Errors
    /// When what it needs is not there.
    fn estimate(&self, case: &TargetCase<'_>) -> Result<Estimate, EstimateError>;
}

/// All estimators: the one that chooses, ours, the floor, and the rivals from those that need least to those that need
/// most.
static ALL: &[&dyn Estimator] = &[
    &Auto,
    &Equivalents,
    &FromSignals,
    &SourceAccuracy,
    #[cfg(feature = "evaluator")]
    &Fusion::DEFAULT,
    #[cfg(feature = "evaluator")]
    &FusionMl,
    &AtcMc,
    &AtcNe,
    &Doc,
    &FromAgreement,
    &Ppi,
    #[cfg(feature = "evaluator")]
    &FusionTl,
    #[cfg(feature = "services")]
    &JudgeBug,
    #[cfg(feature = "services")]
    &JudgeArena,
];

/// Estimators that a build can leave out, each with the feature that builds it in.
const OPTIONAL: [NotBuiltIn; 5] = [
    NotBuiltIn { what: "fusion", feature: "evaluator" },
    NotBuiltIn { what: "fusion-ml", feature: "evaluator" },
    NotBuiltIn { what: "fusion-tl", feature: "evaluator" },
    NotBuiltIn { what: "judge-bug", feature: "services" },
    NotBuiltIn { what: "judge-arena", feature: "services" },
];

/// All estimators of this build.
pub fn all() -> &'static [&'static dyn Estimator] {
    ALL
}

/// The estimator of that name.
///
/// # Errors
/// [`EstimateError::UnknownMethod`], or [`EstimateError::NotBuiltIn`] for one that this build leaves out.
pub fn find(name: &str) -> Result<&'static dyn Estimator, EstimateError> {
    if let Some(estimator) = ALL.iter().find(|estimator| estimator.id() == name) {
        return Ok(*estimator);
    }
    if let Some(missing) = OPTIONAL.into_iter().find(|missing| missing.what == name) {
        return Err(missing.into());
    }
    Err(EstimateError::UnknownMethod {
        name: name.to_owned(),
        methods: ALL.iter().map(|estimator| estimator.id()).collect(),
    })
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_estimator_has_a_name_of_its_own() {
        let mut ids = HashSet::new();
        for estimator in all() {
            assert!(ids.insert(estimator.id()), "{} occurs twice", estimator.id());
            assert!(estimator.id().chars().all(|c| c.is_ascii_lowercase() || c == '-'), "{}", estimator.id());
            assert_eq!(find(estimator.id()).unwrap().id(), estimator.id());
        }
        for missing in OPTIONAL.iter().filter(|missing| !ids.contains(missing.what)) {
            let Err(error) = find(missing.what) else { panic!("{} is left out", missing.what) };
            assert!(error.to_string().contains(missing.feature), "{error}");
        }
        ids.extend(OPTIONAL.map(|missing| missing.what));
        assert_eq!(ids.len(), 14, "an estimator is either built in or named with its feature");
        let Err(error) = find("oracle") else { panic!("there is no oracle") };
        assert!(all().iter().all(|method| error.to_string().contains(method.id())), "{error}");
    }
}
