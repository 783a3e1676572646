//! `(SELECT …) AS t (a, b)`: a subquery in FROM whose columns are named behind it.
//!
//! *Why it holds*: a common table expression takes names for its columns, by position and as many as the query has;
//! `(WITH n (a, b) AS (SELECT …) SELECT * FROM n) AS t` has the same rows, and its columns are a and b. Its name is one
//! that occurs nowhere in the text.

use super::words::{Edits, Words, is_name};

pub(super) fn spell(words: &Words<'_>) -> Edits {
    let mut name = "spelled".to_owned();
    while (0..words.len()).any(|at| words.at(at).to_ascii_lowercase().contains(&name)) {
        name.push('_');
    }
    let mut edits = Edits::new();
    for open in 0..words.len() {
        let Some(close) = words.closing(open).filter(|_| words.is_query(open)) else { continue };
        let alias = close + if words.is(close + 1, &["AS"]) { 2 } else { 1 };
        let Some(end) = words.closing(alias + 1).filter(|_| is_name(words.at(alias))) else { continue };
        let names_only =
            words.parts(alias + 2, end).iter().all(|(from, to)| to - from == 1 && is_name(words.at(*from)));
        if names_only {
            let columns = words.text(alias + 1, end + 1);
            edits.extend((alias + 1..=end).map(|at| (at, String::new())));
            edits.insert(open, format!("(WITH {name}{open} {columns} AS ("));
            edits.insert(close, format!(") SELECT * FROM {name}{open})"));
        }
    }
    edits
}
