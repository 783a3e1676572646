//! `verify@2` and `verify@1`: no counterexample is known.
//!
//! # Contract
//! 0 if there is a counterexample: a database that satisfies the schema, on which a real SQLite returned different results
//! for gold and prediction; else 1. With an execution metric this is EX-SpotIt: right on the benchmark's database, and not
//! refuted on another.
//!
//! Where SQL leaves a choice (ties under LIMIT, bare columns, ...), a query permits several results. If the gold permits
//! one result on a database, `verify@2` blames a prediction that SQLite lets return another one, in some order of the same
//! rows (`permits-more`). `verify@1` blames only predictions that permit no result of the gold's. Where the gold permits
//! several results, neither blames a prediction that returns one of them.
//!
//! A pair goes through stages until one decides: rules of `etm@1`, a slice of the benchmark's database, a search,
//! counterexamples of other systems (reuse), a bounded proof. `details.verdict` keeps `equivalent`, `equivalent_up_to`,
//! `different` or `unknown` with rules, assumptions, counterexample or reason. `unknown` scores 1. Foreign keys that the
//! database's rows break are not used.
//!
//! A prediction that SQLite refuses scores 0; a gold that it refuses makes the score null. Rows count as for `ex@1`, or as
//! a set, a bag or a list (`--semantics`).
//!
//! Source: "SpotIt: Evaluating Text-to-SQL Evaluation with Formal Verification", ICLR 2026.

use sqlgauge_base::counted;
use sqlgauge_search::Side;
use sqlgauge_verify::{Data, PairContext, RefusedText, TIE, Verdict, VerifyOptions, VerifyReport};

use crate::metric::{Metric, MetricInfo, MetricKind, Reads, Score};
use crate::pair::Pair;
use crate::verification::Verification;

/// No counterexample is known.
pub(crate) struct Verify {
    id: &'static str,
    /// Whether a prediction is wrong that only permits more than the gold's one result.
    counts_choices: bool,
}

impl Verify {
    /// `verify@1`.
    pub(crate) const FIRST: Self = Self { id: "verify@1", counts_choices: false };
    /// `verify@2`.
    pub(crate) const SECOND: Self = Self { id: "verify@2", counts_choices: true };
}

impl Metric for Verify {
    fn info(&self) -> MetricInfo {
        let summary = if self.counts_choices {
            "No counterexample: 0 if a database was made on which the prediction permits a result that the gold does not."
        } else {
            "The same, with a prediction right that permits the gold's result among others."
        };
        // A prediction that another metric knows to be wrong may be left there: its first rows differ already.
        MetricInfo::new(self.id, summary, MetricKind::Binary, Reads::NoRows)
            .needs("the database: runs both queries, there and on databases that it makes")
            .of_sqlite()
    }

    fn score(&self, pair: &Pair<'_>) -> Score {
        let default_verification = Verification::default();
        let verification = pair.verification().unwrap_or(&default_verification);
        let schema = &pair.target().database.kept_schema(pair.engine()).schema;
        let database = &pair.target().database;
        let data = Some((pair.engine(), database.as_ref()));
        let options = VerifyOptions { counts_choices: self.counts_choices, ..*verification.options() };
        let verified = verification.with(schema, data, options, |verifier, solver| {
            let results = pair.results().ok();
            let data = Some(Data {
                engine: pair.engine(),
                database,
                results: results.as_ref().map(|results| (&*results.gold, &*results.prediction)),
            });
            verifier.verify_beside(
                pair.gold(),
                pair.prediction(),
                PairContext { data, peers: pair.peers(), solver },
            )
        });
        match verified {
            Ok(Ok(report)) => score_of_verdict(&report),
            Ok(Err(refused)) => of_refused(&refused),
            Err(error) => Score::inapplicable(error.to_string()),
        }
    }
}

/// The score of a pair of which that is the verdict, with the verdict.
pub fn score_of_verdict(report: &VerifyReport) -> Score {
    let score = Score::binary(!matches!(report.verdict, Verdict::Different(_)));
    let reason = match &report.verdict {
        Verdict::Equivalent(_) if report.is_tie => format!("equivalent: {TIE}"),
        Verdict::Equivalent(proof) => {
            let rows =
                proof.rows_as().map_or_else(String::new, |as_what| format!(" with rows as a {as_what}"));
            match proof.assumes() {
                [] => format!("equivalent{rows}"),
                assumes => format!("equivalent{rows}, given {}", assumes.join(", ")),
            }
        }
        Verdict::EquivalentUpTo(proof) if proof.permits_less() => format!(
            "right up to {} per table: it permits no result that the gold does not, and the gold permits more",
            counted(proof.bound(), "row")
        ),
        Verdict::EquivalentUpTo(proof) => {
            format!("equivalent up to {} per table", counted(proof.bound(), "row"))
        }
        Verdict::Different(counterexample) => {
            format!("different: {}", counterexample.refutation.difference())
        }
        Verdict::Unknown(unknown) => {
            let places: Vec<String> = unknown.places.iter().map(ToString::to_string).collect();
            let places = if places.is_empty() { String::new() } else { format!(" ({})", places.join("; ")) };
            let tie = if report.is_tie { format!("; {TIE}") } else { String::new() };
            format!("unknown: {}{places}{tie}", unknown.reason)
        }
    };
    Score { verdict: Some(Box::new(report.record())), ..score.because(reason) }
}

fn of_refused(refused: &RefusedText) -> Score {
    match refused.side {
        Side::Left => Score::inapplicable(refused.to_string()).with("gold_failed", "unresolved"),
        Side::Right => Score::new(0.0).because(refused.to_string()),
    }
}
