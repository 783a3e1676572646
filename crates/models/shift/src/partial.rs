//! The result of one pass over vectors, in parts that can be merged.

use serde::{Deserialize, Serialize};

use crate::codec::{Reader, Writer};
use crate::error::ShiftError;
use crate::moments::Moments;

/// The result of one pass over a set or a shard of it: moments, projections, and, for a target, the Mahalanobis
/// distance of every vector. It takes 4L + 8 bytes per vector, whatever their dimensions.
///
/// Parts of one set merge. The order of merging changes the moments by no more than the rounding of `f64` (about
/// 1e-15 relative) and the projections not at all.
#[derive(Debug, Clone, PartialEq)]
pub struct Partial {
    pub(crate) fingerprint: u64,
    pub(crate) moments: Moments,
    /// One list per direction, in the order of the vectors.
    pub(crate) projections: Vec<Vec<f32>>,
    /// In the order of the vectors; empty for a source.
    pub(crate) distances: Vec<f64>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    format: String,
    fingerprint: u64,
    count: u64,
    dimensions: usize,
    directions: usize,
    distances: bool,
}

const FORMAT: &str = "sqlgauge-shift-part-1";

impl Partial {
    pub(crate) fn new(fingerprint: u64, dimensions: usize, directions: usize) -> Self {
        Self {
            fingerprint,
            moments: Moments::new(dimensions),
            projections: vec![Vec::new(); directions],
            distances: Vec::new(),
        }
    }

    /// Vectors in it.
    pub fn len(&self) -> usize {
        self.projections.first().map_or(0, Vec::len)
    }

    /// Whether there is no vector in it.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds the vectors of another part behind those of this one.
    ///
    /// # Errors
    /// When the other was made on other directions, or one is of a source and the other of a target.
    pub fn merge(&mut self, other: Self) -> Result<(), ShiftError> {
        if self.fingerprint != other.fingerprint || self.projections.len() != other.projections.len() {
            return Err(ShiftError::OtherDirections);
        }
        if !self.is_empty() && !other.is_empty() && self.distances.is_empty() != other.distances.is_empty() {
            let message = "a part of a source cannot be merged with a part of a target".to_owned();
            return Err(ShiftError::Invalid(message));
        }
        self.moments.merge(&other.moments)?;
        for (values, others) in self.projections.iter_mut().zip(other.projections) {
            values.extend(others);
        }
        self.distances.extend(other.distances);
        Ok(())
    }

    /// The part as bytes, for another machine.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut writer = Writer::new(&Header {
            format: FORMAT.to_owned(),
            fingerprint: self.fingerprint,
            count: self.moments.count(),
            dimensions: self.moments.dimensions(),
            directions: self.projections.len(),
            distances: !self.distances.is_empty(),
        });
        writer.f64s(self.moments.mean()).f64s(self.moments.squared_deviations()).f64s(&self.distances);
        self.projections.iter().for_each(|values| {
            writer.f32s(values);
        });
        writer.finish()
    }

    /// Reads what [`Partial::to_bytes`] made.
    ///
    /// # Errors
    /// When the bytes are something else, or damaged.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ShiftError> {
        let (header, mut reader) = Reader::new::<Header>("part", bytes)?;
        if header.format != FORMAT {
            return Err(reader.corrupt(&format!("its format is {:?}", header.format)));
        }
        let count = usize::try_from(header.count).map_err(|_| reader.corrupt("it is too large"))?;
        let (mean, squares) = (reader.f64s(header.dimensions)?, reader.f64s(header.dimensions)?);
        let distances = if header.distances { reader.f64s(count)? } else { Vec::new() };
        let projections =
            (0..header.directions).map(|_| reader.f32s(count)).collect::<Result<Vec<_>, ShiftError>>()?;
        reader.end()?;
        let finite = mean.iter().chain(&squares).chain(&distances).all(|value| value.is_finite())
            && projections.iter().flatten().all(|value| value.is_finite());
        if !finite || projections.is_empty() {
            return Err(reader.corrupt("it holds a number that is not finite, or no projection"));
        }
        let moments = Moments::from_parts(header.count, mean, squares);
        Ok(Self { fingerprint: header.fingerprint, moments, projections, distances })
    }
}
