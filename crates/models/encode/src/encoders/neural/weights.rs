//! Tensors from safetensors files, one or many, read one at a time: never a whole file in memory.

use std::collections::{BTreeMap, HashMap};
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use candle_core::{DType, Device, Tensor};
use candle_nn::Linear;
use safetensors::tensor::{Metadata, TensorInfo};
use serde::Deserialize;
use sqlgauge_base::regular;

use super::error::NeuralError;

const SINGLE: &str = "model.safetensors";
/// The table of contents of a sharded model.
const INDEX: &str = "model.safetensors.index.json";
/// A header larger than this is no header.
const MAX_HEADER: u64 = 256 << 20;

/// Where a tensor lies.
struct Place {
    file: usize,
    start: u64,
    info: TensorInfo,
}

/// The weights of a model folder, on a device and in a precision.
pub(crate) struct Weights {
    dir: PathBuf,
    files: Vec<PathBuf>,
    places: HashMap<String, Place>,
    prefix: String,
    device: Device,
    dtype: DType,
}

/// The weights files of a folder, sorted by name.
pub(crate) fn files(dir: &Path) -> Result<Vec<PathBuf>, NeuralError> {
    #[derive(Deserialize)]
    struct Index {
        weight_map: BTreeMap<String, String>,
    }
    if dir.join(SINGLE).is_file() {
        return Ok(vec![dir.join(SINGLE)]);
    }
    let path = dir.join(INDEX);
    if !path.is_file() {
        return Err(missing(dir, &format!("{SINGLE}` or `{INDEX}")));
    }
    let index: Index = read_json(&path)?;
    let mut names: Vec<String> = index.weight_map.into_values().collect();
    names.sort_unstable();
    names.dedup();
    let is_plain = |name: &String| Path::new(name).file_name().is_some_and(|file| file == name.as_str());
    if names.is_empty() || !names.iter().all(is_plain) {
        return Err(bad(&path, "it must name files of the same folder"));
    }
    match names.iter().find(|name| !dir.join(name).is_file()) {
        Some(name) => Err(missing(dir, name)),
        None => Ok(names.iter().map(|name| dir.join(name)).collect()),
    }
}

/// A JSON file as a value of that type.
pub(crate) fn read_json<T: serde::de::DeserializeOwned>(path: &Path) -> Result<T, NeuralError> {
    let text = regular::read(path).map_err(|source| io(path, source))?;
    serde_json::from_slice(&text).map_err(|error| bad(path, &error.to_string()))
}

/// The error for a file that is not there.
pub(crate) fn missing(dir: &Path, name: &str) -> NeuralError {
    NeuralError::MissingFile { dir: dir.to_owned(), name: name.to_owned() }
}

/// The error for a file that the system does not give.
pub(crate) fn io(path: &Path, source: std::io::Error) -> NeuralError {
    NeuralError::Io { path: path.to_owned(), source }
}

/// The error for a file that holds something else.
pub(crate) fn bad(path: &Path, reason: &str) -> NeuralError {
    NeuralError::BadFile { path: path.to_owned(), reason: reason.to_owned() }
}

impl Weights {
    /// Reads the headers. Models are saved with or without a name before their tensors (`bert.`, `model.`): the first
    /// of `prefixes` under which there is a tensor called `probe` is put before every name from here on.
    pub(crate) fn open(
        dir: &Path,
        device: &Device,
        dtype: DType,
        (prefixes, probe): (&[&str], &str),
    ) -> Result<Self, NeuralError> {
        let files = files(dir)?;
        let mut places = HashMap::new();
        for (file, path) in files.iter().enumerate() {
            let (start, header) = read_header(path)?;
            for (name, info) in header.tensors() {
                places.insert(name, Place { file, start, info: info.clone() });
            }
        }
        let prefix = prefixes.iter().find(|prefix| places.contains_key(&format!("{prefix}{probe}")));
        let Some(prefix) = prefix.map(ToString::to_string) else {
            return Err(NeuralError::MissingTensor { dir: dir.to_owned(), name: probe.to_owned() });
        };
        Ok(Self { dir: dir.to_owned(), files, places, prefix, device: device.clone(), dtype })
    }

    /// Where the tensors are put.
    pub(crate) fn device(&self) -> &Device {
        &self.device
    }

    /// Whether there is a tensor of that name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.places.contains_key(&format!("{}{name}", self.prefix))
    }

    /// The tensor of that name, which must have that shape.
    pub(crate) fn tensor(&self, name: &str, shape: &[usize]) -> Result<Tensor, NeuralError> {
        let name = format!("{}{name}", self.prefix);
        let Some(place) = self.places.get(&name) else {
            return Err(NeuralError::MissingTensor { dir: self.dir.clone(), name });
        };
        if place.info.shape != shape {
            return Err(NeuralError::TensorShape {
                name,
                shape: place.info.shape.clone(),
                expected: shape.to_vec(),
            });
        }
        let path = &self.files[place.file];
        let (from, to) = place.info.data_offsets;
        let bytes = read_at(path, place.start + from as u64, to - from).map_err(|source| io(path, source))?;
        let dtype = DType::try_from(place.info.dtype).map_err(|error| bad(path, &error.to_string()))?;
        if !dtype.is_float() {
            return Err(bad(
                path,
                &format!("tensor `{name}` is quantised ({dtype:?}); use the unquantised model"),
            ));
        }
        let stored = Tensor::from_raw_buffer(&bytes, dtype, shape, &Device::Cpu)?;
        Ok(stored.to_device(&self.device)?.to_dtype(self.dtype)?)
    }

    /// A linear layer: `NAME.weight` of outputs by inputs and, where wanted, `NAME.bias`.
    pub(crate) fn linear(
        &self,
        name: &str,
        inputs: usize,
        outputs: usize,
        bias: bool,
    ) -> Result<Linear, NeuralError> {
        let weight = self.tensor(&format!("{name}.weight"), &[outputs, inputs])?;
        let bias = bias.then(|| self.tensor(&format!("{name}.bias"), &[outputs])).transpose()?;
        Ok(Linear::new(weight, bias))
    }
}

/// The header of a safetensors file, and where its data begins.
fn read_header(path: &Path) -> Result<(u64, Metadata), NeuralError> {
    let size = std::fs::metadata(path).map_err(|source| io(path, source))?.len();
    let length = read_at(path, 0, 8).map_err(|_| bad(path, "it is too short for a safetensors file"))?;
    let length = length.try_into().map_or(u64::MAX, u64::from_le_bytes);
    if length > MAX_HEADER.min(size.saturating_sub(8)) {
        return Err(bad(path, "it has no safetensors header (a Git LFS pointer, or a cut-off download?)"));
    }
    let header = usize::try_from(length).map_or_else(|_| Ok(Vec::new()), |length| read_at(path, 8, length));
    let header = header.map_err(|source| io(path, source))?;
    let header: Metadata = serde_json::from_slice(&header).map_err(|error| bad(path, &error.to_string()))?;
    let start = 8 + length;
    for (name, info) in header.tensors() {
        check_extent(info, size - start).map_err(|reason| bad(path, &format!("tensor `{name}` {reason}")))?;
    }
    Ok((start, header))
}

/// The data of a tensor lies inside the file and has as many bytes as its shape says.
fn check_extent(info: &TensorInfo, available: u64) -> Result<(), &'static str> {
    let (from, to) = info.data_offsets;
    let count = info.shape.iter().try_fold(1_usize, |product, side| product.checked_mul(*side));
    let bits = count.and_then(|count| count.checked_mul(info.dtype.bitsize()));
    if from > to || to as u64 > available {
        return Err("lies outside the file: the download was cut off");
    }
    if bits != (to - from).checked_mul(8) {
        return Err("has another size than its shape says");
    }
    Ok(())
}

/// Bytes of a file.
fn read_at(path: &Path, offset: u64, length: usize) -> std::io::Result<Vec<u8>> {
    let mut file = regular::open(path)?;
    file.seek(SeekFrom::Start(offset))?;
    let mut bytes = vec![0; length];
    file.read_exact(&mut bytes)?;
    Ok(bytes)
}
