//! Where a statement begins in what a language model wrote.

use super::half_width::closing_quote;

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

/// Where a statement begins that is no word of prose: it stands out, or is a SELECT in capitals with its FROM, or the WITH of a
/// common table expression.
pub(crate) fn clear_start(text: &str) -> Option<usize> {
    let last_from = words(text).filter(|(_, word)| word.eq_ignore_ascii_case("from")).last();
    let begins = |&(position, word): &(usize, &str)| {
        let after = &text[position + word.len()..];
        if word.eq_ignore_ascii_case("with") {
            return begins_cte(after);
        }
        let has_from = word == "SELECT" && last_from.is_some_and(|(from, _)| from > position);
        word.eq_ignore_ascii_case("select")
            && (has_from || stands_out(&text[..position]))
            && begins_select(after)
    };
    words(text).find(begins).map(|(position, _)| position)
}

/// Where the statement begins that is all of the text but for parentheses and comments before it.
pub(crate) fn front(text: &str) -> Option<usize> {
    let mut at = 0;
    loop {
        let rest = &text[at..];
        let blank = rest.len() - rest.trim_start_matches(|c: char| c == '(' || c.is_whitespace()).len();
        at += blank;
        let comment = comment_length(&text[at..]);
        at += comment;
        if blank + comment == 0 {
            break;
        }
    }
    let rest = &text[at..];
    let word = rest.split(|c: char| !is_word(c)).next()?;
    let after = &rest[word.len()..];
    let is_cte = word.eq_ignore_ascii_case("with") && begins_cte(after);
    (is_cte || word.eq_ignore_ascii_case("select") && begins_select(after)).then_some(at)
}

fn comment_length(text: &str) -> usize {
    if text.starts_with("--") {
        return text.find(['\n', '\r']).unwrap_or(text.len());
    }
    if text.starts_with("/*") { text.find("*/").map_or(0, |end| end + 2) } else { 0 }
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

pub(super) fn is_word(c: char) -> bool {
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
    next.is_some_and(|c| {
        c.is_whitespace() || "*('\"`[-+@:?\u{ff08}\u{ff0a}\u{ff02}\u{ff07}\u{feff}".contains(c)
    }) && !is_echo
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
pub(super) fn begins_cte(after: &str) -> bool {
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
pub(super) fn after_name(text: &str) -> Option<&str> {
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
    let before = before.trim_end_matches([' ', '\t', '(', '\u{ff08}', '\u{feff}']);
    let signs = ['\n', '\r', ':', '\u{ff1a}', '=', ']', '>', '`', '*'];
    before.is_empty() || before.ends_with(signs) || before.ends_with(|c| closing_quote(c).is_some())
}
