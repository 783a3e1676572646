//! The options of encoders with a language model.

use std::str::FromStr;

use super::error::NeuralError;
use crate::input::InputForm;

/// Where a model computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum NeuralDevice {
    /// The processor.
    #[default]
    Cpu,
    /// The NVIDIA GPU of that number; needs the feature `cuda`.
    Cuda(usize),
}

/// In which numbers a model computes. Norms, softmax and rotations are in f32 and the mean in f64 in any case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Precision {
    /// 32 bits.
    #[default]
    F32,
    /// 16 bits, small range: models trained in bf16 may overflow.
    F16,
    /// 16 bits, the range of f32; on a GPU only.
    Bf16,
}

#[derive(Debug, Clone)]
pub struct NeuralOptions {
    /// Which parts of an item are encoded.
    pub form: InputForm,
    /// Where the model computes.
    pub device: NeuralDevice,
    pub precision: Precision,
    /// Longer texts lose their end; never more than the model has positions for. None: as each encoder documents.
    pub max_tokens: Option<usize>,
    /// Scale every vector to length 1.
    pub normalise: bool,
}

impl NeuralOptions {
    /// On the processor in f32, not scaled.
    pub fn new(form: InputForm) -> Self {
        let (device, precision) = (NeuralDevice::Cpu, Precision::F32);
        Self { form, device, precision, max_tokens: None, normalise: false }
    }
}

impl FromStr for NeuralDevice {
    type Err = NeuralError;

    fn from_str(text: &str) -> Result<Self, NeuralError> {
        let number = match text.split_once(':') {
            None if text == "cpu" => return Ok(Self::Cpu),
            None if text == "cuda" => Some(0),
            Some(("cuda", number)) => number.parse().ok(),
            _ => None,
        };
        let unknown =
            || NeuralError::Device(format!("unknown device `{text}`: choose cpu, cuda or cuda:NUMBER"));
        number.map(Self::Cuda).ok_or_else(unknown)
    }
}

impl FromStr for Precision {
    type Err = NeuralError;

    fn from_str(text: &str) -> Result<Self, NeuralError> {
        match text {
            "f32" => Ok(Self::F32),
            "f16" => Ok(Self::F16),
            "bf16" => Ok(Self::Bf16),
            _ => Err(NeuralError::Device(format!("unknown precision `{text}`: choose f32, f16 or bf16"))),
        }
    }
}
