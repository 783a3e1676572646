//! Statements other than queries: they explain a query, or change data or the schema.

use super::begin::{after_keyword, after_name};
use crate::text::strip;

/// Whether a text begins with a statement other than a query: `EXPLAIN QUERY PLAN SELECT …`, `INSERT INTO …`,
/// `DELETE FROM …`. Prose that begins with the same word ("Update: the query is …") is not one.
///
/// `CREATE TABLE t (…)` is not among them: models repeat the schema that they were given before they answer.
pub fn is_other_statement(text: &str) -> bool {
    let text = strip(text).trim_start_matches('(');
    after_keyword(text, "explain").map_or_else(|| changes(text), explains)
}

/// Whether a statement that changes data, the schema or the connection begins here.
fn changes(text: &str) -> bool {
    let after = |keyword: &str| after_keyword(text, keyword);
    after("insert").is_some_and(goes_into)
        || after("replace").is_some_and(goes_into)
        || after("delete").and_then(|rest| after_keyword(rest, "from")).is_some_and(deletes)
        || after("update").is_some_and(updates)
        || after("create").is_some_and(creates_from_query)
        || after("alter").and_then(|rest| after_keyword(rest, "table")).is_some_and(is_name)
        || after("drop").is_some_and(drops)
        || after("pragma").and_then(after_name).is_some_and(|rest| ends_or(rest, &["=", "("]))
        || keeps_house(text)
}

/// Longest statement that keeps house; a longer text is prose.
const MAX_HOUSEKEEPING: usize = 200;

/// Whether a short statement about transactions, files or statistics begins here and ends in a semicolon: `BEGIN;`, `ATTACH 'x' AS y;`.
fn keeps_house(text: &str) -> bool {
    let end = text.char_indices().take(MAX_HOUSEKEEPING).find(|&(_, sign)| sign == ';');
    let Some(statement) = end.and_then(|(at, _)| text.get(..at)) else { return false };
    let words = statement.to_ascii_lowercase();
    let words: Vec<&str> = words.split_whitespace().collect();
    match words.as_slice() {
        ["begin", "deferred" | "immediate" | "exclusive", rest @ ..]
        | ["begin" | "commit" | "end" | "rollback", rest @ ..] => {
            matches!(rest, [] | ["transaction"] | [.., "to" | "savepoint", _])
        }
        ["analyze" | "reindex" | "vacuum"]
        | ["analyze" | "reindex" | "vacuum" | "savepoint" | "release" | "detach", _]
        | ["vacuum", "into", _]
        | ["release", "savepoint", _]
        | ["detach", "database", _]
        | ["attach", .., "as", _] => true,
        _ => false,
    }
}

/// Whether the text before a query holds another statement, or begins one that contains the query. `before` ends where the query
/// begins.
pub(super) fn follows_other_statement(before: &str) -> bool {
    let before = strip(before);
    let mut start = 0;
    before.split_inclusive([';', '\n']).any(|piece| {
        let at = start;
        start += piece.len();
        // Blank pieces are passed over, or each would be read again from every one before it.
        !strip(piece).is_empty() && is_other_statement(&before[at..])
    })
}

/// EXPLAIN goes on with the query, here or where the query was cut off; prose goes on with other words.
fn explains(rest: &str) -> bool {
    let plan = after_keyword(rest, "query").and_then(|rest| after_keyword(rest, "plan"));
    let rest = plan.unwrap_or(rest).trim_start_matches('(');
    rest.is_empty()
        || ["select", "with", "values"].iter().any(|keyword| after_keyword(rest, keyword).is_some())
        || changes(rest)
}

fn goes_into(rest: &str) -> bool {
    let rest = without_or(rest);
    let name = after_keyword(rest, "into").and_then(after_qualified_name);
    name.is_some_and(|rest| ends_or(rest, &["(", "values", "select", "with", "default", "as"]))
}

fn deletes(rest: &str) -> bool {
    after_qualified_name(rest).is_some_and(|rest| ends_or(rest, &["where", "returning", "as"]))
}

fn updates(rest: &str) -> bool {
    after_qualified_name(without_or(rest))
        .is_some_and(|rest| after_keyword(rest.trim_start(), "set").is_some())
}

/// `CREATE TABLE t AS` and `CREATE VIEW v AS`.
fn creates_from_query(rest: &str) -> bool {
    let rest = ["temporary", "temp"].iter().find_map(|word| after_keyword(rest, word)).unwrap_or(rest);
    let Some(rest) = ["table", "view"].iter().find_map(|word| after_keyword(rest, word)) else {
        return false;
    };
    let condition = ["if", "not", "exists"].iter().try_fold(rest, |rest, word| after_keyword(rest, word));
    let name = after_qualified_name(condition.unwrap_or(rest));
    name.is_some_and(|rest| after_keyword(rest.trim_start(), "as").is_some())
}

fn drops(rest: &str) -> bool {
    let kinds = ["table", "view", "index", "trigger"];
    let Some(rest) = kinds.iter().find_map(|word| after_keyword(rest, word)) else { return false };
    let condition = ["if", "exists"].iter().try_fold(rest, |rest, word| after_keyword(rest, word));
    after_qualified_name(condition.unwrap_or(rest)).is_some_and(|rest| ends_or(rest, &[]))
}

/// `OR REPLACE`, `OR IGNORE` and the like are skipped.
fn without_or(rest: &str) -> &str {
    after_keyword(rest, "or").and_then(after_name).map_or(rest, str::trim_start)
}

fn is_name(rest: &str) -> bool {
    after_qualified_name(rest).is_some()
}

/// What follows `name` or `schema.name`.
fn after_qualified_name(text: &str) -> Option<&str> {
    let rest = after_name(text.trim_start())?;
    rest.strip_prefix('.').map_or(Some(rest), after_name)
}

/// Whether the statement ends here, or goes on with one of those.
fn ends_or(rest: &str, further: &[&str]) -> bool {
    let rest = rest.trim_start();
    let goes_on = |next: &&str| match *next {
        "(" | "=" => rest.starts_with(*next),
        word => after_keyword(rest, word).is_some(),
    };
    rest.is_empty() || rest.starts_with(';') || further.iter().any(goes_on)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_read_once_and_nothing_nests() {
        let many = |text: &str| text.repeat(200_000);
        for text in [
            many("explain "),
            many("explain\n"),
            many("\n"),
            many("explain query plan\n("),
            many(";"),
            many("begin\n"),
        ] {
            assert!(!follows_other_statement(&(text.clone() + "x")) && !is_other_statement(&(text + "x")));
        }
    }

    #[test]
    fn statements_that_are_no_queries_are_told_from_prose_and_queries() {
        for text in [
            "EXPLAIN QUERY PLAN SELECT a FROM t",
            "explain select a from t",
            "EXPLAIN (SELECT 1)",
            "INSERT INTO x SELECT a FROM t",
            "insert or replace into main.x (a) values (1)",
            "REPLACE INTO \"x y\" VALUES (1)",
            "CREATE TABLE x AS SELECT a FROM t",
            "CREATE TEMP VIEW IF NOT EXISTS v AS SELECT a FROM t",
            "DELETE FROM t; SELECT a FROM t",
            "DELETE FROM t WHERE a = 1",
            "UPDATE t SET a = 1",
            "DROP TABLE IF EXISTS t;",
            "ALTER TABLE t RENAME TO u",
            "PRAGMA table_info(t)",
            "EXPLAIN DELETE FROM t",
            "ATTACH 'x' AS y; SELECT a FROM t",
            "attach database 'a b' as y;",
            "DETACH y; SELECT a FROM t",
            "ANALYZE; SELECT a FROM t",
            "REINDEX t; SELECT a FROM t",
            "VACUUM INTO 'x'; SELECT a FROM t",
            "BEGIN; SELECT a FROM t",
            "BEGIN IMMEDIATE TRANSACTION; SELECT a FROM t",
            "COMMIT; SELECT a FROM t",
            "ROLLBACK TO s; SELECT a FROM t",
            "SAVEPOINT s; SELECT a FROM t",
            "RELEASE SAVEPOINT s; SELECT a FROM t",
        ] {
            assert!(is_other_statement(text), "{text}");
        }
        for text in [
            "SELECT a FROM t",
            "WITH x AS (SELECT 1) SELECT * FROM x",
            "Explain: the query is SELECT a FROM t",
            "Update: the corrected query is SELECT a FROM t",
            "Insert into your program this query: SELECT a FROM t",
            "Delete from your notes what I said. SELECT a FROM t",
            "Create a table as follows",
            "CREATE TABLE t (a INT); SELECT a FROM t",
            "Drop table names you do not need and write SELECT a FROM t",
            "I would replace into with from",
            "Begin with the table; SELECT a FROM t",
            "End of the story; SELECT a FROM t",
            "Analyze the question first; SELECT a FROM t",
            "Attach the file; SELECT a FROM t",
            "",
        ] {
            assert!(!is_other_statement(text), "{text}");
        }
    }
}
