//! `suite@1`: test-suite accuracy.
//!
//! # Contract
//! 1 if `ex-spider@1` is 1 on every database of the folder (all `*.sqlite` beside the database), else 0.
//! This is what the official script computes when the folder holds a distilled test suite. With one database
//! in the folder it equals `ex-spider@1`. A gold that fails on any of the databases makes the score null;
//! the databases are tried in the order of their paths, up to the first on which the prediction is wrong.
//!
//! Source: R. Zhong, T. Yu, D. Klein, "Semantic Evaluation for Text-to-SQL with Distilled Test Suites", 2020.

use sqlgauge_base::budget;
use sqlgauge_engine::Database;

use crate::ex_spider::{compare, score_on};
use crate::metric::{Metric, MetricKind, Reads, Score};
use crate::official;
use crate::pair::{Pair, rows_in_python};

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

    fn reads(&self) -> Reads {
        Reads::Bag
    }

    fn needs(&self) -> &'static str {
        "every database of the folder: runs both queries on each"
    }

    fn score(&self, pair: &Pair<'_>) -> Score {
        suite_execution_match(pair, false)
    }
}

/// Ways to fill in values that are tried for one prediction; the script tries all, which need not end.
const MAX_PLUGGED: usize = 20_000;
/// Steps of SQLite's virtual machine after which no further way is tried: one way may be a join of everything with
/// everything.
const MAX_PLUGGED_STEPS: u64 = 200_000_000;

/// The official execution match with `--plug_value`: 1 if the prediction is right on every database of the suite as it
/// is, or with values of the gold in the place of its own. Null where the gold fails, or where there are more ways
/// than are tried and none of those is right: a bound on their number, and one on the steps that they take together.
pub fn suite_execution_match_plugged(pair: &Pair<'_>, keep_distinct: bool) -> Score {
    let as_it_is = suite_execution_match(pair, keep_distinct);
    if as_it_is.value != Some(0.0) {
        return as_it_is;
    }
    let ways =
        budget::within(budget::ANALYSIS, || official::plugged(pair.gold(), pair.prediction(), keep_distinct));
    let mut ways = match ways {
        Ok(Some(ways)) => ways,
        Ok(None) => return as_it_is,
        Err(too_complex) => return Score::too_complex(too_complex),
    };
    let mut steps = 0;
    for tried in 0.. {
        let Some(prediction) = ways.next() else { return as_it_is };
        if tried == MAX_PLUGGED || steps > MAX_PLUGGED_STEPS {
            let message = format!(
                "too_complex: wrong with the first {tried} ways to put in the gold's values, which took {steps} steps of \
                 SQLite, and there are more"
            );
            return Score::inapplicable(message).with("too_complex", true);
        }
        let mut right_on =
            |database| plugged_is_right(pair, database, keep_distinct, &prediction, &mut steps);
        if pair.target().suite.iter().all(|database| right_on(database)) {
            break;
        }
    }
    Score::new(1.0).because("right with values of the gold")
}

fn plugged_is_right(
    pair: &Pair<'_>,
    database: &Database,
    keep_distinct: bool,
    prediction: &str,
    steps: &mut u64,
) -> bool {
    let Some((gold, ordered)) = pair.gold_to_run(keep_distinct) else { return false };
    let gold = pair.run_gold(database, gold);
    let execution = pair.run_again(database, prediction);
    *steps += execution.vm_steps;
    let prediction = rows_in_python(prediction, &execution);
    match (gold.rows(), prediction) {
        (Some(gold), Ok(prediction)) => compare(gold, &prediction, *ordered).value == Some(1.0),
        _ => false,
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
