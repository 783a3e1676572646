//! Writes `items.index` while the log grows.

use std::collections::HashMap;
use std::fmt;
use std::fs::File;
use std::hash::Hasher;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sqlgauge_base::regular;
use twox_hash::XxHash3_64;

use crate::error::RunError;
use crate::facts::Encoded;
use crate::index::{self, BLOCK_BYTES, Block, Identity, Index, Line, index_path};
use crate::log::open_at;

/// The index of a log, open for appending.
pub(crate) struct Indexer {
    path: PathBuf,
    file: File,
    index: Index,
    /// Bytes before the first block.
    header: u64,
    /// Numbers of the texts that the index has.
    verdicts: HashMap<Arc<str>, u32>,
    labels: HashMap<Arc<str>, u32>,
    /// Of the lines behind the last block.
    hasher: XxHash3_64,
    /// Bytes that are to be written next.
    ready: Vec<u8>,
}

impl fmt::Debug for Indexer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Indexer").field("path", &self.path).finish_non_exhaustive()
    }
}

impl Indexer {
    /// Opens or makes the index of a log and forgets what is not of that log.
    pub(crate) fn open<'a>(
        log: &Path,
        identity: Identity,
        ids: impl ExactSizeIterator<Item = &'a str> + Clone,
    ) -> Result<Self, RunError> {
        let path = index_path(log);
        let mut index = Index::recover(log, identity, ids.clone());
        let hasher = reopen(&mut index, log)
            .map_err(|source| RunError::Unreadable { path: log.to_owned(), source })?;
        let size = index.blocks.last().map_or(0, |block| block.size);
        let file =
            open_at(&path, size).map_err(|source| RunError::Unwritable { path: path.clone(), source })?;
        let mut ready = index::header(identity, ids);
        let header = ready.len() as u64;
        if size > 0 {
            ready.clear();
        }
        let (verdicts, labels) = (numbers(&index.verdicts), numbers(&index.labels));
        Ok(Self { path, file, index, header, verdicts, labels, hasher, ready })
    }

    /// The facts of the lines so far.
    pub(crate) fn index(&self) -> &Index {
        &self.index
    }

    /// Adds a line of the log.
    pub(crate) fn push(&mut self, line: &[u8], facts: &Encoded) {
        let verdict = number_of(&facts.verdict, &mut self.verdicts, &mut self.index.verdicts);
        let labels = number_of(&facts.labels, &mut self.labels, &mut self.index.labels);
        self.push_like(line, Line { end: 0, verdict, labels });
    }

    /// Adds a line whose facts are those of an earlier one.
    pub(crate) fn push_like(&mut self, line: &[u8], earlier: Line) {
        let end = self.index.end_of(self.index.lines.len()) + line.len() as u64;
        self.index.lines.push(Line { end, ..earlier });
        self.hasher.write(line);
        if end - self.index.end_of(self.blocked()) >= BLOCK_BYTES {
            self.close_block();
        }
    }

    /// Lines that are in a block.
    fn blocked(&self) -> usize {
        self.index.blocks.last().map_or(0, |block| block.lines)
    }

    fn close_block(&mut self) {
        let hash = std::mem::replace(&mut self.hasher, XxHash3_64::with_seed(0)).finish();
        let (last, index) = (self.index.blocks.last(), &self.index);
        let (verdicts, labels) = last.map_or((0, 0), |block| (block.verdicts, block.labels));
        let lines = &index.lines[self.blocked()..];
        let bytes = index::block(hash, lines, &index.verdicts[verdicts..], &index.labels[labels..]);
        let block = Block {
            hash,
            lines: index.lines.len(),
            verdicts: index.verdicts.len(),
            labels: index.labels.len(),
            size: last.map_or(self.header, |block| block.size) + bytes.len() as u64,
        };
        self.ready.extend(bytes);
        self.index.blocks.push(block);
    }

    /// Writes the blocks that are whole.
    pub(crate) fn write(&mut self) -> Result<(), RunError> {
        let written = self.file.write_all(&self.ready);
        self.ready.clear();
        written.map_err(|source| RunError::Unwritable { path: self.path.clone(), source })
    }

    /// Writes all that is left.
    pub(crate) fn finish(mut self) -> Result<Index, RunError> {
        if self.blocked() < self.index.lines.len() {
            self.close_block();
        }
        self.write()?;
        Ok(self.index)
    }
}

/// Takes the last block apart if further lines belong into it; returns the hash of its lines so far.
fn reopen(index: &mut Index, log: &Path) -> io::Result<XxHash3_64> {
    let mut hasher = XxHash3_64::with_seed(0);
    let Some(last) = index.blocks.len().checked_sub(1) else { return Ok(hasher) };
    let range = index.range_of(last);
    if range.end - range.start < BLOCK_BYTES {
        let mut file = regular::open_unlinked(log)?;
        file.seek(SeekFrom::Start(range.start))?;
        let mut bytes = Vec::new();
        file.take(range.end - range.start).read_to_end(&mut bytes)?;
        hasher.write(&bytes);
        index.blocks.pop();
    }
    Ok(hasher)
}

fn numbers(texts: &[Arc<str>]) -> HashMap<Arc<str>, u32> {
    texts.iter().cloned().zip(0..).collect()
}

fn number_of(text: &str, numbers: &mut HashMap<Arc<str>, u32>, all: &mut Vec<Arc<str>>) -> u32 {
    if let Some(number) = numbers.get(text) {
        return *number;
    }
    let text = Arc::<str>::from(text);
    // As many as lines at most, and no disk holds a log of that many.
    let number = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
    all.push(Arc::clone(&text));
    numbers.insert(text, number);
    number
}
