//! Numbers and texts inside a packet.

/// What is left of a packet. Each read is `None` where the packet ends before it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Packet<'a>(pub(super) &'a [u8]);

impl<'a> Packet<'a> {
    pub(super) fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (head, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(head)
    }

    /// An unsigned number of so many bytes, the lowest first.
    pub(super) fn number(&mut self, bytes: usize) -> Option<u64> {
        Some(self.take(bytes)?.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte)))
    }

    /// A number whose first byte tells how long it is. `None` also for the mark of NULL.
    pub(super) fn counted(&mut self) -> Option<u64> {
        match self.number(1)? {
            short @ 0..=0xfa => Some(short),
            0xfc => self.number(2),
            0xfd => self.number(3),
            0xfe => self.number(8),
            _ => None,
        }
    }

    pub(super) fn text(&mut self) -> Option<&'a [u8]> {
        let length = self.counted()?;
        self.take(usize::try_from(length).ok()?)
    }

    /// Bytes up to a NUL, or to the end.
    pub(super) fn until_nul(&mut self) -> &'a [u8] {
        let end = self.0.iter().position(|&byte| byte == 0);
        let text = &self.0[..end.unwrap_or(self.0.len())];
        self.0 = end.and_then(|end| self.0.get(end + 1..)).unwrap_or_default();
        text
    }
}

/// Appends bytes behind their number.
pub(super) fn push_text(out: &mut Vec<u8>, text: &[u8]) {
    let length = text.len() as u64;
    match length {
        0..=0xfa => out.extend(length.to_le_bytes().first()),
        0xfb..=0xffff => {
            out.push(0xfc);
            out.extend(&length.to_le_bytes()[..2]);
        }
        _ => {
            out.push(0xfe);
            out.extend(length.to_le_bytes());
        }
    }
    out.extend(text);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_is_read_up_to_its_end() {
        let mut packet = Packet(&[1, 2, 0, b'a', b'b', 0, 0xfc, 1, 1]);
        assert_eq!((packet.number(2), packet.text()), (Some(513), Some(&b""[..])));
        assert_eq!((packet.until_nul(), packet.counted(), packet.number(1)), (&b"ab"[..], Some(257), None));
        for length in [0, 250, 251, 70_000] {
            let mut out = Vec::new();
            push_text(&mut out, &vec![7; length]);
            assert_eq!(Packet(&out).text().map(<[u8]>::len), Some(length));
        }
    }
}
