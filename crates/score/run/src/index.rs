//! `items.index`: the place of each item's line in the log and its scores. It finds an item and makes a summary without
//! reading the log again.
//!
//! | bytes | content |
//! |---|---|
//! | 8 | `sqgindx4` |
//! | 8 | beginning of the SHA-256 of the run's metrics, systems and number of examples |
//! | 8 | number of examples *e* |
//! | 8 *e* | per example in canonical order the beginning of the SHA-256 of its id |
//! | … | blocks |
//!
//! A block is of consecutive lines, as many as make [`BLOCK_BYTES`] of the log; the last may have fewer.
//!
//! | bytes | content |
//! |---|---|
//! | 8 | XXH3 of what follows of the block |
//! | 8 | XXH3 of its lines |
//! | 8 | number of its lines *n* |
//! | 8 | bytes behind the lines' records |
//! | 16 *n* | per line the byte of the log at which it ends, the number of its verdict, the number of its labels |
//! | … | verdicts, then labels, that no block before has: their number, and per text its length and its bytes |
//!
//! Numbers are little-endian, those of verdicts, labels and lengths of 4 bytes, the others of 8. The index is a function
//! of the log. It grows with it, block by block, and is a convenience: a block that is torn, damaged or of other lines
//! ends it, and what is behind is read from the log and written anew.

use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rayon::prelude::*;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};
use sqlgauge_base::regular;
use twox_hash::XxHash3_64;

use crate::digest::xxh3_of;
use crate::facts::{Labels, Verdict};
use crate::record::Manifest;

pub(crate) const INDEX: &str = "items.index";
const MAGIC: [u8; 8] = *b"sqgindx4";
const HEADER: u64 = 24;
const BLOCK_HEADER: u64 = 32;
const LINE_BYTES: u64 = 16;
/// Bytes of the log that make a block.
pub(crate) const BLOCK_BYTES: u64 = 1 << 20;
/// No index has a block of so many bytes; a damaged one may say so.
const MOST_BLOCK_BYTES: u64 = 1 << 32;

pub(crate) fn index_path(log: &Path) -> PathBuf {
    log.with_file_name(INDEX)
}

/// What tells runs apart whose logs might be alike.
pub(crate) type Identity = [u8; 8];

pub(crate) fn identity(manifest: &Manifest) -> Identity {
    let parts = (&manifest.metrics, &manifest.systems, manifest.examples);
    // Cannot fail: lists of strings and a number.
    digest(&serde_json::to_vec(&parts).expect("names serialise"))
}

/// The facts of the lines of a log, from its first on.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Index {
    pub(crate) lines: Vec<Line>,
    pub(crate) verdicts: Vec<Arc<str>>,
    pub(crate) labels: Vec<Arc<str>>,
    pub(crate) blocks: Vec<Block>,
}

/// A line of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Line {
    /// The byte behind it.
    pub(crate) end: u64,
    pub(crate) verdict: u32,
    pub(crate) labels: u32,
}

/// A block, by what there is up to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Block {
    /// XXH3 of its lines.
    pub(crate) hash: u64,
    pub(crate) lines: usize,
    pub(crate) verdicts: usize,
    pub(crate) labels: usize,
    /// Bytes of the index up to its end.
    pub(crate) size: u64,
}

impl Index {
    /// Verdicts and labels, by number; `None` if a text is none, which no index of ours has.
    pub(crate) fn facts(&self) -> Option<(Vec<Verdict>, Vec<Labels>)> {
        fn decode<T: DeserializeOwned>(texts: &[Arc<str>]) -> Option<Vec<T>> {
            texts.iter().map(|text| serde_json::from_str(text).ok()).collect()
        }
        Some((decode(&self.verdicts)?, decode(&self.labels)?))
    }

    /// Where that many lines end.
    pub(crate) fn end_of(&self, lines: usize) -> u64 {
        lines.checked_sub(1).map_or(0, |last| self.lines[last].end)
    }

    /// What the bytes of the whole log are known by.
    pub(crate) fn fingerprint(&self) -> String {
        let mut hasher = Sha256::new();
        for block in &self.blocks {
            hasher.update(block.hash.to_le_bytes());
            hasher.update(self.end_of(block.lines).to_le_bytes());
        }
        sqlgauge_base::hex(&hasher.finalize())
    }

    /// The whole index of the log as it is now; `None` where there is none that belongs to every line of it.
    pub(crate) fn of(log: &Path, identity: Identity, examples: usize) -> Option<Self> {
        let length = std::fs::metadata(log).ok()?.len();
        let mut file = Reader::open(log)?;
        if file.identity != identity || file.examples != examples as u64 {
            return None;
        }
        file.skip_digests()?;
        let mut index = file.blocks();
        (index.end_of(index.lines.len()) == length).then_some(())?;
        let blocks = index.blocks.len();
        index.keep_those_of(log);
        (index.blocks.len() == blocks).then_some(index)
    }

    /// What there is of the index of a run of those examples that belongs to the log as it is now.
    pub(crate) fn recover<'a>(
        log: &Path,
        identity: Identity,
        ids: impl ExactSizeIterator<Item = &'a str>,
    ) -> Self {
        let read = || {
            let mut file = Reader::open(log)?;
            let is_same = file.identity == identity && file.examples == ids.len() as u64;
            let mut ids = ids;
            let is_same = is_same && ids.all(|id| file.digest() == Some(digest(id.as_bytes())));
            is_same.then(|| file.blocks())
        };
        let mut index = read().unwrap_or_default();
        index.keep_those_of(log);
        index
    }

    /// Forgets blocks from the first on that is not of the log's lines.
    fn keep_those_of(&mut self, log: &Path) {
        let is_of_log: Vec<bool> = (0..self.blocks.len())
            .into_par_iter()
            .map_init(
                || regular::open_unlinked(log),
                |file, block| {
                    let range = self.range_of(block);
                    let hash = file.as_mut().ok().and_then(|file| {
                        file.seek(SeekFrom::Start(range.start)).ok()?;
                        xxh3_of(&mut file.take(range.end - range.start)).ok()
                    });
                    hash == Some(self.blocks[block].hash)
                },
            )
            .collect();
        let count = is_of_log.iter().position(|is_of_log| !is_of_log).unwrap_or(is_of_log.len());
        self.keep(count);
    }

    /// The bytes of the log that a block is of.
    pub(crate) fn range_of(&self, block: usize) -> std::ops::Range<u64> {
        let first = block.checked_sub(1).map_or(0, |before| self.blocks[before].lines);
        self.end_of(first)..self.end_of(self.blocks[block].lines)
    }

    /// Forgets all but so many blocks.
    fn keep(&mut self, blocks: usize) {
        self.blocks.truncate(blocks);
        let last = self.blocks.last();
        self.lines.truncate(last.map_or(0, |block| block.lines));
        self.verdicts.truncate(last.map_or(0, |block| block.verdicts));
        self.labels.truncate(last.map_or(0, |block| block.labels));
    }
}

/// The bytes at the beginning of an index.
pub(crate) fn header<'a>(identity: Identity, ids: impl ExactSizeIterator<Item = &'a str>) -> Vec<u8> {
    let mut bytes = Vec::from(MAGIC);
    bytes.extend(identity);
    bytes.extend((ids.len() as u64).to_le_bytes());
    bytes.extend(ids.flat_map(|id| digest(id.as_bytes())));
    bytes
}

/// The bytes of a block whose lines have that hash.
pub(crate) fn block(hash: u64, lines: &[Line], verdicts: &[Arc<str>], labels: &[Arc<str>]) -> Vec<u8> {
    let mut texts = Vec::new();
    for new in [verdicts, labels] {
        texts.extend(of_four(new.len()));
        for text in new {
            texts.extend(of_four(text.len()));
            texts.extend(text.as_bytes());
        }
    }
    let mut body = Vec::new();
    for number in [hash, lines.len() as u64, texts.len() as u64] {
        body.extend(number.to_le_bytes());
    }
    for line in lines {
        body.extend(line.end.to_le_bytes());
        body.extend(line.verdict.to_le_bytes());
        body.extend(line.labels.to_le_bytes());
    }
    body.extend(texts);
    [&XxHash3_64::oneshot(&body).to_le_bytes(), body.as_slice()].concat()
}

/// Counts and lengths of a block are far below that; one that is not is damaged when it is read.
fn of_four(number: usize) -> [u8; 4] {
    u32::try_from(number).unwrap_or(u32::MAX).to_le_bytes()
}

pub(crate) struct Reader {
    file: BufReader<File>,
    identity: Identity,
    examples: u64,
}

impl Reader {
    /// The index beside that log, if there is one.
    pub(crate) fn open(log: &Path) -> Option<Self> {
        let mut file = BufReader::with_capacity(1 << 16, regular::open_unlinked(index_path(log)).ok()?);
        let (magic, identity) = (bytes(&mut file)?, bytes(&mut file)?);
        let examples = number(&mut file)?;
        let size = file.get_ref().metadata().ok()?.len();
        let ids = examples.checked_mul(8).and_then(|ids| ids.checked_add(HEADER));
        let is_whole = ids.is_some_and(|end| end <= size);
        (magic == MAGIC && is_whole).then_some(Self { file, identity, examples })
    }

    fn digest(&mut self) -> Option<[u8; 8]> {
        bytes(&mut self.file)
    }

    fn skip_digests(&mut self) -> Option<()> {
        self.file.seek(SeekFrom::Start(HEADER + 8 * self.examples)).map(drop).ok()
    }

    /// All blocks up to the first that is torn or damaged.
    fn blocks(&mut self) -> Index {
        let mut index = Index::default();
        while self.block(&mut index).is_some() {}
        index.keep(index.blocks.len());
        index
    }

    fn block(&mut self, index: &mut Index) -> Option<()> {
        let (sum, head) = (number(&mut self.file)?, bytes::<24>(&mut self.file)?);
        let mut rest = head.as_slice();
        let [hash, lines, texts] = [number(&mut rest)?, number(&mut rest)?, number(&mut rest)?];
        let size = lines.checked_mul(LINE_BYTES)?.checked_add(texts)?;
        if size > MOST_BLOCK_BYTES {
            return None;
        }
        let mut body = head.to_vec();
        let read = (&mut self.file).take(size).read_to_end(&mut body).ok()?;
        if read as u64 != size || XxHash3_64::oneshot(&body) != sum {
            return None;
        }
        let mut body = &body[head.len()..];
        for _ in 0..lines {
            let end = number(&mut body)?;
            let (verdict, labels) = (small(&mut body)?, small(&mut body)?);
            index.lines.push(Line { end, verdict, labels });
        }
        index.verdicts.extend(texts_of(&mut body)?);
        index.labels.extend(texts_of(&mut body)?);
        let (verdicts, labels, lines) = (index.verdicts.len(), index.labels.len(), index.lines.len());
        let new = &index.lines[index.blocks.last().map_or(0, |block| block.lines)..];
        let are_known =
            new.iter().all(|line| (line.verdict as usize) < verdicts && (line.labels as usize) < labels);
        let ends = index.lines.iter().skip(lines - new.len()).map(|line| line.end);
        let before = index.end_of(lines - new.len());
        let are_in_order = std::iter::once(before).chain(ends.clone()).is_sorted();
        if !are_known || !are_in_order {
            return None;
        }
        let size = index.blocks.last().map_or(HEADER + 8 * self.examples, |block| block.size) + 8 + 24 + size;
        index.blocks.push(Block { hash, lines, verdicts, labels, size });
        Some(())
    }

    /// The number of lines, if the index says that it is one of a log of that length.
    pub(crate) fn lines_of(mut self, length: u64) -> Option<u64> {
        let (mut lines, mut end) = (0, 0);
        let mut at = HEADER + 8 * self.examples;
        while let Some((of_block, texts)) = self.block_at(at) {
            let records = at + BLOCK_HEADER;
            end = self.end_at(records, of_block.checked_sub(1)?)?;
            lines += of_block;
            at = records + of_block * LINE_BYTES + texts;
        }
        (end == length).then_some(lines)
    }

    /// Where the lines are that may be those of an example of a system, by the system's place.
    pub(crate) fn begins(&mut self, system: usize, id: &str) -> Option<Vec<u64>> {
        self.file.seek(SeekFrom::Start(HEADER)).ok()?;
        let wanted = digest(id.as_bytes());
        let mut rows = Vec::new();
        for row in 0..self.examples {
            if self.digest()? == wanted {
                rows.push(row);
            }
        }
        let first = (system as u64).checked_mul(self.examples)?;
        rows.into_iter().map(|row| self.begin_of(first.checked_add(row)?)).collect()
    }

    fn begin_of(&mut self, line: u64) -> Option<u64> {
        let (mut first, mut begin) = (0, 0);
        let mut at = HEADER + 8 * self.examples;
        loop {
            let (lines, texts) = self.block_at(at)?;
            let records = at + BLOCK_HEADER;
            match (line - first).checked_sub(1) {
                None => return Some(begin),
                Some(before) if before < lines.checked_sub(1)? => return self.end_at(records, before),
                Some(_) => {}
            }
            begin = self.end_at(records, lines - 1)?;
            first += lines;
            at = records + lines * LINE_BYTES + texts;
        }
    }

    /// Lines and bytes of texts of the block that begins there.
    fn block_at(&mut self, at: u64) -> Option<(u64, u64)> {
        self.file.seek(SeekFrom::Start(at + 16)).ok()?;
        let (lines, texts) = (number(&mut self.file)?, number(&mut self.file)?);
        let size = lines.checked_mul(LINE_BYTES)?.checked_add(texts)?;
        (size <= MOST_BLOCK_BYTES).then_some((lines, texts))
    }

    fn end_at(&mut self, records: u64, line: u64) -> Option<u64> {
        self.file.seek(SeekFrom::Start(records + line * LINE_BYTES)).ok()?;
        number(&mut self.file)
    }
}

fn texts_of(from: &mut &[u8]) -> Option<Vec<Arc<str>>> {
    let count = small(from)?;
    let text = |from: &mut &[u8]| {
        let length = small(from)? as usize;
        let (text, rest) = from.split_at_checked(length)?;
        *from = rest;
        std::str::from_utf8(text).ok().map(Arc::from)
    };
    (0..count).map(|_| text(from)).collect()
}

fn bytes<const N: usize>(file: &mut impl Read) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    file.read_exact(&mut bytes).ok()?;
    Some(bytes)
}

fn number(file: &mut impl Read) -> Option<u64> {
    bytes(file).map(u64::from_le_bytes)
}

fn small(file: &mut impl Read) -> Option<u32> {
    bytes(file).map(u32::from_le_bytes)
}

fn digest(text: &[u8]) -> [u8; 8] {
    let digest = Sha256::digest(text);
    std::array::from_fn(|at| digest[at])
}
