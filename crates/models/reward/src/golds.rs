//! Golds that have run.

use std::sync::Arc;

use sqlgauge_engine::{Execution, Failure, FailureKind, ResultSet, Value};
use sqlgauge_metrics::{GoldFacts, Pair};

use crate::answering::Answering;
use crate::reads::reads_table;
use crate::subject::Subject;

/// A gold with what follows from it and its database.
#[derive(Debug)]
pub(crate) struct Gold {
    pub(crate) text: String,
    /// What all texts share that SQLite cannot tell from it.
    pub(crate) key: String,
    /// `None` where no kind of reward asks for rows.
    pub(crate) execution: Option<Execution>,
    pub(crate) facts: GoldFacts,
    /// Whether it reads a table; taken for true where it cannot be resolved.
    pub(crate) reads_table: bool,
    /// Whether it names DISTINCT, so that its question is about what repeats.
    pub(crate) asks_about_repeats: bool,
}

impl Gold {
    /// Runs a gold and asks for the order of its rows, or only resolves it.
    pub(crate) fn of(
        (text, key): (&str, String),
        subject: &Subject,
        engine: &Answering<'_>,
        runs: bool,
    ) -> Self {
        let facts = GoldFacts::default();
        let pair = Pair::new(engine, &subject.target, text, "", None).sharing(&facts);
        let execution = runs.then(|| pair.run_gold(&subject.target.database, text));
        if let Some(rows) = execution.as_ref().and_then(Execution::rows) {
            pair.gold_order(rows);
        }
        let reads_table = pair.gold_query().map_or(true, reads_table);
        drop(pair);
        let mut words = text.split(|c: char| !c.is_alphanumeric());
        let asks_about_repeats = words.any(|word| word.eq_ignore_ascii_case("distinct"));
        Self { text: text.to_owned(), key, execution, facts, reads_table, asks_about_repeats }
    }

    pub(crate) fn rows(&self) -> Option<&Arc<ResultSet>> {
        self.execution.as_ref().and_then(Execution::rows)
    }

    /// Why the benchmark has no rows. A gold without a statement is no gold.
    pub(crate) fn failure(&self) -> Option<&Failure> {
        self.execution.as_ref().and_then(|execution| execution.outcome.failure())
    }

    /// Whether the file or the machine was at fault.
    pub(crate) fn broken_file(&self) -> Option<&Failure> {
        self.failure()
            .filter(|failure| matches!(failure.kind, FailureKind::DatabaseError | FailureKind::Machine))
    }

    /// Bytes that it holds, the analysis taken for a multiple of its text.
    pub(crate) fn bytes(&self) -> usize {
        let values = self.rows().map_or(0, |rows| {
            let owned = |value: &Value| match value {
                Value::Text(bytes) | Value::Blob(bytes) => bytes.len(),
                Value::Decimal(decimal) => decimal.as_str().len(),
                Value::Null | Value::Integer(_) | Value::Real(_) => 0,
            };
            rows.values().iter().map(|value| size_of::<Value>() + owned(value)).sum::<usize>()
                + rows.len() * size_of::<usize>()
        });
        size_of::<Self>() + 16 * self.text.len() + values
    }
}
