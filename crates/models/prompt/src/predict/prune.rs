//! The part of a schema that a model says a question needs (`EvoSchema`, section 5; CHESS's schema selection).
//!
//! # Contract
//! A pruned schema has the tables and columns that the answer names, with the primary keys of those tables and the columns of the
//! foreign keys between them, so that they can be joined. Names that the schema does not have are passed over. Where an answer
//! names no table of the schema, or the schema cannot be read, the whole schema is shown and the line says why.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::Serialize;
use serde_json::{Map, Value};
use sqlgauge_sql::schema::{ForeignKey, Schema, Table};
use sqlgauge_sql::schema_text;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PrunedSchema {
    /// The columns that are shown, by table; null where the whole schema is shown.
    pub shown: Option<BTreeMap<String, Vec<String>>>,
    /// The answer that names them; null where the model was not asked.
    pub raw: Option<String>,
    /// Why the whole schema is shown; null where it is not.
    pub error: Option<String>,
}

/// The schema that the answer leaves of this one, as DDL, and the record of it.
pub(crate) fn pruned(ddl: &Arc<str>, answer: &str) -> (Arc<str>, PrunedSchema) {
    let raw = Some(answer.to_owned());
    let whole =
        |error: String| (Arc::clone(ddl), PrunedSchema { shown: None, raw: raw.clone(), error: Some(error) });
    let schema = match Schema::from_ddl(ddl) {
        Ok(schema) => schema,
        Err(error) => return whole(format!("the schema cannot be read: {error}")),
    };
    let Some(named) = object(answer) else { return whole("the answer is not a JSON object".to_owned()) };
    let selection = with_keys(&schema, chosen(&schema, &named));
    if selection.is_empty() {
        return whole("the answer names no table of the schema".to_owned());
    }
    let tables: Vec<Table> = selection
        .iter()
        .map(|(&at, columns)| reduced(&schema, &schema.tables()[at], columns, &selection))
        .collect();
    let columns = tables
        .iter()
        .map(|table| (table.name.clone(), table.columns.iter().map(|column| column.name.clone()).collect()));
    let record = PrunedSchema { shown: Some(columns.collect()), raw: raw.clone(), error: None };
    (Arc::from(schema_text(&Schema::new(tables))), record)
}

/// The columns that are kept, by table.
type Kept = BTreeMap<usize, BTreeSet<u32>>;

/// The last JSON object of an answer, which may stand in a code block or after a sentence.
fn object(answer: &str) -> Option<Map<String, Value>> {
    let end = answer.rfind('}')? + 1;
    let starts = answer[..end].match_indices('{').map(|(at, _)| at);
    starts.into_iter().find_map(|start| serde_json::from_str(&answer[start..end]).ok())
}

/// What the answer names. A table that is named without a column of its own is kept whole.
fn chosen(schema: &Schema, named: &Map<String, Value>) -> Kept {
    let mut selection = Kept::new();
    for (name, columns) in named {
        let Some(id) = schema.table_id(name.trim()) else { continue };
        let table = &schema.tables()[id.index()];
        let picked = columns.as_array().into_iter().flatten().filter_map(Value::as_str);
        let of = |name: &str| {
            let last = name.rsplit_once('.').map_or(name, |(_, last)| last);
            table.column_index(name.trim()).or_else(|| table.column_index(last.trim()))
        };
        let indexes: BTreeSet<u32> = picked.filter_map(of).collect();
        let columns = selection.entry(id.index()).or_default();
        if indexes.is_empty() {
            columns.extend((0..).take(table.columns.len()));
        }
        columns.extend(indexes);
    }
    selection
}

/// The same with primary keys, and with the columns of foreign keys between tables that are kept.
fn with_keys(schema: &Schema, mut selection: Kept) -> Kept {
    let tables: Vec<usize> = selection.keys().copied().collect();
    for &at in &tables {
        let table = &schema.tables()[at];
        selection.entry(at).or_default().extend(&table.primary_key);
        for key in &table.foreign_keys {
            let Some((to, columns)) = schema.resolve_foreign_key(key) else { continue };
            if let Some(referenced) = selection.get_mut(&to.index()) {
                referenced.extend(columns);
                selection.entry(at).or_default().extend(&key.columns);
            }
        }
    }
    selection
}

fn reduced(schema: &Schema, table: &Table, columns: &BTreeSet<u32>, selection: &Kept) -> Table {
    let places: Vec<u32> = columns.iter().copied().collect();
    let moved = |old: &[u32]| -> Option<Vec<u32>> {
        let place = |column: &u32| places.binary_search(column).ok().and_then(|at| u32::try_from(at).ok());
        old.iter().map(place).collect()
    };
    let refers = |key: &&ForeignKey| {
        schema.resolve_foreign_key(key).is_some_and(|(to, _)| selection.contains_key(&to.index()))
    };
    let key = |key: &ForeignKey| Some(ForeignKey { columns: moved(&key.columns)?, ..key.clone() });
    Table {
        kind: table.kind,
        primary_key: moved(&table.primary_key).unwrap_or_default(),
        unique: table.unique.iter().filter_map(|unique| moved(unique)).collect(),
        foreign_keys: table.foreign_keys.iter().filter(refers).filter_map(key).collect(),
        ..Table::new(
            table.name.clone(),
            places.iter().filter_map(|&column| table.column(column).cloned()).collect(),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DDL: &str = "CREATE TABLE singer (id INTEGER PRIMARY KEY, name TEXT, age INT, country TEXT);
        CREATE TABLE concert (id INTEGER PRIMARY KEY, title TEXT, year INT);
        CREATE TABLE sings (singer INT, concert INT, fee REAL, FOREIGN KEY (singer) REFERENCES singer (id),
            FOREIGN KEY (concert) REFERENCES concert (id));";

    fn prune_text(answer: &str) -> (String, PrunedSchema) {
        let (text, record) = pruned(&Arc::from(DDL), answer);
        (text.to_string(), record)
    }

    #[test]
    fn what_the_answer_names_is_shown_with_the_keys_that_join_it() {
        let (text, record) = prune_text(
            "It needs\n```json\n{\"Singer\": [\"NAME\"], \"sings\": [\"sings.fee\"], \"ghost\": [\"x\"]}\n```",
        );
        let expected = "CREATE TABLE singer (id INTEGER PRIMARY KEY, name TEXT);\n\
            CREATE TABLE sings (singer INT, fee REAL, FOREIGN KEY (singer) REFERENCES singer(id));";
        assert_eq!(text, expected);
        assert_eq!(record.shown.unwrap()["sings"], ["singer", "fee"]);
        assert_eq!(record.error, None);
    }

    #[test]
    fn a_table_without_columns_is_whole() {
        let whole = "CREATE TABLE concert (id INTEGER PRIMARY KEY, title TEXT, year INT);";
        for answer in [r#"{"concert": []}"#, r#"{"concert": "all"}"#, r#"{"concert": ["nothing of it"]}"#] {
            assert_eq!(prune_text(answer).0, whole, "{answer}");
        }
    }

    #[test]
    fn an_answer_without_a_table_leaves_the_schema_and_says_so() {
        for (answer, why) in [
            ("singer and concert", "the answer is not a JSON object"),
            (r#"{"ghost": ["x"]}"#, "the answer names no table of the schema"),
        ] {
            let (text, record) = prune_text(answer);
            assert_eq!((text.as_str(), record.shown, record.error.as_deref()), (DDL, None, Some(why)));
        }
        let (text, record) = pruned(&Arc::from("create table t(a text, foreign key("), r#"{"t": ["a"]}"#);
        assert!(text.starts_with("create table t"));
        assert!(record.error.unwrap().starts_with("the schema cannot be read: "));
    }
}
