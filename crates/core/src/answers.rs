//! Several answers to a question, or none on purpose.
//!
//! # Contract
//! - JSON or JSON lines: rows, or an object from id to what a row would have, paired with the questions as predictions are.
//! - The answers stand in `predictions` (or `samples`, `candidates`, `answers`, `prediction`, `sql`, `pred_sqls`, `filtered_resps`, or the column
//!   that the user named); where a row has none of them nor a single answer, in [`SAMPLED`] or in numbered columns (`sql_1`, `sql_2`).
//! - They are a list, or such a list written as a text: of texts, or of objects with a text at one of [`TEXTS`] and `weight` or `logprob`;
//!   another text is a list of one. `weights` or `logprobs` beside the list have a number per answer.
//! - Rows with the same id, or without ids and with the same question, are the answers to one question. `score` takes rows with one id so
//!   only where `--k` or its like says that there are several answers: otherwise the second row is a mistake.
//! - A log-probability counts as a weight relative to the largest of its question. Without either all weights are 1.
//! - null, an empty list, and a text that says that there is no answer ([`sqlgauge_dataset::is_abstention`]) are an abstention;
//!   `reason` may say why. A null within a list, or as the text of an object there, is an answer that is missing, and leaves the list.

use serde_json::{Map, Value, json};
use sqlgauge_base::counted;
use sqlgauge_dataset::{
    Benchmark, ColumnRole, Columns, Example, FileFormat, Input, PairedBy, extract_sql, has_row,
    is_abstention, is_other_statement, is_transcript, pair_rows, repeats_questions, text_list,
};

use crate::error::Error;
use crate::score::{ScoreJob, System};

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

    /// These answers and others to the same question.
    fn and(mut self, other: Self) -> Self {
        self.candidates.extend(other.candidates);
        self.reason = self.reason.or(other.reason);
        self
    }

    /// The answers to a question of that id as a row that [`read_answers`] reads.
    pub(crate) fn to_row(&self, id: &str) -> Value {
        let candidate = |answer: &AnswerCandidate| json!({"sql": answer.sql, "weight": answer.weight});
        let candidates: Vec<Value> = self.candidates.iter().map(candidate).collect();
        json!({"id": id, "predictions": candidates, "reason": self.reason})
    }
}

const LISTS: [&str; 8] =
    ["predictions", "samples", "candidates", "answers", "prediction", "sql", "pred_sqls", "filtered_resps"];
/// Names of lists that may also stand beside the one answer that was made of them.
const SAMPLED: [&str; 8] =
    ["sqls", "preds", "predicted_sqls", "responses", "completions", "generations", "outputs", "choices"];
/// Where an answer that is an object has its text, as programs and servers of language models write it.
const TEXTS: [&str; 6] = ["/sql", "/prediction", "/text", "/generated_text", "/content", "/message/content"];
/// Why a system abstains.
const REASON: &str = "reason";

/// Whether a file of predictions has a list of answers, or an abstention with a reason, or several rows without ids for a question.
pub fn has_lists(job: &ScoreJob) -> bool {
    let has_lists = |system: &System| {
        let (Ok(input), Ok(format)) = (system.predictions.read(), system.predictions.format(None)) else {
            return false;
        };
        is_of_lists(&input, &system.columns)
            || repeats_questions(&input, format, &system.columns, || job.benchmark().ok())
    };
    job.systems.iter().any(has_lists)
}

fn is_of_lists(input: &Input, columns: &Columns) -> bool {
    has_row(input, |row, is_keyed| match row {
        Value::Object(row) => columns.answers_of(row).map_or_else(|| is_list(row), is_several),
        other => is_keyed && is_several(other),
    })
}

/// Whether a value is a list of answers; a transcript is one answer.
fn is_several(value: &Value) -> bool {
    value.is_array() && !is_transcript(value)
}

fn is_list(row: &Map<String, Value>) -> bool {
    let abstains =
        || row.get(REASON).is_some_and(Value::is_string) && list_of(row).is_none_or(Value::is_null);
    list_of(row).is_some_and(is_several) || abstains()
}

/// The lists of a system.
pub(crate) struct PairedAnswers {
    /// By position in the benchmark; `None` where the file has no answer.
    pub(crate) lists: Vec<Option<AnswerList>>,
    /// By what the rows were paired.
    pub(crate) paired_by: PairedBy,
    /// What reading noted.
    pub(crate) notes: Vec<String>,
}

/// The answers of a system to each example of a benchmark; `extract` takes the SQL of each out of the chatter around it.
///
/// # Errors
/// When the file cannot be read or is malformed, or its rows cannot be paired with the examples.
pub(crate) fn read_answers(
    system: &System,
    benchmark: &Benchmark,
    format: Option<FileFormat>,
    extract: bool,
) -> Result<PairedAnswers, Error> {
    let input = system.predictions.read_rows(format)?;
    let format = system.predictions.format(format)?;
    let paired = pair_rows(&input, benchmark, format, &system.columns)?;
    let path = input.path().display();
    let answers = |(rows, example): (Vec<Value>, &Example)| {
        let lists = rows.into_iter().map(|row| answers_of_row(row, &system.columns));
        let lists = lists.collect::<Result<Vec<_>, _>>().map_err(|problem| {
            Error::Invalid(format!("{path}, the answers to {:?}: {problem}", example.id))
        })?;
        Ok(lists.into_iter().reduce(AnswerList::and))
    };
    let lists = paired.rows.into_iter().zip(&benchmark.examples).map(answers);
    let mut lists = lists.collect::<Result<Vec<_>, Error>>()?;
    if are_scripts(&lists) {
        return Err(Error::Invalid(format!("{path}: {SCRIPTS}")));
    }
    if extract {
        let answers = lists.iter_mut().flatten().flat_map(|list| &mut list.candidates);
        answers.for_each(|answer| answer.sql = extract_sql(&answer.sql).sql);
    }
    Ok(PairedAnswers { lists, paired_by: paired.paired_by, notes: paired.notes })
}

fn answers_of_row(row: Value, columns: &Columns) -> Result<AnswerList, String> {
    let row = match row {
        Value::Object(row) => row,
        value => Map::from_iter([(LISTS[0].to_owned(), value)]),
    };
    let named = columns.answers_of(&row).or_else(|| list_of(&row)).or_else(|| columns.answer_of(&row));
    let sampled = || SAMPLED.iter().find_map(|name| row.get(*name));
    let numbered = numbered(&row);
    let answers = answers_of(&row, named.or_else(sampled).or(numbered.as_ref()))?;
    if answers.candidates.len() > 1 && row.contains_key("sol_sql") {
        return Err(SCRIPTS.to_owned());
    }
    Ok(answers)
}

/// Refuses files of `LiveSQLBench`: a list there is a script, not several answers.
const SCRIPTS: &str = "its lists are the statements of one script each, which is not scored; name a column with one query for each \
                       question: --column prediction=NAME";

/// Whether the lists are scripts: each of several statements has one that is no query.
fn are_scripts(lists: &[Option<AnswerList>]) -> bool {
    let mut lists = lists.iter().flatten().filter(|list| list.candidates.len() > 1).peekable();
    let has_other = |list: &AnswerList| list.candidates.iter().any(|answer| is_other_statement(&answer.sql));
    lists.peek().is_some() && lists.all(has_other)
}

/// A list wins over one text under another name, which may be the gold.
fn list_of(row: &Map<String, Value>) -> Option<&Value> {
    let of = |is_one: fn(&Value) -> bool| {
        LISTS.iter().find_map(|name| row.get(*name).filter(|value| is_one(value)))
    };
    of(Value::is_array).or_else(|| of(|_| true))
}

/// The answers of columns such as `sql_1` and `sql_2`, in the order of their numbers.
fn numbered(row: &Map<String, Value>) -> Option<Value> {
    let number = |(name, value): (&String, &Value)| {
        let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
        let is_answer = ColumnRole::Prediction.is_called(stem) || ["sample_", "candidate_"].contains(&stem);
        is_answer.then_some((name[stem.len()..].parse::<u64>().ok()?, value.clone()))
    };
    let mut answers: Vec<(u64, Value)> = row.iter().filter_map(number).collect();
    answers.sort_by_key(|(number, _)| *number);
    (!answers.is_empty()).then(|| answers.into_iter().map(|(_, answer)| answer).collect())
}

/// The answers of a row, which has them there.
fn answers_of(row: &Map<String, Value>, list: Option<&Value>) -> Result<AnswerList, String> {
    let reason = row.get(REASON).and_then(Value::as_str).map(str::to_owned);
    let list = list.ok_or_else(|| {
        let names = LISTS.iter().chain(&SAMPLED).copied().collect::<Vec<_>>().join(", ");
        format!(
            "no answers; they are looked for in {names}: name another column with --column prediction=NAME"
        )
    })?;
    let written = list.as_str().and_then(text_list).map(Value::from);
    let list = match written.as_ref().unwrap_or(list) {
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
        let at_paths = || TEXTS.iter().find_map(|path| answer.pointer(path));
        let text = if answer.is_object() { at_paths() } else { Some(answer) };
        let sql = match text {
            Some(Value::String(sql)) => sql,
            Some(Value::Null) => continue,
            _ => {
                let paths = TEXTS.join(", ");
                return Err(format!("an answer is neither a text nor an object with one at {paths}"));
            }
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
        answers_of_row(serde_json::from_str(json).expect("JSON"), &Columns::default())
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
    fn answers_stand_where_programs_write_them() {
        for json in [
            r#"{"choices": [{"message": {"content": "SELECT 1"}}, {"message": {"content": "SELECT 2"}}]}"#,
            r#"{"outputs": [{"text": "SELECT 1", "cumulative_logprob": -1}, {"text": "SELECT 2"}]}"#,
            r#"{"candidates": [{"prediction": "SELECT 1"}, {"generated_text": "SELECT 2"}]}"#,
            r#"{"samples": [{"sql": "SELECT 1"}, {"sql": null, "raw": null}, {"sql": "SELECT 2"}]}"#,
            r#"{"sql_2": "SELECT 2", "sql_1": "SELECT 1"}"#,
            r#"{"candidate_9": "SELECT 1", "candidate_10": "SELECT 2"}"#,
            r#"{"predictions": "['SELECT 1', \"SELECT 2\"]"}"#,
            r#"{"completion": ["SELECT 1", "SELECT 2"]}"#,
        ] {
            let answers = of(json).expect("several");
            let texts: Vec<&str> = answers.candidates.iter().map(|answer| answer.sql.as_str()).collect();
            assert_eq!(texts, ["SELECT 1", "SELECT 2"], "{json}");
        }
        // What was sampled beside the one answer that was made of it is left.
        let one =
            of(r#"{"pred_sql": "SELECT 1", "responses": ["so SELECT 1", "so SELECT 2"]}"#).expect("one");
        assert_eq!(one.candidates.len(), 1);
        assert!(of(r#"{"predictions": [{"score": 1}]}"#).is_err_and(|text| text.contains("/content")));
    }

    #[test]
    fn files_with_lists_are_told_from_others() {
        let is_of_lists = |text: &str| {
            let input = Input::from_bytes("rows", text.as_bytes().to_vec());
            is_of_lists(&input, &Columns::default())
        };
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
            r#"[{"id": 1, "pred_sql": "SELECT 1", "responses": ["so SELECT 1", "so SELECT 2"]}]"#,
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
