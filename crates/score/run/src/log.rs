//! `items.jsonl`: append, and repair after a kill.
//!
//! Lines stand in the canonical order of the [`Plan`], so that a log is at every moment a prefix of the one
//! log that the run has, plus at most one torn line. One process writes it, lines that are ready together with one
//! `write` call. Durability: the process may be killed at any moment and loses no line that was written, since the operating
//! system has it. Against a crash of the machine the file is synchronised at least once a second while lines
//! come in, and when the run ends; what is lost then is scored again.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rayon::prelude::*;
use sqlgauge_base::file::AtomicFile;
use sqlgauge_base::regular;

use crate::error::RunError;
use crate::facts::Encoded;
use crate::index::{Index, Reader};
use crate::indexer::Indexer;
use crate::observer::Repair;
use crate::plan::Plan;
use crate::record::Item;

const SYNC_INTERVAL: Duration = Duration::from_secs(1);
/// Bytes that are ready before they are written at the latest.
const WRITE_BYTES: usize = 1 << 18;
/// Lines that are looked at together, in parallel.
const BATCH_LINES: usize = 2048;
/// Bytes that are looked at together, unless one line has more.
const BATCH_BYTES: usize = 4 << 20;

/// The log, open for appending.
pub(crate) struct Log {
    path: PathBuf,
    file: File,
    /// The same file, to read again what was written.
    written: File,
    /// Bytes of the file and of what is ready.
    length: u64,
    /// Lines that are to be written next.
    ready: Vec<u8>,
    index: Indexer,
    synced: Instant,
}

/// Opens or makes a file for writing behind so many bytes of it; the others are lost.
pub(crate) fn open_at(path: &Path, length: u64) -> io::Result<File> {
    let mut file = regular::write_unlinked(path)?;
    file.set_len(length)?;
    file.seek(SeekFrom::End(0))?;
    Ok(file)
}

/// What a log held when it was opened.
pub(crate) struct Recovered {
    /// Items that are there: the positions below this number.
    pub(crate) finished: usize,
    /// What had to be mended.
    pub(crate) repairs: Vec<Repair>,
}

impl Log {
    /// Opens or makes the log of `plan` in a run, and mends it.
    pub(crate) fn open(
        path: PathBuf,
        index: Indexer,
        metrics: &[String],
        plan: &Plan<'_>,
    ) -> Result<(Self, Recovered), RunError> {
        let Scan { index, finished, ranges, repairs } = scan(&path, plan, metrics, index)?;
        let length = match ranges.as_slice() {
            [] => 0,
            [only] if only.start == 0 => only.end,
            _ => rewrite(&path, &ranges)?,
        };
        let file =
            open_at(&path, length).map_err(|source| RunError::Unwritable { path: path.clone(), source })?;
        let written = regular::open_unlinked(&path)
            .map_err(|source| RunError::Unreadable { path: path.clone(), source })?;
        let log = Self { path, file, written, length, ready: Vec::new(), index, synced: Instant::now() };
        Ok((log, Recovered { finished, repairs }))
    }

    /// Appends one line, which must end in its only line feed. It is in the file after the next [`Log::write`].
    pub(crate) fn append(&mut self, line: &[u8], facts: &Encoded) -> Result<(), RunError> {
        self.index.push(line, facts);
        self.add(line)
    }

    /// Appends a line that says what the line at an earlier position says.
    pub(crate) fn append_like(&mut self, line: &[u8], earlier: usize) -> Result<(), RunError> {
        let earlier = self.index.index().lines[earlier];
        self.index.push_like(line, earlier);
        self.add(line)
    }

    fn add(&mut self, line: &[u8]) -> Result<(), RunError> {
        self.length += line.len() as u64;
        self.ready.extend_from_slice(line);
        if self.ready.len() >= WRITE_BYTES { self.write() } else { Ok(()) }
    }

    /// Writes the lines that are ready.
    pub(crate) fn write(&mut self) -> Result<(), RunError> {
        if let Err(source) = self.file.write_all(&self.ready) {
            // A full disk may have taken half of a line.
            let _ = self.file.set_len(self.length - self.ready.len() as u64);
            return Err(RunError::Unwritable { path: self.path.clone(), source });
        }
        self.ready.clear();
        self.index.write()?;
        if self.synced.elapsed() >= SYNC_INTERVAL {
            self.sync()?;
        }
        Ok(())
    }

    /// Makes all of it durable and writes what is left of its index.
    pub(crate) fn finish(mut self) -> Result<Index, RunError> {
        self.sync()?;
        self.index.finish()
    }

    /// Puts the line at an earlier position, from that byte of it on, behind the bytes in `into`.
    pub(crate) fn read_again(
        &mut self,
        position: usize,
        from: usize,
        into: &mut Vec<u8>,
    ) -> Result<(), RunError> {
        let index = self.index.index();
        let range = index.end_of(position) + from as u64..index.end_of(position + 1);
        if range.end > self.length - self.ready.len() as u64 {
            self.write()?;
        }
        let mut read = || -> io::Result<u64> {
            self.written.seek(SeekFrom::Start(range.start))?;
            (&mut self.written).take(range.end - range.start).read_to_end(into).map(|count| count as u64)
        };
        let unreadable = |source| RunError::Unreadable { path: self.path.clone(), source };
        match read() {
            Ok(count) if count == range.end - range.start => Ok(()),
            Ok(_) => Err(unreadable(io::Error::new(
                io::ErrorKind::UnexpectedEof,
                "it has become shorter while it was written",
            ))),
            Err(source) => Err(unreadable(source)),
        }
    }

    /// Makes everything written so far survive a crash of the machine.
    fn sync(&mut self) -> Result<(), RunError> {
        self.file.sync_data().map_err(|source| RunError::Unwritable { path: self.path.clone(), source })?;
        self.synced = Instant::now();
        Ok(())
    }
}

pub(crate) fn corrupt(path: &Path, line: usize, error: &serde_json::Error) -> RunError {
    RunError::CorruptLine { path: path.to_owned(), line, reason: error.to_string() }
}

/// Calls `visit` with number, byte range and bytes of every line that ends in a line feed; returns the number
/// of complete lines and the bytes behind the last of them. So many lines up to that byte are passed over.
fn for_each_raw_line_from<E: From<RunError>>(
    path: &Path,
    (mut lines, mut offset): (usize, u64),
    mut visit: impl FnMut(usize, Range<u64>, &[u8]) -> Result<(), E>,
) -> Result<(usize, u64), E> {
    let unreadable = |source| RunError::Unreadable { path: path.to_owned(), source };
    let file = match regular::open_unlinked(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok((0, 0)),
        Err(source) => return Err(unreadable(source).into()),
    };
    let mut reader = BufReader::with_capacity(1 << 18, file);
    reader.seek(SeekFrom::Start(offset)).map_err(unreadable)?;
    let mut bytes = Vec::new();
    loop {
        bytes.clear();
        let count = reader.read_until(b'\n', &mut bytes).map_err(unreadable)? as u64;
        if bytes.last() != Some(&b'\n') {
            return Ok((lines, count));
        }
        lines += 1;
        visit(lines, offset..offset + count, &bytes)?;
        offset += count;
    }
}

/// As [`for_each_raw_line_from`], from the first line on.
pub(crate) fn for_each_raw_line<E: From<RunError>>(
    path: &Path,
    visit: impl FnMut(usize, Range<u64>, &[u8]) -> Result<(), E>,
) -> Result<(usize, u64), E> {
    for_each_raw_line_from(path, (0, 0), visit)
}

/// Complete lines in one piece.
#[derive(Default)]
pub(crate) struct Batch {
    bytes: Vec<u8>,
    ends: Vec<usize>,
    /// Number of the first line, from 1.
    first: usize,
    begin: u64,
}

/// A line of a batch.
pub(crate) struct Line<'a> {
    /// From 1.
    pub(crate) number: usize,
    /// Where it is in the file.
    pub(crate) range: Range<u64>,
    pub(crate) bytes: &'a [u8],
}

impl Batch {
    fn is_full_for(&self, line: &[u8]) -> bool {
        self.ends.len() >= BATCH_LINES
            || (!self.ends.is_empty() && self.bytes.len() + line.len() > BATCH_BYTES)
    }

    pub(crate) fn lines(&self) -> Vec<Line<'_>> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        let line = |(number, (start, end)): (usize, (usize, &usize))| Line {
            number,
            range: self.begin + start as u64..self.begin + *end as u64,
            bytes: &self.bytes[start..*end],
        };
        (self.first..).zip(starts.zip(&self.ends)).map(line).collect()
    }
}

/// Calls `visit` with all complete lines, many at once, but those that are passed over; returns what
/// [`for_each_raw_line_from`] returns.
pub(crate) fn for_each_batch<E: From<RunError>>(
    path: &Path,
    from: (usize, u64),
    mut visit: impl FnMut(&Batch) -> Result<(), E>,
) -> Result<(usize, u64), E> {
    let mut batch = Batch::default();
    let read = for_each_raw_line_from(path, from, |number, range, bytes| -> Result<(), E> {
        if batch.is_full_for(bytes) {
            visit(&batch)?;
            batch.bytes.clear();
            batch.ends.clear();
        }
        if batch.ends.is_empty() {
            (batch.first, batch.begin) = (number, range.start);
        }
        batch.bytes.extend_from_slice(bytes);
        batch.ends.push(batch.bytes.len());
        Ok(())
    })?;
    visit(&batch)?;
    Ok(read)
}

/// The number of complete lines; a missing file has none.
pub(crate) fn count_lines(path: &Path) -> Result<usize, RunError> {
    let length = std::fs::metadata(path).map(|metadata| metadata.len());
    let count = length.ok().and_then(|length| Reader::open(path)?.lines_of(length));
    if let Some(lines) = count.and_then(|lines| usize::try_from(lines).ok()) {
        return Ok(lines);
    }
    for_each_raw_line(path, |_, _, _| Ok::<(), RunError>(())).map(|(lines, _)| lines)
}

struct Scan {
    index: Indexer,
    finished: usize,
    /// Byte ranges of the lines to keep, neighbours joined.
    ranges: Vec<Range<u64>>,
    repairs: Vec<Repair>,
}

/// Reads the lines that the index is not of.
fn scan(path: &Path, plan: &Plan<'_>, metrics: &[String], index: Indexer) -> Result<Scan, RunError> {
    let lines_before = index.index().lines.len();
    let end = index.index().end_of(lines_before);
    let ranges = (lines_before > 0).then_some(0..end).into_iter().collect();
    let mut scan = Scan { index, finished: lines_before, ranges, repairs: Vec::new() };
    let (lines, torn) = for_each_batch(path, (lines_before, end), |batch| {
        let lines = batch.lines();
        let decode = |line: &Line<'_>| -> serde_json::Result<(Item, Encoded)> {
            let item = serde_json::from_slice(line.bytes)?;
            let facts = Encoded::of(&item, metrics);
            Ok((item, facts))
        };
        let items: Vec<_> = lines.par_iter().map(decode).collect();
        for (line, item) in lines.into_iter().zip(items) {
            let (item, facts) = item.map_err(|error| corrupt(path, line.number, &error))?;
            let position = position(path, line.number, &item, plan, metrics)?;
            scan.take(line, item, &facts, position);
        }
        Ok::<(), RunError>(())
    })?;
    if torn > 0 {
        scan.repairs.push(Repair::TornLine { line: lines + 1, bytes: torn });
    }
    Ok(scan)
}

impl Scan {
    fn take(
        &mut self,
        Line { number: line, range, bytes }: Line<'_>,
        Item { system, id, .. }: Item,
        facts: &Encoded,
        position: usize,
    ) {
        match position.cmp(&self.finished) {
            std::cmp::Ordering::Less => self.repairs.push(Repair::Duplicate { line, system, id }),
            std::cmp::Ordering::Greater => self.repairs.push(Repair::OutOfOrder { line, system, id }),
            std::cmp::Ordering::Equal => {
                self.finished += 1;
                self.index.push(bytes, facts);
                match self.ranges.last_mut() {
                    Some(last) if last.end == range.start => last.end = range.end,
                    _ => self.ranges.push(range),
                }
            }
        }
    }
}

fn position(
    path: &Path,
    line: usize,
    item: &Item,
    plan: &Plan<'_>,
    metrics: &[String],
) -> Result<usize, RunError> {
    let foreign = |reason: &str| RunError::ForeignLine {
        path: path.to_owned(),
        line,
        system: item.system.clone(),
        id: item.id.clone(),
        reason: reason.to_owned(),
    };
    let position = plan
        .position(&item.system, &item.id)
        .ok_or_else(|| foreign("the run has no such system or no such example"))?;
    let same_metrics =
        item.metrics.len() == metrics.len() && metrics.iter().all(|m| item.metrics.contains_key(m));
    if same_metrics { Ok(position) } else { Err(foreign("it has other metrics")) }
}

/// Replaces the file by those parts of it, atomically; returns the new length.
fn rewrite(path: &Path, ranges: &[Range<u64>]) -> Result<u64, RunError> {
    let write = || -> io::Result<u64> {
        let mut source = regular::open_unlinked(path)?;
        let mut target = AtomicFile::create(path)?;
        let mut length = 0;
        for range in ranges {
            source.seek(SeekFrom::Start(range.start))?;
            length += io::copy(&mut (&mut source).take(range.end - range.start), &mut target)?;
        }
        target.commit()?;
        Ok(length)
    };
    write().map_err(|source| RunError::Unwritable { path: path.to_owned(), source })
}
