//! JSON that is read within a budget.
//!
//! A value in memory takes many times the bytes that it has in the text. So a limit on the bytes alone is not one on the
//! memory: what a plan leaves out is never there.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::map::Entry;
use serde_json::{Map, Value};

/// How a value and what it holds are read.
pub trait JsonPlan: Copy {
    /// Whether an object with one key twice is an error; else the last value counts.
    const HAS_KEYS_ONCE: bool;

    /// Counts one more value.
    ///
    /// # Errors
    /// What is wrong, where there are more than are read.
    fn count(self) -> Result<(), String>;

    /// The plan for the value under that key of an object; `None` where it is passed over.
    fn under(self, _key: &str) -> Option<Self> {
        Some(self)
    }

    /// The plan for the elements of a list, and how many of them are read.
    fn elements(self) -> (Self, usize) {
        (self, usize::MAX)
    }

    /// What a longer list is read as.
    fn beginning(self, elements: Vec<Value>) -> Value {
        Value::Array(elements)
    }
}

/// Reads one value by a plan.
#[derive(Debug, Clone, Copy)]
pub struct Planned<P>(pub P);

/// The error that an object has a key twice.
pub fn key_twice<E: Error>(key: &str) -> E {
    E::custom(format!("the key {key:?} occurs twice in one object"))
}

impl<'de, P: JsonPlan> DeserializeSeed<'de> for Planned<P> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<Value, D::Error> {
        self.0.count().map_err(D::Error::custom)?;
        json.deserialize_any(self)
    }
}

impl<'de, P: JsonPlan> Visitor<'de> for Planned<P> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
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

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        let (plan, most) = self.0.elements();
        let mut values = Vec::new();
        while values.len() < most {
            match list.next_element_seed(Planned(plan))? {
                Some(value) => values.push(value),
                None => return Ok(Value::Array(values)),
            }
        }
        let mut is_longer = false;
        while list.next_element::<IgnoredAny>()?.is_some() {
            is_longer = true;
        }
        Ok(if is_longer { self.0.beginning(values) } else { Value::Array(values) })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Value, A::Error> {
        let mut values = Map::new();
        while let Some(key) = object.next_key::<String>()? {
            let Some(plan) = self.0.under(&key) else {
                object.next_value::<IgnoredAny>()?;
                continue;
            };
            match values.entry(key) {
                Entry::Occupied(entry) if P::HAS_KEYS_ONCE => return Err(key_twice(entry.key())),
                Entry::Occupied(mut entry) => drop(entry.insert(object.next_value_seed(Planned(plan))?)),
                Entry::Vacant(place) => drop(place.insert(object.next_value_seed(Planned(plan))?)),
            }
        }
        Ok(Value::Object(values))
    }
}
