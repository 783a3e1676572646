//! Whether the answers of a batch are like those of the batches before: conformal e-detectors.
//!
//! Two values of each answer are watched: how sure the item model is that it is right, and whether it runs. Both depend on the answer
//! and the known runs alone, not on its batch. Without a change, answers are exchangeable: the rank of a value among all so far, with
//! ties broken at random, is uniform and independent of earlier ranks (Vovk, Gammerman, Shafer, *Algorithmic Learning in a Random World*,
//! 2005, chapter 8). A bet on a rank has mean 1. So has its mean over all ways to break the ties, which is taken: no alarm comes from
//! a draw. The Shiryaev-Roberts sums R = (R + 1) · bet, averaged over bets, directions and values, reach c after at least c answers on
//! average (Shin, Ramdas, Rinaldo, *E-detectors*, 2023). With c the answers of a year, that is at most one false alarm a year for each
//! system, however often people look. The batch that a change is said to begin in is an estimate: the split of the batches with the
//! largest difference of means, in standard errors.
//!
//! Questions of one database resemble each other, so different shares of the databases are a change too: its drivers name them.
//! Linear time in the number of answers; a constant seed orders those of a batch, so one log gives the same alarms each time.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sqlgauge_base::Random;

use crate::case::TargetCase;
use crate::error::EstimateError;
use crate::items::ItemModel;

/// Probabilities are kept in thousandths.
const GRID: usize = 1_000;
/// Slopes of the linear bets 1 + κ(1 − 2p), and exponents of the bets ε·p^(ε − 1), which gain from rare extremes.
const SLOPES: [f64; 4] = [0.1, 0.2, 0.4, 0.8];
const EXPONENTS: [f64; 2] = [0.5, 0.8];
const BETS: usize = SLOPES.len() + EXPONENTS.len();
/// Databases that an alarm names.
const DRIVERS: usize = 2;

/// An answer's database; thousandths of the probability of being right by the item model, and 1 where it runs.
pub type AnswerValue = (String, (u16, u8));

/// The values of the target's answers, in the order of its questions. With too few labelled answers for an item model, only whether they
/// run is known.
///
/// # Errors
/// When the item model cannot be fitted.
pub fn values(case: &TargetCase<'_>) -> Result<Vec<AnswerValue>, EstimateError> {
    let (items, pool) = (ItemModel::fit_target(case)?, case.pool());
    let value = |&question| {
        let probability: f64 = items.target.get(&question).copied().unwrap_or_default();
        let database = pool.databases[pool[question].database].db_id.clone();
        (database, (thousandths(probability), u8::from(case.runs(case.target, question))))
    };
    Ok(case.evidence.questions.iter().map(value).collect())
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most 1000")]
fn thousandths(probability: f64) -> u16 {
    (probability.clamp(0.0, 1.0) * GRID as f64).round() as u16
}

/// The answers of a batch by database: for each the probability of being right in thousandths, and 1 if it runs, else 0.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BatchAnswers(BTreeMap<String, Vec<(u16, u8)>>);

impl BatchAnswers {
    pub fn of(values: &[AnswerValue]) -> Self {
        let mut answers: BTreeMap<String, Vec<(u16, u8)>> = BTreeMap::new();
        for (database, value) in values {
            answers.entry(database.clone()).or_default().push(*value);
        }
        Self(answers)
    }
}

/// What is watched of each answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Watched {
    /// How sure the item model is.
    Confidence,
    Runs,
}

impl Watched {
    const ALL: [Self; 2] = [Self::Confidence, Self::Runs];

    fn place(self, (thousandths, runs): (u16, u8)) -> usize {
        match self {
            Self::Confidence => usize::from(thousandths).min(GRID),
            Self::Runs => {
                if runs == 0 {
                    0
                } else {
                    GRID
                }
            }
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    Fall,
    Rise,
}

/// A change that rang an alarm.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Change {
    pub watched: Watched,
    pub direction: Direction,
    /// The first batch of the change, by its place in the series.
    pub since: usize,
    /// Means before and since, in [0, 1].
    pub before: f64,
    pub after: f64,
    /// The sum against its bound; it rings from 1 on.
    pub evidence: f64,
    /// The databases that moved the mean most, and by how much.
    pub drivers: Vec<(String, f64)>,
}

/// The changes that ring, each with the place of the batch in which it does. The first batch is the reference.
///
/// `answers_per_year` is the mean number of answers to a false alarm, at least.
pub fn changes(batches: &[BatchAnswers], answers_per_year: f64) -> Vec<(usize, Change)> {
    let mut streams = Watched::ALL.map(Stream::new);
    let mut random = Random::new([0]);
    let mut changes = Vec::new();
    for (at, batch) in batches.iter().enumerate() {
        let mut answers: Vec<(u16, u8)> = batch.0.values().flatten().copied().collect();
        random.shuffle(&mut answers);
        let mut rings = false;
        for answer in answers {
            streams.iter_mut().for_each(|stream| stream.see(answer, at > 0));
            rings |= total(&streams) >= answers_per_year;
        }
        if rings {
            changes.extend(change(&streams, batches, at, answers_per_year).map(|change| (at, change)));
            streams.iter_mut().for_each(|stream| stream.detectors = Default::default());
        }
    }
    changes
}

fn total(streams: &[Stream; 2]) -> f64 {
    let detectors = streams.iter().flat_map(|stream| &stream.detectors);
    detectors.map(Detector::evidence).sum::<f64>() / 4.0
}

/// The change that is named, and what moved: a fall of the share that runs where it alone rings, since an answer that does not run has
/// no confidence either; else the strongest evidence.
fn change(streams: &[Stream; 2], batches: &[BatchAnswers], at: usize, bound: f64) -> Option<Change> {
    let each = || {
        streams.iter().flat_map(|stream| {
            let both = [Direction::Fall, Direction::Rise].into_iter().zip(&stream.detectors);
            both.map(|(direction, detector)| (stream.watched, direction, detector))
        })
    };
    let runs_fall = each().find(|(watched, direction, detector)| {
        (*watched, *direction) == (Watched::Runs, Direction::Fall) && detector.evidence() / 4.0 >= bound
    });
    let strongest = || each().max_by(|a, b| a.2.evidence().total_cmp(&b.2.evidence()));
    let (watched, direction, _) = runs_fall.or_else(strongest)?;
    let since = begin(&batches[..=at], watched, direction);
    let (before, after) = (Means::of(&batches[..since], watched), Means::of(&batches[since..=at], watched));
    let mut drivers: Vec<(String, f64)> = after
        .by_database
        .keys()
        .chain(before.by_database.keys().filter(|name| !after.by_database.contains_key(*name)))
        .map(|name| {
            ((*name).to_owned(), after.share_of(name, before.mean) - before.share_of(name, before.mean))
        })
        .collect();
    drivers.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
    drivers.truncate(DRIVERS);
    let evidence = total(streams) / bound;
    Some(Change { watched, direction, since, before: before.mean, after: after.mean, evidence, drivers })
}

/// The batch from which on the mean differs most from that of all before, in the direction.
fn begin(batches: &[BatchAnswers], watched: Watched, direction: Direction) -> usize {
    let each = batches.iter().map(|batch| Means::of(std::slice::from_ref(batch), watched));
    let each: Vec<(f64, f64)> = each.map(|means| (means.count, means.mean * means.count)).collect();
    let add = |(count, sum): (f64, f64), one: &(f64, f64)| (count + one.0, sum + one.1);
    let (count, sum) = each.iter().fold((0.0, 0.0), add);
    let mut before = (0.0, 0.0);
    let moves = each[..each.len() - 1].iter().map(|one| {
        before = add(before, one);
        let after = (count - before.0, sum - before.1);
        let rise = after.1 / after.0.max(1.0) - before.1 / before.0.max(1.0);
        let toward = if direction == Direction::Rise { rise } else { -rise };
        // The standard deviation of an answer is the same for all splits.
        toward * (before.0 * after.0).sqrt()
    });
    moves.enumerate().max_by(|a, b| a.1.total_cmp(&b.1)).map_or(1, |(at, _)| at + 1)
}

/// Means of a value over batches.
struct Means<'b> {
    mean: f64,
    count: f64,
    /// Count and sum.
    by_database: BTreeMap<&'b str, (f64, f64)>,
}

impl<'b> Means<'b> {
    fn of(batches: &'b [BatchAnswers], watched: Watched) -> Self {
        let mut by_database: BTreeMap<&str, (f64, f64)> = BTreeMap::new();
        for (name, answers) in batches.iter().flat_map(|batch| &batch.0) {
            let entry = by_database.entry(name).or_default();
            entry.0 += answers.len() as f64;
            entry.1 += answers.iter().map(|answer| watched.place(*answer) as f64 / GRID as f64).sum::<f64>();
        }
        let (count, sum) = by_database.values().fold((0.0, 0.0), |all, one| (all.0 + one.0, all.1 + one.1));
        Self { mean: if count > 0.0 { sum / count } else { 0.0 }, count, by_database }
    }

    /// By how much the answers of a database lift the mean above `from`: these shares add up to mean − from.
    fn share_of(&self, name: &str, from: f64) -> f64 {
        let of_one = self.by_database.get(name).filter(|_| self.count > 0.0);
        of_one.map_or(0.0, |(count, sum)| (sum - count * from) / self.count)
    }
}

/// One value of all answers, watched for both directions.
struct Stream {
    watched: Watched,
    ranks: Ranks,
    /// For a fall and for a rise.
    detectors: [Detector; 2],
}

impl Stream {
    fn new(watched: Watched) -> Self {
        Self { watched, ranks: Ranks::new(), detectors: Default::default() }
    }

    fn see(&mut self, answer: (u16, u8), is_judged: bool) {
        let [low, high] = self.ranks.add(self.watched.place(answer));
        // A value that all had before pays 1 for certain: sums that only count answers would ring in the end.
        if is_judged && high - low < 1.0 {
            for (detector, ranks) in self.detectors.iter_mut().zip([[low, high], [1.0 - high, 1.0 - low]]) {
                detector.see(ranks);
            }
        }
    }
}

/// Sums of evidence that ranks became low.
#[derive(Default)]
struct Detector {
    sums: [f64; BETS],
}

impl Detector {
    /// Bets on a rank between these: the means over all of them.
    fn see(&mut self, [low, high]: [f64; 2]) {
        let linear = SLOPES.map(|slope| 1.0 + slope * (1.0 - low - high));
        let power = EXPONENTS.map(|exponent| (high.powf(exponent) - low.powf(exponent)) / (high - low));
        for (sum, bet) in self.sums.iter_mut().zip(linear.into_iter().chain(power)) {
            *sum = (*sum + 1.0) * bet;
        }
    }

    fn evidence(&self) -> f64 {
        self.sums.iter().sum::<f64>() / BETS as f64
    }
}

/// How many values lie at each place of the grid, as a tree of sums (Fenwick, 1994).
struct Ranks {
    tree: [u64; GRID + 2],
    at: [u64; GRID + 1],
    count: u64,
}

impl Ranks {
    fn new() -> Self {
        Self { tree: [0; GRID + 2], at: [0; GRID + 1], count: 0 }
    }

    /// The lowest and the highest rank of a value among all that were added and itself, in [0, 1]; equal ones lie between.
    fn add(&mut self, place: usize) -> [f64; 2] {
        let mut below = 0;
        let mut node = place;
        while node > 0 {
            below += self.tree[node];
            node &= node - 1;
        }
        self.at[place] += 1;
        self.count += 1;
        node = place + 1;
        while node < self.tree.len() {
            self.tree[node] += 1;
            node += node & node.wrapping_neg();
        }
        [below, below + self.at[place]].map(|rank| rank as f64 / self.count as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A batch whose answers are right with about that probability, and run with that one, on two databases.
    fn batch(count: usize, right: f64, runs: f64, random: &mut Random) -> BatchAnswers {
        let mut answers: BTreeMap<String, Vec<(u16, u8)>> = BTreeMap::new();
        for at in 0..count {
            let name = if at % 2 == 0 { "even" } else { "odd" };
            let probability = right + 0.4 * (random.unit() - 0.5);
            let value = (thousandths(probability), u8::from(random.unit() < runs));
            answers.entry(name.to_owned()).or_default().push(value);
        }
        BatchAnswers(answers)
    }

    #[test]
    fn a_false_alarm_takes_as_many_answers_as_promised() {
        // The mean number of answers to the first alarm over 200 series without a change, cut at 16 times the bound.
        const BOUND: f64 = 100.0;
        let mut random = Random::new([7]);
        let mut sum = 0.0;
        for _ in 0..200 {
            let batches: Vec<_> = (0..41).map(|_| batch(40, 0.7, 0.9, &mut random)).collect();
            sum += changes(&batches, BOUND).first().map_or(40.0, |(at, _)| *at as f64) * 40.0;
        }
        let mean = sum / 200.0;
        assert!(mean >= BOUND, "{mean}");
    }

    #[test]
    fn equal_answers_never_ring() {
        let same = |_| BatchAnswers::of(&vec![("one".to_owned(), (900, 1)); 100]);
        assert!(changes(&(0..60).map(same).collect::<Vec<_>>(), 100.0).is_empty());
    }

    #[test]
    fn a_fall_rings_with_its_begin_and_its_driver() {
        let mut random = Random::new([1]);
        let mut batches: Vec<_> = (0..5).map(|_| batch(200, 0.7, 0.95, &mut random)).collect();
        for _ in 0..6 {
            let mut fallen = batch(200, 0.7, 0.95, &mut random);
            fallen.0.get_mut("odd").unwrap().iter_mut().for_each(|value| value.0 -= 200);
            batches.push(fallen);
        }
        let all = changes(&batches, 10_400.0);
        let (at, change) = &all[0];
        assert_eq!((change.watched, change.direction), (Watched::Confidence, Direction::Fall));
        assert!((5..=6).contains(at), "{change:?}");
        // Later alarms tell of the same change.
        assert!(all.len() > 1 && all.iter().all(|(_, change)| change.since == 5), "{all:?}");
        assert_eq!(change.drivers[0].0, "odd");
        assert!((change.before - change.after - 0.1).abs() < 0.02, "{change:?}");
        let moved: f64 = change.drivers.iter().map(|(_, by)| by).sum();
        assert!((moved - (change.after - change.before)).abs() < 1e-9);
    }

    #[test]
    fn answers_that_fail_ring_and_nothing_rings_without_a_past() {
        let mut random = Random::new([2]);
        let mut batches: Vec<_> = (0..4).map(|_| batch(200, 0.7, 0.98, &mut random)).collect();
        batches.push(batch(200, 0.7, 0.7, &mut random));
        // The item model is sure of no answer that fails: its fall is the stronger one.
        batches[4].0.values_mut().flatten().filter(|value| value.1 == 0).for_each(|value| value.0 = 0);
        let (at, change) = changes(&batches, 10_400.0).remove(0);
        assert_eq!((at, change.watched, change.direction), (4, Watched::Runs, Direction::Fall));
        assert!(changes(&batches[4..], 10_400.0).is_empty() && changes(&[], 1.0).is_empty());
    }

    #[test]
    fn ranks_are_those_of_a_sorted_list() {
        let mut random = Random::new([3]);
        let (mut ranks, mut list) = (Ranks::new(), Vec::new());
        for _ in 0..500 {
            let place = random.below(GRID + 1);
            list.push(place);
            let below = list.iter().filter(|other| **other < place).count() as f64;
            let equal = list.iter().filter(|other| **other == place).count() as f64;
            let count = list.len() as f64;
            let [low, high] = ranks.add(place).map(|rank| rank * count);
            assert!((low - below).abs() < 1e-9 && (high - below - equal).abs() < 1e-9);
        }
    }
}
