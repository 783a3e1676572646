//! Errors of a model folder.

use std::path::PathBuf;

use crate::encoder::EncodeError;

/// Why a language model could not be loaded, or could not encode a text.
#[derive(Debug, thiserror::Error)]
pub enum NeuralError {
    /// A file that every model folder has is not there.
    #[error(
        "`{name}` is missing in {}: fetch the whole model, for example with `hf download ORGANISATION/MODEL --local-dir \
         DIR` (weights in `pytorch_model.bin` only: save them as safetensors first)",
        dir.display()
    )]
    MissingFile {
        dir: PathBuf,
        /// The file, or the choice of files.
        name: String,
    },
    /// A file cannot be read.
    #[error("{} cannot be read: {source}", path.display())]
    Io {
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// A file does not hold what its name promises.
    #[error("{} is not usable: {reason}", path.display())]
    BadFile {
        path: PathBuf,
        /// What is wrong in it.
        reason: String,
    },
    /// No code for this family of models.
    #[error("the model in {} has the architecture `{architecture}`; supported here: {supported}", dir.display())]
    UnknownArchitecture {
        dir: PathBuf,
        /// `model_type` of its `config.json`.
        architecture: String,
        /// What the encoder that was asked for can load.
        supported: &'static str,
    },
    /// A known family with an option that is not implemented.
    #[error("the model in {} cannot be loaded: {what}", dir.display())]
    Unsupported {
        dir: PathBuf,
        /// The option and what is supported instead.
        what: String,
    },
    /// The configuration asks for a tensor that no weights file holds.
    #[error("the weights in {} have no tensor `{name}`, which `config.json` asks for: are both of the same model?", dir.display())]
    MissingTensor { dir: PathBuf, name: String },
    /// A tensor has another shape than the configuration says.
    #[error(
        "tensor `{name}` has the shape {shape:?} where `config.json` asks for {expected:?}: are both of the same model?"
    )]
    TensorShape {
        name: String,
        /// Shape in the weights.
        shape: Vec<usize>,
        /// Shape by the configuration.
        expected: Vec<usize>,
    },
    /// The tokenizer makes token ids that the model has no embedding for.
    #[error(
        "the tokenizer in {} belongs to another model: its largest token id is {largest}, but `config.json` gives a \
         vocabulary of {vocabulary}",
        dir.display()
    )]
    TokenizerMismatch {
        dir: PathBuf,
        largest: u32,
        /// Rows of the embedding table.
        vocabulary: usize,
    },
    /// A text without a token has no mean.
    #[error("text {index} of the batch has no tokens, so there is nothing to encode")]
    NoTokens {
        /// Position in the batch, from 0.
        index: usize,
    },
    /// The model computed something that is no number.
    #[error(
        "text {index} of the batch has a vector with NaN or infinite components: broken weights, or use precision f32"
    )]
    NotFinite {
        /// Position in the batch, from 0.
        index: usize,
    },
    /// The tokenizer failed.
    #[error("the tokenizer failed: {0}")]
    Tokenizer(String),
    /// The device that was asked for is not there, or cannot do it.
    #[error("{0}")]
    Device(String),
    /// The tensor library failed.
    #[error("the model failed: {0}")]
    Model(#[from] candle_core::Error),
}

impl From<NeuralError> for EncodeError {
    fn from(error: NeuralError) -> Self {
        Self(error.to_string())
    }
}
