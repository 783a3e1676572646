//! The question of a pair.
//!
//! # Contract
//! A question is asked by crate `questions`, which gives none that does not read back as its query. A query without one is
//! kept without, with the reason; other queries are tried first.

use sqlgauge_base::Random;
use sqlgauge_questions::{Manner, Mark, QuestionStyle, Speech, Unsayable};
use sqlgauge_sql::tree::Query;

use crate::check::Checker;
use crate::grammar::weighted;

/// How questions are asked.
#[derive(Debug, Clone, PartialEq)]
pub struct Asking {
    /// The styles; each question has one of them, drawn by [`StyleMeta::share`](sqlgauge_questions::StyleMeta::share). Empty: no questions.
    pub styles: Vec<QuestionStyle>,
    /// Of how many questions a sentence or an adjective says nothing of the query, from 0 to 1.
    pub distractors: f64,
    /// Of how many queries there is a second question in another style, from 0 to 1.
    pub again: f64,
}

/// A question, or the reason for its absence.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct QuestionOutcome {
    /// The whole text.
    pub question: Option<String>,
    /// Why there is none.
    pub missing: Option<String>,
    /// The turns of a dialogue; empty for a question of one turn.
    pub turns: Vec<String>,
    pub style: Option<QuestionStyle>,
    /// Stretches that say nothing of the query.
    pub distractors: Vec<String>,
    /// Stretches that are a value without the quotes or digits that would tell it from words.
    pub implicit_values: Vec<String>,
    /// Stretches that call a column by another name than the schema's.
    pub other_names: Vec<String>,
    /// Other queries that the question may mean.
    pub other_readings: Vec<String>,
}

impl Asking {
    pub fn style(&self, random: &mut Random) -> Option<QuestionStyle> {
        let shares: Vec<f64> = self.styles.iter().map(|style| f64::from(style.meta().share)).collect();
        self.styles.get(weighted(&shares, random)?).copied()
    }

    /// A second question for a query that was asked in a style, in another one; nothing where none is wanted, none can be
    /// asked, or it says the same.
    pub fn ask_again(
        &self,
        first: (&str, QuestionStyle),
        query: &Query,
        (checker, speech): (&Checker<'_>, &Speech<'_>),
        random: &mut Random,
    ) -> Option<QuestionOutcome> {
        if random.unit() >= self.again {
            return None;
        }
        let (text, style) = first;
        let styles = self.styles.iter().copied().filter(|other| *other != style).collect();
        let others = Self { styles, distractors: self.distractors, again: 0.0 };
        let style = others.style(random);
        let second = others.ask(query, style, (checker, speech), random);
        second.question.as_deref().is_some_and(|second| second != text).then_some(second)
    }

    /// Asks for a query, if in any style.
    pub fn ask(
        &self,
        query: &Query,
        style: Option<QuestionStyle>,
        (checker, speech): (&Checker<'_>, &Speech<'_>),
        random: &mut Random,
    ) -> QuestionOutcome {
        let Some(style) = style else {
            return QuestionOutcome { missing: Some("not_asked".to_owned()), ..QuestionOutcome::default() };
        };
        let distractor = random.unit() < self.distractors;
        let question = match speech.ask(query, Manner { style, distractor }, random) {
            Ok(question) => question,
            Err(unsayable) => {
                return QuestionOutcome { missing: Some(code(&unsayable)), ..QuestionOutcome::default() };
            }
        };
        let printed = question.other_readings.iter().map(|other| checker.text(other));
        let Some(other_readings) = printed.collect::<Option<Vec<_>>>() else {
            return QuestionOutcome {
                missing: Some("unprintable_reading".to_owned()),
                ..QuestionOutcome::default()
            };
        };
        QuestionOutcome {
            question: Some(question.text()),
            missing: None,
            style: Some(style),
            distractors: stretches(&question.turns, &question.marks),
            implicit_values: stretches(&question.turns, &question.implicit_values),
            other_names: stretches(&question.turns, &question.other_names),
            other_readings,
            turns: if question.turns.len() > 1 { question.turns } else { Vec::new() },
        }
    }
}

fn stretches(turns: &[String], marks: &[Mark]) -> Vec<String> {
    let text = |mark: &Mark| turns.get(mark.turn)?.get(mark.bytes.clone()).map(str::to_owned);
    marks.iter().filter_map(text).collect()
}

/// The reason in a word or two, without the text at hand.
fn code(unsayable: &Unsayable) -> String {
    match unsayable {
        Unsayable::Construct { construct } => format!("no_words: {construct}"),
        Unsayable::OtherSchema { what } => format!("other_schema: {what}"),
        Unsayable::NotReadBack { .. } => "not_read_back".to_owned(),
    }
}
