//! Repeated timing of gold and prediction, for the two efficiency scores of BIRD.

use std::time::Duration;

use crate::ex_bird;
use crate::metric::Score;
use crate::pair::Pair;

/// The mean of gold time over prediction time, in turns, without outliers; or the score that a failure or a
/// wrong result settles.
///
/// The time of a run is the engine's: preparation and all rows. Ratios three standard deviations or more from
/// the mean are left out, as in BIRD's scripts; where that leaves none (all ratios equal, or one
/// repetition, on which those scripts divide by zero and give 0) all are kept.
///
/// All runs of one text together may take what one run may: they are repeated until the next would not fit, once at
/// least.
pub(crate) fn mean_time_ratio(pair: &Pair<'_>, repetitions: u32) -> Result<f64, Score> {
    let results = ex_bird::results(pair)?;
    let verdict = ex_bird::score_results(pair, &results);
    if verdict.value != Some(1.0) {
        return Err(verdict);
    }
    let mut ratios = Vec::with_capacity(repetitions as usize);
    let (database, limit) = (&pair.target().database, pair.engine().timeout());
    let mut spent = Duration::ZERO;
    while ratios.len() < repetitions.max(1) as usize && has_room(spent, ratios.len(), limit) {
        let prediction = pair.run_again(database, pair.prediction());
        let gold = pair.run_again(database, pair.gold());
        if prediction.rows().is_none() || gold.rows().is_none() {
            return Err(Score::new(0.0).because("a repeated run failed: raise the time limit"));
        }
        spent += prediction.elapsed.max(gold.elapsed);
        let seconds = |time: Duration| time.as_secs_f64().max(1e-9);
        ratios.push(seconds(gold.elapsed) / seconds(prediction.elapsed));
    }
    Ok(mean_without_outliers(&ratios))
}

/// Whether one run more than those `done` so far, which took `spent`, is within the limit.
fn has_room(spent: Duration, done: usize, limit: Duration) -> bool {
    let next = spent.checked_div(u32::try_from(done).unwrap_or(u32::MAX)).unwrap_or_default();
    spent.saturating_add(next) <= limit
}

/// The mean of the values that lie within three standard deviations of their mean.
fn mean_without_outliers(values: &[f64]) -> f64 {
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let centre = mean(values);
    let deviation = (values.iter().map(|v| (v - centre).powi(2)).sum::<f64>() / values.len() as f64).sqrt();
    let inliers: Vec<f64> = values.iter().copied().filter(|v| (v - centre).abs() < 3.0 * deviation).collect();
    if inliers.is_empty() { centre } else { mean(&inliers) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repetition_ends_where_the_next_run_would_pass_the_limit() {
        let [second, limit] = [1, 10].map(Duration::from_secs);
        for (spent, done, expected) in
            [(0, 0, true), (4, 4, true), (9, 9, true), (10, 10, false), (6, 1, false)]
        {
            assert_eq!(has_room(second * spent, done, limit), expected, "{spent} s for {done}");
        }
    }

    #[test]
    fn outliers_are_left_out() {
        let mut values = vec![1.0; 50];
        values.extend([1.5; 50]);
        values.push(100.0);
        assert!((mean_without_outliers(&values) - 1.25).abs() < 1e-12);
        assert!((mean_without_outliers(&[2.0, 2.0]) - 2.0).abs() < 1e-12);
        assert!((mean_without_outliers(&[3.0]) - 3.0).abs() < 1e-12);
    }
}
