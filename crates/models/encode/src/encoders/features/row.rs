//! A vector whose components have names.

/// A named component of the vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FeatureDimension {
    /// Its name, `group.what`.
    pub name: &'static str,
    /// What it is and in which unit.
    pub description: &'static str,
}

/// Collects components. Every group puts the same components in the same order whatever the item is, so that the
/// names are those that any one item leaves behind.
#[derive(Debug, Default)]
pub(super) struct Row {
    pub(super) values: Vec<f32>,
    pub(super) dimensions: Vec<FeatureDimension>,
    /// Whether names are collected too.
    named: bool,
}

impl Row {
    pub(super) fn new(capacity: usize) -> Self {
        Self { values: Vec::with_capacity(capacity), ..Self::default() }
    }

    pub(super) fn named() -> Self {
        Self { named: true, ..Self::default() }
    }

    pub(super) fn number(&mut self, name: &'static str, description: &'static str, value: f64) {
        if self.named {
            self.dimensions.push(FeatureDimension { name, description });
        }
        #[expect(clippy::cast_possible_truncation, reason = "components are f32")]
        self.values.push(value as f32);
    }

    /// A count or a length, as ln(1 + n).
    pub(super) fn count(&mut self, name: &'static str, description: &'static str, count: usize) {
        self.number(name, description, (count as f64).ln_1p());
    }

    /// A mean that is not negative, as ln(1 + x); of nothing it is 0.
    pub(super) fn mean(
        &mut self,
        name: &'static str,
        description: &'static str,
        values: impl IntoIterator<Item = usize>,
    ) {
        let (mut sum, mut count) = (0, 0_usize);
        values.into_iter().for_each(|value| {
            sum += value;
            count += 1;
        });
        self.number(name, description, ratio(sum, count).ln_1p());
    }

    /// A part of a whole, in \[0, 1\]; of nothing it is 0.
    pub(super) fn share(&mut self, name: &'static str, description: &'static str, part: usize, whole: usize) {
        self.number(name, description, ratio(part, whole));
    }

    /// 1 or 0.
    pub(super) fn flag(&mut self, name: &'static str, description: &'static str, holds: bool) {
        self.number(name, description, f64::from(u8::from(holds)));
    }
}

fn ratio(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}
