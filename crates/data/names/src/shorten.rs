//! Names in few letters: abbreviations that people use, and skeletons and initials that say little.

use sqlgauge_base::Random;

use super::Request;
use super::inflect::{is_plural, singular};
use super::synonyms::Phrase;
use super::words::Segment;

/// Words of this length are not abbreviated but by a short form of the lexicon.
const SHORT_ENOUGH: usize = 4;
/// How often abbreviations are drawn.
const DRAWS: usize = 12;

impl Request<'_> {
    /// Candidates of which every word is abbreviated, by the lexicon or by its beginning.
    pub(super) fn abbreviations(&self, random: &mut Random) -> Vec<String> {
        let phrases = self.phrases();
        let lengths = std::iter::repeat_n(SHORT_ENOUGH, DRAWS).chain((2..SHORT_ENOUGH).rev());
        let mut names: Vec<String> =
            lengths.map(|length| self.abbreviated(&phrases, length, random)).collect();
        let shortest = names.last().filter(|_| !phrases.is_empty()).cloned();
        names.extend(shortest.iter().flat_map(|name| numbered(name)));
        names
    }

    fn abbreviated(&self, phrases: &[Phrase<'_>], length: usize, random: &mut Random) -> String {
        let mut segments = Vec::new();
        for phrase in phrases {
            let shorts = match phrase.entry {
                Some((entry, form)) if !form.is_short() || length < SHORT_ENOUGH => entry.shorts.as_slice(),
                _ => &[],
            };
            match random.pick(shorts) {
                Some(short) => segments.push(Segment::New(phrase.at.0, vec![(*short).to_owned()])),
                None => segments.extend((phrase.at.0..phrase.at.1).map(|at| {
                    let word = &self.identifier.words[at];
                    match truncated(&word.lower, length) {
                        Some(short) if !word.is_number() => Segment::New(at, vec![short]),
                        _ => Segment::Kept(at),
                    }
                })),
            }
        }
        self.identifier.compose(&segments)
    }

    /// Candidates: initials and skeletons of the words, then the same with a digit.
    pub(super) fn skeletons(&self, random: &mut Random) -> Vec<String> {
        let words: Vec<&str> = self.identifier.words.iter().map(|word| word.lower.as_str()).collect();
        let of = |length: usize| -> Vec<String> { words.iter().map(|word| skeleton(word, length)).collect() };
        let joined = |words: Vec<String>, joint: &str| self.identifier.like(&words, joint);
        let initials = joined(vec![of(1).concat()], "");
        let mut names = vec![joined(of(2), self.identifier.joint()), joined(of(3), self.identifier.joint())];
        match words.len() {
            0 => names.clear(),
            1 => {}
            2 => names.push(joined(vec![of(2).concat()], "")),
            _ => names.extend([initials.clone(), initials.clone()]),
        }
        random.shuffle(&mut names);
        names.extend((!words.is_empty()).then_some(initials));
        let digits: Vec<String> = names.iter().flat_map(|name| numbered(name)).collect();
        names.extend(digits);
        names
    }
}

/// The beginning of a word, ended before a vowel, with the `s` of a plural.
fn truncated(word: &str, length: usize) -> Option<String> {
    let one = singular(word);
    let letters: Vec<char> = one.chars().collect();
    if letters.len() <= length || length < SHORT_ENOUGH && letters.len() <= SHORT_ENOUGH {
        return None;
    }
    let mut short = letters[..length].to_vec();
    while short.len() > 2 && short.last().is_some_and(|c| "aeiou".contains(*c)) {
        short.pop();
    }
    Some(short.into_iter().chain(is_plural(word).then_some('s')).collect())
}

/// The first letter and the consonants after it, so many in all; digits stay.
fn skeleton(word: &str, length: usize) -> String {
    if word.starts_with(|c: char| c.is_ascii_digit()) {
        return word.to_owned();
    }
    let mut letters = word.chars();
    let first = letters.next();
    let mut last = first;
    let consonants = letters.filter(|&letter| {
        let again = last.replace(letter) == Some(letter);
        !again && !"aeiou".contains(letter)
    });
    first.into_iter().chain(consonants).take(length).collect()
}

fn numbered(name: &str) -> impl Iterator<Item = String> + use<'_> {
    (1..=9).map(move |digit| format!("{name}{digit}"))
}
