//! `ex-subset@1` and `ex-subset-tolerance@1`: execution accuracy that allows further columns.
//!
//! # Contract
//! `ex-subset@1` is 1 if each column of the gold has a column of the prediction to itself, so that both results, read in those
//! columns, are equal bags of rows. Further columns and any order of columns are allowed; names do not count. Repetition
//! counts, and order as in `ex@1`. Numbers are equal within 1e-5 of the larger, or 1e-8, if at least one has a fraction;
//! whole numbers exactly; NULL equals NULL; text never equals a number. Two empty results are equal if the prediction has
//! at least the gold's columns. 1 under `ex@1` is 1 here. Null where trying the columns takes too long.
//!
//! `ex-subset-tolerance@1` takes numbers as equal within 0.01.
//!
//! Use them for questions that do not say which columns to return: a prediction that returns everything (`SELECT *`) is
//! right under both.
//!
//! # Unlike defog's sql-eval (`subset_df`)
//! That function takes for each column of the gold the first one with the same values, so it refuses some results that fit;
//! drops repeated rows; looks at order if the *question* says order, sort or arrange; calls an empty gold a subset of
//! nothing; and knows golds with alternatives in braces.
//!
//! # Unlike Spider 2 (`compare_pandas_table`), for `ex-subset-tolerance@1`
//! That function compares column by column, so one column may stand for two, and with `ignore_order` it sorts each column
//! for itself: `(1, 2), (2, 1)` equals `(1, 1), (2, 2)`. It reads results from CSV, where a text of digits becomes a
//! number. Here the gold's ORDER BY and columns take the place of `ignore_order` and `condition_cols`.

use sqlgauge_engine::compare::RELATIVE_TOLERANCE;

use crate::ex_tolerance::score_by;
use crate::fitting::Rule;
use crate::metric::{Metric, MetricInfo, MetricKind, Reads, Score};
use crate::pair::Pair;

/// The gold's rows in some columns of the prediction.
pub(crate) struct ExSubset;

impl Metric for ExSubset {
    fn info(&self) -> MetricInfo {
        MetricInfo::new(
            "ex-subset@1",
            "Execution accuracy that allows further columns and any order of columns, numbers within 1e-5.",
            MetricKind::Binary,
            Reads::Bag,
        )
    }

    fn score(&self, pair: &Pair<'_>) -> Score {
        score_by(pair, Rule { absolute: 1e-8, relative: 1e-5, extra_columns: true })
    }
}

/// The same within a hundredth.
pub(crate) struct ExSubsetTolerance;

impl Metric for ExSubsetTolerance {
    fn info(&self) -> MetricInfo {
        MetricInfo::new(
            "ex-subset-tolerance@1",
            "Execution accuracy that allows further columns and any order of columns, numbers within 0.01.",
            MetricKind::Binary,
            Reads::Bag,
        )
    }

    fn score(&self, pair: &Pair<'_>) -> Score {
        score_by(pair, Rule { absolute: 1e-2, relative: RELATIVE_TOLERANCE, extra_columns: true })
    }
}
