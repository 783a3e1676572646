//! The standard normal distribution and Student's t, and accuracies on the probit scale.

use crate::stats::normal_quantile;

/// Distribution function of the standard normal, to about 1e-7 (Abramowitz and Stegun, 26.2.17, with the tails by
/// symmetry).
pub fn normal_cdf(z: f64) -> f64 {
    const COEFFICIENTS: [f64; 5] =
        [0.319_381_530, -0.356_563_782, 1.781_477_937, -1.821_255_978, 1.330_274_429];
    let t = 1.0 / (1.0 + 0.231_641_9 * z.abs());
    let polynomial = COEFFICIENTS.iter().rev().fold(0.0, |sum, c| (sum + c) * t);
    let tail = normal_density(z) * polynomial;
    if z > 0.0 { 1.0 - tail } else { tail }
}

/// Density of the standard normal.
pub fn normal_density(z: f64) -> f64 {
    (-0.5 * z * z).exp() / std::f64::consts::TAU.sqrt()
}

/// A share on the probit scale, 1 % and 99 % at the most.
pub fn on_probit(share: f64) -> f64 {
    normal_quantile(share.clamp(0.01, 0.99))
}

/// By how much a share changes per unit on the probit scale.
pub fn density_at(share: f64) -> f64 {
    normal_density(normal_quantile(share.clamp(1e-3, 1.0 - 1e-3)))
}

/// The probit of a share `successes / trials`, drawn in by one success and one failure so that it is finite.
pub fn probit(successes: f64, trials: f64) -> f64 {
    normal_quantile((successes.max(0.0) + 1.0) / (trials.max(0.0) + 2.0))
}

/// The amount by which all probabilities must move on the probit scale for their mean to be `mean`.
pub fn shift_to_mean(probabilities: &[f64], mean: f64) -> f64 {
    let moved = |by: f64| {
        let sum: f64 = probabilities.iter().map(|&p| moved(p, by)).sum();
        sum / probabilities.len().max(1) as f64
    };
    let (mut low, mut high) = (-8.0, 8.0);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if moved(middle) < mean {
            low = middle;
        } else {
            high = middle;
        }
    }
    f64::midpoint(low, high)
}

/// A probability moved on the probit scale.
pub fn moved(probability: f64, by: f64) -> f64 {
    normal_cdf(normal_quantile(probability.clamp(1e-6, 1.0 - 1e-6)) + by)
}

/// The value that the absolute value of Student's t stays below with a probability.
pub fn student_t(freedom: usize, probability: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1e6);
    for _ in 0..200 {
        let middle = f64::midpoint(low, high);
        if within(freedom, middle) < probability { low = middle } else { high = middle }
    }
    high
}

/// Probability that `|t|` is below a bound (Abramowitz and Stegun, 26.7.3 and 26.7.4).
fn within(freedom: usize, bound: f64) -> f64 {
    let angle = (bound / (freedom as f64).sqrt()).atan();
    let (sine, square) = (angle.sin(), angle.cos().powi(2));
    let series = |first: f64, start: usize| {
        let (mut term, mut sum) = (first, 0.0);
        let mut step = start;
        while step < freedom {
            sum += term;
            term *= square * step as f64 / (step + 1) as f64;
            step += 2;
        }
        sum
    };
    if freedom.is_multiple_of(2) {
        sine * series(1.0, 1)
    } else {
        (angle + sine * series(angle.cos(), 2)) * std::f64::consts::FRAC_2_PI
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_tables_of_the_normal_distribution() {
        for (z, p) in [(0.0, 0.5), (1.0, 0.841_344_746), (-1.96, 0.024_997_895), (3.0, 0.998_650_102)] {
            assert!((normal_cdf(z) - p).abs() < 1e-7, "{z}: {}", normal_cdf(z));
        }
    }

    #[test]
    fn moves_a_mean_to_where_it_is_wanted() {
        let probabilities = [0.2, 0.9, 0.7, 0.5];
        for mean in [0.1, 0.5, 0.93] {
            let by = shift_to_mean(&probabilities, mean);
            let average: f64 = probabilities.iter().map(|&p| moved(p, by)).sum::<f64>() / 4.0;
            assert!((average - mean).abs() < 1e-6);
        }
    }
}
