//! `verify`: a database that tells two queries apart, or a proof that there is none.

use std::sync::Arc;

use pyo3::prelude::*;
use serde_json::Value;
use sqlgauge::{verify_over_database, verify_over_schema};
use sqlgauge_engine::Stoppable;

use crate::call::call;
use crate::database::Opened;
use crate::json::map_to_python;
use crate::matching::{Ground, Over};
use crate::scoring::VerifyArguments;

#[pyfunction]
fn verify_queries<'py>(
    py: Python<'py>,
    left: String,
    right: String,
    over: Over<'py>,
    arguments: VerifyArguments,
) -> PyResult<Bound<'py, PyAny>> {
    let (settings, ground) = (arguments.settings()?, over.ground(py)?);
    let object = call(py, move |stop| {
        let report = match ground {
            Ground::Database(Opened { engine, database }) => {
                let engine = Stoppable::new(engine, Arc::clone(stop));
                verify_over_database(&settings, &engine, &database, &left, &right)?
            }
            Ground::Schema(schema) => verify_over_schema(&settings, &schema, &left, &right)?,
        };
        let mut object = report.to_json();
        object.insert("ms".to_owned(), report.times_to_json());
        Ok(Value::Object(object))
    });
    over.forget_if_interrupted(py, &object);
    match object? {
        Value::Object(fields) => Ok(map_to_python(py, &fields)?.into_any()),
        other => crate::json::to_python(py, &other),
    }
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(verify_queries, module)?)
}
