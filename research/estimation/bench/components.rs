//! How large a [`Spread`] is: variance components of the errors of estimates.

use sqlgauge_estimate::Spread;

/// The smallest standard deviation that is believed.
const LEAST: f64 = 0.05;

/// An error on the probit scale, with the part that the choice of the questions has in it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Residual {
    /// Truth less estimate.
    pub error: f64,
    /// Sampling variance.
    pub chance: f64,
    /// Databases of the target.
    pub databases: usize,
}

/// The spread that errors show: squared errors less chance are `kind² + database² / databases`, told apart by targets of one
/// and of several databases. The slope stays 0; one pair of data does not show it.
pub(super) fn spread_of(residuals: &[Residual]) -> Spread {
    let square = |of: &dyn Fn(&Residual) -> bool| {
        let chosen: Vec<&Residual> = residuals.iter().filter(|one| of(one)).collect();
        let mean = |value: &dyn Fn(&Residual) -> f64| {
            chosen.iter().map(|one| value(one)).sum::<f64>() / chosen.len().max(1) as f64
        };
        (mean(&|one| one.error.powi(2)) - mean(&|one| one.chance), mean(&|one| one.databases as f64))
    };
    let (whole, groups) = square(&|one| one.databases > 1);
    let (one, _) = square(&|one| one.databases == 1);
    let kind = if groups > 1.0 { (groups * whole - one) / (groups - 1.0) } else { one / 2.0 };
    let kind = kind.max(LEAST.powi(2));
    Spread { kind: kind.sqrt(), database: (one - kind).max(LEAST.powi(2)).sqrt(), slope: 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_of_kinds_and_of_databases_are_found() {
        let of = |databases: usize, square: f64| Residual { error: square.sqrt(), chance: 0.01, databases };
        let [kind, database] = [0.04, 0.16];
        let spread = spread_of(&[of(1, kind + database + 0.01), of(10, kind + database / 10.0 + 0.01)]);
        assert!((spread.kind - 0.2).abs() < 1e-9 && (spread.database - 0.4).abs() < 1e-9, "{spread:?}");
    }

    #[test]
    fn errors_that_chance_explains_leave_the_least_that_is_believed() {
        let spread = spread_of(&[1, 1, 8].map(|databases| Residual { error: 0.1, chance: 0.02, databases }));
        assert_eq!(spread, Spread { kind: LEAST, database: LEAST, slope: 0.0 });
    }
}
