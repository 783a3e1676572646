//! DuckDB.
//!
//! Each connection is a process of its own: Python with the package `duckdb`. The system limits its memory, it cannot write files,
//! and it ends at the time limit. Inside it the database is read-only, other files and hosts are out of reach, and the configuration
//! is locked. Each query has a cursor of its own.

pub(crate) mod catalog;
pub(crate) mod errors;

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use sqlgauge_base::without_secrets;
use sqlgauge_engine::{Enough, Failure, FailureKind, Limits};

use crate::catalog::{Catalog, catalog_of};
use crate::kind::{Access, Kind};
use crate::locks::LockResult;
use crate::python::child::Child;
use crate::server::{Blame, Broken, End, Server, ServerEngine};
use crate::trial::try_locks;

const DRIVER: &str = include_str!("driver.py");

pub(crate) const KIND: Kind = Kind {
    name: "duckdb",
    schemes: &["duckdb"],
    engine: |limits, access| Arc::new(ServerEngine::<DuckDb>::new(limits, access)),
    setup: catalog::setup,
    check: |path, access| try_locks::<DuckDb>(path, access, catalog::LOCKS),
    warning: None,
};

/// A file, as it was when it was named first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct File {
    path: PathBuf,
    identity: Option<(u64, u64, u64, i64, i64)>,
}

impl File {
    fn of(address: &Path) -> Result<Self, String> {
        let path = address.to_str().and_then(|text| text.strip_prefix("duckdb:"));
        let path = path.filter(|path| !path.is_empty()).ok_or("the address names no file")?;
        let path = Path::new(path.strip_prefix("//").unwrap_or(path));
        // The process that opens it runs in another folder.
        let path = std::path::absolute(path).map_err(|error| error.to_string())?;
        let identity = identity(&path);
        if identity.is_none() {
            return Err(format!("there is no file {}", without_secrets(&path.display().to_string())));
        }
        Ok(Self { path, identity })
    }

    fn is_unchanged(&self) -> bool {
        identity(&self.path) == self.identity
    }
}

fn identity(path: &Path) -> Option<(u64, u64, u64, i64, i64)> {
    let file = std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file)?;
    Some((file.len(), file.dev(), file.ino(), file.ctime(), file.ctime_nsec()))
}

/// A DuckDB file.
#[derive(Debug)]
pub(crate) struct DuckDb {
    file: File,
}

impl Server for DuckDb {
    const NAME: &'static str = "DuckDB";
    const DIALECT: &'static str = "duckdb";
    const FORM: &'static str = "write --db as duckdb:FOLDER/{db_id}.duckdb";
    const AGAIN: &'static str = "see that the file stays as it is and that Python has the package duckdb, then run the same command again";
    const FAILURE: fn(&str, &str) -> Failure = errors::failure;
    const BLAME: fn(&str) -> Blame = errors::blame;
    type Address = File;
    type Connection = Child;

    fn address(path: &Path, _: &Access) -> Result<File, String> {
        File::of(path)
    }

    fn connect(file: &File, access: &Access) -> Result<Child, Broken> {
        Child::start(access.python(), DRIVER, json!({"path": file.path}))
    }

    fn version(child: &Child) -> String {
        child.version.clone()
    }

    fn open(file: &File, mut child: Child) -> Result<(Self, Catalog), Broken> {
        let [columns, keys, comments] = catalog::QUESTIONS;
        let (columns, keys) = (child.texts(columns)?, child.texts(keys)?);
        let comments = child.answered(comments)?.unwrap_or_default();
        let mut catalog = catalog_of(&columns, &keys, &comments, str::to_owned);
        catalog.digest.push_str(&child.content()?);
        Ok((Self { file: file.clone() }, catalog))
    }

    fn untried(&self) -> Vec<LockResult> {
        Vec::new()
    }

    /// The hash of the file stands for its rows.
    fn content(_: &str) -> Vec<String> {
        Vec::new()
    }

    fn attempt(
        &self,
        child: &mut Child,
        sql: &str,
        limits: &Limits,
        enough: Option<&Enough>,
    ) -> Result<End, Broken> {
        if !self.file.is_unchanged() {
            let message = "the file was changed while it was in use: run again on a file that stays as it is";
            return Ok(End::failed(FailureKind::Machine, message));
        }
        child.run::<Self>(sql, limits, enough, Duration::ZERO)
    }

    fn remedy(code: &str) -> &'static str {
        match code {
            "open" => "check the path behind duckdb:, and that no program has the file open for writing",
            _ => "install the package with `pip install duckdb`, and name that Python in SQLGAUGE_PYTHON",
        }
    }
}
