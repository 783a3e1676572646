//! Meta-sets, cut from labelled answers, in which the truth is known.

use std::collections::HashMap;

use crate::case::TargetCase;
use crate::items::ItemModel;
use crate::peer_agreement::{AgreementGround, agreement_with};
use crate::pool::{QuestionIndex, SystemIndex};
use crate::sums::{Sums, groups, shift, sums_of, total};
use sqlgauge_base::Random;

const SETS_PER_SYSTEM: usize = 40;

/// The labelled answers of a system, by group of questions.
#[derive(Debug, Clone)]
pub(crate) struct LabelledGroups {
    pub system: SystemIndex,
    /// By group: the questions.
    pub questions: Vec<Vec<QuestionIndex>>,
    pub groups: Vec<Sums>,
    /// By group: how easy it is, by `Ease`.
    pub ease: Vec<f64>,
}

/// How easy questions are, in a unit of its own: by how many systems' answers run and agree, and with a single
/// system by what the item model says of answers like its own.
struct Ease(HashMap<QuestionIndex, f64>);

impl Ease {
    /// The ease of all labelled questions.
    fn new(case: &TargetCase<'_>, items: &ItemModel) -> Self {
        let sources = &case.evidence.sources;
        let mut of: HashMap<QuestionIndex, (f64, f64)> = HashMap::new();
        for &system in sources {
            for question in case.labelled(system) {
                let Some(seen) = case.observed(system, question).filter(|seen| seen.answers) else {
                    continue;
                };
                let runs = f64::from(seen.runs);
                let agrees = if sources.len() > 2 {
                    let ground = AgreementGround::Generated;
                    runs * agreement_with(&case.evidence.table, ground, system, question, sources).share
                } else {
                    items.source.get(&(system, question)).copied().unwrap_or_default()
                };
                let entry = of.entry(question).or_default();
                entry.0 += runs + agrees;
                entry.1 += 1.0;
            }
        }
        Self(of.into_iter().map(|(question, (sum, count))| (question, sum / count)).collect())
    }

    fn mean(&self, questions: &[QuestionIndex]) -> f64 {
        let values: Vec<f64> =
            questions.iter().filter_map(|question| self.0.get(question)).copied().collect();
        values.iter().sum::<f64>() / values.len().max(1) as f64
    }
}

impl LabelledGroups {
    fn new(case: &TargetCase<'_>, system: SystemIndex, items: &ItemModel, ease: &Ease) -> Self {
        let probability = |question| items.source.get(&(system, question)).copied().unwrap_or_default();
        let questions = groups(case, &case.labelled(system));
        let groups = questions
            .iter()
            .map(|group| {
                total(&group.iter().map(|&q| sums_of(case, system, q, probability(q))).collect::<Vec<_>>())
            })
            .collect();
        let ease = questions.iter().map(|group| ease.mean(group)).collect();
        Self { system, questions, groups, ease }
    }
}

/// A set with its truth, as if only the other groups of its system had been labelled.
#[derive(Debug, Clone)]
pub(crate) struct HeldOutSet {
    pub system: SystemIndex,
    /// The answers that are labelled.
    pub source: Sums,
    /// The answers whose accuracy is to be told.
    pub target: Sums,
    /// From source to target.
    pub shift: [f64; 2],
    /// Sampling variance of the shift.
    pub noise: [f64; 2],
    /// Places of the source's and of the target's groups in [`LabelledGroups::groups`].
    pub groups: [Vec<usize>; 2],
}

/// The labelled answers of the known systems, and the sets that are cut out of them. `items` orders questions by difficulty
/// where few systems are known.
pub(crate) fn cut_sets(case: &TargetCase<'_>, items: &ItemModel) -> (Vec<LabelledGroups>, Vec<HeldOutSet>) {
    let ease = Ease::new(case, items);
    let sources = case.evidence.sources.iter();
    let labelled: Vec<LabelledGroups> =
        sources.map(|&system| LabelledGroups::new(case, system, items, &ease)).collect();
    let sets = meta_sets(&labelled, case.options.seed);
    (labelled, sets)
}

/// Draws sets from every system's labelled groups: half of them at random, the others with the hardest or the
/// easiest groups, so that sets lie far from what remains.
pub(crate) fn meta_sets(labelled: &[LabelledGroups], seed: u64) -> Vec<HeldOutSet> {
    let mut sets = Vec::new();
    for of_system in labelled.iter().filter(|of| of.groups.len() >= 4) {
        let mut random = Random::new([seed, of_system.system.0 as u64]);
        for number in 0..SETS_PER_SYSTEM {
            let (target_groups, source_groups) = cut(&of_system.ease, number, &mut random);
            let sum = |places: &[usize]| total(places.iter().map(|&at| &of_system.groups[at]));
            let (target, source) = (sum(&target_groups), sum(&source_groups));
            if target.runs >= 5.0 && source.runs >= 5.0 {
                let (from, to) = (source.noise(), target.noise());
                sets.push(HeldOutSet {
                    system: of_system.system,
                    source,
                    target,
                    shift: shift(&source, &target),
                    noise: [from[0] + to[0], from[1] + to[1]],
                    groups: [source_groups, target_groups],
                });
            }
        }
    }
    sets
}

/// Places of the groups of the target, and of the others.
fn cut(ease: &[f64], number: usize, random: &mut Random) -> (Vec<usize>, Vec<usize>) {
    let mut order: Vec<usize> = (0..ease.len()).collect();
    random.shuffle(&mut order);
    let size = 1 + random.below(ease.len() / 2);
    if number % 2 == 1 {
        let spread = ease.iter().copied().fold(0.0, f64::max) - ease.iter().copied().fold(f64::MAX, f64::min);
        let shaken: Vec<f64> = ease.iter().map(|ease| ease + 0.15 * spread * (random.unit() - 0.5)).collect();
        order.sort_by(|&a, &b| shaken[a].total_cmp(&shaken[b]));
        if random.unit() < 0.3 {
            order.reverse();
        }
    }
    let source = order.split_off(size);
    (order, source)
}
