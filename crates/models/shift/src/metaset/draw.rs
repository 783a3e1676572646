//! Draws the vectors of a sample set from the corpus.

use super::{Corpus, MetaSetOptions, Strategy};
use crate::reference::mean_and_std;
use sqlgauge_base::Random;

/// Strongest tilt: a vector one standard deviation out is e³ times as likely as one at the mean.
const STRONGEST_TILT: f64 = 3.0;
/// Standard deviations beyond which a tilt does not go on.
const TILT_END: f64 = 4.0;

/// Draws sets by their number.
pub(super) struct Drawer<'a> {
    pub(super) corpus: &'a Corpus<'a>,
    pub(super) options: &'a MetaSetOptions,
    pub(super) tilts: Tilts,
    /// The groups that there are, for each grouping.
    pub(super) present: Vec<Vec<u32>>,
}

pub(super) fn present(groups: &[u32]) -> Vec<u32> {
    let mut present = groups.to_vec();
    present.sort_unstable();
    present.dedup();
    present
}

/// Standardised columns that sets are tilted along.
pub(super) struct Tilts(Vec<Vec<f32>>);

impl Tilts {
    /// From columns; those that do not vary are left out.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a weight's exponent needs no more than single precision"
    )]
    pub(super) fn new(columns: &[Vec<f32>]) -> Self {
        let standardised = |column: &Vec<f32>| {
            let wide: Vec<f64> = column.iter().map(|value| f64::from(*value)).collect();
            let (mean, std) = mean_and_std(&wide);
            (std > 0.0).then(|| {
                wide.iter().map(|value| ((value - mean) / std).clamp(-TILT_END, TILT_END) as f32).collect()
            })
        };
        Self(columns.iter().filter_map(standardised).collect())
    }
}

/// Some dimensions, chosen by the seed; all, if there are no more.
pub(super) fn tilt_dimensions(dimensions: usize, most: usize, seed: u64) -> Vec<usize> {
    Random::new([seed]).distinct(most, dimensions)
}

impl Drawer<'_> {
    /// The strategy and the members of a set, rising. `weights` is a buffer.
    pub(super) fn draw(&self, number: usize, weights: &mut Vec<f64>) -> (Strategy, Vec<u32>) {
        let mut random = Random::new([self.options.seed, number as u64]);
        let strategy = self.strategy(&mut random);
        let size = self.size(&mut random);
        weights.clear();
        weights.resize(self.corpus.correct.len(), 0.0);
        match strategy {
            Strategy::Uniform => weights.fill(1.0),
            Strategy::Groups => self.add_groups(1.0, weights, &mut random),
            Strategy::Tilt => self.add_tilt(1.0, weights, &mut random),
            Strategy::Mixture => {
                let share = random.unit();
                self.add_any(share, weights, &mut random);
                self.add_any(1.0 - share, weights, &mut random);
            }
            Strategy::Accuracy => {
                self.add_any(1.0, weights, &mut random);
                self.weigh_by_correctness(random.unit(), weights);
            }
        }
        (strategy, select(weights, size, &mut random))
    }

    fn strategy(&self, random: &mut Random) -> Strategy {
        let strategies = &self.options.strategies;
        let total: usize = strategies.iter().map(|(_, share)| *share as usize).sum();
        let mut left = random.below(total);
        for (strategy, share) in strategies {
            if left < *share as usize {
                return *strategy;
            }
            left -= *share as usize;
        }
        Strategy::Uniform
    }

    /// A size whose logarithm is uniform.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between two positive counts"
    )]
    fn size(&self, random: &mut Random) -> usize {
        let count = self.corpus.correct.len();
        let (smallest, largest) = (self.options.smallest.min(count), self.options.largest.min(count));
        let (low, high) = ((smallest as f64).ln(), (largest as f64).ln());
        ((low + (high - low) * random.unit()).exp().round() as usize).clamp(smallest, largest)
    }

    /// Adds one of the simple kinds with a share of the whole weight.
    fn add_any(&self, share: f64, weights: &mut [f64], random: &mut Random) {
        match random.below(5) {
            0 => {
                let weight = share / weights.len() as f64;
                weights.iter_mut().for_each(|value| *value += weight);
            }
            1 | 2 => self.add_groups(share, weights, random),
            _ => self.add_tilt(share, weights, random),
        }
    }

    /// Some groups of a grouping: their number's logarithm is uniform, each one's weight is log-normal.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "at most the number of groups"
    )]
    fn add_groups(&self, share: f64, weights: &mut [f64], random: &mut Random) {
        let groupings = self.corpus.groupings;
        if groupings.is_empty() {
            let weight = share / weights.len() as f64;
            weights.iter_mut().for_each(|value| *value += weight);
            return;
        }
        let chosen = random.below(groupings.len());
        let (grouping, present) = (&groupings[chosen], &self.present[chosen]);
        let wanted = ((present.len() as f64).ln() * random.unit()).exp().round() as usize;
        let largest = present.last().map_or(0, |group| *group as usize);
        let mut group_weights = vec![0.0; largest + 1];
        for index in random.distinct(wanted.max(1), present.len()) {
            group_weights[present[index] as usize] = random.normals()[0].exp();
        }
        let each = grouping.of.iter().map(|group| group_weights[*group as usize]);
        add_scaled(share, weights, each);
    }

    fn add_tilt(&self, share: f64, weights: &mut [f64], random: &mut Random) {
        let Tilts(columns) = &self.tilts;
        let strength = STRONGEST_TILT * (2.0 * random.unit() - 1.0);
        if columns.is_empty() {
            let weight = share / weights.len() as f64;
            weights.iter_mut().for_each(|value| *value += weight);
            return;
        }
        let column = &columns[random.below(columns.len())];
        add_scaled(share, weights, column.iter().map(|z| (strength * f64::from(*z)).exp()));
    }

    /// Makes the expected accuracy of a draw equal to `accuracy`, if the weights allow any but one.
    fn weigh_by_correctness(&self, accuracy: f64, weights: &mut [f64]) {
        let correct = self.corpus.correct;
        let right: f64 = weights.iter().zip(correct).map(|(weight, correct)| weight * correct).sum();
        let wrong: f64 = weights.iter().zip(correct).map(|(weight, correct)| weight * (1.0 - correct)).sum();
        if right > 0.0 && wrong > 0.0 {
            let factors = (accuracy / right, (1.0 - accuracy) / wrong);
            for (weight, correct) in weights.iter_mut().zip(correct) {
                *weight *= correct * factors.0 + (1.0 - correct) * factors.1;
            }
        }
    }
}

/// Adds other weights, scaled so that they sum to `share`.
fn add_scaled(share: f64, weights: &mut [f64], others: impl Iterator<Item = f64> + Clone) {
    let total: f64 = others.clone().sum();
    if total > 0.0 {
        weights.iter_mut().zip(others).for_each(|(weight, other)| *weight += other * (share / total));
    }
}

/// Draws `size` items without replacement (or all with a weight, if they are fewer), each in proportion to its weight
/// as far as that is possible; rising.
///
/// Pareto sampling (B. Rosén, 1997): item i gets a uniform number u and the items with the smallest
/// (u / (1 - u)) / (p / (1 - p)) are taken, p = min(1, c w) with c such that the p sum to the size.
fn select(weights: &[f64], size: usize, random: &mut Random) -> Vec<u32> {
    let positive = weights.iter().filter(|weight| **weight > 0.0).count();
    let size = size.min(positive);
    let factor = inclusion_factor(weights, size);
    // Hardly any item beyond this comes to be taken; where too few are left, the draw is made again with more.
    let mut bound = 1.0 + 4.0 / (size.max(1) as f64).sqrt();
    let mut keys: Vec<(f64, u32)> = Vec::new();
    loop {
        let mut draw = random.clone();
        keys.clear();
        for (item, weight) in (0_u32..).zip(weights) {
            let uniform = draw.unit();
            let inclusion = (weight * factor).min(1.0);
            let (key, scale) = (uniform * (1.0 - inclusion), (1.0 - uniform) * inclusion);
            if *weight > 0.0 && key < bound * scale {
                keys.push((key / scale, item));
            }
        }
        if keys.len() >= size {
            break;
        }
        bound = if bound < 1e12 { bound * 8.0 } else { f64::INFINITY };
    }
    if size < keys.len() {
        keys.select_nth_unstable_by(size, |a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        keys.truncate(size);
    }
    let mut members: Vec<u32> = keys.into_iter().map(|(_, item)| item).collect();
    members.sort_unstable();
    members
}

/// The c for which the sum of min(1, c w) is the size.
fn inclusion_factor(weights: &[f64], size: usize) -> f64 {
    let total: f64 = weights.iter().sum();
    let mut factor = size as f64 / total;
    let mut certain = 0;
    loop {
        let limit = 1.0 / factor;
        let (mut count, mut rest) = (0, 0.0);
        for weight in weights {
            if *weight >= limit {
                count += 1;
            } else {
                rest += weight;
            }
        }
        if count <= certain || count >= size || rest <= 0.0 {
            return factor;
        }
        certain = count;
        factor = (size - count) as f64 / rest;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_taken_in_proportion_to_their_weights() {
        let weights = [1.0, 2.0, 4.0, 0.0, 3.0, 10.0];
        let mut counts = [0; 6];
        for number in 0..20_000 {
            let members = select(&weights, 2, &mut Random::new([1, number]));
            assert_eq!(members.len(), 2);
            members.iter().for_each(|item| counts[*item as usize] += 1);
        }
        // The last is always in; the others share the second place by weight.
        assert_eq!((counts[3], counts[5]), (0, 20_000));
        for (item, share) in [(0, 0.1), (1, 0.2), (2, 0.4), (4, 0.3)] {
            assert!((f64::from(counts[item]) / 20_000.0 - share).abs() < 0.03, "{counts:?}");
        }
    }

    #[test]
    fn sizes_are_exact_and_bounded_by_the_positive_weights() {
        let weights: Vec<f64> = (0..500).map(|item| f64::from(item % 5)).collect();
        for (size, expected) in [(1, 1), (7, 7), (399, 399), (400, 400), (500, 400)] {
            let members = select(&weights, size, &mut Random::new([4, size as u64]));
            assert_eq!(members.len(), expected);
            assert!(members.is_sorted_by(|a, b| a < b) && members.iter().all(|item| item % 5 != 0));
        }
    }
}
