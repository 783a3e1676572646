//! The options, and every threshold that decides something.

use crate::values::{DateOrder, DecimalMark};

/// How tables become databases. [`TablesOptions::default`] has the documented values.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a choice of its own")]
pub struct TablesOptions {
    /// Most bytes of a file; a larger one is refused.
    pub max_file_bytes: u64,
    /// Most columns of a table; a wider one is refused. SQLite itself takes 2,000.
    pub max_columns: usize,
    /// Fewest columns with a value.
    pub min_columns: usize,
    /// Most rows of a table.
    pub max_rows: u64,
    /// Fewest rows of a table.
    pub min_rows: u64,
    /// Most cells of a table: what is held in memory while it is analysed is four bytes for each.
    pub max_cells: u64,
    /// Largest share of rows that have not as many values as the header has names; a table with more is refused, because
    /// header and separator are not those of its rows.
    pub max_ragged: f64,
    /// Whether a row with fewer values than the header has names is kept, with NULL for the rest.
    pub fill_short_lines: bool,
    /// Whether a row that is left out, or a file that cannot be read, ends the run with an error.
    pub strict: bool,
    /// The decimal mark of columns whose values leave it open (`1,234`); without it they stay texts.
    pub decimal_mark: Option<DecimalMark>,
    /// What comes first in the dates of columns that leave it open (`05/01/2024`); without it they stay texts.
    pub date_order: Option<DateOrder>,
    /// Whether words for yes and no become 1 and 0.
    pub booleans: bool,
    /// Smallest share of the letters that are Latin, in names and texts; a table with fewer is refused. 0 takes every script.
    pub min_latin: f64,
    /// Whether rows that repeat an earlier one as a whole are left out.
    pub drop_duplicate_rows: bool,
    /// Most columns of a key.
    pub max_key_columns: usize,
    /// Steps for the search of keys and dependencies of one table; a step is a row looked at.
    pub search_steps: u64,
    /// Whether tables are split along functional dependencies.
    pub normalise: bool,
    /// From which score on an inclusion becomes a foreign key, in [0, 1].
    pub foreign_key_score: f64,
    /// From which similarity on two tables without a foreign key between them share a database, in [0, 1].
    pub similarity: f64,
    /// Most tables of a database, without those of splits.
    pub max_tables: usize,
}

impl Default for TablesOptions {
    fn default() -> Self {
        Self {
            max_file_bytes: 512 << 20,
            max_columns: 300,
            min_columns: 2,
            max_rows: 2_000_000,
            min_rows: 3,
            max_cells: 30_000_000,
            max_ragged: 0.5,
            fill_short_lines: false,
            strict: false,
            decimal_mark: None,
            date_order: None,
            booleans: false,
            min_latin: 0.8,
            drop_duplicate_rows: true,
            max_key_columns: 4,
            search_steps: 400_000_000,
            normalise: true,
            foreign_key_score: 0.4,
            similarity: 0.5,
            max_tables: 24,
        }
    }
}
