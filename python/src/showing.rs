//! `show`: one item of a run with its rows.

use std::path::PathBuf;

use pyo3::prelude::*;
use serde_json::json;
use sqlgauge_core::ShowJob;
use sqlgauge_engine::ResultSet;
use sqlgauge_report::{ItemView, ShowOptions, show};
use sqlgauge_verify::ResultTable;

use crate::database::Limited;
use crate::error::{Class, Failure};
use crate::json::to_python;
use crate::watching::watched;

/// As wide as the command line writes where there is no terminal.
const WIDTH: u16 = 120;
/// Rows of each result in the text; the object has all.
const ROWS: usize = 10;

/// The item as it stands in the run, the rows of both results, the text of `sqlgauge show`, and what was noticed.
#[pyfunction]
pub(crate) fn show_item(
    py: Python<'_>,
    folder: PathBuf,
    id: String,
    system: Option<String>,
    limits: Limited,
) -> PyResult<Bound<'_, PyAny>> {
    let job = ShowJob { system, limits: limits.limits()?, ..ShowJob::new(folder, id) };
    let (mut json, notes) = watched(py, None, move |context| {
        let content = job.run(context)?;
        let (gold, prediction) = (content.gold_rows.as_deref(), content.prediction_rows.as_deref());
        let options = ShowOptions { width: WIDTH, colour: false, rows: ROWS };
        let item = serde_json::to_value(&content.item).map_err(|error| Failure::of(Class::Run, &error))?;
        let view = ItemView::new(&content.item);
        let table = |rows: Option<&ResultSet>, of_log: Option<&ResultTable>| {
            rows.map(ResultTable::of).or_else(|| of_log.cloned())
        };
        Ok(json!({
            "item": item,
            "why": content.why,
            "gold_result": table(gold, view.gold_result()),
            "prediction_result": table(prediction, view.prediction_result()),
            "text": show(&content.item, content.why.as_ref(), gold, prediction, &content.metrics, options),
        }))
    })?;
    json["notes"] = notes.into();
    to_python(py, &json)
}
