//! What the values of a column are, and the noun that a person has for it, told from the words of its name.
//!
//! # Contract
//! [`Meaning::of`] looks at the last noun of the words, as `meanings.txt` lists them; a phone number and a flight number
//! are codes, a number of seats is a quantity. [`as_noun`] says a name that is no noun by one: `is active` is an active
//! status, `written by` a writer. Both know nothing of the values.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use crate::inflect::{plural, singular};

/// What the values of a column are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Meaning {
    /// Moments and spans of the calendar: sums and averages say nothing.
    Time,
    /// Names of something by numbers or letters: sums, averages and order say nothing.
    Code,
    /// How much or how many.
    Quantity,
    /// Anything else.
    Other,
}

static MEANINGS: LazyLock<HashMap<&'static str, Meaning>> = LazyLock::new(|| {
    let lines = crate::lines(include_str!("../data/meanings.txt")).filter_map(|line| line.split_once('|'));
    let nouns = lines.flat_map(|(meaning, nouns)| {
        let meaning = match meaning.trim() {
            "time" => Meaning::Time,
            "code" => Meaning::Code,
            "quantity" | "summed" | "counted" => Meaning::Quantity,
            _ => Meaning::Other,
        };
        crate::list(nouns).into_iter().map(move |noun| (noun, meaning))
    });
    nouns.collect()
});

/// Participles of what is counted.
static COUNTED: LazyLock<HashSet<&'static str>> = LazyLock::new(|| words_of("counted"));
/// Places in an order.
static RANKS: LazyLock<HashSet<&'static str>> = LazyLock::new(|| words_of("rank"));
/// Quantities of which the sum means something.
static SUMMED: LazyLock<HashSet<&'static str>> = LazyLock::new(|| words_of("summed"));

/// The words that the list has of one meaning.
fn words_of(meaning: &str) -> HashSet<&'static str> {
    let lines = crate::lines(include_str!("../data/meanings.txt")).filter_map(|line| line.split_once('|'));
    let entries = lines.filter(|(name, _)| name.trim() == meaning);
    entries.flat_map(|(_, words)| crate::list(words)).collect()
}

static AGENTS: LazyLock<HashMap<&'static str, &'static str>> = LazyLock::new(|| {
    let lines = crate::lines(include_str!("../data/agents.txt")).filter_map(|line| line.split_once('|'));
    lines.map(|(participle, noun)| (participle.trim(), noun.trim())).collect()
});

impl Meaning {
    /// The meaning of a column whose name has these words, in lower case and written out.
    pub fn of<S: AsRef<str>>(words: &[S]) -> Self {
        let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
        let counts = |word: &&str| ["number", "num", "count", "total", "average", "percent"].contains(word);
        match words.as_slice() {
            [first, "of", _, ..] if counts(first) => Self::Quantity,
            ["num" | "total" | "average" | "avg" | "max" | "min" | "percent", _, ..] => Self::Quantity,
            ["year" | "date" | "day" | "month" | "time", "of", _, ..] => Self::Time,
            // "Year opened", "date first registered"; but a year count is a count.
            ["year", .., last] if listed(last) != Self::Quantity => Self::Time,
            ["date", .., last] if !matches!(*last, "count" | "number") => Self::Time,
            [_, .., "number" | "no" | "num"] => Self::Code,
            // How long something takes.
            [.., "seconds" | "minutes" | "hours"] => Self::Quantity,
            [.., last] => listed(last),
            [] => Self::Other,
        }
    }
}

/// Whether the sum of a column whose name has these words means something: of sales and numbers of seats, and of no ages.
pub fn adds_up<S: AsRef<str>>(words: &[S]) -> bool {
    let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
    let is_averaged = |first: &&str| ["average", "avg", "max", "min", "percent"].contains(first);
    match words.as_slice() {
        _ if Meaning::of(&words) != Meaning::Quantity || words.first().is_some_and(is_averaged) => false,
        ["number" | "num", ..] => true,
        [.., last] => {
            let one = singular(last);
            let is_in = |set: &HashSet<&str>| set.contains(last) || set.contains(&*one);
            is_in(&SUMMED) || is_in(&COUNTED)
        }
        [] => false,
    }
}

/// Whether a column whose name has these words says a place in an order.
pub fn is_rank<S: AsRef<str>>(words: &[S]) -> bool {
    words.last().is_some_and(|last| RANKS.contains(&*singular(last.as_ref())))
}

/// The meaning of a noun, in the singular or in the plural.
fn listed(noun: &str) -> Meaning {
    let one = singular(noun);
    MEANINGS.get(noun).or_else(|| MEANINGS.get(&*one)).copied().unwrap_or(Meaning::Other)
}

/// A name of these words as a noun phrase; the words as they are where it is one, or none is known.
pub fn as_noun(words: Vec<String>) -> Vec<String> {
    let parts: Vec<&str> = words.iter().map(String::as_str).collect();
    let owned = |parts: &[&str]| parts.iter().map(|part| (*part).to_owned()).collect();
    match parts.as_slice() {
        ["is", rest @ ..] | [rest @ .., "yn"] if !rest.is_empty() => owned(&[rest, &["status"]].concat()),
        [participle] if COUNTED.contains(participle) => owned(&["number", participle]),
        [initial @ ("f" | "l" | "m"), "name"] => {
            let which = match *initial {
                "f" => "first",
                "l" => "last",
                _ => "middle",
            };
            owned(&[which, "name"])
        }
        [before @ .., participle, "by"] if AGENTS.contains_key(participle) => {
            owned(&[before, &[AGENTS[participle]]].concat())
        }
        [amount @ ("number" | "num"), "of", between @ .., last] => {
            let many = if singular(last) == *last { plural(last).into_owned() } else { (*last).to_owned() };
            let amount = if *amount == "num" { "number" } else { amount };
            owned(&[&[amount, "of"], between, &[many.as_str()]].concat())
        }
        _ => words,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_noun_tells_what_values_are() {
        for (name, expected) in [
            ("phone number", Meaning::Code),
            ("flight number", Meaning::Code),
            ("zip code", Meaning::Code),
            ("number", Meaning::Quantity),
            ("minutes", Meaning::Quantity),
            ("minute", Meaning::Time),
            ("number of tickets", Meaning::Quantity),
            ("num employees", Meaning::Quantity),
            ("birth date", Meaning::Time),
            ("years", Meaning::Time),
            ("year of founded", Meaning::Time),
            ("year opened", Meaning::Time),
            ("year count", Meaning::Quantity),
            ("date first registered", Meaning::Time),
            ("date sold", Meaning::Time),
            ("average age", Meaning::Quantity),
            ("name", Meaning::Other),
            ("", Meaning::Other),
        ] {
            let words: Vec<&str> = name.split(' ').filter(|word| !word.is_empty()).collect();
            assert_eq!(Meaning::of(&words), expected, "{name}");
        }
    }

    #[test]
    fn ranks_are_no_amounts() {
        for (words, expected) in [
            (&["money", "rank"][..], true),
            (&["rankings"], true),
            (&["rank", "points"], false),
            (&["age"], false),
        ] {
            assert_eq!(is_rank(words), expected, "{words:?}");
            assert!(!expected || Meaning::of(words) == Meaning::Other);
        }
    }

    #[test]
    fn sums_of_ages_and_averages_mean_nothing() {
        let adds = |name: &str| adds_up(&name.split(' ').collect::<Vec<_>>());
        for name in ["sales", "number of seats", "num employees", "killed", "total attendance"] {
            assert!(adds(name), "{name}");
        }
        for name in ["age", "average attendance", "phone number", "year", "name", "heights"] {
            assert!(!adds(name), "{name}");
        }
    }

    #[test]
    fn names_that_are_no_nouns_get_one() {
        let noun = |text: &str| as_noun(text.split(' ').map(str::to_owned).collect()).join(" ");
        assert_eq!(noun("is full time"), "full time status");
        assert_eq!(noun("written by"), "writer");
        assert_eq!(noun("number of ticket"), "number of tickets");
        assert_eq!(noun("created by"), "creator");
        assert_eq!(noun("stand by"), "stand by");
        assert_eq!(noun("l name"), "last name");
        assert_eq!(noun("abandoned yn"), "abandoned status");
        assert_eq!(noun("killed"), "number killed");
        assert_eq!(noun("speed"), "speed");
        assert_eq!(noun("is"), "is");
    }
}
