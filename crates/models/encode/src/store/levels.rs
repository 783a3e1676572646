//! The repetition levels of a column of lists that should all have one length.

/// Walks over repetition levels: 0 starts a list, 1 goes on with it.
#[derive(Debug)]
pub(super) struct ListWalk {
    /// Components of each list.
    length: usize,
    /// Components of the current list that were seen; 0 or `length` between two lists.
    seen: usize,
    begun: usize,
}

impl ListWalk {
    pub(super) fn new(length: usize) -> Self {
        Self { length, seen: length, begun: 0 }
    }

    /// Takes `count` equal levels; false when a list is shorter or longer than the others.
    pub(super) fn take(&mut self, level: bool, count: usize) -> bool {
        if count == 0 {
            return true;
        }
        if level {
            self.seen = self.seen.saturating_add(count);
            return self.begun > 0 && self.seen <= self.length;
        }
        // Every list begun here but the last has one component.
        let fits = self.seen == self.length && (count == 1 || self.length == 1);
        self.begun += count;
        self.seen = 1;
        fits
    }

    /// Takes `count` levels in Parquet's hybrid of run lengths and bit packing, one bit wide; false when they are
    /// damaged or do not fit.
    pub(super) fn take_encoded(&mut self, mut bytes: &[u8], mut count: usize) -> bool {
        while count > 0 {
            let Some(header) = varint(&mut bytes) else { return false };
            let Ok(length) = usize::try_from(header >> 1) else { return false };
            if header & 1 == 0 {
                let Some((&value, rest)) = bytes.split_first() else { return false };
                bytes = rest;
                let run = length.min(count);
                if run == 0 || value > 1 || !self.take(value == 1, run) {
                    return false;
                }
                count -= run;
            } else {
                let Some((packed, rest)) = bytes.split_at_checked(length) else { return false };
                bytes = rest;
                let run = length.saturating_mul(8).min(count);
                if run == 0 || !(0..run).all(|i| self.take(packed[i / 8] >> (i % 8) & 1 == 1, 1)) {
                    return false;
                }
                count -= run;
            }
        }
        true
    }

    /// Whether the last list is whole, and how many there were.
    pub(super) fn finish(&self) -> Option<usize> {
        (self.seen == self.length).then_some(self.begun)
    }

    pub(super) fn begun(&self) -> usize {
        self.begun
    }

    /// The list at which the walk stands, from 0.
    pub(super) fn current(&self) -> usize {
        self.begun.saturating_sub(1)
    }
}

fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..63).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_one_length_pass_and_others_do_not() {
        // Bit-packed group 0,1,1,0,1,1,0,1 then a run of one 1: three lists of three.
        let packed = [0x03, 0b1011_0110, 0x02, 0x01];
        let walked = |length, count| {
            let mut walk = ListWalk::new(length);
            walk.take_encoded(&packed, count).then(|| walk.finish()).flatten()
        };
        assert_eq!(walked(3, 9), Some(3));
        assert_eq!(walked(3, 8), None);
        assert_eq!(walked(2, 9), None);
        assert_eq!(walked(4, 9), None);
        assert_eq!(walked(3, 10), None);
    }

    #[test]
    fn single_components_come_in_runs_of_zeros() {
        let mut walk = ListWalk::new(1);
        assert!(walk.take_encoded(&[0x14, 0x00], 10));
        assert_eq!(walk.finish(), Some(10));
        assert!(!ListWalk::new(1).take_encoded(&[0x14, 0x01], 10));
        assert!(!ListWalk::new(2).take_encoded(&[0x14, 0x00], 10));
    }

    #[test]
    fn damaged_levels_are_refused() {
        for bytes in [&[][..], &[0x80], &[0x00, 0x01], &[0x01], &[0x07, 0xff], &[0x04]] {
            assert!(!ListWalk::new(4).take_encoded(bytes, 8), "{bytes:?}");
        }
    }
}
