//! JSON lines: one object (or one SQL text) per line; blank lines are nothing.

use super::{Part, Place, Reader, Row, Take};
use crate::error::DatasetError;
use crate::input::Input;
use crate::text::Places;
use crate::{json, text};

pub(super) struct Jsonl;

impl Reader for Jsonl {
    fn name(&self) -> &'static str {
        "jsonl"
    }

    fn summary(&self) -> &'static str {
        "one JSON object with named fields per line"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["jsonl", "ndjson"]
    }

    fn looks_like(&self, text: &str) -> bool {
        let mut objects = text::lines(text).map(text::strip).filter(|line| !line.is_empty()).take(2);
        let both = |line: &str| line.starts_with('{') && line.ends_with('}');
        objects.next().is_some_and(both) && objects.next().is_some_and(both)
    }

    fn read(&self, input: &Input, notes: &mut Vec<String>, take: Take<'_>) -> Result<(), DatasetError> {
        let mut halves = Places::default();
        if let Some(mut lines) = input.lines()? {
            let mut index = 0;
            while let Some(line) = lines.next_line().map_err(|error| input.unreadable(error))? {
                take_line(input, (index, line), &mut halves, take)?;
                index += 1;
            }
        } else {
            let text = input.text(notes)?;
            for line in text::lines(&text).enumerate() {
                take_line(input, line, &mut halves, take)?;
            }
        }
        json::note_lone_surrogates(&halves, notes);
        Ok(())
    }
}

fn take_line(
    input: &Input,
    (index, line): (usize, &str),
    halves: &mut Places,
    take: Take<'_>,
) -> Result<(), DatasetError> {
    if text::strip(line).is_empty() {
        return Ok(());
    }
    let line = json::without_lone_surrogates(line, |_| halves.push(index + 1));
    let value = json::parse(&line).map_err(|e| {
        let place = format!("line {} column {}", index + 1, e.column);
        input.malformed(place, e.problem, "give one complete JSON value per line")
    })?;
    take(Part::Row(Row { place: Place::Line(index + 1), value }))
}
