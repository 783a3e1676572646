//! JSON whose objects have no key twice, read item by item.

use std::collections::HashSet;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::map::Entry;
use serde_json::{Map, Value};

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
    /// It is malformed.
    Malformed(JsonProblem),
    /// Whoever took the items wants no more of them.
    Taken(E),
}

/// Parses one JSON value and nothing after it.
///
/// `serde_json::Value` keeps the last of two equal keys without a word, which would swap one prediction for
/// another: here it is an error. So is a value of more than 1,048,576 values.
pub(crate) fn parse(text: &str) -> Result<Value, JsonProblem> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    UniqueKeys(&mut { MAX_VALUES })
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

fn twice<E: serde::de::Error>(key: &str) -> E {
    E::custom(format!("the key {key:?} occurs twice in one object"))
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

    fn visit_unit<D>(self) -> Result<Shape, D> {
        Ok(Shape::Scalar)
    }

    fn visit_bool<D>(self, _: bool) -> Result<Shape, D> {
        Ok(Shape::Scalar)
    }

    fn visit_i64<D>(self, _: i64) -> Result<Shape, D> {
        Ok(Shape::Scalar)
    }

    fn visit_u64<D>(self, _: u64) -> Result<Shape, D> {
        Ok(Shape::Scalar)
    }

    fn visit_f64<D>(self, _: f64) -> Result<Shape, D> {
        Ok(Shape::Scalar)
    }

    fn visit_str<D>(self, _: &str) -> Result<Shape, D> {
        Ok(Shape::Scalar)
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut sequence: A) -> Result<Shape, A::Error> {
        while let Some(item) = sequence.next_element_seed(UniqueKeys(&mut { MAX_VALUES }))? {
            self.hand_over(None, item)?;
        }
        Ok(Shape::List)
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut entries: A) -> Result<Shape, A::Error> {
        let mut keys = HashSet::new();
        while let Some(key) = entries.next_key::<String>()? {
            if !keys.insert(key.clone()) {
                return Err(twice(&key));
            }
            let item = entries.next_value_seed(UniqueKeys(&mut { MAX_VALUES }))?;
            self.hand_over(Some(key), item)?;
        }
        Ok(Shape::Object)
    }
}

/// A value; counts down the values that it may still hold.
struct UniqueKeys<'a>(&'a mut usize);

impl UniqueKeys<'_> {
    fn spend<E: serde::de::Error>(&mut self) -> Result<(), E> {
        *self.0 = self.0.checked_sub(1).ok_or_else(|| {
            E::custom(format!("one item holds more than {MAX_VALUES} values, the most that is read of one"))
        })?;
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for UniqueKeys<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for UniqueKeys<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut sequence: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = sequence.next_element_seed(UniqueKeys(self.0))? {
            self.spend()?;
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut entries: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            self.spend()?;
            match map.entry(key) {
                Entry::Occupied(known) => return Err(twice(known.key())),
                Entry::Vacant(place) => {
                    place.insert(entries.next_value_seed(UniqueKeys(self.0))?);
                }
            }
        }
        Ok(Value::Object(map))
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
            let (shape, taken) = read(text);
            assert_eq!((shape, taken.len()), (Err("malformed"), items), "{text}");
        }
    }

    #[test]
    fn whoever_takes_the_items_may_stop() {
        let mut taken = 0;
        let stopped = for_each_item("[1, 2, x", &mut |_, _| {
            taken += 1;
            if taken == 2 { Err("enough") } else { Ok(()) }
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
