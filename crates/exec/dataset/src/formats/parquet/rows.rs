//! The rows of a Parquet file.

use std::panic::{AssertUnwindSafe, catch_unwind};

use ::parquet::errors::ParquetError;
use ::parquet::file::reader::{FileReader, SerializedFileReader};
use ::parquet::record::Field;
use bytes::Bytes;
use serde_json::{Map, Number, Value};

use super::super::{Part, Place, Row, Take};
use crate::error::DatasetError;
use crate::input::Input;

pub(super) fn read(input: &Input, take: Take<'_>) -> Result<(), DatasetError> {
    // The reader indexes by lengths that the file states; a damaged file must be an error, not the end of
    // the process. Nothing outside is changed, so nothing can be left half-done.
    match catch_unwind(AssertUnwindSafe(|| read_rows(input, take))) {
        Ok(rows) => rows,
        Err(_) => Err(damaged(input, "its lengths contradict each other")),
    }
}

fn read_rows(input: &Input, take: Take<'_>) -> Result<(), DatasetError> {
    let explain = |e: ParquetError| damaged(input, &e.to_string());
    let reader = SerializedFileReader::new(Bytes::copy_from_slice(input.bytes())).map_err(explain)?;
    let mut size = 0;
    for (index, row) in reader.get_row_iter(None).map_err(explain)?.enumerate() {
        let row = row.map_err(explain)?;
        let fields: Map<String, Value> =
            row.get_column_iter().map(|(name, field)| (name.clone(), to_json(field))).collect();
        size += fields.values().map(approximate_size).sum::<u64>();
        if size > Input::MAX_BYTES {
            return Err(DatasetError::TooLarge { path: input.path().to_owned(), limit: Input::MAX_BYTES });
        }
        take(Part::Row(Row { place: Place::Entry(index), value: Value::Object(fields) }))?;
    }
    Ok(())
}

fn damaged(input: &Input, problem: &str) -> DatasetError {
    input.not_readable(
        format!("cannot be read as Parquet: {problem}"),
        "write it again with Snappy or without compression, or as JSONL",
    )
}

fn to_json(field: &Field) -> Value {
    match field {
        Field::Null => Value::Null,
        Field::Bool(value) => (*value).into(),
        Field::Byte(value) => (*value).into(),
        Field::Short(value) => (*value).into(),
        Field::Int(value) => (*value).into(),
        Field::Long(value) => (*value).into(),
        Field::UByte(value) => (*value).into(),
        Field::UShort(value) => (*value).into(),
        Field::UInt(value) => (*value).into(),
        Field::ULong(value) => (*value).into(),
        Field::Float(value) => Number::from_f64(f64::from(*value)).map_or(Value::Null, Value::Number),
        Field::Double(value) => Number::from_f64(*value).map_or(Value::Null, Value::Number),
        Field::Str(text) => text.as_str().into(),
        // Writers that leave out the logical type store text as plain bytes.
        Field::Bytes(bytes) => String::from_utf8_lossy(bytes.data()).into(),
        Field::ListInternal(list) => list.elements().iter().map(to_json).collect(),
        Field::Group(row) => {
            Value::Object(row.get_column_iter().map(|(name, field)| (name.clone(), to_json(field))).collect())
        }
        other => other.to_string().into(),
    }
}

/// Bytes of memory that a value takes, near enough for a guard.
fn approximate_size(value: &Value) -> u64 {
    let base = size_of::<Value>() as u64;
    base + match value {
        Value::String(text) => text.len() as u64,
        Value::Array(items) => items.iter().map(approximate_size).sum(),
        Value::Object(fields) => fields.iter().map(|(k, v)| k.len() as u64 + approximate_size(v)).sum(),
        _ => 0,
    }
}
