//! Several accepted golds.

use crate::metric::{Metric, MetricKind, Score};
use crate::pair::Pair;

/// The best score of one prediction over several golds; `gold` in its detail says which gold (from 0) gave it
/// when there are several.
///
/// A gold for which the metric does not apply counts only if it applies for none; of equal scores the first
/// is taken.
pub fn score_best(metric: &dyn Metric, pairs: &[Pair<'_>]) -> Score {
    let mut best: Option<(usize, Score)> = None;
    for (index, pair) in pairs.iter().enumerate() {
        let score = metric.score(pair);
        let better = match &best {
            None => true,
            Some((_, known)) => is_better(metric, score.value, known.value),
        };
        if better {
            let perfect = score.value.is_some_and(|value| value >= 1.0) && metric.kind() != MetricKind::Cost;
            best = Some((index, score));
            if perfect {
                break;
            }
        }
    }
    match best {
        None => Score::inapplicable("the example has no gold"),
        Some((_, score)) if pairs.len() == 1 => score,
        Some((index, score)) => score.with("gold", index),
    }
}

fn is_better(metric: &dyn Metric, value: Option<f64>, known: Option<f64>) -> bool {
    match (value, known) {
        (Some(value), Some(known)) if metric.higher_is_better() => value > known,
        (Some(value), Some(known)) => value < known,
        (Some(_), None) => true,
        (None, _) => false,
    }
}
