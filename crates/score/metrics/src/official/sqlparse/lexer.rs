//! Where `sqlparse` sees tokens begin and end: its rules in their order, with what Python's backtracking regular
//! expressions make of them. The whole text in time n log n: where quotes and comments close is found once for all.

use std::collections::HashMap;

/// The token types that the splitter tells apart, and quoted texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::official) enum Kind {
    Whitespace,
    Newline,
    LineComment,
    BlockComment,
    Keyword,
    /// DDL, ordering and time-zone keywords: subtypes of keyword.
    Subkeyword,
    Punctuation,
    /// A text in single or double quotes.
    Text,
    Other,
}

/// White space as Python's `\s` sees it.
pub(crate) fn is_space(c: char) -> bool {
    c.is_whitespace() || ('\x1c'..='\x1f').contains(&c)
}

/// A word character as Python's `\w` sees it.
fn is_word(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}

/// Python's `[A-ZÀ-Ü]` with case ignored.
fn is_letter(c: char) -> bool {
    let lower = c.to_lowercase().next().unwrap_or(c);
    matches!(lower, 'a'..='z' | 'à'..='ö' | 'ø'..='ü' | '×' | 'ſ' | 'ı')
}

/// Whether `c` matches the ASCII letter or sign `expected` with case ignored.
fn same_letter(c: char, expected: char) -> bool {
    let expected = expected.to_ascii_lowercase();
    c.to_lowercase().next() == Some(expected) || matches!((c, expected), ('ſ', 's') | ('ı', 'i'))
}

/// Words that the statement splitter reacts to; all others are alike to it.
const SPLITTER_WORDS: [&str; 15] = [
    "FOR",
    "WHILE",
    "LOOP",
    "DO",
    "IF",
    "CASE",
    "END",
    "BEGIN",
    "DECLARE",
    "GO",
    "TRANSACTION",
    "WORK",
    "DEFERRED",
    "IMMEDIATE",
    "EXCLUSIVE",
];

/// Several words that are one token, in the order in which they are tried.
const PHRASES: [(&[&str], Kind); 24] = [
    (&["END", "IF"], Kind::Keyword),
    (&["END", "LOOP"], Kind::Keyword),
    (&["END", "WHILE"], Kind::Keyword),
    (&["END", "FOR"], Kind::Keyword),
    (&["END", "CASE"], Kind::Keyword),
    (&["END"], Kind::Keyword),
    (&["IF", "NOT", "EXISTS"], Kind::Keyword),
    (&["IF", "EXISTS"], Kind::Keyword),
    (&["NOT", "NULL"], Kind::Keyword),
    (&["ASC", "NULLS", "FIRST"], Kind::Subkeyword),
    (&["ASC", "NULLS", "LAST"], Kind::Subkeyword),
    (&["DESC", "NULLS", "FIRST"], Kind::Subkeyword),
    (&["DESC", "NULLS", "LAST"], Kind::Subkeyword),
    (&["ASC"], Kind::Subkeyword),
    (&["DESC"], Kind::Subkeyword),
    (&["NULLS", "FIRST"], Kind::Subkeyword),
    (&["NULLS", "LAST"], Kind::Subkeyword),
    (&["UNION", "ALL"], Kind::Keyword),
    (&["CREATE", "OR", "REPLACE"], Kind::Subkeyword),
    (&["CREATE"], Kind::Subkeyword),
    (&["DOUBLE", "PRECISION"], Kind::Other),
    (&["GROUP", "BY"], Kind::Keyword),
    (&["ORDER", "BY"], Kind::Keyword),
    (&["PRIMARY", "KEY"], Kind::Keyword),
];

/// The comparison words, which may carry NOT before them or BINARY after them.
const COMPARISONS: [&[&str]; 10] = [
    &["NOT", "LIKE"],
    &["NOT", "ILIKE"],
    &["NOT", "RLIKE"],
    &["LIKE"],
    &["ILIKE"],
    &["RLIKE"],
    &["NOT", "REGEXP", "BINARY"],
    &["NOT", "REGEXP"],
    &["REGEXP", "BINARY"],
    &["REGEXP"],
];

/// No closing quote from here on.
const UNCLOSED: usize = usize::MAX;

/// For one kind of quote and every position inside a quoted text, where the text ends.
struct Closings {
    quote: char,
    ends: Vec<usize>,
}

impl Closings {
    /// A doubled quote stays inside if the rest can still be closed, likewise (if `escapes`) a quote after a
    /// backslash; that is what the backtracking of `'(''|\\'|[^'])*'` amounts to.
    fn new(text: &[char], quote: char, escapes: bool) -> Self {
        let mut ends = vec![UNCLOSED; text.len() + 2];
        for at in (0..text.len()).rev() {
            let doubled = text.get(at + 1) == Some(&quote);
            ends[at] = if text[at] == quote {
                let beyond = if doubled { ends[at + 2] } else { UNCLOSED };
                if beyond == UNCLOSED { at + 1 } else { beyond }
            } else if escapes && text[at] == '\\' && doubled && ends[at + 2] != UNCLOSED {
                ends[at + 2]
            } else {
                ends[at + 1]
            };
        }
        Self { quote, ends }
    }
}

pub(super) struct Lexer<'t> {
    /// What is left of the text.
    rest: &'t str,
    text: Vec<char>,
    at: usize,
    closings: Vec<Closings>,
    /// Dollar-quote delimiters by their text, with their positions in ascending order.
    dollar: HashMap<Vec<char>, Vec<usize>>,
    /// From here on no block comment closes.
    comments_end: usize,
}

impl<'t> Lexer<'t> {
    pub(super) fn new(rest: &'t str) -> Self {
        let text: Vec<char> = rest.chars().collect();
        let mut lexer = Self {
            rest,
            comments_end: text.len(),
            text,
            at: 0,
            closings: Vec::new(),
            dollar: HashMap::new(),
        };
        for at in 0..lexer.text.len() {
            if let Some(end) = lexer.dollar_delimiter(at) {
                lexer.dollar.entry(lexer.text[at..end].to_vec()).or_default().push(at);
            }
        }
        lexer
    }

    pub(super) fn next_token(&mut self) -> Option<(Kind, &'t str)> {
        let start = self.at;
        self.text.get(start)?;
        let (kind, end) = self
            .delimited(start)
            .or_else(|| self.blank_or_comment(start))
            .or_else(|| self.sign_or_placeholder(start))
            .or_else(|| self.name(start))
            .or_else(|| self.number(start))
            .or_else(|| self.quoted_text(start))
            .or_else(|| self.phrase(start))
            .or_else(|| self.word(start))
            .unwrap_or_else(|| self.operator(start));
        self.at = end;
        let bytes = self.text[start..end].iter().map(|c| c.len_utf8()).sum();
        let (token, rest) = self.rest.split_at(bytes);
        self.rest = rest;
        Some((kind, token))
    }

    fn char_at(&self, at: usize) -> char {
        self.text.get(at).copied().unwrap_or('\0')
    }

    fn previous(&self, at: usize) -> Option<char> {
        at.checked_sub(1).map(|before| self.text[before])
    }

    /// End of the run of characters from `at` that `accept` takes.
    fn run(&self, at: usize, accept: impl Fn(char) -> bool) -> usize {
        self.text.iter().skip(at).position(|&c| !accept(c)).map_or(self.text.len(), |n| at + n)
    }

    fn starts_with(&self, at: usize, part: &str) -> bool {
        part.chars().enumerate().all(|(i, c)| self.text.get(at + i) == Some(&c))
    }

    /// End of the literal word (case ignored) at `at`.
    fn letters(&self, at: usize, word: &str) -> Option<usize> {
        let matches = word
            .chars()
            .enumerate()
            .all(|(i, expected)| self.text.get(at + i).is_some_and(|&c| same_letter(c, expected)));
        matches.then(|| at + word.chars().count())
    }

    /// End of those words with white space between them and a word boundary behind the last.
    fn words(&self, at: usize, words: &[&str]) -> Option<usize> {
        let (last, leading) = words.split_last()?;
        let mut at = at;
        for word in leading {
            at = self.word_and_space(at, word)?;
        }
        self.letters(at, last).filter(|&end| !is_word(self.char_at(end)))
    }

    fn word_and_space(&self, at: usize, word: &str) -> Option<usize> {
        let end = self.letters(at, word)?;
        let next = self.run(end, is_space);
        (next > end).then_some(next)
    }

    fn dollar_delimiter(&self, at: usize) -> Option<usize> {
        if self.char_at(at) != '$' {
            return None;
        }
        let first = self.char_at(at + 1);
        let end = if first == '_' || is_letter(first) { self.run(at + 1, is_word) } else { at + 1 };
        (self.char_at(end) == '$').then_some(end + 1)
    }

    /// Block comments and dollar-quoted texts, if they are closed.
    fn delimited(&mut self, at: usize) -> Option<(Kind, usize)> {
        if self.starts_with(at, "/*") && at < self.comments_end {
            let hint = self.char_at(at + 2) == '+';
            let from = at + if hint { 3 } else { 2 };
            let close = (from..self.text.len()).find(|&i| self.starts_with(i, "*/"));
            let Some(close) = close else {
                self.comments_end = at;
                return None;
            };
            return Some((if hint { Kind::Other } else { Kind::BlockComment }, close + 2));
        }
        let end = self.dollar_delimiter(at)?;
        if self.previous(at).is_some_and(|c| is_word(c) || c == '"' || c == '$') {
            return None;
        }
        let tag = &self.text[at..end];
        let positions = self.dollar.get(tag)?;
        let close = positions.get(positions.partition_point(|&p| p < end))?;
        Some((Kind::Other, close + tag.len()))
    }

    fn blank_or_comment(&self, at: usize) -> Option<(Kind, usize)> {
        let newline = |at: usize| match self.char_at(at) {
            '\r' if self.char_at(at + 1) == '\n' => Some(at + 2),
            '\r' | '\n' => Some(at + 1),
            _ => None,
        };
        if self.starts_with(at, "--") || self.starts_with(at, "# ") {
            let end = self.run(at, |c| c != '\r' && c != '\n');
            let kind = if self.char_at(at + 2) == '+' { Kind::Other } else { Kind::LineComment };
            return Some((kind, newline(end).unwrap_or(end)));
        }
        if let Some(end) = newline(at) {
            return Some((Kind::Newline, end));
        }
        is_space(self.char_at(at)).then_some((Kind::Whitespace, at + 1))
    }

    fn sign_or_placeholder(&mut self, at: usize) -> Option<(Kind, usize)> {
        let other = |end| Some((Kind::Other, end));
        let next = self.char_at(at + 1);
        match self.char_at(at) {
            ':' if next == '=' || next == ':' => return other(at + 2),
            '*' | '?' => return other(at + 1),
            quote @ ('`' | '´') => {
                if let Some(end) = self.quoted(at, quote, false) {
                    return other(end);
                }
            }
            '%' => {
                if let Some(end) = self.percent_placeholder(at) {
                    return other(end);
                }
            }
            '$' | ':' if is_word(next) && !self.previous(at).is_some_and(is_word) => {
                return other(self.run(at + 1, is_word));
            }
            '\\' if is_word(next) => return other(self.run(at + 1, is_word)),
            _ => {}
        }
        None
    }

    fn percent_placeholder(&self, at: usize) -> Option<usize> {
        let mut end = at + 1;
        if self.char_at(end) == '(' {
            let close = self.run(end + 1, is_word);
            if close > end + 1 && self.char_at(close) == ')' {
                end = close + 1;
            }
        }
        same_letter(self.char_at(end), 's').then_some(end + 1)
    }

    /// The closing position of the quoted text that opens at `at`.
    fn quoted(&mut self, at: usize, quote: char, escapes: bool) -> Option<usize> {
        let place = self.closings.iter().position(|c| c.quote == quote);
        let index = place.unwrap_or_else(|| {
            self.closings.push(Closings::new(&self.text, quote, escapes));
            self.closings.len() - 1
        });
        let end = self.closings[index].ends[at + 1];
        (end != UNCLOSED).then_some(end)
    }

    /// Words whose neighbours make them names, and the six keywords that are looked for before.
    fn name(&self, at: usize) -> Option<(Kind, usize)> {
        for keyword in ["CASE", "IN", "VALUES", "USING", "FROM", "AS"] {
            if let Some(end) = self.words(at, &[keyword]) {
                return Some((Kind::Keyword, end));
            }
        }
        let sigil = match self.char_at(at) {
            '#' if self.char_at(at + 1) == '#' => 2,
            '@' | '#' => 1,
            _ => 0,
        };
        if sigil > 0 && is_letter(self.char_at(at + sigil)) && is_word(self.char_at(at + sigil + 1)) {
            return Some((Kind::Other, self.run(at + sigil, is_word)));
        }
        if !is_letter(self.char_at(at)) {
            return None;
        }
        let end = self.run(at, is_word);
        let dot = self.run(end, is_space);
        let before_dot = self.char_at(dot) == '.' && !self.char_at(dot + 1).is_ascii_digit();
        let is_name = before_dot || self.previous(at) == Some('.') || self.char_at(end) == '(';
        is_name.then_some((Kind::Other, end))
    }

    fn number(&self, at: usize) -> Option<(Kind, usize)> {
        let digits = |at: usize| self.run(at, |c| c.is_ascii_digit());
        let start = if self.char_at(at) == '-' { at + 1 } else { at };
        let number = |end| Some((Kind::Other, end));
        if self.char_at(start) == '0' && same_letter(self.char_at(start + 1), 'x') {
            let end = self.run(start + 2, |c| c.is_ascii_hexdigit());
            if end > start + 2 {
                return number(end);
            }
        }
        let whole = digits(start);
        let point = self.char_at(whole) == '.';
        let fraction = if point { digits(whole + 1) } else { whole };
        if whole > start {
            let mantissa = if fraction > whole + 1 { fraction } else { whole };
            if same_letter(self.char_at(mantissa), 'e') {
                let from = mantissa + 1 + usize::from(self.char_at(mantissa + 1) == '-');
                let end = digits(from);
                if end > from {
                    return number(end);
                }
            }
        }
        // A letter behind the number makes the expression give back one digit, if it has one to give.
        let settle = |first: usize, end: usize| {
            let next = self.char_at(end);
            if next == '_' || is_letter(next) { (end > first).then(|| end - 1) } else { Some(end) }
        };
        if point && whole > start {
            if let Some(end) = settle(whole + 1, fraction) {
                return number(end);
            }
        } else if point
            && fraction > whole + 1
            && let Some(end) = settle(whole + 2, fraction)
        {
            return number(end);
        }
        if whole > start { settle(start + 1, whole).and_then(number) } else { None }
    }

    fn quoted_text(&mut self, at: usize) -> Option<(Kind, usize)> {
        match self.char_at(at) {
            quote @ ('\'' | '"') => self.quoted(at, quote, true).map(|end| (Kind::Text, end)),
            '[' if !self.previous(at).is_some_and(|c| is_word(c) || c == ']' || c == ')') => {
                let end = self.run(at + 1, |c| c != '[' && c != ']');
                (end > at + 1 && self.char_at(end) == ']').then_some((Kind::Other, end + 1))
            }
            _ => None,
        }
    }

    fn phrase(&self, at: usize) -> Option<(Kind, usize)> {
        if let Some(end) = self.join(at) {
            return Some((Kind::Keyword, end));
        }
        for (words, kind) in PHRASES {
            if let Some(end) = self.words(at, words) {
                return Some((kind, end));
            }
        }
        if let Some(end) = self.words(at, &["HANDLER", "FOR"]).or_else(|| self.go_with_count(at)) {
            return Some((Kind::Keyword, end));
        }
        for view in ["EXPLODE", "INLINE", "PARSE_URL_TUPLE", "POSEXPLODE", "STACK"] {
            if let Some(end) = self.words(at, &["LATERAL", "VIEW", view]) {
                return Some((Kind::Keyword, end));
            }
        }
        if let Some(end) = self.time_zone(at) {
            return Some((Kind::Subkeyword, end));
        }
        COMPARISONS.iter().find_map(|words| self.words(at, words)).map(|end| (Kind::Other, end))
    }

    fn join(&self, at: usize) -> Option<usize> {
        let optional =
            |at, words: &[&str]| words.iter().find_map(|w| self.word_and_space(at, w)).unwrap_or(at);
        let sided = optional(at, &["LEFT", "RIGHT", "FULL"]);
        let kind = optional(sided, &["INNER", "OUTER", "STRAIGHT"]);
        let kind = if kind == at { optional(at, &["CROSS", "NATURAL"]) } else { kind };
        self.words(kind, &["JOIN"])
    }

    fn go_with_count(&self, at: usize) -> Option<usize> {
        let space = self.letters(at, "GO")?;
        let end = self.run(space + 1, |c| c.is_ascii_digit());
        let boundary = !is_word(self.char_at(end));
        (is_space(self.char_at(space)) && end > space + 1 && boundary).then_some(end)
    }

    fn time_zone(&self, at: usize) -> Option<usize> {
        let start = self.word_and_space(at, "AT").or_else(|| self.word_and_space(at, "WITH'"))?;
        let zone = self.word_and_space(self.word_and_space(start, "TIME")?, "ZONE")?;
        let end = self.run(zone + 1, |c| c != '\'');
        let quoted = self.char_at(zone) == '\'' && end > zone + 1 && self.char_at(end) == '\'';
        quoted.then_some(end + 1)
    }

    fn word(&self, at: usize) -> Option<(Kind, usize)> {
        if !is_word(self.char_at(at)) {
            return None;
        }
        let end = self.run(at, |c| is_word(c) || c == '$' || c == '#');
        let upper: String = self.text[at..end].iter().collect::<String>().to_uppercase();
        let kind = if SPLITTER_WORDS.contains(&upper.as_str()) { Kind::Keyword } else { Kind::Other };
        Some((kind, end))
    }

    fn operator(&self, at: usize) -> (Kind, usize) {
        if matches!(self.char_at(at), ';' | ':' | '(' | ')' | '[' | ']' | ',' | '.') {
            return (Kind::Punctuation, at + 1);
        }
        for operator in ["->>", "->", "#>>", "#>", "@>", "<@", "-", "#-"] {
            if self.starts_with(at, operator) {
                return (Kind::Other, at + operator.len());
            }
        }
        let comparison = self.run(at, |c| "<>=~!".contains(c));
        if comparison > at {
            return (Kind::Other, comparison);
        }
        let arithmetic = self.run(at, |c| "+/@#%^&|-".contains(c));
        (Kind::Other, arithmetic.max(at + 1))
    }
}
