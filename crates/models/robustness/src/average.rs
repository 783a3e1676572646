//! The macro average.

use std::collections::{BTreeMap, HashMap};

use sqlgauge_base::Random;
use sqlgauge_base::stats::Interval;
use sqlgauge_metrics::MetricKind;
use sqlgauge_run::{ClusterPlace, Clustered, ScoreSummary};

const LEVEL: f64 = 0.95;
const RESAMPLES: usize = 1000;
const SEED: u64 = 0x5eed;
/// Shares of the resampled averages below and above the 95 % interval.
const TAILS: (f64, f64) = (0.025, 0.975);

/// The scores of one benchmark: position in the original and score, of the items to which the metric applies.
pub(crate) type Scores = Vec<(usize, f64)>;

/// The mean over groups of the mean over their benchmarks, with its interval: the positions of the original are drawn again and
/// again, and an item counts as often as its position is drawn; the interval by clusters leaves out one database after the other. A
/// benchmark without items does not count.
pub(crate) fn macro_average(groups: &[Vec<Scores>], places: &[ClusterPlace]) -> ScoreSummary {
    let originals = places.len();
    let ones = vec![1.0; originals];
    let count = groups.iter().flatten().filter(|scores| !scores.is_empty()).count();
    let Some(mean) = average(groups, &ones) else {
        return ScoreSummary::default();
    };
    let mut random = Random::new([SEED]);
    let mut averages: Vec<f64> = (0..RESAMPLES)
        .filter_map(|_| {
            let mut weights = vec![0.0; originals];
            (0..originals).for_each(|_| weights[random.below(originals)] += 1.0);
            average(groups, &weights)
        })
        .collect();
    averages.sort_unstable_by(f64::total_cmp);
    let at = |share: f64| {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of the length")]
        let place = (share * averages.len() as f64) as usize;
        averages.get(place.min(averages.len().saturating_sub(1))).copied()
    };
    let plain = at(TAILS.0).zip(at(TAILS.1)).map(|(low, high)| Interval { low, high });
    let scored = groups.iter().flatten().flatten().filter_map(|(at, _)| places.get(*at).copied());
    let clustered = Clustered::jackknife(scored, mean, |is_left_out| {
        let weight = |place: &ClusterPlace| if is_left_out(*place) { 0.0 } else { 1.0 };
        average(groups, &places.iter().map(weight).collect::<Vec<_>>())
    });
    let both = plain.zip(clustered);
    let interval = both.map(|(plain, of)| of.of_scores(MetricKind::Fraction, LEVEL, plain)).or(plain);
    ScoreSummary {
        mean: Some(mean),
        low: interval.map(|interval| interval.low),
        high: interval.map(|interval| interval.high),
        count,
        clusters: both.map(|(_, of)| of.clusters),
        plain: both.map(|(plain, _)| [plain.low, plain.high]),
    }
}

fn average(groups: &[Vec<Scores>], weights: &[f64]) -> Option<f64> {
    mean(groups.iter().filter_map(|benchmarks| {
        mean(benchmarks.iter().filter_map(|scores| {
            let weight = |at: usize| weights.get(at).copied().unwrap_or_default();
            let total: f64 = scores.iter().map(|(at, _)| weight(*at)).sum();
            let sum: f64 = scores.iter().map(|(at, score)| weight(*at) * score).sum();
            (total > 0.0).then_some(sum / total)
        }))
    }))
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0_usize), |(sum, count), value| (sum + value, count + 1));
    (count > 0).then(|| sum / count as f64)
}

/// The macro averages by metric: `benchmarks` has for each its group and the scores by metric, `places` the positions that the
/// original run scored, which may be a part of the gold file's.
pub(crate) fn macro_averages(
    metrics: &[&str],
    benchmarks: &[(usize, BTreeMap<String, Scores>)],
    places: &BTreeMap<usize, ClusterPlace>,
) -> BTreeMap<String, ScoreSummary> {
    let ranks: HashMap<usize, usize> = places.keys().enumerate().map(|(rank, at)| (*at, rank)).collect();
    let places: Vec<ClusterPlace> = places.values().copied().collect();
    let ranked = |scores: &Scores| -> Scores {
        scores.iter().filter_map(|(at, score)| Some((*ranks.get(at)?, *score))).collect()
    };
    let groups = benchmarks.iter().map(|(group, _)| group + 1).max().unwrap_or(0);
    let of_metric = |metric: &&str| {
        let mut grouped: Vec<Vec<Scores>> = vec![Vec::new(); groups];
        for (group, scores) in benchmarks {
            grouped[*group].extend(scores.get(*metric).map(ranked));
        }
        ((*metric).to_owned(), macro_average(&grouped, &places))
    };
    metrics.iter().map(of_metric).collect()
}

#[cfg(test)]
mod tests {
    use sqlgauge_run::ClusterPlaces;

    use super::*;

    /// So many positions of each of so many databases.
    fn places(databases: usize, each: usize) -> Vec<ClusterPlace> {
        let mut places = ClusterPlaces::default();
        (0..databases * each).map(|at| places.place(&format!("d{}", at / each), None)).collect()
    }

    #[test]
    fn benchmarks_of_one_group_count_once() {
        let of = |score: f64| (0..40).map(|at| (at, score)).collect::<Scores>();
        let summary =
            macro_average(&[vec![of(1.0)], vec![of(0.0), of(0.5)], vec![Vec::new()]], &places(1, 40));
        assert_eq!((summary.mean, summary.count), (Some(0.625), 3));
        assert_eq!((summary.low, summary.high), (Some(0.625), Some(0.625)));
        assert_eq!(macro_average(&[vec![Vec::new()]], &places(1, 5)).mean, None);
    }

    #[test]
    fn the_interval_is_that_of_the_items_and_not_of_the_rows() {
        // The same items in both rows: the average varies as much as one row does, not less.
        let scores: Scores = (0..100).map(|at| (at, f64::from(at % 2 == 0))).collect();
        let one = macro_average(&[vec![scores.clone()]], &places(1, 100));
        let two = macro_average(&[vec![scores.clone()], vec![scores]], &places(1, 100));
        assert_eq!((one.low, one.high), (two.low, two.high));
        assert!(one.low < Some(0.45) && one.high > Some(0.55), "{one:?}");
    }

    #[test]
    fn a_part_of_a_benchmark_counts_whole() {
        let scores: Scores = (0..40).map(|at| (900 + 3 * at, f64::from(at % 4 == 0))).collect();
        let places = scores.iter().map(|(at, _)| *at).zip(places(4, 10)).collect();
        let benchmarks = [(0, BTreeMap::from([("ex@1".to_owned(), scores)]))];
        let average = macro_averages(&["ex@1"], &benchmarks, &places).remove("ex@1").unwrap();
        assert_eq!(average.mean, Some(0.25));
        assert!(average.low > Some(0.0) && average.high < Some(1.0), "{average:?}");
    }

    #[test]
    fn databases_that_are_right_as_a_whole_make_it_wider() {
        let scores: Scores = (0..100).map(|at| (at, f64::from(at / 10 % 2 == 0))).collect();
        let average = macro_average(&[vec![scores]], &places(10, 10));
        let [low, high] = average.plain.unwrap();
        assert!(average.low < Some(low - 0.1) && average.high > Some(high + 0.1), "{average:?}");
    }
}
