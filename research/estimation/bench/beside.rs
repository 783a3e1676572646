//! One system beside others' answers without labels, on data of another kind: the spread that is left there
//! ([`Spread::WITH_PEERS`]), and the intervals with the spread that other families show on other databases.

use serde::Serialize;
use sqlgauge_base::probit::density_at;
use sqlgauge_dataset::Databases;
use sqlgauge_engine::Engine;
use sqlgauge_estimate::estimators::{Estimator, FromSignals};
use sqlgauge_estimate::{EstimateError, EstimateOptions, QuestionIndex, Spread, TargetCase};

use super::components::{Residual, spread_of};
use super::families::{Part, databases_of, over_parts};
use super::protocol::BenchRun;

/// An estimate beside its truth, for a whole run or one database of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PeerTransfer {
    /// The system.
    pub system: String,
    /// Its family.
    pub family: String,
    /// The run.
    pub target: String,
    /// The database; `None` for the whole run.
    pub database: Option<String>,
    /// Databases of the target.
    pub databases: usize,
    /// Questions.
    pub questions: usize,
    /// True accuracy.
    pub truth: f64,
    /// Estimated accuracy.
    pub accuracy: f64,
    /// Ends of the interval that the program gives.
    pub interval: [f64; 2],
    /// Change of the accuracy of all answers with that of the running ones on the probit scale.
    pub slope: f64,
}

/// A [`PeerTransfer`] with the interval by the spread of other families.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct JudgedPeerTransfer {
    /// The transfer.
    pub transfer: PeerTransfer,
    /// Ends of the interval.
    pub interval: [f64; 2],
}

/// The estimates by `signals` from the first run to every other one. Labels of all systems on the first run are known; beside the
/// system stand the answers of the other families on the other run.
///
/// # Errors
/// As [`pool_of`](super::run::pool_of), and when an estimate fails.
pub fn peer_transfers(
    runs: &[BenchRun],
    family: &dyn Fn(&str) -> String,
    engine: &dyn Engine,
    databases: &[Databases],
    options: EstimateOptions,
) -> Result<Vec<PeerTransfer>, EstimateError> {
    let is_beside = |system: &str, other: &str| other == system || family(other) != family(system);
    over_parts(runs, engine, databases, options, &is_beside, &|case, part| transfer(case, part, family))
}

/// `None` where the target is not outside what is known, where the spread has no part in the interval.
fn transfer(
    case: &TargetCase<'_>,
    part: &Part<'_>,
    family: &dyn Fn(&str) -> String,
) -> Result<Option<PeerTransfer>, EstimateError> {
    if !case.standing().is_outside() || !case.has_peers() {
        return Ok(None);
    }
    let questions = &case.evidence.questions;
    let count = questions.len();
    let id = |question: &QuestionIndex| &case.pool()[*question].id;
    let Some(truth) = questions.iter().map(|question| part.truths.get(id(question))).sum::<Option<f64>>()
    else {
        return Ok(None);
    };
    let runs = |question: &&QuestionIndex| {
        case.observed(case.target, **question).is_some_and(|seen| seen.runs_as_given)
    };
    let share = questions.iter().filter(runs).count() as f64 / count.max(1) as f64;
    let estimate = FromSignals.estimate(case)?;
    if share == 0.0 {
        return Ok(None);
    }
    let system = &case.pool()[case.target];
    Ok(Some(PeerTransfer {
        system: system.clone(),
        family: family(system),
        target: part.target.to_owned(),
        database: part.database.clone(),
        databases: databases_of(case),
        questions: count,
        truth: truth / count as f64,
        accuracy: estimate.accuracy,
        interval: [estimate.interval.low, estimate.interval.high],
        slope: share * density_at((estimate.accuracy / share).min(1.0)),
    }))
}

impl PeerTransfer {
    /// Its error in the units of the program's spread.
    pub fn residual(&self) -> Residual {
        let variance = self.truth * (1.0 - self.truth) / self.questions.max(1) as f64;
        Residual {
            error: (self.truth - self.accuracy) / self.slope,
            chance: variance / self.slope.powi(2),
            databases: self.databases,
        }
    }

    /// The interval with another spread than the program's.
    fn with(&self, spread: Spread, level: f64) -> [f64; 2] {
        let width = |spread: Spread| spread.half_width(self.databases, 0.0, level) * self.slope;
        // One end may be cut off at 0 or 1.
        let whole = (self.accuracy - self.interval[0]).max(self.interval[1] - self.accuracy);
        let inner = (whole.powi(2) - width(Spread::WITH_PEERS).powi(2)).max(0.0).sqrt();
        let half = inner.hypot(width(spread));
        [(self.accuracy - half).max(0.0), (self.accuracy + half).min(1.0)]
    }
}

/// Every transfer with the spread that the other families show, for a single database on the other databases.
pub fn judge_peers(transfers: &[PeerTransfer], level: f64) -> Vec<JudgedPeerTransfer> {
    let others = |one: &PeerTransfer| -> Vec<Residual> {
        let is_apart = |other: &&PeerTransfer| {
            other.family != one.family && (one.database.is_none() || other.database != one.database)
        };
        transfers.iter().filter(is_apart).map(PeerTransfer::residual).collect()
    };
    let judged = |one: &PeerTransfer| {
        let interval = one.with(spread_of(&others(one)), level);
        JudgedPeerTransfer { transfer: one.clone(), interval }
    };
    transfers.iter().map(judged).collect()
}
