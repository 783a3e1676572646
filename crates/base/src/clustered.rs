//! Means of values that are alike within clusters: answers on one database, or to questions with one gold.
//!
//! The variance is the cluster jackknife's (`CR3`), its quantiles are Student's with one degree of freedom less than clusters. A
//! share has Wilson's form with the items that independent ones would have to be. By `research/clusters` this comes closest to what
//! it promises on few clusters; a bootstrap of clusters and smaller corrections are too narrow.
//!
//! Source: R. M. Bell and D. F. McCaffrey, "Bias reduction in standard errors for linear regression with multi-stage samples",
//! 2002; J. G. MacKinnon, M. Ø. Nielsen and M. D. Webb, "Fast and reliable jackknife and bootstrap methods for cluster-robust
//! inference", 2023.

use std::f64::consts::{FRAC_2_PI, FRAC_PI_2};

use crate::stats::{BISECTIONS, Interval, normal_quantile};

/// A mean, with the standard error that its clusters give it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClusteredMean {
    pub mean: f64,
    /// Standard error of the mean.
    pub error: f64,
    /// Number of clusters, at least two.
    pub clusters: usize,
}

impl ClusteredMean {
    /// The mean of values with the numbers of their clusters; `None` for fewer than two clusters.
    pub fn of(values: impl IntoIterator<Item = (usize, f64)>) -> Option<Self> {
        let mut sums: Vec<(f64, f64)> = Vec::new();
        for (cluster, value) in values {
            if sums.len() <= cluster {
                sums.resize(cluster + 1, (0.0, 0.0));
            }
            sums[cluster].0 += value;
            sums[cluster].1 += 1.0;
        }
        sums.retain(|(_, count)| *count > 0.0);
        let (sum, count) = sums.iter().fold((0.0, 0.0), |(sum, count), (s, c)| (sum + s, count + c));
        let mean = sum / count;
        // How far the mean moves without the cluster, times what stays.
        let moved = |(sum, of): &(f64, f64)| ((sum - of * mean) / (1.0 - of / count)).powi(2);
        let error = sums.iter().map(moved).sum::<f64>().sqrt() / count;
        (sums.len() > 1).then_some(Self { mean, error, clusters: sums.len() })
    }

    /// Any statistic, with what it is without each of its clusters; `None` for fewer than two. Of a mean this is [`ClusteredMean::of`].
    pub fn jackknife(value: f64, without: &[f64]) -> Option<Self> {
        let error = without.iter().map(|other| (other - value).powi(2)).sum::<f64>().sqrt();
        (without.len() > 1).then_some(Self { mean: value, error, clusters: without.len() })
    }

    /// The interval of a share, within 0 and 1.
    pub fn share(self, level: f64) -> Interval {
        let p = self.mean;
        let spread = p * (1.0 - p);
        if self.error <= 0.0 || spread <= 0.0 {
            return Interval { low: p, high: p };
        }
        let t = self.quantile(level);
        // As many items would have this error if each stood for itself.
        let items = spread / (self.error * self.error);
        let scale = 1.0 + t * t / items;
        let centre = (p + t * t / (2.0 * items)) / scale;
        let half = t * (spread / items + t * t / (4.0 * items * items)).sqrt() / scale;
        Interval { low: (centre - half).max(0.0), high: (centre + half).min(1.0) }
    }

    /// The interval around the mean.
    pub fn around(self, level: f64) -> Interval {
        let half = self.quantile(level) * self.error;
        Interval { low: self.mean - half, high: self.mean + half }
    }

    /// How often a mean of 0 would be as far off: below `1 - level` just where [`ClusteredMean::around`] leaves 0 out.
    pub fn p_value(self) -> f64 {
        if self.mean.abs() <= f64::EPSILON {
            return 1.0;
        }
        student_tails(self.mean.abs() / self.error, self.clusters - 1)
    }

    fn quantile(self, level: f64) -> f64 {
        student_quantile(1.0 - level, self.clusters - 1)
    }
}

/// Above so many degrees of freedom a quantile is that of the normal distribution and four terms.
const MANY_DEGREES: usize = 100;

/// How likely Student's variable is further from 0 than `t`, which is not negative.
///
/// Source: M. Abramowitz and I. A. Stegun, "Handbook of Mathematical Functions", 26.7.3 and 26.7.4.
fn student_tails(t: f64, degrees: usize) -> f64 {
    let angle = if t.is_finite() { (t / (degrees as f64).sqrt()).atan() } else { FRAC_PI_2 };
    let (sine, cosine) = angle.sin_cos();
    let is_odd = degrees % 2 == 1;
    let (mut term, mut sum) = if is_odd { (cosine, 0.0) } else { (1.0, 0.0) };
    let first = if is_odd { 3 } else { 2 };
    for next in (first..=degrees).step_by(2) {
        sum += term;
        term *= cosine * cosine * (next - 1) as f64 / next as f64;
    }
    let within = if is_odd { FRAC_2_PI * (angle + sine * sum) } else { sine * sum };
    (1.0 - within).clamp(0.0, 1.0)
}

/// The distance from 0 beyond which Student's variable is with probability `tails`.
///
/// Source: as [`student_tails`]; for many degrees 26.7.5, which is off by less than 1e-7.
fn student_quantile(tails: f64, degrees: usize) -> f64 {
    if degrees > MANY_DEGREES {
        let (z, n) = (normal_quantile(1.0 - tails / 2.0), degrees as f64);
        let z2 = z * z;
        let terms = [
            (z2 + 1.0) / 4.0,
            ((5.0 * z2 + 16.0) * z2 + 3.0) / 96.0,
            (((3.0 * z2 + 19.0) * z2 + 17.0) * z2 - 15.0) / 384.0,
            ((((79.0 * z2 + 776.0) * z2 + 1482.0) * z2 - 1920.0) * z2 - 945.0) / 92160.0,
        ];
        return z * (1.0 + terms.iter().rev().fold(0.0, |sum, term| (sum + term) / n));
    }
    // Over the angle, which has two ends.
    let (mut low, mut high) = (0.0, FRAC_PI_2);
    let at = |angle: f64| (degrees as f64).sqrt() * angle.tan();
    for _ in 0..BISECTIONS {
        let middle = f64::midpoint(low, high);
        if student_tails(at(middle), degrees) > tails {
            low = middle;
        } else {
            high = middle;
        }
    }
    at(low)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLUSTERS: [usize; 5] = [4, 3, 5, 1, 6];

    fn clustered(values: &[f64]) -> ClusteredMean {
        let clusters = CLUSTERS.iter().enumerate().flat_map(|(at, count)| std::iter::repeat_n(at, *count));
        ClusteredMean::of(clusters.zip(values.iter().copied())).unwrap()
    }

    fn close(actual: f64, expected: f64, relative: f64) {
        assert!((actual - expected).abs() <= relative * expected.abs(), "{actual} is not {expected}");
    }

    /// Reference: `scipy.stats.t.ppf` and `sf`.
    #[test]
    fn students_distribution() {
        for (degrees, ninety, ninety_five, ninety_nine, tails) in [
            (
                1,
                6.313_751_514_675_037,
                12.706_204_736_174_694,
                63.656_741_162_871_53,
                0.242_237_883_181_686_8,
            ),
            (2, 2.919_985_580_353_724, 4.302_652_729_749_462, 9.924_843_200_918_287, 0.129_611_720_221_510_8),
            (5, 2.015_048_373_333_023, 2.570_581_835_636_314, 4.032_142_983_555_228, 0.054_490_099_342_376_3),
            (
                19,
                1.729_132_811_521_368,
                2.093_024_054_408_308,
                2.860_934_606_464_979,
                0.021_740_411_168_397_4,
            ),
            (100, 1.660_234_326_085_339, 1.983_971_518_523_552, 2.625_890_521_438_017, 0.014_045_789_124_077),
            (101, 1.660_080_630_411_786, 1.983_731_002_955_606, 2.625_385_964_668_441, 0.014_029_321_352_564),
            (500, 1.647_906_853_929_51, 1.964_719_837_467_368, 2.585_697_835_141_942, 0.012_738_575_500_884),
        ] {
            close(student_quantile(0.1, degrees), ninety, 1e-7);
            close(student_quantile(0.05, degrees), ninety_five, 1e-7);
            close(student_quantile(0.01, degrees), ninety_nine, 1e-7);
            close(student_tails(2.5, degrees), tails, 1e-9);
        }
        assert!(student_tails(0.0, 3) >= 1.0 && student_tails(f64::INFINITY, 3) <= 0.0);
    }

    /// Reference: `pyfixest.feols("y ~ 1", vcov={"CRV3": "cluster"}, ssc=pf.ssc(k_adj=False, G_adj=False)).tidy()`, pyfixest 0.60.
    #[test]
    fn errors_intervals_and_tests_of_clusters() {
        let right = [1., 1., 0., 1., 0., 0., 1., 1., 1., 1., 1., 1., 0., 1., 0., 0., 0., 1., 1.];
        let differences =
            [0.5, -0.25, 0., 1., 0., 0.75, 0.25, 0.1, 0.1, -0.4, 0., 0., 0.9, 0., 0.2, 0.3, 0.1, 0., -0.6];
        for (values, mean, error, p, low, high) in [
            (right, 0.631_579, 0.162_346_98, 0.017_686, 0.180_831, 1.082_326),
            (differences, 0.155_263, 0.120_760_43, 0.267_928, -0.180_022, 0.490_548),
        ] {
            let clustered = clustered(&values);
            let interval = clustered.around(0.95);
            close(clustered.mean, mean, 1e-5);
            close(clustered.error, error, 1e-7);
            close(clustered.p_value(), p, 1e-4);
            close(interval.low, low, 1e-5);
            close(interval.high, high, 1e-5);
        }
    }

    /// Where the error is that of independent items, Wilson's interval with Student's quantile comes out.
    #[test]
    fn a_share_stays_within_its_bounds() {
        let share = clustered(&[1., 1., 1., 1., 1., 1., 1., 1., 1., 1., 1., 1., 0., 1., 1., 1., 1., 1., 1.])
            .share(0.95);
        assert!(0.0 <= share.low && share.low < 18.0 / 19.0 && share.high <= 1.0, "{share:?}");
        let independent = ClusteredMean { mean: 0.5, error: 0.5 / 100_f64.sqrt(), clusters: 1_000_001 };
        let (wilson, share) = (crate::stats::wilson(50, 100, 0.95), independent.share(0.95));
        assert!(
            (wilson.low - share.low).abs() < 1e-5 && (wilson.high - share.high).abs() < 1e-5,
            "{share:?}"
        );
        assert_eq!(clustered(&[1.0; 19]).share(0.95), Interval { low: 1.0, high: 1.0 });
    }

    #[test]
    fn a_mean_without_each_of_its_clusters_is_the_jackknife() {
        let values = [(0, 1.0), (0, 0.0), (1, 1.0), (2, 0.5), (2, 0.5), (2, 0.0)];
        let of = |kept: &dyn Fn(usize) -> bool| {
            let values: Vec<f64> =
                values.iter().filter(|(at, _)| kept(*at)).map(|(_, value)| *value).collect();
            values.iter().sum::<f64>() / values.len() as f64
        };
        let without: Vec<f64> = (0..3).map(|cluster| of(&|at| at != cluster)).collect();
        let (mean, jackknife) =
            (ClusteredMean::of(values).unwrap(), ClusteredMean::jackknife(of(&|_| true), &without).unwrap());
        close(jackknife.error, mean.error, 1e-12);
        close(jackknife.mean, mean.mean, 1e-12);
    }

    #[test]
    fn one_cluster_has_no_error_and_equal_clusters_none_to_test() {
        assert_eq!(ClusteredMean::of([(3, 0.0), (3, 1.0)]), None);
        assert_eq!(ClusteredMean::of([]), None);
        let p_of = |value| ClusteredMean::of([(0, value), (1, value)]).unwrap().p_value();
        assert!(p_of(0.0) >= 1.0 && p_of(0.5) <= 0.0);
    }

    #[test]
    fn an_interval_leaves_0_out_just_where_the_test_says_so() {
        for (at, clusters) in (1..60).zip((2..11).cycle()) {
            let mean = f64::from(at) / 100.0;
            let clustered = ClusteredMean { mean, error: 0.1, clusters };
            assert_eq!(clustered.around(0.95).low > 0.0, clustered.p_value() < 0.05, "{clustered:?}");
        }
    }
}
