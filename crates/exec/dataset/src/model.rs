//! What a benchmark is once it has been read: examples and predictions, whatever format they came in.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::pairing::PairedBy;

/// One question with its accepted answers.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Example {
    /// The benchmark's own id; the position as text where the format has none.
    pub id: String,
    /// Position in the gold file, from 0, blank lines not counted.
    pub index: usize,
    /// The database that the question is about.
    pub db_id: String,
    /// The question, where the source has it.
    pub question: Option<String>,
    /// BIRD's evidence (external knowledge), where the source has it.
    pub evidence: Option<String>,
    /// The accepted gold queries as written; at least one in a benchmark, none in a workload
    /// ([`crate::load_workload`]).
    pub golds: Vec<String>,
    /// The benchmark's own difficulty label (BIRD: simple, moderate, challenging).
    pub difficulty: Option<String>,
    /// Place in a conversation (`SParC`, `CoSQL`).
    pub turn: Option<Turn>,
    /// The schema as DDL that the item brings with it, in a workload of which each item may have its own.
    #[serde(default)]
    pub ddl: Option<String>,
    /// In an evolved benchmark: the position of the item that it was made from, in the original.
    #[serde(default)]
    pub source_index: Option<usize>,
    /// In an evolved benchmark: the database of that item.
    #[serde(default)]
    pub source_db_id: Option<String>,
}

impl Example {
    /// An item of which nothing but its place and its database is known.
    pub fn bare(id: String, index: usize, db_id: String) -> Self {
        Self { id, index, db_id, ..Self::default() }
    }

    /// Whether it asks the same about the same database, with the same golds.
    pub(crate) fn repeats(&self, other: &Self) -> bool {
        (&self.question, &self.golds, &self.db_id) == (&other.question, &other.golds, &other.db_id)
    }

    /// The database that the item is about or, of an evolved one, was about.
    pub fn original_db_id(&self) -> &str {
        self.source_db_id.as_deref().unwrap_or(&self.db_id)
    }
}

/// Place of a question in a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turn {
    /// Interaction, from 0.
    pub interaction: usize,
    /// Turn within the interaction, from 1.
    pub turn: usize,
}

/// A set of examples and where it came from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Benchmark {
    /// Examples in the order of the gold file.
    pub examples: Vec<Example>,
    /// The files that it was read from.
    pub sources: Vec<PathBuf>,
    /// Whether the examples have ids of their own, and not their positions.
    #[serde(default)]
    pub has_ids: bool,
    /// Repairs that reading made, for people: `"gold.sql: line 17: invalid UTF-8 replaced by U+FFFD"`.
    #[serde(default)]
    pub notes: Vec<String>,
}

impl Benchmark {
    /// Whether no example names its database: all are about one.
    pub fn names_no_database(&self) -> bool {
        self.examples.iter().all(|example| example.db_id.is_empty())
    }

    /// Number of interactions; 0 when the examples are not conversations.
    pub fn interactions(&self) -> usize {
        self.examples.iter().filter_map(|e| e.turn).map(|t| t.interaction + 1).max().unwrap_or(0)
    }
}

/// What one system predicted for one example.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Prediction {
    /// The id of the example.
    pub id: String,
    /// The predicted text exactly as the source has it (line ends and a byte order mark removed).
    pub sql: String,
    /// How sure the system was of it, in [0, 1], where the source says so: its column `confidence`, else `e` to the
    /// power of `sum_logprob`, which is the probability of the whole text.
    #[serde(default)]
    pub confidence: Option<f64>,
    /// The queries before it, where it is the last of a transcript.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub earlier: Option<Box<EarlierQueries>>,
}

/// The queries of a transcript before the one that is scored.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct EarlierQueries {
    /// The last of them, in their order.
    pub last: Vec<String>,
    /// How many more there are before those.
    pub omitted: usize,
}

/// All predictions of one system, matched to a benchmark.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PredictionSet {
    pub system: String,
    /// By position in the benchmark; `None` where the system gave no answer.
    pub predictions: Vec<Option<Prediction>>,
    /// The file that it was read from.
    pub source: PathBuf,
    /// By what its answers were paired with the examples.
    #[serde(default)]
    pub paired_by: PairedBy,
    /// Repairs that reading made, for people: `"line 17: invalid UTF-8 replaced"`.
    pub notes: Vec<String>,
    /// Extra named columns per id that the source had (model, …).
    pub extra: BTreeMap<String, serde_json::Value>,
}
