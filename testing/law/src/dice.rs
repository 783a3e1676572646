//! Random choices that depend on a seed only.

use sqlgauge_base::Random;

/// A source of choices; equal seeds and streams give equal choices on every machine.
#[derive(Debug, Clone)]
pub struct Dice(Random);

impl Dice {
    /// The choices of one stream of a seed.
    pub fn new(seed: u64, stream: u64) -> Self {
        Self(Random::new([seed, stream]))
    }

    /// A number below `bound`; 0 if that is 0.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0.below(bound)
    }

    /// True that many times in a hundred.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// One of the items, which must not be none.
    pub fn pick<'t, T>(&mut self, items: &'t [T]) -> &'t T {
        &items[self.below(items.len())]
    }

    pub fn word(&mut self, words: &[&'static str]) -> &'static str {
        words[self.below(words.len())]
    }

    /// One of the items, `None` without any.
    pub(crate) fn pick_any<'t, T>(&mut self, items: &'t [T]) -> Option<&'t T> {
        self.0.pick(items)
    }

    /// Puts the items in another order.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        self.0.shuffle(items);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_follow_from_seed_and_stream() {
        let roll = |seed, stream| {
            let mut dice = Dice::new(seed, stream);
            (0..8).map(|_| dice.below(1000)).collect::<Vec<_>>()
        };
        assert_eq!(roll(1, 2), roll(1, 2));
        assert_ne!(roll(1, 2), roll(1, 3));
        assert!(roll(5, 5).iter().all(|n| *n < 1000));
    }
}
