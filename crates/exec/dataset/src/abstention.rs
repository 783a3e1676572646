//! Answers that say that there is no answer.

use sqlgauge_sql::lex::{self, Token, TokenKind};

/// What a system says when the schema lacks what a question asks for.
///
/// # Contract
/// - `EvoSchema`'s two sentences ("The given column information is insufficient to generate an SQL query to answer the
///   question", the same with "table"), and any text without SQL that says that something is insufficient, is missing, or
///   cannot be answered, written or determined;
/// - nothing, or nothing but white space, quotes and a semicolon;
/// - `NULL`, alone or selected: `SELECT NULL`;
/// - a SELECT of nothing but a sentence that says so: `SELECT 'Sorry, I do not have the data to answer that.' AS answer`.
///
/// A text with a SELECT that reads something is an answer, whatever else it says. A prediction that is missing is none: the
/// caller knows.
pub fn is_abstention(text: &str) -> bool {
    if let Some(message) = selected_text(text) {
        let message = message.to_ascii_lowercase().replace('\u{2019}', "'");
        let words = words(&message);
        let has = |any: &[&str]| words.iter().any(|word| any.contains(word));
        return has_phrase(&words) || (has(&LACKS) && has(&DATA) && has(&ANSWERS));
    }
    let text = without_comment_marks(text).to_ascii_lowercase();
    let words = words(&text);
    match words.as_slice() {
        [] | ["null" | "none"] | ["select", "null"] => true,
        ["select" | "with" | "values", ..] => false,
        words => has_phrase(words),
    }
}

/// An apostrophe stands within a word; others are quotes.
fn words(text: &str) -> Vec<&str> {
    let words = text.split(|c: char| !(c.is_alphanumeric() || c == '\'')).map(|word| word.trim_matches('\''));
    words.filter(|word| !word.is_empty()).collect()
}

fn has_phrase(words: &[&str]) -> bool {
    let text = words.join(" ");
    PHRASES.iter().any(|phrase| contains_words(&text, phrase))
}

/// The text of a query that selects nothing else: `SELECT '…'`, `SELECT '…' AS name`.
fn selected_text(sql: &str) -> Option<String> {
    let tokens: Vec<Token<'_>> = lex::words(sql).filter(|token| token.text != ";").collect();
    let [select, text, name @ ..] = tokens.as_slice() else { return None };
    let is_alias = match name {
        [] => true,
        [alias] => alias.is_name(),
        [as_word, alias] => as_word.text.eq_ignore_ascii_case("AS") && alias.is_name(),
        _ => false,
    };
    let is_text = select.text.eq_ignore_ascii_case("SELECT") && text.kind == TokenKind::Text && text.is_legal;
    (is_text && is_alias).then(|| text.unquoted().into_owned())
}

/// A sentence with a word of each of the three says that there are no data to answer from.
const LACKS: [&str; 19] = [
    "not",
    "no",
    "cannot",
    "can't",
    "don't",
    "doesn't",
    "isn't",
    "aren't",
    "without",
    "lack",
    "lacks",
    "lacking",
    "insufficient",
    "unavailable",
    "unable",
    "inability",
    "beyond",
    "missing",
    "impossible",
];
const DATA: [&str; 4] = ["data", "information", "database", "schema"];
const ANSWERS: [&str; 9] =
    ["answer", "answers", "answered", "answering", "respond", "responding", "response", "question", "query"];

/// Phrases of an abstention, as words in lower case.
const PHRASES: [&str; 19] = [
    "information is insufficient",
    "insufficient information",
    "not enough information",
    "cannot be answered",
    "can't be answered",
    "can not be answered",
    "cannot answer",
    "can't answer",
    "can not answer",
    "unable to answer",
    "not possible to answer",
    "impossible to answer",
    "unanswerable",
    "not answerable",
    "cannot be determined",
    "cannot be generated",
    "unable to generate",
    "not available in the",
    "does not contain",
];

/// The text without what makes comments of its lines: an abstention may stand in one.
fn without_comment_marks(text: &str) -> String {
    let lines = text.lines().map(|line| line.trim().trim_start_matches("--"));
    lines.collect::<Vec<_>>().join("\n").replace("/*", " ").replace("*/", " ")
}

fn contains_words(text: &str, phrase: &str) -> bool {
    text.match_indices(phrase).any(|(at, _)| {
        let ends = [text[..at].chars().next_back(), text[at + phrase.len()..].chars().next()];
        ends.iter().all(|end| end.is_none_or(|end| end == ' '))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn abstentions_are_told_from_answers() {
        for text in [
            "The given column information is insufficient to generate an SQL query to answer the question",
            "The given table information is insufficient to generate an SQL query to answer the question.",
            "",
            "  ;\n",
            "''",
            "null",
            "SELECT NULL;",
            "None",
            "-- The question cannot be answered with the given schema.",
            "/* This can't be answered: there is no table of concerts. */",
            "I'm unable to answer this question with the tables given.",
            "The schema does not contain a column for the age.",
            "SELECT 'Sorry, I do not have the data to answer that.' AS answer;",
            "select 'Regrettably, I''m without the required data to respond to that.'",
            "SELECT 'This cannot be answered' reply",
        ] {
            assert!(is_abstention(text), "{text:?}");
        }
        for text in [
            "SELECT count(*) FROM singer",
            "SELECT NULL FROM singer",
            "SELECT 'cannot be answered' FROM t",
            "SELECT 'New York City' AS answer",
            "SELECT 'no', 'data', 'answer'",
            "SELECT 'The data say that 7 is the answer'",
            "WITH a AS (SELECT 1) SELECT * FROM a",
            "SELECT name FROM t -- not enough information about age",
            "I think the following query is right",
            "singer",
            "unanswerables",
        ] {
            assert!(!is_abstention(text), "{text:?}");
        }
    }
}
