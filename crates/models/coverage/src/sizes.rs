//! Tables I and II: how large a corpus is, and how difficult.

use std::collections::BTreeMap;

use serde::Serialize;

/// What Tables I and II say of a corpus, and what a reader wants to know besides.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Sizes {
    /// Pairs of a question and a query; an example with several golds is one, and its first gold is looked at.
    pub examples: usize,
    /// Those of which the query could be resolved: what all figures below are of.
    pub resolved: usize,
    /// Why the others could not, with how many.
    pub not_resolved: BTreeMap<&'static str, usize>,
    /// Different queries of a database: resolved, relations numbered in order, and printed; so names, case, quotes and
    /// blanks make no difference, and constants do.
    pub unique_sql: usize,
    /// Different questions of a database; none if the corpus has no questions.
    pub unique_questions: Option<usize>,
    /// Databases that are asked about.
    pub databases: usize,
    pub tables: usize,
    pub columns: usize,
    pub foreign_keys: usize,
    /// Words of a question, on average; none if the corpus has no questions.
    pub question_words: Option<f64>,
    /// Characters of a query, on average.
    pub sql_characters: Option<f64>,
    /// The operators of the 42 that occur, with the number of queries that have them.
    pub operators: BTreeMap<&'static str, usize>,
    /// The number of queries by their levels of nesting.
    pub depths: BTreeMap<usize, usize>,
    /// The number of queries of each tier.
    pub tiers: BTreeMap<&'static str, usize>,
}

impl Sizes {
    /// The share of the resolved queries that are of a tier; none if there are none.
    pub fn tier_share(&self, tier: &str) -> Option<f64> {
        let count = self.tiers.get(tier).copied().unwrap_or(0);
        (self.resolved > 0).then(|| count as f64 / self.resolved as f64)
    }

    /// The most levels of nesting.
    pub fn deepest(&self) -> Option<usize> {
        self.depths.keys().next_back().copied()
    }
}
