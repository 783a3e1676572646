//! The one generator of random numbers: seeded, the same on every machine and in every version.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// Random numbers that follow from their seeds alone.
///
/// The generator is `ChaCha8` (D. J. Bernstein) by the crate `rand_chacha`, whose stream is promised to stay. The seeds
/// are its key, so that streams of different seeds, or of a different number of seeds, have nothing to do with each
/// other, however close the seeds are.
#[derive(Debug, Clone)]
pub struct Random(ChaCha8Rng);

impl Random {
    /// The stream of one to four seeds: `[seed]`, `[seed, place]`, ….
    pub fn new<const SEEDS: usize>(seeds: [u64; SEEDS]) -> Self {
        const { assert!(1 <= SEEDS && SEEDS <= 4, "a key has room for one to four seeds") };
        let mut key = [0; 32];
        for (part, seed) in key.as_chunks_mut::<8>().0.iter_mut().zip(seeds) {
            *part = seed.to_le_bytes();
        }
        let mut generator = ChaCha8Rng::from_seed(key);
        generator.set_stream(SEEDS as u64);
        Self(generator)
    }

    /// 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number in [0, 1), on a grid of 2^-53.
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A number below `bound`, 0 for a bound of 0; the bias of the multiplication is below bound / 2^64.
    #[expect(clippy::cast_possible_truncation, reason = "the product's upper half is below the bound")]
    pub fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.next_u64()) * bound as u128) >> 64) as usize
    }

    /// True in `percent` of 100 cases.
    pub fn chance(&mut self, percent: u8) -> bool {
        self.below(100) < usize::from(percent)
    }

    /// One of the items, `None` of none.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        items.get(self.below(items.len()))
    }

    /// Puts the items into a random order (Fisher and Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }

    /// Two independent standard normal numbers (Marsaglia's polar method).
    pub fn normals(&mut self) -> [f64; 2] {
        loop {
            let (x, y) = (2.0 * self.unit() - 1.0, 2.0 * self.unit() - 1.0);
            let square = x * x + y * y;
            if square > 0.0 && square < 1.0 {
                let scale = (-2.0 * square.ln() / square).sqrt();
                return [x * scale, y * scale];
            }
        }
    }

    /// `count` different numbers below `bound` (all, if there are not as many), rising.
    pub fn distinct(&mut self, count: usize, bound: usize) -> Vec<usize> {
        let mut chosen = Vec::with_capacity(count.min(bound));
        for number in 0..bound {
            let wanted = count.min(bound) - chosen.len();
            if self.below(bound - number) < wanted {
                chosen.push(number);
            }
        }
        chosen
    }
}

/// A seed that stands for a text: FNV-1a of its bytes (G. Fowler, L. C. Noll, P. Vo).
pub fn seed_of(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_depends_on_all_its_seeds_and_on_nothing_else() {
        assert_eq!(Random::new([1, 2]).next_u64(), Random::new([1, 2]).next_u64());
        let firsts = [
            Random::new([1]).next_u64(),
            Random::new([1, 0]).next_u64(),
            Random::new([1, 0, 0]).next_u64(),
            Random::new([1, 0, 0, 0]).next_u64(),
            Random::new([0, 1]).next_u64(),
            Random::new([2]).next_u64(),
            Random::new([1, 2]).next_u64(),
            Random::new([2, 1]).next_u64(),
        ];
        let distinct: std::collections::HashSet<u64> = firsts.into_iter().collect();
        assert_eq!(distinct.len(), firsts.len());
    }

    /// The stream is part of what results depend on. The reference is the key stream of the cipher with 8 rounds for
    /// the key of zeros (`draft-strombergson-chacha-test-vectors`, TC1), which the generator gives as stream 0.
    #[test]
    fn the_stream_is_that_of_the_published_cipher() {
        let mut generator = ChaCha8Rng::from_seed([0; 32]);
        let published = [0x3e, 0x00, 0xef, 0x2f, 0x89, 0x5f, 0x40, 0xd6];
        assert_eq!(generator.next_u64(), u64::from_le_bytes(published));
    }

    #[test]
    fn numbers_stay_below_their_bound_and_reach_every_value() {
        let mut random = Random::new([7]);
        let mut seen = [0_usize; 5];
        for _ in 0..1000 {
            seen[random.below(5)] += 1;
        }
        assert!(seen.iter().all(|&count| count > 120), "{seen:?}");
        assert_eq!(random.below(0), 0);
        assert_eq!(random.pick::<u8>(&[]), None);
        assert!((0..1000).all(|_| (0.0..1.0).contains(&random.unit())));
        let hits = (0..10_000).filter(|_| random.chance(30)).count();
        assert!((2800..3200).contains(&hits), "{hits}");
    }

    #[test]
    fn every_order_of_a_shuffle_is_as_likely() {
        let mut random = Random::new([3]);
        let mut seen = std::collections::BTreeMap::new();
        for _ in 0..6000 {
            let mut items = [0, 1, 2];
            random.shuffle(&mut items);
            *seen.entry(items).or_insert(0_usize) += 1;
        }
        assert!(seen.len() == 6 && seen.values().all(|&count| count > 850), "{seen:?}");
    }

    #[test]
    fn normals_have_the_moments_of_the_normal_distribution() {
        let mut random = Random::new([7, 0]);
        let sample: Vec<f64> = (0..50_000).flat_map(|_| random.normals()).collect();
        let moment = |power: i32| sample.iter().map(|x| x.powi(power)).sum::<f64>() / sample.len() as f64;
        assert!(moment(1).abs() < 0.015, "{}", moment(1));
        assert!((moment(2) - 1.0).abs() < 0.02, "{}", moment(2));
        assert!((moment(4) - 3.0).abs() < 0.15, "{}", moment(4));
    }

    #[test]
    fn distinct_numbers_rise_and_stay_below_the_bound() {
        for (count, bound, expected) in [(0, 5, 0), (3, 10, 3), (10, 10, 10), (20, 10, 10)] {
            let chosen = Random::new([1, 2]).distinct(count, bound);
            assert_eq!(chosen.len(), expected);
            assert!(chosen.is_sorted_by(|a, b| a < b) && chosen.iter().all(|&number| number < bound));
        }
    }

    #[test]
    fn texts_have_the_published_hashes() {
        assert_eq!([seed_of(""), seed_of("a")], [0xcbf2_9ce4_8422_2325, 0xaf63_dc4c_8601_ec8c]);
        assert_eq!(seed_of("foobar"), 0x8594_4171_f739_67e8);
    }
}
