//! Fitting an evaluator, and asking it.

use serde::{Deserialize, Serialize};

use super::blob::Blob;
use super::calibration::{Basis, Calibration, HeldOut};
use super::card::{Calibrated, Card, Epoch, FORMAT, Provenance};
use super::error::EvaluatorError;
use super::meta_set::{MetaSet, Rows};
use super::ranges::Ranges;
use super::regressors::{FittedModel, LabelledRows, Lesson, Mlp, Model, Regressor, mean_absolute_error};
use super::scaler::Scaler;

/// Share of the groups that calibrates the interval.
pub(super) const CALIBRATION_SHARE: f64 = 0.2;
/// Share of the remaining sets that decides when to stop.
pub(super) const VALIDATION_SHARE: f64 = 0.1;
/// Groups from which whole groups can be spared for validation.
const MANY_GROUPS: usize = 5;

/// How an evaluator is fitted.
#[derive(Clone)]
pub struct FitOptions<'a> {
    pub regressor: &'a dyn Regressor,
    /// Seed of everything random.
    pub seed: u64,
    /// Where the sets come from, for the card.
    pub provenance: Provenance,
    /// Arrays that the evaluator carries along, such as the statistics of the source.
    pub reference: Vec<Blob>,
}

impl Default for FitOptions<'_> {
    fn default() -> Self {
        Self { regressor: &Mlp::PAPER, seed: 0, provenance: Provenance::default(), reference: Vec::new() }
    }
}

/// Sample sets by what they are for. No group should occur in both `train` and `calibration`.
#[derive(Debug, Clone, PartialEq)]
pub struct Parts {
    /// Learnt from.
    pub train: MetaSet,
    /// Decides when to stop.
    pub validation: MetaSet,
    /// Calibrates the interval; none gives intervals of `[0, 1]`.
    pub calibration: Option<MetaSet>,
}

/// A trained map from shift descriptors to accuracy, with all that is needed to use and to judge it.
pub struct Evaluator {
    pub(super) card: Card,
    pub(super) scaler: Scaler,
    pub(super) model: Box<dyn Model>,
    /// Seen in training: distances beyond widen the interval.
    pub(super) trained: Ranges,
    /// Seen at all: beyond it an estimate is outside.
    pub(super) seen: Ranges,
    pub(super) calibration: Calibration,
    pub(super) reference: Vec<Blob>,
}

/// An estimated accuracy.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FittedEstimate {
    /// The estimate, in `[0, 1]`.
    pub accuracy: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Level of the interval.
    pub level: f64,
    /// Whether the target lies beyond everything seen in fitting.
    pub outside: bool,
    /// Descriptors in which it does.
    pub outside_in: Vec<String>,
    /// Largest distance beyond what was trained on, in scaled units: the interval is wider by this factor plus one.
    pub excess: f64,
    /// What the interval stands on.
    pub basis: Basis,
}

/// Fits an evaluator (`fusion`): a fifth of the groups is held out for the interval, a tenth of the rest for
/// stopping early (whole groups if there are at least 5; of a single group, sets of it are held out and the interval
/// is wide). See the module's documentation for the interval.
///
/// # Errors
/// When the meta-set has fewer than [`MIN_SETS`](super::MIN_SETS) sets or one accuracy for all, or the regressor
/// fails.
pub fn fit(meta: &MetaSet, options: &FitOptions<'_>) -> Result<Evaluator, EvaluatorError> {
    meta.check_learnable()?;
    let groups = meta.groups().len();
    let (rest, calibration) = meta.split(CALIBRATION_SHARE, options.seed, "calibration");
    let rest = meta.select(&rest);
    let (train, validation) = if groups >= MANY_GROUPS {
        rest.split(VALIDATION_SHARE, options.seed, "validation")
    } else {
        rest.split_by_set(VALIDATION_SHARE, options.seed, "validation")
    };
    let parts = Parts {
        train: rest.select(&train),
        validation: rest.select(&validation),
        calibration: Some(meta.select(&calibration)),
    };
    let mut evaluator = fit_parts(&parts, options)?;
    if groups < 2 {
        evaluator.card.notes.push(
            "All sample sets belong to one group, so nothing is known of the error on another: the interval is wide \
             on purpose. Fit on a corpus of several databases."
                .to_owned(),
        );
    }
    Ok(evaluator)
}

/// Fits an evaluator on sets that the caller has split.
///
/// # Errors
/// As [`fit`]; also when the parts have different descriptors.
pub fn fit_parts(parts: &Parts, options: &FitOptions<'_>) -> Result<Evaluator, EvaluatorError> {
    let Parts { train, validation, calibration } = parts;
    let others = || std::iter::once(validation).chain(calibration);
    if others().any(|part| part.names() != train.names()) {
        let message = "has parts with different descriptors: compute all with the same options".to_owned();
        return Err(EvaluatorError::MetaSet(message));
    }
    let scaler = Scaler::fit(train.rows());
    let [rows, held_out] = [train, validation].map(|part| scaler.apply(part.rows()));
    let lesson = Lesson {
        train: LabelledRows { rows: &rows, accuracy: train.accuracy() },
        validation: LabelledRows { rows: &held_out, accuracy: validation.accuracy() },
        seed: options.seed,
    };
    let FittedModel { model, curve } = options.regressor.fit(&lesson)?;
    let trained = Ranges::of(train.rows());
    let mut seen = trained.clone();
    others().for_each(|part| seen.extend(part.rows()));
    let all = Described::of(train, validation, calibration.as_ref());
    let mut evaluator = Evaluator {
        card: all.card("fusion", options, curve),
        scaler,
        model,
        trained,
        seen,
        calibration: Calibration::new(&[], &[]),
        reference: options.reference.clone(),
    };
    evaluator.calibrate(validation, calibration.as_ref())?;
    Ok(evaluator)
}

impl Evaluator {
    /// What it says about itself.
    pub fn card(&self) -> &Card {
        &self.card
    }

    /// The arrays that it carries along.
    pub fn reference(&self) -> &[Blob] {
        &self.reference
    }

    /// Estimated accuracies of rows, in `[0, 1]`.
    ///
    /// # Errors
    /// When a row has another width, or holds a number that is not finite.
    pub fn predict(&self, rows: &Rows) -> Result<Vec<f64>, EvaluatorError> {
        rows.iter().try_for_each(|row| self.scaler.check(row, &self.card.descriptors))?;
        let estimates = self.model.predict(&self.scaler.apply(rows))?;
        Ok(estimates.into_iter().map(|estimate| estimate.clamp(0.0, 1.0)).collect())
    }

    /// Estimates the accuracy on a target from its descriptors (Eq. 10), with an interval at a level in `(0, 1)`.
    /// `items` is the number of items of the target; without it, the median of the calibration sets is taken.
    ///
    /// # Errors
    /// As [`predict`](Self::predict); also when the level is not between 0 and 1, or there are no items.
    pub fn estimate(
        &self,
        row: &[f64],
        items: Option<usize>,
        level: f64,
    ) -> Result<FittedEstimate, EvaluatorError> {
        if !(level > 0.0 && level < 1.0) {
            let message = format!("a level of {level} is not between 0 and 1; 0.9 is usual");
            return Err(EvaluatorError::Option(message));
        }
        if items == Some(0) {
            return Err(EvaluatorError::Descriptors("are those of a target without items".to_owned()));
        }
        self.scaler.check(row, &self.card.descriptors)?;
        let accuracy = self.predict(&Rows::new(row.len(), row.to_vec())?)?[0];
        let excess = self.trained.excess(row, &self.scaler);
        let (half, basis) = self.calibration.half_width(level, accuracy, items, excess);
        let beyond = self.seen.beyond(row);
        Ok(FittedEstimate {
            accuracy,
            low: (accuracy - half).max(0.0),
            high: (accuracy + half).min(1.0),
            level,
            outside: !beyond.is_empty(),
            outside_in: beyond.into_iter().map(|column| self.card.descriptors[column].clone()).collect(),
            excess,
            basis,
        })
    }

    /// Sets of a part as held out: their estimates beside their truths.
    pub(super) fn held_out(&self, part: &MetaSet) -> Result<Vec<HeldOut>, EvaluatorError> {
        let estimates = self.predict(part.rows())?;
        let set = |(at, estimate)| HeldOut {
            estimate,
            truth: part.accuracy()[at],
            items: part.sizes().map(|sizes| sizes[at]),
            excess: self.trained.excess(part.rows().row(at), &self.scaler),
            group: part.group()[at],
        };
        Ok(estimates.into_iter().enumerate().map(set).collect())
    }

    fn calibrate(&mut self, validation: &MetaSet, held_out: Option<&MetaSet>) -> Result<(), EvaluatorError> {
        let validated = self.held_out(validation)?;
        let held_out = held_out.map(|part| self.held_out(part)).transpose()?.unwrap_or_default();
        self.card.validation_mae = error_of(&validated);
        self.set_calibration(&validated, &held_out);
        Ok(())
    }

    /// Takes over scores, and tells the card.
    pub(super) fn set_calibration(&mut self, validated: &[HeldOut], held_out: &[HeldOut]) {
        self.calibration = Calibration::new(validated, held_out);
        let outside = held_out.iter().filter(|set| set.excess > 0.0).count();
        self.card.calibration = Calibrated {
            groups: self.calibration.groups(),
            sets: held_out.len(),
            mae: error_of(held_out),
            outside: outside as f64 / held_out.len().max(1) as f64,
        };
        self.card.seen = self.seen.pairs();
    }
}

fn error_of(sets: &[HeldOut]) -> f64 {
    sets.iter().map(|set| (set.truth - set.estimate).abs()).sum::<f64>() / sets.len().max(1) as f64
}

/// What a card says of the sample sets.
pub(super) struct Described<'a> {
    parts: Vec<&'a MetaSet>,
}

impl<'a> Described<'a> {
    /// Training part, validation part, and what else there is.
    pub(crate) fn of(
        train: &'a MetaSet,
        validation: &'a MetaSet,
        rest: impl IntoIterator<Item = &'a MetaSet>,
    ) -> Self {
        Self { parts: [train, validation].into_iter().chain(rest).collect() }
    }

    /// The card before calibration.
    pub(crate) fn card(&self, method: &str, options: &FitOptions<'_>, curve: Vec<Epoch>) -> Card {
        let (train, validation) = (self.parts[0], self.parts[1]);
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len().max(1) as f64;
        let accuracy: Vec<f64> = self.parts.iter().flat_map(|part| part.accuracy()).copied().collect();
        let mut sizes: Vec<usize> =
            self.parts.iter().filter_map(|part| part.sizes()).flatten().copied().collect();
        sizes.sort_unstable();
        let constant = vec![mean(train.accuracy()); validation.len()];
        Card {
            format: FORMAT,
            sqlgauge: env!("CARGO_PKG_VERSION").to_owned(),
            method: method.to_owned(),
            regressor: options.regressor.id().to_owned(),
            seed: options.seed,
            descriptors: train.names().to_vec(),
            seen: Vec::new(),
            sets: accuracy.len(),
            trained_on: train.len(),
            set_sizes: (!sizes.is_empty())
                .then(|| [sizes[0], sizes[sizes.len() / 2], sizes[sizes.len() - 1]]),
            accuracy: [
                accuracy.iter().copied().fold(1.0, f64::min),
                mean(&accuracy),
                accuracy.iter().copied().fold(0.0, f64::max),
            ],
            validation_mae: 0.0,
            validation_mae_of_mean: mean_absolute_error(&constant, validation.accuracy()),
            curve,
            calibration: Calibrated { groups: 0, sets: 0, mae: 0.0, outside: 0.0 },
            provenance: options.provenance.clone(),
            notes: Vec::new(),
            sha256: String::new(),
        }
    }
}
