//! Pairs of queries to hold against each other, each with the schema or the database that it is over.
//!
//! # Contract
//! An item has `left` and `right`, two SQL texts, and either `ddl`, the schema as DDL, or `db`, a database; other fields
//! are not read. Without an `id` its position, from 0, is its id. Every format with named columns is read.

use std::collections::{BTreeMap, HashMap};

use serde_json::{Map, Value};

use crate::columns::{present_columns, scalar_text};
use crate::error::DatasetError;
use crate::formats::{FileFormat, Part, Place, Row};
use crate::input::Input;
use crate::model::{Example, Prediction, PredictionSet};
use crate::pairing::PairedBy;
use crate::text::strip;

/// The name under which the right queries of a file of pairs are the answers of a system.
pub const RIGHT: &str = "right query";

/// What a pair is over.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Over {
    /// A schema, as DDL.
    Ddl(String),
    /// A database, as the item names it.
    Database(String),
}

/// Pairs as a benchmark of which the left queries are the golds, and one system whose answers are the right ones.
#[derive(Debug, Clone, PartialEq)]
pub struct Pairs {
    /// The left queries. Pairs over the same schema or database have the same [`Example::db_id`].
    pub examples: Vec<Example>,
    /// The right queries.
    pub right: PredictionSet,
    /// By `db_id`, what it is, and the place of the first item over it.
    pub over: BTreeMap<String, (Over, String)>,
    /// Repairs that reading made, for people.
    pub notes: Vec<String>,
}

/// Reads the text of a file of pairs.
///
/// # Errors
/// When it is malformed, has no pair, or an item lacks a query, has neither or both of `ddl` and `db`, or has the id of another one.
pub fn parse_pairs(input: &Input) -> Result<Pairs, DatasetError> {
    let format = FileFormat::detect(input);
    if format.has_lines() {
        return Err(input.not_readable("is a file of lines", REMEDY));
    }
    let mut reader = Reader { input, names: HashMap::new(), seen: HashMap::new(), pairs: empty(input) };
    let mut notes = Vec::new();
    format.read(input, &mut notes, &mut |part| match part {
        Part::Row(row) => reader.take(&row),
        Part::Line(_) => Ok(()),
    })?;
    let mut pairs = reader.pairs;
    if pairs.examples.is_empty() {
        return Err(input.not_readable("has no pair", REMEDY));
    }
    pairs.notes = notes.into_iter().map(|note| format!("{}: {note}", input.path().display())).collect();
    Ok(pairs)
}

const REMEDY: &str = r#"give one object per line, as in {"id": "1", "ddl": "CREATE TABLE …", "left": "SELECT …", "right": "SELECT …"}"#;

fn empty(input: &Input) -> Pairs {
    let right = PredictionSet {
        system: RIGHT.to_owned(),
        predictions: Vec::new(),
        source: input.path().to_owned(),
        paired_by: PairedBy::Position,
        notes: Vec::new(),
        extra: BTreeMap::new(),
    };
    Pairs { examples: Vec::new(), right, over: BTreeMap::new(), notes: Vec::new() }
}

struct Reader<'a> {
    input: &'a Input,
    names: HashMap<Over, String>,
    seen: HashMap<String, Place>,
    pairs: Pairs,
}

impl Reader<'_> {
    fn take(&mut self, row: &Row) -> Result<(), DatasetError> {
        let Some(fields) = row.value.as_object() else {
            return Err(self.input.malformed(&row.place, "no object with named fields", REMEDY));
        };
        let (left, right) = (self.query("left", row, fields)?, self.query("right", row, fields)?);
        let over = self.over(row, fields)?;
        let index = self.pairs.examples.len();
        let id = fields.get("id").and_then(scalar_text).unwrap_or_else(|| index.to_string());
        if let Some(first) = self.seen.insert(id.clone(), row.place.clone()) {
            return Err(self.input.twice(id, first, &row.place));
        }
        let db_id = self.name(over, row);
        self.pairs.right.predictions.push(Some(Prediction {
            id: id.clone(),
            sql: right,
            confidence: None,
            earlier: None,
        }));
        self.pairs.examples.push(Example { golds: vec![left], ..Example::bare(id, index, db_id) });
        Ok(())
    }

    fn text(fields: &Map<String, Value>, name: &str) -> Option<String> {
        fields.get(name)?.as_str().filter(|text| !strip(text).is_empty()).map(str::to_owned)
    }

    fn query(&self, name: &str, row: &Row, fields: &Map<String, Value>) -> Result<String, DatasetError> {
        Self::text(fields, name).ok_or_else(|| {
            let problem = format!("no SQL text in {name:?} (there is {})", present_columns(Some(fields)));
            self.input.malformed(&row.place, problem, REMEDY)
        })
    }

    fn over(&self, row: &Row, fields: &Map<String, Value>) -> Result<Over, DatasetError> {
        match (Self::text(fields, "ddl"), Self::text(fields, "db")) {
            (Some(ddl), None) => Ok(Over::Ddl(ddl)),
            (None, Some(database)) => Ok(Over::Database(database)),
            (Some(_), Some(_)) => {
                let remedy = "leave the schema to the database, or name no database";
                Err(self.input.malformed(&row.place, "both \"ddl\" and \"db\"", remedy))
            }
            (None, None) => {
                let problem =
                    format!("neither \"ddl\" nor \"db\" (there is {})", present_columns(Some(fields)));
                Err(self.input.malformed(&row.place, problem, REMEDY))
            }
        }
    }

    fn name(&mut self, over: Over, row: &Row) -> String {
        if let Some(name) = self.names.get(&over) {
            return name.clone();
        }
        let mut name = match &over {
            Over::Database(database) => database.clone(),
            Over::Ddl(_) => format!("ddl of {}", row.place),
        };
        // A database may be called as a schema is.
        while self.pairs.over.contains_key(&name) {
            name.push('\'');
        }
        self.pairs.over.insert(name.clone(), (over.clone(), row.place.to_string()));
        self.names.insert(over, name.clone());
        name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<Pairs, String> {
        let input = Input::from_bytes("pairs.jsonl", text.as_bytes().to_vec());
        parse_pairs(&input).map_err(|error| error.to_string())
    }

    #[test]
    fn pairs_over_one_schema_share_it() {
        let pairs = parsed(
            r#"{"id": "a", "ddl": "CREATE TABLE t (x)", "left": "SELECT 1", "right": "SELECT 2", "other": []}
               {"ddl": "CREATE TABLE t (x)", "left": "SELECT 3", "right": "SELECT 4"}
               {"id": 7, "db": "shop.sqlite", "left": "SELECT 5", "right": "SELECT 6"}"#,
        )
        .unwrap();
        let rows: Vec<_> = pairs
            .examples
            .iter()
            .map(|example| (example.id.as_str(), example.db_id.as_str(), example.golds[0].as_str()))
            .collect();
        assert_eq!(
            rows,
            [
                ("a", "ddl of line 1", "SELECT 1"),
                ("1", "ddl of line 1", "SELECT 3"),
                ("7", "shop.sqlite", "SELECT 5")
            ]
        );
        assert_eq!(pairs.right.predictions[2].as_ref().unwrap().sql, "SELECT 6");
        assert_eq!(
            pairs.over["shop.sqlite"],
            (Over::Database("shop.sqlite".to_owned()), "line 3".to_owned())
        );
        assert_eq!(pairs.over.len(), 2);
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line_and_the_remedy() {
        let good = r#"{"id": "a", "db": "x", "left": "SELECT 1", "right": "SELECT 2"}"#;
        for (line, message) in [
            (r#"{"id": "b", "db": "x", "left": "SELECT 1"}"#, "line 2: no SQL text in \"right\""),
            (r#"{"id": "b", "left": "SELECT 1", "right": "SELECT 1"}"#, "line 2: neither \"ddl\" nor \"db\""),
            (r#"{"db": "x", "ddl": "y", "left": "SELECT 1", "right": "SELECT 1"}"#, "line 2: both"),
            (
                r#"{"id": "a", "db": "x", "left": "SELECT 1", "right": "SELECT 1"}"#,
                "occurs twice, in line 1 and in line 2",
            ),
            ("[1]", "line 2: no object"),
            ("{", "line 2 column 1"),
        ] {
            let error = parsed(&format!("{good}\n{line}\n")).unwrap_err();
            assert!(error.contains(message), "{error}");
        }
        let lines = parse_pairs(&Input::from_bytes("pairs.sql", b"SELECT 1\tx\n".to_vec()));
        assert!(lines.unwrap_err().to_string().contains("is a file of lines"));
        assert!(parsed("").is_err());
    }
}
