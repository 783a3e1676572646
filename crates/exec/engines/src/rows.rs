//! Collects rows while they arrive: those of a query up to its limits, those of the catalog up to a bound.

use sqlgauge_engine::{Enough, Failure, FailureKind, Limits, ResultSet, Value};

use crate::server::Broken;

/// Bytes that the answer to one question of ours may take in memory.
const MOST: usize = 128 << 20;
/// Bytes that a cell takes besides its text.
const CELL: usize = 48;

/// The rows of a question of ours. A server may answer without end, so they are bounded.
#[derive(Debug)]
pub(crate) struct Answer<T> {
    rows: Vec<Vec<T>>,
    bytes: usize,
}

impl<T> Answer<T> {
    pub(crate) fn new() -> Self {
        Self { rows: Vec::new(), bytes: 0 }
    }

    /// Takes a row that arrived in so many bytes.
    ///
    /// # Errors
    /// When the answer is longer than anything that is asked.
    pub(crate) fn push(&mut self, row: Vec<T>, length: usize) -> Result<(), Broken> {
        self.bytes += length + (row.len() + 1) * CELL;
        if self.bytes > MOST {
            return Err(Broken::Endless);
        }
        self.rows.push(row);
        Ok(())
    }

    /// Forgets the rows, and counts them further.
    pub(crate) fn clear(&mut self) {
        self.rows.clear();
    }

    pub(crate) fn finish(self) -> Vec<Vec<T>> {
        self.rows
    }
}

/// Rows after which a result is looked at first for being enough; then after twice as many, so that looking costs no more than
/// reading.
const FIRST_LOOK: usize = 64;

/// The rows so far, and what bounds them.
#[derive(Debug)]
pub(crate) struct Rows<'a> {
    columns: Vec<String>,
    cells: Vec<Value>,
    count: usize,
    bytes: usize,
    next_look: usize,
    limits: &'a Limits,
    enough: Option<&'a Enough>,
}

/// Why no further row is read.
#[derive(Debug)]
pub(crate) enum Stop {
    /// The rows are enough for their reader.
    Enough(ResultSet),
    /// They pass a limit.
    TooLarge(Failure),
}

impl<'a> Rows<'a> {
    pub(crate) fn new(columns: Vec<String>, limits: &'a Limits, enough: Option<&'a Enough>) -> Self {
        Self { columns, cells: Vec::new(), count: 0, bytes: 0, next_look: FIRST_LOOK, limits, enough }
    }

    /// Takes a row that arrived in so many bytes. Missing cells are NULL.
    ///
    /// # Errors
    /// When no further row has to be read.
    pub(crate) fn push(&mut self, row: impl IntoIterator<Item = Value>, length: usize) -> Result<(), Stop> {
        let width = self.columns.len();
        self.count += 1;
        self.bytes += width * size_of::<Value>() + length;
        if self.count > self.limits.max_rows {
            return Err(too_large(format!("returns more than {} rows", self.limits.max_rows)));
        }
        if self.bytes > self.limits.max_bytes {
            return Err(too_large(format!("returns more than {} bytes", self.limits.max_bytes)));
        }
        self.cells.extend(row.into_iter().take(width));
        self.cells.resize(self.count * width, Value::Null);
        let enough = self.enough.filter(|enough| enough.rows_over.is_none_or(|over| self.count > over));
        if let Some(enough) = enough.filter(|_| self.count >= self.next_look) {
            self.next_look = self.count * 2;
            let so_far = ResultSet::new(self.columns.clone(), std::mem::take(&mut self.cells));
            if enough.is_reached_by(&so_far) {
                return Err(Stop::Enough(so_far.beginning()));
            }
            self.cells = so_far.values().to_vec();
        }
        Ok(())
    }

    pub(crate) fn finish(self) -> ResultSet {
        ResultSet::new(self.columns, self.cells)
    }
}

fn too_large(message: String) -> Stop {
    Stop::TooLarge(Failure::new(FailureKind::TooLarge, message))
}
