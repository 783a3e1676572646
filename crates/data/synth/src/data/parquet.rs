//! Parquet: a column for each field, lists in the standard form of three levels, so that `pyarrow`, pandas and Hugging Face's
//! `datasets` read it as they read their own.
//!
//! # Contract
//! A record has exactly the columns of the file; another one is an error, and nothing is left out in silence. Rows of one
//! group are in memory, no more.

use std::io;
use std::path::Path;
use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, Type as PhysicalType};
use parquet::data_type::{ByteArray, ByteArrayType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::{Type, TypePtr};
use serde_json::{Map, Value};
use sqlgauge_base::file::AtomicFile;

use super::{FieldColumn, FieldKind, RecordFile};

const GROUP_ROWS: usize = 4096;

type Record = Map<String, Value>;

/// A table that is being written.
pub(super) struct Table {
    writer: SerializedFileWriter<AtomicFile>,
    columns: &'static [FieldColumn],
    rows: Vec<Record>,
}

impl Table {
    pub(super) fn create(path: &Path, columns: &'static [FieldColumn]) -> io::Result<Self> {
        let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
        let file = AtomicFile::create(path)?;
        let writer = schema(columns)
            .and_then(|schema| SerializedFileWriter::new(file, schema, Arc::new(properties)))
            .map_err(plain)?;
        Ok(Self { writer, columns, rows: Vec::new() })
    }

    fn write_group(&mut self) -> Result<(), ParquetError> {
        let rows = std::mem::take(&mut self.rows);
        if rows.is_empty() {
            return Ok(());
        }
        let mut group = self.writer.next_row_group()?;
        for column in self.columns {
            let Some(mut writer) = group.next_column()? else { break };
            write_column(&mut writer, *column, &rows)?;
            writer.close()?;
        }
        group.close()?;
        Ok(())
    }
}

impl RecordFile for Table {
    fn push(&mut self, record: &[u8]) -> io::Result<()> {
        let record: Record = serde_json::from_slice(record)?;
        if record.len() != self.columns.len() {
            let unknown = record.keys().find(|key| self.columns.iter().all(|column| column.name != *key));
            let problem = match unknown {
                Some(name) => format!("the field {name:?} has no column"),
                None => format!("{} fields for {} columns", record.len(), self.columns.len()),
            };
            return Err(io::Error::new(io::ErrorKind::InvalidData, problem));
        }
        self.rows.push(record);
        if self.rows.len() == GROUP_ROWS { self.write_group().map_err(plain) } else { Ok(()) }
    }

    fn commit(mut self: Box<Self>) -> io::Result<()> {
        self.write_group().map_err(plain)?;
        self.writer.into_inner().map_err(plain)?.commit()
    }
}

/// What the file said, where that was the problem: it has the remedy.
fn plain(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(source) => match source.downcast::<io::Error>() {
            Ok(source) => *source,
            Err(source) => io::Error::other(source),
        },
        other => io::Error::other(other),
    }
}

fn write_column(
    writer: &mut SerializedColumnWriter<'_>,
    column: FieldColumn,
    rows: &[Record],
) -> Result<(), ParquetError> {
    let field = |row: &'_ Record| row.get(column.name).cloned().unwrap_or(Value::Null);
    let wrong =
        |value: &Value| ParquetError::General(format!("{}: {value} is no {:?}", column.name, column.kind));
    match column.kind {
        FieldKind::Integer => {
            let number = |row| {
                let value = field(row);
                value.as_i64().ok_or_else(|| wrong(&value))
            };
            let values = rows.iter().map(number).collect::<Result<Vec<_>, _>>()?;
            writer.typed::<Int64Type>().write_batch(&values, None, None)?;
        }
        FieldKind::Text => {
            let mut texts = Texts::default();
            for row in rows {
                texts.push(&field(row), 1, 0).map_err(|value| wrong(&value))?;
            }
            writer.typed::<ByteArrayType>().write_batch(&texts.values, Some(&texts.definition), None)?;
        }
        FieldKind::Json => {
            let values: Vec<ByteArray> =
                rows.iter().map(|row| field(row).to_string().as_str().into()).collect();
            writer.typed::<ByteArrayType>().write_batch(&values, Some(&vec![1; values.len()]), None)?;
        }
        FieldKind::Texts => {
            let mut texts = Texts::default();
            for row in rows {
                texts.push_list(&field(row)).map_err(|value| wrong(&value))?;
            }
            let Texts { values, definition, repetition } = texts;
            writer.typed::<ByteArrayType>().write_batch(&values, Some(&definition), Some(&repetition))?;
        }
    }
    Ok(())
}

/// Texts with the levels that tell null, empty and list apart.
#[derive(Default)]
struct Texts {
    values: Vec<ByteArray>,
    definition: Vec<i16>,
    repetition: Vec<i16>,
}

impl Texts {
    /// A text or null, where a text that is there has that definition level.
    fn push(&mut self, value: &Value, there: i16, repetition: i16) -> Result<(), Value> {
        self.repetition.push(repetition);
        match value {
            Value::Null => self.definition.push(there - 1),
            Value::String(text) => {
                self.definition.push(there);
                self.values.push(text.as_str().into());
            }
            other => return Err(other.clone()),
        }
        Ok(())
    }

    fn push_list(&mut self, value: &Value) -> Result<(), Value> {
        let Value::Array(texts) = value else { return Err(value.clone()) };
        if texts.is_empty() {
            self.definition.push(0);
            self.repetition.push(0);
        }
        (0_usize..).zip(texts).try_for_each(|(at, text)| self.push(text, 2, i16::from(at > 0)))
    }
}

fn schema(columns: &[FieldColumn]) -> Result<TypePtr, ParquetError> {
    let fields = columns.iter().map(|column| field(*column)).collect::<Result<Vec<_>, _>>()?;
    Ok(Arc::new(Type::group_type_builder("record").with_fields(fields).build()?))
}

fn field(column: FieldColumn) -> Result<TypePtr, ParquetError> {
    let text = |name: &str| {
        let text = Type::primitive_type_builder(name, PhysicalType::BYTE_ARRAY)
            .with_repetition(Repetition::OPTIONAL)
            .with_logical_type(Some(LogicalType::String));
        text.build().map(Arc::new)
    };
    match column.kind {
        FieldKind::Text | FieldKind::Json => text(column.name),
        FieldKind::Integer => {
            let number = Type::primitive_type_builder(column.name, PhysicalType::INT64)
                .with_repetition(Repetition::REQUIRED);
            number.build().map(Arc::new)
        }
        FieldKind::Texts => {
            let list = Type::group_type_builder("list")
                .with_repetition(Repetition::REPEATED)
                .with_fields(vec![text("element")?])
                .build()?;
            let outer = Type::group_type_builder(column.name)
                .with_repetition(Repetition::REQUIRED)
                .with_logical_type(Some(LogicalType::List))
                .with_fields(vec![Arc::new(list)]);
            outer.build().map(Arc::new)
        }
    }
}
