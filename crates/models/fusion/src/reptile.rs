//! `fusion-ml`: meta-training over systems, and adaptation to one that was not among them.

use crate::adapt_options::AdaptOptions;

use super::calibration::{Calibration, HeldOut};
use super::card::Epoch;
use super::error::EvaluatorError;
use super::fit::{CALIBRATION_SHARE, Described, Evaluator, FitOptions};
use super::meta_set::{MetaSet, Rows};
use super::network::{Momentum, Network, Samples};
use super::ranges::Ranges;
use super::regressors::{MlpModel, mean_absolute_error};
use super::scaler::Scaler;
use super::transfer::draw;
use sqlgauge_base::{Random, seed_of};

/// Times that validation is looked at during meta-training.
const CHECKS: usize = 20;
/// Sample sets per inner step.
const BATCH: usize = 64;

/// How an initialisation is learnt.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReptileOptions {
    /// Outer steps: each takes one system.
    pub iterations: usize,
    /// Inner steps; also what a new system is adapted with.
    pub inner: AdaptOptions,
}

impl Default for ReptileOptions {
    /// 2,000 outer steps.
    fn default() -> Self {
        Self { iterations: 2000, inner: AdaptOptions::default() }
    }
}

/// One system: sample sets to adapt on, and sets that tell how well that went.
struct Task {
    support: Samples,
    query: Rows,
    accuracy: Vec<f64>,
    query_set: MetaSet,
}

/// `fusion-ml`: learns an initialisation by Reptile with each system's meta-set as one task (paper section IV-C,
/// Eq. 13): `theta_m` is `theta` after a few inner steps on task `m`, then `theta += epsilon (theta_m - theta)`, where epsilon falls from 1
/// to 0 linearly.
///
/// A fifth of the systems, at least one, is never trained on: each is adapted to on a part of its sets, and its
/// errors on other sets (of other groups) calibrate the interval, a system being a group. The parameters that are
/// best after adaptation on the held-out sets of the systems trained on are kept.
///
/// # Errors
/// With fewer than two systems (use [`fit`](super::fit)), with different descriptors, or as [`fit`](super::fit).
pub fn meta_train(
    systems: &[MetaSet],
    reptile: &ReptileOptions,
    options: &FitOptions<'_>,
) -> Result<Evaluator, EvaluatorError> {
    check(systems, reptile, options)?;
    let mut order: Vec<usize> = (0..systems.len()).collect();
    Random::new([options.seed, seed_of("systems")]).shuffle(&mut order);
    let validation_count = (systems.len() / 5).max(1);
    let (held_out, trained_on) = order.split_at(validation_count);
    let parts: Vec<(MetaSet, MetaSet)> =
        trained_on.iter().map(|&system| halves(&systems[system], options.seed)).collect();
    let train = MetaSet::concatenate(parts.iter().map(|(support, _)| support))?;
    let validation = MetaSet::concatenate(parts.iter().map(|(_, query)| query))?;
    let scaler = Scaler::fit(train.rows());
    let tasks: Vec<Task> =
        parts.into_iter().map(|(support, query)| Task::new(&support, query, &scaler)).collect();
    let mean = train.accuracy().iter().sum::<f64>() / train.len() as f64;
    let run = || {
        let network = Network::new(train.rows().width(), mean, options.seed)?;
        let curve = run_reptile(&network, &tasks, reptile, options.seed)?;
        Ok((network, curve))
    };
    let (network, curve) =
        run().map_err(|error: candle_core::Error| EvaluatorError::regressor("mlp")(error))?;
    let (trained, mut seen) = (Ranges::of(train.rows()), Ranges::of(train.rows()));
    seen.extend(validation.rows());
    held_out.iter().for_each(|&system| seen.extend(systems[system].rows()));
    let rest = held_out.iter().map(|&system| &systems[system]);
    let mut evaluator = Evaluator {
        card: Described::of(&train, &validation, rest).card("fusion-ml", options, curve),
        scaler,
        model: Box::new(MlpModel(network)),
        trained,
        seen,
        calibration: Calibration::new(&[], &[]),
        reference: options.reference.clone(),
    };
    evaluator.calibrate_over_systems(systems, held_out, &tasks, reptile, options.seed)?;
    Ok(evaluator)
}

/// Adapts an evaluator to a system from sample sets on which its accuracy is known (paper section IV-C); made for
/// what [`meta_train`] gives, and possible with any network. The calibration stays that of meta-training, which is
/// about adapted evaluators on systems not trained on.
///
/// # Errors
/// [`EvaluatorError::NotAdaptable`] for an evaluator that is no network; when the sets have other descriptors.
pub fn adapt(
    evaluator: &Evaluator,
    sets: &MetaSet,
    options: &AdaptOptions,
) -> Result<Evaluator, EvaluatorError> {
    evaluator.check_rows(sets)?;
    check_inner(options)?;
    let samples = Samples::new(&evaluator.scaler.apply(sets.rows()), sets.accuracy());
    let mut random = Random::new([options.seed, seed_of("adapt")]);
    let adapted = evaluator
        .trained_further(|network| inner_steps(network, &samples, options, &mut random).map(|_| ()))?;
    let note = format!("Adapted to a system with {} steps on {} sample sets.", options.steps, sets.len());
    Ok(adapted.renamed(&evaluator.card.method, sets, note))
}

fn check(
    systems: &[MetaSet],
    reptile: &ReptileOptions,
    options: &FitOptions<'_>,
) -> Result<(), EvaluatorError> {
    let fail = |message: String| Err(EvaluatorError::MetaSet(message));
    if options.regressor.id() != "mlp" {
        return Err(EvaluatorError::NotAdaptable(options.regressor.id().to_owned()));
    }
    if systems.len() < 2 {
        return fail(format!(
            "covers {} system; meta-training needs at least two: use fit for one",
            systems.len()
        ));
    }
    if systems.iter().any(|system| system.names() != systems[0].names()) {
        return fail("has other descriptors for one system than for another".to_owned());
    }
    MetaSet::concatenate(systems)?.check_learnable()?;
    if let Some(system) = systems.iter().position(|system| system.len() < 4) {
        return fail(format!("of system {system} has fewer than 4 sets"));
    }
    if reptile.iterations == 0 {
        return Err(EvaluatorError::Option("outer steps are at least 1".to_owned()));
    }
    check_inner(&reptile.inner)
}

fn check_inner(options: &AdaptOptions) -> Result<(), EvaluatorError> {
    if options.alpha > 0.0 && options.alpha.is_finite() {
        return Ok(());
    }
    Err(EvaluatorError::Option("a step takes at least one sample set and has a size above 0".to_owned()))
}

/// Sets of a system to adapt on, and sets of other groups to look at afterwards.
fn halves(system: &MetaSet, seed: u64) -> (MetaSet, MetaSet) {
    let (support, query) = system.split(CALIBRATION_SHARE, seed, "query");
    (system.select(&support), system.select(&query))
}

impl Task {
    fn new(support: &MetaSet, query: MetaSet, scaler: &Scaler) -> Self {
        Self {
            support: Samples::new(&scaler.apply(support.rows()), support.accuracy()),
            query: scaler.apply(query.rows()),
            accuracy: query.accuracy().to_vec(),
            query_set: query,
        }
    }
}

/// A few steps on batches of one system; gives the mean loss.
fn inner_steps(
    network: &Network,
    samples: &Samples,
    options: &AdaptOptions,
    random: &mut Random,
) -> candle_core::Result<f64> {
    let mut optimizer =
        network.optimizer(Momentum { learning_rate: options.alpha, beta1: 0.0, weight_decay: 0.0 })?;
    let mut sum = 0.0;
    for _ in 0..options.steps {
        let rows = draw(random, samples.len(), BATCH);
        sum += network.step(&mut optimizer, samples, &rows, None)?;
    }
    Ok(sum / options.steps.max(1) as f64)
}

/// The outer loop; leaves the network with its best parameters.
fn run_reptile(
    network: &Network,
    tasks: &[Task],
    options: &ReptileOptions,
    seed: u64,
) -> candle_core::Result<Vec<Epoch>> {
    let mut random = Random::new([seed, seed_of("reptile")]);
    let every = options.iterations.div_ceil(CHECKS);
    let (mut curve, mut sum, mut since) = (Vec::new(), 0.0, 0);
    let mut best = (f64::INFINITY, network.parameters()?);
    for iteration in 0..options.iterations {
        let task = &tasks[random.below(tasks.len())];
        let before = network.parameters()?;
        sum += inner_steps(network, &task.support, &options.inner, &mut random)?;
        since += 1;
        let epsilon = 1.0 - iteration as f64 / options.iterations as f64;
        network.set(&between(&before, &network.parameters()?, epsilon))?;
        if (iteration + 1) % every == 0 || iteration + 1 == options.iterations {
            let validation_mae = error_after_adaptation(network, tasks, &options.inner, seed)?;
            curve.push(Epoch { epoch: curve.len() + 1, train_mse: sum / f64::from(since), validation_mae });
            (sum, since) = (0.0, 0);
            if validation_mae < best.0 {
                best = (validation_mae, network.parameters()?);
            }
        }
    }
    network.set(&best.1)?;
    Ok(curve)
}

/// `before + epsilon (after - before)`.
#[expect(clippy::cast_possible_truncation, reason = "parameters are f32")]
fn between(before: &[Vec<f32>], after: &[Vec<f32>], epsilon: f64) -> Vec<Vec<f32>> {
    let epsilon = epsilon as f32;
    let moved = |(before, after): (&Vec<f32>, &Vec<f32>)| {
        before.iter().zip(after).map(|(&before, &after)| before + epsilon * (after - before)).collect()
    };
    before.iter().zip(after).map(moved).collect()
}

/// Mean over systems of the error on their query sets, each after its own adaptation.
fn error_after_adaptation(
    network: &Network,
    tasks: &[Task],
    options: &AdaptOptions,
    seed: u64,
) -> candle_core::Result<f64> {
    let mut sum = 0.0;
    for task in tasks {
        let adapted = network.copy()?;
        inner_steps(&adapted, &task.support, options, &mut Random::new([seed, seed_of("check")]))?;
        sum += mean_absolute_error(&adapted.predict(&task.query)?, &task.accuracy);
    }
    Ok(sum / tasks.len() as f64)
}

impl Evaluator {
    /// Scores of systems that were not trained on, each after adaptation to a part of its sets.
    fn calibrate_over_systems(
        &mut self,
        systems: &[MetaSet],
        held_out: &[usize],
        tasks: &[Task],
        reptile: &ReptileOptions,
        seed: u64,
    ) -> Result<(), EvaluatorError> {
        let adapted = |support: &MetaSet| adapt(self, support, &AdaptOptions { seed, ..reptile.inner });
        let mut scored: Vec<HeldOut> = Vec::new();
        for (group, &system) in (0..).zip(held_out) {
            let (support, query) = halves(&systems[system], seed);
            let sets = adapted(&support)?.held_out(&query)?;
            scored.extend(sets.into_iter().map(|set| HeldOut { group, ..set }));
        }
        let mut validated = Vec::new();
        for task in tasks {
            let network = self.trained_further(|network| {
                inner_steps(
                    network,
                    &task.support,
                    &reptile.inner,
                    &mut Random::new([seed, seed_of("check")]),
                )
                .map(|_| ())
            })?;
            validated.extend(network.held_out(&task.query_set)?);
        }
        let sum: f64 = validated.iter().map(|set| (set.truth - set.estimate).abs()).sum();
        self.card.validation_mae = sum / validated.len().max(1) as f64;
        self.set_calibration(&validated, &scored);
        Ok(())
    }
}
