//! The directions that vectors are projected on.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use sqlgauge_encode::Vectors;

use crate::error::{SetSide, ShiftError};
use crate::pca;
use sqlgauge_base::Random;

/// The directions of a sliced distance: how many, and of what kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Slices {
    /// So many random directions, uniform on the sphere (the paper's AR-SWD, L = 64).
    Random(usize),
    /// Leading principal directions of the two sets together, and random ones (section IV-C, table V).
    Hybrid { principal: usize, random: usize },
}

impl Default for Slices {
    /// HSWD (8, 16), the configuration that table V marks.
    fn default() -> Self {
        Self::Hybrid { principal: 8, random: 16 }
    }
}

impl Slices {
    /// Directions in all, L.
    pub fn count(self) -> usize {
        match self {
            Self::Random(count) => count,
            Self::Hybrid { principal, random } => principal.saturating_add(random),
        }
    }
}

impl fmt::Display for Slices {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Random(count) => write!(formatter, "{count}"),
            Self::Hybrid { principal, random } => write!(formatter, "{principal},{random}"),
        }
    }
}

impl FromStr for Slices {
    type Err = ShiftError;

    /// `64` for random directions, `8,16` for principal and random ones.
    fn from_str(text: &str) -> Result<Self, ShiftError> {
        let numbers: Option<Vec<usize>> = text.split(',').map(|part| part.trim().parse().ok()).collect();
        let slices = match numbers.as_deref() {
            Some(&[count]) => Self::Random(count),
            Some(&[principal, random]) => Self::Hybrid { principal, random },
            _ => {
                return Err(ShiftError::Invalid(format!(
                    "slices {text:?}: write L, as in 64, or k,R, as in 8,16"
                )));
            }
        };
        if (1..=MOST).contains(&slices.count()) {
            Ok(slices)
        } else {
            Err(ShiftError::Invalid(format!("slices {text:?}: from 1 to {MOST} directions are possible")))
        }
    }
}

/// More directions than anybody needs; it guards against a slip of the finger.
const MOST: usize = 65_536;

/// Unit vectors to project on: principal ones first, then random ones.
#[derive(Debug, Clone, PartialEq)]
pub struct Directions {
    dimensions: usize,
    principal: usize,
    values: Vec<f32>,
}

impl Directions {
    /// Directions for the sets that will be compared.
    ///
    /// Random directions depend on the seed alone. Principal ones come from a randomised PCA of at most 1,024
    /// vectors (and about 6 MiB of them) that are drawn by the seed from the `sets` together, each in proportion to
    /// its size; a large file is sampled in at most 64 of its chunks. Where the sample has fewer principal
    /// directions than asked for, random ones take their places.
    ///
    /// # Errors
    /// When a set cannot be read, has vectors of other dimensions than the first, or holds NaN or infinity in the
    /// sample, or when there is no vector at all.
    pub fn new(slices: Slices, seed: u64, sets: &[(SetSide, &dyn Vectors)]) -> Result<Self, ShiftError> {
        let dimensions = common_dimensions(sets)?;
        let mut values = Vec::new();
        if let Slices::Hybrid { principal, .. } = slices {
            let sample = pca::sample(sets, dimensions, seed)?;
            values = pca::principal_directions(sample, dimensions, principal, seed);
        }
        let principal = values.len() / dimensions;
        values.reserve_exact((slices.count() * dimensions).saturating_sub(values.len()));
        let mut random = Random::new([seed, 0]);
        while values.len() < slices.count() * dimensions {
            values.extend(random_direction(dimensions, &mut random));
        }
        Ok(Self { dimensions, principal, values })
    }

    /// Directions that were made elsewhere, one after the other; they are used as they are.
    ///
    /// # Errors
    /// When the values do not make whole directions, or are not finite.
    pub fn from_rows(dimensions: usize, values: Vec<f32>) -> Result<Self, ShiftError> {
        Self::from_parts(dimensions, 0, values)
    }

    pub(crate) fn from_parts(
        dimensions: usize,
        principal: usize,
        values: Vec<f32>,
    ) -> Result<Self, ShiftError> {
        if dimensions == 0 || values.is_empty() || !values.len().is_multiple_of(dimensions) {
            let count = values.len();
            let message = format!("{count} numbers do not make directions of {dimensions} dimensions");
            return Err(ShiftError::Invalid(message));
        }
        if values.iter().any(|value| !value.is_finite()) {
            return Err(ShiftError::Invalid(
                "a direction has a component that is not a finite number".to_owned(),
            ));
        }
        Ok(Self { dimensions, principal, values })
    }

    pub fn dimensions(&self) -> usize {
        self.dimensions
    }

    pub fn len(&self) -> usize {
        self.values.len() / self.dimensions
    }

    /// Whether there is no direction; never so.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// How many of them, from the first, are principal directions.
    pub fn principal(&self) -> usize {
        self.principal
    }

    /// All directions, one after the other.
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// A number that tells these directions from others (FNV-1a over their bits).
    pub fn fingerprint(&self) -> u64 {
        let start = 0xcbf2_9ce4_8422_2325_u64 ^ self.dimensions as u64;
        self.values.iter().fold(start, |hash, value| {
            (hash ^ u64::from(value.to_bits())).wrapping_mul(0x0000_0100_0000_01b3)
        })
    }
}

fn common_dimensions(sets: &[(SetSide, &dyn Vectors)]) -> Result<usize, ShiftError> {
    let Some((side, first)) = sets.first() else {
        return Err(ShiftError::Invalid("directions need at least one set of vectors".to_owned()));
    };
    for (side, set) in sets {
        check_dimensions(*side, *set, first.dimensions())?;
        if set.is_empty() {
            return Err(ShiftError::TooFew { side: *side, count: 0, needed: 1 });
        }
    }
    if first.dimensions() == 0 {
        return Err(ShiftError::Invalid(format!("the {side} has vectors without components")));
    }
    Ok(first.dimensions())
}

pub(crate) fn check_dimensions(side: SetSide, set: &dyn Vectors, expected: usize) -> Result<(), ShiftError> {
    let dimensions = set.dimensions();
    if dimensions == expected { Ok(()) } else { Err(ShiftError::Dimensions { side, dimensions, expected }) }
}

/// A direction that is uniform on the sphere: independent normal components, scaled to length 1.
#[expect(clippy::cast_possible_truncation, reason = "directions are kept in single precision")]
fn random_direction(dimensions: usize, random: &mut Random) -> Vec<f32> {
    loop {
        let mut components: Vec<f64> = (0..dimensions.div_ceil(2)).flat_map(|_| random.normals()).collect();
        components.truncate(dimensions);
        let length = components.iter().map(|x| x * x).sum::<f64>().sqrt();
        if length > 0.0 {
            return components.iter().map(|x| (x / length) as f32).collect();
        }
    }
}
