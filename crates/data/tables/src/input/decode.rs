//! Bytes to UTF-8, as they pass by.
//!
//! # Contract
//! - A UTF-16 byte order mark: UTF-16; lone surrogates and half units become U+FFFD and are counted.
//! - Anything else, with the mark of UTF-8 or without: line by line. A line that is valid UTF-8 is read as that; any other
//!   line is read as Windows-1252, of which Latin-1 is a part, and counted. So files of either encoding are read right, and
//!   those in which both are mixed by lines. The five bytes that Windows-1252 leaves open are control characters, as
//!   browsers have them.
//! - A NUL byte without a mark of UTF-16, and a line of more than [`MOST_LINE_BYTES`], end the reading.

use std::io::{self, BufRead, Read};

use crate::report::Encoding;

/// Most bytes between two line ends.
pub(super) const MOST_LINE_BYTES: u64 = 16 << 20;

/// The characters of the bytes 0x80 to 0x9F in Windows-1252.
const WINDOWS_1252: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}', '\u{90}',
    '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
];

/// Why the bytes are no text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum NoText {
    #[error("a NUL byte")]
    Nul,
    #[error("a line of more than {MOST_LINE_BYTES} bytes")]
    LongLine,
}

/// A reader of UTF-8 over one of bytes.
pub(super) struct Decoder<R> {
    inner: R,
    encoding: Option<Encoding>,
    /// The order of bytes of UTF-16.
    units: fn([u8; 2]) -> u16,
    /// A first half of a pair, for which the second is to come.
    high: Option<u16>,
    line: Vec<u8>,
    text: Vec<u8>,
    at: usize,
}

impl<R: BufRead> Decoder<R> {
    pub(super) fn new(inner: R) -> Self {
        Self {
            inner,
            encoding: None,
            units: u16::from_le_bytes,
            high: None,
            line: Vec::new(),
            text: Vec::new(),
            at: 0,
        }
    }

    /// What was found so far.
    pub(super) fn encoding(&self) -> Option<Encoding> {
        self.encoding
    }

    /// Reads the mark at the beginning.
    fn begin(&mut self) -> io::Result<Encoding> {
        let head = self.inner.fill_buf()?;
        let (encoding, length) = match head {
            [0xEF, 0xBB, 0xBF, ..] => (Encoding::Utf8 { mark: true, windows_1252_lines: 0 }, 3),
            [0xFF, 0xFE, ..] => (Encoding::Utf16 { replaced: 0 }, 2),
            [0xFE, 0xFF, ..] => {
                self.units = u16::from_be_bytes;
                (Encoding::Utf16 { replaced: 0 }, 2)
            }
            _ => (Encoding::Utf8 { mark: false, windows_1252_lines: 0 }, 0),
        };
        self.inner.consume(length);
        Ok(encoding)
    }

    /// Decodes what comes next; nothing at the end.
    fn advance(&mut self) -> io::Result<()> {
        self.text.clear();
        self.at = 0;
        let mut encoding = match self.encoding {
            Some(encoding) => encoding,
            None => self.begin()?,
        };
        let outcome = match &mut encoding {
            Encoding::Utf8 { windows_1252_lines, .. } => self.line(windows_1252_lines),
            Encoding::Utf16 { replaced } => self.pairs(replaced),
        };
        self.encoding = Some(encoding);
        outcome
    }

    fn line(&mut self, others: &mut u64) -> io::Result<()> {
        self.line.clear();
        let length = (&mut self.inner).take(MOST_LINE_BYTES + 1).read_until(b'\n', &mut self.line)?;
        if length as u64 > MOST_LINE_BYTES {
            return Err(io::Error::new(io::ErrorKind::InvalidData, NoText::LongLine));
        }
        if self.line.contains(&0) {
            return Err(io::Error::new(io::ErrorKind::InvalidData, NoText::Nul));
        }
        if std::str::from_utf8(&self.line).is_ok() {
            std::mem::swap(&mut self.line, &mut self.text);
            return Ok(());
        }
        *others += 1;
        for byte in &self.line {
            let c = match byte {
                0x80..=0x9F => WINDOWS_1252[usize::from(byte - 0x80)],
                other => char::from(*other),
            };
            self.text.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
        }
        Ok(())
    }

    fn pairs(&mut self, replaced: &mut u64) -> io::Result<()> {
        self.line.clear();
        (&mut self.inner).take(1 << 16).read_to_end(&mut self.line)?;
        let (pairs, rest) = self.line.as_chunks::<2>();
        let ended = pairs.len() < 1 << 15;
        let mut units: Vec<u16> = self.high.take().into_iter().collect();
        units.extend(pairs.iter().map(|pair| (self.units)(*pair)));
        if !ended && units.last().is_some_and(|unit| (0xD800..0xDC00).contains(unit)) {
            self.high = units.pop();
        }
        for decoded in char::decode_utf16(units) {
            *replaced += u64::from(decoded.is_err());
            let c = decoded.unwrap_or(char::REPLACEMENT_CHARACTER);
            self.text.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
        }
        if !rest.is_empty() {
            *replaced += 1;
            self.text.extend_from_slice("\u{FFFD}".as_bytes());
        }
        Ok(())
    }
}

impl<R: BufRead> Read for Decoder<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.at == self.text.len() {
            self.advance()?;
        }
        let length = buffer.len().min(self.text.len() - self.at);
        buffer[..length].copy_from_slice(&self.text[self.at..self.at + length]);
        self.at += length;
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(bytes: &[u8]) -> (String, Encoding) {
        let mut decoder = Decoder::new(bytes);
        let mut text = String::new();
        decoder.read_to_string(&mut text).unwrap();
        let encoding = decoder.encoding().unwrap();
        (text, encoding)
    }

    #[test]
    fn each_line_is_read_in_its_own_encoding() {
        let bytes = b"na\xc3\xafve\ncaf\xe9 \x80\x93\nplain\n";
        let expected = Encoding::Utf8 { mark: false, windows_1252_lines: 1 };
        assert_eq!(decoded(bytes), ("naïve\ncafé €“\nplain\n".to_owned(), expected));
    }

    #[test]
    fn marks_are_no_part_of_the_text() {
        let utf8 = Encoding::Utf8 { mark: true, windows_1252_lines: 0 };
        assert_eq!(decoded(b"\xEF\xBB\xBFa,b"), ("a,b".to_owned(), utf8));
        let utf16 = |text: &str, mark: [u8; 2], unit: fn(u16) -> [u8; 2]| {
            let units = text.encode_utf16().flat_map(unit);
            decoded(&mark.into_iter().chain(units).collect::<Vec<u8>>())
        };
        let long = "x😀".repeat(40_000);
        for text in ["a,é😀", &long] {
            let expected = (text.to_owned(), Encoding::Utf16 { replaced: 0 });
            assert_eq!(utf16(text, [0xFF, 0xFE], u16::to_le_bytes), expected);
            assert_eq!(utf16(text, [0xFE, 0xFF], u16::to_be_bytes), expected);
        }
        assert_eq!(
            decoded(b"\xFF\xFEa\0\0\xD8b"),
            ("a\u{FFFD}\u{FFFD}".to_owned(), Encoding::Utf16 { replaced: 2 })
        );
    }

    #[test]
    fn what_is_no_text_is_told_apart() {
        let problem = |bytes: &[u8]| {
            let error = Decoder::new(bytes).read_to_string(&mut String::new()).unwrap_err();
            error.get_ref().and_then(|inner| inner.downcast_ref::<NoText>()).copied()
        };
        assert_eq!(problem(b"a\0b\n"), Some(NoText::Nul));
        assert_eq!(problem(&vec![b'x'; 17 << 20]), Some(NoText::LongLine));
    }
}
