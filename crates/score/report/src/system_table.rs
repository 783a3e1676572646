//! What a report says of each system besides its scores: one table per subject, the same in every format.

use serde::Serialize;

use crate::sheet::Sheet;
use crate::{Report, ReportError, Verdicts, fixes, spotit};

/// A table with rows per system, in words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct SystemTable {
    pub(crate) title: &'static str,
    /// What stands under the title.
    pub(crate) note: String,
    /// The first column is the system's.
    pub(crate) header: Vec<String>,
    /// The system, and the cells after its name.
    pub(crate) rows: Vec<(String, Vec<String>)>,
}

impl SystemTable {
    /// The table as all text formats write it.
    pub(crate) fn sheet(&self) -> Sheet {
        let row = |(system, cells): &(String, Vec<String>)| {
            std::iter::once(system).chain(cells).map(|text| text.as_str().into()).collect()
        };
        Sheet {
            title: self.title.to_owned(),
            note: self.note.clone(),
            header: self.header.clone(),
            rows: self.rows.iter().map(row).collect(),
            ..Sheet::default()
        }
    }
}

/// The tables that the metrics of the run ask for, in the order in which they are shown.
pub(crate) fn system_tables(report: &Report) -> Result<Vec<SystemTable>, ReportError> {
    Ok([fixes::table(report), spotit::table(report)?, Verdicts::table(report)?]
        .into_iter()
        .flatten()
        .collect())
}
