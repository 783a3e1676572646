//! `verify@2` and `verify@1`: no database is known that tells the prediction from the gold.
//!
//! # Contract
//! 0 if there is a counterexample: a database that satisfies the schema, made for this pair, on which a real SQLite
//! returned different results for gold and prediction; else 1. Together with an execution metric on the benchmark's own
//! database this is EX-SpotIt: right there, and not told apart by any other.
//!
//! Where SQL leaves a choice (ties under LIMIT, bare columns, ...), a result is one of several that a query permits. `verify@2` asks
//! whether the prediction permits what the gold does not: where the gold permits one result alone on a database, a prediction
//! that SQLite lets return another one, in some order of the same rows, is wrong (`permits-more`), although it may return the
//! gold's on a given day. For `verify@1` it was not: a difference counted only where the two permit no result in common.
//! Where the gold permits several results, neither blames a prediction that returns one of them.
//!
//! A pair goes through stages until something is known of it: proof by the rules of `etm@1`, a slice of the
//! benchmark's database from which no row can be taken away, if the results differ on it, search for a counterexample, the counterexamples of the other systems' predictions for the question (reuse), bounded proof by an
//! SMT solver where one is found. The verdict is `equivalent`, `equivalent_up_to` a number of rows per table, `different`,
//! or `unknown` with its reason; an item keeps it as `details.verdict`, with the rules, what it assumes, and the
//! counterexample as an SQL script. `unknown` scores 1: nobody has told the two apart. Foreign keys that the rows of the
//! database break are not relied on.
//!
//! A prediction that SQLite refuses scores 0; a gold that it refuses makes the score null. What counts as a difference is
//! what counts for `ex@1`, or rows as a set, a bag or a list (`sqlgauge verify --semantics`).
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
        let own = Verification::default();
        let verification = pair.verification().unwrap_or(&own);
        let schema = &pair.target().database.kept_schema(pair.engine()).schema;
        let database = &pair.target().database;
        let given = Some((pair.engine(), database.as_ref()));
        let options = VerifyOptions { counts_choices: self.counts_choices, ..*verification.options() };
        let verified = verification.with(schema, given, options, |verifier, solver| {
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
    let said = match &report.verdict {
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
        Verdict::Different(found) => format!("different: {}", found.refutation.difference()),
        Verdict::Unknown(unknown) => {
            let places: Vec<String> = unknown.places.iter().map(ToString::to_string).collect();
            let places = if places.is_empty() { String::new() } else { format!(" ({})", places.join("; ")) };
            let tie = if report.is_tie { format!("; {TIE}") } else { String::new() };
            format!("unknown: {}{places}{tie}", unknown.reason)
        }
    };
    Score { verdict: Some(Box::new(report.record())), ..score.because(said) }
}

fn of_refused(refused: &RefusedText) -> Score {
    match refused.side {
        Side::Left => Score::inapplicable(refused.to_string()).with("gold_failed", "unresolved"),
        Side::Right => Score::new(0.0).because(refused.to_string()),
    }
}
