//! `ex@1`: execution accuracy by bags of rows.
//!
//! # Contract
//! 1 if prediction and gold return the same rows, else 0. Both texts run as written.
//! - *Rows*: a bag. Repetition counts.
//! - *Columns*: in the gold's order and number, also for empty results. Names do not count.
//! - *Order*: counts only where the gold has a top-level ORDER BY, and ties are free.
//! - *DISTINCT sorted by what is not returned* (`SELECT DISTINCT b FROM t ORDER BY a`): the order counts where all rows
//!   that a result row stands for have the same keys. Where they differ, SQLite sorts by any of them, so only the keys
//!   before count, and the detail says so.
//! - *Numbers*: an integer equals a float of the same value. Two whole numbers are compared exactly; if either has a
//!   fraction they are equal within 1e-9 of the larger. Equality is transitive within a column.
//! - *Text* is compared by its bytes, text never equals a number or a blob, NULL equals NULL.
//!
//! A prediction with more rows than the gold need not run to its end.
//!
//! # Unlike the official scripts
//! Column order counts (Spider frees it), repetition counts and order may count (BIRD ignores both), DISTINCT counts
//! (Spider's default drops it), and rounding noise of sums does not count (both compare exactly).
//!
//! # Limits
//! Of a gold whose LIMIT cuts through ties, the returned answer counts alone. Where the sort keys of a gold cannot be
//! determined, rows are a bag, and the detail says so (`order`). Keys that only a collation such as NOCASE equates are not
//! tied.

use sqlgauge_engine::ResultSet;
use sqlgauge_engine::compare::{GoldOrder, difference, has_same_shape};

use crate::metric::{Metric, MetricInfo, MetricKind, Reads, Score};
use crate::order_text::order_of_text;
use crate::pair::{Pair, Results};

/// Bags of rows, columns in order, rows in the gold's order up to ties, numbers within a tolerance.
pub(crate) struct Ex;

impl Metric for Ex {
    fn info(&self) -> MetricInfo {
        MetricInfo::new(
            "ex@1",
            "Execution accuracy: equal bags of rows, columns in order, rows in the gold's order up to ties, numbers within 1e-9.",
            MetricKind::Binary,
            Reads::Bag,
        )
    }

    fn score(&self, pair: &Pair<'_>) -> Score {
        match pair.results() {
            Ok(results) if results.are_identical() => Score::new(1.0),
            Ok(results) => compare(&results.gold, order_that_counts(pair, &results), &results.prediction),
            Err(score) => score,
        }
    }
}

/// The order that the gold of a pair asks for. Sort keys that the gold does not return are fetched by
/// running the gold with those keys as further columns.
pub(crate) fn order_of(pair: &Pair<'_>, gold: &ResultSet) -> GoldOrder {
    if gold.len() < 2 || !pair.gold().to_ascii_lowercase().contains("order") {
        return GoldOrder::Unordered;
    }
    if !pair.engine().is_sqlite() {
        let run = |sql: &str| pair.run_gold(&pair.target().database, sql).rows().cloned();
        return order_of_text(pair.gold(), gold, run);
    }
    let query = match pair.gold_query() {
        Ok(query) => query,
        Err(error) => return GoldOrder::Unknown(format!("the gold could not be resolved: {error}")),
    };
    let database = &pair.target().database;
    GoldOrder::of(gold, query, database.schema(), |sql| pair.run_gold(database, sql).rows().cloned())
}

/// The order that the gold asks for, if the results are told apart by nothing before it. To find it may take a run of the gold.
pub(crate) fn order_that_counts<'a>(pair: &'a Pair<'_>, results: &Results) -> &'a GoldOrder {
    if has_same_shape(&results.gold, &results.prediction) {
        pair.gold_order(&results.gold)
    } else {
        &GoldOrder::Unordered
    }
}

/// Whether the prediction returned what the gold did, as a score with its reason.
pub(crate) fn compare(gold: &ResultSet, order: &GoldOrder, prediction: &ResultSet) -> Score {
    let difference = difference(gold, order, prediction);
    let score = difference.map_or_else(|| Score::new(1.0), |reason| Score::new(0.0).because(reason));
    // Results of different shape are told apart before their order is looked at.
    if has_same_shape(gold, prediction) { note_order(score, order) } else { score }
}

/// Says where the order was not compared.
pub(crate) fn note_order(score: Score, order: &GoldOrder) -> Score {
    match order {
        GoldOrder::Unknown(why) => score.with("order", format!("not compared: {why}")),
        GoldOrder::Partly(_, why) => score.with("order", format!("compared in part: {why}")),
        GoldOrder::Unordered | GoldOrder::Runs(_) => score,
    }
}

#[cfg(test)]
mod tests {
    use sqlgauge_engine::Value;

    use super::*;

    #[test]
    fn an_order_that_is_not_known_is_said_and_does_not_count() {
        let rows = |values: &[i64]| {
            ResultSet::new(vec!["a".into()], values.iter().map(|&value| Value::Integer(value)).collect())
        };
        let order = GoldOrder::Unknown("no parser".into());
        let score = compare(&rows(&[1, 2]), &order, &rows(&[2, 1]));
        assert_eq!(
            (score.value, score.detail.entries()["order"].as_str()),
            (Some(1.0), Some("not compared: no parser"))
        );
        let shorter = compare(&rows(&[1, 2]), &order, &rows(&[2]));
        assert_eq!((shorter.value, shorter.detail.entries().get("order")), (Some(0.0), None));
    }
}
