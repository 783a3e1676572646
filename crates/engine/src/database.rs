//! A database that an engine has opened.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::SystemTime;

use sha2::{Digest, Sha256};
use sqlgauge_sql::schema::Schema;

use crate::engine::EngineError;
use crate::foreign_keys::KeptSchema;

/// A database file, taken to be constant as long as it is open.
///
/// It is only a description: connections belong to the engine. Open a database once and share it.
#[derive(Debug)]
pub struct Database {
    id: u64,
    source: Arc<Source>,
    schema: Arc<Schema>,
    content_hash: OnceLock<String>,
    pub(crate) kept: OnceLock<KeptSchema>,
}

/// Where the bytes are and what they looked like at the start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Source {
    pub(crate) path: PathBuf,
    length: u64,
    modified: Option<SystemTime>,
}

impl Source {
    /// The file as it is now.
    pub(crate) fn of(path: &Path) -> Result<Self, EngineError> {
        let metadata = std::fs::metadata(path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => EngineError::NotFound { path: path.to_owned() },
            _ => EngineError::Unreadable { path: path.to_owned(), source: error },
        })?;
        if metadata.is_dir() {
            return Err(EngineError::IsDirectory { path: path.to_owned() });
        }
        // A pipe or device would keep the reader waiting for ever.
        if !metadata.is_file() {
            return Err(EngineError::NotADatabase { path: path.to_owned() });
        }
        Ok(Self { path: path.to_owned(), length: metadata.len(), modified: metadata.modified().ok() })
    }

    /// Fails if the file is not what it was when it was opened.
    pub(crate) fn check_unchanged(&self) -> Result<(), EngineError> {
        let now = Self::of(&self.path)?;
        if now == *self { Ok(()) } else { Err(EngineError::Changed { path: self.path.clone() }) }
    }
}

impl Database {
    pub(crate) fn new(source: Source, schema: Schema) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self {
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            source: Arc::new(source),
            schema: Arc::new(schema),
            content_hash: OnceLock::new(),
            kept: OnceLock::new(),
        }
    }

    /// The file, as it was named when it was opened.
    pub fn path(&self) -> &Path {
        &self.source.path
    }

    /// The catalog that the file itself declares.
    pub fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    /// SHA-256 of the file's bytes, lower-case hex. Read on the first call, then remembered.
    ///
    /// # Errors
    /// [`EngineError::Unreadable`] when the file cannot be read any more, [`EngineError::Changed`] when it is
    /// not the file that was opened.
    pub fn content_hash(&self) -> Result<&str, EngineError> {
        if let Some(hash) = self.content_hash.get() {
            return Ok(hash);
        }
        self.source.check_unchanged()?;
        let hash = sha256_of_file(self.path())
            .map_err(|source| EngineError::Unreadable { path: self.path().to_owned(), source })?;
        Ok(self.content_hash.get_or_init(|| hash))
    }

    /// Unique among the databases of this process.
    pub(crate) fn id(&self) -> u64 {
        self.id
    }

    pub(crate) fn source(&self) -> &Arc<Source> {
        &self.source
    }
}

/// SHA-256 of a file's bytes, lower-case hex, read in pieces.
fn sha256_of_file(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let mut hasher = Sha256::new();
    let mut piece = vec![0; 1 << 16];
    loop {
        let length = file.read(&mut piece)?;
        if length == 0 {
            break;
        }
        hasher.update(&piece[..length]);
    }
    Ok(hasher.finalize().iter().fold(String::with_capacity(64), |mut hex, byte| {
        // Writing to a String cannot fail.
        let _ = write!(hex, "{byte:02x}");
        hex
    }))
}
