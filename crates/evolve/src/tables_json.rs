//! An entry of Spider's `tables.json`.

use serde_json::{Value, json};
use sqlgauge_sql::schema::{Affinity, Column, Schema, TableKind};

/// The entry of a schema. Columns are numbered over all tables, from 1; 0 is `*`.
pub(crate) fn entry(db_id: &str, schema: &Schema) -> Value {
    let tables: Vec<_> = schema.tables().iter().filter(|table| table.kind == TableKind::Table).collect();
    let mut columns = vec![json!([-1, "*"])];
    let mut words = vec![json!([-1, "*"])];
    let mut types = vec![json!("text")];
    let mut starts = Vec::new();
    for (at, table) in tables.iter().enumerate() {
        starts.push(columns.len());
        for column in &table.columns {
            columns.push(json!([at, column.name]));
            words.push(json!([at, in_words(&column.name)]));
            types.push(json!(type_name(column)));
        }
    }
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
            let name = schema.table(id).map(|table| table.name.as_str());
            let Some(place) = tables.iter().position(|table| Some(table.name.as_str()) == name) else {
                continue;
            };
            let pairs = key.columns.iter().zip(targets);
            foreign.extend(pairs.map(|(own, target)| json!([number(own), starts[place] + target as usize])));
        }
    }
    let names: Vec<&str> = tables.iter().map(|table| table.name.as_str()).collect();
    let plain: Vec<String> = names.iter().map(|name| in_words(name)).collect();
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
        let entry = entry("d", &schema);
        assert_eq!(entry["column_names_original"][3], json!([1, "x"]));
        assert_eq!(entry["table_names"], json!(["a", "b c"]));
        assert_eq!(entry["column_types"], json!(["text", "number", "time", "number", "number"]));
        assert_eq!((&entry["primary_keys"], &entry["foreign_keys"]), (&json!([1, [3, 4]]), &json!([[3, 1]])));
    }
}
