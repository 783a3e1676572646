//! Results in Parquet files, uncompressed, Snappy or zstd.

use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};

use ::parquet::errors::ParquetError;
use ::parquet::file::reader::{FileReader, SerializedFileReader};
use ::parquet::record::Field;

use crate::error::Unreadable;
use crate::json::table_of;
use crate::table::{CELL_COST, MAX_COST, ResultFile, Value};

/// Reads a file.
pub(crate) fn read(file: File) -> Result<ResultFile, Unreadable> {
    // The reader indexes by lengths that the file states; a damaged file must be an outcome, not the end of the process.
    // Nothing outside is changed, so nothing can be left half-done.
    let read = catch_unwind(AssertUnwindSafe(|| rows(file)));
    read.unwrap_or_else(|_| Err(Unreadable::Malformed(damaged("its lengths contradict each other"))))
}

fn damaged(problem: &str) -> String {
    format!("cannot be read as Parquet: {problem}; write it again with Snappy or without compression")
}

fn rows(file: File) -> Result<ResultFile, Unreadable> {
    let explain = |error: ParquetError| Unreadable::Malformed(damaged(&error.to_string()));
    let reader = SerializedFileReader::new(file).map_err(explain)?;
    let schema = reader.metadata().file_metadata().schema();
    let names: Vec<String> = schema.get_fields().iter().map(|field| field.name().to_owned()).collect();
    if names.is_empty() {
        return Err(Unreadable::Empty);
    }
    let mut rows = Vec::new();
    let mut cost = 0;
    for row in reader.get_row_iter(None).map_err(explain)? {
        let row: Vec<Value<'static>> =
            row.map_err(explain)?.get_column_iter().map(|(_, field)| value(field)).collect();
        cost += row.iter().map(cost_of).sum::<usize>();
        if cost > MAX_COST {
            return Err(Unreadable::TooLarge { limit: MAX_COST });
        }
        rows.push(row);
    }
    table_of(names, rows)
}

fn cost_of(value: &Value<'_>) -> usize {
    let text = if let Value::Text(text) = value { text.len() } else { 0 };
    CELL_COST + size_of::<Value<'_>>() + text
}

fn value(field: &Field) -> Value<'static> {
    let real = |value: f64| if value.is_nan() { Value::Null } else { Value::Float(value) };
    match field {
        Field::Null => Value::Null,
        Field::Bool(value) => Value::Bool(*value),
        Field::Byte(value) => Value::Int((*value).into()),
        Field::Short(value) => Value::Int((*value).into()),
        Field::Int(value) => Value::Int((*value).into()),
        Field::Long(value) => Value::Int((*value).into()),
        Field::UByte(value) => Value::Int((*value).into()),
        Field::UShort(value) => Value::Int((*value).into()),
        Field::UInt(value) => Value::Int((*value).into()),
        Field::ULong(value) => Value::Int((*value).into()),
        Field::Float(value) => real(f64::from(*value)),
        Field::Double(value) => real(*value),
        Field::Str(text) => Value::Text(text.clone().into()),
        // Writers that leave out the logical type store text as plain bytes.
        Field::Bytes(bytes) => Value::Text(String::from_utf8_lossy(bytes.data()).into_owned().into()),
        Field::Decimal(_) => {
            field.to_string().parse().map_or_else(|_| Value::Text(field.to_string().into()), real)
        }
        other => Value::Text(other.to_string().into()),
    }
}
