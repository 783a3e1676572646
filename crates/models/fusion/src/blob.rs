//! Named arrays, and the safetensors file that holds them.

use std::collections::BTreeMap;

use safetensors::{Dtype, SafeTensors, tensor::TensorView};

/// A named array that an evaluator carries: its own parameters, or what a caller needs to compute the descriptors of
/// a target (statistics, directions and sorted projections of the source).
#[derive(Debug, Clone, PartialEq)]
pub struct Blob {
    /// Name, unique within its owner.
    pub name: String,
    /// Shape; its product is the number of values.
    pub shape: Vec<usize>,
    /// Values in row-major order.
    pub values: BlobValues,
}

/// Values of a [`Blob`].
#[derive(Debug, Clone, PartialEq)]
pub enum BlobValues {
    /// 32-bit floats.
    F32(Vec<f32>),
    /// 64-bit floats.
    F64(Vec<f64>),
    /// Unsigned integers.
    U32(Vec<u32>),
    /// Bytes, such as a JSON text.
    Bytes(Vec<u8>),
}

impl BlobValues {
    pub fn len(&self) -> usize {
        match self {
            Self::F32(values) => values.len(),
            Self::F64(values) => values.len(),
            Self::U32(values) => values.len(),
            Self::Bytes(values) => values.len(),
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn bytes(&self) -> Vec<u8> {
        match self {
            Self::F32(values) => values.iter().flat_map(|value| value.to_le_bytes()).collect(),
            Self::F64(values) => values.iter().flat_map(|value| value.to_le_bytes()).collect(),
            Self::U32(values) => values.iter().flat_map(|value| value.to_le_bytes()).collect(),
            Self::Bytes(values) => values.clone(),
        }
    }

    fn dtype(&self) -> Dtype {
        match self {
            Self::F32(_) => Dtype::F32,
            Self::F64(_) => Dtype::F64,
            Self::U32(_) => Dtype::U32,
            Self::Bytes(_) => Dtype::U8,
        }
    }

    fn read(dtype: Dtype, data: &[u8]) -> Result<Self, String> {
        let values = match dtype {
            Dtype::F32 => {
                Self::F32(data.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect())
            }
            Dtype::F64 => {
                Self::F64(data.as_chunks().0.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect())
            }
            Dtype::U32 => {
                Self::U32(data.as_chunks().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect())
            }
            Dtype::U8 => Self::Bytes(data.to_vec()),
            other => return Err(format!("has values of type {other:?}, which no evaluator holds")),
        };
        let finite = match &values {
            Self::F32(values) => values.iter().all(|value| value.is_finite()),
            Self::F64(values) => values.iter().all(|value| value.is_finite()),
            Self::U32(_) | Self::Bytes(_) => true,
        };
        if finite { Ok(values) } else { Err("holds a number that is not finite".to_owned()) }
    }
}

impl Blob {
    /// A named array.
    pub fn new(name: impl Into<String>, shape: Vec<usize>, values: BlobValues) -> Self {
        Self { name: name.into(), shape, values }
    }

    /// The same under a longer name.
    pub(super) fn under(mut self, prefix: &str) -> Self {
        self.name = format!("{prefix}.{}", self.name);
        self
    }
}

/// The blobs as the bytes of a safetensors file.
pub(super) fn to_bytes(blobs: &[Blob]) -> Result<Vec<u8>, String> {
    let bytes: Vec<Vec<u8>> = blobs.iter().map(|blob| blob.values.bytes()).collect();
    let mut views = BTreeMap::new();
    for (blob, bytes) in blobs.iter().zip(&bytes) {
        let view = TensorView::new(blob.values.dtype(), blob.shape.clone(), bytes)
            .map_err(|error| format!("the array `{}` cannot be written: {error}", blob.name))?;
        if views.insert(blob.name.clone(), view).is_some() {
            return Err(format!("two arrays are named `{}`", blob.name));
        }
    }
    safetensors::serialize(views, None).map_err(|error| error.to_string())
}

/// The blobs of a safetensors file, in the order of their names.
pub(super) fn from_bytes(bytes: &[u8]) -> Result<Vec<Blob>, String> {
    let file = SafeTensors::deserialize(bytes).map_err(|error| error.to_string())?;
    let mut blobs = Vec::new();
    for (name, view) in file.tensors() {
        let values = BlobValues::read(view.dtype(), view.data())
            .map_err(|error| format!("the array `{name}` {error}"))?;
        blobs.push(Blob::new(name, view.shape().to_vec(), values));
    }
    blobs.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(blobs)
}

/// Blobs found by name below a prefix.
#[derive(Clone, Copy)]
pub struct Blobs<'a> {
    all: &'a [Blob],
    prefix: &'static str,
}

impl<'a> Blobs<'a> {
    /// Those whose names begin with the prefix and a dot.
    pub(super) fn new(all: &'a [Blob], prefix: &'static str) -> Self {
        Self { all, prefix }
    }

    /// All of them, with the prefix taken off.
    pub(super) fn iter(self) -> impl Iterator<Item = Blob> + use<'a> {
        self.all.iter().filter_map(move |blob| {
            let name = blob.name.strip_prefix(self.prefix)?.strip_prefix('.')?;
            Some(Blob { name: name.to_owned(), ..blob.clone() })
        })
    }

    fn find(self, name: &str) -> Result<&'a Blob, String> {
        let full = format!("{}.{name}", self.prefix);
        self.all.iter().find(|blob| blob.name == full).ok_or_else(|| format!("the array `{full}` is missing"))
    }

    /// Shape and values of an array of `f32`.
    pub(super) fn f32s(self, name: &str) -> Result<(&'a [usize], &'a [f32]), String> {
        match self.find(name)? {
            Blob { shape, values: BlobValues::F32(values), .. } => Ok((shape, values)),
            _ => Err(format!("the array `{}.{name}` is not of type F32", self.prefix)),
        }
    }

    /// Shape and values of an array of `f64`.
    pub(super) fn f64s(self, name: &str) -> Result<(&'a [usize], &'a [f64]), String> {
        match self.find(name)? {
            Blob { shape, values: BlobValues::F64(values), .. } => Ok((shape, values)),
            _ => Err(format!("the array `{}.{name}` is not of type F64", self.prefix)),
        }
    }

    /// Values of an array of `u32`.
    pub(super) fn u32s(self, name: &str) -> Result<&'a [u32], String> {
        match self.find(name)? {
            Blob { values: BlobValues::U32(values), .. } => Ok(values),
            _ => Err(format!("the array `{}.{name}` is not of type U32", self.prefix)),
        }
    }

    /// Values of an array of bytes.
    pub(super) fn bytes(self, name: &str) -> Result<&'a [u8], String> {
        match self.find(name)? {
            Blob { values: BlobValues::Bytes(values), .. } => Ok(values),
            _ => Err(format!("the array `{}.{name}` is not of type U8", self.prefix)),
        }
    }
}
