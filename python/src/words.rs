//! Sentences of the libraries in the words of Python: they name options as the command line spells them.
//!
//! # Contract
//! - An option that is an argument here is spelled as one: `--max-rows` is `max_rows`, `--column gold=NAME` is
//!   `columns={"gold": "NAME"}`. An option that Python does not have stays as it is.
//! - A command between backticks stays as it is: it is to be typed in a terminal.

use pyo3::prelude::*;

/// Options whose arguments have the same names here, with `_` for `-`.
const SAME: &str = "\
    alarm-below answers-to as-of ask-again batch-size bound count db db-id distractors each \
    foreign-key-score ids intensity jobs kinds known known-db labels level limit log max-bytes max-heap max-rows \
    method metric metrics min-latin near-misses new-reference now only out per-item per-year questions \
    sample-sets schema-versions seed semantics shard solver system systems tables tau tiers timeout \
    variants verdict where width";

/// Options with the arguments that they are here, where these differ.
const OTHERS: &[(&str, &str)] = &[
    // `frame` of `score_many`, `gold` of `evolve`.
    ("gold", "the benchmark"),
    ("peer", "peers"),
    ("pred", "predictions"),
    ("replace", "replace=True"),
    ("restart", "restart=True"),
];

/// The sentence with arguments in the place of options.
#[pyfunction]
pub(crate) fn in_python(sentence: &str) -> String {
    let parts = sentence.split('`').enumerate().map(|(number, part)| {
        let is_command = number % 2 == 1 && !part.starts_with("--");
        if is_command { part.to_owned() } else { with_arguments(part) }
    });
    parts.collect::<Vec<_>>().join("`")
}

fn with_arguments(text: &str) -> String {
    let mut done = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("--") {
        let (before, option) = rest.split_at(at);
        done.push_str(before);
        let is_word = before.chars().next_back().is_some_and(|last| last.is_alphanumeric() || last == '-');
        if let Some((argument, after)) = argument(&option[2..]).filter(|_| !is_word) {
            done.push_str(&argument);
            rest = after;
        } else {
            done.push_str("--");
            rest = &option[2..];
        }
    }
    done.push_str(rest);
    done
}

/// The argument of an option at the beginning of the text, with what stands after it.
fn argument(text: &str) -> Option<(String, &str)> {
    let end = text.find(|letter: char| !(letter.is_ascii_lowercase() || letter == '-')).unwrap_or(text.len());
    let (name, after) = text.split_at(end);
    let (value, after_value) = placeholder(after);
    if let ("column" | "pred", Some((left, right))) = (name, value.split_once('=')) {
        let argument = match name {
            "column" => format!("columns={{\"{}\": \"{right}\"}}", left.to_ascii_lowercase()),
            _ => format!("predictions={{\"{left}\": {right}}}"),
        };
        return Some((argument, after_value));
    }
    let argument = match OTHERS.iter().find(|(option, _)| *option == name) {
        Some((_, argument)) => (*argument).to_owned(),
        None => SAME.split_whitespace().find(|option| *option == name)?.replace('-', "_"),
    };
    match value {
        "" => Some((argument, after)),
        "A,B" => Some((format!("{argument}=[\"A\", \"B\"]"), after_value)),
        value => Some((format!("{argument}={value}"), after_value)),
    }
}

/// What stands for a value, as `PATH` or `gold=NAME`, and what comes after it; empty where the next word is a word of the sentence.
fn placeholder(after: &str) -> (&str, &str) {
    let Some(text) = after.strip_prefix(' ') else { return ("", after) };
    let is_of_value = |letter: char| letter.is_ascii_alphanumeric() || "_=,".contains(letter);
    let end = text.find(|letter| !is_of_value(letter)).unwrap_or(text.len());
    let value = text[..end].trim_end_matches(',');
    let last = value.rsplit('=').next().unwrap_or(value);
    let is_placeholder = last.chars().all(|letter| letter.is_ascii_uppercase() || "_,".contains(letter));
    if value.is_empty() || !is_placeholder { ("", after) } else { (value, &text[value.len()..]) }
}
