//! The examples as a Parquet table.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, Type as PhysicalType};
use parquet::data_type::{ByteArray, ByteArrayType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::Type;
use sqlgauge_base::file::AtomicFile;

use super::example::ChatExample;

const GROUP_ROWS: usize = 16 * 1024;
/// The columns of text, in order; `source_index` comes after them.
const TEXTS: [&str; 6] = ["system", "user", "assistant", "question", "db_id", "kind"];

/// A table could not be written.
#[derive(Debug, thiserror::Error)]
#[error("{} cannot be written: {source}", path.display())]
pub struct TableError {
    path: PathBuf,
    source: ParquetError,
}

/// Writes a table with the columns `system`, `user`, `assistant`, `question`, `db_id`, `kind` and `source_index`, whole or not at all.
///
/// # Errors
/// When the file cannot be written.
pub fn write_parquet(path: &Path, examples: &[ChatExample]) -> Result<(), TableError> {
    write(path, examples).map_err(|source| TableError { path: path.to_owned(), source })
}

fn write(path: &Path, examples: &[ChatExample]) -> Result<(), ParquetError> {
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
    let mut writer = SerializedFileWriter::new(AtomicFile::create(path)?, schema()?, Arc::new(properties))?;
    for rows in examples.chunks(GROUP_ROWS) {
        let mut group = writer.next_row_group()?;
        for column in 0..TEXTS.len() {
            let values: Vec<ByteArray> = rows.iter().map(|example| text(example, column)).collect();
            texts(&mut group, &values)?;
        }
        let places: Vec<i64> =
            rows.iter().map(|example| i64::try_from(example.source_index).unwrap_or(i64::MAX)).collect();
        if let Some(mut column) = group.next_column()? {
            column.typed::<Int64Type>().write_batch(&places, None, None)?;
            column.close()?;
        }
        group.close()?;
    }
    let file = writer.into_inner()?;
    Ok(file.commit()?)
}

fn text(example: &ChatExample, column: usize) -> ByteArray {
    let text = match column {
        0..=2 => &example.messages[column].content,
        3 => &example.question,
        4 => &example.db_id,
        _ => &example.kind,
    };
    text.as_str().into()
}

fn texts(
    group: &mut SerializedRowGroupWriter<'_, AtomicFile>,
    values: &[ByteArray],
) -> Result<(), ParquetError> {
    if let Some(mut column) = group.next_column()? {
        column.typed::<ByteArrayType>().write_batch(values, None, None)?;
        column.close()?;
    }
    Ok(())
}

fn schema() -> Result<Arc<Type>, ParquetError> {
    let text = |name: &&str| {
        let column = Type::primitive_type_builder(name, PhysicalType::BYTE_ARRAY)
            .with_repetition(Repetition::REQUIRED)
            .with_logical_type(Some(LogicalType::String));
        column.build().map(Arc::new)
    };
    let place = Type::primitive_type_builder("source_index", PhysicalType::INT64)
        .with_repetition(Repetition::REQUIRED)
        .build();
    let mut columns = TEXTS.iter().map(text).collect::<Result<Vec<_>, _>>()?;
    columns.push(Arc::new(place?));
    Ok(Arc::new(Type::group_type_builder("example").with_fields(columns).build()?))
}
