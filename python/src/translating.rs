//! `translate`: a query in other dialects.

use std::sync::Arc;

use pyo3::prelude::*;
use serde_json::{Map, Value};
use sqlgauge_core::{TranslateJob, Translation};
use sqlgauge_engine::Stoppable;

use crate::call::call;
use crate::database::{Database, Opened};
use crate::json::to_python;

/// What `translate --json` prints.
#[pyfunction]
pub(crate) fn translate_query<'py>(
    py: Python<'py>,
    sql: Option<String>,
    db: PyRef<'py, Database>,
    to: Vec<String>,
    ddl: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let Opened { engine, database } = db.opened(py)?;
    let translations = call(py, move |stop| {
        let engine = Stoppable::new(engine, Arc::clone(stop));
        Ok(TranslateJob { sql, to, ddl }.run(&engine, &database)?)
    });
    db.forget_if_interrupted(py, &translations);
    let one = |translation: &Translation| (translation.dialect.to_owned(), translation.to_json());
    let all: Map<String, Value> = translations?.iter().map(one).collect();
    to_python(py, &Value::Object(all))
}
