//! `verify@3`, `verify-set@3`, `verify-bag@3`, `verify-list@3`: no counterexample is known.
//!
//! # Contract
//! 0 if there is a counterexample: a database that satisfies the schema, on which a real SQLite returned different results
//! for gold and prediction; else 1. The id says when results are equal, whatever other metrics a run has:
//!
//! | id | rows are | with it stands |
//! |---|---|---|
//! | `verify@3` | what `ex@1` compares | `ex@1` |
//! | `verify-set@3` | a set | `ex-bird@1` |
//! | `verify-bag@3` | a bag | |
//! | `verify-list@3` | a list, in the order that either query asks for | |
//!
//! With the execution metric of its line it is EX-SpotIt: right on the benchmark's database, and not refuted on another.
//!
//! Where SQL leaves a choice (ties under LIMIT, bare columns, ...), a query permits several results. If the gold permits
//! one result on a database, a prediction is wrong that SQLite lets return another one, in some order of the same rows
//! (`permits-more`). Where the gold permits several results, a prediction that returns one of them is not blamed.
//!
//! A pair goes through stages until one decides: rules of `etm@1`, a slice of the benchmark's database, a search, a
//! bounded proof. Answers of other systems play no part. `details.verdict` keeps `equivalent`, `equivalent_up_to`,
//! `different` or `unknown` with rules, assumptions, counterexample or reason; of several such metrics it is the first
//! one's, and `details.verdicts` has the others by id. `unknown` scores 1. Foreign keys that the database's rows break are
//! not used.
//!
//! A prediction that SQLite refuses scores 0; a gold that it refuses makes the score null.
//!
//! Of `verify@2` the equality was that of the first execution metric of the run; reports of such runs take it from their
//! option `verify_semantics`.
//!
//! Source: "SpotIt: Evaluating Text-to-SQL Evaluation with Formal Verification", ICLR 2026.

use sqlgauge_base::counted;
use sqlgauge_engine::compare::Semantics;
use sqlgauge_search::Side;
use sqlgauge_verify::{
    Data, NO_SOLVER, PairContext, RefusedText, SOLVER_REMEDY, TIE, Verdict, VerifyOptions, VerifyReport,
};

use crate::metric::{Metric, MetricInfo, MetricKind, Reads, Score};
use crate::pair::Pair;
use crate::verification::Verification;

/// No counterexample is known, where results are equal by those semantics.
pub(crate) struct Verify {
    id: &'static str,
    semantics: Semantics,
    summary: &'static str,
}

impl Verify {
    pub(crate) const EX: Self = Self {
        id: "verify@3",
        semantics: Semantics::Ex,
        summary: "No counterexample: 0 if a database was made on which the prediction permits a result that the gold does not; rows count as for ex@1.",
    };
    pub(crate) const SET: Self = Self {
        id: "verify-set@3",
        semantics: Semantics::Set,
        summary: "The same with rows as a set, as ex-bird@1 compares them.",
    };
    pub(crate) const BAG: Self = Self {
        id: "verify-bag@3",
        semantics: Semantics::Bag,
        summary: "The same with rows as a bag: repetition counts, order does not.",
    };
    pub(crate) const LIST: Self = Self {
        id: "verify-list@3",
        semantics: Semantics::List,
        summary: "The same with rows in the order that either query asks for.",
    };

    const ALL: [Self; 4] = [Self::EX, Self::SET, Self::BAG, Self::LIST];
}

/// The id of the metric that verifies with those semantics.
pub fn verify_id(semantics: Semantics) -> &'static str {
    match semantics {
        Semantics::Ex => Verify::EX.id,
        Semantics::Set => Verify::SET.id,
        Semantics::Bag => Verify::BAG.id,
        Semantics::List => Verify::LIST.id,
    }
}

/// The semantics that the id of a metric that verifies names; `None` for other metrics, and for `verify@2` and `verify@1`, whose
/// runs say it in an option.
pub fn verify_semantics(id: &str) -> Option<Semantics> {
    Verify::ALL.into_iter().find(|metric| metric.id == id).map(|metric| metric.semantics)
}

/// Whether a metric of that id verifies, of whatever version.
pub fn is_verify(id: &str) -> bool {
    let name = id.split('@').next();
    Verify::ALL.iter().any(|metric| metric.id.split('@').next() == name)
}

/// The id of the execution metric for which results are equal as for those semantics; `None` where there is none.
pub fn execution_metric(semantics: Semantics) -> Option<&'static str> {
    match semantics {
        Semantics::Ex => Some("ex@1"),
        Semantics::Set => Some("ex-bird@1"),
        Semantics::Bag | Semantics::List => None,
    }
}

impl Metric for Verify {
    fn info(&self) -> MetricInfo {
        MetricInfo::new(self.id, self.summary, MetricKind::Binary, Reads::NoRows)
            .needs("the database: runs both queries, there and on databases that it makes")
            .of_sqlite()
    }

    fn score(&self, pair: &Pair<'_>) -> Score {
        let default_verification = Verification::default();
        let verification = pair.verification().unwrap_or(&default_verification);
        let schema = &pair.target().database.kept_schema(pair.engine()).schema;
        let database = &pair.target().database;
        let data = Some((pair.engine(), database.as_ref()));
        let options = VerifyOptions { semantics: self.semantics, ..*verification.options() };
        let verified = verification.with(schema, data, options, |verifier, solver| {
            let results = pair.results_by(self.semantics);
            let data = Some(Data {
                engine: pair.engine(),
                database,
                results: results.as_ref().map(|results| (&*results.gold, &*results.prediction)),
            });
            verifier.verify_beside(pair.gold(), pair.prediction(), PairContext { data, solver })
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
            let conditions = sqlgauge_verify::conditions(proof.assumes());
            let conditions = conditions.map_or_else(String::new, |conditions| format!(" if {conditions}"));
            format!("equivalent{rows}{conditions}")
        }
        Verdict::EquivalentUpTo(proof) if proof.permits_less() => format!(
            "right up to {} per table: it permits no result that the gold does not, and the gold permits more",
            counted(proof.bound(), "row")
        ),
        Verdict::EquivalentUpTo(proof) => {
            let assumes: Vec<String> = proof.assumes().iter().map(|of| of.code().into_owned()).collect();
            let conditions = sqlgauge_verify::conditions(&assumes);
            let conditions = conditions.map_or_else(String::new, |conditions| format!(" if {conditions}"));
            format!("equivalent up to {} per table{conditions}", counted(proof.bound(), "row"))
        }
        Verdict::Different(counterexample) => {
            format!("different: {}", counterexample.refutation.difference())
        }
        Verdict::Unknown(unknown) => {
            let places: Vec<String> = unknown.places.iter().map(ToString::to_string).collect();
            let places = match places.as_slice() {
                [] if unknown.reason == NO_SOLVER => format!("; {SOLVER_REMEDY}"),
                [] => String::new(),
                places => format!(", SQLite may choose ({})", places.join("; ")),
            };
            let tie = if report.is_tie { format!("; {TIE}") } else { String::new() };
            format!("undecided: {}{places}{tie}", unknown.reason)
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
