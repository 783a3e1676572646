//! Bytes to text, text to lines: where encodings and line ends get their defined outcome.

use std::borrow::Cow;

/// How many places a note lists before it only counts.
const LISTED: usize = 5;

/// Decodes a text file.
///
/// A UTF-8 byte order mark is removed; UTF-16 with a byte order mark is decoded; anything else is UTF-8, in
/// which what is invalid becomes U+FFFD. Every repair and every NUL character is noted with its line.
pub(crate) fn decode<'a>(bytes: &'a [u8], notes: &mut Vec<String>) -> Cow<'a, str> {
    let text = if let Some(rest) = bytes.strip_prefix(b"\xEF\xBB\xBF") {
        notes.push("UTF-8 byte order mark removed".to_owned());
        decode_utf8(rest, notes)
    } else if let Some(rest) = bytes.strip_prefix(b"\xFF\xFE") {
        Cow::Owned(decode_utf16(rest, u16::from_le_bytes, notes))
    } else if let Some(rest) = bytes.strip_prefix(b"\xFE\xFF") {
        Cow::Owned(decode_utf16(rest, u16::from_be_bytes, notes))
    } else {
        decode_utf8(bytes, notes)
    };
    note_nul_characters(&text, notes);
    text
}

fn decode_utf8<'a>(bytes: &'a [u8], notes: &mut Vec<String>) -> Cow<'a, str> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Cow::Borrowed(text);
    }
    let mut text = String::with_capacity(bytes.len());
    let mut counter = LineCounter::default();
    let mut places = Places::default();
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        counter.advance(chunk.valid());
        if !chunk.invalid().is_empty() {
            text.push(char::REPLACEMENT_CHARACTER);
            counter.advance("\u{FFFD}");
            places.push(counter.line());
        }
    }
    notes.push(format!("{places}: invalid UTF-8 replaced by U+FFFD"));
    Cow::Owned(text)
}

fn decode_utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16, notes: &mut Vec<String>) -> String {
    notes.push("decoded from UTF-16".to_owned());
    let (pairs, rest) = bytes.as_chunks::<2>();
    let mut text = String::with_capacity(bytes.len());
    let mut counter = LineCounter::default();
    let mut places = Places::default();
    for decoded in char::decode_utf16(pairs.iter().map(|pair| unit(*pair))) {
        let is_lone_surrogate = decoded.is_err();
        let c = decoded.unwrap_or(char::REPLACEMENT_CHARACTER);
        text.push(c);
        counter.advance_char(c);
        if is_lone_surrogate {
            places.push(counter.line());
        }
    }
    if !rest.is_empty() {
        text.push(char::REPLACEMENT_CHARACTER);
        places.push(counter.line());
    }
    if places.total > 0 {
        notes.push(format!("{places}: invalid UTF-16 replaced by U+FFFD"));
    }
    text
}

fn note_nul_characters(text: &str, notes: &mut Vec<String>) {
    if !text.contains('\0') {
        return;
    }
    let mut places = Places::default();
    for (index, line) in lines(text).enumerate() {
        if line.contains('\0') {
            places.push(index + 1);
        }
    }
    notes.push(format!("{places}: contains a NUL character, which is kept"));
}

/// The lines of a text as Python's text mode has them: `\n`, `\r\n` and a lone `\r` end a line, nothing else
/// does (not U+2028, NEL, VT or FF), and an end after the last line starts no further line.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let Some(end) = rest.find(['\n', '\r']) else {
            return Some(std::mem::take(&mut rest));
        };
        let line = &rest[..end];
        rest = rest[end..].strip_prefix("\r\n").unwrap_or(&rest[end + 1..]);
        Some(line)
    })
}

/// Strips what Python's `str.strip()` strips: Unicode white space and the four ASCII separators U+001C-U+001F.
pub(crate) fn strip(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || ('\u{1C}'..='\u{1F}').contains(&c))
}

/// `5, 17, 20` or `5, 17, 20, 21, 22 and 40 more`.
pub(crate) fn listed<T: std::fmt::Display>(items: impl IntoIterator<Item = T>) -> String {
    let mut items = items.into_iter();
    let first: Vec<String> = items.by_ref().take(LISTED).map(|item| item.to_string()).collect();
    match items.count() {
        0 => first.join(", "),
        more => format!("{} and {more} more", first.join(", ")),
    }
}

/// Counts line ends while text goes by.
#[derive(Default)]
pub(crate) struct LineCounter {
    ended: usize,
    after_carriage_return: bool,
}

impl LineCounter {
    pub(crate) fn advance(&mut self, text: &str) {
        text.chars().for_each(|c| self.advance_char(c));
    }

    fn advance_char(&mut self, c: char) {
        let second_of_crlf = c == '\n' && self.after_carriage_return;
        if (c == '\n' || c == '\r') && !second_of_crlf {
            self.ended += 1;
        }
        self.after_carriage_return = c == '\r';
    }

    /// The line that the next character stands on, from 1.
    pub(crate) fn line(&self) -> usize {
        self.ended + 1
    }
}

/// Line numbers in ascending order, the first few kept, repetitions counted once.
#[derive(Default)]
pub(crate) struct Places {
    first: Vec<usize>,
    last: usize,
    total: usize,
}

impl Places {
    pub(crate) fn push(&mut self, line: usize) {
        if line == self.last {
            return;
        }
        self.last = line;
        self.total += 1;
        if self.first.len() < LISTED {
            self.first.push(line);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.total == 0
    }
}

impl std::fmt::Display for Places {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.total == 1 { "line " } else { "lines " })?;
        f.write_str(&self.first.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "))?;
        let more = self.total - self.first.len();
        if more > 0 { write!(f, " and {more} more") } else { Ok(()) }
    }
}

/// The entries of a list of texts as JSON or Python writes it; `None` if the text is neither.
pub fn text_list(text: &str) -> Option<Vec<String>> {
    serde_json::from_str(text).ok().or_else(|| python_list(text))
}

/// The entries of a Python list of `str` literals.
fn python_list(text: &str) -> Option<Vec<String>> {
    let mut rest = text.strip_prefix('[')?.strip_suffix(']')?.trim();
    let mut entries = Vec::new();
    while let Some(quote) = rest.chars().next() {
        let (entry, behind) = python_literal(rest, quote)?;
        entries.push(entry);
        rest = behind.trim_start();
        rest = match rest.strip_prefix(',') {
            Some(next) => next.trim_start(),
            None if rest.is_empty() => rest,
            None => return None,
        };
    }
    Some(entries)
}

/// The value of the `str` literal that the text begins with, as Python's `repr` writes it, and what follows it.
fn python_literal(text: &str, quote: char) -> Option<(String, &str)> {
    let mut chars = text.strip_prefix(['\'', '"'])?.chars();
    let mut value = String::new();
    loop {
        match chars.next()? {
            c if c == quote => return Some((value, chars.as_str())),
            '\\' => value.push(match chars.next()? {
                'n' => '\n',
                't' => '\t',
                'r' => '\r',
                c @ ('\\' | '\'' | '"') => c,
                'x' => escaped(&mut chars, 2)?,
                'u' => escaped(&mut chars, 4)?,
                'U' => escaped(&mut chars, 8)?,
                _ => return None,
            }),
            c => value.push(c),
        }
    }
}

/// The character whose number follows in that many hexadecimal digits.
fn escaped(chars: &mut std::str::Chars<'_>, digits: usize) -> Option<char> {
    let number = chars.as_str().get(..digits).and_then(|hex| u32::from_str_radix(hex, 16).ok())?;
    *chars = chars.as_str()[digits..].chars();
    char::from_u32(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(bytes: &[u8]) -> (String, Vec<String>) {
        let mut notes = Vec::new();
        let text = decode(bytes, &mut notes).into_owned();
        (text, notes)
    }

    #[test]
    fn every_encoding_accident_has_its_outcome() {
        let no_notes: &[&str] = &[];
        let cases: [(&[u8], &str, &[&str]); 9] = [
            (b"a\nb", "a\nb", no_notes),
            (b"\xEF\xBB\xBFa", "a", &["UTF-8 byte order mark removed"]),
            (
                b"a\n\xFF\xFEb\nc\xC3",
                "a\n\u{FFFD}\u{FFFD}b\nc\u{FFFD}",
                &["lines 2, 3: invalid UTF-8 replaced by U+FFFD"],
            ),
            (b"a\r\nb\rc\n\x80", "a\r\nb\rc\n\u{FFFD}", &["line 4: invalid UTF-8 replaced by U+FFFD"]),
            (b"\xFF\xFEa\0\n\0", "a\n", &["decoded from UTF-16"]),
            (b"\xFE\xFF\0a\0\n", "a\n", &["decoded from UTF-16"]),
            (
                b"\xFE\xFF\0a\0\n\xD8\x00",
                "a\n\u{FFFD}",
                &["decoded from UTF-16", "line 2: invalid UTF-16 replaced by U+FFFD"],
            ),
            (
                b"\xFF\xFEa\0b",
                "a\u{FFFD}",
                &["decoded from UTF-16", "line 1: invalid UTF-16 replaced by U+FFFD"],
            ),
            (b"a\nb\0", "a\nb\0", &["line 2: contains a NUL character, which is kept"]),
        ];
        for (bytes, text, notes) in cases {
            assert_eq!(decoded(bytes), (text.to_owned(), notes.iter().map(ToString::to_string).collect()));
        }
    }

    #[test]
    fn lines_end_where_python_text_mode_ends_them() {
        let none: &[&str] = &[];
        let cases = [
            ("", none),
            ("a", &["a"]),
            ("a\n", &["a"]),
            ("a\n\n", &["a", ""]),
            ("a\r\nb\rc\nd", &["a", "b", "c", "d"]),
            ("\n\r\r\n", &["", "", ""]),
            ("a\u{2028}b\u{85}c\u{B}d\u{C}e\u{1C}f", &["a\u{2028}b\u{85}c\u{B}d\u{C}e\u{1C}f"]),
        ];
        for (text, expected) in cases {
            assert_eq!(lines(text).collect::<Vec<_>>(), expected, "{text:?}");
        }
    }

    #[test]
    fn strip_takes_what_python_takes() {
        assert_eq!(strip("\u{1C}\u{1F} \u{85}\u{A0}\u{2028}\u{3000}a b\t\u{B}\u{C}\r\n"), "a b");
        assert_eq!(strip("\u{FEFF}a\u{200B}"), "\u{FEFF}a\u{200B}");
    }

    #[test]
    fn lists_of_texts_are_read_as_json_and_python_write_them() {
        for (text, entries) in [
            (r#"["SELECT 1", "SELECT \"a\""]"#, Some(vec!["SELECT 1", "SELECT \"a\""])),
            (r#"['SELECT 1', "SELECT 'a'"]"#, Some(vec!["SELECT 1", "SELECT 'a'"])),
            (r"['it\'s', 'a\nb', '\xe9\u20ac']", Some(vec!["it's", "a\nb", "é€"])),
            ("[ 'a' , ]", Some(vec!["a"])),
            ("[]", Some(vec![])),
            ("['a' 'b']", None),
            ("['a', 1]", None),
            ("[1, 2]", None),
            ("['open", None),
            ("[a].b", None),
        ] {
            let list = text_list(text);
            assert_eq!(list.as_ref().map(|f| f.iter().map(String::as_str).collect()), entries, "{text}");
        }
    }
}
