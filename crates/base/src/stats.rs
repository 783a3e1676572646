//! Intervals and paired tests for scores.
//!
//! Everything is deterministic: what is random takes a seed and draws from its own [`Random`], so a result depends on
//! its arguments alone.

use std::collections::BTreeMap;

use crate::Random;

/// Halvings of [0, 1] after which two numbers cannot be told apart.
pub(crate) const BISECTIONS: usize = 52;

/// The two ends of an interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// Wilson's score interval of a proportion.
///
/// `level` is the coverage, such as 0.95. Without trials nothing is known: the interval is [0, 1].
/// Source: E. B. Wilson, "Probable inference, the law of succession, and statistical inference", 1927.
pub fn wilson(successes: u64, trials: u64, level: f64) -> Interval {
    if trials == 0 {
        return Interval { low: 0.0, high: 1.0 };
    }
    let n = trials as f64;
    let p = successes.min(trials) as f64 / n;
    let z = normal_quantile(0.5 + level / 2.0);
    let scale = 1.0 + z * z / n;
    let centre = (p + z * z / (2.0 * n)) / scale;
    let half = z * (p * (1.0 - p) / n + z * z / (4.0 * n * n)).sqrt() / scale;
    let low = if successes == 0 { 0.0 } else { (centre - half).max(0.0) };
    let high = if successes >= trials { 1.0 } else { (centre + half).min(1.0) };
    Interval { low, high }
}

/// Exact two-sided McNemar test: the p-value of `only_first` and `only_second` discordant pairs when both
/// systems are equally good, that is, of a fair coin.
///
/// Source: Q. McNemar, 1947, in its binomial form. Time is linear in the smaller count.
pub fn mcnemar_exact(only_first: u64, only_second: u64) -> f64 {
    let n = only_first + only_second;
    let k = only_first.min(only_second);
    if only_first == only_second {
        return 1.0;
    }
    // C(n, k) / 2^n with the halvings spread over the product, so that nothing overflows on the way.
    let mut halvings_left = n;
    let mut probability = 1.0_f64;
    for i in 1..=k {
        probability *= (n - k + i) as f64 / i as f64;
        while probability > 1.0 && halvings_left > 0 {
            probability *= 0.5;
            halvings_left -= 1;
        }
    }
    probability *= (-(halvings_left as f64)).exp2();
    let mut tail = 0.0;
    let mut i = k;
    loop {
        tail += probability;
        if i == 0 || probability == 0.0 {
            break;
        }
        probability *= i as f64 / (n - i + 1) as f64;
        i -= 1;
    }
    (2.0 * tail).min(1.0)
}

/// Standard deviation of a sample, `None` for fewer than two values.
pub fn sample_deviation(values: &[f64]) -> Option<f64> {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (values.len() > 1).then(|| (squares / (count - 1.0)).sqrt())
}

/// Percentile bootstrap interval of the mean of `values`, `None` without values.
pub fn bootstrap_mean(values: &[f64], level: f64, resamples: usize, seed: u64) -> Option<Interval> {
    bootstrap_means(&[values], level, resamples, seed).pop().flatten()
}

/// [`bootstrap_mean`] of each of several columns. Columns of one length share their draws, so that many cost
/// little more than one.
///
/// From 10,000 values on nothing is drawn: the distribution of the resampled means is known better than
/// resamples could tell.
pub fn bootstrap_means(
    columns: &[impl AsRef<[f64]>],
    level: f64,
    resamples: usize,
    seed: u64,
) -> Vec<Option<Interval>> {
    let mut of_length: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (at, column) in columns.iter().enumerate() {
        of_length.entry(column.as_ref().len()).or_default().push(at);
    }
    let mut intervals = vec![None; columns.len()];
    for (length, places) in of_length.into_iter().filter(|(length, _)| *length > 0 && resamples > 0) {
        if length >= LONG {
            places.iter().for_each(|at| intervals[*at] = Some(long_mean(columns[*at].as_ref(), level)));
            continue;
        }
        for places in places.chunks(SHARED) {
            let same: Vec<&[f64]> = places.iter().map(|at| columns[*at].as_ref()).collect();
            let means = resampled_means(&same, length, resamples, seed);
            for (at, mut means) in places.iter().zip(means) {
                means.sort_unstable_by(f64::total_cmp);
                let tail = (1.0 - level) / 2.0;
                let (low, high) = (percentile(&means, tail), percentile(&means, 1.0 - tail));
                intervals[*at] = Some(Interval { low, high });
            }
        }
    }
    intervals
}

/// From how many values on the resampled means are not drawn.
pub const LONG: usize = 10_000;

/// The ends of the bootstrap distribution of the mean of many values, by its first three moments: it has the mean of
/// the values, their variance divided by their number, and their skewness divided by the root of it.
///
/// Source: the Cornish-Fisher expansion; P. Hall, "The bootstrap and Edgeworth expansion", 1992, section 3.10. What it
/// leaves out is of the order of 1/n; a thousand resamples scatter the ends by 4 % of the half width.
fn long_mean(values: &[f64], level: f64) -> Interval {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let moment = |power: i32| values.iter().map(|value| (value - mean).powi(power)).sum::<f64>() / n;
    let variance = moment(2);
    let skewness = if variance > 0.0 { moment(3) / variance.powf(1.5) / n.sqrt() } else { 0.0 };
    let z = normal_quantile(0.5 + level / 2.0);
    let shift = skewness * (z * z - 1.0) / 6.0;
    let error = (variance / n).sqrt();
    Interval { low: mean + error * (shift - z), high: mean + error * (shift + z) }
}

/// Columns that are resampled together: their sums stay in registers, their values in a near cache.
const SHARED: usize = 16;

/// The means of each column's resamples; all columns have that length and see the same draws.
fn resampled_means(columns: &[&[f64]], length: usize, resamples: usize, seed: u64) -> Vec<Vec<f64>> {
    let mut rows = vec![[0.0; SHARED]; length];
    for (at, column) in columns.iter().enumerate() {
        for (row, value) in rows.iter_mut().zip(*column) {
            row[at] = *value;
        }
    }
    let mut random = Random::new([seed]);
    let mut means = vec![Vec::with_capacity(resamples); columns.len()];
    for _ in 0..resamples {
        let mut sums = [0.0; SHARED];
        for _ in 0..length {
            let row = &rows[random.below(length)];
            for (sum, value) in sums.iter_mut().zip(row) {
                *sum += value;
            }
        }
        for (means, sum) in means.iter_mut().zip(sums) {
            means.push(sum / length as f64);
        }
    }
    means
}

/// Interval of the difference of two proportions over the same `count` items: `only_first` of them have the first property alone, and
/// `only_second` the second alone. It excludes 0 exactly where [`mcnemar_exact`] is below `1 - level`.
///
/// The difference is the share of items on which the two differ, times how one-sided these are. The first has Wilson's
/// interval; the second the exact one of C. J. Clopper and E. S. Pearson, 1934, which inverts the test. The distances of both
/// ends are put together as squares (G. Y. Zou and A. Donner, "Construction of confidence limits about effect measures", 2008),
/// within what the ends permit.
pub fn paired_difference(only_first: u64, only_second: u64, count: u64, level: f64) -> Interval {
    let differing = only_first + only_second;
    let share = differing as f64 / count.max(1) as f64;
    let shares = wilson(differing, count, level);
    let difference = (only_first as f64 - only_second as f64) / count.max(1) as f64;
    let low = |difference: f64, sided: f64| {
        let end = if sided < 0.0 { shares.high } else { shares.low };
        let away = (difference - share * sided).hypot((share - end) * sided);
        (difference - away).max(end * sided)
    };
    let first = 2.0 * least_share(only_first, differing, level) - 1.0;
    let second = 2.0 * least_share(only_second, differing, level) - 1.0;
    Interval { low: low(difference, first), high: -low(-difference, second) }
}

/// Lower end of the exact interval of a proportion: the one of which so many successes or more are as likely as half of what
/// `level` leaves.
fn least_share(successes: u64, trials: u64, level: f64) -> f64 {
    if successes == 0 {
        return 0.0;
    }
    let mut chosen = 0.0;
    let mut ways = Vec::new();
    for at in 0..=trials {
        if at >= successes {
            ways.push((at as f64, chosen));
        }
        chosen += ((trials - at) as f64).max(1.0).ln() - (at as f64 + 1.0).ln();
    }
    let tail = |share: f64| {
        let (one, other) = (share.ln(), (1.0 - share).ln());
        ways.iter().map(|(at, chosen)| (chosen + at * one + (trials as f64 - at) * other).exp()).sum::<f64>()
    };
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..BISECTIONS {
        let middle = f64::midpoint(low, high);
        if tail(middle) < (1.0 - level) / 2.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

/// Two-sided sign-flip permutation test of paired differences: how often random signs give a sum at least as
/// far from 0 as the one seen.
///
/// Exact (all sign patterns) for up to 16 differences other than 0; beyond that `resamples` random patterns,
/// with the one seen counted among them, so that the p-value is never 0.
pub fn sign_flip_test(differences: &[f64], resamples: usize, seed: u64) -> f64 {
    const EXACT_UP_TO: usize = 16;
    let nonzero: Vec<f64> = differences.iter().copied().filter(|d| *d != 0.0).collect();
    let total: f64 = nonzero.iter().map(|d| d.abs()).sum();
    // Rounding must not tell apart sums that are equal on paper.
    let observed = nonzero.iter().sum::<f64>().abs() - total * 1e-12;
    if nonzero.len() <= EXACT_UP_TO {
        let patterns = 1_u32 << nonzero.len();
        let extreme = (0..patterns).filter(|signs| {
            let sum: f64 =
                nonzero.iter().enumerate().map(|(i, d)| if signs >> i & 1 == 1 { -d } else { *d }).sum();
            sum.abs() >= observed
        });
        return extreme.count() as f64 / f64::from(patterns);
    }
    let mut random = Random::new([seed]);
    let mut extreme = 1_usize;
    for _ in 0..resamples {
        let mut sum = 0.0;
        for chunk in nonzero.chunks(64) {
            let signs = random.next_u64();
            for (i, difference) in chunk.iter().enumerate() {
                sum += if signs >> i & 1 == 1 { -difference } else { *difference };
            }
        }
        extreme += usize::from(sum.abs() >= observed);
    }
    extreme as f64 / (resamples + 1) as f64
}

/// The value below which the share `q` of the sorted values lies, interpolated linearly.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a position inside the slice")]
fn percentile(sorted: &[f64], q: f64) -> f64 {
    let position = q.clamp(0.0, 1.0) * (sorted.len() - 1) as f64;
    let (below, share) = (position.floor() as usize, position.fract());
    let above = (below + 1).min(sorted.len() - 1);
    sorted[below] + (sorted[above] - sorted[below]) * share
}

/// Quantile of the standard normal distribution.
///
/// Source: M. J. Wichura, "Algorithm AS 241: the percentage points of the normal distribution", 1988
/// (PPND16, about 16 digits).
pub fn normal_quantile(p: f64) -> f64 {
    let q = p - 0.5;
    if q.abs() <= 0.425 {
        let r = 0.180_625 - q * q;
        return q * ratio(r, &CENTRE);
    }
    let tail = if q < 0.0 { p } else { 1.0 - p };
    if tail <= 0.0 {
        return f64::INFINITY.copysign(q);
    }
    let r = (-tail.ln()).sqrt();
    let value = if r <= 5.0 { ratio(r - 1.6, &MIDDLE) } else { ratio(r - 5.0, &FAR) };
    value.copysign(q)
}

/// Quotient of two polynomials given by rising coefficients.
fn ratio(x: f64, [numerator, denominator]: &[[f64; 8]; 2]) -> f64 {
    let polynomial = |coefficients: &[f64; 8]| coefficients.iter().rev().fold(0.0, |sum, c| sum * x + c);
    polynomial(numerator) / polynomial(denominator)
}

const CENTRE: [[f64; 8]; 2] = [
    [
        3.387_132_872_796_366_6,
        133.141_667_891_784_38,
        1_971.590_950_306_551_3,
        13_731.693_765_509_46,
        45_921.953_931_549_87,
        67_265.770_927_008_7,
        33_430.575_583_588_13,
        2_509.080_928_730_122_7,
    ],
    [
        1.0,
        42.313_330_701_600_91,
        687.187_007_492_057_9,
        5_394.196_021_424_751,
        21_213.794_301_586_597,
        39_307.895_800_092_71,
        28_729.085_735_721_943,
        5_226.495_278_852_854,
    ],
];
const MIDDLE: [[f64; 8]; 2] = [
    [
        1.423_437_110_749_683_5,
        4.630_337_846_156_545,
        5.769_497_221_460_691,
        3.647_848_324_763_204_5,
        1.270_458_252_452_368_4,
        0.241_780_725_177_450_6,
        0.022_723_844_989_269_184,
        0.000_774_545_014_278_341_4,
    ],
    [
        1.0,
        2.053_191_626_637_759,
        1.676_384_830_183_803_8,
        0.689_767_334_985_1,
        0.148_103_976_427_480_08,
        0.015_198_666_563_616_457,
        0.000_547_593_808_499_534_5,
        1.050_750_071_644_416_8e-9,
    ],
];
const FAR: [[f64; 8]; 2] = [
    [
        6.657_904_643_501_103,
        5.463_784_911_164_114,
        1.784_826_539_917_291_3,
        0.296_560_571_828_504_87,
        0.026_532_189_526_576_124,
        0.001_242_660_947_388_078_4,
        2.711_555_568_743_487_6e-5,
        2.010_334_399_292_288_1e-7,
    ],
    [
        1.0,
        0.599_832_206_555_888,
        0.136_929_880_922_735_8,
        0.014_875_361_290_850_615,
        0.000_786_869_131_145_613_3,
        1.846_318_317_510_054_7e-5,
        1.421_511_758_316_446e-7,
        2.044_263_103_389_939_8e-15,
    ],
];

#[cfg(test)]
mod tests {
    use super::*;

    fn close(actual: f64, expected: f64, relative: f64) {
        assert!((actual - expected).abs() <= relative * expected.abs(), "{actual} is not {expected}");
    }

    /// Reference: `scipy.stats.norm.ppf`.
    #[test]
    fn quantiles_of_the_normal_distribution() {
        for (p, expected) in [
            (0.9, 1.281_551_565_544_600_4),
            (0.95, 1.644_853_626_951_472_2),
            (0.975, 1.959_963_984_540_054),
            (0.995, 2.575_829_303_548_900_4),
            (0.9995, 3.290_526_731_491_925_5),
            (1e-6, -4.753_424_308_822_899),
        ] {
            close(normal_quantile(p), expected, 1e-13);
        }
        assert!(normal_quantile(0.5).abs() < 1e-15);
        assert!(normal_quantile(1.0).is_infinite());
    }

    /// Reference: `scipy.stats.binomtest(k, n).proportion_ci(level, "wilson")`.
    #[test]
    fn wilson_intervals() {
        for (k, n, level, low, high) in [
            (0, 10, 0.95, 0.0, 0.277_532_799_862_889_26),
            (10, 10, 0.95, 0.722_467_200_137_110_7, 1.0),
            (857, 1034, 0.95, 0.804_654_711_421_514_1, 0.850_551_335_918_980_9),
            (3, 7, 0.99, 0.116_373_680_516_138_17, 0.810_285_095_911_612_5),
            (50_000, 100_000, 0.9, 0.497_399_293_242_01, 0.502_600_706_757_990_1),
            (1, 2, 0.5, 0.284_758_884_581_962_3, 0.715_241_115_418_037_7),
        ] {
            let interval = wilson(k, n, level);
            close(interval.low, low, 1e-12);
            close(interval.high, high, 1e-12);
        }
        assert_eq!(wilson(0, 0, 0.95), Interval { low: 0.0, high: 1.0 });
    }

    /// Reference: `scipy.stats.binomtest(b, b + c, 0.5).pvalue`.
    #[test]
    fn exact_mcnemar() {
        for (b, c, expected) in [
            (0, 0, 1.0),
            (5, 5, 1.0),
            (3, 0, 0.25),
            (1, 9, 0.021_484_375),
            (10, 25, 0.016_673_847_800_120_715),
            (0, 20, 1.907_348_632_812_5e-6),
            (120, 180, 0.000_634_220_006_928_356_6),
            (50_100, 49_900, 0.529_157_294_080_198_1),
            (52_000, 48_000, 1.153_093_866_672_783_4e-36),
            (100_000, 0, 0.0),
        ] {
            close(mcnemar_exact(b, c), expected, 1e-9);
        }
    }

    /// Reference: the same formula with `scipy.stats.beta.ppf`.
    #[test]
    fn paired_differences() {
        for (only_first, only_second, count, low, high) in [
            (0, 0, 100, -0.036_993, 0.036_993),
            (5, 0, 41, -0.005_456, 0.255_442),
            (6, 0, 41, 0.011_776, 0.284_435),
            (1, 9, 129, -0.122_924, -0.008_387),
            (10, 25, 129, -0.211_802, -0.019_917),
            (120, 180, 1034, -0.091_634, -0.024_373),
        ] {
            let interval = paired_difference(only_first, only_second, count, 0.95);
            close(interval.low, low, 1e-4);
            close(interval.high, high, 1e-4);
        }
        assert_eq!(paired_difference(0, 0, 0, 0.95), Interval { low: -1.0, high: 1.0 });
    }

    #[test]
    fn an_interval_of_a_difference_excludes_0_just_where_the_test_says_so() {
        for differing in [1, 5, 6, 12, 40] {
            for only_first in 0..=differing {
                for count in [differing, differing + 1, 10 * differing] {
                    let only_second = differing - only_first;
                    let interval = paired_difference(only_first, only_second, count, 0.95);
                    let excludes = interval.low > 0.0 || interval.high < 0.0;
                    let difference = (only_first as f64 - only_second as f64) / count as f64;
                    let p = mcnemar_exact(only_first, only_second);
                    assert_eq!(excludes, p < 0.05, "{only_first} {only_second} {count}: {interval:?}, p {p}");
                    assert!(interval.low <= difference && difference <= interval.high, "{interval:?}");
                    assert!(interval.low >= -1.0 && interval.high <= 1.0, "{interval:?}");
                }
            }
        }
    }

    /// Reference: `scipy.stats.bootstrap(…, method="percentile", n_resamples=200000)`; the tolerance is the
    /// noise of resampling.
    #[test]
    fn bootstrap_intervals() {
        let differences = [
            0.5, 0.25, -0.125, 1.0, 0.0, 0.75, 0.5, 0.3, -0.2, 0.6, 0.1, 0.0, 0.9, -0.5, 0.4, 0.2, 0.3, 0.7,
            -0.1, 0.05,
        ];
        let interval = bootstrap_mean(&differences, 0.95, 50_000, 1).unwrap();
        assert!((interval.low - 0.113_75).abs() < 0.004 && (interval.high - 0.4475).abs() < 0.004);
        let scores: Vec<f64> = (0..100).map(|i| f64::from(u8::from(i < 83))).collect();
        let interval = bootstrap_mean(&scores, 0.95, 20_000, 1).unwrap();
        assert!((interval.low - 0.75).abs() < 0.011 && (interval.high - 0.9).abs() < 0.011);
        assert_eq!(bootstrap_mean(&[], 0.95, 100, 1), None);
    }

    #[test]
    fn a_column_has_its_interval_whatever_stands_beside_it() {
        let column = |length: usize, step: usize| -> Vec<f64> {
            (0..length).map(|i| (i * step % 17) as f64 / 17.0).collect()
        };
        let columns: Vec<Vec<f64>> = (1..60).map(|at| column([0, 1, 30, 200][at % 4], at)).collect();
        let together = bootstrap_means(&columns, 0.95, 100, 7);
        for (column, interval) in columns.iter().zip(&together) {
            assert_eq!(*interval, bootstrap_mean(column, 0.95, 100, 7));
            assert_eq!(interval.is_none(), column.is_empty());
        }
    }

    #[test]
    fn many_values_have_the_interval_that_resampling_would_give_them() {
        let uniform = |at: usize| (at * 7919 % 10_007) as f64 / 10_007.0;
        let columns: [Vec<f64>; 3] = [
            (0..LONG).map(|at| f64::from(u8::from(uniform(at) < 0.003))).collect(),
            (0..LONG).map(|at| (3.0 * uniform(at)).exp().powi(3)).collect(),
            (0..LONG).map(|at| if uniform(at) < 0.5 { 0.0 } else { uniform(at) - 0.8 }).collect(),
        ];
        for column in &columns {
            let interval = long_mean(column, 0.95);
            let mut means = resampled_means(&[column], column.len(), 4000, 1).remove(0);
            means.sort_unstable_by(f64::total_cmp);
            let tolerance = 0.08 * (interval.high - interval.low) / 2.0;
            assert!((interval.low - percentile(&means, 0.025)).abs() < tolerance, "{interval:?}");
            assert!((interval.high - percentile(&means, 0.975)).abs() < tolerance, "{interval:?}");
            assert_eq!(bootstrap_mean(column, 0.95, 1000, 1), Some(interval));
        }
        let same = vec![0.25; LONG];
        assert_eq!(bootstrap_mean(&same, 0.95, 1000, 1), Some(Interval { low: 0.25, high: 0.25 }));
    }

    #[test]
    fn a_seed_settles_the_bootstrap() {
        let run = |seed| bootstrap_mean(&[1.0, 0.0, 0.0, 1.0, 0.25], 0.9, 500, seed);
        assert_eq!(run(3), run(3));
    }

    /// Reference: enumeration of all sign patterns in Python.
    #[test]
    fn sign_flips() {
        let cases: [(&[f64], f64); 4] = [
            (&[0.5, 0.25, -0.125, 1.0, 0.0, 0.75, 0.5, 0.3], 0.03125),
            (&[1.0, -1.0, 1.0, 1.0, 0.0, 0.0, 1.0, 0.5, 0.2, -0.4, 0.9, 0.1], 0.093_75),
            (&[0.1; 10], 0.001_953_125),
            (&[0.0; 5], 1.0),
        ];
        for (differences, expected) in cases {
            close(sign_flip_test(differences, 1000, 1), expected, 1e-12);
        }
        let many: Vec<f64> = (0..40).map(|i| if i < 30 { 1.0 } else { -1.0 }).collect();
        // Binomial: binomtest(10, 40).pvalue = 0.00222…
        let p = sign_flip_test(&many, 200_000, 1);
        assert!((p - 0.002_22).abs() < 0.0004, "{p}");
    }
}
