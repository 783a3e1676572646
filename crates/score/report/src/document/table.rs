//! A table of a report.

/// Rows of cells under named columns. The first column holds names.
#[derive(Debug, Clone, Default)]
pub struct Table {
    pub columns: Vec<Column>,
    /// As many cells each as there are columns.
    pub rows: Vec<Vec<Cell>>,
    /// Whether colours say more than the numbers at a glance.
    pub is_heat_map: bool,
    /// Whether columns that a terminal has no room for follow in further tables with the same names.
    pub is_split: bool,
    /// What the colours mean: worst, neutral, best. Only where cells have a tone.
    pub legend: Option<[&'static str; 3]>,
}

/// The name of a column.
#[derive(Debug, Clone)]
pub struct Column {
    pub name: String,
    /// Whether it explains the others, for which only pages have room.
    pub is_explanation: bool,
}

/// A field of a table.
#[derive(Debug, Clone, Default)]
pub struct Cell {
    pub text: String,
    /// From -1, much worse than what it is compared with, to 1, much better.
    pub tone: Option<f64>,
    /// Whether it is the number that the table is about.
    pub is_strong: bool,
    /// Whether it is a query or a hash.
    pub is_code: bool,
    /// Where it leads: `#` and the id of a section of the page, or a file beside it.
    pub link: Option<String>,
    /// Drawn in place of the text.
    pub drawing: Option<Drawing>,
}

/// A picture in a cell.
#[derive(Debug, Clone, Copy)]
pub enum Drawing {
    /// A share with its interval, from 0 to 100 %. A wide terminal has it too.
    Interval { value: f64, low: f64, high: f64 },
    /// Two shares from 0 to 100 %, hollow before and full after. Only HTML has it.
    Change { from: f64, to: f64 },
    /// A bar to the left below 0, to the right above, at most 1 long. Only HTML has it.
    Pull(f64),
}

impl Table {
    /// A table without rows.
    pub fn new<C: Into<Column>>(columns: impl IntoIterator<Item = C>) -> Self {
        Self { columns: columns.into_iter().map(Into::into).collect(), ..Self::default() }
    }

    /// A table with rows.
    pub fn of<C: Into<Column>>(
        columns: impl IntoIterator<Item = C>,
        rows: impl IntoIterator<Item = Vec<Cell>>,
    ) -> Self {
        Self { rows: rows.into_iter().collect(), ..Self::new(columns) }
    }

    /// Adds a row.
    pub fn push<C: Into<Cell>>(&mut self, row: impl IntoIterator<Item = C>) {
        self.rows.push(row.into_iter().map(Into::into).collect());
    }

    /// The cells of a column.
    fn cells(&self, column: usize) -> impl Iterator<Item = &Cell> {
        self.rows.iter().filter_map(move |row| row.get(column))
    }

    /// Whether a column holds numbers, and maybe empty cells.
    pub(super) fn is_numeric(&self, column: usize) -> bool {
        column > 0 && self.cells(column).all(Cell::is_number)
    }

    /// Whether a column holds pictures.
    pub(super) fn is_drawn(&self, column: usize) -> bool {
        self.cells(column).any(|cell| cell.drawing.is_some())
    }

    pub(super) fn has_tone(&self) -> bool {
        self.rows.iter().flatten().any(|cell| cell.tone.is_some())
    }
}

impl Column {
    /// A column that explains the others.
    pub fn explanation(name: &str) -> Self {
        Self { name: name.to_owned(), is_explanation: true }
    }
}

impl<T: Into<String>> From<T> for Column {
    fn from(name: T) -> Self {
        Self { name: name.into(), is_explanation: false }
    }
}

impl Cell {
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    pub fn drawn(drawing: Drawing) -> Self {
        Self { drawing: Some(drawing), ..Self::default() }
    }

    #[must_use]
    pub fn strong(self) -> Self {
        Self { is_strong: true, ..self }
    }

    #[must_use]
    pub fn code(self) -> Self {
        Self { is_code: true, ..self }
    }

    /// With a colour from -1, bad, to 1, good.
    #[must_use]
    pub fn toned(self, tone: Option<f64>) -> Self {
        Self { tone: tone.map(|tone| tone.clamp(-1.0, 1.0)), ..self }
    }

    /// Whether it is empty or begins as a number does.
    pub(super) fn is_number(&self) -> bool {
        let first = self.text.chars().next();
        !self.is_code && first.is_none_or(|first| first.is_ascii_digit() || "+−–-<≥".contains(first))
    }
}

impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Self {
        Self::new(text)
    }
}
