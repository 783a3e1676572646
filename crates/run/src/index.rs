//! `items.index`: where in the log each item's line begins, so that one item is found without reading the rest.
//!
//! | bytes | content |
//! |---|---|
//! | 8 | `sqgindx1` |
//! | 8 | length of the log that it belongs to |
//! | 8 | number of examples *e* |
//! | 8 | number of lines *n* |
//! | 8 *e* | per example in canonical order the beginning of the SHA-256 of its id |
//! | 8 *n* | per line the byte at which it begins |
//!
//! Numbers are little-endian. The index is a convenience: it is written when a run ends, and one that is missing,
//! damaged or of another log is passed over. What it leads to is read from the log and checked there.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::directory::write_atomically;
use crate::error::RunError;

pub(crate) const INDEX: &str = "items.index";
const MAGIC: [u8; 8] = *b"sqgindx1";
const HEADER: u64 = 32;

/// The index beside that log.
pub(crate) fn beside(log: &Path) -> PathBuf {
    log.with_file_name(INDEX)
}

/// Writes the index of a log of that length, whose lines begin there.
pub(crate) fn write<'a>(
    log: &Path,
    length: u64,
    ids: impl ExactSizeIterator<Item = &'a str>,
    begins: &[u64],
) -> Result<(), RunError> {
    let path = beside(log);
    write_atomically(&path, |out| {
        let put = |out: &mut dyn Write| -> io::Result<()> {
            out.write_all(&MAGIC)?;
            for number in [length, ids.len() as u64, begins.len() as u64] {
                out.write_all(&number.to_le_bytes())?;
            }
            for id in ids {
                out.write_all(&digest(id))?;
            }
            begins.iter().try_for_each(|begin| out.write_all(&begin.to_le_bytes()))
        };
        put(out).map_err(|source| RunError::Unwritable { path: path.clone(), source })
    })
}

/// An index that belongs to the log as it is now.
pub(crate) struct Index {
    file: BufReader<File>,
    examples: u64,
    lines: u64,
}

impl Index {
    /// The index beside that log; `None` where there is none that belongs to it.
    pub(crate) fn of(log: &Path) -> Option<Self> {
        let length = std::fs::metadata(log).ok()?.len();
        let mut file = BufReader::with_capacity(1 << 16, File::open(beside(log)).ok()?);
        let mut magic = [0; 8];
        file.read_exact(&mut magic).ok()?;
        let [known, examples, lines] = [number(&mut file)?, number(&mut file)?, number(&mut file)?];
        let size = examples.checked_add(lines)?.checked_mul(8)?.checked_add(HEADER)?;
        let whole = file.get_ref().metadata().ok()?.len() == size;
        (magic == MAGIC && known == length && whole).then_some(Self { file, examples, lines })
    }

    /// The number of lines of the log.
    pub(crate) fn lines(&self) -> u64 {
        self.lines
    }

    /// Where the lines begin that may be those of an example of a system, by the system's place.
    pub(crate) fn begins(&mut self, system: usize, id: &str) -> Option<Vec<u64>> {
        self.file.seek(SeekFrom::Start(HEADER)).ok()?;
        let wanted = u64::from_le_bytes(digest(id));
        let mut rows = Vec::new();
        for row in 0..self.examples {
            if number(&mut self.file)? == wanted {
                rows.push(row);
            }
        }
        let mut begins = Vec::new();
        for row in rows {
            let line = (system as u64).checked_mul(self.examples)?.checked_add(row)?;
            if line < self.lines {
                self.file.seek(SeekFrom::Start(HEADER + 8 * (self.examples + line))).ok()?;
                begins.push(number(&mut self.file)?);
            }
        }
        Some(begins)
    }
}

fn number(file: &mut impl Read) -> Option<u64> {
    let mut bytes = [0; 8];
    file.read_exact(&mut bytes).ok()?;
    Some(u64::from_le_bytes(bytes))
}

fn digest(id: &str) -> [u8; 8] {
    let digest = Sha256::digest(id.as_bytes());
    std::array::from_fn(|at| digest[at])
}
