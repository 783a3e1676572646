//! Patterns of LIKE and GLOB, as sets of the places that a reader of a text may stand at.

use std::collections::BTreeSet;

/// What one place of a pattern takes.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Place {
    /// Any characters.
    Any,
    /// One character.
    One,
    /// That character.
    Letter(char),
    /// One of these ranges, or none of them.
    Among(Box<[(char, char)]>, bool),
    /// Nothing at all.
    Nothing,
}

/// A pattern.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Pattern {
    places: Vec<Place>,
    ignores_case: bool,
}

/// Most places.
const MAX_PLACES: usize = 62;

impl Pattern {
    /// A pattern of LIKE; `None` for one that is too long.
    pub(crate) fn like(text: &str, escape: Option<char>) -> Option<Self> {
        let mut places = Vec::new();
        let mut chars = text.chars();
        while let Some(char) = chars.next() {
            places.push(match char {
                // A pattern that ends in its escape matches nothing.
                char if Some(char) == escape => chars.next().map_or(Place::Nothing, Place::Letter),
                '%' => Place::Any,
                '_' => Place::One,
                char => Place::Letter(char),
            });
        }
        Self::new(places, true)
    }

    /// A pattern of GLOB; `None` for one that is too long.
    pub(crate) fn glob(text: &str) -> Option<Self> {
        let chars: Vec<char> = text.chars().collect();
        let mut places = Vec::new();
        let mut at = 0;
        while let Some(&char) = chars.get(at) {
            at += 1;
            places.push(match char {
                '*' => Place::Any,
                '?' => Place::One,
                '[' => among(&chars, &mut at),
                char => Place::Letter(char),
            });
        }
        Self::new(places, false)
    }

    /// One that looks at letter case.
    pub(crate) fn keeping_case(self) -> Self {
        Self { ignores_case: false, ..self }
    }

    fn new(mut places: Vec<Place>, ignores_case: bool) -> Option<Self> {
        places.dedup_by(|next, before| *next == Place::Any && *before == Place::Any);
        (places.len() <= MAX_PLACES).then_some(Self { places, ignores_case })
    }

    /// The characters that it tells from others.
    pub(crate) fn letters(&self, letters: &mut BTreeSet<char>) {
        for place in &self.places {
            match place {
                Place::Letter(char) if self.ignores_case => {
                    letters.extend([char.to_ascii_lowercase(), char.to_ascii_uppercase()]);
                }
                Place::Letter(char) => {
                    letters.insert(*char);
                }
                Place::Among(ranges, _) => letters.extend(ranges.iter().flat_map(|&(from, to)| [from, to])),
                Place::Any | Place::One | Place::Nothing => {}
            }
        }
    }

    pub(crate) fn begin(&self, state: &mut [u32]) {
        put(state, self.with_empty(1));
    }

    pub(crate) fn read(&self, state: &mut [u32], char: char) {
        let before = get(state);
        let mut after = 0;
        for (at, place) in self.places.iter().enumerate().filter(|(at, _)| before >> at & 1 == 1) {
            let takes = match place {
                Place::Any => {
                    after |= 1 << at;
                    false
                }
                Place::One => true,
                Place::Letter(letter) if self.ignores_case => letter.eq_ignore_ascii_case(&char),
                Place::Letter(letter) => *letter == char,
                Place::Among(ranges, negated) => {
                    ranges.iter().any(|(from, to)| (from..=to).contains(&&char)) != *negated
                }
                Place::Nothing => false,
            };
            after |= u64::from(takes) << (at + 1);
        }
        put(state, self.with_empty(after));
    }

    pub(crate) fn matches(&self, state: &[u32]) -> bool {
        get(state) >> self.places.len() & 1 == 1
    }

    /// With the places behind those that take nothing too.
    fn with_empty(&self, mut places: u64) -> u64 {
        for (at, place) in self.places.iter().enumerate() {
            if *place == Place::Any && places >> at & 1 == 1 {
                places |= 1 << (at + 1);
            }
        }
        places
    }
}

fn get(state: &[u32]) -> u64 {
    u64::from(state[0]) | (u64::from(state[1]) << 32)
}

fn put(state: &mut [u32], places: u64) {
    // The halves fit.
    state[0] = u32::try_from(places & u64::from(u32::MAX)).unwrap_or_default();
    state[1] = u32::try_from(places >> 32).unwrap_or_default();
}

/// What stands between brackets, as SQLite reads it: a bracket that closes is a character where it comes first.
fn among(chars: &[char], at: &mut usize) -> Place {
    let mut ranges = Vec::new();
    let is_negated = chars.get(*at) == Some(&'^');
    *at += usize::from(is_negated);
    let mut before = None;
    if chars.get(*at) == Some(&']') {
        ranges.push((']', ']'));
        *at += 1;
    }
    loop {
        let Some(&char) = chars.get(*at) else { return Place::Nothing };
        *at += 1;
        match (char, before, chars.get(*at)) {
            (']', ..) => return Place::Among(ranges.into(), is_negated),
            ('-', Some(from), Some(&to)) if to != ']' => {
                ranges.push((from, to));
                *at += 1;
                before = None;
            }
            _ => {
                ranges.push((char, char));
                before = Some(char);
            }
        }
    }
}
