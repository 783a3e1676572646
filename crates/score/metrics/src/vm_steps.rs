//! `vm-steps@1`: the cost of a prediction relative to its gold, independent of the machine.
//!
//! # Contract
//! Steps of the engine's virtual machine that the prediction takes, divided by those of the gold. 1 means the
//! same work, 2 twice as much. Both texts run as they are written, once; the count does not depend on the
//! machine or on what else it does, but on the engine's version and the database.
//!
//! It applies wherever both queries run, right or wrong: the detail says whether the results are equal
//! (`ex-bird@1`'s equality), so that a mean can be taken over right answers only. Where either fails it is
//! null: a query without a result has no cost to compare.

use sqlgauge_engine::compare::explain;

use crate::ex_bird;
use crate::metric::{Metric, MetricInfo, MetricKind, Reads, Score};
use crate::pair::{Pair, gold_failed};

/// Virtual-machine steps, prediction over gold.
pub(crate) struct VmSteps;

impl Metric for VmSteps {
    fn info(&self) -> MetricInfo {
        MetricInfo::new(
            "vm-steps@1",
            "Machine-independent cost: virtual-machine steps of the prediction over those of the gold.",
            MetricKind::Unbounded,
            Reads::Everything,
        )
        .less_is_better()
        .of_sqlite()
    }

    fn score(&self, pair: &Pair<'_>) -> Score {
        let database = &pair.target().database;
        let gold = pair.run_gold(database, pair.gold());
        if let Some(failure) = gold.outcome.failure() {
            return gold_failed(failure);
        }
        let prediction = pair.run(database, pair.prediction());
        if let Some(failure) = prediction.outcome.failure() {
            let message = explain::shorten(&failure.message, 200);
            return Score::inapplicable(format!("the prediction does not run: {message}"))
                .with("status", failure.kind.as_str());
        }
        let ratio = prediction.vm_steps as f64 / gold.vm_steps.max(1) as f64;
        let same = ex_bird::results(pair)
            .is_ok_and(|results| ex_bird::score_results(pair, &results).value == Some(1.0));
        Score::new(ratio)
            .with("gold_steps", gold.vm_steps)
            .with("prediction_steps", prediction.vm_steps)
            .with("same_result", same)
    }
}
