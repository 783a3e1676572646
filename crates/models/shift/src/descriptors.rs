//! The numbers that say how far a target lies from a source.

use serde::{Deserialize, Serialize};

/// Shift of a target against a source: the paper's three descriptors (FusionSQL, section IV-B), with what the paper
/// leaves open defined here, and the Euclidean distance that it compares them with.
///
/// μ and σ² are mean and population variance (divisor n) of a dimension, S the source with n vectors, T the target
/// with m. Sums and means over d run over the D' dimensions that vary in the source (see
/// [`Reference`](crate::Reference)); mean shift and Euclidean distance use all D.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Descriptors {
    /// Vectors of the source, n.
    pub source_count: usize,
    /// Vectors of the target, m.
    pub target_count: usize,
    /// Dimensions of the vectors, D.
    pub dimensions: usize,
    /// Dimensions in which the source does not vary, D - D'.
    pub constant_dimensions: usize,
    /// How many of those the target does not share: it varies there, or has another value.
    pub constant_dimensions_left: usize,
    /// First and second moments.
    pub frechet: Frechet,
    /// Distances of single vectors.
    pub mahalanobis: Mahalanobis,
    /// Shape.
    pub sliced: Sliced,
    /// `‖μ_T - μ_S‖₂`.
    pub euclidean: f64,
}

/// `SD_F`: global drift, from the moments of every dimension.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Frechet {
    /// `‖μ_T - μ_S‖²`.
    pub mean_shift: f64,
    /// Mean over d of `((μ_T - μ_S) / σ_S)²`: the mean shift in units of the source's spread.
    pub standardised_mean_shift: f64,
    /// `Σ_d (σ_T - σ_S)²`. With the mean shift it is the squared Fréchet distance of two normal distributions with
    /// these moments and no correlation.
    pub spread_shift: f64,
    /// `Σ_d (σ_T/σ_S - 1)²`, the variance-ratio term of the authors' code.
    pub spread_ratio: f64,
    /// Mean over d of `ln(σ_T²/σ_S² + 1/m)`. The 1/m makes up for what a sample's variance lacks: without shift the
    /// ratio is 1 on average for every m, and a single vector, which says nothing about variance, gives 0.
    pub log_variance_mean: f64,
    /// Standard deviation over d of the same logarithm.
    pub log_variance_std: f64,
}

/// `SD_M`: tails, from `r = ‖(φ - μ_S) / σ_S‖₂` of every vector of the target.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Mahalanobis {
    /// Mean of r. Without shift, the mean of r² is D'.
    pub mean: f64,
    /// Population standard deviation of r.
    pub std: f64,
}

/// `SD_SW`: shape, from one-dimensional projections.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sliced {
    /// The sliced Wasserstein distance: the square root of the mean of W2² over the directions. W2 is exact for any
    /// n and m. It is what `ot.sliced_wasserstein_distance` (p = 2) of the Python library POT gives for the same
    /// directions.
    pub distance: f64,
    /// The mean of W2 over the directions, as in the authors' code: at most `distance`.
    pub mean_distance: f64,
    /// What `distance` is on average (as a root mean square) for two samples of n and m from the source's
    /// distribution: it falls with n and m, and `distance` cannot be expected below it.
    pub null: f64,
    /// `distance` without what chance adds: the root of distance² - null², 0 if that is negative. It does not depend
    /// on n and m but for chance, so it is the one to compare between sets of different sizes.
    pub excess: f64,
    /// W2² for each direction; principal directions are first.
    pub squares: Vec<f64>,
}

/// Names of the columns of [`Descriptors::to_row`].
const NAMES: [&str; 12] = [
    "frechet_mean_shift",
    "frechet_standardised_mean_shift",
    "frechet_spread_shift",
    "frechet_log_variance_mean",
    "frechet_log_variance_std",
    "mahalanobis_mean",
    "mahalanobis_std",
    "swd",
    "swd_excess",
    "euclidean",
    "frechet_spread_ratio",
    "swd_mean",
];

impl Descriptors {
    /// Names of the numbers of [`Descriptors::to_row`], in their order.
    pub fn names() -> &'static [&'static str] {
        &NAMES
    }

    /// The shift as one vector of numbers, all finite, for an evaluator. The order is fixed.
    pub fn to_row(&self) -> Vec<f64> {
        vec![
            self.frechet.mean_shift,
            self.frechet.standardised_mean_shift,
            self.frechet.spread_shift,
            self.frechet.log_variance_mean,
            self.frechet.log_variance_std,
            self.mahalanobis.mean,
            self.mahalanobis.std,
            self.sliced.distance,
            self.sliced.excess,
            self.euclidean,
            self.frechet.spread_ratio,
            self.sliced.mean_distance,
        ]
    }
}
