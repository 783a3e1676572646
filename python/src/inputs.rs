//! Frames, files, columns and systems as Python hands them over.

use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::types::PyMapping;
use sqlgauge_core::{LabelCondition, Source, Subset, System};
use sqlgauge_dataset::{ColumnRole, Columns};

use crate::error::Failure;
use crate::frame::{self, source_of_ids, source_of_rows, source_of_texts};

/// What the frame is called in messages and in the record of a run.
const FRAME: &str = "frame";

/// Predictions by name of the system.
pub(crate) type Given<'py> = Vec<(String, Bound<'py, PyAny>)>;

/// Which questions are taken, as `sqlgauge._subset` hands it over.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct SubsetArguments {
    db_ids: Vec<String>,
    ids: Option<Vec<String>>,
    /// `label=value`.
    conditions: Vec<String>,
    limit: Option<usize>,
    seed: u64,
}

impl SubsetArguments {
    pub(crate) fn subset(&self) -> Result<Subset, Failure> {
        let condition = |text: &String| {
            text.parse::<LabelCondition>().map_err(|error| Failure::input(&format!("where: {error}")))
        };
        Ok(Subset {
            db_ids: self.db_ids.clone(),
            ids: self.ids.clone().map(Into::into),
            conditions: self.conditions.iter().map(condition).collect::<Result<_, _>>()?,
            limit: self.limit,
            seed: self.seed,
            skip_missing_db: false,
        })
    }
}

/// Columns by role, as the user names them.
pub(crate) fn columns(named: &[(String, String)]) -> Result<Columns, Failure> {
    let mut columns = Columns::default();
    named.iter().try_for_each(|(role, column)| columns.name(role, column))?;
    Ok(columns)
}

/// A frame with what was said of its columns.
pub(crate) struct Frame {
    pub(crate) source: Source,
    pub(crate) columns: Columns,
    named: Vec<(String, String)>,
}

impl Frame {
    /// A frame, or the file of that name. `named` are columns by role, `systems` what may name further columns.
    pub(crate) fn read(
        frame: &Bound<'_, PyAny>,
        named: &[(String, String)],
        systems: &[&Given<'_>],
    ) -> PyResult<Self> {
        let (columns, named) = (columns(named)?, named.to_vec());
        if let Ok(path) = frame.extract::<PathBuf>() {
            return Ok(Self { source: Source::File(path), columns, named });
        }
        let of_systems = systems.iter().copied().flatten();
        let of_systems: Vec<String> = of_systems.filter_map(|(_, value)| value.extract().ok()).collect();
        let looked_for = named.iter().map(|(_, column)| column).chain(&of_systems).map(String::as_str);
        let source = source_of_rows(FRAME, frame, &frame::Columns::new(looked_for))?;
        Ok(Self { source, columns, named })
    }

    /// The systems: each a column of the frame, a file, a mapping from ids, rows, or texts in the frame's order.
    pub(crate) fn systems(&self, systems: &Given<'_>) -> PyResult<Vec<System>> {
        systems.iter().map(|(name, value)| self.system(name, value)).collect()
    }

    fn system(&self, name: &str, value: &Bound<'_, PyAny>) -> PyResult<System> {
        let (name, called) = (name.to_owned(), format!("predictions[{name:?}]"));
        let mut columns = self.columns.clone();
        if let Ok(column) = value.extract::<String>() {
            columns.set(ColumnRole::Prediction, column);
            return Ok(System { name, predictions: self.source.clone(), columns });
        }
        if let Ok(path) = value.extract::<PathBuf>() {
            return Ok(System { name, predictions: Source::File(path), columns });
        }
        if let Ok(by_id) = value.cast::<PyMapping>() {
            let predictions = source_of_ids(&called, by_id)?;
            return Ok(System { name, predictions, columns: Columns::default() });
        }
        if value.get_item(0).is_ok_and(|first| first.cast::<PyMapping>().is_ok()) {
            let looked_for =
                frame::Columns::of_predictions(self.named.iter().map(|(_, column)| column.as_str()));
            return Ok(System { name, predictions: source_of_rows(&called, value, &looked_for)?, columns });
        }
        let predictions = source_of_texts(&called, value)?;
        Ok(System { name, predictions, columns: Columns::default() })
    }
}
