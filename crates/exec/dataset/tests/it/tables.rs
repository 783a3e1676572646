//! `tables.json`: the catalog that it gives, and the entries that it may not have.

use serde_json::{Value, json};
use sqlgauge_dataset::{DatasetError, Input, Tables, parse_tables};
use sqlgauge_sql::schema::{Affinity, ForeignKey};

fn entry() -> Value {
    json!({
        "db_id": "pets",
        "table_names_original": ["Student", "Has_Pet"],
        "table_names": ["student", "has pet"],
        "column_names_original": [[-1, "*"], [0, "StuID"], [0, "Name"], [1, "StuID"], [1, "PetID"], [1, "Since"]],
        "column_names": [[-1, "*"], [0, "student id"], [0, "name"], [1, "student id"], [1, "pet id"], [1, "since"]],
        "column_types": ["text", "number", "text", "integer", "others", "time"],
        "primary_keys": [1, [3, 4]],
        "foreign_keys": [[3, 1]]
    })
}

fn read(value: &Value) -> Result<Tables, DatasetError> {
    parse_tables(&Input::from_bytes("tables.json", value.to_string().into_bytes()))
}

#[test]
fn an_entry_becomes_a_schema() {
    let tables = read(&json!([entry()])).unwrap();
    let entry = tables.get("pets").unwrap();
    assert_eq!(entry.foreign_keys, [(3, 1)]);
    assert_eq!(entry.column_names_original[4], (Some(1), "PetID".to_owned()));
    let schema = entry.schema();
    let [student, has_pet] = schema.tables() else { panic!("two tables") };
    let columns: Vec<_> = has_pet
        .columns
        .iter()
        .map(|c| (c.name.as_str(), c.declared_type.as_deref(), c.affinity, c.not_null))
        .collect();
    assert_eq!(
        columns,
        [
            ("StuID", Some("INTEGER"), Affinity::Integer, false),
            ("PetID", None, Affinity::Blob, false),
            ("Since", Some("DATETIME"), Affinity::Numeric, false),
        ]
    );
    assert_eq!(student.columns[0].declared_type.as_deref(), Some("NUMERIC"));
    assert_eq!(
        (student.primary_key.as_slice(), has_pet.primary_key.as_slice()),
        ([0].as_slice(), [0, 1].as_slice())
    );
    let key = ForeignKey {
        columns: vec![0],
        referenced_table: "Student".into(),
        referenced_columns: vec!["StuID".into()],
        ..ForeignKey::default()
    };
    assert_eq!(has_pet.foreign_keys, [key]);
}

#[test]
fn only_the_original_names_are_needed() {
    let mut bare = entry();
    for field in ["table_names", "column_names", "column_types", "primary_keys", "foreign_keys"] {
        bare.as_object_mut().unwrap().remove(field);
    }
    let tables = read(&json!([bare])).unwrap();
    let entry = &tables.entries()[0];
    assert_eq!(entry.table_names, entry.table_names_original);
    assert_eq!(entry.column_names[2], "Name");
    assert!(entry.schema().tables()[0].columns[0].declared_type.is_none());
}

#[test]
fn a_malformed_entry_is_named_with_its_database() {
    for (field, value, part) in [
        ("db_id", json!(3), "entry 0 (counted from 0): no db_id"),
        ("table_names_original", json!(null), "database \"pets\", table_names_original: it is missing"),
        (
            "table_names_original",
            json!(["a", 2]),
            "table_names_original entry 1: a number where a text should be",
        ),
        ("table_names", json!(["a"]), "table_names: 1 entries where 2 should be"),
        (
            "column_names_original",
            json!([[2, "x"]]),
            "column_names_original entry 0: unknown table 2, not one of 0 to 1",
        ),
        ("column_names_original", json!([[-2, "x"]]), "unknown table -2"),
        ("column_names_original", json!([["0", "x"]]), "its table is a text"),
        ("column_names_original", json!([[0]]), "it is no pair"),
        ("column_names", json!([]), "column_names: 0 entries where 6 should be"),
        ("column_types", json!(["text"]), "column_types: 1 entries where 6 should be"),
        (
            "primary_keys",
            json!([6]),
            "database \"pets\", primary_keys entry 0: there is no column 6, only 0 to 5",
        ),
        ("primary_keys", json!([1, [0]]), "primary_keys entry 1: 0 stands for all columns"),
        ("primary_keys", json!([1.5]), "there is no column 1.5"),
        ("foreign_keys", json!([[3, 1], [3, -1]]), "foreign_keys entry 1: there is no column -1"),
        ("foreign_keys", json!([[3]]), "foreign_keys entry 0: it is no pair"),
        ("foreign_keys", json!({"3": 1}), "foreign_keys: an object where a list should be"),
    ] {
        let mut bad = entry();
        bad[field] = value;
        let message = read(&json!([bad])).unwrap_err().to_string();
        assert!(message.contains(part) && message.starts_with("tables.json, "), "{field}: {message}");
    }
    let twice = read(&json!([entry(), entry()])).unwrap_err().to_string();
    assert!(twice.contains("the id \"pets\" occurs twice"), "{twice}");
    assert!(read(&json!({})).is_err());
    assert!(read(&json!([[]])).is_err());
}
