//! Results of golds in a folder, so that another run need not ask for them again.
//!
//! # Contract
//! - A result is kept under a hash of the engine with its version, the content of the database, the limits and the text. So
//!   whatever changes asks anew.
//! - Only whole results are kept, of texts that return the same each time ([`Engine::is_repeatable`]); no failure.
//! - What is read is what was written, or nothing: a file whose hash is wrong is as good as none. What cannot be written is not
//!   kept, and the run goes on. Several processes may share a folder.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use sha2::{Digest, Sha256};
use sqlgauge_base::{file, hex, regular};

use crate::engine::Engine;
use crate::limits::Limits;
use crate::outcome::Execution;
use crate::worker::{decode_execution, encode_execution};

/// Name and version of what a file holds.
const FORMAT: &str = "sqlgauge gold result 1";
/// Bytes of a hash.
const HASH: usize = 32;

/// The results in a folder.
#[derive(Debug)]
pub(crate) struct KeptGolds {
    folder: PathBuf,
    limits: String,
}

impl KeptGolds {
    /// Those of a folder, which is made if need be.
    pub(crate) fn open(folder: &Path, limits: &Limits) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        Ok(Self { folder: folder.to_owned(), limits: format!("{limits:?}") })
    }

    fn path(&self, engine: &dyn Engine, content: &str, sql: &str) -> PathBuf {
        let mut hasher = Sha256::new();
        for text in [FORMAT, &engine.name_and_version(), &self.limits, content, sql] {
            hasher.update((text.len() as u64).to_le_bytes());
            hasher.update(text);
        }
        let name = hex(&hasher.finalize());
        self.folder.join(&name[..2]).join(&name[2..])
    }

    /// The result of a gold on a database of that content.
    pub(crate) fn get(&self, engine: &dyn Engine, content: &str, sql: &str) -> Option<Execution> {
        let bytes = regular::read(self.path(engine, content, sql)).ok()?;
        let (hash, execution) = bytes.split_at_checked(HASH)?;
        let is_whole = Sha256::digest(execution).as_slice() == hash;
        is_whole.then(|| decode_execution(execution)).flatten()
    }

    /// Keeps a result, if it may be kept.
    pub(crate) fn put(&self, engine: &dyn Engine, content: &str, sql: &str, execution: &Execution) {
        let is_whole = execution.rows().is_some_and(|rows| !rows.is_beginning());
        if !is_whole || !engine.is_repeatable(sql, execution) || engine.check().is_err() {
            return;
        }
        let Ok(encoded) = encode_execution(execution) else { return };
        let bytes = [Sha256::digest(&encoded).as_slice(), &encoded].concat();
        // A result that is not kept is asked for again.
        let _ = write_whole(&self.path(engine, content, sql), &bytes);
    }
}

/// Writes a file beside its place and renames it. It is not made durable: what a crash tears is known by its hash.
fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let partial = folder.join(format!("{}-{number}{}", std::process::id(), file::PARTIAL));
    let written = fs::write(&partial, bytes).and_then(|()| fs::rename(&partial, path));
    if written.is_err() {
        let _ = fs::remove_file(&partial);
    }
    written
}
