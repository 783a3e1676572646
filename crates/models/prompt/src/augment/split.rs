//! Training and validation, without leaks.

use std::collections::{BTreeMap, HashSet};

use sqlgauge_base::{Random, seed_of};

use super::example::{ChatExample, ChatMessage};

/// What is kept together on one side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SplitBy {
    /// Databases: those to validate on are not trained on (the paper's cross-database setting).
    #[default]
    Database,
    /// Questions with all their schemas: every database to validate on is trained on too (the paper's intra-database setting,
    /// section 6.6).
    Question,
}

/// The two sides.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TrainingSplit {
    pub train: Vec<ChatExample>,
    pub validation: Vec<ChatExample>,
    /// Examples left out because an equal one is there.
    pub duplicates: usize,
    /// Examples of the validation side left out because the training side has the question with that answer.
    pub leaks: usize,
}

/// Splits the examples: databases, or questions of each database, drawn by the seed are for validation until they have that
/// share of the examples.
pub fn split(examples: Vec<ChatExample>, by: SplitBy, validation_share: f64, seed: u64) -> TrainingSplit {
    let mut distinct: HashSet<[ChatMessage; 3]> = HashSet::new();
    let count = examples.len();
    let examples: Vec<ChatExample> =
        examples.into_iter().filter(|example| distinct.insert(example.messages.clone())).collect();
    let for_validation = match by {
        SplitBy::Database => databases(&examples, validation_share, seed),
        SplitBy::Question => questions(&examples, validation_share, seed),
    };
    let mut split = TrainingSplit { duplicates: count - examples.len(), ..TrainingSplit::default() };
    for example in examples {
        let is_for_validation = for_validation.contains(&group(&example, by));
        let side = if is_for_validation { &mut split.validation } else { &mut split.train };
        side.push(example);
    }
    let trained: HashSet<[&str; 2]> = split.train.iter().map(question_and_answer).collect();
    let before = split.validation.len();
    split.validation.retain(|example| !trained.contains(&question_and_answer(example)));
    split.leaks = before - split.validation.len();
    split
}

/// Question and answer, whatever the schema.
fn question_and_answer(example: &ChatExample) -> [&str; 2] {
    [&example.question, &example.messages[2].content]
}

/// A database, and a question about it where questions are kept together.
type Group = (String, String);

fn group(example: &ChatExample, by: SplitBy) -> Group {
    let question = if by == SplitBy::Question { example.question.clone() } else { String::new() };
    (example.db_id.clone(), question)
}

/// Questions of each database; one of them stays to train on.
fn questions(examples: &[ChatExample], share: f64, seed: u64) -> HashSet<Group> {
    let mut sizes: BTreeMap<&str, BTreeMap<&str, usize>> = BTreeMap::new();
    for example in examples {
        *sizes.entry(&example.db_id).or_default().entry(&example.question).or_default() += 1;
    }
    let mut chosen = HashSet::new();
    // What a database has too few questions for is taken from the next one.
    let mut owed = 0.0;
    for (db_id, sizes) in &sizes {
        let mut texts: Vec<&str> = sizes.keys().copied().collect();
        Random::new([seed, seed_of("validation"), seed_of(db_id)]).shuffle(&mut texts);
        owed += share * sizes.values().sum::<usize>() as f64;
        for question in texts.into_iter().skip(1) {
            let size = sizes[question] as f64;
            if owed < size / 2.0 {
                break;
            }
            owed -= size;
            chosen.insert(((*db_id).to_owned(), question.to_owned()));
        }
    }
    chosen
}

fn databases(examples: &[ChatExample], share: f64, seed: u64) -> HashSet<Group> {
    let mut sizes: BTreeMap<&str, usize> = BTreeMap::new();
    examples.iter().for_each(|example| *sizes.entry(&example.db_id).or_default() += 1);
    let mut names: Vec<&str> = sizes.keys().copied().collect();
    Random::new([seed, seed_of("validation")]).shuffle(&mut names);
    let wanted = share * examples.len() as f64;
    let (mut chosen, mut count) = (HashSet::new(), 0);
    for name in names {
        // One database stays to train on.
        if count as f64 >= wanted || chosen.len() + 1 >= sizes.len() {
            break;
        }
        count += sizes[name];
        chosen.insert((name.to_owned(), String::new()));
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example(db_id: &str, question: &str, answer: &str) -> ChatExample {
        let message = |role, content: String| ChatMessage { role, content };
        let user = format!("CREATE TABLE {db_id} (a);\n{question}");
        ChatExample {
            messages: [
                message("system", String::new()),
                message("user", user),
                message("assistant", answer.to_owned()),
            ],
            question: question.to_owned(),
            db_id: db_id.to_owned(),
            kind: "original".to_owned(),
            source_index: 0,
        }
    }

    #[test]
    fn a_database_is_on_one_side_and_equal_examples_are_one() {
        let mut examples: Vec<ChatExample> =
            (0..40).map(|at| example(&format!("d{}", at % 8), &format!("q{at}"), "SELECT a")).collect();
        examples.push(examples[3].clone());
        let sides = split(examples.clone(), SplitBy::Database, 0.25, 1);
        assert_eq!(
            (sides.train.len(), sides.validation.len(), sides.duplicates, sides.leaks),
            (30, 10, 1, 0)
        );
        let names = |side: &[ChatExample]| side.iter().map(|e| e.db_id.clone()).collect::<HashSet<_>>();
        assert!(names(&sides.train).is_disjoint(&names(&sides.validation)));
        assert_eq!(split(examples.clone(), SplitBy::Database, 0.25, 1), sides);
        assert!(
            (2..20).any(|seed| names(&split(examples.clone(), SplitBy::Database, 0.25, seed).validation)
                != names(&sides.validation))
        );
        assert!(split(examples, SplitBy::Database, 0.0, 1).validation.is_empty());
    }

    #[test]
    fn a_question_is_on_one_side_and_its_database_on_both() {
        let examples: Vec<ChatExample> = (0..120)
            .map(|at| example(&format!("d{}", at % 6), &format!("q{}", at / 12), &format!("SELECT {at}")))
            .chain([example("lonely", "q", "SELECT 1")])
            .collect();
        let sides = split(examples.clone(), SplitBy::Question, 0.2, 1);
        assert_eq!(sides.train.len() + sides.validation.len(), 121);
        assert!((20..=28).contains(&sides.validation.len()), "{}", sides.validation.len());
        let groups =
            |side: &[ChatExample]| side.iter().map(|e| group(e, SplitBy::Question)).collect::<HashSet<_>>();
        assert!(groups(&sides.train).is_disjoint(&groups(&sides.validation)));
        let names = |side: &[ChatExample]| side.iter().map(|e| e.db_id.clone()).collect::<HashSet<_>>();
        assert!(names(&sides.validation).is_subset(&names(&sides.train)));
        assert_eq!(names(&sides.validation).len(), 6);
        assert_eq!(split(examples.clone(), SplitBy::Question, 0.2, 1), sides);
        assert!((2..9).any(|seed| split(examples.clone(), SplitBy::Question, 0.2, seed) != sides));
        assert!(split(examples, SplitBy::Question, 0.0, 1).validation.is_empty());
    }

    #[test]
    fn what_is_trained_on_is_not_validated_on() {
        let examples =
            vec![example("d0", "q", "SELECT a"), example("d1", "q", "SELECT a"), example("d0", "r", "x")];
        let sides = split(examples, SplitBy::Database, 0.3, 0);
        assert_eq!((sides.validation.len(), sides.leaks), (0, 1), "{sides:?}");
    }

    #[test]
    fn one_database_alone_is_trained_on() {
        assert_eq!(split(vec![example("d", "q", "x")], SplitBy::Database, 0.5, 0).train.len(), 1);
    }
}
