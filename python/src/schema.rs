//! `Schema`: tables without rows, from DDL.

use std::path::Path;
use std::sync::Arc;

use pyo3::prelude::*;

use crate::error::{Class, Failure};

/// The tables of a database, without their rows. ``Schema(text)`` and :meth:`from_ddl` read DDL; pickling sends the text.
#[pyclass(frozen, module = "sqlgauge")]
pub(crate) struct Schema {
    ddl: String,
    pub(crate) schema: Arc<sqlgauge_sql::schema::Schema>,
}

#[pymethods]
impl Schema {
    /// Reads ``CREATE TABLE …`` statements, and those of views and indexes.
    ///
    /// Raises:
    ///     InputError: The text is not DDL of SQLite.
    #[new]
    fn new(py: Python<'_>, ddl: String) -> PyResult<Self> {
        Self::from_ddl(py, ddl)
    }

    /// Reads ``CREATE TABLE …`` statements, and those of views and indexes.
    ///
    /// Raises:
    ///     InputError: The text is not DDL of SQLite.
    #[staticmethod]
    fn from_ddl(py: Python<'_>, ddl: String) -> PyResult<Self> {
        let text = ddl.clone();
        let schema = crate::call::call(py, move |_| {
            sqlgauge_sql::schema::Schema::from_ddl(&text).map_err(|error| {
                let remedy = if Path::new(&text).is_file() {
                    "; it is the path of a file: give the text in it, pathlib.Path(path).read_text()"
                } else {
                    ""
                };
                Failure::new(Class::Input, &format!("the text is not DDL of SQLite: {error}{remedy}"))
            })
        })?;
        Ok(Self { ddl, schema: Arc::new(schema) })
    }

    /// The text that it was read from.
    #[getter]
    fn ddl(&self) -> &str {
        &self.ddl
    }

    /// Names of tables and views in their order.
    #[getter]
    fn tables(&self) -> Vec<String> {
        self.schema.tables().iter().map(|table| table.name.clone()).collect()
    }

    fn __repr__(&self) -> String {
        format!("sqlgauge.Schema of {}", self.tables().join(", "))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (String,))> {
        Ok((py.get_type::<Self>().getattr("from_ddl")?, (self.ddl.clone(),)))
    }
}
