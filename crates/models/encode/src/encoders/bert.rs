//! `bert:DIR`: sentence encoders of the BERT family (`MiniLM`, BGE, E5, …) from safetensors and `tokenizer.json`.
//!
//! Devlin et al. 2019, arXiv:1810.04805; `RoBERTa` and `XLM-RoBERTa` (arXiv:1907.11692, arXiv:1911.02116) differ only in
//! where positions begin. The vector of a text is the mean of the last hidden states of its tokens (special tokens
//! included), the pooling of sentence-transformers. Texts are cut at the model's positions, 512 for most.

use std::path::Path;

use candle_core::{DType, Result, Tensor};
use candle_nn::{Linear, Module};
use serde::Deserialize;

use super::neural::NeuralError;
use super::neural::attention::{Plan, QUERY_BLOCK, Sight, split_heads};
use super::neural::folder::Folder;
use super::neural::network::Network;
use super::neural::tokens::Pack;
use super::neural::weights::Weights;
use super::neural::{NeuralEncoder, NeuralOptions};

/// `model_type`s that [`open`] can load.
const SUPPORTED: &str = "bert, roberta, xlm-roberta";

/// The model in a folder of `config.json`, `model.safetensors` (or shards) and `tokenizer.json`.
///
/// # Errors
/// When a file is missing or damaged, the files do not belong together, or the model is of another family.
pub fn open(dir: &Path, options: &NeuralOptions) -> std::result::Result<NeuralEncoder, NeuralError> {
    let folder = Folder::open("bert", dir, options)?;
    let config: Config =
        folder.config(|kind| matches!(kind, "bert" | "roberta" | "xlm-roberta"), SUPPORTED)?;
    if config.position_embedding_type.as_deref().is_some_and(|kind| kind != "absolute") {
        return Err(folder.unsupported("only `position_embedding_type` absolute is supported"));
    }
    if config.hidden_size == 0 || !config.hidden_size.is_multiple_of(config.num_attention_heads.max(1)) {
        return Err(folder.unsupported("`hidden_size` is not a multiple of `num_attention_heads`"));
    }
    let activation = activation(&config.hidden_act)
        .ok_or_else(|| folder.unsupported(&format!("unknown activation `{}`", config.hidden_act)))?;
    let weights = folder.weights((&["", "bert.", "roberta."], "embeddings.word_embeddings.weight"))?;
    let limit = config.max_position_embeddings.saturating_sub(config.first_position());
    let network = Bert::open(&weights, &config, activation)?;
    folder.encoder(Box::new(network), config.vocab_size, limit)
}

/// `config.json`, under the names of the reference library.
#[derive(Deserialize)]
struct Config {
    model_type: String,
    vocab_size: usize,
    hidden_size: usize,
    num_hidden_layers: usize,
    num_attention_heads: usize,
    intermediate_size: usize,
    hidden_act: String,
    max_position_embeddings: usize,
    type_vocab_size: usize,
    layer_norm_eps: f64,
    #[serde(default)]
    pad_token_id: usize,
    position_embedding_type: Option<String>,
}

impl Config {
    /// Row of the position table that the first token gets: the `RoBERTa` family begins after its padding token.
    fn first_position(&self) -> usize {
        if self.model_type == "bert" { 0 } else { self.pad_token_id + 1 }
    }
}

type Activation = fn(&Tensor) -> Result<Tensor>;

fn activation(name: &str) -> Option<Activation> {
    match name {
        "gelu" => Some(Tensor::gelu_erf),
        "gelu_new" | "gelu_pytorch_tanh" => Some(Tensor::gelu),
        "relu" => Some(Tensor::relu),
        _ => None,
    }
}

struct Bert {
    words: Tensor,
    positions: Tensor,
    /// Embedding of the first token type: a text is never a pair here.
    kind: Tensor,
    norm: LayerNorm,
    layers: Vec<Layer>,
    first_position: u32,
}

struct Layer {
    heads: usize,
    activation: Activation,
    query: Linear,
    key: Linear,
    value: Linear,
    attended: Linear,
    attended_norm: LayerNorm,
    wide: Linear,
    narrow: Linear,
    narrow_norm: LayerNorm,
}

/// Shifts and scales each row to mean 0 and variance 1, in f32 whatever the precision.
struct LayerNorm {
    weight: Tensor,
    bias: Tensor,
    epsilon: f64,
}

impl LayerNorm {
    fn open(weights: &Weights, name: &str, config: &Config) -> std::result::Result<Self, NeuralError> {
        // Checkpoints from TensorFlow keep its names.
        let old = weights.has(&format!("{name}.gamma"));
        let (weight, bias) = if old { ("gamma", "beta") } else { ("weight", "bias") };
        let read = |part: &str| weights.tensor(&format!("{name}.{part}"), &[config.hidden_size]);
        Ok(Self {
            weight: read(weight)?.to_dtype(DType::F32)?,
            bias: read(bias)?.to_dtype(DType::F32)?,
            epsilon: config.layer_norm_eps,
        })
    }

    #[allow(clippy::cast_possible_truncation, reason = "the library takes the small constant as f32")]
    fn forward(&self, states: &Tensor) -> Result<Tensor> {
        let wide = states.to_dtype(DType::F32)?;
        candle_nn::ops::layer_norm(&wide, &self.weight, &self.bias, self.epsilon as f32)?
            .to_dtype(states.dtype())
    }
}

impl Layer {
    fn open(
        weights: &Weights,
        config: &Config,
        activation: Activation,
        layer: usize,
    ) -> std::result::Result<Self, NeuralError> {
        let at = |name: &str| format!("encoder.layer.{layer}.{name}");
        let (hidden, wide) = (config.hidden_size, config.intermediate_size);
        Ok(Self {
            heads: config.num_attention_heads,
            activation,
            query: weights.linear(&at("attention.self.query"), hidden, hidden, true)?,
            key: weights.linear(&at("attention.self.key"), hidden, hidden, true)?,
            value: weights.linear(&at("attention.self.value"), hidden, hidden, true)?,
            attended: weights.linear(&at("attention.output.dense"), hidden, hidden, true)?,
            attended_norm: LayerNorm::open(weights, &at("attention.output.LayerNorm"), config)?,
            wide: weights.linear(&at("intermediate.dense"), hidden, wide, true)?,
            narrow: weights.linear(&at("output.dense"), wide, hidden, true)?,
            narrow_norm: LayerNorm::open(weights, &at("output.LayerNorm"), config)?,
        })
    }

    fn forward(&self, states: &Tensor, plan: &Plan) -> Result<Tensor> {
        let part = |linear: &Linear| split_heads(&linear.forward(states)?, self.heads);
        let mixed = plan.attend(&part(&self.query)?, &part(&self.key)?, &part(&self.value)?)?;
        let states = self.attended_norm.forward(&(self.attended.forward(&mixed)? + states)?)?;
        let wide = (self.activation)(&self.wide.forward(&states)?)?;
        self.narrow_norm.forward(&(self.narrow.forward(&wide)? + &states)?)
    }
}

impl Bert {
    fn open(
        weights: &Weights,
        config: &Config,
        activation: Activation,
    ) -> std::result::Result<Self, NeuralError> {
        let table = |name: &str, rows| {
            weights.tensor(&format!("embeddings.{name}.weight"), &[rows, config.hidden_size])
        };
        let layers: std::result::Result<_, _> = (0..config.num_hidden_layers)
            .map(|layer| Layer::open(weights, config, activation, layer))
            .collect();
        Ok(Self {
            words: table("word_embeddings", config.vocab_size)?,
            positions: table("position_embeddings", config.max_position_embeddings)?,
            kind: table("token_type_embeddings", config.type_vocab_size)?.narrow(0, 0, 1)?,
            norm: LayerNorm::open(weights, "embeddings.LayerNorm", config)?,
            layers: layers?,
            first_position: u32::try_from(config.first_position()).unwrap_or(u32::MAX),
        })
    }
}

impl Network for Bert {
    fn hidden_states(&self, pack: &Pack) -> Result<Tensor> {
        let device = self.words.device();
        let positions: Vec<u32> = pack.positions().iter().map(|at| at + self.first_position).collect();
        let words = self.words.index_select(&Tensor::new(pack.tokens.as_slice(), device)?, 0)?;
        let positions = self.positions.index_select(&Tensor::new(positions, device)?, 0)?;
        let mut states = self.norm.forward(&(words.broadcast_add(&self.kind)? + positions)?)?;
        let plan = Plan::new(&pack.lengths, Sight::Whole, QUERY_BLOCK, device)?;
        for layer in &self.layers {
            states = layer.forward(&states, &plan)?;
        }
        Ok(states)
    }

    fn width(&self) -> usize {
        self.words.dim(1).unwrap_or(0)
    }
}
