//! Yes and no.
//!
//! # Contract
//! A column says yes and no if all of its values are of one pair of words, in any case of letters, and both occur. `true`
//! and `false` need not both occur. The words of other languages are texts.

use super::class::Class;

/// Words for yes and no.
const PAIRS: [[&str; 2]; 4] = [["true", "false"], ["yes", "no"], ["y", "n"], ["t", "f"]];

/// How often the words of each pair occur.
#[derive(Debug, Clone, Default)]
pub(super) struct Flags([[Class; 2]; PAIRS.len()]);

impl Flags {
    pub(super) fn take(&mut self, text: &str) {
        if let Some((pair, word)) = place(text) {
            self.0[pair][word].take(text);
        }
    }

    /// The words of a column with so many values, as it writes them first, if these are all of its values.
    pub(super) fn words(&self, values: u64) -> Option<[&Class; 2]> {
        let is_whole = |[yes, no]: &[Class; 2]| yes.count + no.count == values;
        let pair = self.0.iter().position(is_whole)?;
        let [yes, no] = &self.0[pair];
        (pair == 0 || !yes.is_empty() && !no.is_empty()).then_some([yes, no])
    }
}

/// Whether the text says yes.
pub(super) fn is_yes(text: &str) -> Option<bool> {
    place(text).map(|(_, word)| word == 0)
}

fn place(text: &str) -> Option<(usize, usize)> {
    let in_pair = |pair: &[&str; 2]| pair.iter().position(|word| text.eq_ignore_ascii_case(word));
    PAIRS.iter().enumerate().find_map(|(at, pair)| Some((at, in_pair(pair)?)))
}
