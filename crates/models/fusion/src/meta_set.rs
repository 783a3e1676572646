//! Sample sets as rows: descriptors and accuracy.

use super::error::EvaluatorError;
use sqlgauge_base::{Random, seed_of};

/// Fewest sample sets that an evaluator is fitted on.
pub const MIN_SETS: usize = 20;

/// A table of `f64`, row after row.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Rows {
    width: usize,
    values: Vec<f64>,
}

impl Rows {
    /// A table of that many columns.
    ///
    /// # Errors
    /// When the values are no multiple of the width, or the width is 0.
    pub fn new(width: usize, values: Vec<f64>) -> Result<Self, EvaluatorError> {
        if width == 0 || !values.len().is_multiple_of(width) {
            let message = format!("have {} values, which make no rows of {width}", values.len());
            return Err(EvaluatorError::Descriptors(message));
        }
        Ok(Self { width, values })
    }

    pub fn len(&self) -> usize {
        self.values.len().checked_div(self.width).unwrap_or(0)
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Number of columns.
    pub fn width(&self) -> usize {
        self.width
    }

    /// One row.
    ///
    /// # Panics
    /// When there is no such row.
    pub fn row(&self, row: usize) -> &[f64] {
        &self.values[row * self.width..][..self.width]
    }

    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[f64]> {
        self.values.chunks_exact(self.width.max(1))
    }

    /// All values, row after row.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    pub(super) fn column(&self, column: usize) -> impl Iterator<Item = f64> + '_ {
        self.values.iter().skip(column).step_by(self.width.max(1)).copied()
    }

    /// Some rows, in the order given.
    pub(super) fn select(&self, rows: &[usize]) -> Self {
        Self { width: self.width, values: rows.iter().flat_map(|&row| self.row(row)).copied().collect() }
    }
}

/// Sample sets: descriptors of each against the source, the accuracy reached on it, the group that it belongs to, and
/// how many items it has.
#[derive(Debug, Clone, PartialEq)]
pub struct MetaSet {
    names: Vec<String>,
    rows: Rows,
    accuracy: Vec<f64>,
    group: Vec<u32>,
    sizes: Option<Vec<usize>>,
}

impl MetaSet {
    /// A meta-set: one row of descriptors (named by `names`), one accuracy in `[0, 1]` and one group per sample set.
    ///
    /// The group says which sets belong together (drawn from the same dataset, databases or model): held-out groups
    /// calibrate the interval.
    ///
    /// # Errors
    /// When it is empty, its parts differ in length, a descriptor is not finite (named), or an accuracy is not in
    /// `[0, 1]`.
    pub fn new(
        names: Vec<String>,
        rows: Rows,
        accuracy: Vec<f64>,
        group: Vec<u32>,
    ) -> Result<Self, EvaluatorError> {
        let fail = |message: String| Err(EvaluatorError::MetaSet(message));
        if rows.is_empty() {
            return fail("is empty: draw sample sets from a labelled corpus".to_owned());
        }
        if names.len() != rows.width() || accuracy.len() != rows.len() || group.len() != rows.len() {
            return fail(format!(
                "has {} names for {} columns, and {} accuracies and {} groups for {} rows",
                names.len(),
                rows.width(),
                accuracy.len(),
                group.len(),
                rows.len()
            ));
        }
        for (set, row) in rows.iter().enumerate() {
            if let Some(column) = row.iter().position(|value| !value.is_finite()) {
                return fail(format!(
                    "has {} as `{}` of set {set}: it must be finite",
                    row[column], names[column]
                ));
            }
        }
        if let Some(set) = accuracy.iter().position(|value| !(0.0..=1.0).contains(value)) {
            return fail(format!("has an accuracy of {} for set {set}: it must be in [0, 1]", accuracy[set]));
        }
        Ok(Self { names, rows, accuracy, group, sizes: None })
    }

    /// Says how many items each set has, so that intervals know the noise of small sets.
    ///
    /// # Errors
    /// When there is not one size above 0 per set.
    pub fn with_sizes(mut self, sizes: Vec<usize>) -> Result<Self, EvaluatorError> {
        if sizes.len() != self.len() || sizes.contains(&0) {
            return Err(EvaluatorError::MetaSet(format!(
                "has {} sizes for {} sets, or a set of size 0",
                sizes.len(),
                self.len()
            )));
        }
        self.sizes = Some(sizes);
        Ok(self)
    }

    /// Number of sample sets.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there is no set (there always is one).
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Names of the descriptors.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Descriptors, one row per set.
    pub fn rows(&self) -> &Rows {
        &self.rows
    }

    pub fn accuracy(&self) -> &[f64] {
        &self.accuracy
    }

    pub fn group(&self) -> &[u32] {
        &self.group
    }

    /// Items of each set, where known.
    pub fn sizes(&self) -> Option<&[usize]> {
        self.sizes.as_deref()
    }

    /// The groups, ascending, each once.
    pub fn groups(&self) -> Vec<u32> {
        let mut groups = self.group.clone();
        groups.sort_unstable();
        groups.dedup();
        groups
    }

    /// Some of the sets, in the order given.
    ///
    /// # Panics
    /// When there is no such set.
    #[must_use]
    pub fn select(&self, sets: &[usize]) -> Self {
        let accuracy = sets.iter().map(|&set| self.accuracy[set]).collect();
        let group = sets.iter().map(|&set| self.group[set]).collect();
        let sizes = self.sizes.as_ref().map(|sizes| sets.iter().map(|&set| sizes[set]).collect());
        Self { names: self.names.clone(), rows: self.rows.select(sets), accuracy, group, sizes }
    }

    /// All sets of several meta-sets; groups are kept as they are.
    pub(super) fn concatenate<'a>(parts: impl IntoIterator<Item = &'a Self>) -> Result<Self, EvaluatorError> {
        let parts: Vec<&Self> = parts.into_iter().collect();
        let names = parts.first().map(|part| part.names.clone()).unwrap_or_default();
        let values = parts.iter().flat_map(|part| part.rows.values()).copied().collect();
        let accuracy = parts.iter().flat_map(|part| &part.accuracy).copied().collect();
        let group = parts.iter().flat_map(|part| &part.group).copied().collect();
        let all = Self::new(names.clone(), Rows::new(names.len(), values)?, accuracy, group)?;
        if parts.iter().all(|part| part.sizes.is_some()) {
            return all.with_sizes(parts.iter().filter_map(|part| part.sizes()).flatten().copied().collect());
        }
        Ok(all)
    }

    /// Refuses what nothing can be learnt from: too few sets, or one accuracy for all.
    pub(super) fn check_learnable(&self) -> Result<(), EvaluatorError> {
        if self.len() < MIN_SETS {
            let message =
                format!("has {} sets, too few: draw at least {MIN_SETS}, better thousands", self.len());
            return Err(EvaluatorError::MetaSet(message));
        }
        if self.accuracy.iter().all(|accuracy| accuracy.to_bits() == self.accuracy[0].to_bits()) {
            let message = format!(
                "has an accuracy of {} for every set, so there is nothing to learn: take a corpus with both right \
                 and wrong predictions, or carry the accuracy over with --method source",
                self.accuracy[0]
            );
            return Err(EvaluatorError::MetaSet(message));
        }
        Ok(())
    }

    /// Splits the sets into two: about `share` of the groups, at least one, go to the second. With a single group,
    /// that share of its sets.
    pub(super) fn split(&self, share: f64, seed: u64, purpose: &str) -> (Vec<usize>, Vec<usize>) {
        let mut random = Random::new([seed, seed_of(purpose)]);
        let mut groups = self.groups();
        if groups.len() < 2 {
            return split_sets(self.len(), share, &mut random);
        }
        random.shuffle(&mut groups);
        groups.truncate(share_of(groups.len(), share));
        (0..self.len()).partition(|&set| !groups.contains(&self.group[set]))
    }

    /// Splits the sets into two without regard to groups.
    pub(super) fn split_by_set(&self, share: f64, seed: u64, purpose: &str) -> (Vec<usize>, Vec<usize>) {
        split_sets(self.len(), share, &mut Random::new([seed, seed_of(purpose)]))
    }
}

fn split_sets(sets: usize, share: f64, random: &mut Random) -> (Vec<usize>, Vec<usize>) {
    let mut order: Vec<usize> = (0..sets).collect();
    random.shuffle(&mut order);
    let mut second = order.split_off(sets - share_of(sets, share));
    order.sort_unstable();
    second.sort_unstable();
    (order, second)
}

/// That share of a count, at least one and not all of it.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a count is a count")]
fn share_of(count: usize, share: f64) -> usize {
    ((count as f64 * share).round() as usize).clamp(1, count.saturating_sub(1).max(1))
}
