//! Where a statement ends in what a language model wrote. One pass over the text.

use super::begin::{begins_cte, is_word};
use super::markers::{TAIL_FIRST, TAIL_LAST};
use super::parts::tag_at;

/// Where the statement that begins at `start` ends: the first place outside quotes and comments that cannot be part
/// of it.
pub(super) fn statement_end(text: &str, start: usize) -> usize {
    Scanner::new(text, start).run()
}

/// The statement that a whole text is, whose first word stands at `start`; `None` where something else follows it, or a quote is
/// never closed.
pub(super) fn whole_statement(text: &str, start: usize) -> Option<&str> {
    let mut scanner = Scanner::new(text, start);
    let end = scanner.run();
    let rest = text[end..].trim_matches(|c: char| c == ';' || c.is_whitespace());
    (rest.is_empty() && scanner.never_closed.is_empty()).then(|| &text[..end])
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    /// A name, a literal or a closing parenthesis: an alias may follow.
    Operand,
    /// A set operator, which a SELECT must follow.
    SetOperator,
    /// Another keyword or a sign.
    Keyword,
}

struct Scanner<'a> {
    text: &'a str,
    at: usize,
    /// Open parentheses.
    depth: usize,
    /// SELECTs outside parentheses.
    selects: usize,
    last: Last,
    /// Whether the last keyword can end a clause, as DESC and NULL do.
    ends_term: bool,
    /// Where words follow a finished operand: start and end of the first. One is an alias, two are most likely a name that lacks its quotes,
    /// three are prose.
    prose: Option<(usize, usize)>,
    /// How many words follow it there.
    prose_words: usize,
    /// Closing quotes that do not occur any more, so that nobody looks for them again.
    never_closed: Vec<u8>,
}

impl<'a> Scanner<'a> {
    fn new(text: &'a str, start: usize) -> Self {
        Self {
            text,
            at: start,
            depth: 0,
            selects: 0,
            last: Last::Keyword,
            ends_term: false,
            prose: None,
            prose_words: 0,
            never_closed: Vec::new(),
        }
    }

    fn run(&mut self) -> usize {
        let bytes = self.text.as_bytes();
        while self.at < bytes.len() {
            let here = bytes[self.at];
            if self.ends_sentence()
                || ends_statement(&bytes[self.at..])
                || (here == b'<' && tag_at(&self.text[self.at..]).is_some())
            {
                return self.at;
            }
            if is_word_byte(here) {
                match self.word() {
                    Some(end) => return end,
                    None => continue,
                }
            }
            if here.is_ascii_whitespace() {
                let next =
                    self.at + self.text[self.at..].len() - self.text[self.at..].trim_ascii_start().len();
                if self.ends_before_label(next) || (self.depth == 0 && self.ends_before_paragraph(next)) {
                    return self.at;
                }
                self.at = next;
            } else {
                self.sign(here);
            }
        }
        bytes.len()
    }

    /// Whether a full stop and white space stand here behind a literal or a parenthesis.
    fn ends_sentence(&self) -> bool {
        let bytes = self.text.as_bytes();
        let before = self.at.checked_sub(1).map(|at| bytes[at]);
        matches!(bytes[self.at..], [b'.', next, ..] if next.is_ascii_whitespace())
            && matches!(before, Some(b'\'' | b')'))
    }

    /// Moves over anything but a word.
    fn sign(&mut self, here: u8) {
        let bytes = self.text.as_bytes();
        let rest = &bytes[self.at..];
        if rest.starts_with(b"--") {
            self.at = line_end(bytes, self.at);
        } else if rest.starts_with(b"/*") {
            self.at = self.text[self.at..].find("*/").map_or(bytes.len(), |i| self.at + i + 2);
        } else {
            self.prose = None;
            self.ends_term = false;
            self.last =
                if matches!(here, b'\'' | b'"' | b'`' | b'[' | b')') { Last::Operand } else { Last::Keyword };
            match here {
                b'(' => self.depth += 1,
                b')' => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
            self.at = match here {
                b'\'' | b'"' | b'`' => self.after_quoted(here),
                b'[' => self.after_quoted(b']'),
                _ => self.at + 1,
            };
        }
    }

    /// The position after the quoted part that begins here; a doubled quote is two parts, which is the same. A quote
    /// that is never closed quotes nothing.
    fn after_quoted(&mut self, close: u8) -> usize {
        let inside = self.at + 1;
        if self.never_closed.contains(&close) {
            return inside;
        }
        if let Some(length) = self.text.as_bytes()[inside..].iter().position(|b| *b == close) {
            return inside + length + 1;
        }
        self.never_closed.push(close);
        inside
    }

    /// Moves over a word, or says where the statement ended.
    fn word(&mut self) -> Option<usize> {
        let bytes = self.text.as_bytes();
        let position = self.at;
        self.at =
            bytes[position..].iter().position(|b| !is_word_byte(*b)).map_or(bytes.len(), |i| position + i);
        let word = &self.text[position..self.at];
        if is_label(word, &bytes[self.at..]) {
            let position = self.prose.map_or(position, |(first, _)| first);
            return Some(before_qualifiers(self.text, position));
        }
        let keyword = KEYWORDS.binary_search(&word.to_ascii_lowercase().as_str()).is_ok();
        if self.depth == 0 && word.eq_ignore_ascii_case("select") {
            if self.selects > 0 && self.last != Last::SetOperator {
                return Some(self.prose.map_or(position, |(first, _)| first));
            }
            self.selects += 1;
        }
        if keyword {
            let set_operator =
                ["union", "all", "intersect", "except"].iter().any(|o| word.eq_ignore_ascii_case(o));
            self.last = if set_operator { Last::SetOperator } else { Last::Keyword };
            self.prose = None;
            self.ends_term = ENDS_TERM.iter().any(|end| word.eq_ignore_ascii_case(end));
            return None;
        }
        let is_number = word.starts_with(|c: char| c.is_ascii_digit());
        if self.depth == 0 && !is_number && self.last == Last::Operand {
            let (first, end) = *self.prose.get_or_insert((position, self.at));
            self.prose_words = if first == position { 1 } else { self.prose_words + 1 };
            if self.prose_words == 3 {
                // An alias ends its line; prose begins on the next.
                let behind = &self.text[end..];
                let gap = behind.len() - behind.trim_ascii_start().len();
                return Some(if behind[..gap].contains(['\n', '\r']) { end + gap } else { first });
            }
        }
        self.last = Last::Operand;
        None
    }

    /// Whether a line begins at `next` with a few words and a colon, which no SQL has behind a finished term.
    fn ends_before_label(&self, next: usize) -> bool {
        let is_finished = self.last == Last::Operand || self.ends_term;
        if !is_finished || !self.text[self.at..next].contains(['\n', '\r']) {
            return false;
        }
        let line = &self.text[next..];
        let words = line.find(|c: char| !(c.is_alphabetic() || c == ' ')).unwrap_or(line.len());
        let first = line.split(|c: char| !is_word(c)).next().unwrap_or_default();
        (1..=MAX_LABEL).contains(&words)
            && line[words..].starts_with(':')
            && line[words + 1..].starts_with([' ', '\n', '\r', '*'])
            && first.starts_with(|c: char| !c.is_lowercase())
            && KEYWORDS.binary_search(&first.to_ascii_lowercase().as_str()).is_err()
    }

    /// Whether the white space up to `next` is a line's end before Markdown's heading, table or bold words, or has an empty line
    /// before something that cannot continue SQL.
    fn ends_before_paragraph(&self, next: usize) -> bool {
        let gap = self.text[self.at..next].replace("\r\n", "\n");
        let line_ends = gap.matches(['\n', '\r']).count();
        let next = &self.text[next..];
        let is_table = next.starts_with('|') && !next.starts_with("||");
        if line_ends > 0 && (next.starts_with('#') || next.starts_with("**") || is_table) {
            return true;
        }
        if line_ends < 2 || self.last != Last::Operand {
            return false;
        }
        // Only a word that stands right here counts; the next one may be far away.
        let Some(word) = next.split(|c: char| !is_word(c)).next().filter(|word| !word.is_empty()) else {
            return false;
        };
        if word.eq_ignore_ascii_case("with") && begins_cte(&next[word.len()..]) {
            return self.selects > 0;
        }
        let continues =
            CONTINUES.iter().any(|c| word.eq_ignore_ascii_case(c)) || CONTINUES_IN_CAPITALS.contains(&word);
        !continues
    }
}

/// Whether no SQL goes on like this: a semicolon, a full stop at a line's end, a code
/// fence, an end-of-text token, a LaTeX command, a brace.
fn ends_statement(rest: &[u8]) -> bool {
    match rest {
        [b';' | b'\\' | b'{' | b'}', ..]
        | [b'<', b'/' | b'|', ..]
        | [b'`', b'`', b'`', ..]
        | [b'~', b'~', b'~', ..]
        | [b'.']
        | [b'.', b'\n' | b'\r', ..] => true,
        [b'[', ..] => starts_with_ignoring_case(rest, b"[/sql]"),
        _ => false,
    }
}

/// SQL keywords in order: after a name, they go on with the statement.
const KEYWORDS: [&str; 78] = [
    "all",
    "and",
    "as",
    "asc",
    "between",
    "by",
    "case",
    "cast",
    "collate",
    "cross",
    "current",
    "current_date",
    "current_time",
    "current_timestamp",
    "desc",
    "distinct",
    "else",
    "end",
    "escape",
    "except",
    "exclude",
    "exists",
    "false",
    "filter",
    "first",
    "following",
    "from",
    "full",
    "glob",
    "group",
    "groups",
    "having",
    "in",
    "indexed",
    "inner",
    "intersect",
    "is",
    "isnull",
    "join",
    "last",
    "left",
    "like",
    "limit",
    "match",
    "materialized",
    "natural",
    "no",
    "not",
    "notnull",
    "null",
    "nulls",
    "offset",
    "on",
    "or",
    "order",
    "others",
    "outer",
    "over",
    "partition",
    "preceding",
    "range",
    "recursive",
    "regexp",
    "right",
    "row",
    "rows",
    "select",
    "then",
    "ties",
    "true",
    "unbounded",
    "union",
    "using",
    "values",
    "when",
    "where",
    "window",
    "with",
];

/// Bytes above ASCII count as letters, so a word never ends within a character.
fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii()
}

fn is_label(word: &str, after: &[u8]) -> bool {
    let after = after.trim_ascii_start();
    let ends = |byte: &u8| byte.is_ascii_whitespace() || *byte == b'*';
    let colon = after.first() == Some(&b':') && after.get(1).is_none_or(ends);
    colon && TAIL_LAST.iter().any(|label| word.eq_ignore_ascii_case(label))
}

/// Where the words of a label begin whose last word stands at `position`: `Final SQL Answer:`.
fn before_qualifiers(text: &str, mut position: usize) -> usize {
    loop {
        let before = text[..position].trim_end_matches([' ', '*']);
        let start = before
            .rfind(|c: char| !is_word(c))
            .map_or(0, |at| at + before[at..].chars().next().map_or(1, char::len_utf8));
        if !TAIL_FIRST.iter().any(|first| before[start..].eq_ignore_ascii_case(first)) {
            return position;
        }
        position = start;
    }
}

/// How long a label at the beginning of a line is at most.
const MAX_LABEL: usize = 40;

/// Keywords that can end a clause.
const ENDS_TERM: [&str; 11] = [
    "asc",
    "desc",
    "end",
    "null",
    "true",
    "false",
    "first",
    "last",
    "current_date",
    "current_time",
    "current_timestamp",
];

fn starts_with_ignoring_case(bytes: &[u8], prefix: &[u8]) -> bool {
    bytes.get(..prefix.len()).is_some_and(|head| head.eq_ignore_ascii_case(prefix))
}

fn line_end(bytes: &[u8], at: usize) -> usize {
    bytes[at..].iter().position(|b| matches!(b, b'\n' | b'\r')).map_or(bytes.len(), |i| at + i)
}

/// Words that continue a statement, in any case, at the beginning of a paragraph.
const CONTINUES: [&str; 17] = [
    "from",
    "where",
    "group",
    "order",
    "having",
    "limit",
    "offset",
    "join",
    "inner",
    "left",
    "outer",
    "cross",
    "union",
    "intersect",
    "except",
    "window",
    "select",
];

/// Words that also begin English sentences: they continue a statement only in capitals.
const CONTINUES_IN_CAPITALS: [&str; 18] = [
    "ON", "AND", "OR", "NOT", "USING", "WHEN", "THEN", "ELSE", "END", "AS", "IN", "IS", "LIKE", "BETWEEN",
    "RIGHT", "FULL", "NATURAL", "CASE",
];

#[cfg(test)]
mod tests {
    use super::KEYWORDS;

    #[test]
    fn keywords_are_in_order_for_the_binary_search() {
        assert!(KEYWORDS.is_sorted_by(|a, b| a < b));
    }
}
