//! Several accepted golds.

use crate::metric::{Metric, MetricKind, Score};
use crate::pair::Pair;

/// The best score of one prediction over several golds. When there are several, the reason names the one that gave
/// it, and `gold` in the detail is its position, from 0.
///
/// A gold for which the metric does not apply counts only if it applies for none; of equal scores the first
/// is taken.
pub fn score_best(metric: &dyn Metric, pairs: &[Pair<'_>]) -> Score {
    if metric.is_of_sqlite()
        && let Some(engine) = pairs.first().map(Pair::engine).filter(|engine| !engine.is_sqlite())
    {
        let (id, engine) = (metric.id(), engine.name_and_version());
        return Score::inapplicable(format!("{id} is defined for SQLite; these queries ran on {engine}"));
    }
    let mut best: Option<(usize, Score)> = None;
    for (index, pair) in pairs.iter().enumerate() {
        let score = metric.score(pair);
        let better = match &best {
            None => true,
            Some((_, best_score)) => is_better(metric, score.value, best_score.value),
        };
        if better {
            let perfect =
                score.value.is_some_and(|value| value >= 1.0) && metric.kind() != MetricKind::Unbounded;
            best = Some((index, score));
            if perfect {
                break;
            }
        }
    }
    match best {
        None => Score::inapplicable("the example has no gold"),
        Some((_, score)) if pairs.len() == 1 => score,
        Some((index, score)) => {
            let which = format!("gold {} of {}", index + 1, pairs.len());
            let reason = match score.detail.reason() {
                Some(reason) => format!("{which}: {reason}"),
                None => format!("by {which}"),
            };
            score.because(reason).with("gold", index)
        }
    }
}

fn is_better(metric: &dyn Metric, value: Option<f64>, other: Option<f64>) -> bool {
    match (value, other) {
        (Some(value), Some(other)) if metric.higher_is_better() => value > other,
        (Some(value), Some(other)) => value < other,
        (Some(_), None) => true,
        (None, _) => false,
    }
}
