//! `llm:DIR`: the mean-pooled last hidden state of a decoder (Llama, Mistral, Qwen2) from safetensors, sharded or not:
//! the representation that `FusionSQL` uses (section V-D; Table VII, "mean-pooled last layer").
//!
//! The hidden states are those after the final norm, the `last_hidden_state` of the reference library; the mean goes
//! over all tokens of the text, a begin-of-text token included where the tokenizer adds one. Texts are cut at
//! [`DEFAULT_MAX_TOKENS`] tokens unless [`NeuralOptions::max_tokens`] says otherwise, and never beyond the model's own
//! positions.

use std::path::Path;

use serde::Deserialize;

use super::neural::NeuralError;
use super::neural::decoder::{Decoder, DecoderConfig};
use super::neural::folder::Folder;
use super::neural::{NeuralEncoder, NeuralOptions};

/// Tokens kept of a text unless the options say otherwise: the time grows with the square of the length, and the
/// positions of today's models (131,072 for many) are far beyond any question with its schema.
pub(crate) const DEFAULT_MAX_TOKENS: usize = 4096;

/// `model_type`s that [`open`] can load.
const SUPPORTED: &str = "llama, mistral, qwen2";

/// The model in a folder of `config.json`, `model.safetensors` (or shards with `model.safetensors.index.json`) and
/// `tokenizer.json`.
///
/// # Errors
/// When a file is missing or damaged, the files do not belong together, or the model is of another family.
pub fn open(dir: &Path, options: &NeuralOptions) -> Result<NeuralEncoder, NeuralError> {
    let folder = Folder::open("llm", dir, options)?;
    let config: Config = folder.config(|kind| matches!(kind, "llama" | "mistral" | "qwen2"), SUPPORTED)?;
    let decoder = config.decoder().map_err(|what| folder.unsupported(&what))?;
    let weights = folder.weights((&["", "model."], "embed_tokens.weight"))?;
    let (vocabulary, positions) = (decoder.vocabulary, decoder.max_tokens);
    let limit = options.max_tokens.unwrap_or(DEFAULT_MAX_TOKENS).min(positions);
    folder.encoder(Box::new(Decoder::open(&weights, decoder, limit)?), vocabulary, limit)
}

/// `config.json`, under the names of the reference library.
#[derive(Deserialize)]
#[allow(clippy::struct_field_names, reason = "the names are given")]
struct Config {
    model_type: String,
    vocab_size: usize,
    hidden_size: usize,
    intermediate_size: usize,
    num_hidden_layers: usize,
    num_attention_heads: usize,
    num_key_value_heads: Option<usize>,
    head_dim: Option<usize>,
    rms_norm_eps: f64,
    max_position_embeddings: usize,
    hidden_act: String,
    rope_theta: Option<f64>,
    /// Older configurations: the scaling alone.
    rope_scaling: Option<Rope>,
    /// Newer ones: base and scaling together.
    rope_parameters: Option<Rope>,
    sliding_window: Option<usize>,
    #[serde(default)]
    use_sliding_window: bool,
    max_window_layers: Option<usize>,
    layer_types: Option<Vec<String>>,
    #[serde(default)]
    attention_bias: bool,
    #[serde(default)]
    mlp_bias: bool,
    quantization_config: Option<serde_json::Value>,
}

/// How positions turn the heads, under the names of the reference library.
#[derive(Deserialize, Default)]
#[allow(clippy::struct_field_names, reason = "the names are given")]
struct Rope {
    rope_theta: Option<f64>,
    #[serde(alias = "type")]
    rope_type: Option<String>,
    factor: Option<f64>,
    low_freq_factor: Option<f64>,
    high_freq_factor: Option<f64>,
    original_max_position_embeddings: Option<f64>,
}

/// The base of the rotations in models that do not name one.
const DEFAULT_THETA: f64 = 10_000.0;

impl Config {
    /// The decoder that this configures, or what it asks for that is not supported.
    fn decoder(&self) -> Result<DecoderConfig, String> {
        let heads = self.num_attention_heads;
        let key_value_heads = self.num_key_value_heads.unwrap_or(heads);
        if heads == 0 || key_value_heads == 0 || !heads.is_multiple_of(key_value_heads) {
            return Err(format!(
                "{heads} attention heads cannot share {key_value_heads} key and value heads"
            ));
        }
        if self.hidden_act != "silu" {
            return Err(format!("its activation is `{}`; only silu is supported", self.hidden_act));
        }
        if self.quantization_config.is_some() {
            return Err("its weights are quantised; use the unquantised model".to_owned());
        }
        let head_size = self.head_dim.unwrap_or(self.hidden_size / heads);
        if head_size == 0 || !head_size.is_multiple_of(2) {
            return Err(format!("heads of {head_size} components cannot be rotated in pairs"));
        }
        let is_qwen = self.model_type == "qwen2";
        Ok(DecoderConfig {
            vocabulary: self.vocab_size,
            hidden: self.hidden_size,
            intermediate: self.intermediate_size,
            heads,
            key_value_heads,
            head_size,
            norm_epsilon: self.rms_norm_eps,
            input_bias: is_qwen || self.attention_bias,
            output_bias: !is_qwen && self.attention_bias,
            mlp_bias: self.mlp_bias,
            windows: (0..self.num_hidden_layers).map(|layer| self.window(layer)).collect(),
            frequencies: self.frequencies(head_size)?,
            max_tokens: self.max_position_embeddings,
        })
    }

    /// The sliding window of a layer: named layer by layer in newer configurations; in older ones Mistral has one in
    /// all layers or none, and Qwen2 from `max_window_layers` on when it is switched on.
    fn window(&self, layer: usize) -> Option<usize> {
        let named = self.layer_types.as_ref().and_then(|types| types.get(layer));
        let windowed = match (self.model_type.as_str(), named) {
            ("llama", _) => false,
            ("mistral", _) => true,
            (_, Some(kind)) => kind == "sliding_attention",
            (_, None) => self.use_sliding_window && layer >= self.max_window_layers.unwrap_or(usize::MAX),
        };
        self.sliding_window.filter(|window| windowed && *window > 0)
    }

    /// Turns per token of each pair of a head's components, or the scaling that is not supported.
    fn frequencies(&self, head_size: usize) -> Result<Vec<f32>, String> {
        let none = Rope::default();
        let rope = self.rope_parameters.as_ref().or(self.rope_scaling.as_ref()).unwrap_or(&none);
        let theta = rope.rope_theta.or(self.rope_theta).unwrap_or(DEFAULT_THETA);
        let pairs = (0..head_size).step_by(2);
        let plain = pairs.map(|pair| theta.powf(-(pair as f64) / head_size as f64));
        let scaled: Vec<f64> = match rope.rope_type.as_deref() {
            None | Some("default") => plain.collect(),
            Some("linear") => plain.map(|frequency| frequency / rope.factor.unwrap_or(1.0)).collect(),
            Some("llama3") => {
                plain.map(|frequency| rope.llama3(frequency)).collect::<Option<_>>().ok_or_else(|| {
                    "its rope scaling `llama3` lacks one of factor, low_freq_factor, high_freq_factor and \
                 original_max_position_embeddings"
                        .to_owned()
                })?
            }
            Some(other) => {
                return Err(format!("its rope scaling is `{other}`; supported: default, linear, llama3"));
            }
        };
        #[allow(clippy::cast_possible_truncation, reason = "the reference keeps them in f32")]
        Ok(scaled.into_iter().map(|frequency| frequency as f32).collect())
    }
}

impl Rope {
    /// Llama 3.1's stretching: long waves are slowed by the factor, short ones kept, those between blended.
    fn llama3(&self, frequency: f64) -> Option<f64> {
        let (low, high) = (self.low_freq_factor?, self.high_freq_factor?);
        let waves = self.original_max_position_embeddings? * frequency / (2.0 * std::f64::consts::PI);
        let share = ((waves - low) / (high - low)).clamp(0.0, 1.0);
        Some(share * frequency + (1.0 - share) * frequency / self.factor?)
    }
}
