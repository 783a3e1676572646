//! Random numbers that depend on the seed alone.

/// xoshiro256++ (D. Blackman, S. Vigna), seeded by splitmix64.
#[derive(Debug, Clone)]
pub(crate) struct Random([u64; 4]);

impl Random {
    /// The numbers of one stream of a seed; streams of one seed are independent for all practical purposes.
    pub(crate) fn new(seed: u64, stream: u64) -> Self {
        let mut state = mix(seed) ^ mix(stream.wrapping_add(0x5851_f42d_4c95_7f2d)).rotate_left(17);
        Self(std::array::from_fn(|_| {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            mix(state)
        }))
    }

    pub(crate) fn next(&mut self) -> u64 {
        let [s0, s1, s2, s3] = &mut self.0;
        let result = s0.wrapping_add(*s3).rotate_left(23).wrapping_add(*s0);
        let t = *s1 << 17;
        *s2 ^= *s0;
        *s3 ^= *s1;
        *s1 ^= *s2;
        *s0 ^= *s3;
        *s2 ^= t;
        *s3 = s3.rotate_left(45);
        result
    }

    /// A number in [0, 1), on a grid of 2^-53.
    pub(crate) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 * f64::EPSILON / 2.0
    }

    /// A number below `bound`; the bias of the multiplication is below bound / 2^64.
    #[expect(clippy::cast_possible_truncation, reason = "the product's upper half is below the bound")]
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.next()) * bound as u128) >> 64) as usize
    }

    /// Two independent standard normal numbers (Marsaglia's polar method).
    pub(crate) fn normals(&mut self) -> [f64; 2] {
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
    pub(crate) fn distinct(&mut self, count: usize, bound: usize) -> Vec<usize> {
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

fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normals_have_the_moments_of_the_normal_distribution() {
        let mut random = Random::new(7, 0);
        let sample: Vec<f64> = (0..50_000).flat_map(|_| random.normals()).collect();
        let moment = |power: i32| sample.iter().map(|x| x.powi(power)).sum::<f64>() / sample.len() as f64;
        assert!(moment(1).abs() < 0.015, "{}", moment(1));
        assert!((moment(2) - 1.0).abs() < 0.02, "{}", moment(2));
        assert!((moment(4) - 3.0).abs() < 0.15, "{}", moment(4));
    }

    #[test]
    fn distinct_numbers_rise_and_stay_below_the_bound() {
        for (count, bound, expected) in [(0, 5, 0), (3, 10, 3), (10, 10, 10), (20, 10, 10)] {
            let chosen = Random::new(1, 2).distinct(count, bound);
            assert_eq!(chosen.len(), expected);
            assert!(chosen.is_sorted_by(|a, b| a < b) && chosen.iter().all(|&number| number < bound));
        }
    }
}
