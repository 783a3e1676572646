//! Encoding a whole workload.

use std::collections::HashMap;

use crate::cache::{Cache, CacheError, CacheKey, Keys};
use crate::encoder::{EncodeError, Encoder};
use crate::input::{EncoderInput, InputForm};
use crate::render::render;
use crate::vectors::Vectors;

/// Why a workload could not be encoded.
#[derive(Debug, thiserror::Error)]
pub enum WorkloadError<E: std::error::Error + 'static> {
    /// The encoder failed.
    #[error(transparent)]
    Encode(#[from] EncodeError),
    /// The cache failed.
    #[error(transparent)]
    Cache(#[from] CacheError),
    /// Whoever takes the vectors failed.
    #[error(transparent)]
    Sink(E),
}

/// Takes the vector of the item at a position.
pub type Sink<'a, E> = dyn FnMut(usize, &[f32]) -> Result<(), E> + 'a;

/// How far the encoding of a workload is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EncodeProgress {
    /// Items with a vector.
    pub done: usize,
    /// Items in all.
    pub total: usize,
    /// Items of `done` whose vector was in the cache, or is that of an item with the same content.
    pub reused: usize,
}

/// Items that are looked at together: they are sorted by length among themselves, and their vectors are in memory.
const WINDOW_VALUES: usize = 16 << 20;
const WINDOW_ITEMS: usize = 8192;

/// Encodes items and gives each vector to `sink` with its position, in the order of the items.
///
/// Items are taken in windows of some thousand. Within a window, items with the same content are encoded once, those
/// whose vector is in the cache not at all, and the others in batches of `batch` items of similar length, longest
/// first, so that little of a batch is padding and a batch that does not fit into memory fails at once. Each batch
/// is in the cache before the next begins: the same call after a kill goes on where it was. The vectors do not depend
/// on the batches or the cache.
///
/// # Errors
/// When the encoder, the cache or the sink fails.
pub fn encode_workload<E: std::error::Error + 'static>(
    encoder: &dyn Encoder,
    form: InputForm,
    inputs: &[EncoderInput],
    batch: usize,
    mut cache: Option<&mut Cache>,
    progress: &mut dyn FnMut(EncodeProgress),
    sink: &mut Sink<'_, E>,
) -> Result<(), WorkloadError<E>> {
    let dimensions = encoder.dimensions();
    let window = (WINDOW_VALUES / dimensions.max(1)).clamp(1, WINDOW_ITEMS);
    let mut keys = Keys::default();
    let mut state = EncodeProgress { done: 0, total: inputs.len(), reused: 0 };
    for (number, items) in inputs.chunks(window).enumerate() {
        let before = state.done;
        let keys: Vec<CacheKey> = items.iter().map(|item| keys.key(item, form)).collect();
        let mut plan = Plan::of(&keys, dimensions);
        if let Some(cache) = cache.as_deref() {
            plan.take_from(cache)?;
        }
        let mut missing = plan.missing();
        state.reused += items.len() - missing.len();
        state.done += items.len() - missing.len();
        progress(state);
        let length = |&place: &usize| render(&items[plan.firsts[place]], form).len();
        missing.sort_by_cached_key(|place| std::cmp::Reverse(length(place)));
        for places in missing.chunks(batch.max(1)) {
            let chosen: Vec<EncoderInput> =
                places.iter().map(|&place| items[plan.firsts[place]].clone()).collect();
            let vectors = encoder.encode(&chosen)?;
            if vectors.len() != chosen.len() || vectors.dimensions() != dimensions {
                let sizes = (vectors.len(), vectors.dimensions(), chosen.len());
                return Err(EncodeError(format!(
                    "encoder {} gave {} vectors of {} components for {} items of {dimensions}",
                    encoder.id(),
                    sizes.0,
                    sizes.1,
                    sizes.2,
                ))
                .into());
            }
            for (&place, vector) in places.iter().zip(vectors.rows()) {
                plan.set(place, vector);
            }
            if let Some(cache) = cache.as_deref_mut() {
                cache.put(places.iter().map(|&place| keys[plan.firsts[place]]).zip(vectors.rows()))?;
            }
            state.done += chosen.len();
            progress(state);
        }
        for item in 0..items.len() {
            sink(number * window + item, plan.vector(item)).map_err(WorkloadError::Sink)?;
        }
        debug_assert_eq!(state.done, before + items.len());
    }
    Ok(())
}

/// The distinct contents of a window, their vectors, and which item has which.
struct Plan {
    dimensions: usize,
    /// For each item, the place of its content.
    places: Vec<usize>,
    /// For each content, the first item that has it and its key.
    firsts: Vec<usize>,
    keys: Vec<CacheKey>,
    vectors: Vec<f32>,
    has_vector: Vec<bool>,
}

impl Plan {
    fn of(keys: &[CacheKey], dimensions: usize) -> Self {
        let mut by_key: HashMap<&CacheKey, usize> = HashMap::with_capacity(keys.len());
        let mut firsts = Vec::new();
        let place = |(item, key)| {
            *by_key.entry(key).or_insert_with(|| {
                firsts.push(item);
                firsts.len() - 1
            })
        };
        let places = keys.iter().enumerate().map(place).collect();
        let count = firsts.len();
        let keys = firsts.iter().map(|&first| keys[first]).collect();
        let (vectors, has_vector) = (vec![0.0; count * dimensions], vec![false; count]);
        Self { dimensions, places, firsts, keys, vectors, has_vector }
    }

    fn take_from(&mut self, cache: &Cache) -> Result<(), CacheError> {
        let mut row = Vec::with_capacity(self.dimensions);
        for place in 0..self.firsts.len() {
            row.clear();
            if cache.get(&self.keys[place], &mut row)? {
                self.set(place, &row);
            }
        }
        Ok(())
    }

    fn missing(&self) -> Vec<usize> {
        (0..self.has_vector.len()).filter(|&place| !self.has_vector[place]).collect()
    }

    fn set(&mut self, place: usize, vector: &[f32]) {
        self.vectors[place * self.dimensions..][..self.dimensions].copy_from_slice(vector);
        self.has_vector[place] = true;
    }

    fn vector(&self, item: usize) -> &[f32] {
        &self.vectors[self.places[item] * self.dimensions..][..self.dimensions]
    }
}
