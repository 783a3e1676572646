//! Takes the SQL out of what a language model wrote around it: [`extract_sql`] has the contract, and
//! [`EXTRACTION`] names its version, which a run records.

mod answer;
mod begin;
mod call;
mod chat;
mod end;
mod half_width;
mod markers;
mod other;
mod parts;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

use crate::abstention::is_abstention;
use crate::fence::{FENCE, fence_after_select, fenced};
use crate::text::strip;
use crate::transcript::as_text;
use answer::answer;
pub(crate) use begin::{after_keyword, clear_start, front, statement_start, words};
pub(crate) use call::{sql_of_call, sql_of_json};
pub use chat::chat_note;
use end::{statement_end, whole_statement};
use half_width::{closing_quote, half_width, trim_ends};
pub use markers::{MARKERS, Marker, MarkerForm, MarkerRule};
use other::follows_other_statement;
pub use other::is_other_statement;
pub(crate) use parts::{Part, PartKind, parts};

/// Name and version of the extraction's contract. A change of meaning makes a new version.
///
/// - `extract-sql@1`: of several code fences the first with a statement was taken.
/// - `extract-sql@2`: the last, unless it is offered beside the one before; see [`extract_sql`].
/// - `extract-sql@3`: a query is not taken out of another statement ([`is_other_statement`]), and not from behind one.
/// - `extract-sql@4`: a final answer is taken before drafts, by the markers of [`MARKERS`]; tails such as `SQLResult:` go;
///   full-width punctuation is SQL's; a text that is one statement stays, whatever its literals hold.
pub const EXTRACTION: &str = "extract-sql@4";

sqlgauge_base::named! {
    /// Something that stood around the SQL, from the outside in; its name follows "removed".
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Removed by as_str {
        /// `<think>…</think>` and the like, closed or not.
        Thinking = "thinking",
        /// Earlier queries, and what they returned.
        Draft = "earlier queries",
        /// A marker of the final answer.
        Marker = "a final answer's marker",
        /// A Markdown code fence and what is outside it.
        CodeFence = "a code fence",
        /// A JSON object that has the SQL in a field.
        Json = "a JSON object",
        /// A label such as `SQL:`.
        Label = "a label",
        /// Words before the SQL.
        Preamble = "words before the SQL",
        /// Quotes or back-ticks around the SQL.
        Quotes = "quotes around the SQL",
        /// Full-width punctuation, for which SQL's own stands.
        Punctuation = "full-width punctuation",
        /// Words or special tokens after the SQL.
        Explanation = "words after the SQL",
        /// Statements after the first.
        FurtherStatements = "further statements",
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

/// JSON in a fence in a tag …: nobody nests deeper than this.
const MAX_DEPTH: usize = 6;

/// Finds the SQL in a language model's answer.
///
/// A text that is one SQL statement comes back unchanged but for white space and the semicolon at its end, whatever stands in its
/// literals, quoted names and comments. Else, in this order:
///
/// - thinking is dropped (an unclosed `<think>` with everything after it);
/// - a JSON object gives the field that has the SQL, or the argument of its tool call;
/// - of final answers the last that holds a statement is taken (`<solution>`, `\\boxed{…}`, `Final SQL:`; [`MARKERS`] has all);
/// - without one, what stands before the last result of a query is a draft, unless no query follows; a next question ends the answer;
/// - of several code fences and query tags one is taken (below);
/// - the first statement that begins with SELECT or WITH is kept, up to its semicolon, an end-of-text token, a tag, or a paragraph,
///   label, run of words or SELECT that cannot continue SQL. Full-width punctuation outside of its literals becomes SQL's.
///
/// Text without a SELECT or WITH stays as it is, and so does text whose query is part of another statement (`EXPLAIN`,
/// `INSERT … SELECT`, `CREATE TABLE … AS SELECT`) or stands behind one (`DELETE …; SELECT …`): who asked for a query was given
/// something else.
///
/// *Several code fences.* Only those that hold a statement count, and if one of them is marked as SQL, only those
/// that are marked. A model that writes on after a fence thinks aloud (steps, a draft, its correction) or offers
/// more than was asked for (another way, a variation, a check, a part of the query explained). So the last fence
/// is taken, except that a fence is passed over which
/// - the words before it announce as another way or an extra (`Alternatively`, `You can also`, `If you want`,
///   `To verify`), unless words that announce a correction (`Corrected`, `Wait`, `the final query`) stand closer;
/// - repeats a part of the statement that is taken so far;
/// - is never closed, because the answer was cut off in it;
/// - holds another statement than a query.
///
/// A query tag (`<sql>`, `<tool_call>`) takes the place of what stands before it. Of more than a hundred fences and tags the last
/// hundred are looked at.
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
    let text = trim_ends(text);
    if let Some(sql) = whole(text, removed) {
        return sql;
    }
    let thoughtless = without_thinking(text);
    if thoughtless.len() < text.len() {
        removed.push(Removed::Thinking);
    }
    let text = trim_ends(&thoughtless);
    if depth < MAX_DEPTH
        && let Some(inner) = inside(text, removed)
    {
        return extract(&inner, depth + 1, removed);
    }
    match statement_start(text) {
        Some(start) if !follows_other_statement(&text[..start]) => statement(text, start, removed),
        _ => text.to_owned(),
    }
}

/// The text if it is one statement.
fn whole(text: &str, removed: &mut Vec<Removed>) -> Option<String> {
    let start = front(text)?;
    let statement = half_width(&text[start..]);
    let sql = strip(whole_statement(&statement, 0)?);
    if matches!(statement, Cow::Owned(_)) {
        removed.push(Removed::Punctuation);
    }
    Some([&text[..start], sql].concat())
}

/// What is inside of the JSON, the marker or the fence that has the answer.
fn inside(text: &str, removed: &mut Vec<Removed>) -> Option<String> {
    if let Some(sql) = sql_of_json(text) {
        removed.push(Removed::Json);
        return Some(sql);
    }
    if text.starts_with('[')
        && let Ok(list) = serde_json::from_str(text)
        && let Some(transcript) = as_text(&list)
    {
        removed.push(Removed::Json);
        return Some(transcript);
    }
    let parts = parts(text);
    if let Some(answer) = answer(text, &parts) {
        removed.extend(answer.removed);
        return Some(answer.text.into_owned());
    }
    if let Some(inner) = fenced(text, &parts) {
        removed.push(Removed::CodeFence);
        return Some(inner.to_owned());
    }
    let joined = fence_after_select(text)?;
    removed.push(Removed::CodeFence);
    Some(joined)
}

/// The marks between which models think aloud.
fn thinking() -> Vec<(String, String)> {
    let of = |marker: &Marker| match marker.form {
        MarkerForm::Tags(names) => {
            names.iter().map(|tag| (format!("<{tag}>"), format!("</{tag}>"))).collect()
        }
        MarkerForm::Pairs(pairs) => {
            pairs.iter().map(|(open, close)| ((*open).to_owned(), (*close).to_owned())).collect()
        }
        MarkerForm::Label { .. } => Vec::new(),
    };
    MARKERS.iter().filter(|marker| marker.rule == MarkerRule::Thinking).flat_map(of).collect()
}

fn without_thinking(text: &str) -> Cow<'_, str> {
    let mut text = Cow::Borrowed(text);
    for (open, close) in thinking() {
        let ends = find_ignoring_case(&text, &close).is_some();
        if !ends && find_ignoring_case(&text, &open).is_none() {
            continue;
        }
        let mut answer = String::new();
        let mut rest = text.as_ref();
        while let Some(end) = find_ignoring_case(rest, &close) {
            match find_ignoring_case(&rest[..end], &open) {
                Some(start) => answer.push_str(&rest[..start]),
                // A close without an open: the prompt had the open.
                None => answer.clear(),
            }
            rest = &rest[end + close.len()..];
        }
        answer.push_str(&rest[..find_ignoring_case(rest, &open).unwrap_or(rest.len())]);
        text = Cow::Owned(answer);
    }
    text
}

/// Byte position of an ASCII pattern.
fn find_ignoring_case(text: &str, pattern: &str) -> Option<usize> {
    text.as_bytes().windows(pattern.len()).position(|window| window.eq_ignore_ascii_case(pattern.as_bytes()))
}

/// The statement that begins at `start`.
fn statement(text: &str, start: usize, removed: &mut Vec<Removed>) -> String {
    // A parenthesis before the keyword belongs to the statement if nothing else stands before it.
    let is_inner = |c: char| c == '(' || c == '\u{ff08}' || c.is_whitespace();
    let start = if text[..start].chars().all(is_inner) { 0 } else { start };
    let before = &text[..start];
    let text = half_width(&text[start..]);
    if matches!(text, Cow::Owned(_)) {
        removed.push(Removed::Punctuation);
    }
    let mut end = statement_end(&text, 0);
    if let Some(close) = before.chars().next_back().and_then(closing_quote) {
        let whole = strip(&text).trim_end_matches([';', '.']);
        let wraps_all =
            before.trim_start().chars().count() == 1 && !whole.is_empty() && whole.ends_with(close);
        let close = if wraps_all { Some(whole.len() - close.len_utf8()) } else { text.find(close) };
        if let Some(close) = close {
            removed.push(Removed::Quotes);
            // The scan took the closing quote for an opening one, unless it stopped before it.
            end = close.min(statement_end(&text[..close], 0));
        }
    }
    note_before(before, removed);
    note_after(&text[end..], removed);
    let sql = trim_ends(&text[..end]);
    let is_bold = before.ends_with("**");
    sql.strip_suffix("**").filter(|_| is_bold).unwrap_or(sql).trim_end_matches(';').trim_end().to_owned()
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
