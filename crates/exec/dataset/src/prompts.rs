//! Finds the question that a prompt holds among other words, as the logs of training libraries have them.
//!
//! # Contract
//! - A prompt is a text, or messages of which each has a text. White space, punctuation and letter case do not count.
//! - It has a question if exactly one of the benchmark's stands in it, word for word. Of questions that overlap, the one that
//!   begins first counts, and of those the longest.
//! - A prompt in which too many questions begin is given up ([`COMPARED`]): it has none. Questions of more than [`MAX_BYTES`] together
//!   are not looked for.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};

use serde_json::Value;

use crate::model::Benchmark;
use crate::pairing::text_mark;

/// Most bytes of all questions.
const MAX_BYTES: usize = 8 << 20;
/// Words of questions that are compared for each word of a prompt, and for each prompt.
const COMPARED: [usize; 2] = [64, 100_000];

/// The questions of a benchmark.
pub(crate) struct QuestionFinder {
    /// By their first two words, the longest first.
    by_start: HashMap<[Option<u64>; 2], Vec<Question>>,
    keys: RandomState,
}

struct Question {
    words: Vec<u64>,
    /// What its text is known by; `None` if texts that differ have these words.
    mark: Option<u64>,
}

/// The budget of a prompt is spent.
struct TooMany;

impl QuestionFinder {
    /// `None` if there are no questions, or too many.
    pub(crate) fn of(benchmark: &Benchmark) -> Option<Self> {
        let texts = || benchmark.examples.iter().filter_map(|example| example.question.as_deref());
        if texts().map(str::len).sum::<usize>() > MAX_BYTES {
            return None;
        }
        let mut finder = Self { by_start: HashMap::new(), keys: RandomState::new() };
        let mut marks: HashMap<Vec<u64>, Option<u64>> = HashMap::new();
        for text in texts() {
            let mark = text_mark(text);
            let mark_of_words = marks.entry(finder.words_of(text)).or_insert(mark);
            *mark_of_words = mark_of_words.filter(|earlier| Some(*earlier) == mark);
        }
        for (words, mark) in marks.into_iter().filter(|(words, _)| !words.is_empty()) {
            finder.by_start.entry(start_of(&words)).or_default().push(Question { words, mark });
        }
        finder.by_start.values_mut().for_each(|questions| {
            questions.sort_by_key(|question| Reverse(question.words.len()));
        });
        (!finder.by_start.is_empty()).then_some(finder)
    }

    /// What the only question in a prompt is known by.
    pub(crate) fn only_question(&self, prompt: &Value) -> Option<u64> {
        let words = self.words_of(&text_of(prompt)?);
        let mut budget = words.len().saturating_mul(COMPARED[0]).saturating_add(COMPARED[1]);
        let (mut at, mut only) = (0, None);
        while at < words.len() {
            let Some(question) = self.question_at(&words[at..], &mut budget).ok()? else {
                at += 1;
                continue;
            };
            let mark = question.mark?;
            if only.is_some_and(|only| only != mark) {
                return None;
            }
            only = Some(mark);
            at += question.words.len();
        }
        only
    }

    /// The longest question with which the words begin.
    fn question_at(&self, words: &[u64], budget: &mut usize) -> Result<Option<&Question>, TooMany> {
        let [first, second] = start_of(words);
        let starts = [[first, second], [first, None]];
        for question in starts.iter().filter_map(|start| self.by_start.get(start)).flatten() {
            *budget = budget.checked_sub(question.words.len()).ok_or(TooMany)?;
            if words.starts_with(&question.words) {
                return Ok(Some(question));
            }
        }
        Ok(None)
    }

    /// The words of a text, each as a hash with a key of this process.
    fn words_of(&self, text: &str) -> Vec<u64> {
        let words = text.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
        words.filter(|word| !word.is_empty()).map(|word| self.keys.hash_one(word.to_lowercase())).collect()
    }
}

fn start_of(words: &[u64]) -> [Option<u64>; 2] {
    [words.first().copied(), words.get(1).copied()]
}

/// The text of a prompt; of messages all of theirs.
fn text_of(prompt: &Value) -> Option<Cow<'_, str>> {
    match prompt {
        Value::String(text) => Some(text.into()),
        Value::Array(messages) => {
            let texts = messages.iter().map(|message| message.get("content")?.as_str());
            Some(texts.collect::<Option<Vec<_>>>()?.join("\n").into())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::model::Example;

    #[test]
    fn a_prompt_has_the_one_question_that_stands_in_it() {
        let questions = [
            "How many singers?",
            "How many singers? In France",
            "Who sings",
            "a",
            "Who writes",
            "Who, writes?",
        ];
        let example = |(at, text): (usize, &&str)| Example {
            question: Some((*text).to_owned()),
            ..Example::bare(at.to_string(), at, "d".to_owned())
        };
        let examples = questions.iter().enumerate().map(example).collect();
        let benchmark = Benchmark { examples, sources: Vec::new(), has_ids: false, notes: Vec::new() };
        let finder = QuestionFinder::of(&benchmark).unwrap();
        for (prompt, question) in [
            (json!("Schema: x\nQuestion: how many\n singers?\nSQL:"), Some(questions[0])),
            (json!("Q: How many singers?  In France."), Some(questions[1])),
            (
                json!([{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Who sings"}]),
                Some(questions[2]),
            ),
            (json!("Who sings? Who sings?"), Some(questions[2])),
            (json!("How many singers? Who sings?"), None),
            (json!("Who writes?"), None),
            (json!("Who singses, and a_"), None),
            (json!([{"role": "user"}]), None),
            (json!(1), None),
        ] {
            assert_eq!(finder.only_question(&prompt), question.and_then(text_mark), "{prompt}");
        }
    }

    #[test]
    fn long_prompts_of_many_matches_are_walked_once() {
        let text = "a ".repeat(2_000);
        let mark = text_mark(&text);
        let example = Example { question: Some(text), ..Example::bare("0".to_owned(), 0, "d".to_owned()) };
        let benchmark =
            Benchmark { examples: vec![example], sources: Vec::new(), has_ids: false, notes: Vec::new() };
        let finder = QuestionFinder::of(&benchmark).unwrap();
        assert_eq!(finder.only_question(&json!("a ".repeat(1_999) + &"b ".repeat(500_000))), None);
        let almost = "a ".repeat(1_999) + "b ";
        assert_eq!(finder.only_question(&json!(almost.repeat(250))), None);
        assert_eq!(finder.only_question(&json!("a ".repeat(500_000))), mark);
    }
}
