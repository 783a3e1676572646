//! A pair as it is written: one line of JSON.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::asking::QuestionOutcome;
use crate::check::CheckedQuery;
use crate::data::{FieldColumn, FieldKind};
use crate::dialects::DialectText;
use crate::operators::OperatorId;
use crate::polish::Polished;
use crate::shape::QueryMeasures;
use crate::tier::Tier;

/// A query with its question and what is known of both.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SynthPair {
    /// The database and the place in it, unique in the corpus; a second question for the same query has `-2` after it.
    pub id: String,
    /// The database.
    pub db_id: String,
    /// The question; null for a query without one.
    pub question: Option<String>,
    /// Why there is no question; null where there is one.
    pub question_missing: Option<String>,
    /// The turns of a dialogue; empty for a question of one turn. Joined by line feeds they are the question.
    pub turns: Vec<String>,
    /// The style of the question.
    pub style: Option<String>,
    /// Stretches of the question that say nothing of the query.
    pub distractors: Vec<String>,
    /// Stretches of the question that are a value without the quotes or digits that would tell it from words.
    pub implicit_values: Vec<String>,
    /// Stretches of the question that call a column by another name than the schema's.
    pub other_names: Vec<String>,
    /// Queries that the question may mean as well; accept answers to them.
    pub other_readings: Vec<String>,
    /// For each of these, a script of a database on which it returns other rows than `sql`; null where the search found
    /// none, so that the two may be equal.
    pub separating_databases: Vec<Option<String>>,
    /// The question in a model's words, where they were asked for.
    #[serde(default)]
    pub polished: Option<Polished>,
    /// The query, as SQL of the engine that ran it.
    pub sql: String,
    /// The query in other dialects, where they were asked for; in SQLite's where a server ran it.
    #[serde(default)]
    pub dialects: BTreeMap<String, DialectText>,
    /// How difficult it is.
    pub tier: Tier,
    /// Which of the 42 operators it has, in the order of the registry.
    pub operators: Vec<String>,
    /// Levels of queries, 1 without subqueries.
    pub depth: usize,
    /// Joins, on all levels.
    pub joins: usize,
    /// Tables that it reads, lower case.
    pub tables: Vec<String>,
    /// Columns that it names, as `table.column`, lower case.
    pub columns: Vec<String>,
    pub rows: usize,
    /// Columns of its result.
    pub width: usize,
}

impl SynthPair {
    /// Its fields, in order, as columns of a table.
    pub const COLUMNS: &'static [FieldColumn] = &[
        FieldColumn { name: "id", kind: FieldKind::Text },
        FieldColumn { name: "db_id", kind: FieldKind::Text },
        FieldColumn { name: "question", kind: FieldKind::Text },
        FieldColumn { name: "question_missing", kind: FieldKind::Text },
        FieldColumn { name: "turns", kind: FieldKind::Texts },
        FieldColumn { name: "style", kind: FieldKind::Text },
        FieldColumn { name: "distractors", kind: FieldKind::Texts },
        FieldColumn { name: "implicit_values", kind: FieldKind::Texts },
        FieldColumn { name: "other_names", kind: FieldKind::Texts },
        FieldColumn { name: "other_readings", kind: FieldKind::Texts },
        FieldColumn { name: "separating_databases", kind: FieldKind::Texts },
        FieldColumn { name: "polished", kind: FieldKind::Json },
        FieldColumn { name: "sql", kind: FieldKind::Text },
        FieldColumn { name: "dialects", kind: FieldKind::Json },
        FieldColumn { name: "tier", kind: FieldKind::Text },
        FieldColumn { name: "operators", kind: FieldKind::Texts },
        FieldColumn { name: "depth", kind: FieldKind::Integer },
        FieldColumn { name: "joins", kind: FieldKind::Integer },
        FieldColumn { name: "tables", kind: FieldKind::Texts },
        FieldColumn { name: "columns", kind: FieldKind::Texts },
        FieldColumn { name: "rows", kind: FieldKind::Integer },
        FieldColumn { name: "width", kind: FieldKind::Integer },
    ];

    /// The same query with another question; its number is that of the first with `-2`.
    #[must_use]
    pub fn asked_again(&self, outcome: QuestionOutcome) -> Self {
        let id = format!("{}-2", self.id);
        Self { id, polished: None, separating_databases: Vec::new(), ..self.clone() }.with_question(outcome)
    }

    fn with_question(self, outcome: QuestionOutcome) -> Self {
        Self {
            question: outcome.question,
            question_missing: outcome.missing,
            turns: outcome.turns,
            style: outcome.style.map(|style| style.name().to_owned()),
            distractors: outcome.distractors,
            implicit_values: outcome.implicit_values,
            other_names: outcome.other_names,
            other_readings: outcome.other_readings,
            ..self
        }
    }

    /// The pair of a query that passed all checks.
    pub fn new(
        db_id: &str,
        number: u64,
        checked: &CheckedQuery,
        shape: &QueryMeasures,
        outcome: QuestionOutcome,
    ) -> Self {
        let columns = shape.features.columns.iter().map(|(table, column)| format!("{table}.{column}"));
        Self {
            id: format!("{db_id}-{number:06}"),
            db_id: db_id.to_owned(),
            question: outcome.question,
            question_missing: outcome.missing,
            turns: outcome.turns,
            style: outcome.style.map(|style| style.name().to_owned()),
            distractors: outcome.distractors,
            implicit_values: outcome.implicit_values,
            other_names: outcome.other_names,
            other_readings: outcome.other_readings,
            separating_databases: Vec::new(),
            polished: None,
            sql: checked.sql.clone(),
            dialects: BTreeMap::new(),
            tier: Tier::of(shape),
            operators: OperatorId::names_in(shape).into_iter().map(str::to_owned).collect(),
            depth: shape.features.depth,
            joins: shape.features.joins,
            tables: shape.features.tables.iter().cloned().collect(),
            columns: columns.collect(),
            rows: checked.rows.len(),
            width: checked.rows.width(),
        }
    }
}
