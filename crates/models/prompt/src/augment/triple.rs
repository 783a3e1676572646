//! Question, schema, answer.

use std::collections::BTreeSet;
use std::fmt;

use sqlgauge_base::{Random, seed_of};
use sqlgauge_llm::Prompt;
use sqlgauge_sql::schema::{Schema, TableKind};
use sqlgauge_sql::{Features, resolve, schema_text};

use super::example::ChatExample;
use crate::prompts::SQLITE;

/// A question over one schema.
#[derive(Debug, Clone, Copy)]
pub struct Triple<'a> {
    /// The original database.
    pub source_db_id: &'a str,
    /// Position of the item in the original file, from 0.
    pub source_index: usize,
    /// What the schema is: `original`, a kind of change, a step.
    pub kind: &'a str,
    pub question: &'a str,
    /// External knowledge that comes with it.
    pub evidence: Option<&'a str>,
    pub schema: &'a Schema,
    /// The answer: a query, or a sentence where there is none.
    pub answer: &'a str,
    /// The tables that are shown in any case, in place of those that the answer reads.
    pub relevant: Option<&'a Schema>,
}

/// How examples are made.
#[derive(Debug, Clone, PartialEq)]
pub struct AugmentSettings {
    pub prompt: Prompt,
    /// Tables that the answer does not read, at most; `None` is all of them.
    pub irrelevant_tables: Option<usize>,
    /// Seed of what is drawn.
    pub seed: u64,
}

/// Why a triple makes no example.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SkippedTriple {
    NoQuestion,
    /// The answer cannot be resolved over the schema.
    Unresolved,
}

impl fmt::Display for SkippedTriple {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoQuestion => "without a question",
            Self::Unresolved => "with an answer that cannot be resolved over its schema",
        })
    }
}

impl Triple<'_> {
    /// The example.
    ///
    /// # Errors
    /// [`SkippedTriple`] when the triple makes no example.
    pub fn example(&self, settings: &AugmentSettings) -> Result<ChatExample, SkippedTriple> {
        if self.question.trim().is_empty() {
            return Err(SkippedTriple::NoQuestion);
        }
        let schema = schema_text(&self.shown_schema(&self.relevant()?, settings));
        let evidence = self.evidence.unwrap_or_default().trim();
        let (system, user) = settings.prompt.fill(|name| {
            let value = match name {
                "schema" => schema.as_str(),
                "evidence" => evidence,
                "dialect" => SQLITE,
                _ => self.question.trim(),
            };
            value.to_owned()
        });
        Ok(ChatExample::new(self, system, user))
    }

    /// The tables that matter, in lower case.
    fn relevant(&self) -> Result<BTreeSet<String>, SkippedTriple> {
        if let Some(relevant) = self.relevant {
            return Ok(relevant.tables().iter().map(|table| table.name.to_lowercase()).collect());
        }
        let query = resolve(self.answer, self.schema).map_err(|_| SkippedTriple::Unresolved)?;
        Ok(Features::of(&query, self.schema).tables)
    }

    fn shown_schema(&self, relevant: &BTreeSet<String>, settings: &AugmentSettings) -> Schema {
        let tables = self.schema.tables();
        let is_relevant = |at: &usize| relevant.contains(&tables[*at].name.to_lowercase());
        let mut others: Vec<usize> =
            (0..tables.len()).filter(|at| !is_relevant(at) && tables[*at].kind == TableKind::Table).collect();
        let mut random = Random::new([
            settings.seed,
            seed_of(self.source_db_id),
            seed_of(self.kind),
            self.source_index as u64,
        ]);
        random.shuffle(&mut others);
        others.truncate(settings.irrelevant_tables.unwrap_or(usize::MAX));
        let places = (0..tables.len()).filter(|at| is_relevant(at) || others.contains(at));
        Schema::new(places.map(|at| tables[at].clone()).collect())
    }
}

#[cfg(test)]
mod tests {
    use sqlgauge_llm::Placeholders;

    use super::*;

    const DDL: &str =
        "CREATE TABLE a (x INT); CREATE TABLE b (y INT); CREATE TABLE c (z INT); CREATE TABLE d (w INT);";

    fn settings(irrelevant_tables: Option<usize>) -> AugmentSettings {
        let placeholders =
            Placeholders { prompt: "t", required: &["schema", "question"], optional: &["evidence"] };
        let text = "# System\nS\n# User\n{{schema}}\n{{evidence}}\n{{question}}";
        AugmentSettings { prompt: Prompt::parse(text, placeholders).unwrap(), irrelevant_tables, seed: 7 }
    }

    fn triple<'a>(schema: &'a Schema, answer: &'a str) -> Triple<'a> {
        let (source_db_id, kind, question) = ("shop", "original", "Which?");
        Triple {
            source_db_id,
            source_index: 3,
            kind,
            question,
            evidence: None,
            schema,
            answer,
            relevant: None,
        }
    }

    #[test]
    fn what_the_answer_reads_is_shown_and_as_many_others_as_wanted() {
        let schema = Schema::from_ddl(DDL).unwrap();
        let user = |irrelevant| {
            let example = triple(&schema, "SELECT y FROM b").example(&settings(irrelevant)).unwrap();
            example.messages[1].content.clone()
        };
        assert_eq!(user(Some(0)), "CREATE TABLE b (y INT);\nWhich?");
        assert_eq!(user(Some(2)).lines().count(), 4);
        assert_eq!(user(None).lines().count(), 5);
        assert_eq!(user(Some(2)), user(Some(2)));
    }

    #[test]
    fn what_makes_no_example_says_why() {
        let schema = Schema::from_ddl(DDL).unwrap();
        let lacking = triple(&schema, "SELECT y FROM nothing").example(&settings(None));
        assert_eq!(lacking, Err(SkippedTriple::Unresolved));
        let blank = Triple { question: " ", ..triple(&schema, "SELECT y FROM b") };
        assert_eq!(blank.example(&settings(None)), Err(SkippedTriple::NoQuestion));
        let relevant = Schema::from_ddl("CREATE TABLE c (z INT)").unwrap();
        let none = Triple { relevant: Some(&relevant), ..triple(&schema, "It cannot be answered.") };
        let example = none.example(&settings(Some(0))).unwrap();
        assert_eq!(example.messages[1].content, "CREATE TABLE c (z INT);\nWhich?");
        assert_eq!(example.messages[2].content, "It cannot be answered.");
    }
}
