//! DuckDB.
//!
//! Each connection is a process of its own: Python with the package `duckdb`, whose memory is limited by the system, which may write
//! no file, and which is ended at the time limit. Inside it the database is read-only, nothing outside it can be reached, and
//! the configuration is locked. Each query has a cursor of its own.

mod catalog;
mod child;
mod errors;
mod values;

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use sqlgauge_engine::{EngineError, Enough, Failure, FailureKind, Limits, Outcome};

use crate::kind::{Access, Kind};
use crate::locks::LockResult;
use crate::rows::Rows;
use crate::server::{Blame, Broken, Cancelled, Catalog, End, Server, ServerEngine, refusal};
use crate::trial::try_locks;

use child::{Answer, Child, File};

pub(crate) const KIND: Kind = Kind {
    name: "duckdb",
    schemes: &["duckdb"],
    engine: |limits, access| Arc::new(ServerEngine::<DuckDb>::new(limits, access)),
    setup: catalog::setup,
    check,
};

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
    const WITHOUT_LOCK: Option<(&'static str, &'static str)> = None;
    type Address = File;
    type Connection = Child;

    fn address(path: &Path) -> Result<File, String> {
        File::of(path)
    }

    fn connect(file: &File, _: &Access) -> Result<Child, Broken> {
        Child::start(file)
    }

    fn version(child: &Child) -> String {
        child.version.clone()
    }

    fn open(mut child: Child) -> Result<(Self, Catalog), Broken> {
        let mut catalog = catalog::read(&mut child)?;
        catalog.digest.push_str(&child.content()?);
        Ok((Self { file: child.file.clone() }, catalog))
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
        let began = Instant::now();
        let deadline = began + limits.timeout;
        let is_fresh = child.queries == 0;
        child.ask(Some(sql))?;
        let mut rows = None;
        loop {
            match child.answer(deadline, limits.max_value_bytes)? {
                Answer::Columns(columns) => rows = Some(Rows::new(columns, limits, enough)),
                Answer::Row(cells, length) => {
                    let rows = rows.as_mut().ok_or_else(child::out_of_turn)?;
                    if let Err(stop) = rows.push(cells, length) {
                        return Ok(stop.into());
                    }
                    if Instant::now() > deadline {
                        return Err(Broken::Late);
                    }
                }
                Answer::End => {
                    let rows = rows.ok_or_else(child::out_of_turn)?;
                    return Ok(End::Ready(Outcome::Rows(Arc::new(rows.finish()))));
                }
                Answer::Failed { kind, message } => {
                    let failure = match refusal::<Self>(&kind, &message, began, limits) {
                        // No query before it in this process, and none beside it: the memory is all that it may have.
                        Err(Broken::Contested(failure)) if is_fresh => failure,
                        refused => refused?,
                    };
                    return Ok(End::Ready(Outcome::Failed(failure)));
                }
            }
        }
    }

    /// The process is ended when it is dropped.
    fn cancel(_: &mut Child) -> Cancelled {
        Cancelled::Over
    }

    /// The query's cursor is closed already.
    fn begin_cleaning(_: &mut Child) -> bool {
        true
    }

    fn failure(code: &str, message: &str) -> Failure {
        errors::failure(code, message)
    }

    fn blame(code: &str) -> Blame {
        errors::blame(code)
    }

    fn remedy(code: &str) -> &'static str {
        match code {
            "open" => "check the path behind duckdb:, and that no program has the file open for writing",
            _ => "install the package with `pip install duckdb`, and name that Python in SQLGAUGE_PYTHON",
        }
    }
}

/// The version, and what became of the attempt to break each lock.
fn check(path: &Path, access: &Access) -> Result<(String, Vec<LockResult>), EngineError> {
    try_locks::<DuckDb>(path, access, catalog::LOCKS)
}
