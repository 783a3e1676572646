//! What a report says of each system besides its scores: one table per subject, the same in every format.

use serde::Serialize;

use crate::document::{Cell, Section, Table};
use crate::{Report, ReportError, Verdicts, fixes, solver_alone, spotit, transcripts};

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
    /// What a page draws above the table.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) bars: Option<Bars>,
}

/// A bar for each system, stacked of parts of its answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Bars {
    pub(crate) parts: Vec<&'static str>,
    /// In the order of the table's rows: how many answers each part has, and of how many.
    pub(crate) counts: Vec<(Vec<usize>, usize)>,
}

impl SystemTable {
    pub(crate) fn section(&self) -> Section {
        let row = |(system, cells): &(String, Vec<String>)| {
            std::iter::once(system).chain(cells).map(Cell::new).collect()
        };
        let table = Table::of(self.header.iter().map(String::as_str), self.rows.iter().map(row));
        Section::new(self.title, &self.note, table)
    }
}

/// The tables that a run has, in the order in which they are shown.
pub(crate) fn system_tables(report: &Report) -> Result<Vec<SystemTable>, ReportError> {
    let fixes = fixes::table(report).into_iter();
    Ok(fixes.chain(tables_of_page(report)?).collect())
}

/// Those that are tables on a page too.
pub(crate) fn tables_of_page(report: &Report) -> Result<Vec<SystemTable>, ReportError> {
    let mut tables: Vec<SystemTable> = transcripts::table(report).into_iter().collect();
    tables.extend(spotit::tables(report)?);
    tables.extend(Verdicts::tables(report)?);
    tables.extend(solver_alone::tables(report)?);
    Ok(tables)
}
