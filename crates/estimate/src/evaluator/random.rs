//! Seeded random numbers.

/// `SplitMix64` (Steele, Lea, Flood 2014): one per purpose, so that what one part draws does not change another.
pub(super) struct Random(u64);

impl Random {
    /// A generator for a purpose under a seed.
    pub fn new(seed: u64, purpose: &str) -> Self {
        // FNV-1a of the purpose keeps the streams of one seed apart.
        let purpose = purpose.bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
        });
        let mut random = Self(seed ^ purpose);
        random.0 = random.next();
        random
    }

    /// 64 random bits.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number in `[0, 1)`.
    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A number below `bound`; the bias of the multiplication is below bound / 2^64.
    #[expect(clippy::cast_possible_truncation, reason = "the product's upper half is below the bound")]
    pub fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.next()) * bound as u128) >> 64) as usize
    }

    /// Puts items into a random order (Fisher and Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}
