//! Labels that somebody judged elsewhere: which items a system got right.

use std::collections::HashMap;

use serde_json::Value;

use crate::columns::{ColumnRole, Columns, present_columns, scalar_text};
use crate::error::DatasetError;
use crate::formats::{FileFormat, Part, Place, Row};
use crate::input::Input;
use crate::text::strip;

/// Column names that are understood as the label.
const ALIASES: [&str; 6] = ["correct", "is_correct", "label", "ex", "execution_accuracy", "score"];

/// The label of one item.
#[derive(Debug, Clone, PartialEq)]
pub struct Label {
    /// The id of the item.
    pub id: String,
    /// 1 where the system was right, 0 where it was wrong, a share where the judge gave one; `None` where the file has
    /// an empty field or null.
    pub correct: Option<f64>,
}

/// Reads labels from a file that is in memory: rows with an id and a label (TSV, CSV, JSONL, JSON, Parquet), or an
/// object from id to label. The label is in the column of that name, else in `correct` or what else it is called.
///
/// A label is a number between 0 and 1, true or false.
///
/// # Errors
/// As [`crate::load_labels`], without the reading.
pub fn parse_labels(
    input: &Input,
    column: Option<&str>,
    columns: &Columns,
) -> Result<Vec<Label>, DatasetError> {
    let format = FileFormat::detect(input);
    let mut seen: HashMap<String, Place> = HashMap::new();
    let mut labels = Vec::new();
    format.read(input, &mut Vec::new(), &mut |part| {
        let Part::Row(row) = part else { return Ok(()) };
        let label = label_of(input, &row, column, columns)?;
        if let Some(first) = seen.insert(label.id.clone(), row.place.clone()) {
            return Err(DatasetError::DuplicateId {
                path: input.path().to_owned(),
                id: label.id,
                first: first.to_string(),
                second: row.place.to_string(),
            });
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
        return Err(input.not_readable("has no label", "give one row per item, with id and correct"));
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
        return Ok(Label { id, correct: correct(input, row, &row.value)? });
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
    Ok(Label { id: id.ok_or_else(|| no_id(input, row, columns))?, correct: correct(input, row, value)? })
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
