//! Writing an embedding file.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use parquet::basic::{Compression, Encoding, LogicalType, Repetition, Type as PhysicalType};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, FloatType};
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterVersion};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{ColumnPath, Type};
use sqlgauge_base::file::AtomicFile;

use super::{EmbeddingRow, Metadata, StoreError, not_finite};

/// Bytes of vectors in a row group, which is also the chunk that a reader takes at once.
const GROUP_BYTES: usize = 1 << 20;
/// The most rows of a group, so that narrow vectors are read in several chunks too.
const GROUP_ROWS: usize = 16 * 1024;

/// Writes an embedding file row by row. It writes beside the path and puts the file in place when it is finished: a
/// reader never sees half a file, and a writer that is dropped leaves nothing.
#[derive(Debug)]
pub struct EmbeddingWriter {
    path: PathBuf,
    writer: SerializedFileWriter<AtomicFile>,
    dimensions: usize,
    rows: usize,
    group: Group,
}

/// The rows of the group that is being filled.
#[derive(Debug, Default)]
struct Group {
    ids: Vec<ByteArray>,
    db_ids: Vec<ByteArray>,
    vectors: Vec<f32>,
    correct: Vec<Option<f64>>,
    confidence: Vec<Option<f64>>,
}

impl EmbeddingWriter {
    /// Starts a file of vectors of that many components.
    ///
    /// # Errors
    /// When the file cannot be created.
    pub fn create(path: &Path, metadata: &Metadata, dimensions: usize) -> Result<Self, StoreError> {
        let io = |source| StoreError::Io { path: path.to_owned(), source };
        if dimensions == 0 {
            return Err(io(std::io::Error::other("a vector needs at least one component")));
        }
        let file = AtomicFile::create(path).map_err(io)?;
        let schema = schema().map_err(|error| failed(path, error))?;
        let writer = SerializedFileWriter::new(file, schema, Arc::new(properties(metadata, dimensions)));
        Ok(Self {
            path: path.to_owned(),
            writer: writer.map_err(|error| failed(path, error))?,
            dimensions,
            rows: 0,
            group: Group::default(),
        })
    }

    /// Adds a row.
    ///
    /// # Errors
    /// When the vector has another length or a component that is not finite, when a label is not in \[0, 1\] or a
    /// confidence is not finite, or when the file cannot be written.
    pub fn push(&mut self, item: EmbeddingRow<'_>) -> Result<(), StoreError> {
        if let Some(problem) = problem_of(item, self.dimensions) {
            let problem = format!("item {:?}: {problem}", item.id);
            return Err(StoreError::Value { path: self.path.clone(), row: self.rows, problem });
        }
        self.group.ids.push(item.id.into());
        self.group.db_ids.push(item.db_id.into());
        self.group.vectors.extend_from_slice(item.vector);
        self.group.correct.push(item.correct);
        self.group.confidence.push(item.confidence);
        self.rows += 1;
        if self.group.ids.len() >= rows_of_group(self.dimensions) {
            self.flush()?;
        }
        Ok(())
    }

    /// Writes what is left and puts the file in place.
    ///
    /// # Errors
    /// When there was no row, or the file cannot be written.
    pub fn finish(mut self) -> Result<(), StoreError> {
        if self.rows == 0 {
            return Err(StoreError::Empty { path: self.path.clone() });
        }
        self.flush()?;
        let path = self.path;
        let file = self.writer.into_inner().map_err(|error| failed(&path, error))?;
        file.commit().map_err(|source| StoreError::Io { path, source })
    }

    fn flush(&mut self) -> Result<(), StoreError> {
        if self.group.ids.is_empty() {
            return Ok(());
        }
        let group = std::mem::take(&mut self.group);
        let mut write = || {
            let mut row_group = self.writer.next_row_group()?;
            group.write(&mut row_group, self.dimensions)?;
            row_group.close()
        };
        write().map_err(|error| failed(&self.path, error))?;
        Ok(())
    }
}

impl Group {
    fn write(
        &self,
        writer: &mut SerializedRowGroupWriter<'_, AtomicFile>,
        dimensions: usize,
    ) -> Result<(), ParquetError> {
        for texts in [&self.ids, &self.db_ids] {
            let Some(mut column) = writer.next_column()? else { continue };
            column.typed::<ByteArrayType>().write_batch(texts, None, None)?;
            column.close()?;
        }
        if let Some(mut column) = writer.next_column()? {
            let mut repetition = vec![1_i16; dimensions];
            repetition[0] = 0;
            let definition = vec![1_i16; dimensions];
            let typed = column.typed::<FloatType>();
            for vector in self.vectors.chunks_exact(dimensions) {
                typed.write_batch(vector, Some(&definition), Some(&repetition))?;
            }
            column.close()?;
        }
        for numbers in [&self.correct, &self.confidence] {
            let Some(mut column) = writer.next_column()? else { continue };
            let definition: Vec<i16> = numbers.iter().map(|number| number.is_some().into()).collect();
            let values: Vec<f64> = numbers.iter().flatten().copied().collect();
            column.typed::<DoubleType>().write_batch(&values, Some(&definition), None)?;
            column.close()?;
        }
        Ok(())
    }
}

fn problem_of(item: EmbeddingRow<'_>, dimensions: usize) -> Option<String> {
    if item.vector.len() != dimensions {
        return Some(format!(
            "its vector has {} components where the file has {dimensions}",
            item.vector.len()
        ));
    }
    not_finite(item.vector).or_else(|| problem_of_numbers(item.correct, item.confidence))
}

/// What is wrong with a label and a confidence.
pub(super) fn problem_of_numbers(correct: Option<f64>, confidence: Option<f64>) -> Option<String> {
    if let Some(correct) = correct.filter(|correct| !(0.0..=1.0).contains(correct)) {
        return Some(format!("correct is {correct}; it is between 0 and 1, or null where that is not known"));
    }
    let confidence = confidence.filter(|confidence| !confidence.is_finite())?;
    Some(format!("confidence is {confidence}; it is a finite number, or null where there is none"))
}

fn rows_of_group(dimensions: usize) -> usize {
    (GROUP_BYTES / (4 * dimensions)).clamp(1, GROUP_ROWS)
}

fn failed(path: &Path, error: ParquetError) -> StoreError {
    // The system's own refusal says more than that it was a Parquet file that was written.
    let source = match error {
        ParquetError::External(cause) => match cause.downcast::<std::io::Error>() {
            Ok(cause) => *cause,
            Err(cause) => std::io::Error::other(cause),
        },
        error => std::io::Error::other(error),
    };
    StoreError::Io { path: path.to_owned(), source }
}

fn schema() -> Result<Arc<Type>, ParquetError> {
    let text = |name| {
        Type::primitive_type_builder(name, PhysicalType::BYTE_ARRAY)
            .with_repetition(Repetition::REQUIRED)
            .with_logical_type(Some(LogicalType::String))
            .build()
            .map(Arc::new)
    };
    let number = |name| {
        Type::primitive_type_builder(name, PhysicalType::DOUBLE)
            .with_repetition(Repetition::OPTIONAL)
            .build()
            .map(Arc::new)
    };
    let element = Type::primitive_type_builder("element", PhysicalType::FLOAT)
        .with_repetition(Repetition::REQUIRED)
        .build()?;
    let list = Type::group_type_builder("list")
        .with_repetition(Repetition::REPEATED)
        .with_fields(vec![Arc::new(element)])
        .build()?;
    let vector = Type::group_type_builder("vector")
        .with_repetition(Repetition::REQUIRED)
        .with_logical_type(Some(LogicalType::List))
        .with_fields(vec![Arc::new(list)])
        .build()?;
    let fields =
        vec![text("id")?, text("db_id")?, Arc::new(vector), number("correct")?, number("confidence")?];
    Ok(Arc::new(Type::group_type_builder("embeddings").with_fields(fields).build()?))
}

fn properties(metadata: &Metadata, dimensions: usize) -> WriterProperties {
    let vector = ColumnPath::from(vec!["vector".to_owned(), "list".to_owned(), "element".to_owned()]);
    WriterProperties::builder()
        .set_writer_version(WriterVersion::PARQUET_2_0)
        .set_created_by(format!("sqlgauge {}", env!("CARGO_PKG_VERSION")))
        .set_key_value_metadata(Some(metadata.to_pairs(dimensions)))
        .set_compression(Compression::UNCOMPRESSED)
        .set_statistics_enabled(EnabledStatistics::None)
        .set_offset_index_disabled(true)
        .set_column_dictionary_enabled(vector.clone(), false)
        .set_column_encoding(vector.clone(), Encoding::PLAIN)
        .set_column_data_page_size_limit(vector.clone(), 1 << 20)
        .set_column_data_page_row_count_limit(vector, GROUP_ROWS)
        .build()
}
