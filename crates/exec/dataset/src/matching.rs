//! Which answer belongs to which example.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::error::DatasetError;
use crate::formats::Place;
use crate::input::Input;
use crate::model::{Benchmark, Example, Prediction, PredictionSet};
use crate::text::listed;
use sqlgauge_base::{closest, counted};

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
        }
    }
}

type Matched = (Vec<Option<Prediction>>, BTreeMap<String, Value>);

/// Predictions by position in the benchmark, and the extra fields by id.
pub(crate) fn match_answers(
    input: &Input,
    answers: Vec<Answer>,
    benchmark: &Benchmark,
    notes: &mut Vec<String>,
) -> Result<Matched, DatasetError> {
    let positions = positions(input, &answers, benchmark, notes)?;
    let mut predictions: Vec<Option<Prediction>> = vec![None; benchmark.examples.len()];
    if let Some((position, first, second)) = answered_twice(&positions, benchmark.examples.len()) {
        return Err(DatasetError::DuplicateId {
            path: input.path().to_owned(),
            id: benchmark.examples[position].id.clone(),
            first: answers[first].place.to_string(),
            second: answers[second].place.to_string(),
        });
    }
    let mut extra = BTreeMap::new();
    for (answer, position) in answers.into_iter().zip(positions) {
        let example = &benchmark.examples[position];
        if let Some(db_id) = answer.db_id.filter(|db_id| *db_id != example.db_id) {
            return Err(DatasetError::Disagreement {
                path: input.path().to_owned(),
                place: answer.place.to_string(),
                claim: format!("the database is {db_id:?}"),
                expected: format!("the benchmark's example {:?} says {:?}", example.id, example.db_id),
            });
        }
        let Answer { sql, confidence, .. } = answer;
        predictions[position] = sql.map(|sql| Prediction { id: example.id.clone(), sql, confidence });
        if !answer.extra.is_empty() {
            extra.insert(example.id.clone(), Value::Object(answer.extra));
        }
    }
    notes.extend(missing(predictions.iter().map(Option::as_ref).zip(&benchmark.examples)));
    Ok((predictions, extra))
}

/// The first example with two answers, and which they are.
fn answered_twice(positions: &[usize], examples: usize) -> Option<(usize, usize, usize)> {
    let mut seen = vec![false; examples];
    let second = positions.iter().position(|&position| std::mem::replace(&mut seen[position], true))?;
    let position = positions[second];
    let first = positions.iter().position(|other| *other == position)?;
    Some((position, first, second))
}

/// For each answer the position of its example.
fn positions(
    input: &Input,
    answers: &[Answer],
    benchmark: &Benchmark,
    notes: &mut Vec<String>,
) -> Result<Vec<usize>, DatasetError> {
    let Some(keys) = keys(input, answers)? else {
        let wanted = benchmark.examples.len();
        if answers.len() == wanted {
            return Ok((0..wanted).collect());
        }
        return Err(DatasetError::CountMismatch {
            path: input.path().to_owned(),
            count: counted(answers.len(), "item") + " without ids",
            other: "the benchmark".to_owned(),
            expected: counted(wanted, "example"),
            remedy: "give one item per example, or an id with each".to_owned(),
        });
    };
    // A table of hashes takes several times as much of a million examples.
    let id = |&at: &usize| benchmark.examples[at].id.as_str();
    let mut by_id: Vec<usize> = (0..benchmark.examples.len()).collect();
    by_id.sort_unstable_by_key(id);
    let find = |key: &str| by_id.binary_search_by(|at| id(at).cmp(key)).ok().map(|at| by_id[at]);
    if let Some(positions) = keys.iter().map(|key| find(key)).collect() {
        return Ok(positions);
    }
    if let Some(positions) = as_positions(&keys, benchmark.examples.len()) {
        notes.push(
            "its ids are the positions 0, 1, 2, …, not the benchmark's ids; matched by position".to_owned(),
        );
        return Ok(positions);
    }
    let unknown: Vec<&str> = keys.iter().copied().filter(|key| find(key).is_none()).collect();
    Err(unknown_ids(input, &unknown, benchmark))
}

/// The keys of all answers, `None` if none has one.
fn keys<'a>(input: &Input, answers: &'a [Answer]) -> Result<Option<Vec<&'a str>>, DatasetError> {
    if answers.iter().all(|answer| answer.key.is_none()) {
        return Ok(None);
    }
    let key = |answer: &'a Answer| {
        answer.key.as_deref().ok_or_else(|| {
            input.malformed(&answer.place, "no id, though other items have one", "give every item its id")
        })
    };
    answers.iter().map(key).collect::<Result<_, _>>().map(Some)
}

/// The keys as positions if they are exactly 0 to count-1, in any order.
fn as_positions(keys: &[&str], count: usize) -> Option<Vec<usize>> {
    let mut seen = vec![false; count];
    let position = |key: &&str| {
        let position: usize = key.parse().ok()?;
        let fresh = !std::mem::replace(seen.get_mut(position)?, true);
        (fresh && position.to_string() == *key).then_some(position)
    };
    (keys.len() == count).then(|| keys.iter().map(position).collect())?
}

fn unknown_ids(input: &Input, unknown: &[&str], benchmark: &Benchmark) -> DatasetError {
    let ids = || benchmark.examples.iter().map(|e| e.id.as_str());
    let mut described = listed(unknown.iter().map(|key| format!("{key:?}")));
    if let [key] = unknown
        && let Some(near) = closest(key, ids()).first()
    {
        described = format!("{described} (the closest that it has is {near:?})");
    }
    DatasetError::UnknownIds {
        path: input.path().to_owned(),
        count: unknown.len(),
        listed: described,
        sample: ids().take(3).map(|id| format!("{id:?}")).collect::<Vec<_>>().join(", "),
    }
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
