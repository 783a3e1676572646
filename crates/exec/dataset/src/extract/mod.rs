//! Takes the SQL out of what a language model wrote around it: [`extract_sql`] has the contract, and
//! [`EXTRACTION`] names its version, which a run records.

mod begin;
mod end;
mod other;

use serde_json::Value;

use crate::columns::{ColumnRole, Columns};
use crate::fence::{FENCE, fence_after_select, fenced};
use crate::text::strip;
pub(crate) use begin::{after_keyword, statement_start, words};
use end::statement_end;
use other::follows_other_statement;
pub use other::is_other_statement;

/// Name and version of the extraction's contract. A change of meaning makes a new version.
///
/// - `extract-sql@1`: of several code fences the first with a statement was taken.
/// - `extract-sql@2`: the last, unless it is offered beside the one before; see [`extract_sql`].
/// - `extract-sql@3`: a query is not taken out of another statement ([`is_other_statement`]), and not from behind one.
pub const EXTRACTION: &str = "extract-sql@3";

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
/// WITH stays as it is, and so does text whose query is part of another statement (`EXPLAIN`, `INSERT … SELECT`,
/// `CREATE TABLE … AS SELECT`) or stands behind one (`DELETE …; SELECT …`): who asked for a query was given something else. A text that is one SQL statement comes back unchanged but for white space and the
/// semicolon at its end.
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
        Some(start) if !follows_other_statement(&text[..start]) => statement(text, start, removed).to_owned(),
        _ => text.to_owned(),
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
        let mut answer = String::new();
        let mut rest = text.as_str();
        while let Some(end) = find_ignoring_case(rest, close) {
            match find_ignoring_case(&rest[..end], open) {
                Some(start) => answer.push_str(&rest[..start]),
                // A close without an open: the prompt had the open.
                None => answer.clear(),
            }
            rest = &rest[end + close.len()..];
        }
        answer.push_str(&rest[..find_ignoring_case(rest, open).unwrap_or(rest.len())]);
        text = answer;
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
    let (_, value) =
        columns.find(ColumnRole::Prediction, fields).or_else(|| columns.find(ColumnRole::Gold, fields))?;
    value.as_str().map(str::to_owned)
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
    fn extracting_again_changes_nothing() {
        for (text, ..) in CASES {
            let once = extract_sql(text).sql;
            assert_eq!(extract_sql(&once).sql, once, "{text:?}");
        }
    }
}
