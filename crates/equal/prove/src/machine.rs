//! Machines that read a text from its first character to its last.
//!
//! # Contract
//! A [`Machine`] is a chain of functions of one text, each of what the one before gives, and a question about the last value.
//! It answers for every text as SQLite does, or says that it cannot tell. Its state is finite, and characters that no constant of it
//! names are alike to it: so all texts are read by reading few.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use super::calendar::{self, Rendering};
use super::pattern::Pattern;

/// A function of a text whose value is a text.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Stage {
    Lower,
    Upper,
    /// The characters from that one on, from 0, and at most so many.
    Part {
        from: u32,
        count: Option<u32>,
    },
    /// Constant characters before the text.
    Before(Box<[char]>),
    /// Constant characters after the text.
    After(Box<[char]>),
    /// The text without those characters at its beginning.
    TrimLeft(Box<[char]>),
    /// The text without those characters at its end.
    TrimRight(Box<[char]>),
    /// At most so many of the last characters.
    Last(usize),
    /// The text without so many of its last characters.
    WithoutLast(usize),
    /// The text with each occurrence of a text that is not empty replaced by another.
    Replace(Box<[char]>, Box<[char]>),
    /// What a function of dates shows of a time.
    Date(Rendering),
}

/// What is asked of the last value of a chain. Every answer is how a value compares with a constant.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Test {
    /// The text, with a text.
    Order(Box<[char]>),
    /// 1 or 0, whether the text is as the pattern has it, with an integer.
    Matches(Pattern, i64),
    /// The count of characters, with an integer.
    Length(u32),
    /// The place of the first occurrence of a text that is not empty, from 1, or 0; with an integer.
    Place(Box<[char]>, u32),
    /// The integer that the text begins with, with an integer.
    Integer(Constant),
    /// The integer that the text is; texts with anything but digits have no answer.
    Digits(Constant),
    /// Equal, where the text looks like an integer, and less where it does not look like a number.
    Class,
    /// Equal, where there is a value.
    Exists,
    /// Equal, where the text is what a column of dates declares.
    Declared,
}

/// A number that an integer is compared with: the largest integer that is not above it, and whether it is that integer.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Constant {
    pub is_negative: bool,
    /// The digits of its size, without a zero before them.
    pub digits: Box<[char]>,
    pub is_whole: bool,
}

impl Constant {
    /// The constant of the largest integer that is not above a number.
    pub(crate) fn new(floor: i64, is_whole: bool) -> Self {
        let digits = floor.unsigned_abs().to_string();
        let digits = digits.trim_start_matches('0').chars().collect();
        Self { is_negative: floor < 0, digits, is_whole }
    }

    /// How an integer compares with it, where the sizes of both compare so.
    fn compared(&self, is_negative: bool, size: Ordering, is_zero: bool) -> Ordering {
        let integers = match (is_negative && !is_zero, self.is_negative) {
            (false, false) => size,
            (true, true) => size.reverse(),
            (false, true) => Ordering::Greater,
            (true, false) => Ordering::Less,
        };
        if integers == Ordering::Equal && !self.is_whole { Ordering::Less } else { integers }
    }
}

/// What a machine says of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Answer {
    /// How the value compares with the constant.
    Is(Ordering),
    /// The text is not a time that the machine reads: SQLite may read it as any time or as none.
    NoTime,
    /// It cannot tell.
    Open,
}

/// A chain of functions and a question.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Machine {
    stages: Vec<Stage>,
    test: Test,
    /// Where the state of each stage begins, then that of the test, then the end.
    places: Vec<usize>,
}

const NUMBER_SPACES: [char; 6] = ['\t', '\n', '\u{b}', '\u{c}', '\r', ' '];
/// Most digits of an integer that fits into 64 bits whatever they are.
const MAX_DIGITS: u32 = 18;

impl Machine {
    pub(crate) fn new(stages: Vec<Stage>, test: Test) -> Self {
        // From the last on: a trimmed text keeps a second copy of the state behind it.
        let mut sizes = vec![test.size()];
        for stage in stages.iter().rev() {
            let behind: usize = sizes.iter().sum();
            sizes.push(match stage {
                Stage::Part { .. } | Stage::TrimLeft(_) | Stage::Replace(..) => 1,
                Stage::TrimRight(_) => behind,
                Stage::Last(count) | Stage::WithoutLast(count) => behind * count,
                Stage::Date(_) => calendar::SIZE,
                Stage::Lower | Stage::Upper | Stage::Before(_) | Stage::After(_) => 0,
            });
        }
        let mut places = vec![0];
        for size in sizes.iter().rev() {
            places.push(places.last().copied().unwrap_or_default() + size);
        }
        Self { stages, test, places }
    }

    pub(crate) fn stages(&self) -> &[Stage] {
        &self.stages
    }

    pub(crate) fn test(&self) -> &Test {
        &self.test
    }

    /// How many numbers its state has.
    pub(crate) fn size(&self) -> usize {
        self.places.last().copied().unwrap_or_default()
    }

    /// The same from that stage on.
    pub(crate) fn behind(&self, stage: usize) -> Self {
        Self::new(self.stages[stage..].to_vec(), self.test.clone())
    }

    /// The characters that it tells from others.
    pub(crate) fn letters(&self, letters: &mut BTreeSet<char>) {
        for stage in &self.stages {
            match stage {
                Stage::Lower | Stage::Upper => letters.extend(['A', 'Z', 'a', 'z']),
                Stage::Before(chars)
                | Stage::After(chars)
                | Stage::TrimLeft(chars)
                | Stage::TrimRight(chars) => letters.extend(chars.iter()),
                Stage::Replace(needle, with) => letters.extend(needle.iter().chain(with)),
                Stage::Part { .. } | Stage::Last(_) | Stage::WithoutLast(_) => {}
                Stage::Date(_) => letters.extend(calendar::LETTERS.chars()),
            }
        }
        match &self.test {
            Test::Order(chars) | Test::Place(chars, _) => letters.extend(chars.iter()),
            Test::Matches(pattern, _) => pattern.letters(letters),
            Test::Integer(_) => {
                letters.extend('0'..='9');
                letters.extend(NUMBER_SPACES.iter().chain(&['-', '+']));
            }
            Test::Class => {
                letters.extend('0'..='9');
                letters.extend(NUMBER_SPACES.iter().chain(&['-', '+', '.', 'e', 'E']));
            }
            Test::Digits(_) => letters.extend(('0'..='9').chain(['-'])),
            Test::Declared => letters.extend(calendar::LETTERS.chars()),
            Test::Length(_) | Test::Exists => {}
        }
    }

    /// The state before the first character.
    pub(crate) fn begin(&self, state: &mut [u32]) {
        if self.test == Test::Declared {
            calendar::begin(&mut state[self.places[self.stages.len()]..]);
        }
        if let Test::Matches(pattern, _) = &self.test {
            pattern.begin(&mut state[self.places[self.stages.len()]..]);
        }
        for (at, stage) in self.stages.iter().enumerate().rev() {
            match stage {
                Stage::Before(chars) => chars.iter().for_each(|&char| self.push(at + 1, state, char)),
                Stage::TrimRight(_) => self.keep(at, state),
                Stage::Last(count) | Stage::WithoutLast(count) => {
                    (0..*count).for_each(|copy| self.keep_as(copy, at, state));
                }
                Stage::Date(_) => calendar::begin(&mut state[self.places[at]..]),
                _ => {}
            }
        }
    }

    /// Reads a character.
    pub(crate) fn read(&self, state: &mut [u32], char: char) {
        self.push(0, state, char);
    }

    fn push(&self, at: usize, state: &mut [u32], char: char) {
        let place = self.places[at];
        let Some(function) = self.stages.get(at) else {
            self.test.read(&mut state[place..], char);
            return;
        };
        match function {
            Stage::Lower => self.push(at + 1, state, char.to_ascii_lowercase()),
            Stage::Upper => self.push(at + 1, state, char.to_ascii_uppercase()),
            Stage::Part { from, count } => {
                let (read, end) = (state[place], count.map_or(*from, |count| from.saturating_add(count)));
                state[place] = (read + 1).min(end);
                if read >= *from && (count.is_none() || read < end) {
                    self.push(at + 1, state, char);
                }
            }
            Stage::Before(_) | Stage::After(_) => self.push(at + 1, state, char),
            Stage::TrimLeft(chars) => {
                if state[place] == 1 || !chars.contains(&char) {
                    state[place] = 1;
                    self.push(at + 1, state, char);
                }
            }
            Stage::TrimRight(chars) => {
                self.push(at + 1, state, char);
                if !chars.contains(&char) {
                    self.keep(at, state);
                }
            }
            Stage::Last(count) => {
                // What is behind stays at its beginning; the copies have read the last character, the last two, and so on.
                let behind = state[self.places[at + 1]..].to_vec();
                for copy in (0..*count).rev() {
                    if copy > 0 {
                        self.take(copy - 1, at, state);
                    }
                    self.push(at + 1, state, char);
                    self.keep_as(copy, at, state);
                    state[self.places[at + 1]..].copy_from_slice(&behind);
                }
            }
            Stage::WithoutLast(count) => {
                for copy in (1..*count).rev() {
                    let size = self.size() - self.places[at + 1];
                    let from = place + (copy - 1) * size;
                    state.copy_within(from..from + size, from + size);
                }
                self.keep_as(0, at, state);
                self.push(at + 1, state, char);
            }
            Stage::Replace(needle, with) => {
                let mut read: Vec<char> = needle[..state[place] as usize].to_vec();
                read.push(char);
                if read[..] == needle[..] {
                    with.iter().for_each(|&char| self.push(at + 1, state, char));
                    read.clear();
                }
                let over = (0..read.len()).find(|&from| needle.starts_with(&read[from..]));
                let over = over.unwrap_or(read.len());
                read[..over].iter().for_each(|&char| self.push(at + 1, state, char));
                state[place] = u32::try_from(read.len() - over).unwrap_or_default();
            }
            Stage::Date(rendering) => {
                let output = rendering.read(&mut state[place..place + calendar::SIZE], char);
                output.into_iter().for_each(|char| self.push(at + 1, state, char));
                if calendar::is_over(&state[place..]) {
                    state[place + calendar::SIZE..].fill(0);
                }
            }
        }
    }

    /// Keeps the state behind a stage as the one after the last character that is not trimmed.
    fn keep(&self, at: usize, state: &mut [u32]) {
        self.keep_as(0, at, state);
    }

    /// Keeps the state behind a stage as one of its copies.
    fn keep_as(&self, copy: usize, at: usize, state: &mut [u32]) {
        let (place, behind) = (self.places[at], self.places[at + 1]);
        state.copy_within(behind..self.size(), place + copy * (self.size() - behind));
    }

    /// Makes one of the copies the state behind a stage.
    fn take(&self, copy: usize, at: usize, state: &mut [u32]) {
        let (place, behind) = (self.places[at], self.places[at + 1]);
        let size = self.size() - behind;
        state.copy_within(place + copy * size..place + (copy + 1) * size, behind);
    }

    /// What it says once the text is read; with `all_times` also of years before the first.
    pub(crate) fn answer(&self, state: &[u32], all_times: bool) -> Answer {
        let mut state = state.to_vec();
        for (at, stage) in self.stages.iter().enumerate() {
            let (place, behind) = (self.places[at], self.places[at + 1]);
            match stage {
                Stage::After(chars) => chars.iter().for_each(|&char| self.push(at + 1, &mut state, char)),
                Stage::TrimRight(_) => self.take(0, at, &mut state),
                Stage::Last(count) | Stage::WithoutLast(count) => self.take(count - 1, at, &mut state),
                Stage::Replace(needle, _) => {
                    let read = state[place] as usize;
                    needle[..read].iter().for_each(|&char| self.push(at + 1, &mut state, char));
                }
                Stage::Date(rendering) => {
                    let Some(output) = rendering.end(&state[place..behind], all_times) else {
                        return Answer::NoTime;
                    };
                    output.into_iter().for_each(|char| self.push(at + 1, &mut state, char));
                }
                _ => {}
            }
        }
        self.test.answer(&state[self.places[self.stages.len()]..])
    }
}

impl Test {
    fn size(&self) -> usize {
        match self {
            Self::Order(_) | Self::Length(_) => 1,
            Self::Matches(..) | Self::Place(..) | Self::Class => 2,
            Self::Integer(_) | Self::Digits(_) => 3,
            Self::Exists => 0,
            Self::Declared => calendar::SIZE,
        }
    }

    fn read(&self, state: &mut [u32], char: char) {
        match self {
            Self::Order(constant) => read_order(constant, state, char),
            Self::Matches(pattern, _) => pattern.read(state, char),
            Self::Length(with) => state[0] = (state[0] + 1).min(with + 1),
            Self::Place(needle, with) => read_place(needle, *with, state, char),
            Self::Integer(with) => read_integer(with, state, char),
            Self::Digits(with) => read_digits(with, state, char),
            Self::Declared => calendar::read_declared(state, char),
            Self::Class => read_class(state, char),
            Self::Exists => {}
        }
    }

    fn answer(&self, state: &[u32]) -> Answer {
        Answer::Is(match self {
            Self::Order(constant) => match size(state[0], constant.len()) {
                Decision::Less => Ordering::Less,
                Decision::Greater => Ordering::Greater,
                Decision::Open(read) if read < constant.len() => Ordering::Less,
                Decision::Open(_) => Ordering::Equal,
            },
            Self::Matches(pattern, with) => i64::from(pattern.matches(state)).cmp(with),
            Self::Length(with) => state[0].cmp(with),
            Self::Place(needle, with) => place_of(needle, *with, state).cmp(with),
            Self::Integer(with) => number(with, state),
            Self::Digits(with) => {
                let is_number = state[0] & PHASE == DIGITS && state[1] >> 16 <= MAX_DIGITS;
                if !is_number {
                    return Answer::Open;
                }
                number(with, &[state[0], state[1] & 0xffff, state[2]])
            }
            Self::Exists => Ordering::Equal,
            Self::Class => match state[0] {
                class::INTEGER | class::AFTER_INTEGER if state[1] <= MAX_DIGITS => Ordering::Equal,
                class::INTEGER | class::AFTER_INTEGER | class::REAL | class::EXPONENT | class::AFTER_REAL => {
                    return Answer::Open;
                }
                _ => Ordering::Less,
            },
            Self::Declared => {
                if calendar::is_declared(state) {
                    Ordering::Equal
                } else {
                    Ordering::Less
                }
            }
        })
    }
}

/// How far a comparison has come.
enum Decision {
    Less,
    Greater,
    /// So many characters are the same.
    Open(usize),
}

fn size(state: u32, length: usize) -> Decision {
    match state as usize {
        read if read <= length => Decision::Open(read),
        decided if decided == length + 1 => Decision::Less,
        _ => Decision::Greater,
    }
}

fn read_order(constant: &[char], state: &mut [u32], char: char) {
    let Decision::Open(read) = size(state[0], constant.len()) else { return };
    let end = u32::try_from(constant.len()).unwrap_or(u32::MAX - 2);
    state[0] = match constant.get(read).map(|wanted| char.cmp(wanted)) {
        Some(Ordering::Equal) => state[0] + 1,
        Some(Ordering::Less) => end + 1,
        Some(Ordering::Greater) | None => end + 2,
    };
}

/// Knuth, Morris and Pratt; the second number counts the characters until the text has occurred.
fn read_place(needle: &[char], with: u32, state: &mut [u32], char: char) {
    let end = needle.len();
    let mut matching = state[0] as usize;
    if matching == end {
        return;
    }
    // The longest beginning of the needle that the text now ends with.
    let mut read: Vec<char> = needle[..matching].to_vec();
    read.push(char);
    matching = (0..=read.len()).rev().find(|&length| read.ends_with(&needle[..length])).unwrap_or_default();
    state[0] = u32::try_from(matching).unwrap_or_default();
    state[1] = (state[1] + 1).min(with.saturating_add(state_end(end)));
}

fn state_end(length: usize) -> u32 {
    u32::try_from(length).unwrap_or_default() + 1
}

fn place_of(needle: &[char], with: u32, state: &[u32]) -> u32 {
    if state[0] as usize != needle.len() {
        return 0;
    }
    // Beyond the constant every place is alike.
    (state[1] + 2).saturating_sub(state_end(needle.len())).min(with.saturating_add(1))
}

/// Where the reading of a number stands, with [`NEGATIVE`] if there was a minus.
const PHASE: u32 = 7;
const SIGN: u32 = 1;
const DIGITS: u32 = 2;
const OVER: u32 = 3;
const NEGATIVE: u32 = 8;

/// How far a text looks like a number.
mod class {
    pub(super) const BEFORE: u32 = 0;
    pub(super) const SIGN: u32 = 1;
    pub(super) const INTEGER: u32 = 2;
    pub(super) const POINT: u32 = 3;
    pub(super) const REAL: u32 = 4;
    pub(super) const E: u32 = 5;
    pub(super) const SIGN_OF_EXPONENT: u32 = 6;
    pub(super) const EXPONENT: u32 = 7;
    pub(super) const AFTER_INTEGER: u32 = 8;
    pub(super) const AFTER_REAL: u32 = 9;
    pub(super) const TEXT: u32 = 10;
}

fn read_class(state: &mut [u32], char: char) {
    state[0] = match (state[0], char) {
        (class::BEFORE | class::SIGN | class::INTEGER, '0'..='9') => {
            state[1] = (state[1] + 1).min(MAX_DIGITS + 1);
            class::INTEGER
        }
        (class::POINT | class::REAL, '0'..='9') | (class::INTEGER, '.') => class::REAL,
        (class::E | class::SIGN_OF_EXPONENT | class::EXPONENT, '0'..='9') => class::EXPONENT,
        (class::BEFORE, '-' | '+') => class::SIGN,
        (class::BEFORE | class::SIGN, '.') => class::POINT,
        (class::INTEGER | class::REAL, 'e' | 'E') => class::E,
        (class::E, '-' | '+') => class::SIGN_OF_EXPONENT,
        (class::BEFORE, space) if NUMBER_SPACES.contains(&space) => class::BEFORE,
        (class::INTEGER | class::AFTER_INTEGER, space) if NUMBER_SPACES.contains(&space) => {
            class::AFTER_INTEGER
        }
        (class::REAL | class::EXPONENT | class::AFTER_REAL, space) if NUMBER_SPACES.contains(&space) => {
            class::AFTER_REAL
        }
        _ => class::TEXT,
    };
    if state[0] != class::INTEGER && state[0] != class::AFTER_INTEGER {
        state[1] = 0;
    }
}

fn read_integer(with: &Constant, state: &mut [u32], char: char) {
    let phase = state[0] & PHASE;
    match char {
        '0'..='9' if phase != OVER => {
            state[0] = state[0] & NEGATIVE | DIGITS;
            read_digit(with, state, char);
        }
        '-' if phase == 0 => state[0] = NEGATIVE | SIGN,
        '+' if phase == 0 => state[0] = SIGN,
        char if phase == 0 && NUMBER_SPACES.contains(&char) => {}
        _ => state[0] = state[0] & NEGATIVE | OVER,
    }
}

fn read_digits(with: &Constant, state: &mut [u32], char: char) {
    let (phase, count) = (state[0] & PHASE, state[1] >> 16);
    state[1] &= 0xffff;
    match char {
        '0'..='9' if phase != OVER => {
            state[0] = state[0] & NEGATIVE | DIGITS;
            read_digit(with, state, char);
        }
        '-' if phase == 0 => state[0] = NEGATIVE | SIGN,
        _ => state[0] = OVER,
    }
    state[1] |= (count + 1).min(MAX_DIGITS + 2) << 16;
}

/// Counts the digits that count and compares them with those of the constant.
fn read_digit(with: &Constant, state: &mut [u32], char: char) {
    if state[1] == 0 && char == '0' {
        return;
    }
    let read = state[1] as usize;
    if state[2] == 0 {
        state[2] = match with.digits.get(read).map(|wanted| char.cmp(wanted)) {
            Some(Ordering::Less) => 1,
            Some(Ordering::Greater) => 2,
            _ => 0,
        };
    }
    state[1] = (state[1] + 1).min(state_end(with.digits.len()));
}

fn number(with: &Constant, state: &[u32]) -> Ordering {
    let by_size = match state[2] {
        1 => Ordering::Less,
        2 => Ordering::Greater,
        _ => Ordering::Equal,
    };
    let size = (state[1] as usize).cmp(&with.digits.len()).then(by_size);
    with.compared(state[0] & NEGATIVE != 0, size, state[1] == 0)
}
