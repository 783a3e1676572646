//! Damage to files.

use std::fs;
use std::path::Path;

use sqlgauge_base::Random;

/// The arrays of an evaluator (its regressor, its ranges, what shift is measured from), whose card has the digest of the
/// damaged bytes: no digest keeps them from being read.
pub(crate) const FORGED: &str = "evaluator/evaluator.safetensors, forged";

/// Damages the file in a folder.
pub(crate) fn damage(folder: &Path, file: &str, random: &mut Random) {
    let forged = file == FORGED;
    let path = folder.join(if forged { "evaluator/evaluator.safetensors" } else { file });
    let bytes = fs::read(&path).unwrap();
    let damaged = if random.chance(50) { damaged(&bytes, random) } else { altered(bytes.clone(), random) };
    if forged {
        let card = folder.join("evaluator/card.json");
        let digest = |bytes: &[u8]| sqlgauge_run::sha256_of_bytes(bytes);
        let text = fs::read_to_string(&card).unwrap();
        assert!(text.contains(&digest(&bytes)), "the card has the digest of the arrays");
        fs::write(card, text.replace(&digest(&bytes), &digest(&damaged))).unwrap();
    }
    fs::write(&path, damaged).unwrap();
}

/// Damage that leaves every length as it is, so that what has lengths and offsets is read to its end. Half of it is in the
/// last part of the file, where Parquet has its schema and what else it says of itself (the terms of tf-idf).
fn altered(mut bytes: Vec<u8>, random: &mut Random) -> Vec<u8> {
    for _ in 0..=random.below(4) {
        let first = if random.chance(50) { bytes.len() / 2 } else { 0 };
        let at = first + random.below((bytes.len() - first).max(1));
        let Some(byte) = bytes.get_mut(at) else { break };
        match random.below(4) {
            0 => *byte = u8::try_from(random.below(256)).unwrap_or_default(),
            1 => *byte ^= 1 << random.below(8),
            2 => *byte = *random.pick(b"0129-\"[]{},:\n").unwrap_or(byte),
            _ => {
                let end = (at + 1 + random.below(8)).min(bytes.len());
                bytes[at..end].fill(if random.chance(50) { 0xff } else { 0 });
            }
        }
    }
    bytes
}

/// Damage that files meet, and some that only malice makes.
fn damaged(bytes: &[u8], random: &mut Random) -> Vec<u8> {
    const PIECES: [&[u8]; 12] = [
        b"18446744073709551615",
        b"-1",
        b"1e999",
        b"\xff\xfe",
        b"\x1b[31m",
        b"\0",
        b"null",
        b"{",
        b"\"",
        b"[]",
        b"\xf0\x9f\x98",
        b"99999999999",
    ];
    const COUNTS: [u64; 5] = [0, 0x7fff_ffff, 0xffff_ffff, 1 << 40, i64::MAX as u64];
    let mut bytes = bytes.to_vec();
    for _ in 0..=random.below(4) {
        let at = random.below(bytes.len() + 1);
        let end = (at + random.below(40)).min(bytes.len());
        match random.below(9) {
            0 => bytes.truncate(at),
            1 => drop(bytes.drain(at..end)),
            2 => {
                let again = bytes[at..end].to_vec();
                bytes.splice(at..at, again);
            }
            3 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
            4 => {
                let piece = random.pick(&PIECES).copied().unwrap_or_default();
                bytes.splice(at..end, piece.iter().copied());
            }
            5 => {
                // A number in a text becomes another.
                let digit = (at..bytes.len()).find(|at| bytes[*at].is_ascii_digit());
                if let Some(at) = digit {
                    let piece = random.pick(&PIECES[..3]).copied().unwrap_or_default();
                    bytes.splice(at..=at, piece.iter().copied());
                }
            }
            6 if at + 8 <= bytes.len() => bytes[at..at + 8].fill(0xff),
            // An absurd count, in a binary format or none.
            7 => {
                let count = random.pick(&COUNTS).copied().unwrap_or_default().to_le_bytes();
                let width = if random.chance(50) { 4 } else { 8 };
                let end = (at + width).min(bytes.len());
                bytes.splice(at..end, count[..width].iter().copied());
            }
            // Of a file that ends in a count of what is before it, as Parquet does.
            8 if bytes.len() > 16 => {
                let at = bytes.len() - 16 + random.below(12);
                bytes[at] = 0x7f;
            }
            _ => {}
        }
    }
    bytes
}
