//! Some vectors of a set, as a set.

use sqlgauge_encode::{Vectors, VectorsError};

/// The chosen rows of a set of vectors, in their order, chunk by chunk as the set has them.
pub(super) struct Subset<'a> {
    whole: &'a dyn Vectors,
    /// Chunks with a chosen row: number, and rows within it.
    chunks: Vec<(usize, Vec<usize>)>,
    len: usize,
}

/// First row of each chunk of a set, and its length at the end.
pub(super) fn chunk_starts(vectors: &dyn Vectors) -> Result<Vec<usize>, VectorsError> {
    let (mut starts, mut rows) = (vec![0], Vec::new());
    let mut end = 0;
    for chunk in 0..vectors.chunks() {
        vectors.read_chunk(chunk, &mut rows)?;
        end += rows.len().checked_div(vectors.dimensions()).unwrap_or(0);
        starts.push(end);
    }
    Ok(starts)
}

impl<'a> Subset<'a> {
    /// The rows given, ascending, of a set whose chunks start at `starts`.
    pub(crate) fn new(whole: &'a dyn Vectors, starts: &[usize], rows: &[usize]) -> Self {
        let chunk = |number: usize| {
            let (start, end) = (starts[number], starts[number + 1]);
            let [first, last] = [start, end].map(|bound| rows.partition_point(|&row| row < bound));
            (number, rows[first..last].iter().map(|row| row - start).collect::<Vec<_>>())
        };
        let chunks = (0..starts.len() - 1).map(chunk).filter(|(_, rows)| !rows.is_empty()).collect();
        Self { whole, chunks, len: rows.len() }
    }
}

impl Vectors for Subset<'_> {
    fn len(&self) -> usize {
        self.len
    }

    fn dimensions(&self) -> usize {
        self.whole.dimensions()
    }

    fn chunks(&self) -> usize {
        self.chunks.len()
    }

    fn read_chunk(&self, chunk: usize, rows: &mut Vec<f32>) -> Result<(), VectorsError> {
        let Some((number, chosen)) = self.chunks.get(chunk) else {
            return Err(VectorsError(format!("there is no chunk {chunk}")));
        };
        self.whole.read_chunk(*number, rows)?;
        let dimensions = self.dimensions();
        for (to, from) in chosen.iter().enumerate() {
            rows.copy_within(from * dimensions..(from + 1) * dimensions, to * dimensions);
        }
        rows.truncate(chosen.len() * dimensions);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sqlgauge_encode::Matrix;

    #[test]
    fn rows_are_those_chosen() {
        let matrix = Matrix::new(2, (0_u16..20_000).map(f32::from).collect()).unwrap();
        let starts = chunk_starts(&matrix).unwrap();
        assert_eq!(starts, [0, 4096, 8192, 10_000]);
        let chosen = [3, 4095, 4096, 9999];
        let subset = Subset::new(&matrix, &starts, &chosen);
        let (mut all, mut rows) = (Vec::new(), Vec::new());
        for chunk in 0..subset.chunks() {
            subset.read_chunk(chunk, &mut rows).unwrap();
            all.extend_from_slice(&rows);
        }
        let expected: Vec<f32> = chosen.iter().flat_map(|&row| matrix.row(row)).copied().collect();
        assert_eq!((subset.len(), all), (4, expected));
        assert!(subset.read_chunk(9, &mut rows).is_err());
    }
}
