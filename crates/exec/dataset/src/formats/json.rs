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
        let mut wrapped = Wrapped::default();
        let mut hand_over = |place, value| take(Part::Row(Row { place, value }));
        let shape = for_each_item_of(input, notes, &mut |place, value| match place {
            Place::Key(key) => wrapped.take(key, value, &mut hand_over),
            place => hand_over(place, value),
        })?;
        wrapped.finish(&mut hand_over)?;
        match shape {
            Shape::List | Shape::Object => Ok(()),
            Shape::Scalar => Err(input.not_readable(
                "is neither a JSON list nor a JSON object",
                "give a list of items, or an object from id to SQL",
            )),
        }
    }
}

/// An object with the items in a list beside what is about the file, as EHRSQL's `{"version": …, "data": […]}`, or one object
/// deeper.
#[derive(Default)]
struct Wrapped {
    has_list: bool,
    /// The members before the list, until it is known whether there is one.
    before: Vec<(String, Value)>,
    /// Too many members came before one: they are the items.
    has_none: bool,
}

/// The keys of such a list; `detailed_results` is that of evaluation files on BIRD's corrected golds.
const LISTS: [&str; 7] =
    ["data", "results", "detailed_results", "predictions", "examples", "items", "questions"];
/// Members that may come before it.
const MOST_BEFORE: usize = 16;

type HandOver<'a> = &'a mut dyn FnMut(Place, Value) -> Result<(), DatasetError>;

impl Wrapped {
    fn take(&mut self, key: String, value: Value, hand_over: HandOver<'_>) -> Result<(), DatasetError> {
        if self.has_list {
            return Ok(());
        }
        if self.has_none {
            return hand_over(Place::Key(key), value);
        }
        let is_wrapper = LISTS.contains(&key.as_str());
        let value = if is_wrapper { inner_list(value) } else { value };
        match value {
            Value::Array(items) if is_wrapper && holds_objects(&items) => {
                self.has_list = true;
                self.before.clear();
                items.into_iter().enumerate().try_for_each(|(at, item)| hand_over(Place::Entry(at), item))
            }
            value => {
                self.before.push((key, value));
                self.has_none = self.before.len() > MOST_BEFORE;
                if self.has_none { self.finish(hand_over) } else { Ok(()) }
            }
        }
    }

    /// Hands over what turned out to be items.
    fn finish(&mut self, hand_over: HandOver<'_>) -> Result<(), DatasetError> {
        let items = std::mem::take(&mut self.before).into_iter();
        items.map(|(key, value)| (Place::Key(key), value)).try_for_each(|(key, value)| hand_over(key, value))
    }
}

/// The list `results` of an object, as promptfoo has `results.results`, or else the value.
fn inner_list(mut value: Value) -> Value {
    match value.get_mut("results") {
        Some(Value::Array(items)) if holds_objects(items) => Value::Array(std::mem::take(items)),
        _ => value,
    }
}

fn holds_objects(items: &[Value]) -> bool {
    !items.is_empty() && items.iter().all(Value::is_object)
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
