//! Sorted projections of any subset of the corpus, from an order that is sorted once.

use rayon::prelude::*;

use crate::wasserstein::Quantiles;

/// The place of every vector in the order of every direction.
pub(super) struct Ranks {
    directions: usize,
    /// Vector after vector, the rank on each direction.
    places: Vec<u32>,
    /// The projections of the corpus, rising, one list per direction.
    sorted: Vec<Vec<f32>>,
    /// The source.
    quantiles: Vec<Quantiles>,
}

impl Ranks {
    /// From the projections of the corpus, one list per direction, and the prepared projections of the source.
    pub(super) fn new(projections: &[Vec<f32>], quantiles: Vec<Quantiles>) -> Self {
        let directions = projections.len();
        let orders: Vec<Vec<u32>> = projections.par_iter().map(|values| order(values)).collect();
        let count = projections.first().map_or(0, Vec::len);
        let mut places = vec![0; count * directions];
        for (direction, order) in orders.iter().enumerate() {
            for (rank, item) in (0_u32..).zip(order) {
                places[*item as usize * directions + direction] = rank;
            }
        }
        let sorted = projections
            .par_iter()
            .zip(&orders)
            .map(|(values, order)| order.iter().map(|item| values[*item as usize]).collect())
            .collect();
        Self { directions, places, sorted, quantiles }
    }

    /// W2² between the source and some vectors of the corpus, on each direction. `bits` is a buffer.
    pub(super) fn w2_squares(&self, members: &[u32], bits: &mut Vec<u64>) -> Vec<f64> {
        let words = self.places.len() / self.directions.max(1) / 64 + 1;
        bits.clear();
        bits.resize(words * self.directions, 0);
        for item in members {
            let ranks = &self.places[*item as usize * self.directions..][..self.directions];
            for (bits, rank) in bits.chunks_exact_mut(words).zip(ranks) {
                bits[*rank as usize / 64] |= 1 << (rank % 64);
            }
        }
        let directions = self.quantiles.iter().zip(&self.sorted).zip(bits.chunks_exact(words));
        directions
            .map(|((source, sorted), bits)| {
                source.w2_squared(members.len(), set_bits(bits).map(|rank| sorted[rank]))
            })
            .collect()
    }
}

/// Positions of the bits that are set, rising.
fn set_bits(words: &[u64]) -> impl Iterator<Item = usize> + '_ {
    words.iter().enumerate().flat_map(|(index, word)| {
        let mut left = *word;
        std::iter::from_fn(move || {
            (left != 0).then(|| {
                let bit = left.trailing_zeros() as usize;
                left &= left - 1;
                index * 64 + bit
            })
        })
    })
}

fn order(values: &[f32]) -> Vec<u32> {
    let mut order: Vec<u32> = (0_u32..).take(values.len()).collect();
    radsort::sort_by_key(&mut order, |item| values[*item as usize]);
    order
}
