//! `suite@1`: test-suite accuracy.
//!
//! # Contract
//! 1 if `ex-spider@1` is 1 on every database of the folder (all `*.sqlite` beside the database), else 0.
//! This is what the official script computes when the folder holds a distilled test suite. With one database
//! in the folder it equals `ex-spider@1`. A gold that fails on any of the databases makes the score null;
//! the databases are tried in the order of their paths, up to the first on which the prediction is wrong.
//!
//! Source: R. Zhong, T. Yu, D. Klein, "Semantic Evaluation for Text-to-SQL with Distilled Test Suites", 2020.

use sqlgauge_engine::{Database, Enough, Execution, FailureKind};

use crate::ex_spider::{compare, score_on};
use crate::metric::{Metric, MetricInfo, MetricKind, Reads, Score};
use crate::official;
use crate::pair::{Pair, rows_in_python};

/// `ex-spider@1` on all databases of the folder.
pub(crate) struct Suite;

impl Metric for Suite {
    fn info(&self) -> MetricInfo {
        MetricInfo::new(
            "suite@1",
            "Test-suite accuracy: official Spider execution accuracy on every database of the folder.",
            MetricKind::Binary,
            Reads::Bag,
        )
        .needs("every database of the folder: runs both queries on each")
        .of_sqlite()
    }

    fn score(&self, pair: &Pair<'_>) -> Score {
        suite_execution_match(pair, false)
    }
}

/// What the ways to fill in values may cost together, in steps of SQLite's virtual machine; the script tries all, which
/// need not end. It is some seconds.
const MAX_PLUGGED_STEPS: u64 = 100_000_000;
/// What a way costs besides the steps that it takes: that it is compiled and begun, its text, and each value that is
/// compared.
const STEPS_PER_WAY: u64 = 5_000;
const STEPS_PER_BYTE: u64 = 5;
const STEPS_PER_VALUE: u64 = 50;

/// The official execution match with `--plug_value`: 1 if the prediction is right on every database of the suite as it
/// is, or with values of the gold in the place of its own. Null where the gold fails, or where the first ways are not
/// right and all together would cost too much; one that reaches the time limit is too much. A way is run no further than
/// until it returns more rows than the gold.
pub fn suite_execution_match_plugged(pair: &Pair<'_>, keep_distinct: bool) -> Score {
    let as_it_is = suite_execution_match(pair, keep_distinct);
    if as_it_is.value != Some(0.0) {
        return as_it_is;
    }
    let mut ways = match official::plugged(pair.gold(), pair.prediction(), keep_distinct) {
        Ok(Some(ways)) => ways,
        Ok(None) => return as_it_is,
        Err(too_complex) => return Score::too_complex(too_complex),
    };
    let mut steps = 0;
    for tried in 0.. {
        let Some(prediction) = ways.next() else { return as_it_is };
        if steps > MAX_PLUGGED_STEPS {
            let message = format!(
                "too_complex: wrong with the first {tried} ways to put in the gold's values, and to try the others would \
                 take too long"
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
    let Some(gold) = gold.rows() else { return false };
    let enough = Enough { rows_over: Some(gold.len()), foreign_to: None };
    let execution = pair.run_again_until(database, prediction, &enough);
    *steps += cost(prediction, &execution);
    rows_in_python(prediction, &execution)
        .is_ok_and(|prediction| compare(gold, &prediction, *ordered).value == Some(1.0))
}

/// What running a way has cost.
fn cost(text: &str, execution: &Execution) -> u64 {
    if execution.outcome.failure().is_some_and(|failure| failure.kind == FailureKind::Timeout) {
        return MAX_PLUGGED_STEPS + 1;
    }
    let values = execution.rows().map_or(0, |rows| rows.values().len());
    execution.vm_steps + STEPS_PER_WAY + STEPS_PER_BYTE * text.len() as u64 + STEPS_PER_VALUE * values as u64
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
