//! The encoding against values that another program computed: `values.py`, by Python's calendar and texts. What the encoding
//! asks of SQLite it asks of the SQLite that the law compares with; here both may be wrong.

use std::collections::BTreeMap;

use sqlgauge_engine::Value;
use sqlgauge_prove::{OnDatabase, rows_on};
use sqlgauge_sql::resolve;
use sqlgauge_sql::schema::Schema;

/// The value that a line of the table has, and whether a value is that one: reals up to a second of a day.
fn is_written(value: &Value, written: &str) -> bool {
    match value {
        Value::Null => written == "null",
        Value::Integer(integer) => written == integer.to_string(),
        Value::Real(real) => written.parse::<f64>().is_ok_and(|other| (real - other).abs() < 1e-5),
        Value::Text(_) => written == format!("'{}'", value.as_str().unwrap()),
        Value::Decimal(_) | Value::Blob(_) => false,
    }
}

#[test]
fn functions_of_dates_and_texts_are_those_of_another_program() {
    let schema = Schema::from_ddl("CREATE TABLE t (v TEXT)").unwrap();
    let (mut compared, mut open, mut wrong) = (0, Vec::new(), Vec::new());
    for line in include_str!("../../values.tsv").lines() {
        let line = line.replace("\\t", "\u{1}");
        let cells: Vec<String> = line.split('\t').map(|cell| cell.replace('\u{1}', "\t")).collect();
        let [expression, text, expected] = cells.as_slice() else { panic!("{line}") };
        let query = resolve(&format!("SELECT {expression} FROM t"), &schema).unwrap();
        let table = schema.ids().next().unwrap();
        let database = BTreeMap::from([(table, vec![vec![Value::text(text)]])]);
        match rows_on(&schema, &query, &database) {
            OnDatabase::Rows(rows) if is_written(&rows[0][0], expected) => compared += 1,
            OnDatabase::Rows(rows) => {
                wrong.push(format!("{expression} of {text:?}: {:?}, not {expected}", rows[0][0]));
            }
            other => open.push(format!("{expression} of {text:?}: {other:?}")),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    println!("{compared} compared, {} left open", open.len());
    assert!(open.len() * 20 < compared, "too many are left open:\n{}", open.join("\n"));
}
