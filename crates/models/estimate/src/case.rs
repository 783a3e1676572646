//! What an estimator sees: the pool, the signals of the relevant systems, and the other systems that answer the target.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use crate::error::EstimateError;
#[cfg(feature = "services")]
use crate::judges::JudgeService;
use crate::observations::{GENERATED_DATABASES, Observation, Observations};
use crate::peer_agreement::{AgreementGround, PeerAgreement, agreement_with};
use crate::pool::{Pool, QuestionIndex, SystemIndex};
use crate::target_labels::TargetLabels;

/// Labelled systems that are learned from; more add time and little else.
const MOST_KNOWN_SYSTEMS: usize = 16;

/// Systems that answer beside the target and are compared with.
const MOST_PEERS: usize = 16;

/// A system counts as answering beside the target if it answered this share of the target's questions.
const PEER_SHARE: f64 = 0.5;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EstimateOptions {
    /// Probability with which the interval is to hold the true accuracy.
    pub level: f64,
    /// Where the random numbers begin.
    pub seed: u64,
    /// Confidence below which an answer does not count for `doc`, in [0, 1].
    pub tau: f64,
    /// Sample sets that the methods `fusion*` learn from, all systems together: n of FusionSQL.
    pub sample_sets: usize,
}

impl Default for EstimateOptions {
    fn default() -> Self {
        Self { level: 0.9, seed: 0, tau: 0.8, sample_sets: 30_000 }
    }
}

/// The pool with the signals that all targets share.
pub struct PoolEvidence<'a> {
    pub pool: &'a Pool,
    /// Observation of the chosen systems.
    pub table: Observations,
    /// Labelled systems that are learned from.
    pub sources: Vec<SystemIndex>,
    /// Systems that answered the target's questions, targets included.
    pub present: Vec<SystemIndex>,
    pub questions: Vec<QuestionIndex>,
    /// Labels of some of the targets' own answers, for the methods that say that they need some. No other method
    /// reads them, and they are not among the pool's labels.
    pub labels: TargetLabels,
    /// The language model that some methods ask.
    #[cfg(feature = "services")]
    pub judge: Option<JudgeService<'a>>,
}

impl<'a> PoolEvidence<'a> {
    /// Chooses systems and computes their signals.
    ///
    /// # Errors
    /// As [`Observations::new`].
    pub fn new(pool: &'a Pool) -> Result<Self, EstimateError> {
        let questions = pool.asked.clone();
        let present = present(pool, &questions);
        let sources = sources_of(pool, &present);
        let systems: BTreeSet<SystemIndex> = sources.iter().chain(&present).copied().collect();
        let systems: Vec<SystemIndex> = systems.into_iter().collect();
        let mut needed: BTreeSet<QuestionIndex> = questions.iter().copied().collect();
        for &system in &sources {
            needed.extend(pool.labelled(system));
        }
        let needed: Vec<QuestionIndex> = needed.into_iter().collect();
        // Where nobody answers beside the target, results are compared with nobody's: one database tells what runs.
        let databases = if present.len() > 1 { GENERATED_DATABASES } else { 1 };
        let table = Observations::new(pool, &systems, &needed, databases)?;
        Ok(Self {
            pool,
            table,
            sources,
            present,
            questions,
            labels: TargetLabels::default(),
            #[cfg(feature = "services")]
            judge: None,
        })
    }

    /// The same with labels of some of the targets' own answers.
    #[must_use]
    pub fn with_labels(mut self, labels: TargetLabels) -> Self {
        self.labels = labels;
        self
    }

    /// The systems that a target's answers are compared with where there are labels, and on the target: the same ones
    /// where there are any, for then agreement means the same on both sides.
    fn compared(&self, target: SystemIndex) -> (Vec<SystemIndex>, Vec<SystemIndex>) {
        let on_both: Vec<SystemIndex> =
            self.present.iter().copied().filter(|peer| self.sources.contains(peer)).collect();
        let others = |of: &[SystemIndex]| of.iter().filter(|&&system| system != target).count();
        let (home, abroad) = (others(&self.sources), others(&self.present));
        if others(&on_both) >= 2 || (others(&on_both) == 1 && home.min(abroad) < 2) {
            (on_both.clone(), on_both)
        } else if home > 0 && abroad > 0 {
            (self.sources.clone(), self.present.clone())
        } else {
            (Vec::new(), Vec::new())
        }
    }

    pub fn case(&self, target: SystemIndex, options: EstimateOptions) -> TargetCase<'_> {
        let pool = self.pool;
        let (at_home, abroad) = self.compared(target);
        let has_results = |system: SystemIndex, questions: &[QuestionIndex]| {
            let answered = questions.iter().filter_map(|&question| pool.get(system, question));
            let (mut ran, mut with_result) = (0, 0);
            for answer in answered.filter(|answer| answer.status.as_deref() == Some("ok")) {
                ran += 1;
                with_result += usize::from(answer.result.is_some());
            }
            ran > 0 && 2 * with_result > ran
        };
        let real_at_home = at_home.iter().all(|&peer| has_results(peer, &pool.labelled(peer)));
        let real_abroad = abroad.iter().all(|&peer| has_results(peer, &self.questions));
        let ground =
            if !abroad.is_empty() && real_at_home && real_abroad && has_results(target, &self.questions) {
                AgreementGround::Real
            } else {
                AgreementGround::Generated
            };
        TargetCase { evidence: self, target, at_home, abroad, ground, options, standing: OnceLock::new() }
    }
}

fn present(pool: &Pool, questions: &[QuestionIndex]) -> Vec<SystemIndex> {
    let answered = |system: SystemIndex| {
        let count = questions.iter().filter(|&&question| pool.get(system, question).is_some()).count();
        count as f64 >= PEER_SHARE * questions.len() as f64
    };
    let mut present: Vec<SystemIndex> = pool.targets.clone();
    let mut others: Vec<SystemIndex> =
        pool.all_systems().filter(|system| !pool.targets.contains(system) && answered(*system)).collect();
    spread(
        &mut others,
        |system| pool.known_accuracy(system),
        MOST_PEERS.saturating_sub(present.len()).max(6),
    );
    present.extend(others);
    present
}

/// The targets' own runs, those of systems that answer beside them, and others spread over accuracy.
fn sources_of(pool: &Pool, present: &[SystemIndex]) -> Vec<SystemIndex> {
    let is_labelled = |&system: &SystemIndex| pool.known_accuracy(system).is_some();
    let mut sources: Vec<SystemIndex> = present.iter().copied().filter(is_labelled).collect();
    let mut others: Vec<SystemIndex> =
        pool.all_systems().filter(|system| !present.contains(system)).filter(is_labelled).collect();
    spread(
        &mut others,
        |system| pool.known_accuracy(system),
        MOST_KNOWN_SYSTEMS.saturating_sub(sources.len()),
    );
    sources.extend(others);
    sources
}

/// Keeps at most that many, evenly spread over a value.
pub(crate) fn spread(
    systems: &mut Vec<SystemIndex>,
    value: impl Fn(SystemIndex) -> Option<f64>,
    most: usize,
) {
    systems.sort_by(|&a, &b| {
        value(a).unwrap_or_default().total_cmp(&value(b).unwrap_or_default()).then(a.cmp(&b))
    });
    let count = systems.len();
    if count > most {
        *systems = (0..most).map(|at| systems[(at * count + count / 2) / most]).collect();
    }
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Standing {
    /// Why it lies outside, each in a sentence without a stop; empty inside.
    pub reasons: Vec<String>,
    /// Whether its items are of another kind than the labelled ones, and not only farther from their mean: they vary in
    /// what never varied there, or nothing tells how far databases lie from each other.
    pub is_other_kind: bool,
}

impl Standing {
    pub fn is_outside(&self) -> bool {
        !self.reasons.is_empty()
    }
}

pub struct TargetCase<'a> {
    pub evidence: &'a PoolEvidence<'a>,
    /// The system whose accuracy is asked for.
    pub target: SystemIndex,
    /// Systems that answers are compared with where there are labels.
    pub at_home: Vec<SystemIndex>,
    /// Systems that answers are compared with on the target.
    pub abroad: Vec<SystemIndex>,
    /// What is compared.
    pub ground: AgreementGround,
    pub options: EstimateOptions,
    pub(crate) standing: OnceLock<Standing>,
}

impl TargetCase<'_> {
    pub fn pool(&self) -> &Pool {
        self.evidence.pool
    }

    /// Observation of a system's answer.
    pub fn observed(&self, system: SystemIndex, question: QuestionIndex) -> Option<&Observation> {
        self.evidence.table.get(system, question)
    }

    /// Whether a system's answer runs, or the first statement of it.
    pub fn runs(&self, system: SystemIndex, question: QuestionIndex) -> bool {
        self.observed(system, question).is_some_and(|seen| seen.runs)
    }

    /// The agreement of an answer with its peers, at home or on the target.
    pub fn agreement(&self, system: SystemIndex, question: QuestionIndex) -> PeerAgreement {
        let in_target = self.pool()[question].in_target && self.pool().label(system, question).is_none();
        let peers = if in_target { &self.abroad } else { &self.at_home };
        agreement_with(&self.evidence.table, self.ground, system, question, peers)
    }

    /// Questions with a label for the system, outside the target.
    pub fn labelled(&self, system: SystemIndex) -> Vec<QuestionIndex> {
        self.pool().labelled(system)
    }

    /// Why other systems' answers to the target, though they are there, are compared with nobody's.
    pub(crate) fn peers_left_out(&self) -> Option<String> {
        let pool = self.pool();
        let others = self.evidence.present.iter().filter(|&&system| system != self.target);
        let names: Vec<&str> = others.map(|&system| pool[system].as_str()).collect();
        (!names.is_empty() && !self.has_peers()).then(|| {
            format!(
                "the predictions of {} are not compared with: no system but {} has a known run, so that nothing tells how \
                 far they agree where labels are; give a run of theirs with --known",
                names.join(", "),
                pool[self.target]
            )
        })
    }

    /// Whether answers are compared with other systems' at all.
    pub fn has_peers(&self) -> bool {
        !self.abroad.is_empty()
    }
}
