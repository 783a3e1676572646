//! Texts with separated values.
//!
//! # Contract
//! - Quotes are `"`, doubled inside. Lines end with `\n`, `\r\n` or `\r`; blank lines are none.
//! - The first row has the names, unless more than half of its values are numbers, dates or times: then it is a row and the
//!   columns are `column_1` ….
//! - A row with fewer values than there are names goes on with NULLs; one with more is cut where what is beyond is empty, and
//!   left out otherwise. All are counted; if more than [`TablesOptions::max_ragged`] of the rows are left out, the table is refused.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use csv::{ErrorKind, ReaderBuilder, StringRecord};
use sqlgauge_base::regular;

use super::decode::{Decoder, NoText};
use super::{NotRead, Part, Reading, Refused, Source, Take, delimiter, unreadable};
use crate::options::TablesOptions;
use crate::report::{FileRefusal, Ragged};
use crate::values::is_plain_value;

/// How much of a text tells its delimiter.
const HEAD_BYTES: u64 = 1 << 16;
/// How many lines of rows that are left out are named.
const NAMED_LINES: usize = 5;
/// First bytes of files that are called tables and are something else.
const FOREIGN: [(&[u8], &str); 4] = [
    (b"\x1F\x8B", "it is compressed with gzip; unpack it with gunzip"),
    (b"PK\x03\x04", "it is a zip archive or a spreadsheet; unpack it, or save the sheet as CSV"),
    (b"\x28\xB5\x2F\xFD", "it is compressed with zstd; unpack it with unzstd"),
    (b"SQLite format 3\0", "it is a SQLite database; give its folder as databases"),
];

/// Reads a text.
pub(super) fn read(
    source: &Source,
    tabs: bool,
    options: &TablesOptions,
    take: Take<'_>,
) -> Result<Reading, NotRead> {
    let delimiter = if tabs { b'\t' } else { detect(&source.path)? };
    let mut decoder = Decoder::new(open(&source.path)?);
    let mut reading = Reading { delimiter: Some(char::from(delimiter)), ..Reading::default() };
    let mut reader =
        ReaderBuilder::new().delimiter(delimiter).flexible(true).has_headers(false).from_reader(&mut decoder);
    let mut record = StringRecord::new();
    let mut next =
        |record: &mut StringRecord| reader.read_record(record).map_err(|error| explain(&source.path, error));
    if !next(&mut record)? {
        return Err(Refused::new(FileRefusal::Empty, "the file has no line with a value").into());
    }
    record.trim();
    reading.header = is_header(&record);
    let width = record.len();
    let mut rows = 0_u64;
    if reading.header {
        take(Part::Header(&record))?;
    } else {
        let names: Vec<String> = (1..=width).map(|at| format!("column_{at}")).collect();
        take(Part::Header(&StringRecord::from(names)))?;
        take(Part::Row(&record))?;
        rows += 1;
    }
    while next(&mut record)? {
        rows += 1;
        record.trim();
        if fit(&mut record, width, &mut reading.ragged) {
            take(Part::Row(&record))?;
        }
    }
    reading.encoding = decoder.encoding();
    refuse_ragged(&reading.ragged, rows, options)?;
    Ok(reading)
}

fn open(path: &Path) -> Result<BufReader<File>, NotRead> {
    Ok(BufReader::with_capacity(1 << 16, regular::open(path).map_err(|error| unreadable(path, error))?))
}

fn detect(path: &Path) -> Result<u8, NotRead> {
    let mut start = Vec::new();
    open(path)?.take(HEAD_BYTES).read_to_end(&mut start).map_err(|error| unreadable(path, error))?;
    if let Some((_, remedy)) = FOREIGN.iter().find(|(signature, _)| start.starts_with(signature)) {
        return Err(Refused::new(FileRefusal::Binary, *remedy).into());
    }
    let mut head = String::new();
    Decoder::new(start.as_slice()).read_to_string(&mut head).map_err(|error| explain(path, error.into()))?;
    Ok(delimiter::detect(&head, (start.len() as u64) < HEAD_BYTES))
}

/// Whether a first row has names: not more than half of its values are plain values.
fn is_header(record: &StringRecord) -> bool {
    let given = record.iter().filter(|field| !field.is_empty());
    let values = given.clone().filter(|field| is_plain_value(field)).count();
    values * 2 <= given.count()
}

/// Makes a row as wide as the header; whether that can be done.
fn fit(record: &mut StringRecord, width: usize, ragged: &mut Ragged) -> bool {
    let length = record.len();
    if length < width {
        ragged.short += 1;
        (length..width).for_each(|_| record.push_field(""));
    } else if length > width {
        if record.iter().skip(width).any(|field| !field.is_empty()) {
            ragged.left_out += 1;
            if ragged.lines.len() < NAMED_LINES {
                ragged.lines.push(record.position().map_or(0, csv::Position::line));
            }
            return false;
        }
        ragged.cut += 1;
        record.truncate(width);
    }
    true
}

fn refuse_ragged(ragged: &Ragged, rows: u64, options: &TablesOptions) -> Result<(), Refused> {
    let share = ragged.left_out as f64 / rows.max(1) as f64;
    if share <= options.max_ragged {
        return Ok(());
    }
    let lines: Vec<String> = ragged.lines.iter().map(u64::to_string).collect();
    Err(Refused::new(
        FileRefusal::Ragged,
        format!(
            "{} of {rows} rows have more values than the header has names (lines {} …); quote values that hold the separator",
            ragged.left_out,
            lines.join(", ")
        ),
    ))
}

fn explain(path: &Path, error: csv::Error) -> NotRead {
    let what = error.to_string();
    let ErrorKind::Io(inner) = error.into_kind() else {
        return Refused::new(FileRefusal::Damaged, what).into();
    };
    match inner.get_ref().and_then(|inner| inner.downcast_ref::<NoText>()) {
        Some(NoText::Nul) => Refused::new(
            FileRefusal::Binary,
            "a NUL byte and no byte order mark: no text, or UTF-16 without its mark; convert it to UTF-8",
        )
        .into(),
        Some(problem @ NoText::LongLine) => Refused::new(FileRefusal::Unended, problem.to_string()).into(),
        None => unreadable(path, inner),
    }
}
