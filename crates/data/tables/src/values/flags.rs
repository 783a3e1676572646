//! Yes and no.
//!
//! # Contract
//! A column says yes and no if all of its values are of one pair of words, or of that and of its first letters, in any case of
//! letters, and both occur. `true` and `false` need not both occur. The words of other languages are texts.

use super::class::Class;

const PAIRS: [[&str; 2]; 4] = [["true", "false"], ["yes", "no"], ["y", "n"], ["t", "f"]];

/// The pairs that a column may mix: words, and their first letters.
const MIXED: [[usize; 2]; 2] = [[0, 3], [1, 2]];

/// How often the words of each pair occur.
#[derive(Debug, Clone, Default)]
pub(super) struct Flags([[Class; 2]; PAIRS.len()]);

impl Flags {
    pub(super) fn take(&mut self, text: &str) {
        if let Some((pair, word)) = place(text) {
            self.0[pair][word].take(text);
        }
    }

    /// The words of a column with so many values, each as it is first written, if these are all of its values.
    pub(super) fn words(&self, values: u64) -> Option<Vec<&Class>> {
        let count = |pairs: &[usize], word: usize| -> u64 {
            pairs.iter().map(|&pair| self.0[pair][word].count).sum()
        };
        let says_both = |pairs: &&[usize]| {
            let (yes, no) = (count(pairs, 0), count(pairs, 1));
            yes + no == values && (**pairs == [0] || yes > 0 && no > 0)
        };
        let alone: [&[usize]; PAIRS.len()] = [&[0], &[1], &[2], &[3]];
        let pairs = alone.into_iter().chain(MIXED.iter().map(<[usize; 2]>::as_slice)).find(says_both)?;
        Some(pairs.iter().flat_map(|&pair| &self.0[pair]).filter(|word| !word.is_empty()).collect())
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
