//! # A gold that is wrong by its own metric
//!
//! ## What it finds
//! A gold that, given as the prediction, does not score 1 under each metric that says right or wrong or how far.
//! `verify` is left out, which takes long, and so are costs.
//!
//! ## Why it matters
//! A system that answers with the gold itself loses a point. The metric's reason says why: the gold does not run,
//! or it depends on chance, or an official script cannot read it.
//!
//! ## Example
//! ```sql
//! SELECT random()   -- differs from itself
//! ```
//!
//! ## When it is no defect
//! You do not use that metric, or it is the metric that is odd: Spider's script replaces the word `value` in every
//! prediction, and so cannot run a gold that reads a column `attribute_value`.

use crate::finding::Findings;
use crate::rule::{AuditCase, AuditMeta, AuditRule, CLUBS, Needs, RuleStanding};
use sqlgauge_metrics::{Metric, MetricKind, Pair, all};

use crate::item::AuditItem;

pub(super) struct ScoresBelowOne;

static META: AuditMeta = AuditMeta {
    name: "scores-below-one",
    summary: "as a prediction the gold scores less than 1 under a metric",
    needs: Needs::Rows,
    standing: RuleStanding::Hint,
    cases: CASES,
    source: include_str!("scores_below_one.rs"),
};

impl AuditRule for ScoresBelowOne {
    fn meta(&self) -> &'static AuditMeta {
        &META
    }

    fn check_item(&self, item: &AuditItem<'_>, findings: &mut Findings) {
        let Some(data) = item.data(findings) else { return };
        let pair = Pair::new(data.engine(), data.target(), item.sql, item.sql, None);
        let applies = |metric: &&&'static dyn Metric| {
            metric.kind() != MetricKind::Unbounded && (data.engine().is_sqlite() || !metric.is_of_sqlite())
        };
        let metrics = all().iter().filter(applies);
        let mut below = Vec::new();
        let mut first = None;
        for metric in metrics.filter(|metric| !metric.id().starts_with("verify@")) {
            let score = metric.score(&pair);
            let reason = score.detail.reason().unwrap_or("without a reason").to_owned();
            match score.value {
                Some(value) if value < 1.0 => {
                    below.push(metric.id());
                    first.get_or_insert(reason);
                }
                Some(_) => {}
                None => findings.unchecked(format!("{}: {reason}", metric.id())),
            }
        }
        if let Some(reason) = first {
            findings.report(format!("less than 1 as a prediction under {}: {reason}", below.join(", ")));
        }
    }
}

const CASES: &[AuditCase] = &[
    AuditCase::fires(CLUBS, "SELECT random()").from_benchmark(),
    AuditCase::silent(CLUBS, "SELECT name FROM player"),
    AuditCase::silent(CLUBS, "SELECT name FROM player ORDER BY goals LIMIT 1"),
];
