//! A database that an engine has opened.

use std::fs::Metadata;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::SystemTime;

use sha2::{Digest, Sha256};
use sqlgauge_base::{hex, regular};
use sqlgauge_sql::schema::{Schema, Table, TableKind};

use crate::engine::{Engine, EngineError};
use crate::foreign_keys::{KeptFor, KeptSchema};
use crate::sqlite::growth_of;

/// A database file, taken to be constant as long as it is open.
///
/// It is only a description: connections belong to the engine. Open a database once and share it.
#[derive(Debug)]
pub struct Database {
    id: u64,
    source: Arc<Source>,
    schema: Arc<Schema>,
    content_hash: OnceLock<Arc<str>>,
    growth: Option<f64>,
    pub(crate) kept_schema: OnceLock<KeptSchema>,
    pub(crate) kept_for: Mutex<KeptFor>,
}

/// Where the bytes are and what they looked like at the start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Source {
    pub(crate) path: PathBuf,
    length: u64,
    modified: Option<SystemTime>,
    identity: Identity,
    /// On a server: there is no file to look at.
    is_remote: bool,
    /// What every connection does before a query: a script of ours that makes temporary views, or sets how rows are read.
    pub(crate) prelude: Option<Arc<str>>,
}

impl Source {
    /// The file as it is now.
    pub(crate) fn of(path: &Path) -> Result<Self, EngineError> {
        if sqlgauge_base::server::is_address(path) {
            return Err(EngineError::Server {
                address: path.to_owned(),
                message: "this command runs on SQLite files only".to_owned(),
                remedy: "export the tables as CSV files, and make SQLite files of them with `sqlgauge tables DIR --out db`",
            });
        }
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
        Ok(Self {
            path: path.to_owned(),
            length: metadata.len(),
            modified: metadata.modified().ok(),
            identity: identity(&metadata),
            is_remote: false,
            prelude: None,
        })
    }

    /// Fails if the file is not what it was when it was opened.
    pub(crate) fn check_unchanged(&self) -> Result<(), EngineError> {
        if self.is_remote {
            return Ok(());
        }
        let now = Self { prelude: self.prelude.clone(), ..Self::of(&self.path)? };
        if now == *self { Ok(()) } else { Err(EngineError::Changed { path: self.path.clone() }) }
    }
}

/// What tells a file from one that took its place, and a change from none: no program sets the time of the last change.
#[cfg(unix)]
type Identity = (u64, u64, i64, i64);

#[cfg(unix)]
fn identity(metadata: &Metadata) -> Identity {
    use std::os::unix::fs::MetadataExt;
    (metadata.dev(), metadata.ino(), metadata.ctime(), metadata.ctime_nsec())
}

#[cfg(not(unix))]
type Identity = ();

#[cfg(not(unix))]
fn identity(_: &Metadata) -> Identity {}

impl Database {
    pub(crate) fn new(source: Source, schema: Schema) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let growth = growth_of(&schema, source.length);
        Self {
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            source: Arc::new(source),
            schema: Arc::new(schema),
            content_hash: OnceLock::new(),
            growth,
            kept_schema: OnceLock::new(),
            kept_for: Mutex::default(),
        }
    }

    /// A database on a server, under the address that a person gave, without a secret. `version` stands for its content: what two
    /// databases of one content share. That it stays as it is, is for the engine to see to.
    pub fn on_server(address: PathBuf, schema: Schema, version: &str) -> Self {
        let source = Source {
            path: address,
            length: 0,
            modified: None,
            identity: Identity::default(),
            is_remote: true,
            prelude: None,
        };
        let database = Self::new(source, schema);
        let _is_new = database.content_hash.set(hex(&Sha256::digest(version)).into());
        database
    }

    /// The same file, on which every connection runs a script before its queries. The script is run without the locks: it
    /// must be our own, and touch nothing but temporary views and how this connection reads.
    #[must_use]
    pub fn with_prelude(&self, script: &str) -> Self {
        let source = Source { prelude: Some(script.into()), ..(*self.source).clone() };
        Self::new(source, (*self.schema).clone())
    }

    /// The file, as it was named when it was opened.
    pub fn path(&self) -> &Path {
        &self.source.path
    }

    /// The catalog that the file itself declares.
    pub fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    /// The columns whose types a driver could not tell, with the remedy; `None` if all types are known.
    pub fn untyped_columns(&self) -> Option<String> {
        let untyped = |table: &Table| {
            let columns = table.columns.iter().filter(|column| column.declared_type.is_none());
            columns.map(|column| format!("{}.{}", table.name, column.name)).collect::<Vec<_>>()
        };
        let names: Vec<String> = self.schema.tables().iter().flat_map(untyped).collect();
        let remedy = "insert a row without NULLs, or give `estimate` the types with --tables";
        (!names.is_empty()).then(|| format!("types unknown: {}; {remedy}", names.join(", ")))
    }

    /// Whether the file is still what it was when it was opened.
    ///
    /// # Errors
    /// [`EngineError::Changed`] when it is not, [`EngineError::NotFound`] or [`EngineError::Unreadable`] when it is not
    /// there any more.
    pub fn check_unchanged(&self) -> Result<(), EngineError> {
        self.source.check_unchanged()
    }

    /// SHA-256 of the file's bytes, lower-case hex. Read on the first call, then remembered.
    ///
    /// # Errors
    /// [`EngineError::Unreadable`] when the file cannot be read any more, [`EngineError::Changed`] when it is
    /// not the file that was opened.
    pub fn content_hash(&self) -> Result<&str, EngineError> {
        self.shared_hash().map(|hash| &**hash)
    }

    /// The same, for those that keep it.
    pub(crate) fn shared_hash(&self) -> Result<&Arc<str>, EngineError> {
        if let Some(hash) = self.content_hash.get() {
            return Ok(hash);
        }
        let hash = regular::open(self.path())
            .and_then(sha256_of)
            .map_err(|source| EngineError::Unreadable { path: self.path().to_owned(), source })?;
        // Looked at afterwards: a change while the file was read is one too.
        self.source.check_unchanged()?;
        Ok(self.content_hash.get_or_init(|| hash.into()))
    }

    /// How much longer its views and columns can make the compiling of a query, see [`growth_of`].
    pub(crate) fn growth(&self) -> Option<f64> {
        self.growth
    }

    /// Unique among the databases of this process.
    pub(crate) fn id(&self) -> u64 {
        self.id
    }

    pub(crate) fn source(&self) -> &Arc<Source> {
        &self.source
    }

    /// Whether a table has a row. Views are not asked: what they return comes from tables, or is constant. A table that
    /// cannot be read is no reason to call the database empty.
    pub fn has_rows(&self, engine: &dyn Engine) -> bool {
        let mut tables = self.schema.tables().iter().filter(|table| table.kind == TableKind::Table);
        tables.any(|table| {
            let sql = format!("SELECT 1 FROM {} LIMIT 1", engine.quoted(&table.name));
            engine.run(self, &sql).rows().is_none_or(|rows| !rows.is_empty())
        })
    }
}

/// SHA-256 of all that a reader has, as lower-case hex; read in pieces of constant size.
///
/// # Errors
/// When it cannot be read.
pub fn sha256_of(mut reader: impl Read) -> io::Result<String> {
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 1 << 18];
    loop {
        match reader.read(&mut buffer) {
            Ok(0) => return Ok(hex(&hasher.finalize())),
            Ok(count) => hasher.update(&buffer[..count]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
