//! Vectors in units of the source's spread.

use sqlgauge_encode::{Vectors, VectorsError};

use crate::moments::Moments;

/// A view of vectors in which every dimension has the source's mean taken away and is divided by the source's
/// standard deviation, so that no dimension rules the distances by its unit alone. Dimensions in which the source does
/// not vary only have the mean taken away.
///
/// The paper compares vectors as they are, which suits the outputs of one network; features with units of their own
/// (counts beside shares) are better compared in this view.
pub struct Standardised<'a> {
    vectors: &'a dyn Vectors,
    mean: Vec<f64>,
    scale: Vec<f64>,
}

impl<'a> Standardised<'a> {
    /// A view of `vectors` by the moments of the source.
    ///
    /// # Errors
    /// When the dimensions differ.
    pub fn new(vectors: &'a dyn Vectors, source: &Moments) -> Result<Self, crate::ShiftError> {
        if vectors.dimensions() != source.dimensions() {
            let (dimensions, expected) = (vectors.dimensions(), source.dimensions());
            return Err(crate::ShiftError::Dimensions { side: crate::SetSide::Target, dimensions, expected });
        }
        let scale =
            crate::reference::scales(source).into_iter().map(|scale| if scale > 0.0 { scale } else { 1.0 });
        Ok(Self { vectors, mean: source.mean().to_vec(), scale: scale.collect() })
    }
}

impl Vectors for Standardised<'_> {
    fn len(&self) -> usize {
        self.vectors.len()
    }

    fn dimensions(&self) -> usize {
        self.vectors.dimensions()
    }

    fn chunks(&self) -> usize {
        self.vectors.chunks()
    }

    fn read_chunk(&self, chunk: usize, rows: &mut Vec<f32>) -> Result<(), VectorsError> {
        self.vectors.read_chunk(chunk, rows)?;
        for row in rows.chunks_exact_mut(self.mean.len()) {
            for ((value, mean), scale) in row.iter_mut().zip(&self.mean).zip(&self.scale) {
                #[expect(clippy::cast_possible_truncation, reason = "vectors are in single precision")]
                let standardised = ((f64::from(*value) - mean) * scale) as f32;
                *value = standardised;
            }
        }
        Ok(())
    }
}

/// Count, mean and variance of a set, for [`Standardised::new`].
///
/// # Errors
/// When the set is empty, cannot be read, or holds NaN or infinity.
pub fn moments(source: &dyn Vectors) -> Result<Moments, crate::ShiftError> {
    crate::scan::moments(crate::SetSide::Source, source)
}
