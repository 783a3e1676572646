//! Which of the descriptors an evaluator learns from.

use std::str::FromStr;

use crate::descriptors::Descriptors;

/// The columns of the authors' code (phkhanhtrinh23/FusionSQL, `evaluator_training/descriptors.py`), in its order.
const PUBLISHED: [&str; 5] =
    ["frechet_mean_shift", "frechet_spread_ratio", "mahalanobis_mean", "mahalanobis_std", "swd_mean"];
const FRECHET: [&str; 3] = ["frechet_mean_shift", "frechet_log_variance_mean", "frechet_log_variance_std"];
const MAHALANOBIS: [&str; 2] = ["mahalanobis_mean", "mahalanobis_std"];
const SLICED: [&str; 1] = ["swd"];
const EUCLIDEAN: [&str; 1] = ["euclidean"];

sqlgauge_base::named! {
    /// Columns of [`Descriptors::to_row`] by name.
    ///
    /// The paper's vector is `[SD_F, SD_M, SD_SW]` (section IV-B): the squared mean shift and variance-ratio terms, the mean and the
    /// standard deviation of the whitened distances, and the sliced Wasserstein distance. Of the variance ratios the text says no more; in
    /// [`DescriptorSet::Paper`] they are the mean and the standard deviation of their logarithms, in [`DescriptorSet::Published`] the sum
    /// that the authors' code has.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum DescriptorSet by name {
        /// All columns but the two that only the authors' code has, which say what other columns say.
        #[default]
        All = "all",
        /// The five numbers of the authors' code.
        Published = "published",
        /// The paper's vector.
        Paper = "paper",
        /// The paper's vector, and the Euclidean distance that the paper compares it with.
        PaperAndEuclidean = "paper+euclidean",
        /// `SD_F` alone.
        Frechet = "frechet",
        /// `SD_M` alone.
        Mahalanobis = "mahalanobis",
        /// `SD_SW` alone.
        Sliced = "sliced",
        /// The paper's vector without `SD_F`.
        WithoutFrechet = "paper-frechet",
        /// The paper's vector without `SD_M`.
        WithoutMahalanobis = "paper-mahalanobis",
        /// The paper's vector without `SD_SW`.
        WithoutSliced = "paper-sliced",
        /// The Euclidean distance alone.
        Euclidean = "euclidean",
    }
}

impl DescriptorSet {
    /// The names of its columns, in the order of a row.
    pub fn columns(self) -> Vec<&'static str> {
        let names = Descriptors::names();
        let (ours, _) = names.split_at(names.len() - 2);
        let parts: &[&[&'static str]] = match self {
            Self::All => &[ours],
            Self::Published => &[&PUBLISHED],
            Self::Paper => &[&FRECHET, &MAHALANOBIS, &SLICED],
            Self::PaperAndEuclidean => &[&FRECHET, &MAHALANOBIS, &SLICED, &EUCLIDEAN],
            Self::Frechet => &[&FRECHET],
            Self::Mahalanobis => &[&MAHALANOBIS],
            Self::Sliced => &[&SLICED],
            Self::WithoutFrechet => &[&MAHALANOBIS, &SLICED],
            Self::WithoutMahalanobis => &[&FRECHET, &SLICED],
            Self::WithoutSliced => &[&FRECHET, &MAHALANOBIS],
            Self::Euclidean => &[&EUCLIDEAN],
        };
        parts.concat()
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown descriptors {name:?}; choose from {}", DescriptorSet::ALL.map(DescriptorSet::name).join(", "))]
pub struct UnknownDescriptors {
    name: String,
}

impl FromStr for DescriptorSet {
    type Err = UnknownDescriptors;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let set = Self::ALL.into_iter().find(|set| set.name() == name);
        set.ok_or_else(|| UnknownDescriptors { name: name.to_owned() })
    }
}

/// The values of those columns in a row of all of them, as [`Descriptors::to_row`] gives it; `None` where one is not known.
pub fn columns_of(row: &[f64], columns: &[impl AsRef<str>]) -> Option<Vec<f64>> {
    let value = |name: &str| {
        let at = Descriptors::names().iter().position(|column| *column == name)?;
        row.get(at).copied()
    };
    columns.iter().map(|name| value(name.as_ref())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_set_reads_back_and_names_columns_that_are_there_once() {
        let row: Vec<f64> = (0..Descriptors::names().len()).map(|at| at as f64).collect();
        for set in DescriptorSet::ALL {
            assert_eq!(set.name().parse(), Ok(set));
            let columns = set.columns();
            let values = columns_of(&row, &columns).unwrap();
            let mut once = columns.clone();
            once.sort_unstable();
            once.dedup();
            assert_eq!((once.len(), values.len()), (columns.len(), columns.len()), "{set}");
        }
        assert_eq!(columns_of(&row, &DescriptorSet::All.columns()), Some(row[..10].to_vec()));
        assert_eq!(
            columns_of(&row, &DescriptorSet::Published.columns()),
            Some(vec![0.0, 10.0, 5.0, 6.0, 11.0])
        );
        assert_eq!(columns_of(&row, &["swd", "euclidean"]), Some(vec![7.0, 9.0]));
        assert_eq!(columns_of(&row, &["of another version"]), None);
        assert!("pape".parse::<DescriptorSet>().unwrap_err().to_string().contains("paper+euclidean"));
    }
}
