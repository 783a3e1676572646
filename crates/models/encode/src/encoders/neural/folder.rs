//! A folder with a model: its checks, its identity, and the encoder made of it.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;

use candle_core::{DType, Device};
use serde::de::DeserializeOwned;

use super::error::NeuralError;
use super::network::Network;
use super::options::{NeuralDevice, NeuralOptions, Precision};
use super::tokens::{self, Tokens};
use super::weights::{self, Weights};
use super::{NeuralEncoder, fingerprint};
use crate::render::RENDER_VERSION;

/// Goes into every fingerprint: raise it when the vectors of the same model change.
const VERSION: &str = "neural@1";
/// Fewer tokens than this leave only the special ones of a text.
const MIN_TOKENS: usize = 8;

/// A model folder that is being opened.
pub(in crate::encoders) struct Folder {
    kind: &'static str,
    dir: PathBuf,
    options: NeuralOptions,
    device: Device,
}

impl Folder {
    /// Checks the device and the options; reads nothing yet.
    pub(in crate::encoders) fn open(
        kind: &'static str,
        dir: &Path,
        options: &NeuralOptions,
    ) -> Result<Self, NeuralError> {
        if options.max_tokens.is_some_and(|tokens| tokens < MIN_TOKENS) {
            return Err(NeuralError::Device(format!("at least {MIN_TOKENS} tokens of a text must be kept")));
        }
        let device = match (options.device, options.precision) {
            (NeuralDevice::Cpu, Precision::Bf16) => {
                return Err(NeuralError::Device("bf16 needs a GPU: use f32 on the processor".to_owned()));
            }
            (NeuralDevice::Cpu, _) => Device::Cpu,
            (NeuralDevice::Cuda(_), _) if !candle_core::utils::cuda_is_available() => {
                return Err(NeuralError::Device(
                    "this build has no GPU support: build with feature `cuda`".to_owned(),
                ));
            }
            (NeuralDevice::Cuda(number), _) => Device::new_cuda(number)
                .map_err(|error| NeuralError::Device(format!("no GPU {number}: {error}")))?,
        };
        Ok(Self { kind, dir: dir.to_owned(), options: options.clone(), device })
    }

    /// `config.json`, after a check that the family is one of the supported.
    pub(in crate::encoders) fn config<C: DeserializeOwned>(
        &self,
        is_supported: fn(&str) -> bool,
        supported: &'static str,
    ) -> Result<C, NeuralError> {
        let path = self.config_path();
        if !path.is_file() {
            return Err(weights::missing(&self.dir, "config.json"));
        }
        let config: serde_json::Value = weights::read_json(&path)?;
        let architecture =
            config.get("model_type").and_then(|kind| kind.as_str()).unwrap_or("(no model_type)").to_owned();
        if !is_supported(&architecture) {
            return Err(NeuralError::UnknownArchitecture { dir: self.dir.clone(), architecture, supported });
        }
        serde_json::from_value(config).map_err(|error| weights::bad(&path, &error.to_string()))
    }

    /// The weights; see [`Weights::open`].
    pub(in crate::encoders) fn weights(&self, names: (&[&str], &str)) -> Result<Weights, NeuralError> {
        let dtype = match self.options.precision {
            Precision::F32 => DType::F32,
            Precision::F16 => DType::F16,
            Precision::Bf16 => DType::BF16,
        };
        Weights::open(&self.dir, &self.device, dtype, names)
    }

    /// The error for an option of the model that is not implemented.
    pub(in crate::encoders) fn unsupported(&self, what: &str) -> NeuralError {
        NeuralError::Unsupported { dir: self.dir.clone(), what: what.to_owned() }
    }

    /// The encoder of a network that takes up to `limit` tokens of that vocabulary.
    pub(in crate::encoders) fn encoder(
        self,
        network: Box<dyn Network>,
        vocabulary: usize,
        limit: usize,
    ) -> Result<NeuralEncoder, NeuralError> {
        let limit = self.options.max_tokens.unwrap_or(limit).min(limit);
        if limit < MIN_TOKENS {
            return Err(self.unsupported(&format!("it has positions for {limit} tokens only")));
        }
        let tokens = Tokens::open(&self.dir, vocabulary, limit)?;
        let fingerprint = self.fingerprint(limit)?;
        let absolute = std::fs::canonicalize(&self.dir).unwrap_or_else(|_| self.dir.clone());
        let name = absolute.file_name().unwrap_or_default().to_string_lossy();
        Ok(NeuralEncoder {
            id: format!("{}:{name}", self.kind),
            fingerprint,
            network,
            tokens,
            options: self.options,
            on_gpu: !self.device.is_cpu(),
            truncated: AtomicU64::new(0),
        })
    }

    /// Everything that changes a vector: files, pooling, options, version.
    fn fingerprint(&self, limit: usize) -> Result<String, NeuralError> {
        let device = if self.device.is_cpu() { "cpu" } else { "cuda" };
        let NeuralOptions { form, precision, normalise, .. } = &self.options;
        let settings = format!(
            "{VERSION} {} render@{RENDER_VERSION} mean {form:?} {precision:?} {device} {limit} {normalise}",
            self.kind
        );
        let mut files = vec![self.config_path(), self.dir.join(tokens::FILE)];
        files.extend(weights::files(&self.dir)?);
        fingerprint::fingerprint(&settings, &files)
    }

    fn config_path(&self) -> PathBuf {
        self.dir.join("config.json")
    }
}
