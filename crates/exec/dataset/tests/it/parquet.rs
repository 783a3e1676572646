//! Parquet files, written here with the same crate's low-level writer.

use std::sync::Arc;

use parquet::basic::{Compression, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use sqlgauge_dataset::{Columns, Input, PredictionOptions, parse_benchmark, parse_predictions};

const SCHEMA: &str = "message items {
    required int64 question_id;
    required binary db_id (UTF8);
    optional binary sql;
    optional double confidence;
}";

fn write_texts(
    group: &mut SerializedRowGroupWriter<'_, &mut Vec<u8>>,
    values: &[&str],
    levels: Option<&[i16]>,
) {
    let values: Vec<ByteArray> = values.iter().map(|v| ByteArray::from(*v)).collect();
    let mut column = group.next_column().unwrap().unwrap();
    column.typed::<ByteArrayType>().write_batch(&values, levels, None).unwrap();
    column.close().unwrap();
}

fn file(compression: Compression) -> Vec<u8> {
    let mut bytes = Vec::new();
    let schema = Arc::new(parse_message_type(SCHEMA).unwrap());
    let properties = WriterProperties::builder().set_compression(compression).build();
    let mut writer = SerializedFileWriter::new(&mut bytes, schema, Arc::new(properties)).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    column.typed::<Int64Type>().write_batch(&[4, 5, 6], None, None).unwrap();
    column.close().unwrap();
    write_texts(&mut group, &["a", "b", "a"], None);
    write_texts(&mut group, &["SELECT 'é'", "SELECT 2"], Some(&[1, 0, 1]));
    let mut column = group.next_column().unwrap().unwrap();
    column.typed::<DoubleType>().write_batch(&[0.5], Some(&[0, 0, 1]), None).unwrap();
    column.close().unwrap();
    group.close().unwrap();
    writer.close().unwrap();
    bytes
}

fn compressions() -> [Compression; 3] {
    [Compression::UNCOMPRESSED, Compression::SNAPPY, Compression::ZSTD(ZstdLevel::default())]
}

#[test]
fn a_parquet_table_is_read_as_its_columns_say() {
    let gold = "4\ta\n5\tb\n6\ta".lines().map(|l| l.split_once('\t').unwrap());
    let gold: Vec<_> =
        gold.map(|(id, db)| serde_json::json!({"question_id": id.parse::<i64>().unwrap(), "db_id": db, "SQL": "G"})).collect();
    let gold = Input::from_bytes("gold.json", serde_json::to_vec(&gold).unwrap());
    let benchmark = parse_benchmark(&gold, None, None, &Columns::default()).unwrap();
    for compression in compressions() {
        let file = Input::from_bytes("p", file(compression));
        let set = parse_predictions("S", file, &benchmark, &PredictionOptions::default()).unwrap();
        let sql: Vec<_> = set.predictions.iter().map(|p| p.as_ref().map(|p| p.sql.as_str())).collect();
        assert_eq!(sql, [Some("SELECT 'é'"), None, Some("SELECT 2")], "{compression:?}");
        assert_eq!(set.predictions[2].as_ref().and_then(|p| p.confidence), Some(0.5));
        assert_eq!(set.notes, ["1 of 3 examples has no prediction: 5"]);
    }

    let gold = Input::from_bytes("g.parquet", file(Compression::SNAPPY));
    let message = parse_benchmark(&gold, None, None, &Columns::default()).unwrap_err();
    assert!(message.to_string().contains("entry 1 (counted from 0): no gold query"), "{message}");
}

#[test]
fn a_damaged_parquet_file_is_an_error() {
    let read = |bytes: Vec<u8>| {
        parse_benchmark(&Input::from_bytes("g.parquet", bytes), None, None, &Columns::default())
    };
    for whole in compressions().map(file) {
        for cut in 0..whole.len() {
            assert!(read(whole[..cut].to_vec()).is_err(), "{cut}");
        }
        for position in 0..whole.len() {
            for flip in [0x01, 0x80, 0xFF] {
                let mut bytes = whole.clone();
                bytes[position] ^= flip;
                // Reading it may succeed; it must only come back.
                let _ = read(bytes);
            }
        }
    }
}
