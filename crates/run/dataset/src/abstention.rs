//! Answers that say that there is no answer.

/// What a system says when the schema lacks what a question asks for.
///
/// # Contract
/// - `EvoSchema`'s two sentences ("The given column information is insufficient to generate an SQL query to answer the
///   question", the same with "table"), and any text without SQL that says that something is insufficient, is missing, or
///   cannot be answered, written or determined;
/// - nothing, or nothing but white space, quotes and a semicolon;
/// - `NULL`, alone or selected: `SELECT NULL`.
///
/// A text with a SELECT that reads something is an answer, whatever else it says. A prediction that is missing is none: the
/// caller knows.
pub fn is_abstention(text: &str) -> bool {
    let text = without_comment_marks(text).to_ascii_lowercase();
    // An apostrophe stands within a word; others are quotes.
    let words = text.split(|c: char| !(c.is_alphanumeric() || c == '\'')).map(|word| word.trim_matches('\''));
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    match words.as_slice() {
        [] | ["null" | "none"] | ["select", "null"] => true,
        ["select" | "with" | "values", ..] => false,
        words => {
            let said = words.join(" ");
            PHRASES.iter().any(|phrase| contains_words(&said, phrase))
        }
    }
}

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
        ] {
            assert!(is_abstention(text), "{text:?}");
        }
        for text in [
            "SELECT count(*) FROM singer",
            "SELECT NULL FROM singer",
            "SELECT 'cannot be answered' FROM t",
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
