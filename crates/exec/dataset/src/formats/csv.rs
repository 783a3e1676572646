//! Comma- or tab-separated values with a header line; a field may be quoted with `"` and then hold line ends.

use serde_json::{Map, Value};

use super::{Part, Place, Reader, Row, Take};
use crate::error::DatasetError;
use crate::input::Input;
use crate::text;

pub(super) struct Separated {
    name: &'static str,
    separator: u8,
}

pub(super) static COMMA: Separated = Separated { name: "csv", separator: b',' };
pub(super) static TAB: Separated = Separated { name: "tsv", separator: b'\t' };

impl Reader for Separated {
    fn name(&self) -> &'static str {
        self.name
    }

    fn summary(&self) -> &'static str {
        match self.separator {
            b'\t' => "tab-separated values with a header line",
            _ => "comma-separated values with a header line",
        }
    }

    fn extensions(&self) -> &'static [&'static str] {
        match self.separator {
            b'\t' => &["tsv"],
            _ => &["csv"],
        }
    }

    fn read(&self, input: &Input, notes: &mut Vec<String>, take: Take<'_>) -> Result<(), DatasetError> {
        let text = input.text(notes)?;
        let mut reader = csv::ReaderBuilder::new().delimiter(self.separator).from_reader(text.as_bytes());
        let header = header(input, &text, &mut reader)?;
        for record in reader.records() {
            let record = record.map_err(|e| explain(input, &text, &e))?;
            let line = record.position().map_or(0, |position| line_at(&text, position));
            let fields = header.iter().cloned().zip(record.iter().map(Value::from)).collect();
            let place = Place::Line(usize::try_from(line).unwrap_or(usize::MAX));
            take(Part::Row(Row { place, value: Value::Object(fields) }))?;
        }
        Ok(())
    }
}

/// The column names. A byte order mark inside the first name (a quoted header that a spreadsheet wrote) is no
/// part of it.
fn header(input: &Input, text: &str, reader: &mut csv::Reader<&[u8]>) -> Result<Vec<String>, DatasetError> {
    let header = reader.headers().map_err(|e| explain(input, text, &e))?;
    let names: Vec<String> =
        header.iter().map(|name| text::strip(name.trim_matches('\u{FEFF}')).to_owned()).collect();
    let mut seen = Map::new();
    for name in &names {
        if seen.insert(name.clone(), Value::Null).is_some() {
            let problem = format!("the column {name:?} occurs twice");
            return Err(input.malformed("line 1", problem, "rename one of the two"));
        }
    }
    Ok(names)
}

/// The line that a record begins in: its position may stand before the end of the line before.
fn line_at(text: &str, position: &csv::Position) -> u64 {
    let start = usize::try_from(position.byte()).unwrap_or(usize::MAX);
    let rest = text.as_bytes().get(start..).unwrap_or_default();
    let ends = rest.iter().take_while(|byte| b"\r\n".contains(byte)).filter(|byte| **byte == b'\n');
    position.line() + ends.count() as u64
}

fn explain(input: &Input, text: &str, error: &csv::Error) -> DatasetError {
    let line = error.position().map_or(1, |position| line_at(text, position));
    let problem = match error.kind() {
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            format!("{} where the header has {expected_len}", sqlgauge_base::counted(*len, "field"))
        }
        _ => error.to_string(),
    };
    input.malformed(
        format_args!("line {line}"),
        problem,
        "quote fields that hold separators, quotes or line ends, and double the quotes inside",
    )
}
