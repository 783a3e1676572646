//! What a question asks of its reader.
//!
//! # Contract
//! Of several queries that meet a wish the one is kept whose question takes the least effort. Effort is counted in words: those
//! of the question, and some more for what people avoid: clauses inside of clauses, brackets, turns of a dialogue, and words said again. It
//! says nothing of a query by itself, and follows from the text alone, in time linear in its length.

use std::collections::HashMap;

/// A question of so little effort is asked as it is: a shorter one is not easier.
pub(crate) const EASY: u64 = 14;

/// Words that open a clause which hangs on the words before it.
const CLAUSES: &[&str] = &["whose", "that", "where", "which", "with", "without", "provided", "if", "among"];
/// How many of these a sentence has easily, and what each further one costs.
const EASY_CLAUSES: u64 = 1;
const CLAUSE: u64 = 4;
/// What a bracket, a turn after the first, and a word said for the third time or later cost.
const BRACKET: u64 = 8;
const TURN: u64 = 4;
const REPETITION: u64 = 2;
/// Words of so many letters or less may come as often as they like.
const SHORT: usize = 3;

/// The effort of a question, in words.
pub(crate) fn effort_of(question: &str) -> u64 {
    let (mut words, mut clauses, mut repeated) = (0_u64, 0_u64, 0_u64);
    let mut counts: HashMap<String, u64> = HashMap::new();
    for word in question.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        let word = word.to_lowercase();
        words += 1;
        if CLAUSES.contains(&word.as_str()) {
            clauses += 1;
        } else if word.chars().count() > SHORT {
            // "Singers" is "singer" said again.
            let stem = sqlgauge_names::singular(&word).into_owned();
            let count = counts.entry(stem).or_default();
            *count += 1;
            repeated += u64::from(*count > 2);
        }
    }
    let count = |mark: char| question.matches(mark).count() as u64;
    words
        + clauses.saturating_sub(EASY_CLAUSES) * CLAUSE
        + count('(') * BRACKET
        + count('\n') * TURN
        + repeated * REPETITION
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_say_takes_less_effort() {
        let rising = [
            "How many singers are there?",
            "Show the names of singers whose age is above 30.",
            "Show the names of singers that have concerts whose year is 2014.",
            "Show the names of singers.\nShow only those that have concerts whose year is 2014.",
            "Show the names of singers that have concerts that belong to stadiums whose capacity is above the average capacity (of all stadiums).",
        ];
        let efforts = rising.map(effort_of);
        assert!(efforts.is_sorted_by(|less, more| less < more), "{efforts:?}");
    }

    #[test]
    fn a_word_said_again_costs() {
        let plain = "the names of museums and the years of visits to buildings";
        let again = "the names of museums and the museums of visits to museums";
        assert!(effort_of(plain) < effort_of(again));
    }
}
