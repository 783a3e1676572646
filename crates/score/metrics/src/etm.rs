//! `etm@1` and `etm-paper@1`: Enhanced Tree Matching.
//!
//! # Contract
//! 1 if gold and prediction have the same normal form under equivalence rules, up to the names of table instances, else 0.
//! Neither query is run.
//! - `etm-paper@1`: the 35 published rules and three more of the published script (S1, S6, S17), with the script's
//!   conditions.
//! - `etm@1`: the rules that are sound in SQLite on every database that satisfies the schema, compared as `ex@1` compares.
//!   Two exceptions: a foreign key that rows written later break, and real numbers that another plan sums in another order.
//!   Queries that it calls different may still be equal.
//!
//! `etm@1` does not use a foreign key that the database's rows break. The detail `assumes` names the constraints that a
//! match rests on.
//!
//! A prediction that does not resolve against the schema scores 0; a gold that does not makes the score null. A comparison
//! that gives up (a function that gives another value each time) scores 0 and says so; `too_complex` is null. The reason is
//! the first difference of the normal forms, or the rules that made them equal.
//!
//! Source: B. Ascoli, Y. Kandikonda, J. Choi, "ETM: Modern Insights into Perspective on Text-to-SQL Evaluation in the Age
//! of Large Language Models", Future Internet 17(8):325, 2025, Tables 1 to 3.

use serde_json::Value;
use sqlgauge_etm::{MatchReport, MatchSide, MatchVerdict, Matcher, Profile};

use crate::metric::{Metric, MetricInfo, MetricKind, Reads, Score};
use crate::pair::Pair;

/// Tree matching with only the rules that hold, or as published.
pub(crate) struct Etm(pub(crate) Profile);

impl Metric for Etm {
    fn info(&self) -> MetricInfo {
        let summary = match self.0 {
            Profile::Sound => {
                "Enhanced Tree Matching with rules that hold on every database that keeps the schema's constraints."
            }
            Profile::Paper => {
                "Enhanced Tree Matching with the 35 published rules and the published script's three others."
            }
        };
        MetricInfo::new(self.0.id(), summary, MetricKind::Binary, Reads::NoRows).of_sqlite()
    }

    fn score(&self, pair: &Pair<'_>) -> Score {
        score(pair, self.0)
    }
}

fn score(pair: &Pair<'_>, profile: Profile) -> Score {
    let database = &pair.target().database;
    // The published script trusts every foreign key; a proof may not, where the rows of this database break one.
    let schema = match profile {
        Profile::Sound => &database.kept_schema(pair.engine()).schema,
        Profile::Paper => database.schema(),
    };
    let comparison = Matcher::new(schema, profile).judge(pair.gold(), pair.prediction());
    match &comparison.verdict {
        MatchVerdict::Equal => {
            let score = Score::binary(true).with("rules", applied(&comparison));
            let assumes: Vec<Value> =
                comparison.assumes.iter().map(|assumption| assumption.to_string().into()).collect();
            if assumes.is_empty() { score } else { score.with("assumes", assumes) }
        }
        MatchVerdict::Different => {
            let reason = comparison.difference.unwrap_or_else(|| "the queries differ".to_owned());
            Score::binary(false).because(format!("after the rules, {reason}"))
        }
        MatchVerdict::Unresolved(MatchSide::Left, error) => {
            Score::inapplicable(format!("the gold does not resolve: {error}"))
                .with("gold_failed", "unresolved")
        }
        MatchVerdict::Unresolved(MatchSide::Right, error) => Score::unresolved_prediction(error),
        MatchVerdict::TooComplex(_) => {
            Score::inapplicable(comparison.verdict.to_string()).with("too_complex", true)
        }
        MatchVerdict::GaveUp(_) => Score::binary(false).because(comparison.verdict.to_string()),
    }
}

/// The rules that were applied on either side, each once, in order.
fn applied(comparison: &MatchReport) -> Vec<Value> {
    let mut rules: Vec<String> = Vec::new();
    for application in
        [&comparison.left, &comparison.right].into_iter().flatten().flat_map(|form| &form.applications)
    {
        let name = format!("{} {}", application.rule.id, application.rule.name);
        if !rules.contains(&name) {
            rules.push(name);
        }
    }
    rules.into_iter().map(Value::from).collect()
}
