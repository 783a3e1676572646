//! `OFFSET n ROWS FETCH FIRST m ROWS ONLY`.
//!
//! *Why it holds*: the standard defines it as dropping the first n rows of the ordered result and keeping the next m, which
//! is `LIMIT m OFFSET n`; without FETCH all that follow are kept, which is `LIMIT -1`. Without a number m is 1. `WITH TIES`
//! and PERCENT have no such words and stay.

use super::words::{Edits, Words};

/// `OFFSET n ROWS`: the number, and how many words it takes.
fn offset(words: &Words<'_>, at: usize) -> Option<(String, usize)> {
    let is_offset = words.is(at, &["OFFSET"]) && words.is(at + 2, &["ROW", "ROWS"]);
    is_offset.then(|| (words.at(at + 1).to_owned(), 3))
}

/// `FETCH FIRST m ROWS ONLY`.
fn fetch(words: &Words<'_>, at: usize) -> Option<(String, usize)> {
    if !words.is(at, &["FETCH"]) || !words.is(at + 1, &["FIRST", "NEXT"]) {
        return None;
    }
    let has_number = words.at(at + 2).starts_with(|c: char| c.is_ascii_digit());
    let (number, rows) = if has_number { (words.at(at + 2), 3) } else { ("1", 2) };
    let ends = words.is(at + rows, &["ROW", "ROWS"]) && words.is(at + rows + 1, &["ONLY"]);
    ends.then(|| (number.to_owned(), rows + 2))
}

pub(super) fn spell(words: &Words<'_>) -> Edits {
    let mut edits = Edits::new();
    let mut at = 0;
    while at < words.len() {
        let skipped = offset(words, at);
        let after = at + skipped.as_ref().map_or(0, |(_, length)| *length);
        let count = fetch(words, after);
        let end = after + count.as_ref().map_or(0, |(_, length)| *length);
        if end == at {
            at += 1;
            continue;
        }
        let limit = count.map_or_else(|| "-1".to_owned(), |(number, _)| number);
        let offset = skipped.map_or_else(String::new, |(number, _)| format!(" OFFSET {number}"));
        edits.extend((at..end).map(|at| (at, String::new())));
        edits.insert(at, format!("LIMIT {limit}{offset}"));
        at = end;
    }
    edits
}
