//! Several answers to a question, or none on purpose.
//!
//! # Contract
//! - JSON or JSON lines: rows with an id, or an object from id to what a row would have. Without ids, one row per question.
//! - The answers stand in `predictions` (or `samples`, `candidates`, `answers`, `prediction`, `sql`): a list of texts, or of objects with
//!   `sql` and `weight` or `logprob`; a text is a list of one. `weights` or `logprobs` beside the list have a number per answer.
//! - A log-probability counts as a weight relative to the largest of its question. Without either all weights are 1.
//! - null, an empty list, and a text that says that there is no answer ([`sqlgauge_dataset::is_abstention`]) are an abstention;
//!   `reason` may say why. A null within a list is an answer that is missing, and leaves the list.

use std::collections::HashMap;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value, json};
use sqlgauge_base::counted;
use sqlgauge_dataset::{Benchmark, is_abstention, is_transcript};

use crate::error::Error;
use crate::score::System;

/// One of several answers.
#[derive(Debug, Clone, PartialEq)]
pub struct AnswerCandidate {
    /// The SQL.
    pub sql: String,
    /// How much it counts in a vote, from 0 on.
    pub weight: f64,
}

/// What a system says to a question.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AnswerList {
    /// Its answers; none if it abstains.
    pub candidates: Vec<AnswerCandidate>,
    /// Why it abstains, if it says so.
    pub reason: Option<String>,
}

impl AnswerList {
    /// Whether the system chose not to answer.
    pub fn abstains(&self) -> bool {
        self.candidates.is_empty()
    }

    /// The answers to a question of that id as a row that [`read_answers`] reads.
    pub(crate) fn to_row(&self, id: &str) -> Value {
        let candidate = |answer: &AnswerCandidate| json!({"sql": answer.sql, "weight": answer.weight});
        let candidates: Vec<Value> = self.candidates.iter().map(candidate).collect();
        json!({"id": id, "predictions": candidates, "reason": self.reason})
    }
}

const LISTS: [&str; 6] = ["predictions", "samples", "candidates", "answers", "prediction", "sql"];
/// Why a system abstains.
const REASON: &str = "reason";
const IDS: [&str; 4] = ["id", "question_id", "instance_id", "qid"];

/// Whether a file of predictions has a list of answers, or an abstention with a reason. All rows at once would take several times
/// the size of the file, so they are looked at one by one.
pub fn has_lists(system: &System) -> bool {
    let Ok(input) = system.predictions.read() else { return false };
    std::str::from_utf8(input.bytes()).is_ok_and(|text| is_of_lists(text.trim_start_matches('\u{feff}')))
}

fn is_of_lists(text: &str) -> bool {
    let mut documents = serde_json::Deserializer::from_str(text).into_iter::<Glance>();
    let Some(Ok(first)) = documents.next() else { return false };
    match documents.next() {
        None => first.alone,
        Some(second) => {
            let mut others = std::iter::once(second).chain(documents).map_while(Result::ok);
            first.as_row || others.any(|row| row.as_row)
        }
    }
}

/// Whether a JSON document has a list of answers, or an abstention with a reason.
struct Glance {
    /// If it is a row, one of several documents.
    as_row: bool,
    /// If it is the whole file: a list of rows, an object from id to row, or a row.
    alone: bool,
}

impl<'de> Deserialize<'de> for Glance {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Glancer)
    }
}

struct Glancer;

impl<'de> Visitor<'de> for Glancer {
    type Value = Glance;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("rows of predictions")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut rows: A) -> Result<Glance, A::Error> {
        let mut alone = false;
        while let Some(row) = rows.next_element::<Map<String, Value>>()? {
            alone |= is_list(&row);
        }
        Ok(Glance { as_row: false, alone })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Glance, A::Error> {
        let (mut row, mut has_list_below) = (Map::new(), false);
        while let Some((key, value)) = entries.next_entry::<String, Value>()? {
            has_list_below |= match &value {
                Value::Object(fields) => is_list(fields),
                other => is_several(other),
            };
            if key == REASON || LISTS.contains(&key.as_str()) {
                row.insert(key, value);
            }
        }
        let as_row = is_list(&row);
        Ok(Glance { as_row, alone: if list_of(&row).is_some() { as_row } else { has_list_below } })
    }
}

/// Whether a value is a list of answers; a transcript is one answer.
fn is_several(value: &Value) -> bool {
    value.is_array() && !is_transcript(value)
}

fn is_list(row: &Map<String, Value>) -> bool {
    list_of(row).is_some_and(is_several) || row.get(REASON).is_some_and(Value::is_string)
}

/// The answers of a system to each example of a benchmark; `None` where the file has none.
///
/// # Errors
/// When the file cannot be read or is malformed, or an id is unknown or occurs twice.
pub(crate) fn read_answers(system: &System, benchmark: &Benchmark) -> Result<Vec<Option<AnswerList>>, Error> {
    let path = system.predictions.path().display().to_string();
    let rows = rows(system)?;
    let has_ids = rows.iter().all(|(id, _)| id.is_some());
    if !has_ids && rows.len() != benchmark.examples.len() {
        let (count, wanted) = (rows.len(), benchmark.examples.len());
        return Err(Error::Invalid(format!(
            "{path} has {count} rows for {wanted} questions; give every row an `id`"
        )));
    }
    let places: HashMap<&str, usize> =
        benchmark.examples.iter().map(|example| example.id.as_str()).zip(0..).collect();
    let mut answers = vec![None; benchmark.examples.len()];
    for (at, (id, row)) in rows.iter().enumerate() {
        let place = match id.as_deref().filter(|_| has_ids) {
            Some(id) => *places.get(id).ok_or_else(|| {
                Error::Invalid(format!(
                    "{path} answers {id:?}, which the golds have not; give the golds that it answers"
                ))
            })?,
            None => at,
        };
        let read = answers_of(row)
            .map_err(|problem| Error::Invalid(format!("{path}, row {}: {problem}", at + 1)))?;
        if answers[place].replace(read).is_some() {
            return Err(Error::Invalid(format!(
                "{path} answers {:?} twice; remove one of the two",
                benchmark.examples[place].id
            )));
        }
    }
    Ok(answers)
}

type Row = (Option<String>, Map<String, Value>);

fn rows(system: &System) -> Result<Vec<Row>, Error> {
    let path = system.predictions.path().display().to_string();
    let input = system.predictions.read()?;
    let malformed = |problem: String| {
        Error::Invalid(format!(
            "{path}: {problem}; write JSON or JSON lines, with an id and a list of answers a row"
        ))
    };
    let text = std::str::from_utf8(input.bytes()).map_err(|error| malformed(error.to_string()))?;
    let text = text.trim_start_matches('\u{feff}');
    let values: Vec<Value> = match serde_json::from_str(text) {
        Ok(Value::Array(rows)) => rows,
        Ok(Value::Object(row)) if list_of(&row).is_none() => {
            return Ok(row.into_iter().map(under_key).collect());
        }
        Ok(row @ Value::Object(_)) => vec![row],
        _ => {
            let lines = text.lines().zip(1..).filter(|(line, _)| !line.trim().is_empty());
            let parsed = lines.map(|(line, at)| {
                serde_json::from_str(line).map_err(|error| malformed(format!("line {at}: {error}")))
            });
            parsed.collect::<Result<_, _>>()?
        }
    };
    values
        .into_iter()
        .map(|value| match value {
            Value::Object(row) => Ok((IDS.iter().find_map(|name| text_of(row.get(*name)?)), row)),
            _ => Err(malformed("a row is not an object".to_owned())),
        })
        .collect()
}

fn under_key((id, value): (String, Value)) -> Row {
    let row = match value {
        Value::Object(row) => row,
        value => Map::from_iter([("predictions".to_owned(), value)]),
    };
    (Some(id), row)
}

fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

fn list_of(row: &Map<String, Value>) -> Option<&Value> {
    LISTS.iter().find_map(|name| row.get(*name))
}

fn answers_of(row: &Map<String, Value>) -> Result<AnswerList, String> {
    let reason = row.get(REASON).and_then(Value::as_str).map(str::to_owned);
    let list =
        list_of(row).ok_or_else(|| format!("no answers; they are looked for in {}", LISTS.join(", ")))?;
    let list = match list {
        Value::Array(list) => list.as_slice(),
        Value::Null => &[],
        one => std::slice::from_ref(one),
    };
    let numbers_at = |name: &str| match row.get(name) {
        Some(Value::Array(numbers)) if numbers.len() == list.len() => Ok(Some(numbers)),
        Some(Value::Array(numbers)) => Err(format!(
            "{} {name} for {}; give one per answer",
            numbers.len(),
            counted(list.len(), "answer")
        )),
        _ => Ok(None),
    };
    let (weights, logs) = (numbers_at("weights")?, numbers_at("logprobs")?);
    let mut candidates = Vec::new();
    for (at, answer) in list.iter().enumerate() {
        let number = |numbers: Option<&Vec<Value>>, name: &str| {
            let value = numbers.map(|numbers| &numbers[at]).or_else(|| answer.get(name));
            value
                .filter(|value| !value.is_null())
                .map(|value| value.as_f64().ok_or_else(|| format!("the {name} {value} is not a number")))
                .transpose()
        };
        let sql = match answer {
            Value::Null => continue,
            Value::String(sql) => sql,
            answer => answer
                .get("sql")
                .and_then(Value::as_str)
                .ok_or("an answer is neither text nor an object with `sql`")?,
        };
        let (weight, log) = (number(weights, "weight")?, number(logs, "logprob")?);
        if weight.is_some_and(|weight| weight < 0.0) {
            return Err("a weight is below 0".to_owned());
        }
        candidates.push((sql.to_owned(), weight, log));
    }
    if candidates.iter().all(|(sql, ..)| is_abstention(sql)) {
        candidates.clear();
    }
    let most = candidates.iter().filter_map(|(.., log)| *log).fold(f64::NEG_INFINITY, f64::max);
    let weight = |weight: Option<f64>, log: Option<f64>| {
        weight.or_else(|| log.map(|log| (log - most).exp())).unwrap_or(1.0)
    };
    let candidates = candidates
        .into_iter()
        .map(|(sql, number, log)| AnswerCandidate { sql, weight: weight(number, log) })
        .collect();
    Ok(AnswerList { candidates, reason })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(json: &str) -> Result<AnswerList, String> {
        answers_of(serde_json::from_str::<Value>(json).expect("JSON").as_object().expect("an object"))
    }

    #[test]
    fn lists_have_weights_of_three_kinds() {
        let texts =
            of(r#"{"predictions": ["SELECT 1", null, "SELECT 2"], "weights": [3, 9, 1]}"#).expect("a list");
        let weights: Vec<f64> = texts.candidates.iter().map(|candidate| candidate.weight).collect();
        assert_eq!(weights, [3.0, 1.0]);
        let logs = of(
            r#"{"samples": [{"sql": "SELECT 1", "logprob": -900}, {"sql": "SELECT 2", "logprob": -901}]}"#,
        )
        .expect("a list");
        assert!((logs.candidates[1].weight - (-1.0_f64).exp()).abs() < 1e-12, "{logs:?}");
        assert_eq!(of(r#"{"sql": "SELECT 1"}"#).expect("one").candidates.len(), 1);
        assert!(of(r#"{"predictions": ["SELECT 1"], "weights": [1, 2]}"#).is_err());
        assert!(of(r#"{"id": 1}"#).is_err());
    }

    #[test]
    fn files_with_lists_are_told_from_others() {
        for text in [
            r#"[{"id": 1, "sql": "SELECT 1"}, {"id": 2, "predictions": ["SELECT 1"]}]"#,
            r#"{"0": ["SELECT 1"], "1": "SELECT 2"}"#,
            r#"{"0": {"samples": ["SELECT 1"]}}"#,
            r#"{"id": 1, "predictions": ["SELECT 1"]}"#,
            "{\"id\": 1, \"sql\": \"SELECT 1\"}\n\n{\"id\": 2, \"sql\": null, \"reason\": \"no table\"}\n",
            "{\"id\": 1, \"answers\": []}\n{\"id\": 2, \"sql\": \"SELECT 1\"}",
        ] {
            assert!(is_of_lists(text), "{text}");
        }
        for text in [
            "SELECT 1\nSELECT 2\n",
            "",
            r#"["SELECT 1", ["SELECT 2"]]"#,
            r#"[{"id": 1, "sql": "SELECT 1", "tables": ["a"]}]"#,
            r#"{"0": "SELECT 1", "reason": "SELECT 2"}"#,
            r#"{"0": [{"role": "assistant", "content": "SELECT 1"}]}"#,
            r#"[{"id": 1, "prediction": [{"role": "assistant", "content": "SELECT 1"}]}]"#,
            "{\"id\": 1, \"sql\": \"SELECT 1\"}\n{\"id\": 2, \"sql\": \"SELECT 2\", \"tables\": [1]}\n",
        ] {
            assert!(!is_of_lists(text), "{text}");
        }
    }

    #[test]
    fn an_abstention_is_null_nothing_or_words() {
        for json in [
            r#"{"prediction": null, "reason": "no table of concerts"}"#,
            r#"{"predictions": []}"#,
            r#"{"prediction": "SELECT NULL"}"#,
        ] {
            assert!(of(json).expect("a row").abstains(), "{json}");
        }
        assert!(!of(r#"{"predictions": ["SELECT NULL", "SELECT 1"]}"#).expect("a row").abstains());
    }
}
