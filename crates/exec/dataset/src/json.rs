//! JSON whose objects have no key twice, read item by item.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::HashSet;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use sqlgauge_base::json::{JsonPlan, Planned, key_twice};

use crate::text::Places;

/// Values inside one item; the parse tree of the longest query of a benchmark has some hundreds.
const MAX_VALUES: usize = 1 << 20;

/// What is wrong with a JSON text, and where.
#[derive(Debug)]
pub(crate) struct JsonProblem {
    /// From 1.
    pub(crate) line: usize,
    /// In bytes, from 1.
    pub(crate) column: usize,
    pub(crate) problem: String,
}

/// What a document is as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// A list of items.
    List,
    /// An object from key to item.
    Object,
    /// A text, a number, a truth value or null.
    Scalar,
}

/// Why a document was not read to its end.
#[derive(Debug)]
pub(crate) enum Stopped<E> {
    Malformed(JsonProblem),
    /// Whoever took the items wants no more of them.
    Taken(E),
}

/// The JSON with `\u0000` in place of every escape of a lone surrogate, which is half a character; `hear` gets the byte of each.
///
/// A parser refuses a text that holds one, and with it all other items. With NUL the item has its own outcome: every engine refuses
/// it as SQL (`nul_byte`), and so does SQLite under the official scripts with the surrogate. The bytes after it stay where they are.
pub(crate) fn without_lone_surrogates(text: &str, mut hear: impl FnMut(usize)) -> Cow<'_, str> {
    if !text.contains(r"\ud") && !text.contains(r"\uD") {
        return Cow::Borrowed(text);
    }
    let (mut mended, mut from, mut at) = (String::new(), 0, 0);
    while let Some(offset) = text.get(at..).and_then(|rest| rest.find('\\')) {
        at += offset;
        let Some(unit) = escaped_unit(text, at) else {
            // The backslash and what it escapes; if that is longer than a byte, its rest holds no backslash.
            at += text[at + 1..].chars().next().map_or(1, |escaped| 1 + escaped.len_utf8());
            continue;
        };
        let is_first_half = (0xD800..0xDC00).contains(&unit);
        let second_half = escaped_unit(text, at + 6).filter(|next| (0xDC00..0xE000).contains(next));
        if is_first_half && second_half.is_some() {
            at += 12;
            continue;
        }
        if (0xD800..0xE000).contains(&unit) {
            hear(at);
            mended.push_str(&text[from..at]);
            mended.push_str(r"\u0000");
            from = at + 6;
        }
        at += 6;
    }
    if from == 0 {
        return Cow::Borrowed(text);
    }
    mended.push_str(&text[from..]);
    Cow::Owned(mended)
}

/// The code unit of the escape `\uXXXX` at that byte.
fn escaped_unit(text: &str, at: usize) -> Option<u16> {
    let digits = text.get(at..at + 6)?.strip_prefix(r"\u")?;
    let are_digits = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    are_digits.then(|| u16::from_str_radix(digits, 16).ok())?
}

/// Notes where [`without_lone_surrogates`] mended something.
pub(crate) fn note_lone_surrogates(places: &Places, notes: &mut Vec<String>) {
    if !places.is_empty() {
        notes.push(format!(
            "{places}: half a character (a lone surrogate) read as NUL, which SQL text may not contain"
        ));
    }
}

/// Parses one JSON value and nothing after it.
///
/// `serde_json::Value` keeps the last of two equal keys without a word, which would swap one prediction for
/// another: here it is an error. So is a value of more than 1,048,576 values.
pub(crate) fn parse(text: &str) -> Result<Value, JsonProblem> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    Planned(Item(&Cell::default()))
        .deserialize(&mut deserializer)
        .and_then(|value| deserializer.end().map(|()| value))
        .map_err(|error| explain(&error))
}

/// Parses one list or object and nothing after it; hands over its items one by one, those of an object with their
/// keys. Each item is as [`parse`] reads it, and no two keys are equal.
pub(crate) fn for_each_item<E>(
    text: &str,
    take: &mut dyn FnMut(Option<String>, Value) -> Result<(), E>,
) -> Result<Shape, Stopped<E>> {
    if !text.trim_ascii_start().starts_with(['[', '{']) {
        return parse(text).map(|_| Shape::Scalar).map_err(Stopped::Malformed);
    }
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let mut stopped = None;
    let shape = Items { take, stopped: &mut stopped }.deserialize(&mut deserializer);
    let shape = shape.and_then(|shape| deserializer.end().map(|()| shape));
    match (stopped, shape) {
        (Some(error), _) => Err(Stopped::Taken(error)),
        (None, shape) => shape.map_err(|error| Stopped::Malformed(explain(&error))),
    }
}

fn explain(error: &serde_json::Error) -> JsonProblem {
    let (line, column) = (error.line(), error.column());
    let message = error.to_string();
    let problem = message.strip_suffix(&format!(" at line {line} column {column}")).unwrap_or(&message);
    JsonProblem { line, column, problem: problem.to_owned() }
}

struct Items<'a, E> {
    take: &'a mut dyn FnMut(Option<String>, Value) -> Result<(), E>,
    stopped: &'a mut Option<E>,
}

impl<E> Items<'_, E> {
    fn hand_over<D: serde::de::Error>(&mut self, key: Option<String>, value: Value) -> Result<(), D> {
        (self.take)(key, value).map_err(|error| {
            *self.stopped = Some(error);
            D::custom("stopped")
        })
    }
}

impl<'de, E> DeserializeSeed<'de> for Items<'_, E> {
    type Value = Shape;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Shape, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, E> Visitor<'de> for Items<'_, E> {
    type Value = Shape;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut sequence: A) -> Result<Shape, A::Error> {
        while let Some(item) = sequence.next_element_seed(Planned(Item(&Cell::default())))? {
            self.hand_over(None, item)?;
        }
        Ok(Shape::List)
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut entries: A) -> Result<Shape, A::Error> {
        let mut keys = HashSet::new();
        while let Some(key) = entries.next_key::<String>()? {
            if !keys.insert(key.clone()) {
                return Err(key_twice(&key));
            }
            let item = entries.next_value_seed(Planned(Item(&Cell::default())))?;
            self.hand_over(Some(key), item)?;
        }
        Ok(Shape::Object)
    }
}

/// An item, with the number of values that were read of it.
#[derive(Clone, Copy)]
struct Item<'a>(&'a Cell<usize>);

impl JsonPlan for Item<'_> {
    const HAS_KEYS_ONCE: bool = true;

    fn count(self) -> Result<(), String> {
        // The item itself is one more.
        if self.0.get() > MAX_VALUES {
            return Err(format!(
                "one item holds more than {MAX_VALUES} values, the most that is read of one"
            ));
        }
        self.0.set(self.0.get() + 1);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_out_as_serde_json_reads_them() {
        let text = r#" {"a": [1, -2, 2.5, 18446744073709551615, 1e400000000], "b": {"c": null}, "d": [true, "x\u0041"]} "#;
        assert!(parse(text).is_err());
        let text = text.replace(", 1e400000000", "");
        assert_eq!(parse(&text).unwrap(), serde_json::from_str::<Value>(&text).unwrap());
    }

    /// Pairs and escaped backslashes stay; each half alone becomes NUL, and nothing moves.
    #[test]
    fn lone_surrogates_become_nul() {
        for (text, mended) in [
            (r#""a""#, None),
            (r#""\uD83D\uDE00 \\ud800 \\\\ud800""#, None),
            (r#""\ud800""#, Some(r#""\u0000""#)),
            (r#""\uDFFFx\udbffé""#, Some(r#""\u0000x\u0000é""#)),
            (r#""\\\ud800\ud800\udc00\udc00""#, Some(r#""\\\u0000\ud800\udc00\u0000""#)),
            (r#""\ud800\u0041""#, Some(r#""\u0000\u0041""#)),
            // Not JSON: left to the parser.
            (r#""\ud80""#, None),
            (r"\é\ud8é", None),
            (r"\ud800\", Some(r"\u0000\")),
        ] {
            let mut heard = Vec::new();
            let output = without_lone_surrogates(text, |at| heard.push(at));
            assert_eq!(output, mended.unwrap_or(text), "{text}");
            assert_eq!((output.len(), heard.is_empty()), (text.len(), mended.is_none()), "{text}");
            assert!(heard.iter().all(|&at| output[at..].starts_with(r"\u0000")), "{text}: {heard:?}");
        }
    }

    #[test]
    fn a_key_that_occurs_twice_is_named_with_its_line() {
        let problem = parse("{\"0\": \"a\",\n \"1\": \"b\",\n \"0\": \"c\"}").unwrap_err();
        assert_eq!((problem.line, problem.problem.as_str()), (3, "the key \"0\" occurs twice in one object"));
        assert!(parse(r#"{"a": {"x": 1}, "b": {"x": 1}}"#).is_ok());
    }

    #[test]
    fn what_is_malformed_has_a_line_and_a_column() {
        for (text, line) in
            [("", 1), ("[1,\n2", 2), ("{} x", 1), ("[NaN]", 1), ("[1,]", 1), (&"[".repeat(5000), 1)]
        {
            let problem = parse(text).unwrap_err();
            assert_eq!(problem.line, line, "{text:.20}: {problem:?}");
            assert!(!problem.problem.contains("at line"), "{problem:?}");
        }
    }

    #[test]
    fn items_come_one_by_one_with_their_keys() {
        let read = |text: &str| {
            let mut items = Vec::new();
            let shape = for_each_item(text, &mut |key, value| {
                items.push((key, value));
                Ok::<(), ()>(())
            });
            (shape.map_err(|_| "malformed"), items)
        };
        let (list, object) = (read(" [1, {\"a\": 2}] "), read(r#"{"x": 1, "y": [2]}"#));
        assert_eq!(list, (Ok(Shape::List), vec![(None, 1.into()), (None, serde_json::json!({"a": 2}))]));
        let keyed = vec![(Some("x".to_owned()), 1.into()), (Some("y".to_owned()), serde_json::json!([2]))];
        assert_eq!(object, (Ok(Shape::Object), keyed));
        for scalar in ["1", "-1", "1.5", "\"x\"", "null", "true"] {
            assert_eq!(read(scalar), (Ok(Shape::Scalar), Vec::new()), "{scalar}");
        }
        for (text, items) in
            [("[1, 2", 2), ("[1] x", 1), (r#"{"x": 1, "x": 2}"#, 1), (r#"[{"x": 1, "x": 2}]"#, 0)]
        {
            let (shape, parts) = read(text);
            assert_eq!((shape, parts.len()), (Err("malformed"), items), "{text}");
        }
    }

    #[test]
    fn whoever_takes_the_items_may_stop() {
        let mut count = 0;
        let stopped = for_each_item("[1, 2, x", &mut |_, _| {
            count += 1;
            if count == 2 { Err("enough") } else { Ok(()) }
        });
        assert!(matches!(stopped, Err(Stopped::Taken("enough"))), "{stopped:?}");
    }

    #[test]
    fn one_item_has_a_budget_of_values_and_a_list_of_items_has_none() {
        let many = "1,".repeat(MAX_VALUES) + "1";
        let problem = parse(&format!("[{many}]")).unwrap_err().problem;
        assert!(problem.starts_with("one item holds more than 1048576 values"), "{problem}");
        let mut count = 0;
        let shape = for_each_item(&format!("[{many}]"), &mut |_, _| {
            count += 1;
            Ok::<(), ()>(())
        });
        assert!(matches!(shape, Ok(Shape::List)));
        assert_eq!(count, MAX_VALUES + 1);
    }
}
