//! `ex-subset@1` and `ex-subset-tolerance@1`: execution accuracy that allows further columns.
//!
//! # Contract
//! `ex-subset@1` is 1 if the gold's rows are the prediction's in some of its columns: for each column of the gold
//! there is a column of the prediction of its own, such that both results, read in those columns, are equal bags of
//! rows. The prediction may return further columns, and its columns in any order; names do not count. Repetition
//! counts, and where the gold orders its rows their order does, ties free, as in `ex@1`. Numbers are
//! equal within 1e-5 of the larger, or 1e-8, if at least one has a fraction; whole numbers exactly; NULL equals NULL;
//! text never equals a number. Two empty results are equal if the prediction has at least the gold's columns.
//! 1 under `ex@1` is 1 here. Null where trying the columns takes too long.
//!
//! `ex-subset-tolerance@1` is the same with numbers equal within 0.01 instead, as in
//! `ex-tolerance@1`.
//!
//! # For whom
//! For questions that do not say which columns to return. A prediction that returns everything (`SELECT *`) is
//! right under both, so they are no replacement for `ex@1` where the question does say it.
//!
//! # Beside defog's sql-eval (`subset_df`)
//! The same: further columns, any order of columns, numbers as `pandas` compares floats by default, NULL equals NULL.
//! Different: that function takes for each column of the gold the first one with the same values and tries no other,
//! so it refuses some results that fit; drops repeated rows before it compares the rest; looks at the order of rows if
//! the *question* says order, sort or arrange; calls an empty gold a subset of nothing; and knows golds with
//! alternatives in braces, for which several golds are given here.
//!
//! # Beside Spider 2 (`compare_pandas_table`), for `ex-subset-tolerance@1`
//! The same: further columns, any order of columns, numbers within 0.01, NULL equals NULL, several golds of which one
//! must fit. Different: that function compares column by column, so that one column of the prediction may stand for two
//! of the gold, and with `ignore_order` it sorts each column for itself, so that the values need not stand in
//! the same rows: `(1, 2), (2, 1)` equals `(1, 1), (2, 2)`. Here rows must fit as rows. Whether order counts is
//! said by the gold's ORDER BY instead of `ignore_order`, and which columns count by what the gold returns instead of
//! `condition_cols`. That function reads results back from CSV, where a text of digits becomes a number.

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
