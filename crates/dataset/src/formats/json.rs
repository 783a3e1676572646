//! A JSON document: a list of items (Spider, `SParC`, BIRD `dev.json`) or an object of items (BIRD predictions).

use serde_json::Value;

use super::{Content, Place, Reader, Row};
use crate::error::DatasetError;
use crate::input::Input;
use crate::json;

pub(super) struct Json;

impl Reader for Json {
    fn name(&self) -> &'static str {
        "json"
    }

    fn summary(&self) -> &'static str {
        "a list of objects with named fields (or of SQL texts), or an object from id to SQL"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["json"]
    }

    fn looks_like(&self, text: &str) -> bool {
        let mut characters = text.chars().filter(|c| !c.is_whitespace());
        matches!(
            (characters.next(), characters.next()),
            (Some('['), Some('{' | '"' | ']')) | (Some('{'), Some('"' | '}'))
        )
    }

    fn read(&self, input: &Input, notes: &mut Vec<String>) -> Result<Content, DatasetError> {
        match parse_document(input, notes)? {
            Value::Array(items) => Ok(Content::Rows(
                items
                    .into_iter()
                    .enumerate()
                    .map(|(i, value)| Row { place: Place::Entry(i), value })
                    .collect(),
            )),
            Value::Object(entries) => Ok(Content::Keyed(
                entries.into_iter().map(|(key, value)| Row { place: Place::Key(key), value }).collect(),
            )),
            _ => Err(input.not_readable(
                "is neither a JSON list nor a JSON object",
                "give a list of items, or an object from id to SQL",
            )),
        }
    }
}

/// The one JSON value of a file.
pub(crate) fn parse_document(input: &Input, notes: &mut Vec<String>) -> Result<Value, DatasetError> {
    let text = input.text(notes)?;
    json::parse(&text).map_err(|e| {
        let place = format!("line {} column {}", e.line, e.column);
        input.malformed(place, e.problem, "mend the JSON there, or name the format if the file is no JSON")
    })
}
