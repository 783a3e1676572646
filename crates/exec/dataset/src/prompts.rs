//! Finds the question that a prompt holds among other words, as the logs of training libraries have them.
//!
//! # Contract
//! - A prompt is a text, or messages of which each has a text. White space and letter case do not count.
//! - It has a question if exactly one of the benchmark's stands in it, from the beginning of a word to the end of one. Of questions
//!   that overlap, the one that begins first counts, and of those the longest.
//! - One pass over each prompt. Questions of more than [`MAX_BYTES`] together are not looked for.

use std::borrow::Cow;

use aho_corasick::{AhoCorasick, MatchKind};
use serde_json::Value;

use crate::model::Benchmark;
use crate::pairing::text_mark;

/// The automaton takes many times as much memory.
const MAX_BYTES: usize = 8 << 20;

/// The questions of a benchmark.
pub(crate) struct QuestionFinder {
    automaton: AhoCorasick,
    /// Of each question what its text is known by.
    marks: Vec<u64>,
}

impl QuestionFinder {
    /// `None` if there are no questions, or too many.
    pub(crate) fn of(benchmark: &Benchmark) -> Option<Self> {
        let texts = benchmark.examples.iter().filter_map(|example| example.question.as_deref());
        let mut questions: Vec<(String, u64)> =
            texts.filter_map(|text| Some((words_of(text), text_mark(text)?))).collect();
        questions.sort_unstable();
        questions.dedup();
        let bytes: usize = questions.iter().map(|(words, _)| words.len()).sum();
        if questions.is_empty() || bytes > MAX_BYTES {
            return None;
        }
        let words = questions.iter().map(|(words, _)| words);
        let automaton = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(words).ok()?;
        Some(Self { automaton, marks: questions.into_iter().map(|(_, mark)| mark).collect() })
    }

    /// What the only question in a prompt is known by.
    pub(crate) fn only_question(&self, prompt: &Value) -> Option<u64> {
        let words = words_of(&text_of(prompt)?);
        let is_free = |start: usize, end: usize| {
            !words[..start].ends_with(is_of_word) && !words[end..].starts_with(is_of_word)
        };
        let places = self.automaton.find_iter(&words).filter(|place| is_free(place.start(), place.end()));
        let mut marks = places.map(|place| self.marks[place.pattern().as_usize()]);
        let first = marks.next()?;
        marks.all(|mark| mark == first).then_some(first)
    }
}

/// The words of a text with one space between them, in lower case.
fn words_of(text: &str) -> String {
    let words = text.trim_end_matches([';', ' ', '\n']).split_whitespace();
    words.map(str::to_lowercase).collect::<Vec<_>>().join(" ")
}

fn is_of_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
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
        let questions = ["How many singers?", "How many singers? In France", "Who sings", "a"];
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
        let example = Example { question: Some(text), ..Example::bare("0".to_owned(), 0, "d".to_owned()) };
        let benchmark =
            Benchmark { examples: vec![example], sources: Vec::new(), has_ids: false, notes: Vec::new() };
        let finder = QuestionFinder::of(&benchmark).unwrap();
        assert_eq!(finder.only_question(&json!("a ".repeat(1_999) + &"b ".repeat(500_000))), None);
    }
}
