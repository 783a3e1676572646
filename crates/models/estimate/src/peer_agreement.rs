//! How far a system's answer to a question agrees with other systems' answers.

use crate::observations::{Observation, Observations};
use crate::pool::{QuestionIndex, SystemIndex};

/// What is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgreementGround {
    /// Results on generated databases: always there.
    Generated,
    Real,
}

/// The agreement of one answer with those of its peers. Shares are of the peers that answered the question.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct PeerAgreement {
    pub peers: usize,
    /// Share that returns the same.
    pub share: f64,
    /// Share that runs at all.
    pub runs: f64,
    /// Share of the largest group of peers that return the same.
    pub largest: f64,
    /// Share of the peers that run and return the same; `None` if none runs.
    pub share_of_running: Option<f64>,
}

impl PeerAgreement {
    /// Whether the answer is with the largest group.
    pub(crate) fn is_with_largest(&self) -> bool {
        self.share > 0.0 && self.share >= self.largest
    }
}

/// Whether two answers return the same; answers that do not run agree with nothing. An answer without a result on
/// the real rows (only the first of its statements runs) is compared on generated databases.
pub(crate) fn agree(ground: AgreementGround, one: &Observation, other: &Observation) -> bool {
    match (ground, one.result, other.result) {
        (AgreementGround::Real, Some(one), Some(other)) => one.set == other.set,
        _ => one.cluster.is_some() && one.cluster == other.cluster,
    }
}

/// The agreement of a system's answer with those of `peers` (the system itself is left out).
pub(crate) fn agreement_with(
    table: &Observations,
    ground: AgreementGround,
    system: SystemIndex,
    question: QuestionIndex,
    peers: &[SystemIndex],
) -> PeerAgreement {
    let Some(observation) = table.get(system, question) else { return PeerAgreement::default() };
    let others: Vec<&Observation> =
        peers.iter().filter(|&&peer| peer != system).filter_map(|&peer| table.get(peer, question)).collect();
    if others.is_empty() {
        return PeerAgreement::default();
    }
    let count = others.len() as f64;
    let running: Vec<&&Observation> = others.iter().filter(|other| other.runs).collect();
    let same = running.iter().filter(|other| agree(ground, observation, other)).count() as f64;
    let largest = running
        .iter()
        .map(|one| running.iter().filter(|other| agree(ground, one, other)).count())
        .max()
        .unwrap_or(0);
    PeerAgreement {
        peers: others.len(),
        share: same / count,
        runs: running.len() as f64 / count,
        largest: largest as f64 / count,
        share_of_running: (!running.is_empty()).then(|| same / running.len() as f64),
    }
}
