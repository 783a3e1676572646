//! Names that somebody else thought of: a language model, or a person.
//!
//! # Contract
//! A suggestion is no more than that. Where it is used it is checked as every name is ([`super::acceptable`]); one that does not
//! fit is passed over, and an element without a suggestion that fits keeps its name. Of several that fit the generator
//! decides.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};
use serde_json::Value;
use sqlgauge_base::Random;
use sqlgauge_sql::schema::Table;

use super::{NamesInUse, acceptable};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Suggestions {
    /// Whose they are: the name of the model.
    pub of: String,
    pub databases: BTreeMap<String, SchemaNames>,
}

/// Suggested names for the tables and columns of one schema. The element's name is looked up without case.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SchemaNames(BTreeMap<(String, Option<String>), Vec<String>>);

/// As a list of elements with their names: JSON has no keys of two parts.
impl Serialize for SchemaNames {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(&self.0)
    }
}

impl SchemaNames {
    /// No names.
    pub const NONE: &'static Self = &Self(BTreeMap::new());

    /// Takes in names for a table, or for a column of it.
    pub fn add(&mut self, table: &str, column: Option<&str>, names: Vec<String>) {
        let key = (table.to_ascii_lowercase(), column.map(str::to_ascii_lowercase));
        self.0.entry(key).or_default().extend(names);
    }

    /// Takes in what a model says of a table: an object with a list of names for the table, `table`, and an object with such lists
    /// by the names of its columns, `columns`. Other words around it do not matter, nor do names of what the table does not have.
    /// How many of its elements have names.
    pub fn add_answer(&mut self, table: &Table, text: &str) -> usize {
        let object = text.find('{').zip(text.rfind('}')).and_then(|(from, to)| text.get(from..=to));
        let Some(answer) = object.and_then(|object| serde_json::from_str::<Value>(object).ok()) else {
            return 0;
        };
        let mut count = 0;
        let mut take = |column: Option<&str>, value: &Value| {
            let names = names(value);
            if !names.is_empty() {
                count += 1;
                self.add(&table.name, column, names);
            }
        };
        take(None, &answer["table"]);
        let of_columns = answer["columns"].as_object().into_iter().flatten();
        for (column, value) in of_columns.filter(|(column, _)| table.column_index(column).is_some()) {
            take(Some(column), value);
        }
        count
    }

    /// A name for a table, or for a column of the table `owner`.
    pub fn choose(
        &self,
        (identifier, owner): (&str, Option<&str>),
        in_use: &NamesInUse,
        random: &mut Random,
    ) -> Option<String> {
        let key = match owner {
            Some(table) => (table.to_ascii_lowercase(), Some(identifier.to_ascii_lowercase())),
            None => (identifier.to_ascii_lowercase(), None),
        };
        let mut names = self.0.get(&key).cloned().unwrap_or_default();
        random.shuffle(&mut names);
        let fits = |name: &String| {
            !name.eq_ignore_ascii_case(identifier) && acceptable(name, identifier, in_use).is_ok()
        };
        names.into_iter().find(fits)
    }
}

fn names(value: &Value) -> Vec<String> {
    let text =
        |value: &Value| value.as_str().map(|name| name.trim().to_owned()).filter(|name| !name.is_empty());
    match value {
        Value::Array(list) => list.iter().filter_map(text).collect(),
        other => text(other).into_iter().collect(),
    }
}

#[cfg(test)]
mod tests {
    use sqlgauge_sql::schema::Column;

    use super::*;

    #[test]
    fn only_names_that_fit_are_chosen() {
        let mut names = SchemaNames::default();
        let answer = r#"Here: ```json
            {"table": ["select", "singer", "Vocalist", "rowid"], "columns": {"Name": ["stage name", "STADIUM_NAME", "title"],
             "age": "years", "country": 5, "city": ["", "sqlite_x", "city"], "name of the column": ["x"]}}
            ```"#;
        let columns = ["Name", "Age", "Country", "City"].map(|name| Column::new(name, None)).to_vec();
        assert_eq!(names.add_answer(&Table::new("Singer", columns), answer), 4);
        let in_use = NamesInUse::new(["singer", "name", "age", "country", "city", "stadium_name"]);
        for seed in 0..20 {
            let mut random = Random::new([seed, 0, 0, 0]);
            let mut choose = |element: (&str, Option<&str>)| names.choose(element, &in_use, &mut random);
            assert_eq!(choose(("singer", None)).as_deref(), Some("Vocalist"));
            assert_eq!(choose(("name", Some("SINGER"))).as_deref(), Some("title"));
            assert_eq!(choose(("Age", Some("singer"))).as_deref(), Some("years"));
            assert_eq!(choose(("country", Some("singer"))), None);
            assert_eq!(choose(("city", Some("singer"))), None);
            assert_eq!(choose(("concert", None)), None);
        }
    }

    #[test]
    fn an_answer_without_names_has_none() {
        for text in [
            "",
            "I cannot help",
            "{",
            "}{",
            "{\"table\": ",
            "[1]",
            "{\"columns\": 3}",
            "{\"table\": {}}",
            "{\"columns\": {\"b\": \"c\"}}",
        ] {
            let mut names = SchemaNames::default();
            let table = Table::new("t", vec![Column::new("a", None)]);
            assert_eq!((names.add_answer(&table, text), names), (0, SchemaNames::default()), "{text}");
        }
    }
}
