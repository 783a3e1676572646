//! Writes an entry of Spider's `tables.json` for an evolved schema, and keeps what the original's entry says beyond its
//! database.

use std::collections::HashMap;

use serde_json::{Value, json};
use sqlgauge_dataset::TablesEntry;
use sqlgauge_sql::schema::{Affinity, Column, ForeignKey, Schema, Table, TableKind};

/// The schema with the foreign keys of the entry that the database does not declare. One that refers to what is no key, or names
/// what is not there, is none.
pub fn with_keys(schema: &Schema, entry: &TablesEntry) -> Schema {
    let mut tables = schema.tables().to_vec();
    let place = |number: usize| {
        let table = schema.table_id(entry.table_names_original.get(entry.table_of(number)?)?)?.index();
        let column = schema.tables()[table].column_index(&entry.column_names_original.get(number)?.1)?;
        (schema.tables()[table].kind == TableKind::Table).then_some((table, column))
    };
    for &(from, to) in &entry.foreign_keys {
        let Some(((child, column), (parent, referred))) = place(from).zip(place(to)) else { continue };
        let parent = &schema.tables()[parent];
        let Some(name) = parent.column(referred).map(|column| column.name.clone()) else { continue };
        let is_new = tables[child].foreign_keys.iter().all(|key| !key.columns.contains(&column));
        if is_new && parent.is_unique(&[referred]) {
            tables[child].foreign_keys.push(ForeignKey {
                columns: vec![column],
                referenced_table: parent.name.clone(),
                referenced_columns: vec![name],
                ..ForeignKey::default()
            });
        }
    }
    Schema::new(tables)
}

/// The names in words that an entry has for tables and columns, by their names in lower case.
struct Words<'a> {
    tables: HashMap<String, &'a str>,
    columns: HashMap<(String, String), &'a str>,
}

impl<'a> Words<'a> {
    fn of(entry: Option<&'a TablesEntry>) -> Self {
        let mut words = Self { tables: HashMap::new(), columns: HashMap::new() };
        let Some(entry) = entry else { return words };
        let names = entry.table_names_original.iter().map(|name| name.to_ascii_lowercase());
        words.tables = names.zip(entry.table_names.iter().map(String::as_str)).collect();
        for ((table, name), text) in entry.column_names_original.iter().zip(&entry.column_names) {
            let Some(table) = table.and_then(|at| entry.table_names_original.get(at)) else { continue };
            words.columns.insert((table.to_ascii_lowercase(), name.to_ascii_lowercase()), text);
        }
        words
    }

    fn table(&self, table: &Table) -> String {
        let text = self.tables.get(&table.name.to_ascii_lowercase());
        text.map_or_else(|| in_words(&table.name), |&text| text.to_owned())
    }

    fn column(&self, table: &Table, column: &Column) -> String {
        let text = self.columns.get(&(table.name.to_ascii_lowercase(), column.name.to_ascii_lowercase()));
        text.map_or_else(|| in_words(&column.name), |&text| text.to_owned())
    }
}

/// The entry of a schema. Columns are numbered over all tables, from 1; 0 is `*`. What kept its name is said in the words that the
/// entry of the original has for it.
pub(crate) fn entry(db_id: &str, schema: &Schema, original: Option<&TablesEntry>) -> Value {
    let texts = Words::of(original);
    let tables: Vec<_> = schema.tables().iter().filter(|table| table.kind == TableKind::Table).collect();
    let mut columns = vec![json!([-1, "*"])];
    let mut words = vec![json!([-1, "*"])];
    let mut types = vec![json!("text")];
    let mut starts = Vec::new();
    for (at, table) in tables.iter().enumerate() {
        starts.push(columns.len());
        for column in &table.columns {
            columns.push(json!([at, column.name]));
            words.push(json!([at, texts.column(table, column)]));
            types.push(json!(type_name(column)));
        }
    }
    let places: HashMap<&str, usize> =
        tables.iter().enumerate().map(|(place, table)| (table.name.as_str(), place)).collect();
    let mut primary = Vec::new();
    let mut foreign = Vec::new();
    for (at, table) in tables.iter().enumerate() {
        let number = |column: &u32| starts[at] + *column as usize;
        match table.primary_key.as_slice() {
            [] => {}
            [only] => primary.push(json!(number(only))),
            several => primary.push(json!(several.iter().map(number).collect::<Vec<_>>())),
        }
        for key in &table.foreign_keys {
            let Some((id, targets)) = schema.resolve_foreign_key(key) else { continue };
            let Some(&place) = schema.table(id).and_then(|table| places.get(table.name.as_str())) else {
                continue;
            };
            let pairs = key.columns.iter().zip(targets);
            foreign.extend(
                pairs.map(|(column, target)| json!([number(column), starts[place] + target as usize])),
            );
        }
    }
    let names: Vec<&str> = tables.iter().map(|table| table.name.as_str()).collect();
    let plain: Vec<String> = tables.iter().map(|table| texts.table(table)).collect();
    json!({
        "db_id": db_id,
        "table_names_original": names,
        "table_names": plain,
        "column_names_original": columns,
        "column_names": words,
        "column_types": types,
        "primary_keys": primary,
        "foreign_keys": foreign,
    })
}

fn in_words(name: &str) -> String {
    name.replace('_', " ").to_lowercase()
}

/// Spider's five types.
fn type_name(column: &Column) -> &'static str {
    let declared = column.declared_type.as_deref().unwrap_or_default().to_ascii_lowercase();
    if declared.contains("date") || declared.contains("time") {
        return "time";
    }
    if declared.starts_with("bool") {
        return "boolean";
    }
    match column.affinity {
        Affinity::Text => "text",
        Affinity::Integer | Affinity::Real | Affinity::Numeric => "number",
        Affinity::Blob => "others",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_numbered_over_all_tables() {
        let schema = Schema::from_ddl(
            "CREATE TABLE a (id INTEGER PRIMARY KEY, born DATE); CREATE TABLE b_c (x INT REFERENCES a, y REAL, PRIMARY KEY (x, y));",
        )
        .unwrap();
        let entry = entry("d", &schema, None);
        assert_eq!(entry["column_names_original"][3], json!([1, "x"]));
        assert_eq!(entry["table_names"], json!(["a", "b c"]));
        assert_eq!(entry["column_types"], json!(["text", "number", "time", "number", "number"]));
        assert_eq!((&entry["primary_keys"], &entry["foreign_keys"]), (&json!([1, [3, 4]]), &json!([[3, 1]])));
    }

    #[test]
    fn the_original_entry_gives_words_and_keys() {
        let text = r#"[{"db_id": "d", "table_names_original": ["A", "b"], "table_names": ["the a", "the b"],
            "column_names_original": [[-1, "*"], [0, "id"], [0, "name"], [1, "a_id"], [1, "gone"]],
            "column_names": [[-1, "*"], [0, "number"], [0, "name of a"], [1, "its a"], [1, "gone"]],
            "column_types": ["text", "number", "text", "number", "text"], "primary_keys": [1], "foreign_keys": [[3, 1], [3, 2], [4, 1]]}]"#;
        let input = sqlgauge_dataset::Input::from_bytes("tables.json", text.as_bytes().to_vec());
        let tables = sqlgauge_dataset::parse_tables(&input).unwrap();
        let original = tables.get("d");
        let schema = Schema::from_ddl(
            "CREATE TABLE a (id INTEGER PRIMARY KEY, title TEXT); CREATE TABLE b (a_id INT);",
        )
        .unwrap();
        let with = with_keys(&schema, original.unwrap());
        let keys: Vec<String> = with
            .tables()
            .iter()
            .flat_map(|table| table.foreign_keys.iter().map(|key| key.describe(table)))
            .collect();
        assert_eq!(keys, ["b(a_id) REFERENCES a(id)"]);
        let entry = entry("d", &with, original);
        assert_eq!(entry["table_names"], json!(["the a", "the b"]));
        assert_eq!(entry["column_names"], json!([[-1, "*"], [0, "number"], [0, "title"], [1, "its a"]]));
    }
}
