//! The decoder that Llama, Mistral and Qwen2 share, up to the hidden states after its final norm.
//!
//! Llama: Touvron et al. 2023, arXiv:2302.13971; grouped-query attention: arXiv:2305.13245; Mistral's sliding window:
//! arXiv:2310.06825; Qwen2's biases: arXiv:2407.10671; rotary positions: arXiv:2104.09864.

use candle_core::{DType, Result, Tensor};
use candle_nn::{Linear, Module};

use super::attention::{Plan, QUERY_BLOCK, Sight, split_heads};
use super::error::NeuralError;
use super::network::Network;
use super::tokens::Pack;
use super::weights::Weights;

/// What the families differ in.
#[derive(Debug, Clone)]
pub(crate) struct DecoderConfig {
    pub(crate) vocabulary: usize,
    pub(crate) hidden: usize,
    pub(crate) intermediate: usize,
    pub(crate) heads: usize,
    pub(crate) key_value_heads: usize,
    pub(crate) head_size: usize,
    pub(crate) norm_epsilon: f64,
    /// Biases of the query, key and value projections.
    pub(crate) input_bias: bool,
    /// Bias of the projection after the attention.
    pub(crate) output_bias: bool,
    /// Biases of the feed-forward part.
    pub(crate) mlp_bias: bool,
    /// The sliding window of each layer, where it has one.
    pub(crate) windows: Vec<Option<usize>>,
    /// Turns per token of each pair of a head's components.
    pub(crate) frequencies: Vec<f32>,
    pub(crate) max_tokens: usize,
}

/// A decoder without its output layer.
pub(crate) struct Decoder {
    config: DecoderConfig,
    embeddings: Tensor,
    layers: Vec<Layer>,
    norm: RmsNorm,
    cos: Tensor,
    sin: Tensor,
}

struct Layer {
    input_norm: RmsNorm,
    query: Linear,
    key: Linear,
    value: Linear,
    output: Linear,
    mlp_norm: RmsNorm,
    gate: Linear,
    up: Linear,
    down: Linear,
    window: Option<usize>,
}

/// Scales each row to a root mean square of 1, in f32 whatever the precision.
struct RmsNorm {
    weight: Tensor,
    epsilon: f64,
}

impl RmsNorm {
    fn open(weights: &Weights, name: &str, config: &DecoderConfig) -> std::result::Result<Self, NeuralError> {
        let weight = weights.tensor(&format!("{name}.weight"), &[config.hidden])?.to_dtype(DType::F32)?;
        Ok(Self { weight, epsilon: config.norm_epsilon })
    }

    #[allow(clippy::cast_possible_truncation, reason = "the library takes the small constant as f32")]
    fn forward(&self, states: &Tensor) -> Result<Tensor> {
        let wide = states.to_dtype(DType::F32)?;
        candle_nn::ops::rms_norm(&wide, &self.weight, self.epsilon as f32)?.to_dtype(states.dtype())
    }
}

/// The rotations of the tokens of a pack, and what they look at.
struct Context {
    cos: Tensor,
    sin: Tensor,
    full: Plan,
    windowed: Option<Plan>,
}

impl Layer {
    fn open(
        weights: &Weights,
        config: &DecoderConfig,
        layer: usize,
    ) -> std::result::Result<Self, NeuralError> {
        let at = |name: &str| format!("layers.{layer}.{name}");
        let (hidden, wide) = (config.hidden, config.intermediate);
        let (queries, keys) = (config.heads * config.head_size, config.key_value_heads * config.head_size);
        Ok(Self {
            input_norm: RmsNorm::open(weights, &at("input_layernorm"), config)?,
            query: weights.linear(&at("self_attn.q_proj"), hidden, queries, config.input_bias)?,
            key: weights.linear(&at("self_attn.k_proj"), hidden, keys, config.input_bias)?,
            value: weights.linear(&at("self_attn.v_proj"), hidden, keys, config.input_bias)?,
            output: weights.linear(&at("self_attn.o_proj"), queries, hidden, config.output_bias)?,
            mlp_norm: RmsNorm::open(weights, &at("post_attention_layernorm"), config)?,
            gate: weights.linear(&at("mlp.gate_proj"), hidden, wide, config.mlp_bias)?,
            up: weights.linear(&at("mlp.up_proj"), hidden, wide, config.mlp_bias)?,
            down: weights.linear(&at("mlp.down_proj"), wide, hidden, config.mlp_bias)?,
            window: config.windows[layer],
        })
    }

    fn forward(&self, states: &Tensor, context: &Context, config: &DecoderConfig) -> Result<Tensor> {
        let states = (states + self.attend(&self.input_norm.forward(states)?, context, config)?)?;
        let normed = self.mlp_norm.forward(&states)?;
        let gated = (self.gate.forward(&normed)?.silu()? * self.up.forward(&normed)?)?;
        states + self.down.forward(&gated)?
    }

    fn attend(&self, states: &Tensor, context: &Context, config: &DecoderConfig) -> Result<Tensor> {
        let rotate = |heads: Tensor| {
            let rotated = candle_nn::rotary_emb::rope(&heads.unsqueeze(0)?, &context.cos, &context.sin)?;
            rotated.squeeze(0)
        };
        let queries = rotate(split_heads(&self.query.forward(states)?, config.heads)?)?;
        let keys = rotate(split_heads(&self.key.forward(states)?, config.key_value_heads)?)?;
        let values = split_heads(&self.value.forward(states)?, config.key_value_heads)?;
        let plan = context.windowed.as_ref().filter(|_| self.window.is_some()).unwrap_or(&context.full);
        self.output.forward(&plan.attend(&queries, &keys, &values)?)
    }
}

impl Decoder {
    /// Reads the weights; rotations are kept for `limit` tokens.
    pub(crate) fn open(
        weights: &Weights,
        config: DecoderConfig,
        limit: usize,
    ) -> std::result::Result<Self, NeuralError> {
        let embeddings = weights.tensor("embed_tokens.weight", &[config.vocabulary, config.hidden])?;
        let layers: std::result::Result<_, _> =
            (0..config.windows.len()).map(|layer| Layer::open(weights, &config, layer)).collect();
        let norm = RmsNorm::open(weights, "norm", &config)?;
        // The reference computes the angles in f32, and the models were trained with what that gives.
        let angle = |at: usize| config.frequencies.iter().map(move |frequency| at as f32 * frequency);
        let angles: Vec<f32> = (0..limit).flat_map(angle).collect();
        let table = |turn: fn(f32) -> f32| {
            let values: Vec<f32> = angles.iter().map(|angle| turn(*angle)).collect();
            Tensor::from_vec(values, (limit, config.frequencies.len()), weights.device())?
                .to_dtype(embeddings.dtype())
        };
        Ok(Self { cos: table(f32::cos)?, sin: table(f32::sin)?, layers: layers?, embeddings, norm, config })
    }

    fn context(&self, pack: &Pack) -> Result<Context> {
        let device = self.embeddings.device();
        let positions = Tensor::new(pack.positions(), device)?;
        let plan = |window| Plan::new(&pack.lengths, Sight::Causal { window }, QUERY_BLOCK, device);
        let window = self.config.windows.iter().flatten().next();
        Ok(Context {
            cos: self.cos.index_select(&positions, 0)?,
            sin: self.sin.index_select(&positions, 0)?,
            full: plan(None)?,
            windowed: window.map(|window| plan(Some(*window))).transpose()?,
        })
    }
}

impl Network for Decoder {
    fn hidden_states(&self, pack: &Pack) -> Result<Tensor> {
        let context = self.context(pack)?;
        let tokens = Tensor::new(pack.tokens.as_slice(), self.embeddings.device())?;
        let mut states = self.embeddings.index_select(&tokens, 0)?;
        for layer in &self.layers {
            states = layer.forward(&states, &context, &self.config)?;
        }
        self.norm.forward(&states)
    }

    fn width(&self) -> usize {
        self.config.hidden
    }
}
