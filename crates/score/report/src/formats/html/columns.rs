//! Statuses and scores of all systems as columns, while the items pass by.

use std::collections::HashMap;

use serde::Serialize;

use sqlgauge_run::RawItem;

use crate::Report;

/// One system's column: for every example the position of its status, its scores, and the positions of its
/// texts in the pool; -1 where there is none.
#[derive(Serialize)]
pub(super) struct Cells {
    /// Status.
    s: Vec<i32>,
    /// Scores: metric, then example; NaN, which is null in JSON, where an example has no score.
    m: Vec<Vec<f64>>,
    /// Prediction.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) p: Vec<i32>,
    /// Details: reasons by metric, error, result, other keys.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) x: Vec<i32>,
}

/// The columns, by the systems of the report and the order in which examples are met.
pub(super) struct Columns<'a> {
    pub(super) metrics: Vec<&'a str>,
    system_of_name: HashMap<&'a str, usize>,
    statuses: Vec<String>,
    row_of_id: HashMap<String, usize>,
    cells: Vec<Cells>,
}

impl<'a> Columns<'a> {
    pub(super) fn new(report: &'a Report) -> Self {
        let metrics: Vec<&str> = report.summary.metrics.iter().map(String::as_str).collect();
        let systems = &report.summary.systems;
        let empty =
            || Cells { s: Vec::new(), m: vec![Vec::new(); metrics.len()], p: Vec::new(), x: Vec::new() };
        Self {
            system_of_name: systems.iter().map(|s| s.system.as_str()).zip(0..).collect(),
            statuses: Vec::new(),
            row_of_id: HashMap::new(),
            cells: systems.iter().map(|_| empty()).collect(),
            metrics,
        }
    }

    pub(super) fn system(&self, name: &str) -> Option<usize> {
        self.system_of_name.get(name).copied()
    }

    pub(super) fn row(&self, id: &str) -> Option<usize> {
        self.row_of_id.get(id).copied()
    }

    /// The row of an example that was not met before.
    pub(super) fn new_row(&mut self, id: &str) -> usize {
        self.row_of_id.insert(id.to_owned(), self.row_of_id.len());
        self.row_of_id.len() - 1
    }

    /// Takes status and scores, in the order of the metrics, of an item; returns the column.
    pub(super) fn put(
        &mut self,
        system: usize,
        row: usize,
        status: &str,
        scores: impl Iterator<Item = Option<f64>>,
    ) -> &mut Cells {
        let status = self.statuses.iter().position(|other| other == status).unwrap_or_else(|| {
            self.statuses.push(status.to_owned());
            self.statuses.len() - 1
        });
        let cells = &mut self.cells[system];
        cells.reach(row);
        cells.s[row] = position(status);
        for (column, score) in cells.m.iter_mut().zip(scores) {
            column[row] = score.map_or(f64::NAN, short);
        }
        cells
    }

    /// A system that said what another said has the other's cells; returns the positions of both, and the row.
    pub(super) fn repeat(&mut self, system: &str, like: &str, id: &str) -> Option<(usize, usize, usize)> {
        let (system, like, row) = (self.system(system)?, self.system(like)?, self.row(id)?);
        let other = &self.cells[like];
        let (status, prediction, details) = (other.s[row], other.p[row], other.x[row]);
        let scores: Vec<f64> = other.m.iter().map(|scores| scores[row]).collect();
        let cells = &mut self.cells[system];
        cells.reach(row);
        (cells.s[row], cells.p[row], cells.x[row]) = (status, prediction, details);
        for (column, score) in cells.m.iter_mut().zip(scores) {
            column[row] = score;
        }
        Some((system, like, row))
    }

    /// The statuses in the page's order, `ok` before the others, and the columns, which point to them.
    pub(super) fn finish(mut self) -> (Vec<String>, Vec<Cells>) {
        let mut statuses = self.statuses.clone();
        statuses.sort_unstable_by_key(|name| (name != "ok", name.clone()));
        let place: Vec<i32> = self
            .statuses
            .iter()
            .map(|status| statuses.iter().position(|other| other == status).map_or(-1, position))
            .collect();
        for cells in &mut self.cells {
            cells.reach(self.row_of_id.len().saturating_sub(1));
            for status in &mut cells.s {
                *status = usize::try_from(*status).ok().and_then(|at| place.get(at)).copied().unwrap_or(-1);
            }
        }
        (statuses, self.cells)
    }
}

impl Cells {
    /// Makes room for that row; what lies between has nothing in it.
    fn reach(&mut self, row: usize) {
        if self.s.len() <= row {
            for places in [&mut self.s, &mut self.p, &mut self.x] {
                places.resize(row + 1, -1);
            }
            self.m.iter_mut().for_each(|scores| scores.resize(row + 1, f64::NAN));
        }
    }

    /// Puts the rows into that order.
    pub(super) fn arrange(&mut self, order: &[usize]) {
        for places in [&mut self.s, &mut self.p, &mut self.x] {
            *places = order.iter().map(|row| places[*row]).collect();
        }
        for scores in &mut self.m {
            *scores = order.iter().map(|row| scores[*row]).collect();
        }
    }

    /// Forgets where its texts are in the pool: in files they are found by their place.
    pub(super) fn without_texts(&mut self) {
        (self.p, self.x) = (Vec::new(), Vec::new());
    }
}

pub(super) fn scores_of(item: &RawItem<'_>, metrics: &[&str]) -> Vec<Option<f64>> {
    metrics.iter().map(|metric| item.metrics.get(*metric).copied().flatten()).collect()
}

/// Six digits are more than a screen shows.
pub(super) fn short(value: f64) -> f64 {
    if value.abs() < 1e9 { (value * 1e6).round() / 1e6 } else { value }
}

/// A position as the page has it.
pub(super) fn position(at: usize) -> i32 {
    i32::try_from(at).unwrap_or(-1)
}
