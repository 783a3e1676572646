//! A JSON document: a list of items (Spider, `SParC`, BIRD `dev.json`) or an object of items (BIRD predictions).

use serde_json::Value;

use super::{Part, Place, Reader, Row, Take};
use crate::error::DatasetError;
use crate::input::Input;
use crate::json::{self, Shape, Stopped};
use crate::text::{LineCounter, Places};

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

    fn read(&self, input: &Input, notes: &mut Vec<String>, take: Take<'_>) -> Result<(), DatasetError> {
        let shape =
            for_each_item_of(input, notes, &mut |place, value| take(Part::Row(Row { place, value })))?;
        match shape {
            Shape::List | Shape::Object => Ok(()),
            Shape::Scalar => Err(input.not_readable(
                "is neither a JSON list nor a JSON object",
                "give a list of items, or an object from id to SQL",
            )),
        }
    }
}

/// The items of the one JSON list or object of a file, one by one.
pub(crate) fn for_each_item_of(
    input: &Input,
    notes: &mut Vec<String>,
    take: &mut dyn FnMut(Place, Value) -> Result<(), DatasetError>,
) -> Result<Shape, DatasetError> {
    let text = input.text(notes)?;
    let (mut counter, mut from, mut places) = (LineCounter::default(), 0, Places::default());
    let text = json::without_lone_surrogates(&text, |at| {
        counter.advance(&text[from..at]);
        from = at;
        places.push(counter.line());
    });
    json::note_lone_surrogates(&places, notes);
    let mut next = 0;
    let mut place_and_take = |key: Option<String>, value| {
        next += 1;
        take(key.map_or(Place::Entry(next - 1), Place::Key), value)
    };
    json::for_each_item(&text, &mut place_and_take).map_err(|stopped| match stopped {
        Stopped::Taken(error) => error,
        Stopped::Malformed(e) => {
            let place = format!("line {} column {}", e.line, e.column);
            input.malformed(
                place,
                e.problem,
                "mend the JSON there, or name the format if the file is no JSON",
            )
        }
    })
}
