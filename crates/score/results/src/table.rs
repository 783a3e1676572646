//! A result in memory: as a file writes it, or with the types that its source states.

use std::borrow::Cow;

/// The most memory that one table, or the golds of one item together, may take by [`ResultFile::cost`]: 48 MiB. A comparison takes
/// about as much again, so that two tables at the limit stay below 200 MiB.
pub(crate) const MAX_COST: usize = 48 << 20;

/// Bytes that a cell costs beside its text.
pub(crate) const CELL_COST: usize = 28;

#[derive(Debug, Clone, PartialEq)]
pub enum Value<'a> {
    /// NULL.
    Null,
    /// True or false.
    Bool(bool),
    /// An integer.
    Int(i128),
    /// An integer that 128 bits do not hold, as its digits.
    Huge(Cow<'a, str>),
    Float(f64),
    Text(Cow<'a, str>),
}

impl Value<'_> {
    /// The number that it is; true and false are numbers for Python only, so not here.
    pub(crate) fn number(&self) -> Option<f64> {
        match self {
            Self::Int(integer) => Some(*integer as f64),
            Self::Float(real) => Some(*real),
            Self::Huge(digits) => digits.parse().ok(),
            Self::Null | Self::Bool(_) | Self::Text(_) => None,
        }
    }

    pub(crate) fn as_borrowed(&self) -> Value<'_> {
        match self {
            Self::Null => Value::Null,
            Self::Bool(truth) => Value::Bool(*truth),
            Self::Int(integer) => Value::Int(*integer),
            Self::Huge(digits) => Value::Huge(Cow::Borrowed(digits)),
            Self::Float(real) => Value::Float(*real),
            Self::Text(text) => Value::Text(Cow::Borrowed(text)),
        }
    }
}

/// The texts of a column, one behind the other.
#[derive(Debug, Clone, Default)]
pub struct TextColumn {
    text: String,
    ends: Vec<u32>,
}

impl TextColumn {
    pub(crate) fn push(&mut self, cell: &str) {
        self.text.push_str(cell);
        // A column that is longer than MAX_COST is refused before it comes to that.
        self.ends.push(u32::try_from(self.text.len()).unwrap_or(u32::MAX));
    }

    /// Number of cells.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether it has no cell.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The cells from `from` up to and without `to`.
    pub fn cells(&self, from: usize, to: usize) -> impl Iterator<Item = &str> + Clone {
        let start = |at: usize| at.checked_sub(1).map_or(0, |before| self.ends[before] as usize);
        (from..to).map(move |at| &self.text[start(at)..self.ends[at] as usize])
    }

    /// All cells.
    pub fn iter(&self) -> impl Iterator<Item = &str> + Clone {
        self.cells(0, self.len())
    }
}

#[derive(Debug, Clone)]
pub enum Cells {
    /// Texts whose types the reader has to guess (CSV).
    Written(Vec<TextColumn>),
    /// Values with their types (JSON, Parquet, a bundle), column by column.
    Typed(Vec<Vec<Value<'static>>>),
}

/// A row of a CSV file whose number of fields is not the header's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RaggedRow {
    /// Line, from 1.
    pub line: u64,
    pub fields: usize,
    /// Fields of the header.
    pub header: usize,
}

#[derive(Debug, Clone)]
pub struct ResultFile {
    /// Names of the columns.
    pub names: Vec<String>,
    /// The cells. Written ones may have more columns than names, where the first row is longer than the header.
    pub cells: Cells,
    pub rows: usize,
    /// Whether reading stopped at [`ResultFile::rows`] because that is more than anyone asked for.
    pub is_beginning: bool,
    /// The first row whose length is not the header's.
    pub ragged: Option<RaggedRow>,
    /// The first row that is longer than header and first row.
    pub overlong: Option<RaggedRow>,
    /// Bytes that it takes, near enough for a guard.
    pub cost: usize,
}

impl ResultFile {
    /// A typed table without a row.
    pub fn empty(names: Vec<String>) -> Self {
        let cells = Cells::Typed(names.iter().map(|_| Vec::new()).collect());
        Self { names, cells, rows: 0, is_beginning: false, ragged: None, overlong: None, cost: 0 }
    }

    /// A table of typed values, row by row.
    ///
    /// # Errors
    /// The number of the first row, from 0, whose length is not that of the names.
    pub fn typed(names: Vec<String>, rows: Vec<Vec<Value<'static>>>) -> Result<Self, usize> {
        // Before anything is built: many names and many empty rows would take their product.
        if let Some(at) = rows.iter().position(|row| row.len() != names.len()) {
            return Err(at);
        }
        let count = rows.len();
        let mut columns: Vec<Vec<Value<'static>>> = names.iter().map(|_| Vec::with_capacity(count)).collect();
        for row in rows {
            columns.iter_mut().zip(row).for_each(|(column, value)| column.push(value));
        }
        let cost = count * names.len() * (CELL_COST + size_of::<Value<'static>>());
        Ok(Self { cells: Cells::Typed(columns), rows: count, cost, ..Self::empty(names) })
    }
}
