//! Which answer belongs to which example.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::error::DatasetError;
use crate::formats::Place;
use crate::input::Input;
use crate::model::{Benchmark, EarlierQueries, Example, Prediction, PredictionSet};
use crate::pairing::ExampleIds;
use crate::text::listed;
use sqlgauge_base::counted;

/// One answer of a system, as its file has it.
pub(crate) struct Answer {
    pub(crate) place: Place,
    /// Id or position, `None` where items are in order.
    pub(crate) key: Option<String>,
    /// `None` where the system gave no answer.
    pub(crate) sql: Option<String>,
    /// The database that the file names for it.
    pub(crate) db_id: Option<String>,
    /// What else the file says about it.
    pub(crate) extra: Map<String, Value>,
    /// Where the SQL is not a text: what it is.
    pub(crate) other_kind: Option<&'static str>,
    /// In [0, 1].
    pub(crate) confidence: Option<f64>,
    /// There was a confidence that is no number from 0 to 1.
    pub(crate) has_odd_confidence: bool,
    /// What the text of its question is known by.
    pub(crate) question: Option<u64>,
    /// The same of the gold that stands beside it.
    pub(crate) gold: Option<u64>,
    /// It is a line of a file of lines.
    pub(crate) is_line: bool,
    /// Of a transcript, the queries before its final one.
    pub(crate) earlier: Option<Box<EarlierQueries>>,
}

impl Answer {
    /// An answer without more than its SQL; its key is the key under which it stands, if any.
    pub(crate) fn positional(place: Place, sql: Option<String>) -> Self {
        let key = match &place {
            Place::Key(key) => Some(key.clone()),
            _ => None,
        };
        Self {
            place,
            key,
            sql,
            db_id: None,
            extra: Map::new(),
            other_kind: None,
            confidence: None,
            has_odd_confidence: false,
            question: None,
            gold: None,
            is_line: false,
            earlier: None,
        }
    }
}

type Matched = (Vec<Option<Prediction>>, BTreeMap<String, Value>);

/// Predictions by position in the benchmark, and the extra fields by id. `positions` has the example of each answer.
pub(crate) fn match_answers(
    input: &Input,
    answers: Vec<Answer>,
    positions: &[usize],
    benchmark: &Benchmark,
    notes: &mut Vec<String>,
) -> Result<Matched, DatasetError> {
    let mut predictions: Vec<Option<Prediction>> = vec![None; benchmark.examples.len()];
    if let Some((position, first, second)) = answered_twice(positions, benchmark.examples.len()) {
        return Err(DatasetError::AnsweredTwice {
            path: input.path().to_owned(),
            id: benchmark.examples[position].id.clone(),
            first: answers[first].place.to_string(),
            second: answers[second].place.to_string(),
        });
    }
    let mut extra = BTreeMap::new();
    let has_golds = benchmark.examples.iter().any(|example| !example.golds.is_empty());
    for (answer, &position) in answers.into_iter().zip(positions) {
        let example = &benchmark.examples[position];
        if let Some(db_id) = answer.db_id.filter(|db_id| *db_id != example.db_id) {
            return Err(DatasetError::Disagreement {
                path: input.path().to_owned(),
                place: answer.place.to_string(),
                claim: format!("the database is {db_id:?}"),
                expected: format!("the benchmark's example {:?} says {:?}", example.id, example.db_id),
            });
        }
        let Answer { sql, confidence, earlier, .. } = answer;
        // Null is an answer to a question that has none.
        let has_none = has_golds && example.golds.is_empty();
        let sql = sql.or_else(|| has_none.then(String::new));
        let id = || example.id.clone();
        predictions[position] = sql.map(|sql| Prediction { id: id(), sql, confidence, earlier });
        if !answer.extra.is_empty() {
            extra.insert(example.id.clone(), Value::Object(answer.extra));
        }
    }
    answer_repetitions(&mut predictions, &benchmark.examples);
    if predictions.iter().all(Option::is_none) {
        let remedy =
            "check that it is the file of the answers, and name their column with --column prediction=NAME";
        return Err(input.not_readable("has no prediction for any example", remedy));
    }
    notes.extend(missing(predictions.iter().map(Option::as_ref).zip(&benchmark.examples)));
    Ok((predictions, extra))
}

/// An example that repeats another one has its answer, where it has none of its own.
fn answer_repetitions(predictions: &mut [Option<Prediction>], examples: &[Example]) {
    let may_repeat = |at: &usize| predictions[*at].is_none() && examples[*at].id.contains('#');
    let without_answer: Vec<usize> = (0..examples.len()).filter(may_repeat).collect();
    if without_answer.is_empty() {
        return;
    }
    let ids = ExampleIds::new(examples);
    for at in without_answer {
        let answer = ids.repeated(at).and_then(|first| predictions[first].clone());
        predictions[at] = answer.map(|answer| Prediction { id: examples[at].id.clone(), ..answer });
    }
}

/// The first example with two answers, and which they are.
pub(crate) fn answered_twice(positions: &[usize], examples: usize) -> Option<(usize, usize, usize)> {
    let mut seen = vec![false; examples];
    let second = positions.iter().position(|&position| std::mem::replace(&mut seen[position], true))?;
    let position = positions[second];
    let first = positions.iter().position(|other| *other == position)?;
    Some((position, first, second))
}

/// The sentence about examples without a prediction, each given with what there is for it.
fn missing<'a>(answered: impl Iterator<Item = (Option<&'a Prediction>, &'a Example)>) -> Option<String> {
    let answered: Vec<_> = answered.collect();
    let missing = || answered.iter().filter(|(prediction, _)| prediction.is_none()).map(|(_, e)| &e.id);
    let count = missing().count();
    let verb = if count == 1 { "has" } else { "have" };
    let of = counted(answered.len(), "example");
    (count > 0).then(|| format!("{count} of {of} {verb} no prediction: {}", listed(missing())))
}

impl PredictionSet {
    /// The predictions for a part of the benchmark; what is said of missing ones is about that part.
    #[must_use]
    pub fn of_part(mut self, positions: &[usize], examples: &[Example]) -> Self {
        let whole = missing(self.predictions.iter().map(Option::as_ref).zip(examples));
        self.notes.retain(|note| Some(note) != whole.as_ref());
        let mut part = Vec::with_capacity(positions.len());
        for &position in positions {
            part.push(self.predictions.get_mut(position).and_then(Option::take));
        }
        self.predictions = part;
        let subset = positions.iter().filter_map(|&position| examples.get(position));
        self.notes.extend(missing(self.predictions.iter().map(Option::as_ref).zip(subset)));
        self
    }
}
