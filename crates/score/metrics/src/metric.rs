//! What every metric is.

use serde_json::Value;
use sqlgauge_base::budget::TooComplex;
use sqlgauge_sql::{ErrorKind, ResolveError};
use sqlgauge_verify::VerdictRecord;

use crate::detail::MetricDetail;
use crate::pair::Pair;

/// What the values of a metric mean, which decides the interval and the test that suit them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MetricKind {
    /// 0 or 1: right or wrong.
    Binary,
    /// Anything in [0, 1].
    Fraction,
    /// A cost or an efficiency in the metric's own unit, from 0 without an upper bound.
    Unbounded,
}

/// What a metric reads of the rows that a prediction returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reads {
    /// No row: it compares texts, or runs the queries by itself.
    NoRows,
    /// A bag of rows: with more rows than the gold the prediction is wrong, whatever they are.
    Bag,
    /// A set of rows: with a row that the gold lacks the prediction is wrong, whatever else it returns.
    Set,
    /// All rows, or what it costs to return them.
    Everything,
}

impl MetricKind {
    /// The values that a score may have.
    pub fn range(self) -> &'static str {
        match self {
            Self::Binary => "0 or 1",
            Self::Fraction => "0 to 1",
            Self::Unbounded => "0 and up",
        }
    }
}

/// What a metric says about itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MetricInfo {
    id: &'static str,
    summary: &'static str,
    kind: MetricKind,
    reads: Reads,
    needs: Option<&'static str>,
    higher_is_better: bool,
    is_of_sqlite: bool,
}

impl MetricInfo {
    /// A metric of any engine whose greater values are better.
    pub(crate) const fn new(id: &'static str, summary: &'static str, kind: MetricKind, reads: Reads) -> Self {
        Self { id, summary, kind, reads, needs: None, higher_is_better: true, is_of_sqlite: false }
    }

    /// With what it needs, where that is more than what it reads tells.
    pub(crate) const fn needs(self, needs: &'static str) -> Self {
        Self { needs: Some(needs), ..self }
    }

    /// A cost.
    pub(crate) const fn less_is_better(self) -> Self {
        Self { higher_is_better: false, ..self }
    }

    /// Null on other engines than SQLite.
    pub(crate) const fn of_sqlite(self) -> Self {
        Self { is_of_sqlite: true, ..self }
    }
}

/// One metric. Its contract is the documentation at the head of its file.
pub trait Metric: Send + Sync {
    /// What it is; the other methods but `score` read it.
    fn info(&self) -> MetricInfo;

    /// Scores one prediction against one gold.
    fn score(&self, pair: &Pair<'_>) -> Score;

    /// Id with version: `ex-spider@1`. A change of meaning makes a new version.
    fn id(&self) -> &'static str {
        self.info().id
    }

    /// One sentence that says what it measures.
    fn summary(&self) -> &'static str {
        self.info().summary
    }

    /// What its values mean.
    fn kind(&self) -> MetricKind {
        self.info().kind
    }

    /// What it reads of the prediction's rows.
    fn reads(&self) -> Reads {
        self.info().reads
    }

    /// What it needs to score a pair, in a few words.
    fn needs(&self) -> &'static str {
        let info = self.info();
        info.needs.unwrap_or(match info.reads {
            Reads::NoRows => "the schema: runs nothing",
            Reads::Bag | Reads::Set | Reads::Everything => "the database: runs both queries",
        })
    }

    /// Whether more is better; only costs differ.
    fn higher_is_better(&self) -> bool {
        self.info().higher_is_better
    }

    /// Whether it reads texts or rows by SQLite's rules, or is defined by a script that runs SQLite. On another engine it is null.
    fn is_of_sqlite(&self) -> bool {
        self.info().is_of_sqlite
    }
}

/// A metric's verdict on one pair.
#[derive(Debug, Clone, PartialEq)]
pub struct Score {
    /// The value; `None` where the metric does not apply, which is never 0.
    pub value: Option<f64>,
    /// What explains the value. `reason` is in words for people; `gold_failed` and `status` name the
    /// outcome of a gold or a prediction that did not run.
    pub detail: MetricDetail,
    /// What was found of the pair, by a metric that verifies.
    pub verdict: Option<Box<VerdictRecord>>,
}

impl Score {
    /// A value with nothing to explain.
    pub fn new(value: f64) -> Self {
        Self { value: Some(value), detail: MetricDetail::default(), verdict: None }
    }

    /// 1 if the prediction is right, else 0.
    pub fn binary(right: bool) -> Self {
        Self::new(f64::from(u8::from(right)))
    }

    /// No value, because the metric does not apply.
    pub fn inapplicable(reason: impl Into<String>) -> Self {
        Self { value: None, detail: MetricDetail::default(), verdict: None }.because(reason)
    }

    /// No value, because the analysis takes more steps than it may.
    pub(crate) fn too_complex(cause: TooComplex) -> Self {
        Self::inapplicable(cause.to_string()).with("too_complex", true)
    }

    /// The score of a prediction that is no query over the schema: 0, or null where its analysis takes too many steps,
    /// so that nobody knows.
    pub(crate) fn unresolved_prediction(error: &ResolveError) -> Self {
        match error.kind() {
            ErrorKind::TooComplex(cause) => Self::too_complex(*cause),
            _ => Self::new(0.0).because(format!("the prediction does not resolve: {error}")),
        }
    }

    /// Adds the reason in words.
    #[must_use]
    pub fn because(self, reason: impl Into<String>) -> Self {
        self.with("reason", reason.into())
    }

    /// Adds one entry of detail.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.detail = self.detail.with(name, value);
        self
    }
}
