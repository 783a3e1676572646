//! The network of the paper (section V, "Training Settings") on candle.

use candle_core::{Device, Result, Tensor, Var};
use candle_nn::ops::{layer_norm_slow, sigmoid};
use candle_nn::optim::{AdamW, Optimizer, ParamsAdamW};

use super::blob::{Blob, BlobValues, Blobs};
use super::meta_set::Rows;
use sqlgauge_base::{Random, seed_of};

/// Widths of the hidden layers.
pub(super) const HIDDEN: [usize; 3] = [256, 128, 64];

const PREDICTED_AT_ONCE: usize = 2048;

/// Of `PyTorch` and the publication of layer normalisation.
const EPSILON: f32 = 1e-5;

/// `Linear - LayerNorm - ReLU`, three times (256, 128, 64), with dropout between the hidden layers, then
/// `Linear - sigmoid`: the output is in `(0, 1)` as an accuracy is, and far outside of what it was trained on it
/// saturates where a line would leave the range.
///
/// `layer_norm_slow` is chosen on purpose: `candle_nn::LayerNorm` has no backward pass and cuts the gradient.
pub(super) struct Network {
    hidden: Vec<Hidden>,
    weight: Var,
    bias: Var,
}

struct Hidden {
    weight: Var,
    bias: Var,
    gain: Var,
    shift: Var,
}

/// Random masks that are laid over hidden values in training.
pub(super) struct Dropout {
    pub rate: f64,
    pub random: Random,
}

/// Inputs and accuracies as `f32`, for batches.
pub(super) struct Samples {
    width: usize,
    inputs: Vec<f32>,
    accuracy: Vec<f32>,
}

/// How a network is moved.
#[derive(Debug, Clone, Copy)]
pub(super) struct Momentum {
    pub learning_rate: f64,
    pub beta1: f64,
    pub weight_decay: f64,
}

impl Samples {
    #[expect(clippy::cast_possible_truncation, reason = "scaled inputs and accuracies need no more than f32")]
    pub(crate) fn new(rows: &Rows, accuracy: &[f64]) -> Self {
        Self {
            width: rows.width(),
            inputs: rows.values().iter().map(|&value| value as f32).collect(),
            accuracy: accuracy.iter().map(|&value| value as f32).collect(),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.accuracy.len()
    }

    /// Inputs (rows × width) and accuracies (rows × 1) of some rows.
    fn batch(&self, rows: &[usize]) -> Result<(Tensor, Tensor)> {
        let inputs = rows.iter().flat_map(|&row| &self.inputs[row * self.width..][..self.width]).copied();
        let accuracy = rows.iter().map(|&row| self.accuracy[row]);
        let inputs = Tensor::from_vec(inputs.collect(), (rows.len(), self.width), &Device::Cpu)?;
        Ok((inputs, Tensor::from_vec(accuracy.collect::<Vec<f32>>(), (rows.len(), 1), &Device::Cpu)?))
    }
}

impl Network {
    /// A network with random weights, uniform within `1 / sqrt(inputs)` of each layer (a tenth of that for the last
    /// one), so that it starts out predicting about `accuracy` whatever the input: few sample sets then give an
    /// estimate near the mean and not a random one.
    pub(crate) fn new(width: usize, accuracy: f64, seed: u64) -> Result<Self> {
        let mut random = Random::new([seed, seed_of("weights")]);
        let mut hidden = Vec::new();
        let mut inputs = width;
        for outputs in HIDDEN {
            hidden.push(Hidden {
                weight: uniform(&[outputs, inputs], bound(inputs), &mut random)?,
                bias: uniform(&[outputs], bound(inputs), &mut random)?,
                gain: Var::ones(outputs, candle_core::DType::F32, &Device::Cpu)?,
                shift: Var::zeros(outputs, candle_core::DType::F32, &Device::Cpu)?,
            });
            inputs = outputs;
        }
        let weight = uniform(&[1, inputs], 0.1 * bound(inputs), &mut random)?;
        let accuracy = accuracy.clamp(0.001, 0.999);
        #[expect(clippy::cast_possible_truncation, reason = "a starting point")]
        let bias = Var::from_vec(vec![(accuracy / (1.0 - accuracy)).ln() as f32], 1, &Device::Cpu)?;
        Ok(Self { hidden, weight, bias })
    }

    /// Number of inputs.
    pub(crate) fn width(&self) -> usize {
        self.hidden[0].weight.dims()[1]
    }

    /// Estimates (rows × 1); with dropout in training, without it otherwise.
    fn forward(&self, inputs: &Tensor, mut dropout: Option<&mut Dropout>) -> Result<Tensor> {
        let mut values = inputs.clone();
        for (place, layer) in self.hidden.iter().enumerate() {
            values = linear(&values, &layer.weight, &layer.bias)?;
            values = layer_norm_slow(&values, &layer.gain, &layer.shift, EPSILON)?.relu()?;
            if let Some(dropout) = dropout.as_deref_mut()
                && place + 1 < self.hidden.len()
            {
                values = values.mul(&dropout.mask(values.dims2()?)?)?;
            }
        }
        sigmoid(&linear(&values, &self.weight, &self.bias)?)
    }

    /// Mean squared error on a batch (Eq. 8).
    fn loss(&self, samples: &Samples, rows: &[usize], dropout: Option<&mut Dropout>) -> Result<Tensor> {
        let (inputs, accuracy) = samples.batch(rows)?;
        self.forward(&inputs, dropout)?.sub(&accuracy)?.sqr()?.mean_all()
    }

    /// One step of the optimizer on a batch; gives the loss before it.
    pub(crate) fn step(
        &self,
        optimizer: &mut AdamW,
        samples: &Samples,
        rows: &[usize],
        dropout: Option<&mut Dropout>,
    ) -> Result<f64> {
        let loss = self.loss(samples, rows, dropout)?;
        optimizer.backward_step(&loss)?;
        Ok(f64::from(loss.to_scalar::<f32>()?))
    }

    /// An optimizer of all parameters, with nothing accumulated.
    pub(crate) fn optimizer(&self, momentum: Momentum) -> Result<AdamW> {
        let parameters = ParamsAdamW {
            lr: momentum.learning_rate,
            beta1: momentum.beta1,
            beta2: 0.999,
            eps: 1e-8,
            weight_decay: momentum.weight_decay,
        };
        AdamW::new(self.variables().into_iter().map(|(_, variable)| variable.clone()).collect(), parameters)
    }

    /// Estimates of scaled rows.
    pub(crate) fn predict(&self, rows: &Rows) -> Result<Vec<f64>> {
        let samples = Samples::new(rows, &vec![0.0; rows.len()]);
        let all: Vec<usize> = (0..rows.len()).collect();
        let mut estimates = Vec::with_capacity(rows.len());
        for chunk in all.chunks(PREDICTED_AT_ONCE) {
            let (inputs, _) = samples.batch(chunk)?;
            let chunk = self.forward(&inputs, None)?.flatten_all()?.to_vec1::<f32>()?;
            estimates.extend(chunk.into_iter().map(f64::from));
        }
        Ok(estimates)
    }

    /// All parameters with their names, as `PyTorch` would shape them.
    fn variables(&self) -> Vec<(String, &Var)> {
        let mut variables = Vec::new();
        for (place, layer) in self.hidden.iter().enumerate() {
            let named = [
                ("linear", "weight", &layer.weight),
                ("linear", "bias", &layer.bias),
                ("norm", "weight", &layer.gain),
                ("norm", "bias", &layer.shift),
            ];
            variables.extend(named.map(|(kind, name, variable)| (format!("{kind}{place}.{name}"), variable)));
        }
        variables.push(("output.weight".to_owned(), &self.weight));
        variables.push(("output.bias".to_owned(), &self.bias));
        variables
    }

    /// A copy of all parameters.
    pub(crate) fn parameters(&self) -> Result<Vec<Vec<f32>>> {
        self.variables().into_iter().map(|(_, variable)| variable.flatten_all()?.to_vec1()).collect()
    }

    /// Sets all parameters.
    pub(crate) fn set(&self, parameters: &[Vec<f32>]) -> Result<()> {
        for ((_, variable), values) in self.variables().into_iter().zip(parameters) {
            variable.set(&Tensor::from_slice(values, variable.shape(), &Device::Cpu)?)?;
        }
        Ok(())
    }

    /// A network of its own with the same parameters.
    pub(crate) fn copy(&self) -> Result<Self> {
        let copy = Self::new(self.width(), 0.5, 0)?;
        copy.set(&self.parameters()?)?;
        Ok(copy)
    }

    /// The parameters as blobs.
    pub(crate) fn blobs(&self) -> Result<Vec<Blob>> {
        let blob = |(name, variable): (String, &Var)| {
            Ok(Blob::new(name, variable.dims().to_vec(), BlobValues::F32(variable.flatten_all()?.to_vec1()?)))
        };
        self.variables().into_iter().map(blob).collect()
    }

    /// A network from blobs; its shape is that of [`HIDDEN`].
    pub(crate) fn load(blobs: &Blobs<'_>, width: usize) -> std::result::Result<Self, String> {
        let network = Self::new(width, 0.5, 0).map_err(|error| error.to_string())?;
        let mut parameters = Vec::new();
        for (name, variable) in network.variables() {
            let (shape, values) = blobs.f32s(&name)?;
            if shape != variable.dims() {
                return Err(format!(
                    "the array `{name}` has the shape {shape:?} and not {:?}",
                    variable.dims()
                ));
            }
            parameters.push(values.to_vec());
        }
        network.set(&parameters).map_err(|error| error.to_string())?;
        Ok(network)
    }
}

impl Dropout {
    /// A mask that is 0 with the rate and else makes up for it; 16 random bits for each value.
    fn mask(&mut self, (rows, columns): (usize, usize)) -> Result<Tensor> {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rate is in [0, 1)")]
        let bound = (self.rate * 65536.0).round() as u64;
        #[expect(clippy::cast_possible_truncation, reason = "a factor near 1")]
        let factor = (1.0 / (1.0 - self.rate)) as f32;
        let count = rows * columns;
        let mut values = Vec::with_capacity(count + 3);
        while values.len() < count {
            let bits = self.random.next_u64();
            values.extend(
                [0, 16, 32, 48].map(|place| if (bits >> place) & 0xffff < bound { 0.0 } else { factor }),
            );
        }
        values.truncate(count);
        Tensor::from_vec(values, (rows, columns), &Device::Cpu)
    }
}

fn linear(values: &Tensor, weight: &Var, bias: &Var) -> Result<Tensor> {
    values.matmul(&weight.t()?)?.broadcast_add(bias)
}

/// `1 / sqrt(inputs)`.
fn bound(inputs: usize) -> f64 {
    1.0 / (inputs as f64).sqrt()
}

/// Uniform within a bound around zero.
fn uniform(shape: &[usize], bound: f64, random: &mut Random) -> Result<Var> {
    #[expect(clippy::cast_possible_truncation, reason = "random numbers")]
    let values = (0..shape.iter().product()).map(|_| ((2.0 * random.unit() - 1.0) * bound) as f32);
    Var::from_vec(values.collect(), shape, &Device::Cpu)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples() -> (Network, Samples) {
        let mut random = Random::new([1, seed_of("test")]);
        let rows = Rows::new(5, (0..100).map(|_| random.unit() * 4.0 - 2.0).collect()).unwrap();
        let accuracy: Vec<f64> = (0..20).map(|_| random.unit()).collect();
        (Network::new(5, 0.5, 3).unwrap(), Samples::new(&rows, &accuracy))
    }

    #[test]
    fn every_parameter_receives_a_gradient() {
        let (network, samples) = samples();
        let all: Vec<usize> = (0..samples.len()).collect();
        let mut dropout = Dropout { rate: 0.2, random: Random::new([0, seed_of("dropout")]) };
        let gradients = network.loss(&samples, &all, Some(&mut dropout)).unwrap().backward().unwrap();
        assert_eq!(network.variables().len(), 14);
        for (name, variable) in network.variables() {
            let gradient = gradients.get(variable).unwrap_or_else(|| panic!("{name} has no gradient"));
            let sum = gradient.abs().unwrap().sum_all().unwrap().to_scalar::<f32>().unwrap();
            assert!(sum > 0.0 && sum.is_finite(), "{name}: {sum}");
        }
    }

    /// The gradient is that of finite differences, for one parameter of each kind.
    #[test]
    fn gradients_are_slopes() {
        let (network, samples) = samples();
        let all: Vec<usize> = (0..samples.len()).collect();
        let loss = || f64::from(network.loss(&samples, &all, None).unwrap().to_scalar::<f32>().unwrap());
        let gradients = network.loss(&samples, &all, None).unwrap().backward().unwrap();
        let parameters = network.parameters().unwrap();
        for (at, (name, variable)) in network.variables().into_iter().enumerate() {
            let gradient: Vec<f32> =
                gradients.get(variable).unwrap().flatten_all().unwrap().to_vec1().unwrap();
            let steepest =
                (0..gradient.len()).max_by(|&a, &b| gradient[a].abs().total_cmp(&gradient[b].abs())).unwrap();
            let slope = [1e-2_f32, -1e-2].map(|step| {
                let mut moved = parameters.clone();
                moved[at][steepest] += step;
                network.set(&moved).unwrap();
                loss()
            });
            network.set(&parameters).unwrap();
            let slope = (slope[0] - slope[1]) / 2e-2;
            let gradient = f64::from(gradient[steepest]);
            assert!(
                (slope - gradient).abs() < 0.05 * gradient.abs() + 2e-5,
                "{name}: {slope} and {gradient}"
            );
        }
    }

    #[test]
    fn dropout_drops_the_share_and_keeps_the_mean() {
        let mut dropout = Dropout { rate: 0.2, random: Random::new([9, seed_of("dropout")]) };
        let mask: Vec<f32> = dropout.mask((300, 101)).unwrap().flatten_all().unwrap().to_vec1().unwrap();
        let dropped = mask.iter().filter(|&&value| value == 0.0).count() as f64 / mask.len() as f64;
        assert!((dropped - 0.2).abs() < 0.01, "{dropped}");
        assert!(mask.iter().all(|&value| value == 0.0 || (value - 1.25).abs() < 1e-6));
    }

    #[test]
    fn it_starts_at_the_mean_accuracy() {
        let rows = Rows::new(5, vec![0.0; 50]).unwrap();
        let estimate = Network::new(5, 0.8, 3).unwrap().predict(&rows).unwrap()[0];
        assert!((estimate - 0.8).abs() < 0.02, "{estimate}");
    }
}
