//! Leakage: questions of the target that are in the known runs too.
//!
//! A system looks better on questions that it was selected, tuned or labelled on. Labels of the target's answers are
//! never used, and the estimate reports how many there were.

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};
use sqlgauge_base::{counted_of, verb_for};

use crate::pool::{Pool, QuestionIndex, SystemIndex};

/// How much of a target is known already.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Overlap {
    pub questions: usize,
    /// Those to which a known run has the system's own label; these labels are not used.
    pub own: usize,
    /// Those, about the same database, to which known runs have labels of other systems.
    pub others: usize,
    /// Those that known runs ask with the same words about another database.
    pub elsewhere: usize,
}

impl Overlap {
    /// Compares the questions of a target system with those that have labels.
    pub fn of(pool: &Pool, target: SystemIndex, questions: &[QuestionIndex]) -> Self {
        let words = |place: QuestionIndex| words(&pool[place].text);
        let is_labelled = |place: QuestionIndex| {
            pool.all_systems().any(|system| pool.label(system, place).is_some())
                || pool.withheld.iter().any(|&(_, question)| question == place)
        };
        let mut databases_by_text: HashMap<Vec<String>, HashSet<usize>> = HashMap::new();
        for place in pool.all_questions().filter(|&place| is_labelled(place)) {
            databases_by_text.entry(words(place)).or_default().insert(pool[place].database);
        }
        let mut overlap = Self { questions: questions.len(), ..Self::default() };
        for &place in questions {
            let others = pool.all_systems().filter(|&system| system != target);
            overlap.own += usize::from(pool.withheld.contains(&(target, place)));
            overlap.others +=
                usize::from(others.into_iter().any(|system| pool.label(system, place).is_some()));
            let here = pool[place].database;
            let text = words(place);
            let databases = databases_by_text.get(&text).filter(|_| !text.is_empty());
            overlap.elsewhere +=
                usize::from(databases.is_some_and(|all| all.iter().any(|&database| database != here)));
        }
        overlap
    }

    /// In sentences, for people.
    pub fn notes(&self, system: &str) -> Vec<String> {
        let of = |count: usize, verb: [&str; 2]| {
            let questions = counted_of(count, self.questions, "question");
            format!("{questions} of the target {}", verb_for(&count, verb))
        };
        let mut notes = Vec::new();
        if self.own > 0 {
            notes.push(format!(
                "overlap: {} in a known run of {system} itself; its labels there are not used, but what was tuned on \
                 these questions does better on them than elsewhere",
                of(self.own, ["is", "are"])
            ));
        }
        if self.others > 0 {
            notes.push(format!(
                "overlap: {} in known runs of other systems; only `equivalents` uses their labels there",
                of(self.others, ["is", "are"])
            ));
        }
        if self.elsewhere > 0 {
            notes.push(format!(
                "overlap: {} word for word in the known runs, about another database",
                of(self.elsewhere, ["stands", "stand"])
            ));
        }
        notes
    }
}

/// The words of a question without case and signs.
fn words(text: &str) -> Vec<String> {
    let words = text.split(|sign: char| !sign.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_compared_without_case_and_signs() {
        for (one, other, same) in [
            ("How many ships?", "how many  SHIPS", true),
            ("How many ships?", "How many shops?", false),
            ("Größe?", "größe", true),
        ] {
            assert_eq!(words(one) == words(other), same, "{one} {other}");
        }
        assert!(words("?!").is_empty());
    }
}
