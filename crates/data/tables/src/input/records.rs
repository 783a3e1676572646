//! The rows of a text with the lines that they begin in.
//!
//! A line ends with `\n`, or `\r\n`, whose `\r` is white space at the end of a value; with `\r` only in a text that has no `\n`.
//! The reader's own count of lines is not used: it stands still between `\r` and `\n`, and before blank lines.

use std::io::{Chain, Read};

use csv::{Error, Reader, ReaderBuilder, StringRecord, Terminator};

/// A reader of rows.
pub(super) struct Records<R> {
    reader: Reader<Chain<R, &'static [u8]>>,
    has_newlines: bool,
}

impl<R: Read> Records<R> {
    /// Of a text that begins with `head`.
    pub(super) fn new(text: R, head: &str, delimiter: u8) -> Self {
        let has_newlines = head.contains('\n') || !head.contains('\r');
        let reader = ReaderBuilder::new()
            .delimiter(delimiter)
            .terminator(if has_newlines { Terminator::Any(b'\n') } else { Terminator::CRLF })
            .flexible(true)
            .has_headers(false)
            // So that the last line has an end too. Where it had one already, this adds a blank line, which is skipped.
            .from_reader(text.chain(b"\n".as_slice()));
        Self { reader, has_newlines }
    }

    /// Reads the next row that is not blank, without white space around its values; whether there is one.
    pub(super) fn next(&mut self, record: &mut StringRecord) -> Result<bool, Error> {
        while self.reader.read_record(record)? {
            let inside = record.iter().flat_map(str::bytes).filter(|byte| *byte == b'\n').count() as u64;
            record.trim();
            if record.len() == 1 && record[0].is_empty() {
                continue;
            }
            let mut position = self.reader.position().clone();
            let line = position.line().saturating_sub(1 + inside);
            record.set_position(self.has_newlines.then(|| {
                position.set_line(line);
                position
            }));
            return Ok(true);
        }
        Ok(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &'static str) -> Vec<(Option<u64>, String)> {
        let mut records = Records::new(text.as_bytes(), text, b',');
        let (mut record, mut rows) = (StringRecord::new(), Vec::new());
        while records.next(&mut record).unwrap() {
            let line = record.position().map(csv::Position::line);
            rows.push((line, record.iter().collect::<Vec<_>>().join("|")));
        }
        rows
    }

    #[test]
    fn a_row_is_named_by_the_line_that_it_begins_in() {
        let expected = |lines: [Option<u64>; 4]| {
            let rows = ["a|b", "1|x\ny", "2|z", "3|w"].map(str::to_owned);
            lines.into_iter().zip(rows).collect::<Vec<_>>()
        };
        let lines = [1, 3, 5, 8].map(Some);
        assert_eq!(rows("a,b\n\n1,\"x\ny\"\n2,z\n\n\n3,w"), expected(lines));
        assert_eq!(rows("a,b\r\n\r\n1,\"x\ny\"\r\n2,\"z\"\r\n\r\n\r\n3,w\r\n"), expected(lines));
    }

    #[test]
    fn rows_that_end_with_cr_alone_are_read_too() {
        let expected = ["a|b", "1|x"].map(|row| (None, row.to_owned()));
        assert_eq!(rows("a,b\r1,x\r"), expected);
    }
}
