//! JSONL: the records as they are given.

use std::io::{self, Write};
use std::path::Path;

use sqlgauge_base::file::AtomicFile;

use super::RecordFile;

pub(super) struct Lines(AtomicFile);

impl Lines {
    pub(super) fn create(path: &Path) -> io::Result<Self> {
        AtomicFile::create(path).map(Self)
    }
}

impl RecordFile for Lines {
    fn push(&mut self, record: &[u8]) -> io::Result<()> {
        self.0.write_all(record)?;
        self.0.write_all(b"\n")
    }

    fn commit(self: Box<Self>) -> io::Result<()> {
        self.0.commit()
    }
}
