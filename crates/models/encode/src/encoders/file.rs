//! `file:PATH`: vectors that another program computed.
//!
//! | file | what is read |
//! |---|---|
//! | Parquet | a column `vector`, `embedding` or `embeddings` of lists of floats, and `id` if there is one |
//! | `.npy` | a two-dimensional C-ordered array of little-endian float16, float32 or float64 |
//! | safetensors | the two-dimensional tensor named after `#` in the path, else the only one; F16, BF16, F32 or F64 |
//!
//! With ids, vectors belong to the items of those ids; without, the n-th vector to the n-th item. Files are read piece
//! by piece.

use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use half::{bf16, f16};
use serde_json::Value;
use sqlgauge_base::regular;

use crate::encoder::EncodeError;
use crate::input::EncoderInput;
use crate::metadata::Metadata;
use crate::positioned::at;
use crate::store::{StoreError, Table, VectorColumn};
use crate::vectors::{Vectors, VectorsError};

/// Bytes that are read at once.
const CHUNK_BYTES: usize = 8 << 20;
const LONGEST_HEADER: u64 = 100 << 20;

#[derive(Debug)]
pub struct VectorFile {
    path: PathBuf,
    source: Source,
    ids: Option<Vec<String>>,
    metadata: Metadata,
}

#[derive(Debug)]
enum Source {
    Parquet(Table, VectorColumn),
    Raw(Raw),
}

impl VectorFile {
    /// Opens a file; the path may end in `#TENSOR` for safetensors.
    ///
    /// # Errors
    /// When the file cannot be read, is of none of the kinds, or is damaged.
    pub fn open(path: &Path) -> Result<Self, EncodeError> {
        let (path, tensor) = split_tensor(path);
        let failed = |problem: String| EncodeError(format!("{}: {problem}", path.display()));
        let mut file = regular::open(&path).map_err(|error| failed(format!("{error}; check the path")))?;
        let mut start = [0; 8];
        file.read_exact(&mut start).map_err(|_| failed("is too short for a file of vectors".into()))?;
        if start.starts_with(b"PAR1") {
            return Self::open_parquet(&path).map_err(|error| EncodeError(error.to_string()));
        }
        let raw = if start.starts_with(b"\x93NUMPY") {
            Raw::of_npy(file)
        } else if path.extension().is_some_and(|extension| extension == "safetensors") {
            Raw::of_safetensors(file, tensor.as_deref())
        } else {
            Err("is no file of vectors; give Parquet, .npy or .safetensors".to_owned())
        };
        let source = Source::Raw(raw.map_err(failed)?);
        Ok(Self { path, source, ids: None, metadata: Metadata::default() })
    }

    fn open_parquet(path: &Path) -> Result<Self, StoreError> {
        let table = Table::open(path)?;
        let metadata = table.description()?.0;
        let column = match ["embedding", "embeddings"].into_iter().find(|name| table.has(name)) {
            Some(name) if !table.has("vector") => VectorColumn::find(&table, name, None)?,
            _ => VectorColumn::find(&table, "vector", None)?,
        };
        let ids = if table.has("id") { Some(table.texts("id")?) } else { None };
        Ok(Self { path: path.to_owned(), source: Source::Parquet(table, column), ids, metadata })
    }

    /// What the file says about itself, if sqlgauge wrote it; else empty.
    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// For each vector, the item that it belongs to.
    ///
    /// # Errors
    /// When there is an item without a vector, a vector without an item, or two vectors for one item.
    pub fn positions(&self, inputs: &[EncoderInput]) -> Result<Vec<usize>, EncodeError> {
        let failed = |problem: String| EncodeError(format!("{}: {problem}", self.path.display()));
        let count = |problem: &str| {
            failed(format!(
                "{} vectors for {} items{problem}; give one vector per item",
                self.len(),
                inputs.len()
            ))
        };
        let Some(ids) = &self.ids else {
            return if self.len() == inputs.len() { Ok((0..inputs.len()).collect()) } else { Err(count("")) };
        };
        let by_id: HashMap<&str, usize> =
            inputs.iter().enumerate().map(|(position, input)| (input.id.as_str(), position)).collect();
        let mut has_vector = vec![false; inputs.len()];
        let mut positions = Vec::with_capacity(ids.len());
        for id in ids {
            let &position = by_id.get(id.as_str()).ok_or_else(|| {
                failed(format!("the workload has no item {id:?}; give vectors of this workload"))
            })?;
            if std::mem::replace(&mut has_vector[position], true) {
                return Err(failed(format!("there are two vectors for item {id:?}; give one per item")));
            }
            positions.push(position);
        }
        match has_vector.iter().position(|has| !has) {
            Some(missing) => Err(count(&format!(", none for item {:?}", inputs[missing].id))),
            None => Ok(positions),
        }
    }
}

/// `x.safetensors#name` is a tensor of a file.
fn split_tensor(path: &Path) -> (PathBuf, Option<String>) {
    let text = path.to_string_lossy();
    match text.split_once(".safetensors#") {
        Some((file, tensor)) => (format!("{file}.safetensors").into(), Some(tensor.to_owned())),
        None => (path.to_owned(), None),
    }
}

impl Vectors for VectorFile {
    fn len(&self) -> usize {
        match &self.source {
            Source::Parquet(table, _) => table.rows(),
            Source::Raw(raw) => raw.rows,
        }
    }

    fn dimensions(&self) -> usize {
        match &self.source {
            Source::Parquet(_, column) => column.dimensions,
            Source::Raw(raw) => raw.dimensions,
        }
    }

    fn chunks(&self) -> usize {
        match &self.source {
            Source::Parquet(table, _) => table.groups(),
            Source::Raw(raw) => raw.rows.div_ceil(raw.chunk_rows()),
        }
    }

    fn read_chunk(&self, chunk: usize, rows: &mut Vec<f32>) -> Result<(), VectorsError> {
        rows.clear();
        let read = match &self.source {
            Source::Parquet(table, column) => {
                column.read_group(table, chunk, rows).map_err(|error| error.to_string())
            }
            Source::Raw(raw) => {
                raw.read_chunk(chunk, rows).map_err(|problem| format!("{}: {problem}", self.path.display()))
            }
        };
        read.map_err(VectorsError)
    }
}

/// How a number is stored, little-endian.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Number {
    F16,
    Bf16,
    F32,
    F64,
}

impl Number {
    fn bytes(self) -> usize {
        match self {
            Self::F16 | Self::Bf16 => 2,
            Self::F32 => 4,
            Self::F64 => 8,
        }
    }
}

/// Numbers of a file, row after row.
#[derive(Debug)]
struct Raw {
    file: File,
    start: u64,
    rows: usize,
    dimensions: usize,
    number: Number,
}

impl Raw {
    /// Checks that the file has the numbers that it says.
    fn new(
        file: File,
        start: u64,
        shape: &[usize],
        number: Number,
        end: Option<u64>,
    ) -> Result<Self, String> {
        let &[rows, dimensions] = shape else {
            return Err(format!(
                "has an array of shape {shape:?}; vectors are the rows of a two-dimensional one"
            ));
        };
        if rows == 0 || dimensions == 0 {
            return Err(format!("has an array of shape {shape:?}; a set of vectors has at least one"));
        }
        let length = file.metadata().map_err(|error| error.to_string())?.len();
        let bytes = rows.checked_mul(dimensions).and_then(|n| n.checked_mul(number.bytes()));
        let needed = bytes.and_then(|bytes| start.checked_add(bytes as u64));
        if needed != Some(end.unwrap_or(length)) || needed > Some(length) {
            return Err(
                "is cut off or damaged: its size is not what its header says; write it again".to_owned()
            );
        }
        Ok(Self { file, start, rows, dimensions, number })
    }

    /// `NumPy`'s format, versions 1 to 3: <https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html>.
    fn of_npy(file: File) -> Result<Self, String> {
        let damaged = || "has no header of NumPy; write it again with numpy.save".to_owned();
        let mut reader = at(&file, 6).map_err(|error| error.to_string())?;
        let mut version = [0; 2];
        reader.read_exact(&mut version).map_err(|_| damaged())?;
        let (length, start) = if version[0] == 1 {
            let mut length = [0; 2];
            reader.read_exact(&mut length).map_err(|_| damaged())?;
            (u64::from(u16::from_le_bytes(length)), 10)
        } else {
            let mut length = [0; 4];
            reader.read_exact(&mut length).map_err(|_| damaged())?;
            (u64::from(u32::from_le_bytes(length)), 12)
        };
        let mut header = String::new();
        let read = reader.take(length.min(LONGEST_HEADER)).read_to_string(&mut header);
        if read.ok().map(|read| read as u64) != Some(length) {
            return Err(damaged());
        }
        let value = |key: &str| header.split_once(&format!("'{key}':")).map(|(_, rest)| rest.trim_start());
        let kind =
            value("descr").and_then(|rest| rest.strip_prefix('\'')?.split_once('\'')).ok_or_else(damaged)?.0;
        let number = match kind {
            "<f2" => Number::F16,
            "<f4" => Number::F32,
            "<f8" => Number::F64,
            _ => return Err(format!("has numbers of type {kind:?}; write them with astype('<f4')")),
        };
        if value("fortran_order").is_none_or(|rest| !rest.starts_with("False")) {
            return Err("is stored column by column; write numpy.ascontiguousarray of it".to_owned());
        }
        let shape =
            value("shape").and_then(|rest| rest.strip_prefix('(')?.split_once(')')).ok_or_else(damaged)?.0;
        let shape: Option<Vec<usize>> = shape
            .split(',')
            .map(str::trim)
            .filter(|part| !part.is_empty())
            .map(|part| part.parse().ok())
            .collect();
        Self::new(file, start + length, &shape.ok_or_else(damaged)?, number, None)
    }

    /// <https://huggingface.co/docs/safetensors>: length of the header, header in JSON, numbers.
    fn of_safetensors(file: File, tensor: Option<&str>) -> Result<Self, String> {
        let damaged = || "has no header of safetensors; write it again".to_owned();
        let mut reader = at(&file, 0).map_err(|error| error.to_string())?;
        let mut length = [0; 8];
        reader.read_exact(&mut length).map_err(|_| damaged())?;
        let length = u64::from_le_bytes(length);
        let mut header = Vec::new();
        reader.take(length.min(LONGEST_HEADER)).read_to_end(&mut header).map_err(|_| damaged())?;
        let header: serde_json::Map<String, Value> =
            serde_json::from_slice(&header).map_err(|_| damaged())?;
        let tensors = || header.iter().filter(|(name, _)| *name != "__metadata__");
        let names = || tensors().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ");
        let is_matrix =
            |value: &Value| value.get("shape").and_then(Value::as_array).is_some_and(|s| s.len() == 2);
        let chosen: Vec<&Value> = match tensor {
            Some(name) => header.get(name).into_iter().collect(),
            None => tensors().map(|(_, value)| value).filter(|value| is_matrix(value)).collect(),
        };
        let &[chosen] = chosen.as_slice() else {
            return Err(format!("has the tensors {}; name one with two dimensions as in PATH#NAME", names()));
        };
        let number = match chosen.get("dtype").and_then(Value::as_str).unwrap_or_default() {
            "F16" => Number::F16,
            "BF16" => Number::Bf16,
            "F32" => Number::F32,
            "F64" => Number::F64,
            other => return Err(format!("has numbers of type {other:?}; write F16, BF16, F32 or F64")),
        };
        let numbers = |key: &str| -> Option<Vec<u64>> {
            chosen.get(key)?.as_array()?.iter().map(Value::as_u64).collect()
        };
        let shape: Option<Vec<usize>> = numbers("shape")
            .and_then(|shape| shape.into_iter().map(|size| usize::try_from(size).ok()).collect());
        let offsets = numbers("data_offsets").filter(|offsets| offsets.len() == 2).ok_or_else(damaged)?;
        let place = |offset: u64| offset.checked_add(length)?.checked_add(8);
        let (Some(start), Some(end)) = (place(offsets[0]), place(offsets[1])) else { return Err(damaged()) };
        Self::new(file, start, &shape.ok_or_else(damaged)?, number, Some(end))
    }

    fn chunk_rows(&self) -> usize {
        (CHUNK_BYTES / (self.dimensions * self.number.bytes())).max(1)
    }

    fn read_chunk(&self, chunk: usize, rows: &mut Vec<f32>) -> Result<(), String> {
        let first = chunk.saturating_mul(self.chunk_rows());
        let count = self.chunk_rows().min(self.rows.saturating_sub(first));
        if count == 0 {
            return Err(format!("there is no chunk {chunk}"));
        }
        let row_bytes = self.dimensions * self.number.bytes();
        let mut bytes = vec![0; count * row_bytes];
        let position = self.start + (first * row_bytes) as u64;
        at(&self.file, position)
            .and_then(|mut reader| reader.read_exact(&mut bytes))
            .map_err(|error| error.to_string())?;
        match self.number {
            Number::F16 => rows.extend(bytes.as_chunks().0.iter().map(|b| f16::from_le_bytes(*b).to_f32())),
            Number::Bf16 => rows.extend(bytes.as_chunks().0.iter().map(|b| bf16::from_le_bytes(*b).to_f32())),
            Number::F32 => rows.extend(bytes.as_chunks().0.iter().map(|b| f32::from_le_bytes(*b))),
            #[expect(
                clippy::cast_possible_truncation,
                reason = "what does not fit becomes infinite, an error below"
            )]
            Number::F64 => rows.extend(bytes.as_chunks().0.iter().map(|b| f64::from_le_bytes(*b) as f32)),
        }
        for (row, vector) in rows.chunks_exact(self.dimensions).enumerate() {
            if let Some(problem) = crate::store::not_finite(vector) {
                return Err(format!("row {}: {problem}", first + row));
            }
        }
        Ok(())
    }
}
