//! Rules out foreign keys without reading rows: sketches of the values of columns.

/// How many hashes are kept of a column.
const KEPT: usize = 96;

/// The smallest hashes of the values of a column.
///
/// If all values of a column are among another's, so are their hashes; and of the other's hashes the smallest are known up to
/// some bound. So each hash of the one that is within the bound must be among them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Sketch {
    /// Rising.
    hashes: Vec<u64>,
    /// Whether these are all.
    whole: bool,
}

impl Sketch {
    pub(crate) fn new(mut hashes: Vec<u64>) -> Self {
        hashes.sort_unstable();
        hashes.dedup();
        let whole = hashes.len() <= KEPT;
        hashes.truncate(KEPT);
        hashes.shrink_to_fit();
        Self { hashes, whole }
    }

    /// The hashes that are kept, rising.
    pub(crate) fn hashes(&self) -> &[u64] {
        &self.hashes
    }

    /// The bound up to which the sketch keeps every hash; `None` if it keeps all of them.
    pub(crate) fn bound(&self) -> Option<u64> {
        if self.whole { None } else { self.hashes.last().copied() }
    }

    /// How many of this column's values the other does not have; `None` where not all hashes of both are kept.
    pub(crate) fn missing_in(&self, other: &Self) -> Option<usize> {
        let is_missing = |hash: &&u64| other.hashes.binary_search(hash).is_err();
        (self.whole && other.whole).then(|| self.hashes.iter().filter(is_missing).count())
    }

    /// Whether all values of this column may be among the other's; never false where they are.
    pub(crate) fn may_be_in(&self, other: &Self) -> bool {
        let bound = if other.whole { u64::MAX } else { other.hashes.last().copied().unwrap_or(0) };
        self.hashes.iter().filter(|hash| **hash <= bound).all(|hash| other.hashes.binary_search(hash).is_ok())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sqlgauge_base::Random;

    #[test]
    fn of_small_columns_the_missing_values_are_counted() {
        let (one, other) = (Sketch::new(vec![1, 2, 3, 4]), Sketch::new(vec![2, 4, 6]));
        assert_eq!(
            (one.missing_in(&other), other.missing_in(&one), one.missing_in(&one)),
            (Some(2), Some(1), Some(0))
        );
        assert_eq!((one.bound(), one.missing_in(&Sketch::new((0..200).collect()))), (None, None));
    }

    #[test]
    fn a_part_is_never_denied_and_strangers_nearly_always_are() {
        let mut random = Random::new([3]);
        let all: Vec<u64> = (0..5000).map(|_| random.next_u64()).collect();
        let whole = Sketch::new(all.clone());
        for count in [0, 1, 50, 97, 3000, 5000] {
            let part: Vec<u64> = random.distinct(count, all.len()).into_iter().map(|at| all[at]).collect();
            assert!(Sketch::new(part).may_be_in(&whole), "{count}");
        }
        let strangers: Vec<u64> = (0..500).map(|_| random.next_u64()).collect();
        assert!(
            !Sketch::new(strangers.clone()).may_be_in(&whole) && !whole.may_be_in(&Sketch::new(strangers))
        );
    }
}
