//! `DATE '2020-12-31'`, `TIME '…'`, `TIMESTAMP '…'`.
//!
//! *Why it holds*: SQLite keeps dates and times as texts in ISO 8601, which compare, as texts, as the moments do; the type
//! before the text says nothing that its digits do not. Only texts of digits and `-:. ` are taken.

use super::words::{Edits, Words};

pub(super) fn spell(words: &Words<'_>) -> Edits {
    let is_typed = |&at: &usize| {
        let text = words.at(at + 1);
        let is_moment = text.starts_with('\'')
            && text.len() > 2
            && text.chars().all(|c| "'-:. ".contains(c) || c.is_ascii_digit());
        words.is(at, &["DATE", "TIME", "TIMESTAMP"]) && is_moment && !words.follows(at, &["."])
    };
    (0..words.len()).filter(is_typed).map(|at| (at, String::new())).collect()
}
