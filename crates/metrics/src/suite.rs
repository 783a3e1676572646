//! `suite@1`: test-suite accuracy.
//!
//! # Contract
//! 1 if `ex-spider@1` is 1 on every database of the folder (all `*.sqlite` beside the database), else 0.
//! This is what the official script computes when the folder holds a distilled test suite. With one database
//! in the folder it equals `ex-spider@1`. A gold that fails on any of the databases makes the score null;
//! the databases are tried in the order of their paths, up to the first on which the prediction is wrong.
//!
//! Source: R. Zhong, T. Yu, D. Klein, "Semantic Evaluation for Text-to-SQL with Distilled Test Suites", 2020.

use crate::ex_spider::score_on;
use crate::metric::{Metric, MetricKind, Score};
use crate::pair::Pair;

/// `ex-spider@1` on all databases of the folder.
pub(crate) struct Suite;

impl Metric for Suite {
    fn id(&self) -> &'static str {
        "suite@1"
    }

    fn summary(&self) -> &'static str {
        "Test-suite accuracy: official Spider execution accuracy on every database of the folder."
    }

    fn kind(&self) -> MetricKind {
        MetricKind::Binary
    }

    fn score(&self, pair: &Pair<'_>) -> Score {
        suite_execution_match(pair, false)
    }
}

/// The official execution match on every database of the suite, in its default mode or with
/// `--keep_distinct`.
pub fn suite_execution_match(pair: &Pair<'_>, keep_distinct: bool) -> Score {
    let suite = &pair.target().suite;
    for database in suite {
        let score = score_on(pair, database, keep_distinct);
        if score.value != Some(1.0) {
            let name = database.path().file_name().unwrap_or_default().to_string_lossy();
            return if suite.len() > 1 { score.with("database", &*name) } else { score };
        }
    }
    if suite.is_empty() {
        return Score::inapplicable("the test suite has no database");
    }
    Score::new(1.0)
}
