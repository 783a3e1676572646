//! Other people's SQL in words that SQLite has.
//!
//! # Contract
//! A text that SQLite refuses is spelled otherwise where the standard, or a dialect, gives it a meaning that SQLite has other
//! words for: see [`SPELLINGS`], each with why it holds at the head of its file. Nothing else is changed, nothing is changed in
//! a text that SQLite takes, and spelling ends as soon as it does. A text that stays refused is refused as it was written.
//!
//! It works on words, in time that is linear in the text for each spelling; texts grow to at most about a megabyte.

mod column_lists;
mod dollar_names;
mod fetch_first;
mod functions;
mod grouping_sets;
mod operands;
mod typed_literals;
mod words;

use self::words::{Edits, Words};

/// What is spelled otherwise: its name, and what it changes.
struct Spelling {
    name: &'static str,
    spell: fn(&Words<'_>) -> Edits,
}

/// In the order in which they are tried: first what hides the structure of the text from the others.
const SPELLINGS: [Spelling; 9] = [
    Spelling { name: "dollar-names", spell: dollar_names::spell },
    Spelling { name: "typed-literals", spell: typed_literals::spell },
    Spelling { name: "fetch-first", spell: fetch_first::spell },
    Spelling { name: "column-lists", spell: column_lists::spell },
    Spelling { name: "operands", spell: operands::spell },
    Spelling { name: "extract", spell: functions::extract },
    Spelling { name: "substring", spell: functions::substring },
    Spelling { name: "bit-aggregates", spell: functions::bit_aggregates },
    Spelling { name: "grouping-sets", spell: grouping_sets::spell },
];

/// How often one spelling is applied: of nested grouping sets one is written out at a time.
const MAX_TIMES: usize = 16;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spelled {
    pub sql: String,
    /// What was spelled otherwise, in order.
    pub by: Vec<&'static str>,
}

/// The text in words that are not refused; `None` where there are none.
pub(crate) fn spelled(sql: &str, is_refused: impl Fn(&str) -> bool) -> Option<Spelled> {
    let mut text = sql.to_owned();
    let mut by = Vec::new();
    for spelling in &SPELLINGS {
        for _ in 0..MAX_TIMES {
            let words = Words::of(&text);
            let edits = (spelling.spell)(&words);
            if edits.is_empty() {
                break;
            }
            text = words.edited(&edits);
            by.push(spelling.name);
            if !is_refused(&text) {
                by.dedup();
                return Some(Spelled { sql: text, by });
            }
        }
    }
    None
}

#[cfg(test)]
mod tests;
