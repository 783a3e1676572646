//! `verify`: a database that tells two queries apart, or a proof that there is none.

use std::sync::Arc;

use pyo3::prelude::*;
use serde_json::json;
use sqlgauge_core::{verify_over_database, verify_over_schema};
use sqlgauge_engine::Stoppable;
use sqlgauge_report::counterexample_sentences;
use sqlgauge_verify::TIE;

use crate::call::call;
use crate::database::Opened;
use crate::json::to_python;
use crate::matching::{Ground, Over};
use crate::scoring::VerifyArguments;

/// What `verify --json` prints, and what it says of the counterexample in sentences.
#[pyfunction]
pub(crate) fn verify_queries<'py>(
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
        let mut sentences = counterexample_sentences(&report.record());
        if report.is_tie {
            sentences.push(format!("The results differ on the given database: {TIE}."));
        }
        Ok(json!({"record": object, "sentences": sentences}))
    });
    over.forget_if_interrupted(py, &object);
    to_python(py, &object?)
}
