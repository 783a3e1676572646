//! Rewords questions by a language model.
//!
//! # Contract
//! A pair keeps the question of the grammar, which reads back as its query. Beside it stands the model's wording, or why
//! there is none ([`Polished`]). A wording has every value of the question: numbers, texts in quotes, and the words that
//! stand for a value without them. Whether it means the query, nobody knows. As evidence the writer is asked for the SQL of its own wording, with nothing but the schema: that it
//! returns the pair's rows, in the order that the pair asks for, is `agrees`. A writer that answers wrongly, or rewords
//! wrongly, does not agree, so that pairs are marked and none is dropped: a corpus of what one model can answer would be
//! easier than it looks.
//!
//! Which pairs are reworded follows from the seed. Dialogues, and questions of several readings, keep their words alone.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sqlgauge_base::{Random, budget, seed_of};
use sqlgauge_dataset::extract_sql;
use sqlgauge_engine::compare::{GoldOrder, Semantics};
use sqlgauge_sql::schema::Schema;
use sqlgauge_sql::{expanded_size, resolve};

use crate::check::{CheckedQuery, Checker};
use crate::pair::SynthPair;

/// Most bytes of a wording, and of an answer that is run.
const MAX_BYTES: usize = 16_384;
/// Most expressions that SQLite's compiler may make of an answer.
const MAX_EXPANSION: f64 = 1e5;

/// What rewords, and what share of the questions.
#[derive(Debug, Clone)]
pub struct Polish {
    /// The share of the questions, from 0 to 1.
    pub share: f64,
    pub writer: Arc<dyn Writer>,
}

/// What writes wordings, and SQL for them.
pub trait Writer: fmt::Debug + Send + Sync {
    /// What it is, for the record.
    fn name(&self) -> String;

    /// Other words for each of the questions, given with their SQL.
    ///
    /// # Errors
    /// When one has no answer: what is said next time would make another corpus.
    fn reword(&self, schema: &Schema, questions: &[(&str, &str)]) -> Result<Vec<PolishedText>, WriterError>;

    /// SQL for each of the questions.
    ///
    /// # Errors
    /// When one has no answer.
    fn answer(&self, schema: &Schema, questions: &[&str]) -> Result<Vec<PolishedText>, WriterError>;
}

/// What was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolishedText {
    pub text: String,
    /// Whether it was written to its end.
    pub is_whole: bool,
}

/// Why nothing was written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("--polish has no answer: {message}")]
pub struct WriterError {
    /// What went wrong.
    pub message: String,
    /// Whether it was asked to stop.
    pub is_cancelled: bool,
}

/// What came of rewording a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Polished {
    /// Other words.
    Wording {
        /// The question in these.
        question: String,
        /// Whether the writer's own SQL for them returns the pair's rows.
        agrees: bool,
    },
    /// None that can be kept.
    Refused {
        /// Why not.
        refused: WordingRefusal,
    },
}

sqlgauge_base::named! {
    /// Why a wording is not kept.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum WordingRefusal by name {
        /// The answer has no wording.
        Empty = "empty",
        /// It was cut off, or is too long.
        Truncated = "truncated",
        /// It is of several lines: an explanation, or several questions.
        SeveralLines = "several_lines",
        /// It is SQL, or has some.
        Sql = "sql",
        /// It is the question as it was.
        Unchanged = "unchanged",
        /// A value of the question is not in it.
        ValueLost = "value_lost",
        /// A number is in it that the question has not.
        ValueAdded = "value_added",
    }
}

impl Polished {
    /// What it counts as in the data card.
    pub fn count(&self) -> String {
        match self {
            Self::Wording { agrees: true, .. } => "agrees".to_owned(),
            Self::Wording { agrees: false, .. } => "differs".to_owned(),
            Self::Refused { refused } => format!("refused: {}", refused.name()),
        }
    }
}

impl Polish {
    /// Rewords the questions of some pairs.
    pub(crate) fn reword(
        &self,
        seed: u64,
        (schema, checker): (&Schema, &Checker<'_>),
        pairs: &mut [(SynthPair, CheckedQuery)],
    ) -> Result<(), WriterError> {
        let mut chosen: Vec<&mut (SynthPair, CheckedQuery)> =
            pairs.iter_mut().filter(|(pair, _)| self.takes(seed, pair)).collect();
        if chosen.is_empty() {
            return Ok(());
        }
        let questions: Vec<(&str, &str)> = chosen
            .iter()
            .map(|(pair, _)| (pair.question.as_deref().unwrap_or_default(), &*pair.sql))
            .collect();
        let written = self.writer.reword(schema, &questions)?;
        let originals = questions.iter().zip(&chosen);
        let wordings: Vec<Result<String, WordingRefusal>> = written
            .iter()
            .zip(originals)
            .map(|(written, ((question, _), (pair, _)))| wording(question, &pair.implicit_values, written))
            .collect();
        let texts: Vec<&str> = wordings.iter().flatten().map(String::as_str).collect();
        let mut answers = self.writer.answer(schema, &texts)?.into_iter();
        for ((pair, checked), wording) in chosen.iter_mut().zip(wordings) {
            pair.polished = Some(match wording {
                Ok(question) => {
                    let agrees = answers.next().is_some_and(|sql| agrees(&sql, checked, schema, checker));
                    Polished::Wording { question, agrees }
                }
                Err(refused) => Polished::Refused { refused },
            });
        }
        Ok(())
    }

    fn takes(&self, seed: u64, pair: &SynthPair) -> bool {
        let is_plain = pair.question.is_some() && pair.turns.is_empty() && pair.other_readings.is_empty();
        is_plain && Random::new([seed, seed_of("polish"), seed_of(&pair.id)]).unit() < self.share
    }
}

/// The wording in an answer, if it can be kept.
fn wording(
    question: &str,
    implicit_values: &[String],
    written: &PolishedText,
) -> Result<String, WordingRefusal> {
    let text = written.text.trim();
    let quotes = [('"', '"'), ('“', '”')];
    let unquoted = quotes.iter().find_map(|&(open, close)| text.strip_prefix(open)?.strip_suffix(close));
    let text = unquoted.filter(|inner| !inner.contains('"')).unwrap_or(text).trim();
    let problem = if text.is_empty() {
        Some(WordingRefusal::Empty)
    } else if !written.is_whole || text.len() > MAX_BYTES {
        Some(WordingRefusal::Truncated)
    } else if text.lines().count() > 1 {
        Some(WordingRefusal::SeveralLines)
    } else if is_sql(text) {
        Some(WordingRefusal::Sql)
    } else if text == question {
        Some(WordingRefusal::Unchanged)
    } else {
        values_differ(question, implicit_values, text)
    };
    problem.map_or_else(|| Ok(text.to_owned()), Err)
}

/// Whether a text is a query, or has the beginning of one with what must follow it.
fn is_sql(text: &str) -> bool {
    let upper = text.to_ascii_uppercase();
    upper.contains('`') || (upper.contains("SELECT ") && upper.contains(" FROM "))
}

fn values_differ(question: &str, implicit_values: &[String], wording: &str) -> Option<WordingRefusal> {
    let is_lost = quoted(question).into_iter().any(|value| !wording.contains(value))
        || implicit_values.iter().any(|value| !wording.to_lowercase().contains(&value.to_lowercase()));
    let (before, after) = (numbers(question), numbers(wording));
    if is_lost || !before.is_subset(&after) {
        Some(WordingRefusal::ValueLost)
    } else {
        (!after.is_subset(&before)).then_some(WordingRefusal::ValueAdded)
    }
}

/// The texts between quotes: an apostrophe opens where no letter or digit stands before it, and closes where none follows.
fn quoted(text: &str) -> Vec<&str> {
    let is_word = |other: Option<char>| other.is_some_and(char::is_alphanumeric);
    let (mut quotes, mut open) = (Vec::new(), None);
    for (at, _) in text.match_indices('\'') {
        match open {
            None if !is_word(text[..at].chars().next_back()) => open = Some(at + 1),
            Some(from) if !is_word(text[at + 1..].chars().next()) => {
                quotes.push(&text[from..at]);
                open = None;
            }
            _ => {}
        }
    }
    quotes
}

/// The numbers, as they are written but for their sign, for commas between thousands, and for zeros that end a fraction.
fn numbers(text: &str) -> BTreeSet<String> {
    let plain = text.replace(',', "");
    let words = plain.split(|character: char| !character.is_alphanumeric() && character != '.');
    let words = words
        .map(|word| word.trim_matches('.'))
        .map(|word| if word.contains('.') { word.trim_end_matches('0').trim_end_matches('.') } else { word });
    words.filter(|word| word.starts_with(|first: char| first.is_ascii_digit())).map(str::to_owned).collect()
}

/// Whether an answer's SQL returns the rows of the pair.
fn agrees(answer: &PolishedText, pair: &CheckedQuery, schema: &Schema, checker: &Checker<'_>) -> bool {
    let sql = extract_sql(&answer.text).sql;
    let is_small = |sql: &str| {
        let Ok(query) = resolve(sql, schema) else { return false };
        budget::analyse(sql.len(), || expanded_size(&query)).is_ok_and(|size| size <= MAX_EXPANSION)
    };
    // The queries of a corpus run in this process, and a model's are no more to be trusted than anybody's.
    if sql.len() > MAX_BYTES || !is_small(&sql) {
        return false;
    }
    let order = GoldOrder::of(&pair.rows, &pair.query, schema, |sql| checker.rows(sql));
    checker.rows(&sql).is_some_and(|rows| {
        Semantics::Ex.difference((&pair.rows, &order), (&rows, &GoldOrder::Unordered)).is_none()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(question: &str, text: &str) -> Result<String, WordingRefusal> {
        wording(question, &[], &PolishedText { text: text.to_owned(), is_whole: true })
    }

    #[test]
    fn a_value_without_quotes_is_kept_too() {
        let of = |text: &str| {
            let written = PolishedText { text: text.to_owned(), is_whole: true };
            wording("schools whose league is DSHA", &["DSHA".to_owned()], &written)
        };
        assert!(of("Which schools play in the dsha?").is_ok());
        assert_eq!(of("Which schools meet the criteria?"), Err(WordingRefusal::ValueLost));
    }

    #[test]
    fn a_wording_keeps_every_number_and_quoted_text() {
        let question = "the singers' names whose country is 'Côte d'Ivoire' and whose age is over 1,200.5";
        let rewording = "Who comes from Côte d'Ivoire and is older than 1200.5?";
        assert_eq!(of(question, rewording).as_deref(), Ok(rewording));
        assert_eq!(of(question, &format!(" \"{rewording}\"\n")).as_deref(), Ok(rewording));
        assert_eq!(
            of(question, "Who comes from France and is older than 1200.5?"),
            Err(WordingRefusal::ValueLost)
        );
        assert_eq!(
            of(question, "Who comes from Côte d'Ivoire and is older than 120?"),
            Err(WordingRefusal::ValueLost)
        );
        assert_eq!(of(question, &format!("{rewording} Name 3.")), Err(WordingRefusal::ValueAdded));
        assert_eq!(of("singers of 'A' or 'B'", "Who is of A?"), Err(WordingRefusal::ValueLost));
        assert!(of("singers over 40.0", "Who is over 40?").is_ok());
        assert_eq!(of("singers over 40", "Who is over 4.0?"), Err(WordingRefusal::ValueLost));
    }

    #[test]
    fn what_is_no_wording_is_refused_by_name() {
        assert_eq!(of("all ages", " \n"), Err(WordingRefusal::Empty));
        assert_eq!(of("all ages", "\"\""), Err(WordingRefusal::Empty));
        assert_eq!(of("all ages", "all ages "), Err(WordingRefusal::Unchanged));
        assert_eq!(of("all ages", "How old?\nHere you are."), Err(WordingRefusal::SeveralLines));
        assert_eq!(of("all ages", "SELECT age FROM singer"), Err(WordingRefusal::Sql));
        assert_eq!(of("all ages", "What is `age` of all?"), Err(WordingRefusal::Sql));
        assert_eq!(of("all ages", &"How old are they? ".repeat(1000)), Err(WordingRefusal::Truncated));
        let cut = PolishedText { text: "How old".to_owned(), is_whole: false };
        assert_eq!(wording("all ages", &[], &cut), Err(WordingRefusal::Truncated));
    }

    #[test]
    fn a_refusal_is_called_as_it_is_written() {
        for refusal in [
            WordingRefusal::Empty,
            WordingRefusal::SeveralLines,
            WordingRefusal::Sql,
            WordingRefusal::ValueLost,
            WordingRefusal::ValueAdded,
        ] {
            assert_eq!(serde_json::to_value(refusal).unwrap(), refusal.name());
        }
    }
}
