//! Names that begin with `$`.
//!
//! SQLite takes `$f0` for a parameter; Calcite and Oracle let a name begin with it.
//!
//! *Why it holds*: `[$f0]` is the same name, and nothing but a name: where no column is called so, SQLite refuses it.

use super::words::{Edits, Words};

pub(super) fn spell(words: &Words<'_>) -> Edits {
    let is_name = |word: &str| word.len() > 1 && word.starts_with('$') && !word.contains([':', '(']);
    (0..words.len())
        .filter(|&at| is_name(words.at(at)))
        .map(|at| (at, format!("[{}]", words.at(at))))
        .collect()
}
