//! Labels that somebody judged elsewhere: which items a system got right.

use std::collections::HashMap;
use std::path::Path;

use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use sqlgauge_base::{counted_of, hex, verb_for};

use crate::columns::{ColumnRole, Columns, present_columns, scalar_text};
use crate::error::DatasetError;
use crate::formats::{FileFormat, Part, Place, Row};
use crate::input::Input;
use crate::text::{listed, strip};

/// Column names that are understood as the label.
const ALIASES: [&str; 6] = ["correct", "is_correct", "label", "ex", "execution_accuracy", "score"];

/// The column with the system that a row labels, as `report --output-format csv` writes it.
const SYSTEM: &str = "system";

/// The column with the SHA-256 of the answer that was shown to who gave the label, as `sqlgauge view` writes it.
const SHOWN: &str = "shown";

/// The label of one item.
#[derive(Debug, Clone, PartialEq)]
pub struct Label {
    /// The id of the item.
    pub id: String,
    /// 1 where the system was right, 0 where it was wrong, a share where the judge gave one; `None` where the file has
    /// an empty field or null.
    pub correct: Option<f64>,
    /// SHA-256 of the answer that the label is of, in lower-case hexadecimal digits, where the file says so.
    pub shown: Option<String>,
}

impl Label {
    /// Whether the label is of that answer, where a missing answer is an empty text. A label that does not say of which answer it is
    /// is of every one.
    pub fn is_of(&self, answer: &str) -> bool {
        self.shown.as_ref().is_none_or(|hash| *hash == hex(&Sha256::digest(answer)))
    }
}

/// Takes out the labels that are of other answers than those at hand. Returns a sentence that names their ids, if there are any.
///
/// `answer` is the answer to the item of that id, an empty text where it is missing; `None` where there is no such item, whose
/// label stays. `path` is the file of the labels.
pub fn take_out_other_answers<'a>(
    labels: &mut Vec<Label>,
    path: &Path,
    answer: impl Fn(&str) -> Option<&'a str>,
) -> Option<String> {
    let all = labels.len();
    let is_of_other = |label: &mut Label| answer(&label.id).is_some_and(|answer| !label.is_of(answer));
    let others: Vec<Label> = labels.extract_if(.., is_of_other).collect();
    let count = counted_of(others.len(), all, "label");
    let (is, does, it) = match verb_for(&others.len(), ["is", "are"]) {
        "is" => ("is", "does", "the answer"),
        are => (are, "do", "the answers"),
    };
    let ids = listed(others.iter().map(|label| &label.id));
    let path = path.display();
    (!others.is_empty()).then(|| {
        format!("{path}: {count} {is} of an earlier answer and {does} not count; label {it} again: {ids}")
    })
}

/// Reads labels from a file that is in memory: rows with an id and a label (TSV, CSV, JSONL, JSON, Parquet), or an
/// object from id to label. The label is in the column of that name, else in `correct` or what else it is called.
/// Of rows with a column `system` those of the named system are read.
///
/// A label is a number between 0 and 1, true or false. `shown` is the SHA-256 of the answer that it is of, or empty.
///
/// # Errors
/// As [`crate::load_labels`], without the reading.
pub fn parse_labels(
    input: &Input,
    system: Option<&str>,
    column: Option<&str>,
    columns: &Columns,
) -> Result<Vec<Label>, DatasetError> {
    let format = FileFormat::detect(input);
    let mut seen: HashMap<String, Place> = HashMap::new();
    let mut labels = Vec::new();
    format.read(input, &mut Vec::new(), &mut |part| {
        let Part::Row(row) = part else { return Ok(()) };
        if system
            .zip(row.value.get(SYSTEM).and_then(Value::as_str))
            .is_some_and(|(wanted, name)| wanted != name)
        {
            return Ok(());
        }
        let label = label_of(input, &row, column, columns)?;
        if let Some(first) = seen.insert(label.id.clone(), row.place.clone()) {
            return Err(input.twice(label.id, first, row.place));
        }
        labels.push(label);
        Ok(())
    })?;
    if format.has_lines() {
        return Err(input.not_readable(
            "is a file of lines",
            "give labels as TSV, CSV or JSONL with the columns id and correct",
        ));
    }
    if labels.is_empty() {
        let of = system.map_or_else(String::new, |name| format!(" of {name}"));
        return Err(
            input.not_readable(format!("has no label{of}"), "give one row per item, with id and correct")
        );
    }
    Ok(labels)
}

fn label_of(
    input: &Input,
    row: &Row,
    column: Option<&str>,
    columns: &Columns,
) -> Result<Label, DatasetError> {
    let key = match &row.place {
        Place::Key(key) => Some(key.clone()),
        _ => None,
    };
    let Value::Object(fields) = &row.value else {
        let id = key.ok_or_else(|| no_id(input, row, columns))?;
        return Ok(Label { id, correct: correct(input, row, &row.value)?, shown: None });
    };
    let id = columns.find(ColumnRole::Id, fields).and_then(|(_, value)| scalar_text(value)).or(key);
    let value = match column {
        Some(column) => fields.get(column),
        None => ALIASES
            .iter()
            .find_map(|alias| fields.iter().find(|(name, _)| name.eq_ignore_ascii_case(alias)))
            .map(|(_, value)| value),
    };
    let Some(value) = value else {
        let wanted = column.map_or_else(|| ALIASES.join(", "), str::to_owned);
        let problem = format!("no label (looked for {wanted}; there is {})", present_columns(Some(fields)));
        return Err(input.malformed(&row.place, problem, "name the column that has the labels"));
    };
    Ok(Label {
        id: id.ok_or_else(|| no_id(input, row, columns))?,
        correct: correct(input, row, value)?,
        shown: answer_hash(input, row, fields)?,
    })
}

fn answer_hash(
    input: &Input,
    row: &Row,
    fields: &Map<String, Value>,
) -> Result<Option<String>, DatasetError> {
    let Some(value) = fields.get(SHOWN).filter(|value| !value.is_null() && *value != "") else {
        return Ok(None);
    };
    let is_hash = |text: &&str| text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let Some(text) = value.as_str().filter(is_hash) else {
        let problem = format!("`{SHOWN}` is {value}, which is not a SHA-256");
        return Err(input.malformed(
            &row.place,
            problem,
            "give the SHA-256 of the labelled answer, or leave it out",
        ));
    };
    Ok(Some(text.to_ascii_lowercase()))
}

fn no_id(input: &Input, row: &Row, columns: &Columns) -> DatasetError {
    DatasetError::MissingField {
        path: input.path().to_owned(),
        place: row.place.to_string(),
        role: ColumnRole::Id,
        accepted: columns.accepted(ColumnRole::Id),
        present: present_columns(row.value.as_object()),
    }
}

fn correct(input: &Input, row: &Row, value: &Value) -> Result<Option<f64>, DatasetError> {
    let text = scalar_text(value).unwrap_or_default();
    let text = strip(&text);
    let number = match text.to_ascii_lowercase().as_str() {
        "" if value.is_null() || value.is_string() => return Ok(None),
        "true" => Some(1.0),
        "false" => Some(0.0),
        _ => text.parse::<f64>().ok(),
    };
    if let Some(number) = number.filter(|number| (0.0..=1.0).contains(number)) {
        return Ok(Some(number));
    }
    let problem = format!("the label is {value}");
    Err(input.malformed(&row.place, problem, "a label is 0, 1, a number between them, true or false"))
}
