//! Reading an embedding file.

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use parquet::basic::{Encoding, Type as PhysicalType};
use parquet::column::page::{Page, PageReader};
use parquet::column::reader::{ColumnReader, get_column_reader};
use parquet::data_type::{ByteArray, DataType};
use parquet::errors::ParquetError;
use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader, RowGroupMetaData};
use parquet::file::serialized_reader::SerializedPageReader;
use sqlgauge_base::regular;

use super::levels::ListWalk;
use super::positioned_file::PositionedFile;
use super::writer::problem_of_numbers;
use super::{Metadata, StoreError, not_finite};
use crate::vectors::{Vectors, VectorsError};

/// Most values that are reserved because a file says that it has them. What it really has grows what was reserved; a
/// file that lies gets an error for what it lacks, and not the memory for it.
const MOST_RESERVED: usize = 1 << 22;

/// An embedding file that is open for reading; see [`crate::store`] for its columns.
///
/// As [`Vectors`] its chunks are the file's row groups. Threads may read chunks at the same time through one
/// `EmbeddingFile`; each needs a buffer for the chunk that it reads and nothing else.
#[derive(Debug)]
pub struct EmbeddingFile {
    table: Table,
    metadata: Metadata,
    vectors: VectorColumn,
    ids: Vec<String>,
    db_ids: Vec<Arc<str>>,
    correct: Vec<Option<f64>>,
    confidence: Vec<Option<f64>>,
}

impl EmbeddingFile {
    /// Opens a file and reads everything but the vectors.
    ///
    /// Columns of integers or truth values stand for their numbers in `correct` and `confidence`, integers for their
    /// text in `id` and `db_id`.
    ///
    /// # Errors
    /// When the file cannot be read, is damaged, has no row, lacks a column or has one of another type, or has a null
    /// or a number where none can be. Vectors are checked when they are read.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let table = Table::open(path)?;
        guarded(path, || Self::of_table(table))
    }

    fn of_table(table: Table) -> Result<Self, StoreError> {
        let (metadata, dimensions) = table.description()?;
        let vectors = VectorColumn::find(&table, "vector", dimensions)?;
        let ids = table.texts("id")?;
        let mut names: HashSet<Arc<str>> = HashSet::new();
        let db_ids = table.texts("db_id")?.into_iter().map(|db_id| {
            names.get(db_id.as_str()).cloned().unwrap_or_else(|| {
                let db_id: Arc<str> = db_id.into();
                names.insert(Arc::clone(&db_id));
                db_id
            })
        });
        let db_ids = db_ids.collect();
        let (correct, confidence) = (table.numbers("correct")?, table.numbers("confidence")?);
        for (row, (&correct, &confidence)) in correct.iter().zip(&confidence).enumerate() {
            if let Some(problem) = problem_of_numbers(correct, confidence) {
                return Err(table.value(row, problem));
            }
        }
        Ok(Self { table, metadata, vectors, ids, db_ids, correct, confidence })
    }

    pub fn path(&self) -> &Path {
        &self.table.path
    }

    /// Where the vectors come from.
    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// Id of each item, in the order of the vectors.
    pub fn ids(&self) -> &[String] {
        &self.ids
    }

    /// Database of each item.
    pub fn db_ids(&self) -> &[Arc<str>] {
        &self.db_ids
    }

    /// Label of each item in \[0, 1\]; `None` if unknown.
    pub fn correct(&self) -> &[Option<f64>] {
        &self.correct
    }

    /// Confidence of each item; `None` where the system gave none.
    pub fn confidence(&self) -> &[Option<f64>] {
        &self.confidence
    }

    /// The labels of all items.
    ///
    /// # Errors
    /// When an item has none; it is named.
    pub fn labels(&self) -> Result<Vec<f64>, StoreError> {
        let label = |(row, label): (usize, &Option<f64>)| {
            label.ok_or_else(|| {
                let problem = format!(
                    "item {:?} has no label; give all labels with encode --correct, or leave it out",
                    self.ids[row]
                );
                self.table.value(row, problem)
            })
        };
        self.correct.iter().enumerate().map(label).collect()
    }

    /// As [`Vectors::read_chunk`], with the typed error.
    ///
    /// # Errors
    /// When there is no such chunk, the file is damaged, or a vector has another length or a component that is not
    /// finite.
    pub fn read(&self, chunk: usize, rows: &mut Vec<f32>) -> Result<(), StoreError> {
        rows.clear();
        guarded(&self.table.path, || self.vectors.read_group(&self.table, chunk, rows))
    }
}

impl Vectors for EmbeddingFile {
    fn len(&self) -> usize {
        self.ids.len()
    }

    fn dimensions(&self) -> usize {
        self.vectors.dimensions
    }

    fn chunks(&self) -> usize {
        self.table.metadata.num_row_groups()
    }

    fn read_chunk(&self, chunk: usize, rows: &mut Vec<f32>) -> Result<(), VectorsError> {
        self.read(chunk, rows).map_err(|error| VectorsError(error.to_string()))
    }
}

/// The Parquet reader indexes by lengths that the file states; a damaged file must be an error, not the end of the
/// process. Nothing outside is changed, so nothing can be left half-done.
fn guarded<T>(path: &Path, read: impl FnOnce() -> Result<T, StoreError>) -> Result<T, StoreError> {
    catch_unwind(AssertUnwindSafe(read)).unwrap_or_else(|_| {
        Err(StoreError::Damaged {
            path: path.to_owned(),
            problem: "its lengths contradict each other".into(),
        })
    })
}

/// A Parquet file with its footer.
#[derive(Debug)]
pub(crate) struct Table {
    path: PathBuf,
    file: Arc<PositionedFile>,
    metadata: ParquetMetaData,
    rows: usize,
}

impl Table {
    pub(crate) fn open(path: &Path) -> Result<Self, StoreError> {
        let io = |source| StoreError::Io { path: path.to_owned(), source };
        let file = Arc::new(PositionedFile::new(regular::open(path).map_err(io)?).map_err(io)?);
        let damaged =
            |error: ParquetError| StoreError::Damaged { path: path.to_owned(), problem: error.to_string() };
        let metadata =
            guarded(path, || ParquetMetaDataReader::new().parse_and_finish(file.as_ref()).map_err(damaged))?;
        let rows = usize::try_from(metadata.file_metadata().num_rows()).unwrap_or(0);
        let mut of_groups = metadata.row_groups().iter().map(RowGroupMetaData::num_rows);
        let in_groups = of_groups.try_fold(0_i64, |sum, rows| sum.checked_add(rows).filter(|_| rows >= 0));
        if in_groups != Some(metadata.file_metadata().num_rows()) {
            let problem = "its row groups do not have the rows that it says".to_owned();
            return Err(StoreError::Damaged { path: path.to_owned(), problem });
        }
        if rows == 0 {
            return Err(StoreError::Empty { path: path.to_owned() });
        }
        Ok(Self { path: path.to_owned(), file, metadata, rows })
    }

    fn damaged(&self, problem: impl std::fmt::Display) -> StoreError {
        StoreError::Damaged { path: self.path.clone(), problem: problem.to_string() }
    }

    fn value(&self, row: usize, problem: String) -> StoreError {
        StoreError::Value { path: self.path.clone(), row, problem }
    }

    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    pub(crate) fn groups(&self) -> usize {
        self.metadata.num_row_groups()
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.leaf(name).is_some()
    }

    /// What the file says about itself, and the number of components where it says that.
    pub(crate) fn description(&self) -> Result<(Metadata, Option<usize>), StoreError> {
        let pairs = self.metadata.file_metadata().key_value_metadata();
        Metadata::of_pairs(&self.path, pairs.map_or(&[], Vec::as_slice))
    }

    fn first_row(&self, group: usize) -> usize {
        let rows = self.metadata.row_groups()[..group].iter().map(RowGroupMetaData::num_rows).sum::<i64>();
        usize::try_from(rows).unwrap_or(0)
    }

    /// The only leaf column of the top-level column of that name.
    fn leaf(&self, name: &str) -> Option<usize> {
        let columns = self.metadata.file_metadata().schema_descr().columns();
        columns.iter().position(|column| column.path().parts().first().is_some_and(|part| part == name))
    }

    fn missing(&self, column: &'static str) -> StoreError {
        let fields = self.metadata.file_metadata().schema().get_fields().iter();
        let present = fields.map(|field| field.name()).collect::<Vec<_>>().join(", ");
        StoreError::MissingColumn { path: self.path.clone(), column, present }
    }

    fn wrong_type(&self, leaf: usize, column: &'static str, expected: &'static str) -> StoreError {
        let descriptor = self.metadata.file_metadata().schema_descr().column(leaf);
        let physical = descriptor.physical_type();
        let kind = match (descriptor.max_rep_level(), descriptor.path().parts().len()) {
            (0, 1) => format!("a column of {physical}"),
            (0, _) => format!("a structure of {physical}"),
            (1, _) => format!("a list of {physical}"),
            _ => format!("a nested list of {physical}"),
        };
        StoreError::WrongType { path: self.path.clone(), column, kind, expected }
    }

    fn pages(&self, group: usize, leaf: usize) -> Result<SerializedPageReader<PositionedFile>, StoreError> {
        let group =
            self.metadata.row_groups().get(group).ok_or_else(|| self.damaged("there is no such chunk"))?;
        let rows = usize::try_from(group.num_rows()).unwrap_or(0);
        SerializedPageReader::new(Arc::clone(&self.file), group.column(leaf), rows, None)
            .map_err(|error| self.damaged(error))
    }

    /// A column of texts without nulls.
    pub(crate) fn texts(&self, name: &'static str) -> Result<Vec<String>, StoreError> {
        let leaf = self.leaf(name).ok_or_else(|| self.missing(name))?;
        let mut texts = Vec::with_capacity(self.rows.min(MOST_RESERVED));
        let descriptor = self.metadata.file_metadata().schema_descr().column(leaf);
        let wrong = || self.wrong_type(leaf, name, "a column of texts");
        if descriptor.max_rep_level() > 0 || descriptor.path().parts().len() > 1 {
            return Err(wrong());
        }
        for group in 0..self.metadata.num_row_groups() {
            let before = texts.len();
            let pages = Box::new(self.pages(group, leaf)?);
            let read = match get_column_reader(Arc::clone(&descriptor), pages) {
                ColumnReader::ByteArrayColumnReader(reader) => scalars(reader, |bytes: ByteArray| {
                    String::from_utf8(bytes.data().to_vec()).map_err(|_| "is no UTF-8 text".to_owned())
                }),
                ColumnReader::Int32ColumnReader(reader) => scalars(reader, |n: i32| Ok(n.to_string())),
                ColumnReader::Int64ColumnReader(reader) => scalars(reader, |n: i64| Ok(n.to_string())),
                _ => return Err(wrong()),
            };
            for (row, text) in read.map_err(|error| self.damaged(error))?.into_iter().enumerate() {
                let text = text.unwrap_or_else(|| Err("is null".to_owned()));
                texts.push(text.map_err(|problem| {
                    self.value(before + row, format!("{name} {problem}; give every item a text"))
                })?);
            }
        }
        if texts.len() == self.rows { Ok(texts) } else { Err(self.damaged(format!("{name} is cut off"))) }
    }

    /// A column of numbers or nulls; all nulls where there is no such column.
    fn numbers(&self, name: &'static str) -> Result<Vec<Option<f64>>, StoreError> {
        let Some(leaf) = self.leaf(name) else { return Ok(vec![None; self.rows]) };
        let mut numbers = Vec::with_capacity(self.rows.min(MOST_RESERVED));
        let descriptor = self.metadata.file_metadata().schema_descr().column(leaf);
        let wrong = || self.wrong_type(leaf, name, "a column of numbers");
        if descriptor.max_rep_level() > 0 || descriptor.path().parts().len() > 1 {
            return Err(wrong());
        }
        for group in 0..self.metadata.num_row_groups() {
            let pages = Box::new(self.pages(group, leaf)?);
            let read = match get_column_reader(Arc::clone(&descriptor), pages) {
                ColumnReader::DoubleColumnReader(reader) => scalars(reader, |n| n),
                ColumnReader::FloatColumnReader(reader) => scalars(reader, |n: f32| n.into()),
                ColumnReader::Int32ColumnReader(reader) => scalars(reader, |n: i32| n.into()),
                ColumnReader::Int64ColumnReader(reader) => scalars(reader, |n: i64| n as f64),
                ColumnReader::BoolColumnReader(reader) => scalars(reader, |b: bool| b.into()),
                _ => return Err(wrong()),
            };
            numbers.extend(read.map_err(|error| self.damaged(error))?);
        }
        if numbers.len() == self.rows { Ok(numbers) } else { Err(self.damaged(format!("{name} is cut off"))) }
    }
}

/// All values of a flat column of a row group, `None` for null.
fn scalars<T: DataType, V>(
    mut reader: parquet::column::reader::ColumnReaderImpl<T>,
    of: impl Fn(T::T) -> V,
) -> Result<Vec<Option<V>>, ParquetError> {
    let (mut scalars, mut definition, mut values) = (Vec::new(), Vec::new(), Vec::new());
    loop {
        definition.clear();
        values.clear();
        let (records, _, _) = reader.read_records(8192, Some(&mut definition), None, &mut values)?;
        if records == 0 {
            return Ok(scalars);
        }
        // A required column has no definition levels. A flat column has at most one.
        let mut values = values.drain(..);
        if definition.is_empty() {
            scalars.extend(values.map(|value| Some(of(value))));
        } else {
            scalars.extend(
                definition.iter().map(|&level| (level > 0).then(|| values.next()).flatten().map(&of)),
            );
        }
    }
}

/// The column of vectors of a table.
#[derive(Debug)]
pub(crate) struct VectorColumn {
    leaf: usize,
    /// Components of each vector.
    pub(crate) dimensions: usize,
}

impl VectorColumn {
    /// Finds the column; where the number of components is not known, it is that of the first row.
    pub(crate) fn find(
        table: &Table,
        name: &'static str,
        dimensions: Option<usize>,
    ) -> Result<Self, StoreError> {
        let leaf = table.leaf(name).ok_or_else(|| table.missing(name))?;
        let descriptor = table.metadata.file_metadata().schema_descr().column(leaf);
        let is_float = matches!(descriptor.physical_type(), PhysicalType::FLOAT | PhysicalType::DOUBLE);
        if descriptor.max_rep_level() != 1 || !is_float {
            return Err(table.wrong_type(leaf, name, "a list of 32-bit or 64-bit floats"));
        }
        let dimensions = match dimensions {
            Some(dimensions) => dimensions,
            None => first_length(table, leaf)?,
        };
        Ok(Self { leaf, dimensions })
    }

    /// Appends the vectors of a row group to `rows`.
    pub(crate) fn read_group(
        &self,
        table: &Table,
        group: usize,
        rows: &mut Vec<f32>,
    ) -> Result<(), StoreError> {
        let start = rows.len();
        if !self.read_plain(table, group, rows)? {
            rows.truncate(start);
            self.read_any(table, group, rows)?;
        }
        let first = table.first_row(group);
        if not_finite(&rows[start..]).is_none() {
            return Ok(());
        }
        for (row, vector) in rows[start..].chunks_exact(self.dimensions).enumerate() {
            if let Some(problem) = not_finite(vector) {
                return Err(table.value(first + row, problem));
            }
        }
        Ok(())
    }

    /// Copies pages of plain floats; false when the group has something else, or does not check out.
    fn read_plain(&self, table: &Table, group: usize, rows: &mut Vec<f32>) -> Result<bool, StoreError> {
        let descriptor = table.metadata.file_metadata().schema_descr().column(self.leaf);
        if descriptor.physical_type() != PhysicalType::FLOAT {
            return Ok(false);
        }
        let mut pages = table.pages(group, self.leaf)?;
        let mut walk = ListWalk::new(self.dimensions);
        let expected = usize::try_from(table.metadata.row_group(group).num_rows()).unwrap_or(0);
        rows.reserve(expected.saturating_mul(self.dimensions).min(MOST_RESERVED));
        while let Some(page) = pages.get_next_page().map_err(|error| table.damaged(error))? {
            let Some(page) = PlainPage::of(&page, descriptor.max_def_level() > 0) else { return Ok(false) };
            if !walk.take_encoded(&page.repetition, page.count) || page.values.len() != 4 * page.count {
                return Ok(false);
            }
            append_floats(&page.values, rows);
        }
        Ok(walk.finish() == Some(expected))
    }

    /// Reads whatever encoding the group has, and says which row is at fault.
    fn read_any(&self, table: &Table, group: usize, rows: &mut Vec<f32>) -> Result<(), StoreError> {
        let descriptor = table.metadata.file_metadata().schema_descr().column(self.leaf);
        let max_definition = descriptor.max_def_level();
        let pages = Box::new(table.pages(group, self.leaf)?);
        let mut reader = Lists::new(get_column_reader(descriptor, pages));
        let mut walk = ListWalk::new(self.dimensions);
        let first = table.first_row(group);
        while reader.next(256).map_err(|error| table.damaged(error))? {
            for (&repetition, &definition) in reader.repetition.iter().zip(&reader.definition) {
                let current = walk.current();
                if definition < max_definition {
                    let problem =
                        "its vector is null, empty or has a null in it; encode the item again".to_owned();
                    let row = if repetition == 0 { walk.begun() } else { current };
                    return Err(table.value(first + row, problem));
                }
                if !walk.take(repetition > 0, 1) {
                    let problem = format!(
                        "its vector has another length than the {} components of the others",
                        self.dimensions
                    );
                    return Err(table.value(first + current, problem));
                }
            }
            rows.append(&mut reader.values);
        }
        let expected = usize::try_from(table.metadata.row_group(group).num_rows()).unwrap_or(0);
        match walk.finish() {
            Some(count) if count == expected => Ok(()),
            _ => {
                let problem = format!("its vector is shorter than {} components", self.dimensions);
                Err(table.value(first + walk.current(), problem))
            }
        }
    }
}

/// A data page of plain values, taken apart.
struct PlainPage {
    repetition: Bytes,
    values: Bytes,
    count: usize,
}

impl PlainPage {
    fn of(page: &Page, has_definition: bool) -> Option<Self> {
        let count = usize::try_from(page.num_values()).ok()?;
        if page.encoding() != Encoding::PLAIN {
            return None;
        }
        match page {
            Page::DataPageV2 { buf, def_levels_byte_len, rep_levels_byte_len, .. } => {
                let repetition = usize::try_from(*rep_levels_byte_len).ok()?;
                let values = repetition.checked_add(usize::try_from(*def_levels_byte_len).ok()?)?;
                (values <= buf.len()).then(|| Self {
                    repetition: buf.slice(..repetition),
                    values: buf.slice(values..),
                    count,
                })
            }
            Page::DataPage { buf, def_level_encoding, rep_level_encoding, .. } => {
                if *rep_level_encoding != Encoding::RLE || *def_level_encoding != Encoding::RLE {
                    return None;
                }
                let (repetition, mut values) = prefixed(buf)?;
                if has_definition {
                    values = prefixed(&values)?.1;
                }
                Some(Self { repetition, values, count })
            }
            Page::DictionaryPage { .. } => None,
        }
    }
}

/// A block with its length before it, and what follows.
fn prefixed(bytes: &Bytes) -> Option<(Bytes, Bytes)> {
    let length = u32::from_le_bytes(*bytes.first_chunk::<4>()?);
    let end = usize::try_from(length).ok()?.checked_add(4)?;
    (end <= bytes.len()).then(|| (bytes.slice(4..end), bytes.slice(end..)))
}

fn append_floats(bytes: &[u8], rows: &mut Vec<f32>) {
    rows.extend(bytes.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)));
}

/// Lists of floats with their levels, in pieces.
struct Lists {
    reader: ColumnReader,
    definition: Vec<i16>,
    repetition: Vec<i16>,
    values: Vec<f32>,
}

impl Lists {
    fn new(reader: ColumnReader) -> Self {
        Self { reader, definition: Vec::new(), repetition: Vec::new(), values: Vec::new() }
    }

    /// Reads up to that many lists; false at the end.
    fn next(&mut self, records: usize) -> Result<bool, ParquetError> {
        self.definition.clear();
        self.repetition.clear();
        self.values.clear();
        let levels = (Some(&mut self.definition), Some(&mut self.repetition));
        let (read, _, _) = match &mut self.reader {
            ColumnReader::FloatColumnReader(reader) => {
                reader.read_records(records, levels.0, levels.1, &mut self.values)?
            }
            ColumnReader::DoubleColumnReader(reader) => {
                let mut wide: Vec<f64> = Vec::new();
                let read = reader.read_records(records, levels.0, levels.1, &mut wide)?;
                // What does not fit becomes infinite, which is an error of its own.
                #[expect(clippy::cast_possible_truncation)]
                self.values.extend(wide.into_iter().map(|value| value as f32));
                read
            }
            _ => return Err(ParquetError::General("the column holds no floats".to_owned())),
        };
        Ok(read > 0)
    }
}

/// Components of the first vector.
fn first_length(table: &Table, leaf: usize) -> Result<usize, StoreError> {
    for group in 0..table.metadata.num_row_groups() {
        let descriptor = table.metadata.file_metadata().schema_descr().column(leaf);
        let mut lists = Lists::new(get_column_reader(descriptor, Box::new(table.pages(group, leaf)?)));
        if lists.next(1).map_err(|error| table.damaged(error))? {
            return match lists.values.len() {
                0 => Err(table.value(0, "its vector is empty; encode the item again".to_owned())),
                length => Ok(length),
            };
        }
    }
    Err(StoreError::Empty { path: table.path.clone() })
}
