//! From the content of a file to one system's predictions.

use serde_json::{Map, Value};

use crate::benchmark::kind;
use crate::columns::{Columns, Role, present_columns, scalar_text};
use crate::error::DatasetError;
use crate::extract::{Removed, extract_sql};
use crate::formats::{Content, Format, Place, Row};
use crate::input::Input;
use crate::matching::{Answer, match_answers};
use crate::model::{Benchmark, Prediction, PredictionSet};
use crate::text::{counted, listed, strip};

/// How predictions are read.
#[derive(Debug, Clone, Default)]
pub struct PredictionOptions {
    /// Format of the file; detected when `None`.
    pub format: Option<Format>,
    /// Columns that the user named.
    pub columns: Columns,
    /// Take the SQL out of the chatter around it (see [`extract_sql`]). Off for scores that must equal those of
    /// the official scripts.
    pub extract: bool,
}

/// What BIRD's scripts put between the SQL and the database.
const BIRD_SEPARATOR: &str = "\t----- bird -----\t";

/// Roles of a benchmark: a column that has one is no extra information of a prediction.
const KNOWN_ROLES: [Role; 7] = [
    Role::Id,
    Role::Database,
    Role::Question,
    Role::Gold,
    Role::Evidence,
    Role::Difficulty,
    Role::Prediction,
];

/// Matches predictions that are in memory to the examples of a benchmark.
///
/// **Lines.** Each line is stripped and its first tab-separated field is the SQL, as the official scripts read
/// it. If the file has as many lines as there are examples (blank ones included), a blank line is an empty
/// prediction. Otherwise, in a benchmark of conversations, blank lines separate interactions, and the file must
/// have as many turns as the gold in each of them. Blank lines at the end count only if they are needed to reach
/// the number of examples. Everything else is an error that names the counts.
///
/// **Items with ids** (an object from id to SQL, or rows with an id column) are matched by id. If the keys are
/// exactly the positions 0 to n-1, and the benchmark has other ids, they are positions.
///
/// **Items without ids** must be as many as there are examples.
///
/// A null or absent SQL is a missing prediction; another value that is no text (BIRD's scripts write 0 where a
/// system failed) is an empty prediction and noted. A database that the file names for an item, in a column or
/// after `----- bird -----`, must be the example's.
///
/// # Errors
/// As [`crate::load_predictions`], without the reading.
pub fn parse_predictions(
    system: &str,
    input: &Input,
    benchmark: &Benchmark,
    options: &PredictionOptions,
) -> Result<PredictionSet, DatasetError> {
    let mut notes = Vec::new();
    let content = options.format.unwrap_or_else(|| Format::detect(input)).read(input, &mut notes)?;
    let answers = match content {
        Content::Lines(lines) => answers_of_lines(input, &lines, benchmark, options)?,
        Content::Rows(rows) => {
            options.columns.check(input, &rows, &[Role::Id, Role::Database, Role::Prediction])?;
            answers_of_rows(input, rows, options)?
        }
        Content::Keyed(rows) => answers_of_rows(input, rows, options)?,
    };
    let odd = answers.iter().filter(|a| a.was_no_text).map(|a| a.place.to_string());
    let odd = listed(odd);
    if !odd.is_empty() {
        notes.push(format!("{odd}: SQL that is no text read as an empty prediction"));
    }
    let (matched, extra) = match_answers(input, answers, benchmark, &mut notes)?;
    let mut set = PredictionSet {
        system: system.to_owned(),
        predictions: matched,
        source: input.path().to_owned(),
        notes,
        extra,
    };
    if options.extract {
        extract_all(&mut set, benchmark);
    }
    Ok(set)
}

fn answers_of_lines(
    input: &Input,
    lines: &[String],
    benchmark: &Benchmark,
    options: &PredictionOptions,
) -> Result<Vec<Answer>, DatasetError> {
    let wanted = benchmark.examples.len();
    let is_blank = |line: &&String| strip(line).is_empty();
    let needed = lines.len() - lines.iter().rev().take_while(is_blank).count();
    let chosen: Vec<usize> = if (needed..=lines.len()).contains(&wanted) {
        (0..wanted).collect()
    } else if benchmark.interactions() > 1 {
        check_interactions(input, lines, benchmark)?;
        (0..lines.len()).filter(|&i| !strip(&lines[i]).is_empty()).collect()
    } else {
        return Err(count_mismatch(input, lines, wanted));
    };
    let sql = |line: &str| {
        let line = strip(line);
        // Extraction sees the whole line: to a language model a tab is white space.
        let end = if options.extract { line.find(BIRD_SEPARATOR) } else { line.find('\t') };
        line[..end.unwrap_or(line.len())].to_owned()
    };
    Ok(chosen.into_iter().map(|i| Answer::positional(Place::Line(i + 1), Some(sql(&lines[i])))).collect())
}

fn count_mismatch(input: &Input, lines: &[String], wanted: usize) -> DatasetError {
    let blank = lines.iter().filter(|line| strip(line).is_empty()).count();
    let found = match blank {
        0 => counted(lines.len(), "line"),
        _ => format!("{} ({blank} of them blank)", counted(lines.len(), "line")),
    };
    DatasetError::CountMismatch {
        path: input.path().to_owned(),
        found,
        other: "the benchmark".to_owned(),
        expected: counted(wanted, "example"),
        remedy: "give one line per example, a blank one where there is no answer; or use a format with ids"
            .to_owned(),
    }
}

/// The turns of each interaction of the file must be as many as the gold's.
fn check_interactions(input: &Input, lines: &[String], benchmark: &Benchmark) -> Result<(), DatasetError> {
    let found: Vec<usize> =
        lines.split(|line| strip(line).is_empty()).map(<[String]>::len).filter(|&turns| turns > 0).collect();
    let mut expected = vec![0; benchmark.interactions()];
    for turn in benchmark.examples.iter().filter_map(|example| example.turn) {
        expected[turn.interaction] += 1;
    }
    // An interaction without turns leaves no trace in a file of lines.
    expected.retain(|&turns| turns > 0);
    let mismatch = |found: String, expected: String| DatasetError::CountMismatch {
        path: input.path().to_owned(),
        found,
        other: "the benchmark".to_owned(),
        expected,
        remedy: "give one line per turn and a blank line between interactions".to_owned(),
    };
    if found.len() != expected.len() {
        let describe = |turns: &[usize]| {
            format!("{} with {}", counted(turns.len(), "interaction"), counted(turns.iter().sum(), "turn"))
        };
        return Err(mismatch(describe(&found), describe(&expected)));
    }
    match (0..found.len()).find(|&i| found[i] != expected[i]) {
        None => Ok(()),
        Some(i) => Err(mismatch(
            format!("{} in interaction {i} (counted from 0)", counted(found[i], "turn")),
            expected[i].to_string(),
        )),
    }
}

fn answers_of_rows(
    input: &Input,
    rows: Vec<Row>,
    options: &PredictionOptions,
) -> Result<Vec<Answer>, DatasetError> {
    let mut answers = Vec::with_capacity(rows.len());
    for (entry, row) in rows.into_iter().enumerate() {
        match row.value {
            Value::Object(mut fields) => {
                if let Some(Value::Array(turns)) = fields.remove("interaction") {
                    for (index, turn) in turns.into_iter().enumerate() {
                        answers.push(answer_of_value(input, Place::Turn(entry, index + 1), turn, options)?);
                    }
                } else {
                    answers.push(answer_of_fields(input, row.place, &fields, &options.columns)?);
                }
            }
            value => answers.push(answer_of_value(input, row.place, value, options)?),
        }
    }
    Ok(answers)
}

fn answer_of_value(
    input: &Input,
    place: Place,
    value: Value,
    options: &PredictionOptions,
) -> Result<Answer, DatasetError> {
    match value {
        Value::Object(fields) => answer_of_fields(input, place, &fields, &options.columns),
        value => answer_of_sql(input, place, &value),
    }
}

/// An answer whose SQL is that value.
fn answer_of_sql(input: &Input, place: Place, value: &Value) -> Result<Answer, DatasetError> {
    let mut answer = Answer::positional(place, None);
    match value {
        Value::Null => {}
        Value::String(text) => match text.split_once(BIRD_SEPARATOR) {
            Some((sql, db_id)) => {
                answer.sql = Some(sql.to_owned());
                answer.db_id = Some(strip(db_id).to_owned());
            }
            None => answer.sql = Some(text.clone()),
        },
        Value::Array(_) | Value::Object(_) => {
            let problem = format!("the SQL is {}", kind(value));
            return Err(input.malformed(answer.place, problem, "give exactly one SQL text per example"));
        }
        Value::Bool(_) | Value::Number(_) => {
            answer.sql = Some(String::new());
            answer.was_no_text = true;
        }
    }
    Ok(answer)
}

fn answer_of_fields(
    input: &Input,
    place: Place,
    fields: &Map<String, Value>,
    columns: &Columns,
) -> Result<Answer, DatasetError> {
    let found = columns.find(Role::Prediction, fields);
    if found.is_none() && !columns.has(Role::Prediction, fields) {
        return Err(DatasetError::MissingField {
            path: input.path().to_owned(),
            place: place.to_string(),
            role: Role::Prediction,
            accepted: columns.accepted(Role::Prediction),
            present: present_columns(Some(fields)),
        });
    }
    let mut answer = answer_of_sql(input, place, found.map_or(&Value::Null, |(_, value)| value))?;
    let text = |role| columns.find(role, fields).and_then(|(_, value)| scalar_text(value));
    answer.key = text(Role::Id).filter(|id| !id.is_empty()).or(answer.key);
    answer.db_id =
        answer.db_id.or(text(Role::Database).map(|db_id| strip(&db_id).to_owned())).filter(|d| !d.is_empty());
    let used: Vec<&str> =
        KNOWN_ROLES.iter().filter_map(|&role| columns.find(role, fields)).map(|(name, _)| name).collect();
    let is_extra = |(name, value): &(&String, &Value)| {
        !used.contains(&name.as_str()) && !value.is_array() && !value.is_object() && !value.is_null()
    };
    answer.extra =
        fields.iter().filter(is_extra).map(|(name, value)| (name.clone(), value.clone())).collect();
    Ok(answer)
}

/// Replaces every prediction by the SQL in it and notes what was removed how often.
fn extract_all(set: &mut PredictionSet, benchmark: &Benchmark) {
    let mut counts = Removed::ALL.map(|removed| (removed, 0_usize));
    let predictions = set.predictions.iter_mut().zip(&benchmark.examples);
    for (prediction, example) in predictions.filter_map(|(p, e)| Some((p.as_mut()?, e))) {
        let Prediction { sql, .. } = prediction;
        if let Some(rest) = sql.strip_suffix(&example.db_id).and_then(|rest| rest.strip_suffix('\t')) {
            *sql = rest.to_owned();
        }
        let extraction = extract_sql(sql);
        for (removed, count) in &mut counts {
            *count += usize::from(extraction.removed.contains(removed));
        }
        *sql = extraction.sql;
    }
    for (removed, count) in counts.into_iter().filter(|(_, count)| *count > 0) {
        set.notes.push(format!(
            "extraction removed {} from {}",
            removed.as_str(),
            counted(count, "prediction")
        ));
    }
}
