//! Counts what was generated, kept and dropped, and why.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::budget::Spending;
use crate::check::RejectionReason;
use crate::pair::SynthPair;
use crate::related::{Contradiction, QueryRelation, RelatedQueries};
use crate::tier::Tier;

/// The counts of a database, or of a whole corpus.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CorpusTally {
    /// Pairs.
    pub pairs: u64,
    /// Of these, second questions for the query of another pair.
    #[serde(default)]
    pub again: u64,
    /// Pairs by tier.
    pub tiers: BTreeMap<Tier, u64>,
    /// Pairs by levels of queries.
    pub depths: BTreeMap<usize, u64>,
    /// Pairs by operator.
    pub operators: BTreeMap<String, u64>,
    /// Pairs by the style of the question; those without a question have none.
    pub styles: BTreeMap<String, u64>,
    /// Pairs without a question, by the reason.
    pub without_question: BTreeMap<String, u64>,
    /// Questions of several readings.
    pub ambiguous: u64,
    /// Of these, such that a database separates each further reading from the query.
    pub separated: u64,
    /// Questions with a sentence or an adjective that says nothing of the query.
    pub distracted: u64,
    /// Questions that were given to a model to reword, by what came of it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub polished: BTreeMap<String, u64>,
    /// Queries related to pairs.
    pub related: BTreeMap<QueryRelation, u64>,
    /// Variants that rules made and whose rows are others: defects of a rule or of SQLite.
    pub contradictions: Vec<Contradiction>,
    /// Variants that did not run within the limits, dropped.
    pub unfinished_variants: u64,
    /// Changes for which no witness was found, dropped.
    pub without_witness: u64,
    /// Queries that were made and checked and are no pairs, by the first check that they did not pass.
    pub dropped: BTreeMap<RejectionReason, u64>,
    /// Texts by dialect, and refusals by what the dialect cannot say.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub dialects: BTreeMap<String, BTreeMap<String, u64>>,
    /// How often each column is named by a pair.
    pub columns: BTreeMap<String, u64>,
    /// What was spent.
    pub spending: Spending,
}

fn bump<K: Ord>(counts: &mut BTreeMap<K, u64>, key: K, by: u64) {
    *counts.entry(key).or_default() += by;
}

impl CorpusTally {
    /// Counts a pair.
    pub fn keep(&mut self, pair: &SynthPair) {
        self.pairs += 1;
        bump(&mut self.tiers, pair.tier, 1);
        bump(&mut self.depths, pair.depth, 1);
        pair.operators.iter().for_each(|operator| bump(&mut self.operators, operator.clone(), 1));
        pair.columns.iter().for_each(|column| bump(&mut self.columns, column.clone(), 1));
        if let Some(style) = &pair.style {
            bump(&mut self.styles, style.clone(), 1);
        }
        if let Some(reason) = &pair.question_missing {
            bump(&mut self.without_question, reason.clone(), 1);
        }
        self.ambiguous += u64::from(!pair.other_readings.is_empty());
        let is_separated = pair.separating_databases.iter().all(Option::is_some);
        self.separated += u64::from(!pair.other_readings.is_empty() && is_separated);
        self.distracted += u64::from(!pair.distractors.is_empty());
        if let Some(polished) = &pair.polished {
            bump(&mut self.polished, polished.count(), 1);
        }
    }

    /// Counts the texts of a pair in other dialects.
    pub(crate) fn keep_dialects(&mut self, pair: &SynthPair) {
        for (dialect, text) in &pair.dialects {
            bump(self.dialects.entry(dialect.clone()).or_default(), text.count().to_owned(), 1);
        }
    }

    /// Counts the related queries of a pair.
    pub(crate) fn keep_related(&mut self, queries: &RelatedQueries) {
        queries.related.iter().for_each(|related| bump(&mut self.related, related.relation, 1));
        self.contradictions.extend(queries.contradictions.iter().cloned());
        self.unfinished_variants += queries.unfinished;
        self.without_witness += queries.without_witness;
    }

    /// Counts a query that is no pair.
    pub fn drop(&mut self, reason: RejectionReason) {
        bump(&mut self.dropped, reason, 1);
    }

    /// Adds the counts of another part.
    pub fn add(&mut self, other: Self) {
        self.pairs += other.pairs;
        self.contradictions.extend(other.contradictions);
        self.unfinished_variants += other.unfinished_variants;
        self.without_witness += other.without_witness;
        other.related.into_iter().for_each(|(key, count)| bump(&mut self.related, key, count));
        self.ambiguous += other.ambiguous;
        self.separated += other.separated;
        self.distracted += other.distracted;
        self.spending.add(other.spending);
        other
            .without_question
            .into_iter()
            .for_each(|(key, count)| bump(&mut self.without_question, key, count));
        other.polished.into_iter().for_each(|(key, count)| bump(&mut self.polished, key, count));
        other.tiers.into_iter().for_each(|(key, count)| bump(&mut self.tiers, key, count));
        other.depths.into_iter().for_each(|(key, count)| bump(&mut self.depths, key, count));
        other.operators.into_iter().for_each(|(key, count)| bump(&mut self.operators, key, count));
        other.styles.into_iter().for_each(|(key, count)| bump(&mut self.styles, key, count));
        other.dropped.into_iter().for_each(|(key, count)| bump(&mut self.dropped, key, count));
        for (dialect, counts) in other.dialects {
            let totals = self.dialects.entry(dialect).or_default();
            counts.into_iter().for_each(|(key, count)| bump(totals, key, count));
        }
        other.columns.into_iter().for_each(|(key, count)| bump(&mut self.columns, key, count));
    }
}
