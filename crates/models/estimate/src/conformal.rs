//! Split conformal calibration: how far estimates were off where the truth is known.

/// The half-width that covers `level` of exchangeable new cases, from the absolute errors of calibration cases (their
/// `ceil((n + 1) · level)`-th smallest). With too few cases for the level, the largest error times `1 + 1/n`; `None`
/// with no case at all.
///
/// Source: Lei et al., 2018, "Distribution-free predictive inference for regression", section 2.2.
pub(crate) fn half_width(errors: &[f64], level: f64) -> Option<f64> {
    let mut sorted: Vec<f64> = errors.iter().map(|error| error.abs()).collect();
    sorted.sort_by(f64::total_cmp);
    let count = sorted.len();
    // The first place that has `(n + 1) · level` errors up to it.
    let rank = (1..=count).find(|&rank| rank as f64 >= (count as f64 + 1.0) * level - 1e-12);
    match rank.and_then(|rank| sorted.get(rank - 1)) {
        Some(&width) => Some(width),
        None => sorted.last().map(|&largest| largest * (1.0 + 1.0 / count as f64)),
    }
}

/// As [`half_width`], with one error per group at each rank: groups weigh the same however many cases they have.
/// `errors` are pairs of group and error.
pub(crate) fn half_width_by_group(errors: &[(impl Copy + Ord, f64)], level: f64) -> Option<f64> {
    let mut groups = std::collections::BTreeMap::<_, Vec<f64>>::new();
    for &(group, error) in errors {
        groups.entry(group).or_default().push(error.abs());
    }
    let count = groups.len() as f64;
    let mut weighted: Vec<(f64, f64)> = groups
        .values()
        .flat_map(|errors| errors.iter().map(|&error| (error, 1.0 / (count * errors.len() as f64))))
        .collect();
    weighted.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut covered = 0.0;
    for &(error, weight) in &weighted {
        covered += weight;
        if covered >= level - 1e-12 {
            return Some(error);
        }
    }
    weighted.last().map(|&(error, _)| error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_the_rank_that_covers_one_more_case() {
        let errors: Vec<f64> = (1..=19).map(f64::from).collect();
        assert_eq!(half_width(&errors, 0.9), Some(18.0));
        assert_eq!(half_width(&[0.1, -0.2], 0.9), Some(0.2 * 1.5));
        assert_eq!(half_width(&[], 0.9), None);
    }

    #[test]
    fn groups_weigh_the_same() {
        let mut errors = vec![(0, 1.0); 100];
        errors.push((1, 5.0));
        assert_eq!(half_width_by_group(&errors, 0.5), Some(1.0));
        assert_eq!(half_width_by_group(&errors, 0.6), Some(5.0));
    }
}
