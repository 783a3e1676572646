//! Eigenvalues and eigenvectors of a small symmetric matrix.
//!
//! Cyclic Jacobi rotations (G. H. Golub, C. F. Van Loan, "Matrix Computations", 4th edition, section 8.5). It is
//! meant for the matrices of a randomised PCA, of a few dozen rows, where it takes less than a millisecond and is at
//! least as exact as any other method; the cost grows with the third power of the rows.

/// Sweeps after which what is left beside the diagonal is rounding; a few dozen rows need six to nine.
const MOST_SWEEPS: usize = 60;

/// Eigenvalues, largest first, and their eigenvectors of length 1 in the same order.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Eigen {
    pub(crate) values: Vec<f64>,
    pub(crate) vectors: Vec<Vec<f64>>,
}

/// Solves a symmetric matrix, given row after row. `None` where it has a number that is not finite.
pub(crate) fn symmetric(mut matrix: Vec<f64>, width: usize) -> Option<Eigen> {
    if matrix.iter().any(|value| !value.is_finite()) {
        return None;
    }
    // Row `i` of `vectors` becomes the eigenvector of the value at `(i, i)`.
    let mut vectors = vec![0.0; width * width];
    vectors.iter_mut().step_by(width + 1).for_each(|one| *one = 1.0);
    let mut sweeps = 0;
    while sweeps < MOST_SWEEPS && sweep(&mut matrix, &mut vectors, width) {
        sweeps += 1;
    }
    Some(sorted(&matrix, &vectors, width))
}

/// Rotates every pair of rows once; false where nothing was left to rotate.
fn sweep(matrix: &mut [f64], vectors: &mut [f64], width: usize) -> bool {
    let mut rotated = false;
    for p in 0..width {
        for q in p + 1..width {
            let (app, aqq, apq) = (matrix[p * width + p], matrix[q * width + q], matrix[p * width + q]);
            // Below this the element changes no digit of the two values that it lies between.
            if apq.abs() <= f64::EPSILON * app.abs().sqrt() * aqq.abs().sqrt()
                || apq.abs() < f64::MIN_POSITIVE
            {
                continue;
            }
            rotated = true;
            let (cosine, sine) = rotation(app, aqq, apq);
            turn_columns(matrix, width, p, q, cosine, sine);
            turn_rows(matrix, width, p, q, cosine, sine);
            turn_rows(vectors, width, p, q, cosine, sine);
            matrix[p * width + q] = 0.0;
            matrix[q * width + p] = 0.0;
        }
    }
    rotated
}

/// Cosine and sine of the smaller rotation that makes the element `apq` zero.
fn rotation(app: f64, aqq: f64, apq: f64) -> (f64, f64) {
    let tau = (aqq - app) / (2.0 * apq);
    let tangent = 1.0_f64.copysign(tau) / (tau.abs() + tau.hypot(1.0));
    let cosine = 1.0 / tangent.hypot(1.0);
    (cosine, tangent * cosine)
}

fn turn_columns(matrix: &mut [f64], width: usize, p: usize, q: usize, cosine: f64, sine: f64) {
    for row in matrix.chunks_exact_mut(width) {
        let (a, b) = (row[p], row[q]);
        row[p] = cosine * a - sine * b;
        row[q] = sine * a + cosine * b;
    }
}

fn turn_rows(matrix: &mut [f64], width: usize, p: usize, q: usize, cosine: f64, sine: f64) {
    let (above, below) = matrix.split_at_mut(q * width);
    for (a, b) in above[p * width..][..width].iter_mut().zip(&mut below[..width]) {
        (*a, *b) = (cosine * *a - sine * *b, sine * *a + cosine * *b);
    }
}

fn sorted(matrix: &[f64], vectors: &[f64], width: usize) -> Eigen {
    let value = |row: usize| matrix[row * width + row];
    let mut order: Vec<usize> = (0..width).collect();
    order.sort_by(|&a, &b| value(b).total_cmp(&value(a)));
    Eigen {
        values: order.iter().map(|&row| value(row)).collect(),
        vectors: order.iter().map(|&row| vectors[row * width..][..width].to_vec()).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sqlgauge_base::Random;

    /// Row after row, `A v - λ v` and `v w` of different eigenvectors, relative to the largest eigenvalue.
    fn check(matrix: &[f64], size: usize) {
        let eigen = symmetric(matrix.to_vec(), size).unwrap();
        let largest = eigen.values.iter().fold(f64::MIN_POSITIVE, |most, value| most.max(value.abs()));
        assert!(eigen.values.is_sorted_by(|a, b| a >= b));
        for (index, (value, vector)) in eigen.values.iter().zip(&eigen.vectors).enumerate() {
            for (row, component) in matrix.chunks_exact(size).zip(vector) {
                let product: f64 = row.iter().zip(vector).map(|(a, v)| a * v).sum();
                assert!((product - value * component).abs() <= 1e-13 * largest * size as f64);
            }
            for (other_index, other) in eigen.vectors.iter().enumerate() {
                let product: f64 = vector.iter().zip(other).map(|(a, b)| a * b).sum();
                let expected = f64::from(u8::from(index == other_index));
                assert!((product - expected).abs() <= 1e-13 * size as f64, "{product}");
            }
        }
        let trace: f64 = matrix.iter().step_by(size + 1).sum();
        assert!((eigen.values.iter().sum::<f64>() - trace).abs() <= 1e-12 * largest * size as f64);
    }

    /// Eigenvalues known in closed form: the matrix with 2 on the diagonal and -1 beside it.
    #[test]
    fn the_second_difference_has_its_known_eigenvalues() {
        for size in [1, 2, 3, 10, 31] {
            let mut matrix = vec![0.0; size * size];
            for row in 0..size {
                matrix[row * size + row] = 2.0;
                if row + 1 < size {
                    matrix[row * size + row + 1] = -1.0;
                    matrix[(row + 1) * size + row] = -1.0;
                }
            }
            check(&matrix, size);
            let eigen = symmetric(matrix, size).unwrap();
            for (index, value) in eigen.values.iter().enumerate() {
                let angle = std::f64::consts::PI * (size - index) as f64 / (2 * (size + 1)) as f64;
                let expected = 4.0 * angle.sin().powi(2);
                assert!((value - expected).abs() < 1e-13 * 4.0, "{size}: {value} is not {expected}");
            }
        }
    }

    /// `numpy.linalg.eigvalsh` of the Hilbert matrix of six rows, of condition 1.5e7: LAPACK's values, which mpmath
    /// confirms to the digits given.
    #[test]
    fn a_badly_conditioned_matrix_keeps_its_small_eigenvalues() {
        let matrix: Vec<f64> = (0..36).map(|at| 1.0 / f64::from(at / 6 + at % 6 + 1)).collect();
        check(&matrix, 6);
        let eigen = symmetric(matrix, 6).unwrap();
        let expected = [
            1.618_899_858_924_339,
            0.242_360_870_575_209_56,
            0.016_321_521_319_875_8,
            0.000_615_748_354_182_658,
            0.000_012_570_757_122_625_2,
            0.000_000_108_279_948_456_555,
        ];
        for (value, expected) in eigen.values.iter().zip(expected) {
            assert!((value / expected - 1.0).abs() < 1e-9, "{value} is not {expected}");
        }
    }

    #[test]
    fn random_matrices_of_any_rank_and_scale_are_solved() {
        let mut random = Random::new([11, 0]);
        for (size, rank, scale) in [
            (5, 5, 1.0),
            (24, 24, 1e-150),
            (24, 3, 1e140),
            (9, 4, 1e-250),
            (40, 39, 1.0),
            (72, 10, 1e3),
            (7, 0, 1.0),
        ] {
            let factor: Vec<Vec<f64>> =
                (0..rank).map(|_| (0..size).map(|_| random.normals()[0]).collect()).collect();
            let gram = |row: usize, column: usize| -> f64 {
                scale * factor.iter().map(|vector| vector[row] * vector[column]).sum::<f64>()
            };
            let matrix: Vec<f64> = (0..size * size).map(|at| gram(at / size, at % size)).collect();
            check(&matrix, size);
        }
    }

    #[test]
    fn what_is_not_finite_has_no_eigenvalues() {
        assert_eq!(symmetric(vec![1.0, f64::NAN, f64::NAN, 1.0], 2), None);
        assert_eq!(symmetric(Vec::new(), 0), Some(Eigen { values: Vec::new(), vectors: Vec::new() }));
    }
}
