//! The metrics over results, one file each, behind one slice.

mod fair;
mod rows;
mod spider2;

use crate::error::Unreadable;
use crate::golds::{Gold, ItemConfig};
use crate::table::ResultFile;

/// What the comparison of an item sees.
pub struct ResultComparison<'a> {
    /// The system's result.
    pub prediction: &'a Result<ResultFile, Unreadable>,
    /// The gold results, in the order of their names; with one of the bare name first.
    pub golds: &'a [Gold],
    /// What the configuration says of the item.
    pub config: &'a ItemConfig,
    /// What `fair` allows.
    pub rules: FairRules,
}

/// What `fair` allows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FairRules {
    /// Numbers that differ by no more are equal.
    pub tolerance: f64,
    /// Whether the prediction may have columns that the gold has not.
    pub extra_columns: bool,
}

impl Default for FairRules {
    fn default() -> Self {
        Self { tolerance: 1e-2, extra_columns: true }
    }
}

/// What a metric says of an item.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ResultVerdict {
    /// 1 if right, 0 if wrong; `None` where nobody knows.
    pub value: Option<f64>,
    /// Why, in words.
    pub reason: Option<String>,
    /// The gold that the result agrees with, from 0.
    pub gold: Option<usize>,
}

impl ResultVerdict {
    fn right(gold: usize) -> Self {
        Self { value: Some(1.0), reason: None, gold: Some(gold) }
    }

    fn wrong(reason: impl Into<String>) -> Self {
        Self { value: Some(0.0), reason: Some(reason.into()), gold: None }
    }

    fn unknown(reason: impl Into<String>) -> Self {
        Self { value: None, reason: Some(reason.into()), gold: None }
    }

    /// The verdict over a prediction that cannot be read.
    fn of_unreadable(error: &Unreadable) -> Self {
        let reason = format!("the result {error}");
        if error.is_wrong() { Self::wrong(reason) } else { Self::unknown(reason) }
    }
}

pub trait ResultMetric: Sync {
    /// Id with version. A change of meaning makes a new version.
    fn id(&self) -> &'static str;

    /// Compares one result with the golds of its item.
    fn score(&self, comparison: &ResultComparison<'_>) -> ResultVerdict;
}

/// The metrics, in the order of tables.
pub const METRICS: [&dyn ResultMetric; 2] = [&spider2::Spider2, &fair::Fair];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_distinct_and_each_file_names_its_own_and_has_a_contract() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/metrics");
        for metric in METRICS {
            let (name, version) = metric.id().split_once('@').expect("a version");
            assert!(version.parse::<u32>().is_ok());
            let text = std::fs::read_to_string(folder.join(format!("{name}.rs"))).expect("a file of its own");
            assert!(text.contains(&format!("`{}`", metric.id())) && text.contains("# Contract"), "{name}");
            assert_eq!(METRICS.iter().filter(|other| other.id() == metric.id()).count(), 1);
        }
    }
}
