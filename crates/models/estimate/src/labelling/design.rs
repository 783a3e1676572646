//! Which answer to label next, and how sure the number is.
//!
//! # Contract
//! - Answers are drawn in batches: the less sure the proxy, the likelier. Draws and chances depend only on labels of earlier batches.
//! - Each label gives an unbiased guess of the total, a mark, whatever the proxy says: errors of marks are a martingale. The estimate is
//!   their mean, weighted by one over the variance that the proxy leaves.
//! - A radius holds at all looks together. The share [`EARLY`] of the risk is for looks before the goal (Robbins' normal
//!   mixture), the rest for the moment when the information suffices. From then on the number is final.
//! - An answer that does not run is wrong, and two equal results are both right or both wrong: neither needs a label.
//!
//! The radius is asymptotic, by the central limit theorem. Source: `research/labels/README.md`, method `planned`; its parts are
//! active inference (Zrnic and Candès 2024) and asymptotic confidence sequences (Waudby-Smith and others 2021).

use serde::{Deserialize, Serialize};
use sqlgauge_base::Random;
use sqlgauge_base::stats::normal_quantile;

use super::recalibrate::{prior, probability, recalibrate};

/// Answers between two recalibrations.
pub const BATCH: usize = 5;
/// Labels before an interval.
const LEAST: usize = 15;
/// The variance that the proxy predicts weighs as much as so many labels.
const TRUST: f64 = 30.0;
/// Share of the chances that the proxy does not decide.
const FLOOR: f64 = 0.1;
/// Share of the risk for the looks before the goal.
const EARLY: f64 = 0.04;
/// Where Robbins' mixture is narrowest: so many standard errors make the half-width.
const AIM: f64 = 3.03;
/// No probability is closer to 0 or 1, and few labels make it no closer than two among them and ten.
const EDGE: f64 = 0.02;
/// Most that two different results are right together.
const BOTH: f64 = 0.98;
/// Least variance of a mark.
const LEAST_VARIANCE: f64 = 1e-3;

/// The answers of a system, in the order of the questions.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Answers {
    /// What a proxy says of each: 1, the logit of being right, then values that get a weight from labels alone.
    pub features: Vec<Vec<f64>>,
    /// Whether it runs.
    pub runs: Vec<bool>,
}

/// A number that is wanted, of systems by their places.
#[derive(Debug, Clone, PartialEq)]
pub enum Quantity {
    /// The share of right answers.
    Accuracy(usize),
    /// The accuracy of the first less that of the second.
    Difference {
        first: usize,
        second: usize,
        /// Whether both answers have the same result.
        same: Vec<bool>,
    },
}

impl Quantity {
    /// The systems that it is of.
    pub fn systems(&self) -> Vec<usize> {
        match self {
            Self::Accuracy(system) => vec![*system],
            Self::Difference { first, second, .. } => vec![*first, *second],
        }
    }
}

/// When the labels are enough.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Goal {
    /// Half the width of the interval, as a share of all questions.
    pub width: f64,
    /// Probability that the interval holds the truth.
    pub level: f64,
    /// Whether labels are enough once a difference has a sign, however wide its interval.
    #[serde(default)]
    pub winner: bool,
}

/// The questions, what is wanted of them, and the goal.
#[derive(Debug, Clone)]
pub struct Design {
    answers: Vec<Answers>,
    quantities: Vec<Quantity>,
    goal: Goal,
    count: usize,
}

/// Answers that are labelled before the next recalibration.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Batch {
    /// Weights of the features, for each quantity.
    pub weights: Vec<Vec<f64>>,
    pub draws: Vec<Draw>,
}

/// A question that is drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Draw {
    pub item: usize,
    /// The chance with which it was drawn among those that were left.
    pub chance: f64,
}

/// What labels say of a quantity.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Standing {
    pub estimate: f64,
    /// Half the width of the interval; infinite with too few labels.
    pub radius: f64,
    /// Labels that it rests on.
    pub labels: usize,
    /// Whether the goal is reached: from then on it stays as it is.
    pub enough: bool,
}

impl Design {
    /// The design for those answers; each system has one for each question.
    pub fn new(answers: Vec<Answers>, quantities: Vec<Quantity>, goal: Goal) -> Self {
        let count = answers.first().map_or(0, |answers| answers.runs.len());
        Self { answers, quantities, goal, count }
    }

    /// Whether a label of the question changes the quantity.
    fn is_open(&self, quantity: &Quantity, item: usize) -> bool {
        match quantity {
            Quantity::Accuracy(system) => self.answers[*system].runs[item],
            Quantity::Difference { first, second, same } => {
                (self.answers[*first].runs[item] || self.answers[*second].runs[item]) && !same[item]
            }
        }
    }

    /// Half the width in questions.
    fn half(&self) -> f64 {
        self.goal.width * self.count as f64
    }

    /// Probability that the answer is right.
    fn right(&self, system: usize, item: usize, weights: &[f64], edge: f64) -> f64 {
        let answers = &self.answers[system];
        if !answers.runs[item] {
            return 0.0;
        }
        probability(weights, &answers.features[item]).clamp(edge, 1.0 - edge)
    }

    /// Expected value and variance of a question's part of the quantity.
    fn moments(&self, quantity: &Quantity, item: usize, weights: &[f64], edge: f64) -> (f64, f64) {
        match quantity {
            Quantity::Accuracy(system) => {
                let p = self.right(*system, item, weights, edge);
                (p, p * (1.0 - p))
            }
            Quantity::Difference { first, second, .. } => {
                let [a, b] = [*first, *second].map(|system| self.right(system, item, weights, edge));
                let scale = ((a + b) / BOTH).max(1.0);
                let (a, b) = (a / scale, b / scale);
                (a - b, a + b - (a - b).powi(2))
            }
        }
    }

    fn value(&self, quantity: &Quantity, item: usize, right: &Verdicts<'_>) -> f64 {
        let of = |system: usize| if self.answers[system].runs[item] { right(system, item) } else { 0.0 };
        match quantity {
            Quantity::Accuracy(system) => of(*system),
            Quantity::Difference { first, second, .. } => of(*first) - of(*second),
        }
    }

    /// The radius at which the first number stands, or the one that holds at all looks before.
    fn radius(&self, information: f64) -> f64 {
        let (half, risk) = (self.half(), 1.0 - self.goal.level);
        if self.goal.winner {
            return robbins(information, half, risk);
        }
        if information >= self.information_for_goal(0.0) {
            return half;
        }
        robbins(information, half, risk * EARLY).max(half * 1.0001)
    }

    /// The information that the goal needs where the quantity is `total`, in questions.
    fn information_for_goal(&self, total: f64) -> f64 {
        let risk = 1.0 - self.goal.level;
        let (z, half) = if self.goal.winner {
            (AIM, total.abs().max(1.0))
        } else {
            (normal_quantile(1.0 - risk * (1.0 - EARLY) / 2.0), self.half())
        };
        (z / half).powi(2)
    }
}

/// Robbins' normal mixture in its asymptotic form (Waudby-Smith and others 2021), narrowest where it is `half`.
fn robbins(information: f64, half: f64, risk: f64) -> f64 {
    let t = 8.0 * information / (AIM / half).powi(2);
    ((1.0 + t) / t * (t.ln_1p() + 2.0 * (1.0 / risk).ln()) / information).sqrt()
}

/// The verdict on a system's answer to a question: 1 right, 0 wrong.
pub type Verdicts<'a> = dyn Fn(usize, usize) -> f64 + 'a;

/// The labels that random sampling needs for an accuracy: Wilson's interval without replacement, looked at once where it is narrow
/// enough. `outcomes` are in the order of the draw.
pub fn random_labels(outcomes: &[f64], goal: Goal) -> usize {
    let (count, z) = (outcomes.len() as f64, normal_quantile(f64::midpoint(1.0, goal.level)));
    let mut sum = 0.0;
    for (n, outcome) in (1..).zip(outcomes) {
        sum += outcome;
        let (labels, p) = (n as f64, sum / n as f64);
        let effective = labels * (count - 1.0) / (count - labels).max(1e-9);
        let variance = p * (1.0 - p) / effective + z * z / (4.0 * effective * effective);
        if n >= 10 && z / (1.0 + z * z / effective) * variance.sqrt() <= goal.width {
            return n;
        }
    }
    outcomes.len()
}

/// Labels as they come in.
#[derive(Debug, Clone)]
pub struct Labelling<'d> {
    design: &'d Design,
    rest: Vec<bool>,
    labels: usize,
    tracks: Vec<Track<'d>>,
}

/// What labels have said of one quantity.
#[derive(Debug, Clone)]
struct Track<'d> {
    quantity: &'d Quantity,
    weights: Vec<f64>,
    /// Sum of the values of labelled questions.
    sum: f64,
    marks: Marks,
    /// Features and verdicts of labelled answers that run.
    seen: Vec<(&'d [f64], f64)>,
    standing: Standing,
}

/// Sums over the marks, whose weights are one over the variance that the proxy leaves.
#[derive(Debug, Clone, Copy, Default)]
struct Marks {
    count: f64,
    weight: f64,
    first: f64,
    square: f64,
    square_first: f64,
    square_second: f64,
    /// Sum of squared weights by variances.
    model: f64,
}

impl Marks {
    fn add(&mut self, mark: f64, variance: f64) {
        let weight = 1.0 / variance;
        let square = weight * weight;
        self.count += 1.0;
        self.weight += weight;
        self.first += weight * mark;
        self.square += square;
        self.square_first += square * mark;
        self.square_second += square * mark * mark;
        self.model += weight;
    }

    fn mean(&self) -> f64 {
        self.first / self.weight
    }

    /// One over the variance of the mean, as seen and as predicted.
    fn information(&self) -> f64 {
        let mean = self.mean();
        let spread = self.square_second - 2.0 * mean * self.square_first + mean * mean * self.square;
        let variance = (TRUST * self.model + self.count * spread.max(0.0)) / (TRUST + self.count);
        self.weight * self.weight / variance.max(1e-30)
    }
}

impl<'d> Labelling<'d> {
    /// No label yet.
    pub fn new(design: &'d Design) -> Self {
        let width = design.answers.iter().filter_map(|answers| answers.features.first()).map(Vec::len).max();
        let rest: Vec<bool> = (0..design.count)
            .map(|item| design.quantities.iter().any(|quantity| design.is_open(quantity, item)))
            .collect();
        let track = |quantity| Track {
            quantity,
            weights: prior(width.unwrap_or(1)),
            sum: 0.0,
            marks: Marks::default(),
            seen: Vec::new(),
            standing: Standing { estimate: f64::NAN, radius: f64::INFINITY, labels: 0, enough: false },
        };
        let mut labelling =
            Self { design, rest, labels: 0, tracks: design.quantities.iter().map(track).collect() };
        labelling.look();
        labelling
    }

    /// What labels say of each quantity.
    pub fn standings(&self) -> impl Iterator<Item = Standing> + '_ {
        self.tracks.iter().map(|track| track.standing)
    }

    /// Whether every goal is reached.
    pub fn is_enough(&self) -> bool {
        self.tracks.iter().all(|track| track.standing.enough)
    }

    /// Labels so far.
    pub fn labels(&self) -> usize {
        self.labels
    }

    /// Questions that a label could still be of.
    pub fn left(&self) -> usize {
        self.rest.iter().filter(|is_left| **is_left).count()
    }

    /// The next batch; it is empty where the labels are enough.
    pub fn draw(&self, random: &mut Random) -> Batch {
        let weights: Vec<Vec<f64>> = self.tracks.iter().map(|track| track.weights.clone()).collect();
        let (mut chances, _) = self.chances(&weights);
        let mut draws = Vec::new();
        while !self.is_enough() && draws.len() < BATCH.min(self.left()) {
            let total: f64 = chances.iter().sum();
            let mut point = random.unit() * total;
            let is_there = |(_, chance): &(usize, &f64)| {
                point -= **chance;
                **chance > 0.0 && point < 0.0
            };
            // Rounding may leave the point behind the last one.
            let item = chances.iter().enumerate().find(is_there).map(|(item, _)| item);
            let Some(item) = item.or_else(|| chances.iter().rposition(|chance| *chance > 0.0)) else { break };
            draws.push(Draw { item, chance: chances[item] / total });
            chances[item] = 0.0;
        }
        Batch { weights, draws }
    }

    /// Draws and labels until the labels are enough.
    #[must_use]
    pub fn until_enough(mut self, random: &mut Random, right: &Verdicts<'_>) -> Self {
        while !self.is_enough() {
            let batch = self.draw(random);
            self.add(&batch, right);
        }
        self
    }

    /// The chances of all questions under those weights, and for each quantity the moments of its questions.
    fn chances(&self, weights: &[Vec<f64>]) -> (Vec<f64>, Vec<Vec<(f64, f64)>>) {
        let edge = EDGE.max(2.0 / (self.labels + 10) as f64);
        let moments_of = |(track, weights): (&Track<'_>, &Vec<f64>)| {
            let moments = |item| {
                let is_open = self.rest[item] && self.design.is_open(track.quantity, item);
                if is_open { self.design.moments(track.quantity, item, weights, edge) } else { (0.0, 0.0) }
            };
            (0..self.design.count).map(moments).collect::<Vec<_>>()
        };
        let moments: Vec<_> = self.tracks.iter().zip(weights).map(moments_of).collect();
        // A quantity that is sure enough decides no longer what is drawn.
        let deciding = || self.tracks.iter().zip(&moments).filter(|(track, _)| !track.standing.enough);
        let tracks = deciding().count().max(1) as f64;
        let spread = |item: usize| (deciding().map(|(_, of)| of[item].1).sum::<f64>() / tracks).sqrt();
        let spreads: Vec<f64> = (0..self.design.count).map(spread).collect();
        let (total, left) = (spreads.iter().sum::<f64>().max(1e-9), self.left().max(1) as f64);
        let chance = |(spread, is_left): (&f64, &bool)| {
            if *is_left { (1.0 - FLOOR) * spread / total + FLOOR / left } else { 0.0 }
        };
        (spreads.iter().zip(&self.rest).map(chance).collect(), moments)
    }

    /// Takes the verdicts on a batch that was drawn after those before it.
    pub fn add(&mut self, batch: &Batch, right: &Verdicts<'_>) {
        let (chances, moments) = self.chances(&batch.weights);
        for ((track, moments), weights) in self.tracks.iter_mut().zip(&moments).zip(&batch.weights) {
            track.add(self.design, batch, &chances, moments, weights, right);
        }
        self.labels += batch.draws.len();
        batch.draws.iter().for_each(|draw| self.rest[draw.item] = false);
        self.look();
    }

    /// Looks at all quantities: one whose goal was reached before stays as it is.
    fn look(&mut self) {
        for track in self.tracks.iter_mut().filter(|track| !track.standing.enough) {
            let is_left = |item: &usize| self.rest[*item] && self.design.is_open(track.quantity, *item);
            let left = (0..self.design.count).filter(is_left).count();
            track.standing = track.look(self.design, self.labels, left as f64);
        }
    }

    /// About how many more labels the goal needs, if the proxy is right.
    pub fn likely(&self) -> usize {
        let weights: Vec<Vec<f64>> = self.tracks.iter().map(|track| track.weights.clone()).collect();
        let (_, moments) = self.chances(&weights);
        let open = self.tracks.iter().zip(&moments).filter(|(track, _)| !track.standing.enough);
        let more = open.map(|(track, moments)| {
            let expected = track.sum + moments.iter().map(|(mean, _)| mean).sum::<f64>();
            let has_marks = track.marks.count > 0.0;
            let total = if has_marks { track.marks.mean() } else { expected };
            let information = if has_marks { track.marks.information() } else { 0.0 };
            let missing = self.design.information_for_goal(total) - information;
            labels_for(missing, moments.iter().map(|(_, variance)| *variance))
        });
        let least = LEAST.saturating_sub(self.labels);
        if self.is_enough() { 0 } else { more.max().unwrap_or(0).max(least).min(self.left()) }
    }
}

/// Labels that give that much information, drawn by the square roots of the variances; each takes its mean share away.
fn labels_for(information: f64, variances: impl Iterator<Item = f64>) -> usize {
    let variances: Vec<f64> = variances.collect();
    let sum = |power: i32| variances.iter().map(|variance| variance.sqrt().powi(power)).sum::<f64>();
    let (mut first, mut second, third) = (sum(1), sum(2), sum(3));
    let ratio = third / second.max(1e-9);
    let (mut left, mut labels) = (information, 0);
    while left > 0.0 && labels < variances.len() {
        left -= 1.0 / (first * first - second).max(LEAST_VARIANCE);
        let share = second / first.max(1e-9);
        first -= share;
        second = (second - share * ratio).max(0.0);
        labels += 1;
    }
    labels
}

impl<'d> Track<'d> {
    fn add(
        &mut self,
        design: &'d Design,
        batch: &Batch,
        chances: &[f64],
        moments: &[(f64, f64)],
        weights: &[f64],
        right: &Verdicts<'_>,
    ) {
        let over_chance = |((_, variance), chance): (&(f64, f64), &f64)| {
            if *chance > 0.0 { variance / chance - variance } else { 0.0 }
        };
        let variance = moments.iter().zip(chances).map(over_chance).sum::<f64>().max(LEAST_VARIANCE);
        let mut expected: f64 = moments.iter().map(|(mean, _)| mean).sum();
        for draw in &batch.draws {
            let is_open = design.is_open(self.quantity, draw.item);
            let value = if is_open { design.value(self.quantity, draw.item, right) } else { 0.0 };
            let guess = moments[draw.item].0;
            self.marks.add(self.sum + expected + (value - guess) / draw.chance, variance);
            self.sum += value;
            expected -= guess;
            let systems = self.quantity.systems().into_iter().filter(|_| is_open);
            for system in systems.filter(|system| design.answers[*system].runs[draw.item]) {
                self.seen.push((&design.answers[system].features[draw.item], right(system, draw.item)));
            }
        }
        self.weights = recalibrate(weights, &self.seen);
    }

    fn look(&self, design: &Design, labels: usize, left: f64) -> Standing {
        let count = design.count as f64;
        if left == 0.0 {
            return Standing { estimate: self.sum / count, radius: 0.0, labels, enough: true };
        }
        if self.marks.count == 0.0 {
            return Standing { labels, ..self.standing };
        }
        let mean = self.marks.mean();
        let radius = if labels < LEAST { f64::INFINITY } else { design.radius(self.marks.information()) };
        // Labels that outweigh all that are left decide, whatever these say.
        let decides = design.goal.winner && self.sum.abs() > left;
        let enough = if design.goal.winner {
            decides || mean.abs() > radius
        } else {
            radius <= design.half() * (1.0 + 1e-9)
        };
        let estimate = if decides { self.sum } else { mean };
        Standing { estimate: estimate / count, radius: radius / count, labels, enough }
    }
}
