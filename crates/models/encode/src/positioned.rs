//! Reading one open file from many threads.

use std::fs::File;
use std::io::{self, Read};
use std::sync::Arc;

#[derive(Debug)]
pub(crate) struct PositionedReader {
    file: Arc<File>,
    position: u64,
}

impl PositionedReader {
    pub(crate) fn new(file: Arc<File>, position: u64) -> Self {
        Self { file, position }
    }
}

impl Read for PositionedReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = read_at(&self.file, buffer, self.position)?;
        self.position += read as u64;
        Ok(read)
    }
}

#[cfg(unix)]
fn read_at(file: &File, buffer: &mut [u8], position: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, buffer, position)
}

#[cfg(windows)]
fn read_at(file: &File, buffer: &mut [u8], position: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, buffer, position)
}

/// A reader of an open file with a position of its own.
pub(crate) fn at(file: &File, position: u64) -> io::Result<impl Read> {
    Ok(PositionedReader::new(Arc::new(file.try_clone()?), position))
}
