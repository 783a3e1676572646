//! The texts of a pair in other dialects than SQLite's.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sqlgauge_dialects::{Construct, Dialect, TypedSchema, translate};
use sqlgauge_sql::tree::Query;

/// A query in another dialect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DialectText {
    Sql(String),
    /// What of it the dialect cannot say with SQLite's meaning.
    Refused(Construct),
}

impl DialectText {
    /// What it counts as: `texts`, or the construct.
    pub fn count(&self) -> &'static str {
        match self {
            Self::Sql(_) => TEXTS,
            Self::Refused(construct) => construct.name(),
        }
    }
}

/// The key under which texts are counted; no construct has the name.
pub(crate) const TEXTS: &str = "texts";

/// Into which dialects pairs are translated, over which tables.
#[derive(Debug, Clone, Copy)]
pub struct Translation<'a> {
    /// The types of the columns.
    pub typed: &'a TypedSchema<'a>,
    pub dialects: &'a [&'static Dialect],
}

impl Translation<'_> {
    pub fn of(&self, query: &Query) -> BTreeMap<String, DialectText> {
        let text = |dialect: &&'static Dialect| {
            let text = match translate(query, self.typed, dialect) {
                Ok(sql) => DialectText::Sql(sql),
                Err(refused) => DialectText::Refused(refused.construct),
            };
            (dialect.name.to_owned(), text)
        };
        self.dialects.iter().map(text).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_construct_is_counted_as_a_text() {
        assert!(Construct::ALL.iter().all(|construct| construct.name() != TEXTS));
    }

    #[test]
    fn a_text_and_a_refusal_are_told_apart_in_files() {
        for (text, json) in [
            (DialectText::Sql("SELECT 1".to_owned()), r#"{"sql":"SELECT 1"}"#),
            (DialectText::Refused(Construct::FullJoin), r#"{"refused":"full_join"}"#),
        ] {
            assert_eq!(serde_json::to_string(&text).unwrap(), json);
            assert_eq!(serde_json::from_str::<DialectText>(json).unwrap(), text);
        }
    }
}
