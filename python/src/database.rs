//! `Database`: a SQLite file with the limits under which queries run on it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use sqlgauge_dataset::Databases;
use sqlgauge_engine::{Engine, Limits, Moment, SqliteEngine};

use crate::call::call;
use crate::error::Failure;
use crate::process::PerProcess;
use crate::program;

/// A SQLite file, opened for reading, with the limits of the queries that run on it.
///
/// The file is taken to be constant while it is open. Queries run under the locks of the engine: they read, and can do
/// nothing else, however long they are or whatever they say. Whatever a query does, the call returns within its time
/// limit and a tenth of a second, and nothing of it goes on.
///
/// Args:
///     path: The file.
///     timeout: Seconds that one query may take; 30 without it.
///     max_rows: Rows that one result may have.
///     max_bytes: Bytes that one result may have.
///     max_heap: Bytes of memory that SQLite may use for one query.
///     now: Date, or date and time of UTC, that queries take for now; the moment of opening without it.
///
/// Raises:
///     DatabaseError: The file is not there, no database, damaged, or not at rest.
///     InputError: A limit or a time that is none.
///
/// Pickling sends the path and the options; the file is opened again where it arrives.
#[pyclass(frozen, module = "sqlgauge")]
pub(crate) struct Database {
    path: PathBuf,
    options: Limited,
    opened: PerProcess<Opened>,
}

/// The limits as they were given; what is left out is the default of the command line.
#[derive(Debug, Clone, Default, FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Limited {
    pub(crate) timeout: Option<f64>,
    pub(crate) max_rows: Option<usize>,
    pub(crate) max_bytes: Option<usize>,
    pub(crate) max_heap: Option<u64>,
    pub(crate) now: Option<String>,
}

impl Limited {
    /// The limits of an engine.
    pub(crate) fn limits(&self) -> Result<Limits, Failure> {
        let defaults = Limits::default();
        let timeout = match self.timeout {
            None => defaults.timeout,
            Some(seconds) => {
                Duration::try_from_secs_f64(seconds).ok().filter(|time| !time.is_zero()).ok_or_else(|| {
                    Failure::input(&format!("timeout {seconds} is not a positive number of seconds"))
                })?
            }
        };
        Ok(Limits {
            timeout,
            max_rows: self.max_rows.unwrap_or(defaults.max_rows),
            max_bytes: self.max_bytes.unwrap_or(defaults.max_bytes),
            max_heap_bytes: self.max_heap.unwrap_or(defaults.max_heap_bytes),
            ..defaults
        })
    }

    /// What queries take for now, where it was said.
    pub(crate) fn moment(&self) -> Result<Option<Moment>, Failure> {
        Ok(self.now.as_deref().map(str::parse).transpose()?)
    }

    /// The options that were given, by name.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        dict.set_item("timeout", self.timeout)?;
        dict.set_item("max_rows", self.max_rows)?;
        dict.set_item("max_bytes", self.max_bytes)?;
        dict.set_item("max_heap", self.max_heap)?;
        dict.set_item("now", self.now.as_deref())?;
        Ok(dict)
    }
}

/// Words that DDL begins with.
const DDL: [&str; 4] = ["CREATE", "PRAGMA", "BEGIN", "--"];

/// Refuses DDL in the place of a path.
pub(crate) fn not_ddl(path: &Path) -> Result<(), Failure> {
    let text = path.to_string_lossy();
    let text = text.trim_start();
    let begins = |word: &&str| text.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word));
    if text.contains(char::is_whitespace) && DDL.iter().any(begins) && !path.exists() {
        let sentence = "db is DDL where a path should be: match and verify take sqlgauge.Schema.from_ddl(text); queries run \
                        only on a database file";
        return Err(Failure::input(sentence));
    }
    Ok(())
}

/// A database with the engine that opened it.
#[derive(Clone)]
pub(crate) struct Opened {
    pub(crate) engine: Arc<SqliteEngine>,
    pub(crate) database: Arc<sqlgauge_engine::Database>,
}

impl Database {
    /// After a call that was broken off, or that the machine failed: what it found out about the file may be wrong, as its queries
    /// did not end by themselves. The next call opens the file again.
    pub(crate) fn forget_if_interrupted<T>(&self, py: Python<'_>, ended: &PyResult<T>) {
        let Err(error) = ended else { return };
        let has_failed = || self.opened.get(py).is_some_and(|opened| opened.engine.check().is_err());
        if !error.is_instance_of::<crate::error::Error>(py) || has_failed() {
            self.opened.clear(py);
        }
    }

    /// The database as this process has it open.
    pub(crate) fn opened(&self, py: Python<'_>) -> PyResult<Opened> {
        self.opened.get_or_make(py, || {
            let (limits, now) = (self.options.limits()?, self.options.moment()?);
            let (worker, path) = (program::worker(py)?, self.path.clone());
            call(py, move |_| {
                let engine = SqliteEngine::with_workers(limits, worker)?;
                let engine = Arc::new(engine.at(now.unwrap_or_else(Moment::now)));
                let database = engine.open(&path)?;
                Ok(Opened { engine, database })
            })
        })
    }
}

#[pymethods]
impl Database {
    #[new]
    #[pyo3(signature = (path, *, timeout=None, max_rows=None, max_bytes=None, max_heap=None, now=None))]
    fn new(
        py: Python<'_>,
        path: PathBuf,
        timeout: Option<f64>,
        max_rows: Option<usize>,
        max_bytes: Option<usize>,
        max_heap: Option<u64>,
        now: Option<String>,
    ) -> PyResult<Self> {
        let options = Limited { timeout, max_rows, max_bytes, max_heap, now };
        let database = Self { path, options, opened: PerProcess::empty() };
        not_ddl(&database.path)?;
        // A file that cannot be opened is told here, and not by the first query.
        database.opened(py)?;
        Ok(database)
    }

    /// The file, as it was named.
    #[getter]
    fn path(&self) -> PathBuf {
        self.path.clone()
    }

    /// Names of tables and views in the order of their creation.
    #[getter]
    fn tables(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let opened = self.opened(py)?;
        Ok(opened.database.schema().tables().iter().map(|table| table.name.clone()).collect())
    }

    fn __repr__(&self) -> String {
        format!("sqlgauge.Database({:?})", self.path.display().to_string())
    }

    fn __getnewargs_ex__<'py>(&self, py: Python<'py>) -> PyResult<((PathBuf,), Bound<'py, PyDict>)> {
        Ok(((self.path.clone(),), self.options.to_dict(py)?))
    }
}

/// The file of a database in a folder of databases.
#[pyfunction]
pub(crate) fn locate_database(db: PathBuf, db_id: &str) -> PyResult<PathBuf> {
    let database = Databases::open(&db).and_then(|databases| databases.locate(db_id));
    Ok(database.map_err(Failure::from)?.main)
}
