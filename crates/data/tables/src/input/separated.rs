//! Texts with separated values.
//!
//! # Contract
//! - Quotes are `"`, doubled inside. Blank lines are skipped. For the ends of lines see `records`.
//! - The first row has the names, unless more than half of its values are numbers, dates or times: then it is a row and the
//!   columns are `column_1` ….
//! - A row with more values than there are names is cut where what is beyond is empty. Otherwise a row with more or fewer is
//!   left out, counted and named by its line; [`TablesOptions::fill_short_lines`] keeps those with fewer. If more than
//!   [`TablesOptions::max_ragged`] of the rows are left out, the table is refused.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use csv::{ErrorKind, StringRecord};
use sqlgauge_base::regular;

use super::decode::{Decoder, NoText};
use super::records::Records;
use super::{NotRead, Part, Reading, Refused, Source, Take, delimiter, unreadable};
use crate::error::TablesError;
use crate::options::TablesOptions;
use crate::report::{FileRefusal, Ragged};
use crate::values::is_plain_value;

/// How much of a text tells its delimiter.
const HEAD_BYTES: u64 = 1 << 16;
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
    let head = Head::of(&source.path)?;
    let delimiter = if tabs { b'\t' } else { delimiter::detect(&head.text, head.is_whole) };
    let mut decoder = Decoder::new(open(&source.path)?);
    let mut reading = Reading { delimiter: Some(char::from(delimiter)), ..Reading::default() };
    let mut records = Records::new(&mut decoder, &head.text, delimiter);
    let mut record = StringRecord::new();
    if !records.next(&mut record).map_err(explain)? {
        return Err(Refused::new(FileRefusal::Empty, "the file has no line with a value").into());
    }
    reading.header = is_header(&record);
    let width = record.len();
    let mut fitting = Fitting { path: &source.path, width, options, ragged: Ragged::default() };
    let mut rows = 0_u64;
    if reading.header {
        take(Part::Header(&record))?;
    } else {
        let names: Vec<String> = (1..=width).map(|at| format!("column_{at}")).collect();
        take(Part::Header(&StringRecord::from(names)))?;
        take(Part::Row(&record))?;
        rows += 1;
    }
    while records.next(&mut record).map_err(explain)? {
        rows += 1;
        if fitting.fit(&mut record)? {
            take(Part::Row(&record))?;
        }
    }
    reading.encoding = decoder.encoding();
    reading.ragged = fitting.finish(rows)?;
    Ok(reading)
}

fn open(path: &Path) -> Result<BufReader<File>, NotRead> {
    Ok(BufReader::with_capacity(1 << 16, regular::open(path).map_err(|error| unreadable(&error))?))
}

/// The beginning of a text.
struct Head {
    text: String,
    is_whole: bool,
}

impl Head {
    fn of(path: &Path) -> Result<Self, NotRead> {
        let mut start = Vec::new();
        open(path)?.take(HEAD_BYTES).read_to_end(&mut start).map_err(|error| unreadable(&error))?;
        if let Some((_, remedy)) = FOREIGN.iter().find(|(signature, _)| start.starts_with(signature)) {
            return Err(Refused::new(FileRefusal::Binary, *remedy).into());
        }
        let mut text = String::new();
        Decoder::new(start.as_slice()).read_to_string(&mut text).map_err(|error| explain(error.into()))?;
        Ok(Self { text, is_whole: (start.len() as u64) < HEAD_BYTES })
    }
}

/// Whether a first row has names: not more than half of its values are plain values.
fn is_header(record: &StringRecord) -> bool {
    let fields = record.iter().filter(|field| !field.is_empty());
    let values = fields.clone().filter(|field| is_plain_value(field)).count();
    values * 2 <= fields.count()
}

/// The rows of a text, made as wide as the header.
struct Fitting<'a> {
    path: &'a Path,
    width: usize,
    options: &'a TablesOptions,
    ragged: Ragged,
}

impl Fitting<'_> {
    /// Makes a row as wide as the header; whether that can be done.
    fn fit(&mut self, record: &mut StringRecord) -> Result<bool, TablesError> {
        let (length, width) = (record.len(), self.width);
        let line = line(record);
        if length == width {
            return Ok(true);
        }
        if length > width && record.iter().skip(width).all(str::is_empty) {
            self.ragged.cut += 1;
            record.truncate(width);
            return Ok(true);
        }
        if length < width && self.options.fill_short_lines {
            self.ragged.filled.push(line);
            (length..width).for_each(|_| record.push_field(""));
            return Ok(true);
        }
        if self.options.strict {
            let (path, line) = (self.path.to_owned(), line.unwrap_or_default());
            return Err(TablesError::RaggedRow { path, line, values: length, names: width });
        }
        if length < width { &mut self.ragged.short } else { &mut self.ragged.long }.push(line);
        Ok(false)
    }

    /// What does not fit, unless it is so much that the header is not that of the rows.
    fn finish(self, rows: u64) -> Result<Ragged, Refused> {
        let ragged = self.ragged;
        let share = ragged.left_out() as f64 / rows.max(1) as f64;
        if share <= self.options.max_ragged {
            return Ok(ragged);
        }
        let mut lines: Vec<u64> = ragged.short.first.iter().chain(&ragged.long.first).copied().collect();
        lines.sort_unstable();
        let lines: Vec<String> = lines.iter().map(u64::to_string).collect();
        let detail = format!(
            "{} of {rows} rows do not have as many values as the first line has names ({}; lines {} …); begin with the names, \
             quote values that hold the separator",
            ragged.left_out(),
            self.width,
            lines.join(", ")
        );
        Err(Refused::new(FileRefusal::Ragged, detail))
    }
}

/// The line that a row begins in.
pub(crate) fn line(record: &StringRecord) -> Option<u64> {
    record.position().map(csv::Position::line)
}

fn explain(error: csv::Error) -> NotRead {
    let what = error.to_string();
    let ErrorKind::Io(inner) = error.into_kind() else {
        return Refused::new(FileRefusal::Damaged, what).into();
    };
    match inner.get_ref().and_then(|inner| inner.downcast_ref::<NoText>()) {
        Some(NoText::Nul) => Refused::new(
            FileRefusal::Binary,
            "a NUL byte without a byte order mark: not a text, or UTF-16 without its mark; convert it to UTF-8",
        )
        .into(),
        Some(problem @ NoText::LongLine) => Refused::new(FileRefusal::Unended, problem.to_string()).into(),
        None => unreadable(&inner).into(),
    }
}
