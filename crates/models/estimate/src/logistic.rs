//! Logistic regression with a ridge, by Newton steps, for few features; the result does not depend on the number of threads.

/// Steps of Newton's method at most.
const STEPS: usize = 50;

/// A fitted model over standardised features.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Logistic {
    mean: Vec<f64>,
    scale: Vec<f64>,
    /// Intercept first.
    weights: Vec<f64>,
}

impl Logistic {
    /// Fits rows of equal length to labels in [0, 1]. `ridge` is the penalty on squared weights of standardised
    /// features; the intercept has none.
    pub(crate) fn fit(rows: &[Vec<f64>], labels: &[f64], ridge: f64) -> Self {
        let width = rows.first().map_or(0, Vec::len);
        let count = rows.len().max(1) as f64;
        let mean: Vec<f64> =
            (0..width).map(|at| rows.iter().map(|row| row[at]).sum::<f64>() / count).collect();
        let scale: Vec<f64> = (0..width)
            .map(|at| {
                let square = rows.iter().map(|row| (row[at] - mean[at]).powi(2)).sum::<f64>() / count;
                if square > 1e-12 { square.sqrt() } else { f64::INFINITY }
            })
            .collect();
        let mut model = Self { mean, scale, weights: vec![0.0; width + 1] };
        let inputs: Vec<Vec<f64>> = rows.iter().map(|row| model.standardised(row)).collect();
        for _ in 0..STEPS {
            let step = newton_step(&inputs, labels, &model.weights, ridge);
            let size = step.iter().map(|s| s.abs()).fold(0.0, f64::max);
            model.weights.iter_mut().zip(&step).for_each(|(weight, step)| *weight += step.clamp(-2.0, 2.0));
            if size < 1e-8 {
                break;
            }
        }
        model
    }

    fn standardised(&self, row: &[f64]) -> Vec<f64> {
        let features =
            row.iter().zip(&self.mean).zip(&self.scale).map(|((x, mean), scale)| (x - mean) / scale);
        std::iter::once(1.0).chain(features).collect()
    }

    /// The probability for a row of which no standardised feature counts for more than `bound`.
    pub(crate) fn predict_within(&self, row: &[f64], bound: f64) -> f64 {
        let inputs = self.standardised(row).into_iter().map(|value| value.clamp(-bound, bound));
        sigmoid(dot(&self.weights, &inputs.collect::<Vec<f64>>()))
    }

    pub(crate) fn predict(&self, row: &[f64]) -> f64 {
        sigmoid(dot(&self.weights, &self.standardised(row)))
    }
}

pub(crate) fn sigmoid(z: f64) -> f64 {
    1.0 / (1.0 + (-z).exp())
}

pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn newton_step(inputs: &[Vec<f64>], labels: &[f64], weights: &[f64], ridge: f64) -> Vec<f64> {
    let width = weights.len();
    let mut gradient = vec![0.0; width];
    let mut hessian = vec![vec![0.0; width]; width];
    for (input, label) in inputs.iter().zip(labels) {
        let p = sigmoid(dot(weights, input));
        let curvature = (p * (1.0 - p)).max(1e-9);
        for a in 0..width {
            gradient[a] += (label - p) * input[a];
            for b in 0..=a {
                hessian[a][b] += curvature * input[a] * input[b];
            }
        }
    }
    for at in 1..width {
        gradient[at] -= ridge * weights[at];
        hessian[at][at] += ridge;
    }
    // An intercept alone may have no curvature left.
    hessian[0][0] += 1e-9;
    let lower = hessian.clone();
    for (a, row) in lower.iter().enumerate() {
        row.iter().take(a).enumerate().for_each(|(b, &value)| hessian[b][a] = value);
    }
    solve(hessian, gradient)
}

/// Solves a small symmetric positive definite system by Gaussian elimination with pivoting; a direction without
/// information gets 0.
pub fn solve(mut matrix: Vec<Vec<f64>>, mut right: Vec<f64>) -> Vec<f64> {
    let width = right.len();
    for at in 0..width {
        let pivot =
            (at..width).max_by(|&a, &b| matrix[a][at].abs().total_cmp(&matrix[b][at].abs())).unwrap_or(at);
        matrix.swap(at, pivot);
        right.swap(at, pivot);
        if matrix[at][at].abs() < 1e-12 {
            continue;
        }
        for below in at + 1..width {
            let factor = matrix[below][at] / matrix[at][at];
            let (upper, lower) = matrix.split_at_mut(below);
            lower[0].iter_mut().zip(&upper[at]).skip(at).for_each(|(b, a)| *b -= factor * a);
            right[below] -= factor * right[at];
        }
    }
    let mut solution = vec![0.0; width];
    for at in (0..width).rev() {
        let rest = dot(&matrix[at][at + 1..], &solution[at + 1..]);
        solution[at] = if matrix[at][at].abs() < 1e-12 { 0.0 } else { (right[at] - rest) / matrix[at][at] };
    }
    solution
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn solves_a_system() {
        let solution = solve(vec![vec![0.0, 2.0], vec![3.0, 1.0]], vec![4.0, 5.0]);
        assert!((solution[0] - 1.0).abs() < 1e-12 && (solution[1] - 2.0).abs() < 1e-12);
    }

    #[test]
    fn without_features_that_vary_predicts_the_share() {
        let rows = vec![vec![1.0]; 4];
        let model = Logistic::fit(&rows, &[1.0, 0.0, 0.0, 0.0], 1.0);
        assert!((model.predict(&[1.0]) - 0.25).abs() < 1e-6);
    }

    #[test]
    fn a_feature_beyond_the_bound_counts_no_further() {
        // Mean 0.5, standard deviation 0.5: 2.5 lies four of them off.
        let rows: Vec<Vec<f64>> = (0..200).map(|at| vec![f64::from(at % 2)]).collect();
        let labels: Vec<f64> = (0..200).map(|at| f64::from(u8::from(at % 2 == 0 || at % 6 == 1))).collect();
        let model = Logistic::fit(&rows, &labels, 1.0);
        let at = |value: f64| model.predict_within(&[value], 4.0);
        assert!((at(2.5) - at(100.0)).abs() < 1e-12 && at(2.4) > at(2.5));
        assert!((at(1.0) - model.predict(&[1.0])).abs() < 1e-12);
    }

    /// Two groups of 100 with shares 0.2 and 0.8: without a ridge the maximum likelihood gives the shares back.
    #[test]
    fn gives_the_shares_of_two_groups_back() {
        let rows: Vec<Vec<f64>> = (0..200).map(|at| vec![if at < 100 { 0.0 } else { 1.0 }]).collect();
        let labels: Vec<f64> =
            (0..200).map(|at| f64::from(if at < 100 { at < 20 } else { at < 180 })).collect();
        let model = Logistic::fit(&rows, &labels, 0.0);
        assert!((model.predict(&[0.0]) - 0.2).abs() < 1e-6);
        assert!((model.predict(&[1.0]) - 0.8).abs() < 1e-6);
    }
}
