//! The one-dimensional Wasserstein distance W2 between samples of any sizes.

/// W2² between two samples in rising order, every value with the same weight.
///
/// The integral of (F⁻¹(q) - G⁻¹(q))² over q in [0, 1], where F⁻¹ and G⁻¹ are the quantile functions: steps that
/// change at multiples of 1/n and of 1/m. Both lists are walked together, in exact integer units of 1/(nm); nothing
/// is cut off or interpolated. 0 if a sample is empty.
pub(crate) fn w2_squared(a: &[f32], b: &[f32]) -> f64 {
    if a.is_empty() || b.is_empty() {
        return 0.0;
    }
    if a.len() == b.len() {
        let sum: f64 = a.iter().zip(b).map(|(a, b)| square(*a, *b)).sum();
        return sum / a.len() as f64;
    }
    let mut sum = 0.0;
    walk(a, b, |_, weight, cost| sum += weight * cost);
    sum
}

/// The share of every value of `b` (rising) in W2²: the costs of moving its weight of 1/m to `a`.
pub(crate) fn w2_costs(a: &[f32], b: &[f32]) -> Vec<f64> {
    let mut costs = vec![0.0; b.len()];
    if !a.is_empty() {
        walk(a, b, |index, weight, cost| costs[index] += weight * cost);
    }
    costs
}

/// Calls `step` with an index into `b`, the weight that is moved, and the squared distance it is moved by.
fn walk(a: &[f32], b: &[f32], mut step: impl FnMut(usize, f64, f64)) {
    let unit = 1.0 / (a.len() as f64 * b.len() as f64);
    let (whole_a, whole_b) = (b.len() as u64, a.len() as u64);
    let (mut left_a, mut left_b) = (whole_a, whole_b);
    let (mut i, mut j) = (0, 0);
    while i < a.len() && j < b.len() {
        let moved = left_a.min(left_b);
        step(j, moved as f64 * unit, square(a[i], b[j]));
        left_a -= moved;
        left_b -= moved;
        if left_a == 0 {
            i += 1;
            left_a = whole_a;
        }
        if left_b == 0 {
            j += 1;
            left_b = whole_b;
        }
    }
}

fn square(a: f32, b: f32) -> f64 {
    let difference = f64::from(a) - f64::from(b);
    difference * difference
}

/// A sample prepared so that W2² to a small sample costs only as much as the small sample is long.
///
/// With the quantile function G⁻¹ of this sample and Q(q) its integral from 0 to q,
/// `W2² = E[x²] + E[y²] - 2 Σ_j y_j (Q(j/m) - Q((j-1)/m))`. All values are taken relative to the mean, so that no
/// digits are lost by an offset.
#[derive(Debug, Clone)]
pub(crate) struct Quantiles {
    mean: f64,
    /// E[(x - mean)²].
    square: f64,
    /// Sums of the first i centred values.
    sums: Vec<f64>,
    /// The centred values.
    values: Vec<f64>,
}

impl Quantiles {
    /// From values in rising order.
    pub(crate) fn new(sorted: &[f32]) -> Self {
        let n = sorted.len().max(1) as f64;
        let mean = sorted.iter().map(|x| f64::from(*x)).sum::<f64>() / n;
        let values: Vec<f64> = sorted.iter().map(|x| f64::from(*x) - mean).collect();
        let mut sums = Vec::with_capacity(values.len() + 1);
        let mut sum = 0.0;
        sums.push(sum);
        sums.extend(values.iter().map(|value| {
            sum += value;
            sum
        }));
        let square = values.iter().map(|value| value * value).sum::<f64>() / n;
        Self { mean, square, sums, values }
    }

    /// W2² to a sample of `count` values that come in rising order.
    pub(crate) fn w2_squared(&self, count: usize, rising: impl Iterator<Item = f32>) -> f64 {
        let n = self.values.len();
        if n == 0 || count == 0 {
            return 0.0;
        }
        let (step, remainder) = (n / count, n % count);
        // The position (j n / m) as a whole number and a numerator over m.
        let (mut whole, mut part) = (0, 0);
        let (mut before, mut cross, mut square) = (0.0, 0.0, 0.0);
        let m = count as f64;
        for value in rising {
            let y = f64::from(value) - self.mean;
            whole += step;
            part += remainder;
            if part >= count {
                part -= count;
                whole += 1;
            }
            let rest = if part == 0 { 0.0 } else { self.values[whole] * (part as f64 / m) };
            let integral = self.sums[whole] + rest;
            cross += y * (integral - before);
            square += y * y;
            before = integral;
        }
        (self.square + square / m - 2.0 * cross / n as f64).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sqlgauge_base::Random;

    #[test]
    fn hand_cases() {
        let cases: [(&[f32], &[f32], f64); 6] = [
            (&[0.0], &[3.0], 9.0),
            (&[0.0, 1.0], &[0.0, 1.0], 0.0),
            (&[0.0, 1.0], &[0.0, 0.0, 1.0, 1.0], 0.0),
            // 2/3 against 1/2: the middle third of the second is split, half of it moves by 1 on each side.
            (&[0.0, 2.0], &[0.0, 1.0, 2.0], 1.0 / 3.0),
            (&[1.0, 2.0, 3.0], &[2.0], 2.0 / 3.0),
            (&[], &[2.0], 0.0),
        ];
        for (a, b, expected) in cases {
            assert!((w2_squared(a, b) - expected).abs() < 1e-12, "{a:?} {b:?}");
            assert!((w2_squared(b, a) - expected).abs() < 1e-12, "{b:?} {a:?}");
            let prepared = Quantiles::new(a).w2_squared(b.len(), b.iter().copied());
            assert!((prepared - expected).abs() < 1e-12, "{a:?} {b:?} {prepared}");
            let costs: f64 = w2_costs(a, b).iter().sum();
            assert!((costs - expected).abs() < 1e-12, "{a:?} {b:?} {costs}");
        }
    }

    #[test]
    #[expect(clippy::cast_possible_truncation, reason = "samples are in single precision")]
    fn both_ways_agree_on_samples_of_any_sizes() {
        let mut random = Random::new([5, 0]);
        for (n, m) in [(1000, 100), (100, 1000), (97, 89), (500, 500), (7, 10_000)] {
            let mut sample = |count: usize, offset: f32| {
                let mut values: Vec<f32> = (0..count).map(|_| random.normals()[0] as f32 + offset).collect();
                radsort::sort(&mut values);
                values
            };
            let (a, b) = (sample(n, 100.0), sample(m, 100.1));
            let exact = w2_squared(&a, &b);
            let prepared = Quantiles::new(&a).w2_squared(m, b.iter().copied());
            assert!((exact - prepared).abs() <= 1e-9 * exact.max(1e-3), "{exact} {prepared}");
        }
    }
}
