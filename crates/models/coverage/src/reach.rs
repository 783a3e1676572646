//! How far a corpus reaches in a dimension.

use serde::Serialize;

/// The values of a dimension, in short.
///
/// The width is the distance from the 1st to the 99th percentile (nearest rank): how far the corpus reaches, but for the odd
/// one out. `normalised` is the width as a share of the largest of all corpora that are compared.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Reach {
    pub count: usize,
    pub mean: f64,
    /// The 1st percentile.
    pub low: f64,
    /// The 99th percentile.
    pub high: f64,
    /// The largest.
    pub most: f64,
    /// From the 1st percentile to the 99th.
    pub width: f64,
    /// The width as a share of the largest among the corpora; none if all are 0.
    pub normalised: Option<f64>,
}

impl Reach {
    /// That of some values; none of nothing.
    pub(crate) fn of(values: &[f32]) -> Option<Self> {
        let mut sorted: Vec<f64> = values.iter().map(|value| f64::from(*value)).collect();
        sorted.sort_by(f64::total_cmp);
        let most = *sorted.last()?;
        let (low, high) = (nearest_rank(&sorted, 1), nearest_rank(&sorted, 99));
        let mean = sorted.iter().sum::<f64>() / sorted.len() as f64;
        Some(Self { count: sorted.len(), mean, low, high, most, width: high - low, normalised: None })
    }
}

fn nearest_rank(sorted: &[f64], percent: usize) -> f64 {
    let rank = (sorted.len() * percent).div_ceil(100).max(1);
    sorted[rank - 1]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_width_leaves_out_the_odd_one() {
        let mut values: Vec<f32> =
            (0..199).map(|value| f32::from(u8::try_from(value % 5).unwrap_or(0))).collect();
        values.push(1000.0);
        let reach = Reach::of(&values).unwrap();
        assert_eq!(
            (reach.count, reach.low, reach.high, reach.width, reach.most),
            (200, 0.0, 4.0, 4.0, 1000.0)
        );
        assert_eq!(Reach::of(&[7.0]).map(|reach| (reach.mean, reach.width)), Some((7.0, 0.0)));
        assert_eq!(Reach::of(&[]), None);
    }
}
