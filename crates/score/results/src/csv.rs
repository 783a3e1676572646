//! Reads CSV as pandas' C parser splits it into fields, piece by piece.
//!
//! # Contract
//! - `,` separates, `"` quotes, a doubled quote inside of quotes is a quote; after a closing quote the field goes on as it is.
//! - `\n`, `\r\n` and a lone `\r` end a row. A line of nothing but spaces and tabs is skipped.
//! - A byte order mark of UTF-8 is skipped; any other bytes that are not UTF-8 are an error with their line.
//! - Rows shorter than the widest of header and first row are filled up with empty fields and noted ([`ResultFile::ragged`]).
//! - Memory holds the cells, at most `limit` bytes of them, and not the file. Once there are more than `most_rows` rows, reading
//!   stops ([`ResultFile::is_beginning`]).

use std::io::{BufRead, BufReader, Read};

use crate::error::Unreadable;
use crate::table::{CELL_COST, Cells, RaggedRow, ResultFile, TextColumn};

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    StartRow,
    /// Spaces and tabs since the beginning of the line.
    Blank,
    StartField,
    InField,
    InQuotes,
    /// A quote inside of quotes: the end, or the first of two.
    QuoteInQuotes,
    /// Behind a `\r` that ended a row: a `\n` belongs to it.
    AfterReturn,
    /// Behind a `\r` that ended a blank line: a `\n` belongs to it, and pandas loses a `,` there.
    AfterBlankReturn,
}

struct Splitter {
    state: State,
    /// The bytes of the row so far, and where each field ends.
    row: Vec<u8>,
    ends: Vec<usize>,
    line: u64,
    row_line: u64,
    quote_line: u64,
    sink: Sink,
}

/// Takes rows and makes a table of them.
struct Sink {
    names: Option<Vec<String>>,
    columns: Vec<TextColumn>,
    rows: usize,
    ragged: Option<RaggedRow>,
    overlong: Option<RaggedRow>,
    cost: usize,
    limit: usize,
    most_rows: usize,
}

/// Reads a table.
///
/// # Errors
/// See the head of this file; and when the source fails.
pub(crate) fn read(source: impl Read, most_rows: usize, limit: usize) -> Result<ResultFile, Unreadable> {
    let mut source = BufReader::with_capacity(1 << 16, source);
    let sink = Sink {
        names: None,
        columns: Vec::new(),
        rows: 0,
        ragged: None,
        overlong: None,
        cost: 0,
        limit,
        most_rows,
    };
    let mut splitter = Splitter {
        state: State::StartRow,
        row: Vec::new(),
        ends: Vec::new(),
        line: 1,
        row_line: 1,
        quote_line: 1,
        sink,
    };
    if source.fill_buf()?.starts_with(b"\xEF\xBB\xBF") {
        source.consume(3);
    }
    loop {
        let piece = source.fill_buf()?;
        if piece.is_empty() {
            return splitter.finish();
        }
        let length = piece.len();
        for byte in piece {
            splitter.take(*byte)?;
        }
        source.consume(length);
        if splitter.row.len() > limit {
            return Err(Unreadable::TooLarge { limit });
        }
        if splitter.sink.rows > most_rows {
            return splitter.sink.finish();
        }
    }
}

impl Splitter {
    fn take(&mut self, byte: u8) -> Result<(), Unreadable> {
        let is_after_blank = self.state == State::AfterBlankReturn;
        if is_after_blank || self.state == State::AfterReturn {
            self.state = State::StartRow;
            if byte == b'\n' || (is_after_blank && byte == b',') {
                return Ok(());
            }
        }
        match (self.state, byte) {
            (State::StartRow | State::Blank, b'\n' | b'\r') => {
                self.row.clear();
                self.end_line(byte);
                if byte == b'\r' {
                    self.state = State::AfterBlankReturn;
                }
            }
            (State::StartRow | State::Blank, b' ' | b'\t') => {
                self.begin(State::Blank);
                self.row.push(byte);
            }
            (State::InQuotes, b'"') => self.state = State::QuoteInQuotes,
            (State::InQuotes, _) => {
                self.line += u64::from(byte == b'\n');
                self.row.push(byte);
            }
            (State::QuoteInQuotes, b'"') => {
                self.row.push(byte);
                self.state = State::InQuotes;
            }
            (State::StartRow | State::StartField, b'"') => {
                self.begin(State::InQuotes);
                self.quote_line = self.line;
            }
            (_, b'\n' | b'\r') => {
                self.end_row()?;
                self.end_line(byte);
            }
            (_, b',') => {
                self.begin(State::StartField);
                self.ends.push(self.row.len());
            }
            (_, _) => {
                self.begin(State::InField);
                self.row.push(byte);
            }
        }
        Ok(())
    }

    fn begin(&mut self, state: State) {
        if self.state == State::StartRow {
            self.row_line = self.line;
        }
        self.state = state;
    }

    fn end_line(&mut self, byte: u8) {
        self.line += 1;
        self.state = if byte == b'\r' { State::AfterReturn } else { State::StartRow };
    }

    fn end_row(&mut self) -> Result<(), Unreadable> {
        self.ends.push(self.row.len());
        let encoding = Unreadable::Encoding { line: self.row_line };
        let mut start = 0;
        let mut fields = Vec::with_capacity(self.ends.len());
        for end in self.ends.drain(..) {
            // Separators are ASCII, so a field is UTF-8 if the row is.
            fields.push(std::str::from_utf8(&self.row[start..end]).map_err(|_| encoding.clone())?);
            start = end;
        }
        self.sink.take(&fields, self.row_line)?;
        self.row.clear();
        Ok(())
    }

    fn finish(mut self) -> Result<ResultFile, Unreadable> {
        match self.state {
            State::InQuotes => return Err(Unreadable::OpenQuote { line: self.quote_line }),
            State::StartRow | State::Blank | State::AfterReturn | State::AfterBlankReturn => {}
            State::StartField | State::InField | State::QuoteInQuotes => self.end_row()?,
        }
        self.sink.finish()
    }
}

impl Sink {
    fn take(&mut self, fields: &[&str], line: u64) -> Result<(), Unreadable> {
        let Some(names) = &self.names else {
            self.names = Some(fields.iter().map(|name| (*name).to_owned()).collect());
            return Ok(());
        };
        let header = names.len();
        if self.rows == 0 {
            self.columns = vec![TextColumn::default(); header.max(fields.len())];
        }
        let ragged = RaggedRow { line, fields: fields.len(), header };
        if fields.len() != header {
            self.ragged.get_or_insert(ragged);
        }
        if fields.len() > self.columns.len() {
            self.overlong.get_or_insert(ragged);
        }
        for (at, column) in self.columns.iter_mut().enumerate() {
            let field = fields.get(at).copied().unwrap_or_default();
            column.push(field);
            self.cost += field.len() + CELL_COST;
        }
        self.rows += 1;
        if self.cost > self.limit && self.rows <= self.most_rows {
            return Err(Unreadable::TooLarge { limit: self.limit });
        }
        Ok(())
    }

    fn finish(self) -> Result<ResultFile, Unreadable> {
        let names = self.names.ok_or(Unreadable::Empty)?;
        let columns = if self.rows == 0 { vec![TextColumn::default(); names.len()] } else { self.columns };
        Ok(ResultFile {
            names,
            cells: Cells::Written(columns),
            rows: self.rows,
            is_beginning: self.rows > self.most_rows,
            ragged: self.ragged,
            overlong: self.overlong,
            cost: self.cost,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::MAX_COST;

    fn rows(text: &str) -> Result<Vec<Vec<String>>, Unreadable> {
        let table = read(text.as_bytes(), usize::MAX, MAX_COST)?;
        let Cells::Written(columns) = &table.cells else { return Ok(Vec::new()) };
        let row = |at: usize| {
            columns.iter().filter_map(|column| column.iter().nth(at)).map(str::to_owned).collect()
        };
        Ok((0..table.rows).map(row).collect())
    }

    /// Reference: `pandas.read_csv` 3.1.
    #[test]
    fn rows_are_split_as_pandas_splits_them() {
        for (text, expected) in [
            ("a,b\n1,2", &[&["1", "2"][..]][..]),
            ("\u{feff}a,b\r\n1,2\r\n", &[&["1", "2"]]),
            ("a,b\r1,2\r3,4\r", &[&["1", "2"], &["3", "4"]]),
            ("\n\na\n \n1\n\t\n2\n  ", &[&["1"], &["2"]]),
            (
                "a\n\"\"\n\"x\ny\"\n\"x\"\"y\"\n\"x\"y\nx\"y\n",
                &[&[""], &["x\ny"], &["x\"y"], &["xy"], &["x\"y"]],
            ),
            ("a,b\n1\n", &[&["1", ""]]),
            ("a\n1,2\n3\n", &[&["1", "2"], &["3", ""]]),
        ] {
            assert_eq!(rows(text).expect("rows"), expected, "{text:?}");
        }
        assert_eq!(rows(""), Err(Unreadable::Empty));
        assert_eq!(rows("a\n1\n\"x"), Err(Unreadable::OpenQuote { line: 3 }));
    }

    #[test]
    fn ragged_rows_and_other_encodings_are_named_by_their_line() {
        let table = read(&b"a,b\n1,2\n\n3\n"[..], usize::MAX, MAX_COST).expect("a table");
        assert_eq!(table.ragged, Some(RaggedRow { line: 4, fields: 1, header: 2 }));
        let table = read(&b"a,b\n1,2\n3,4,5\n"[..], usize::MAX, MAX_COST).expect("a table");
        assert_eq!(table.overlong.map(|row| row.line), Some(3));
        assert_eq!(
            read(&b"a\nx\n\xe9\n"[..], usize::MAX, MAX_COST).err(),
            Some(Unreadable::Encoding { line: 3 })
        );
        assert_eq!(
            read(&b"\xff\xfea\0\n\0"[..], usize::MAX, MAX_COST).err(),
            Some(Unreadable::Encoding { line: 1 })
        );
    }

    /// A gigabyte of rows that nobody keeps.
    struct Endless {
        left: u64,
        read: u64,
    }

    impl Read for Endless {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let line = b"12345,abcdefgh\n";
            let count = buffer.len().min(usize::try_from(self.left).unwrap_or(usize::MAX));
            let start = usize::try_from(self.read % line.len() as u64).unwrap_or(0);
            for (at, byte) in buffer[..count].iter_mut().enumerate() {
                *byte = line[(start + at) % line.len()];
            }
            (self.left, self.read) = (self.left - count as u64, self.read + count as u64);
            Ok(count)
        }
    }

    #[test]
    fn a_gigabyte_is_not_kept() {
        let mut source = Endless { left: 1 << 30, read: 0 };
        let table = read(&mut source, 10, MAX_COST).expect("a beginning");
        assert!(table.is_beginning && source.read < 1 << 20, "{}", source.read);
        let mut source = Endless { left: 1 << 30, read: 0 };
        assert_eq!(
            read(&mut source, usize::MAX, MAX_COST).err(),
            Some(Unreadable::TooLarge { limit: MAX_COST })
        );
        assert!(source.read < 1 << 26, "{}", source.read);
    }
}
