//! Asking and reading over one schema.

use std::ops::Range;

use sqlgauge_base::{Random, budget};
use sqlgauge_sql::aggregates::owners_hold;
use sqlgauge_sql::schema::Schema;
use sqlgauge_sql::tree::Query;

use crate::engine::parse::{MAX_TOKENS, Parser};
use crate::engine::token::tokens;
use crate::engine::tree::Tree;
use crate::engine::write::{Writer, WrittenQuestion};
use crate::grammar::{Category, Grammar, grammar};
use crate::names::Vocabulary;
use crate::speech::{Care, Frame, Hear, Say};
use crate::style::QuestionStyle;
use crate::unsayable::{UnreadableQuestion, Unsayable};
use sqlgauge_sql::canonical::canonical;

/// How many meanings of one text are looked at.
const MAX_MEANINGS: usize = 512;

/// How often a question in which a word stands twice in a row is worded anew.
const DRAWS: usize = 4;

/// How a question is to be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Manner {
    pub style: QuestionStyle,
    /// Whether something is added that says nothing of the query: a sentence or an adjective.
    pub distractor: bool,
}

impl From<QuestionStyle> for Manner {
    fn from(style: QuestionStyle) -> Self {
        Self { style, distractor: false }
    }
}

/// What a marked stretch of a question is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MarkKind {
    /// A sentence that says nothing of the query.
    Distractor,
    /// An adjective that says nothing of the query.
    Modifier,
    /// A value without the quotes or digits that would tell it from words.
    ImplicitValue,
    /// A column called by another name than the schema's.
    OtherName,
}

/// A marked stretch of a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    pub kind: MarkKind,
    pub turn: usize,
    /// Its bytes in that turn.
    pub bytes: Range<usize>,
}

/// A query as it is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// One text, or one for each turn of a dialogue.
    pub turns: Vec<String>,
    /// What stands in it beside the point.
    pub marks: Vec<Mark>,
    /// Values without the quotes or digits that would tell them from words.
    pub implicit_values: Vec<Mark>,
    /// Columns that are called by another name than the schema's.
    pub other_names: Vec<Mark>,
    /// What else it may mean, as canonical queries; nothing for a question with one reading.
    pub other_readings: Vec<Query>,
}

impl Question {
    /// The whole text, a line for each turn.
    pub fn text(&self) -> String {
        self.turns.join("\n")
    }

    /// Whether it may mean something else.
    pub fn is_ambiguous(&self) -> bool {
        !self.other_readings.is_empty()
    }
}

/// The words of one schema, made ready.
#[derive(Debug)]
pub struct Speech<'s> {
    pub(crate) schema: &'s Schema,
    pub(crate) vocabulary: Vocabulary,
    /// What the reader reads by. The writer's is the same; a test that plants a defect gives another one.
    reader: &'static Grammar,
}

impl<'s> Speech<'s> {
    /// The words of a schema.
    pub fn of(schema: &'s Schema) -> Self {
        Self { schema, vocabulary: Vocabulary::of(schema), reader: grammar() }
    }

    /// Reads by another grammar.
    #[cfg(test)]
    pub(crate) fn reading_by(schema: &'s Schema, reader: &'static Grammar) -> Self {
        Self { reader, ..Self::of(schema) }
    }

    /// Writes a query as a question.
    ///
    /// What people leave out is left out first. If that has several readings, the question is written with more care,
    /// in a style that is not vague; if it still has, it is given with all of them.
    ///
    /// # Errors
    /// When the grammar has no words for a construct, the query is of another schema, or no wording reads back.
    pub fn ask(
        &self,
        query: &Query,
        manner: impl Into<Manner>,
        random: &mut Random,
    ) -> Result<Question, Unsayable> {
        let manner = manner.into();
        let wanted = canonical(query, self.schema);
        let mut best: Option<Question> = None;
        let mut last = String::new();
        for care in Care::ALL {
            let written = self.written(&wanted, manner, care, random)?;
            let mut question = question(written);
            last = question.text();
            let Ok(mut readings) = self.read(&last) else { continue };
            let Some(place) = readings.iter().position(|reading| *reading == wanted) else { continue };
            readings.remove(place);
            question.other_readings = readings;
            let is_vague = manner.style.meta().leaves_tables_out;
            let fewer =
                best.as_ref().is_none_or(|best| question.other_readings.len() < best.other_readings.len());
            let done = !question.is_ambiguous() || is_vague;
            if fewer {
                best = Some(question);
            }
            if done {
                break;
            }
        }
        best.ok_or(Unsayable::NotReadBack { text: last })
    }

    /// A query in words; where a word would stand twice in a row, other wordings are tried.
    fn written(
        &self,
        query: &Query,
        manner: Manner,
        care: Care,
        random: &mut Random,
    ) -> Result<WrittenQuestion, Unsayable> {
        let aside = manner.distractor && random.chance(50);
        let frame = Frame { aside, modifier: manner.distractor && !aside };
        let mut draw = || {
            let tree = Say::new(self.schema, &self.vocabulary, manner.style, care, random)
                .question(query, &frame)?;
            let written = Writer::new(grammar(), &self.vocabulary, manner.style, care.leaves_out(), random)
                .write(&tree);
            written.ok_or(Unsayable::construct("a constant that is no text, number or NULL"))
        };
        let mut written = draw()?;
        for _ in 0..DRAWS {
            if !written.turns.iter().any(|turn| stutters(turn)) {
                break;
            }
            written = draw()?;
        }
        Ok(written)
    }

    /// All queries that a text may mean, in canonical form.
    ///
    /// # Errors
    /// When the text is none of the grammar, none about this schema, or may mean more than is looked at.
    pub fn read(&self, text: &str) -> Result<Vec<Query>, UnreadableQuestion> {
        budget::analyse(text.len(), || self.read_unbounded(text))
            .map_err(|_| UnreadableQuestion::TooComplex)?
    }

    fn read_unbounded(&self, text: &str) -> Result<Vec<Query>, UnreadableQuestion> {
        let tokens = tokens(text, self.reader);
        if tokens.len() > MAX_TOKENS {
            return Err(UnreadableQuestion::TooComplex);
        }
        let mut parser = Parser::new(self.reader, &self.vocabulary, &tokens);
        let trees = parser.whole(Category::Question).map_err(|_| UnreadableQuestion::TooComplex)?;
        if trees.is_empty() {
            let rest = tokens[parser.furthest.min(tokens.len())..].iter().map(|token| token.text.as_str());
            return Err(UnreadableQuestion::Unknown { rest: rest.take(8).collect::<Vec<_>>().join(" ") });
        }
        let mut queries = Vec::new();
        let mut meanings = 0;
        for tree in trees {
            self.meanings(&tree, &mut meanings, &mut queries)?;
        }
        if queries.is_empty() { Err(UnreadableQuestion::OtherSchema) } else { Ok(queries) }
    }

    /// Adds what a phrase may mean.
    fn meanings(
        &self,
        tree: &Tree,
        looked_at: &mut usize,
        queries: &mut Vec<Query>,
    ) -> Result<(), UnreadableQuestion> {
        let mut choices = Some(Vec::new());
        while let Some(path) = choices {
            *looked_at += 1;
            if *looked_at > MAX_MEANINGS {
                return Err(UnreadableQuestion::TooComplex);
            }
            let mut hear = Hear::new(self.schema, &self.vocabulary, path);
            if let Some(query) = hear.question(tree).filter(owners_hold) {
                let query = canonical(&query, self.schema);
                if !queries.contains(&query) {
                    queries.push(query);
                }
            }
            choices = hear.next_choices();
        }
        Ok(())
    }
}

fn question(written: WrittenQuestion) -> Question {
    let marks = written.marks.into_iter().map(|(kind, turn, bytes)| Mark { kind, turn, bytes });
    let (implicit_values, marks): (Vec<Mark>, Vec<Mark>) =
        marks.partition(|mark| mark.kind == MarkKind::ImplicitValue);
    let (other_names, marks) = marks.into_iter().partition(|mark| mark.kind == MarkKind::OtherName);
    Question { turns: written.turns, marks, implicit_values, other_names, other_readings: Vec::new() }
}

/// Whether a word stands twice in a row.
fn stutters(text: &str) -> bool {
    let words: Vec<&str> = text.split(' ').collect();
    words.windows(2).any(|pair| pair[0] == pair[1] && pair[0].chars().all(char::is_alphabetic))
}
