//! Takes the SQL out of what a language model wrote around it: [`extract_sql`] has the contract, and
//! [`EXTRACTION`] names its version, which a run records.

use serde_json::Value;

use crate::columns::{Columns, Role};
use crate::fence::{FENCE, fence_after_select, fenced};
use crate::text::strip;

/// Name and version of the extraction's contract. A change of meaning makes a new version.
///
/// - `extract-sql@1`: of several code fences the first with a statement was taken.
/// - `extract-sql@2`: the last, unless it is offered beside the one before; see [`extract_sql`].
pub const EXTRACTION: &str = "extract-sql@2";

/// Something that stood around the SQL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Removed {
    /// `<think>…</think>` and the like, closed or not.
    Thinking,
    /// A Markdown code fence and what is outside it.
    CodeFence,
    /// A JSON object that has the SQL in a field.
    Json,
    /// A label such as `SQL:`.
    Label,
    /// Words before the SQL.
    Preamble,
    /// Quotes or back-ticks around the SQL.
    Quotes,
    /// Words or special tokens after the SQL.
    Explanation,
    /// Statements after the first.
    FurtherStatements,
}

impl Removed {
    /// All kinds, from the outside in.
    pub const ALL: [Self; 8] = [
        Self::Thinking,
        Self::CodeFence,
        Self::Json,
        Self::Label,
        Self::Preamble,
        Self::Quotes,
        Self::Explanation,
        Self::FurtherStatements,
    ];

    /// In words, to follow "removed".
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Thinking => "thinking",
            Self::CodeFence => "a code fence",
            Self::Json => "a JSON object",
            Self::Label => "a label",
            Self::Preamble => "words before the SQL",
            Self::Quotes => "quotes around the SQL",
            Self::Explanation => "words after the SQL",
            Self::FurtherStatements => "further statements",
        }
    }
}

/// The SQL that was found in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Extraction {
    /// The first statement that begins with SELECT or WITH, without white space and semicolon around it; the
    /// whole text where there is none.
    pub sql: String,
    /// What was removed, each kind once, from the outside in.
    pub removed: Vec<Removed>,
}

/// JSON in a fence in JSON …: nobody nests deeper than this.
const MAX_DEPTH: usize = 4;

/// Finds the SQL in a language model's answer.
///
/// In this order: thinking is dropped (an unclosed `<think>` with everything after it); a JSON object gives the
/// field that has the SQL; of several code fences one is taken (below); then the first statement that begins with SELECT or WITH is kept, up to its
/// semicolon, an end-of-text token, or a paragraph, label, run of words or SELECT that cannot continue SQL. Text without a SELECT or
/// WITH stays as it is. A text that is one SQL statement comes back unchanged but for white space and the
/// semicolon at its end.
///
/// *Several code fences.* Only those that hold a statement count, and if one of them is marked as SQL, only those
/// that are marked. A model that writes on after a fence thinks aloud (steps, a draft, its correction) or offers
/// more than was asked for (another way, a variation, a check, a part of the query explained). So the last fence
/// is taken, except that a fence is passed over which
/// - the words before it announce as another way or an extra (`Alternatively`, `You can also`, `If you want`,
///   `To verify`), unless words that announce a correction (`Corrected`, `Wait`, `the final query`) stand closer;
/// - repeats a part of the statement that is taken so far;
/// - is never closed, because the answer was cut off in it.
///
/// Of more than a hundred fences the last hundred are looked at.
///
/// Programs of the field that score answers with reasoning take the last fence too; those that ask for one query
/// and nothing else take the first, which is the same where there is one.
pub fn extract_sql(text: &str) -> Extraction {
    let mut removed = Vec::new();
    let sql = extract(text, 0, &mut removed);
    removed.sort_unstable();
    removed.dedup();
    Extraction { sql, removed }
}

fn extract(text: &str, depth: usize, removed: &mut Vec<Removed>) -> String {
    let thoughtless = without_thinking(text);
    if thoughtless.len() < text.len() {
        removed.push(Removed::Thinking);
    }
    let text = strip(&thoughtless);
    if depth < MAX_DEPTH {
        if let Some(sql) = sql_of_json(text) {
            removed.push(Removed::Json);
            return extract(&sql, depth + 1, removed);
        }
        if let Some(inner) = fenced(text) {
            removed.push(Removed::CodeFence);
            return extract(inner, depth + 1, removed);
        }
        if let Some(joined) = fence_after_select(text) {
            removed.push(Removed::CodeFence);
            return extract(&joined, depth + 1, removed);
        }
    }
    match statement_start(text) {
        Some(start) => statement(text, start, removed).to_owned(),
        None => text.to_owned(),
    }
}

/// Tags between which models think aloud.
const THINKING: [(&str, &str); 4] = [
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<reasoning>", "</reasoning>"),
    ("<thought>", "</thought>"),
];

fn without_thinking(text: &str) -> String {
    let mut text = text.to_owned();
    for (open, close) in THINKING {
        let mut kept = String::new();
        let mut rest = text.as_str();
        while let Some(end) = find_ignoring_case(rest, close) {
            match find_ignoring_case(&rest[..end], open) {
                Some(start) => kept.push_str(&rest[..start]),
                // A close without an open: the prompt had the open.
                None => kept.clear(),
            }
            rest = &rest[end + close.len()..];
        }
        kept.push_str(&rest[..find_ignoring_case(rest, open).unwrap_or(rest.len())]);
        text = kept;
    }
    text
}

/// Byte position of an ASCII pattern.
fn find_ignoring_case(text: &str, pattern: &str) -> Option<usize> {
    text.as_bytes().windows(pattern.len()).position(|window| window.eq_ignore_ascii_case(pattern.as_bytes()))
}

/// The SQL in a text that is one JSON object.
pub(crate) fn sql_of_json(text: &str) -> Option<String> {
    if !text.starts_with('{') {
        return None;
    }
    let value: Value = serde_json::from_str(text).ok()?;
    let fields = value.as_object()?;
    let columns = Columns::default();
    let (_, value) = columns.find(Role::Prediction, fields).or_else(|| columns.find(Role::Gold, fields))?;
    value.as_str().map(str::to_owned)
}

/// Where the first statement begins: at a SELECT in capitals or after a line start, colon or the like; at a WITH
/// that has the form of a common table expression; failing both, at a `select` that has its `from`.
pub(crate) fn statement_start(text: &str) -> Option<usize> {
    let last_from = words(text).filter(|(_, word)| word.eq_ignore_ascii_case("from")).last();
    let mut prose = None;
    for (position, word) in words(text) {
        if word.eq_ignore_ascii_case("with") && begins_cte(&text[position + word.len()..]) {
            return Some(position);
        }
        if !word.eq_ignore_ascii_case("select") || !begins_select(&text[position + word.len()..]) {
            continue;
        }
        if word == "SELECT" || stands_out(&text[..position]) {
            return Some(position);
        }
        if last_from.is_some_and(|(from, _)| from > position) {
            prose = prose.or(Some(position));
        }
    }
    prose
}

/// The words of a text (letters, digits, underscores) with their byte positions; a word after a dot is part of
/// the name before it.
pub(crate) fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let start = at + text[at..].find(is_word)?;
            let end = text[start..].find(|c: char| !is_word(c)).map_or(text.len(), |offset| start + offset);
            at = end;
            if !text[..start].ends_with('.') || text[..start].ends_with("..") || start < 2 {
                return Some((start, &text[start..end]));
            }
            // A sentence may end right before the SQL: "Sure.SELECT 1".
            if text[start..end] == *"SELECT" {
                return Some((start, &text[start..end]));
            }
        }
    })
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Words that follow "SELECT" where it is spoken about.
const SPOKEN: [&str; 8] =
    ["statement", "statements", "query", "queries", "clause", "command", "keyword", "and"];

/// Whether a SELECT goes on as SQL does. A SELECT right before another is the end of the prompt, which some models
/// repeat whole: "SELECT `SELECT a FROM t`".
fn begins_select(after: &str) -> bool {
    let next = after.chars().next();
    let is_echo =
        after_keyword(after.trim_start_matches([' ', '\t', '\n', '\r', '`', '"', '\'']), "select").is_some();
    next.is_some_and(|c| c.is_whitespace() || "*('\"`[-+@:?".contains(c))
        && !is_echo
        && !is_spoken_about(after)
}

/// Whether "SELECT" is followed by a word such as "statement" that is no column: SQL would go on with a comma, an
/// operator, FROM or AS.
fn is_spoken_about(after: &str) -> bool {
    let after = after.trim_start();
    let Some((0, word)) = words(after).next() else { return false };
    let rest = after[word.len()..].trim_start();
    let is_column = rest.starts_with(|c: char| c.is_ascii_punctuation() && c != ':')
        || ["from", "as"].iter().any(|keyword| after_keyword(rest, keyword).is_some());
    SPOKEN.iter().any(|spoken| word.eq_ignore_ascii_case(spoken)) && !is_column
}

/// Whether `WITH` is followed by `[RECURSIVE] name [(columns)] AS [[NOT] MATERIALIZED] (`.
fn begins_cte(after: &str) -> bool {
    let mut rest = after.trim_start();
    if rest.len() == after.len() {
        return false;
    }
    if let Some(next) = after_keyword(rest, "recursive") {
        rest = next;
    }
    let Some(next) = after_name(rest) else { return false };
    rest = next.trim_start();
    if let Some(columns) = rest.strip_prefix('(') {
        // Column names hold no parentheses, so the next one closes the list.
        let Some((_, behind)) = columns.split_once(['(', ')']) else { return false };
        rest = behind.trim_start();
    }
    let Some(next) = after_keyword(rest, "as") else { return false };
    rest = next;
    for hint in ["not", "materialized"] {
        rest = after_keyword(rest, hint).unwrap_or(rest);
    }
    rest.starts_with('(')
}

/// What follows a keyword at the beginning, white space skipped.
pub(crate) fn after_keyword<'a>(text: &'a str, keyword: &str) -> Option<&'a str> {
    let (head, rest) = text.split_at_checked(keyword.len())?;
    let ends = !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_');
    (head.eq_ignore_ascii_case(keyword) && ends).then(|| rest.trim_start())
}

/// A quoted name that is longer is no name.
const MAX_NAME_CHARS: usize = 300;

/// What follows a plain or quoted name at the beginning.
fn after_name(text: &str) -> Option<&str> {
    let close = match text.chars().next()? {
        '"' => '"',
        '`' => '`',
        '[' => ']',
        c if c.is_alphanumeric() || c == '_' => {
            return Some(text.trim_start_matches(|c: char| c.is_alphanumeric() || c == '_'));
        }
        _ => return None,
    };
    let (end, _) = text[1..].char_indices().take(MAX_NAME_CHARS).find(|(_, c)| *c == close)?;
    Some(&text[end + 2..])
}

/// Whether what stands before a keyword shows that SQL begins there: nothing, a line start, a colon, an equals
/// sign, a closing bracket or tag, a quote.
fn stands_out(before: &str) -> bool {
    let before = before.trim_end_matches([' ', '\t', '(']);
    before.is_empty() || before.ends_with(['\n', '\r', ':', '=', ']', '>', '`', '"', '\'', '*'])
}

/// The statement that begins at `start`.
fn statement<'a>(text: &'a str, start: usize, removed: &mut Vec<Removed>) -> &'a str {
    // A parenthesis before the keyword belongs to the statement if nothing else stands before it.
    let start = if text[..start].chars().all(|c| c == '(' || c.is_whitespace()) { 0 } else { start };
    let before = &text[..start];
    let mut end = statement_end(text, start);
    if let Some(quote) = before.chars().next_back().filter(|c| matches!(c, '"' | '\'' | '`')) {
        let whole = strip(text).trim_end_matches([';', '.']);
        let wraps_all = before.trim_start().len() == 1 && whole.len() > start && whole.ends_with(quote);
        let close =
            if wraps_all { Some(whole.len() - 1) } else { text[start..].find(quote).map(|i| start + i) };
        if let Some(close) = close {
            removed.push(Removed::Quotes);
            // The scan took the closing quote for an opening one, unless it stopped before it.
            end = close.min(statement_end(&text[..close], start));
        }
    }
    note_before(before, removed);
    note_after(&text[end..], removed);
    strip(&text[start..end])
}

fn note_before(before: &str, removed: &mut Vec<Removed>) {
    let before = strip(before.trim_end_matches(['"', '\'', '`', '(', ' ']));
    if before.is_empty() {
        return;
    }
    let is_label = before.ends_with(':') && words(before).count() <= 3 && !before.contains('\n');
    removed.push(if is_label { Removed::Label } else { Removed::Preamble });
}

fn note_after(after: &str, removed: &mut Vec<Removed>) {
    let after = after.trim_matches(|c: char| c.is_whitespace() || c == ';');
    let words = after.trim_matches(|c: char| c.is_whitespace() || matches!(c, ';' | '"' | '\'' | '`'));
    if after.is_empty() {
        return;
    }
    removed.push(if statement_start(words).is_some() {
        Removed::FurtherStatements
    } else if !words.is_empty() {
        Removed::Explanation
    } else if after.contains(FENCE) {
        Removed::CodeFence
    } else {
        Removed::Quotes
    });
}

/// Labels that begin a line or a phrase after the SQL; followed by a colon they are no SQL anywhere.
const LABELS: [&str; 11] = [
    "explanation",
    "note",
    "question",
    "answer",
    "output",
    "result",
    "sql",
    "hint",
    "evidence",
    "schema",
    "comment",
];

/// Where the statement that begins at `start` ends: the first place outside quotes and comments that cannot be part
/// of it.
fn statement_end(text: &str, start: usize) -> usize {
    Scanner {
        text,
        at: start,
        depth: 0,
        selects: 0,
        last: Last::Keyword,
        prose: None,
        prose_words: 0,
        never_closed: Vec::new(),
    }
    .run()
}

/// What the last token was.
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
    /// Where words follow a finished operand: start and end of the first. One is an alias, two are most likely a name that lacks its quotes,
    /// three are prose.
    prose: Option<(usize, usize)>,
    /// How many words follow it there.
    prose_words: usize,
    /// Closing quotes that do not occur any more, so that nobody looks for them again.
    never_closed: Vec<u8>,
}

impl Scanner<'_> {
    fn run(mut self) -> usize {
        let bytes = self.text.as_bytes();
        while self.at < bytes.len() {
            let here = bytes[self.at];
            if ends_statement(&bytes[self.at..]) {
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
                if self.depth == 0 && self.ends_before_paragraph(next) {
                    return self.at;
                }
                self.at = next;
            } else {
                self.sign(here);
            }
        }
        bytes.len()
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
            return Some(self.prose.map_or(position, |(first, _)| first));
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

    /// Whether the white space up to `next` is a line's end before a Markdown heading, or has an empty line
    /// before something that cannot continue SQL.
    fn ends_before_paragraph(&self, next: usize) -> bool {
        let gap = self.text[self.at..next].replace("\r\n", "\n");
        let line_ends = gap.matches(['\n', '\r']).count();
        let next = &self.text[next..];
        if line_ends > 0 && next.starts_with('#') {
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
    const ENDS: [&[u8]; 7] = [b";", b"```", b"</", b"<|", b"\\", b"{", b"}"];
    let is_full_stop = matches!(rest, [b'.'] | [b'.', b'\n' | b'\r', ..]);
    is_full_stop || ENDS.iter().any(|end| rest.starts_with(end)) || starts_with_ignoring_case(rest, b"[/sql]")
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
    let colon = after.first() == Some(&b':') && after.get(1).is_none_or(u8::is_ascii_whitespace);
    colon && LABELS.iter().any(|label| word.eq_ignore_ascii_case(label))
}

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
    use Removed::{CodeFence, Explanation, FurtherStatements, Json, Label, Preamble, Quotes, Thinking};

    use super::*;

    /// Text, the SQL in it, what was removed.
    const CASES: &[(&str, &str, &[Removed])] = &[
        // Clean SQL stays.
        ("SELECT 1", "SELECT 1", &[]),
        (" select a from t ;\n", "select a from t", &[]),
        ("SELECT ';' FROM t -- a; b", "SELECT ';' FROM t -- a; b", &[]),
        ("SELECT a FROM t WHERE b = 'it''s; SELECT'", "SELECT a FROM t WHERE b = 'it''s; SELECT'", &[]),
        ("SELECT `a;b`, [c;d], \"e;f\" /* ; */ FROM t", "SELECT `a;b`, [c;d], \"e;f\" /* ; */ FROM t", &[]),
        ("WITH x AS (SELECT 1) SELECT * FROM x", "WITH x AS (SELECT 1) SELECT * FROM x", &[]),
        (
            "with recursive c(n) as (select 1)\n\nselect n from c",
            "with recursive c(n) as (select 1)\n\nselect n from c",
            &[],
        ),
        (
            "SELECT a\n\nFROM t\n\nUNION\n\nSELECT b FROM u",
            "SELECT a\n\nFROM t\n\nUNION\n\nSELECT b FROM u",
            &[],
        ),
        ("SELECT a,\n\nb FROM t", "SELECT a,\n\nb FROM t", &[]),
        ("(SELECT 1)", "(SELECT 1)", &[]),
        ("SELECT keyword FROM query", "SELECT keyword FROM query", &[]),
        ("SELECT answer, note FROM result", "SELECT answer, note FROM result", &[]),
        // No SQL at all stays.
        ("", "", &[]),
        ("I am sorry, I cannot help with that.", "I am sorry, I cannot help with that.", &[]),
        ("sql placeholder", "sql placeholder", &[]),
        // Fences.
        ("```sql\nSELECT 1;\n```", "SELECT 1", &[CodeFence]),
        ("```SELECT 1```", "SELECT 1", &[CodeFence]),
        ("```\nSELECT 1\n```", "SELECT 1", &[CodeFence]),
        ("```sql SELECT a FROM t ``` This counts.", "SELECT a FROM t", &[CodeFence]),
        ("Sure!\n```sqlite\nSELECT 1\n", "SELECT 1", &[CodeFence]),
        ("```python\nprint(1)\n```\n```sql\nSELECT 1\n```\n```sql\nSELECT 2\n```", "SELECT 2", &[CodeFence]),
        ("```text\nSELECT 0 as a guess\n```\nbetter:\n```SQL\nSELECT 1\n```", "SELECT 1", &[CodeFence]),
        ("SELECT 1\n```\nand so on", "SELECT 1", &[Explanation]),
        ("SELECT 1;\n```", "SELECT 1", &[CodeFence]),
        ("SELECT ```sql MAX(a) FROM t; ```", "SELECT MAX(a) FROM t", &[CodeFence]),
        ("SELECT I will write it: ```sql SELECT a FROM t ```", "SELECT a FROM t", &[CodeFence]),
        // Labels and preambles.
        ("SQL: SELECT 1", "SELECT 1", &[Label]),
        ("SQLQuery: \"SELECT 1\"", "SELECT 1", &[Label, Quotes]),
        ("Here is the query you want:\n\nSELECT a FROM t;", "SELECT a FROM t", &[Preamble]),
        ("To select the rows with a name: select a from t", "select a from t", &[Preamble]),
        ("The SELECT statement is SELECT a FROM t", "SELECT a FROM t", &[Preamble]),
        ("Sure, with pleasure.SELECT a FROM t", "SELECT a FROM t", &[Preamble]),
        ("Use with x as (select 1) select * from x", "with x as (select 1) select * from x", &[Preamble]),
        (
            "The query is `SELECT a FROM t`, which uses `t`.",
            "SELECT a FROM t",
            &[Preamble, Quotes, Explanation],
        ),
        // What follows.
        ("SELECT a FROM t; This query selects a.", "SELECT a FROM t", &[Explanation]),
        ("SELECT a FROM t\n\nThis query returns a from t.", "SELECT a FROM t", &[Explanation]),
        ("SELECT a FROM t\nExplanation: a is asked for", "SELECT a FROM t", &[Explanation]),
        ("SELECT a FROM t Note: none", "SELECT a FROM t", &[Explanation]),
        ("SELECT a FROM t</s>", "SELECT a FROM t", &[Explanation]),
        ("SELECT a FROM t<|im_end|>", "SELECT a FROM t", &[Explanation]),
        ("[SQL] SELECT a FROM t [/SQL]", "SELECT a FROM t", &[Preamble, Explanation]),
        ("SELECT a FROM t\n### Question", "SELECT a FROM t", &[Explanation]),
        ("SELECT 1; SELECT 2", "SELECT 1", &[FurtherStatements]),
        ("SELECT 1\n\nSELECT 2", "SELECT 1", &[FurtherStatements]),
        ("SELECT a FROM t WHERE b = 'x; done", "SELECT a FROM t WHERE b = 'x", &[Explanation]),
        ("SELECT MAX(a) FROM t SELECT MIN(a) FROM t", "SELECT MAX(a) FROM t", &[FurtherStatements]),
        ("SELECT a FROM t Write Sql for the next question: b", "SELECT a FROM t", &[Explanation]),
        ("SELECT a FROM t WHERE b = 'c' Write Sql for: d", "SELECT a FROM t WHERE b = 'c'", &[Explanation]),
        ("SELECT a FROM t x\nThis finds a.", "SELECT a FROM t x", &[Explanation]),
        ("SELECT a FROM t\nThis finds a.", "SELECT a FROM t", &[Explanation]),
        ("SELECT a FROM t \\end{code} Comment: I'm sure", "SELECT a FROM t", &[Explanation]),
        ("SELECT `SELECT a FROM t;` Next Question : b", "SELECT a FROM t", &[Preamble, Quotes, Explanation]),
        (
            "SELECT CAST(a AS UNSIGNED BIG INT) b FROM t c",
            "SELECT CAST(a AS UNSIGNED BIG INT) b FROM t c",
            &[],
        ),
        // Quotes around.
        ("\"SELECT 'x' FROM t\"", "SELECT 'x' FROM t", &[Quotes]),
        ("'SELECT a FROM t WHERE b = 'x''", "SELECT a FROM t WHERE b = 'x'", &[Quotes]),
        ("`SELECT a FROM t;`", "SELECT a FROM t", &[Quotes]),
        // Thinking.
        ("<think>SELECT 1? No.</think>\nSELECT 2", "SELECT 2", &[Thinking]),
        ("no open tag</think>SELECT 2", "SELECT 2", &[Thinking]),
        ("<THINK>never ends: SELECT 1", "", &[Thinking]),
        // JSON.
        ("{\"sql\": \"SELECT 1;\"}", "SELECT 1", &[Json]),
        ("```json\n{\"thoughts\": \"SELECT\", \"query\": \"SELECT 1\"}\n```", "SELECT 1", &[CodeFence, Json]),
        ("{\"answer\": \"```sql\\nSELECT 1\\n```\"}", "SELECT 1", &[CodeFence, Json]),
    ];

    #[test]
    fn the_sql_is_found_and_what_was_removed_is_said() {
        for (text, sql, removed) in CASES {
            let extraction = extract_sql(text);
            assert_eq!(extraction.sql, *sql, "{text:?}");
            assert_eq!(extraction.removed, *removed, "{text:?}");
        }
    }

    #[test]
    fn keywords_are_in_order_for_the_binary_search() {
        assert!(KEYWORDS.is_sorted_by(|a, b| a < b));
    }

    #[test]
    fn extracting_again_changes_nothing() {
        for (text, ..) in CASES {
            let once = extract_sql(text).sql;
            assert_eq!(extract_sql(&once).sql, once, "{text:?}");
        }
    }
}
