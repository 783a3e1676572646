//! What the columns of a file of predictions hold by their values, where their names leave a doubt.
//!
//! # Contract
//! Only columns that the user did not name are in doubt.
//! - The golds' own texts, under a name that golds and predictions share (`sql`), are no answers if another column holds queries: an
//!   error names it.
//! - A column under a usual name that holds few queries yields to another usual name that holds them; a note says so.
//! - Where only the position pairs, or nothing does, a column each of whose texts is a question, or a gold, of the benchmark is one,
//!   whatever its name. Without such questions it is the column that holds one among other words in most rows; a note says so.

use std::collections::{BTreeMap, HashSet};

use serde_json::Value;

use crate::columns::{ColumnRole, Columns};
use crate::error::DatasetError;
use crate::formats::{FileFormat, Part};
use crate::input::Input;
use crate::matching::Answer;
use crate::model::Benchmark;
use crate::pairing::{PairedBy, text_mark};
use crate::prompts::QuestionFinder;

/// What is to be looked at once more.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Doubts {
    /// All answers are the golds of their examples.
    pub(crate) are_golds: bool,
    /// Fewer than half of the answers begin as queries do.
    pub(crate) are_no_queries: bool,
    /// Nothing but their order pairs the rows.
    pub(crate) is_position: bool,
}

impl Doubts {
    /// The doubts about answers out of that column.
    pub(crate) fn about(
        answers: &[Answer],
        (places, by): (&[usize], &PairedBy),
        column: &str,
        benchmark: &Benchmark,
    ) -> Self {
        let answers_with_text = || answers.iter().filter_map(|answer| answer.sql.as_deref());
        let is_shared = ColumnRole::Gold.is_called(column);
        let is_gold = |(answer, &place): (&Answer, &usize)| {
            let mark = answer.sql.as_deref().and_then(text_mark);
            mark.is_some() && benchmark.examples[place].golds.iter().any(|gold| text_mark(gold) == mark)
        };
        Self {
            are_golds: is_shared && answers.iter().zip(places).all(is_gold),
            are_no_queries: 2 * answers_with_text().filter(|text| begins_as_query(text)).count()
                < answers_with_text().count(),
            is_position: *by == PairedBy::Position,
        }
    }

    pub(crate) fn is_any(self) -> bool {
        self.are_golds || self.are_no_queries || self.is_position
    }
}

fn begins_as_query(text: &str) -> bool {
    let word = text.trim_start_matches(|c: char| c == '(' || c.is_whitespace());
    ["select", "with"]
        .iter()
        .any(|begin| word.get(..begin.len()).is_some_and(|word| word.eq_ignore_ascii_case(begin)))
}

/// The text columns of a file.
pub(crate) struct TextColumns {
    columns: BTreeMap<String, Texts>,
    rows: usize,
}

/// How many texts a column has, and what they are.
#[derive(Debug, Default)]
struct Texts {
    count: usize,
    queries: usize,
    questions: usize,
    golds: usize,
    /// Those with one question among other words.
    prompts: usize,
}

impl Texts {
    fn are_queries(&self) -> bool {
        2 * self.queries > self.count
    }
}

/// Columns that are looked at.
const MAX_COLUMNS: usize = 64;

impl TextColumns {
    /// Looks at all rows of a file that was read before; for prompts only where the position is in doubt.
    pub(crate) fn of(
        input: &Input,
        format: FileFormat,
        benchmark: &Benchmark,
        doubts: Doubts,
    ) -> Result<Self, DatasetError> {
        let finder = if doubts.is_position { QuestionFinder::of(benchmark) } else { None };
        let examples = || benchmark.examples.iter();
        let questions: HashSet<u64> = examples().filter_map(|e| text_mark(e.question.as_deref()?)).collect();
        let golds: HashSet<u64> =
            examples().flat_map(|e| &e.golds).filter_map(|gold| text_mark(gold)).collect();
        let mut columns = Self { columns: BTreeMap::new(), rows: 0 };
        format.read(input, &mut Vec::new(), &mut |part| {
            let Part::Row(row) = part else { return Ok(()) };
            columns.rows += 1;
            for (name, value) in row.value.as_object().into_iter().flatten() {
                if !value.is_string() && !value.is_array() {
                    continue;
                }
                if !columns.columns.contains_key(name) && columns.columns.len() == MAX_COLUMNS {
                    continue;
                }
                let texts = columns.columns.entry(name.clone()).or_default();
                let has_question = |finder: &QuestionFinder| finder.only_question(value).is_some();
                texts.prompts += usize::from(finder.as_ref().is_some_and(has_question));
                let Value::String(text) = value else { continue };
                let mark = text_mark(text);
                texts.count += 1;
                texts.queries += usize::from(begins_as_query(text));
                texts.questions += usize::from(mark.is_some_and(|mark| questions.contains(&mark)));
                texts.golds += usize::from(mark.is_some_and(|mark| golds.contains(&mark)));
            }
            Ok(())
        })?;
        Ok(columns)
    }

    /// The columns with what the values settle, and notes of it; `None` where all stays as it is. `answers` is the column of the answers.
    pub(crate) fn settle(
        &self,
        doubts: Doubts,
        input: &Input,
        columns: &Columns,
        answers: &str,
    ) -> Result<Option<(Columns, Vec<String>)>, DatasetError> {
        let queries = || self.columns.iter().filter(|(name, texts)| *name != answers && texts.are_queries());
        if doubts.are_golds
            && let Some((other, _)) = queries().find(|(_, texts)| texts.golds < texts.count)
        {
            return Err(input.not_readable(
                format!("has the golds themselves in the column {answers:?}"),
                format!(
                    "name the column of the answers with --column prediction=NAME, such as prediction={other}"
                ),
            ));
        }
        let (mut settled, mut notes) = (columns.clone(), Vec::new());
        let is_usual = |name: &str| ColumnRole::Prediction.is_called(name);
        if doubts.are_no_queries
            && let Some((other, _)) =
                queries().find(|(name, texts)| is_usual(name) && texts.golds < texts.count)
        {
            notes.push(format!(
                "the column {answers:?} holds few queries; the answers are taken from {other:?}"
            ));
            settled.set(ColumnRole::Prediction, other);
        }
        if doubts.is_position {
            notes.extend(self.settle_questions(&mut settled, answers));
            self.settle_golds(&mut settled, answers);
        }
        Ok((settled != *columns).then_some((settled, notes)))
    }

    /// The column of the questions, or of the prompts that hold them, of which a note is returned.
    fn settle_questions(&self, settled: &mut Columns, answers: &str) -> Option<String> {
        if settled.named(ColumnRole::Question).is_some() {
            return None;
        }
        let mut others = self.columns.iter().filter(|(name, _)| *name != answers);
        if let Some((name, _)) = others.clone().find(|(_, texts)| texts.questions == self.rows) {
            if !ColumnRole::Question.is_called(name) {
                settled.set(ColumnRole::Question, name);
            }
            return None;
        }
        let most = others.clone().map(|(_, texts)| texts.prompts).max()?;
        let (name, _) = others.find(|(_, texts)| texts.prompts == most && 2 * most > self.rows)?;
        settled.set_prompt(name);
        Some(format!("the questions are looked for in the column {name:?}"))
    }

    fn settle_golds(&self, settled: &mut Columns, answers: &str) {
        let is_gold = |(name, texts): &(&String, &Texts)| *name != answers && texts.golds == self.rows;
        if let Some((name, _)) = self.columns.iter().find(is_gold)
            && settled.named(ColumnRole::Gold).is_none()
            && !ColumnRole::Gold.is_called(name)
        {
            settled.set(ColumnRole::Gold, name);
        }
    }
}
