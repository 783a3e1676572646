//! A corpus as Parquet tables: the rows of the JSONL, in its order, and the same bytes whatever the threads.

use std::fs::File;
use std::path::Path;

use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use serde_json::{Map, Value};
use sqlgauge_dialects::DIALECTS;
use sqlgauge_engine::{Limits, SqliteEngine};
use sqlgauge_questions::QuestionStyle;
use sqlgauge_synth::data::{FieldColumn, FieldKind};
use sqlgauge_synth::{Asking, DataFormat, Related, Shares, SynthOptions, SynthPair, sources, synthesize};

const SHOP: &str = "
    CREATE TABLE customer (customer_id INTEGER PRIMARY KEY, name TEXT, city TEXT, age INTEGER);
    CREATE TABLE sale (sale_id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customer(customer_id), price INTEGER, tax INTEGER, city TEXT);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20)
    INSERT INTO customer SELECT i, 'Customer ' || char(64 + i), CASE i % 3 WHEN 0 THEN 'Ulm' WHEN 1 THEN 'Lyon' END, 20 + i FROM n;
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50)
    INSERT INTO sale SELECT i, 1 + i % 20, i * 37 % 90, i % 7, CASE i % 3 WHEN 0 THEN 'Bonn' ELSE 'Lyon' END FROM n;
";

fn corpus(folder: &Path, out: &str, data: Vec<DataFormat>, threads: usize) {
    let options = SynthOptions {
        pairs: 200,
        seed: 5,
        asking: Asking { styles: QuestionStyle::all().collect(), distractors: 0.3, again: 0.0 },
        dialects: DIALECTS.iter().copied().take(2).collect(),
        beside: Shares { variants: 0.2, near_misses: 0.1 },
        data,
        pairs_per_file: 80,
        tool_version: "test".to_owned(),
        ..SynthOptions::default()
    };
    let engine = SqliteEngine::new(Limits { max_vm_steps: 1_000_000, max_rows: 20_000, ..Limits::default() });
    let sources = sources(&[folder.join("shop.sqlite")]).unwrap();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| synthesize(&sources, &engine, &options, folder.join(out), &|_, _| {})).unwrap();
}

fn value(field: &Field) -> Value {
    match field {
        Field::Null => Value::Null,
        Field::Long(number) => (*number).into(),
        Field::Str(text) => text.as_str().into(),
        Field::ListInternal(list) => list.elements().iter().map(value).collect(),
        other => panic!("{other:?} is no value of a record"),
    }
}

fn table(path: &Path) -> Vec<Map<String, Value>> {
    let reader = SerializedFileReader::new(File::open(path).unwrap()).unwrap();
    let record = |row: parquet::record::Row| {
        row.get_column_iter().map(|(name, field)| (name.clone(), value(field))).collect()
    };
    reader.get_row_iter(None).unwrap().map(|row| record(row.unwrap())).collect()
}

fn lines(path: &Path) -> Vec<Map<String, Value>> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The rows as a table has them: what is no text, list of texts or number is the text of its JSON.
fn of_table(rows: &[Map<String, Value>], columns: &[FieldColumn]) -> Vec<Map<String, Value>> {
    let mut rows = rows.to_vec();
    for column in columns.iter().filter(|column| column.kind == FieldKind::Json) {
        for row in &mut rows {
            let value = row.get(column.name).unwrap().to_string();
            row.insert(column.name.to_owned(), Value::String(value));
        }
    }
    rows
}

#[test]
fn tables_hold_the_rows_of_the_lines() {
    let folder = tempfile::tempdir().unwrap();
    rusqlite::Connection::open(folder.path().join("shop.sqlite")).unwrap().execute_batch(SHOP).unwrap();
    corpus(folder.path(), "both", DataFormat::ALL.to_vec(), 2);
    corpus(folder.path(), "tables", vec![DataFormat::Parquet], 1);
    let data = folder.path().join("both/data");
    let (mut pairs, mut ambiguous, mut related) = (0, 0, 0);
    for entry in std::fs::read_dir(&data).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().unwrap() != "jsonl" {
            continue;
        }
        let name = path.file_stem().unwrap().to_str().unwrap();
        let rows = lines(&path);
        let columns = if name.starts_with("train") { SynthPair::COLUMNS } else { Related::COLUMNS };
        assert_eq!(table(&path.with_extension("parquet")), of_table(&rows, columns), "{name}");
        let names: Vec<&str> = columns.iter().map(|column| column.name).collect();
        assert!(rows.iter().all(|row| row.keys().map(String::as_str).eq(names.iter().copied())), "{names:?}");
        if name.starts_with("train") {
            pairs += rows.len();
            ambiguous += rows.iter().filter(|row| row["other_readings"] != Value::Array(Vec::new())).count();
        } else {
            related += rows.len();
        }
        let alone = folder.path().join(format!("tables/data/{name}.parquet"));
        assert!(std::fs::read(alone).unwrap() == std::fs::read(path.with_extension("parquet")).unwrap());
    }
    assert_eq!(pairs, 200);
    assert!(ambiguous > 0 && related > 0, "{ambiguous} ambiguous, {related} beside");
    assert!(!folder.path().join("tables/data/train-00000-of-00003.jsonl").exists());
}
