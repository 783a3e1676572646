//! Whether the columns of two results can be matched such that the rows agree.

use std::collections::HashMap;

use crate::number::real;
use crate::table::{Cells, ResultFile, Value};

/// A value as `fair` sees it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Cell<'a> {
    Null,
    Bool(bool),
    Number(f64),
    Text(&'a str),
}

/// What a cell is without the value of a number: rows that agree have the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Mark<'a> {
    Null,
    Bool(bool),
    Number,
    Text(&'a str),
}

impl<'a> Cell<'a> {
    fn of_text(text: &'a str) -> Self {
        if text.is_empty() {
            return Self::Null;
        }
        if let Some(number) = real(text) {
            return Self::Number(number);
        }
        match () {
            () if text.eq_ignore_ascii_case("true") => Self::Bool(true),
            () if text.eq_ignore_ascii_case("false") => Self::Bool(false),
            () => Self::Text(text),
        }
    }

    fn of_value(value: &'a Value<'_>) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(truth) => Self::Bool(*truth),
            // A source that has no type for a column, such as decimals, writes numbers as text.
            Value::Text(text) => Self::of_text(text),
            value => value.number().map_or(Self::Null, Self::Number),
        }
    }

    fn mark(self) -> Mark<'a> {
        match self {
            Self::Null => Mark::Null,
            Self::Bool(truth) => Mark::Bool(truth),
            Self::Number(_) => Mark::Number,
            Self::Text(text) => Mark::Text(text),
        }
    }

    fn number(self) -> f64 {
        if let Self::Number(number) = self { number } else { 0.0 }
    }
}

/// The cells of a table by column.
pub(super) fn cells(table: &ResultFile) -> Vec<Vec<Cell<'_>>> {
    match &table.cells {
        Cells::Written(columns) => {
            columns.iter().map(|column| column.iter().map(Cell::of_text).collect()).collect()
        }
        Cells::Typed(columns) => {
            columns.iter().map(|column| column.iter().map(Cell::of_value).collect()).collect()
        }
    }
}

/// What came of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Agreement {
    Yes,
    /// No column has the values of that gold column.
    NoColumn(usize),
    /// Every column has a partner, but the rows do not agree.
    NoRows,
    /// More steps than the search may take.
    TooMany,
}

/// Cells that a search may look at.
const MOST_STEPS: usize = 200_000_000;

/// A search for the columns.
pub(super) struct Search<'s, 'a> {
    gold: &'s [Vec<Cell<'a>>],
    columns: &'s [Vec<Cell<'a>>],
    ordered: bool,
    tolerance: f64,
    steps: usize,
}

impl<'s, 'a> Search<'s, 'a> {
    pub(super) fn new(
        gold: &'s [Vec<Cell<'a>>],
        columns: &'s [Vec<Cell<'a>>],
        ordered: bool,
        tolerance: f64,
    ) -> Self {
        Self { gold, columns, ordered, tolerance, steps: 0 }
    }

    pub(super) fn run(&mut self) -> Agreement {
        let mut candidates = Vec::new();
        for at in 0..self.gold.len() {
            let fits: Vec<usize> =
                (0..self.columns.len()).filter(|column| self.agree(&[(at, *column)])).collect();
            if fits.is_empty() {
                return if self.is_spent() { Agreement::TooMany } else { Agreement::NoColumn(at) };
            }
            candidates.push((at, fits));
        }
        // Columns with few partners first: they prune most.
        candidates.sort_by_key(|(at, fits)| (fits.len(), *at));
        let is_found = self.extend(&candidates, &mut Vec::new());
        match (is_found, self.is_spent()) {
            (_, true) => Agreement::TooMany,
            (true, false) => Agreement::Yes,
            (false, false) => Agreement::NoRows,
        }
    }

    fn is_spent(&self) -> bool {
        self.steps > MOST_STEPS
    }

    fn extend(&mut self, candidates: &[(usize, Vec<usize>)], chosen: &mut Vec<(usize, usize)>) -> bool {
        let Some(((at, fits), rest)) = candidates.split_first() else { return true };
        for column in fits {
            if chosen.iter().any(|(_, other)| other == column) {
                continue;
            }
            chosen.push((*at, *column));
            if self.agree(chosen) && self.extend(rest, chosen) {
                return true;
            }
            chosen.pop();
        }
        false
    }

    /// Whether the rows over these pairs of columns agree.
    fn agree(&mut self, pairs: &[(usize, usize)]) -> bool {
        let rows = self.gold.first().map_or(0, Vec::len);
        self.steps = self.steps.saturating_add(rows * pairs.len() + 1);
        if self.is_spent() {
            return false;
        }
        let (golds, columns, tolerance) = (self.gold, self.columns, self.tolerance);
        let gold = |row: usize| pairs.iter().map(move |(at, _)| golds[*at][row]);
        let other = |row: usize| pairs.iter().map(move |(_, column)| columns[*column][row]);
        if self.ordered {
            return (0..rows).all(|row| gold(row).zip(other(row)).all(|(a, b)| equal(a, b, tolerance)));
        }
        let mut groups: HashMap<Vec<Mark<'a>>, [Vec<Vec<f64>>; 2]> = HashMap::new();
        let numbers = |cells: &[Cell<'a>]| {
            cells.iter().filter(|cell| matches!(cell, Cell::Number(_))).map(|cell| cell.number()).collect()
        };
        for row in 0..rows {
            for (side, cells) in [gold(row).collect::<Vec<_>>(), other(row).collect()].into_iter().enumerate()
            {
                let marks = cells.iter().map(|cell| cell.mark()).collect();
                groups.entry(marks).or_default()[side].push(numbers(&cells));
            }
        }
        let mut steps = self.steps;
        let agrees = groups.into_values().all(|[a, b]| pair_up(a, b, tolerance, &mut steps));
        self.steps = steps;
        agrees && !self.is_spent()
    }
}

fn equal(a: Cell<'_>, b: Cell<'_>, tolerance: f64) -> bool {
    match (a, b) {
        (Cell::Number(a), Cell::Number(b)) => is_close(a, b, tolerance),
        _ => a == b,
    }
}

#[expect(clippy::float_cmp, reason = "equal infinities are close")]
fn is_close(a: f64, b: f64, tolerance: f64) -> bool {
    a == b
        || (a.is_finite() && b.is_finite() && (a - b).abs() <= (1e-9 * a.abs().max(b.abs())).max(tolerance))
}

/// Whether the rows of numbers can be paired such that all are close. Sorted rows mostly are; where they are not, as a tolerance
/// may let an early number decide about the order of rows whose later ones differ, a matching in the graph of close rows tells.
fn pair_up(mut a: Vec<Vec<f64>>, mut b: Vec<Vec<f64>>, tolerance: f64, steps: &mut usize) -> bool {
    if a.len() != b.len() {
        return false;
    }
    let order = |x: &Vec<f64>, y: &Vec<f64>| {
        x.iter()
            .zip(y)
            .map(|(x, y)| x.total_cmp(y))
            .find(|order| order.is_ne())
            .unwrap_or(std::cmp::Ordering::Equal)
    };
    a.sort_by(order);
    b.sort_by(order);
    let close = |x: &[f64], y: &[f64]| x.iter().zip(y).all(|(x, y)| is_close(*x, *y, tolerance));
    if a.iter().zip(&b).all(|(x, y)| close(x, y)) {
        return true;
    }
    if a.first().is_none_or(|row| row.len() < 2) {
        return false;
    }
    // Rows that are close are close in the first number, by which both are sorted: a window of `b` for each row of `a`.
    let mut partners = Vec::with_capacity(a.len());
    for row in &a {
        let reach = (1e-9 * row[0].abs()).max(tolerance) * 1.001;
        let start = b.partition_point(|other| other[0] < row[0] - reach);
        let end = b.partition_point(|other| other[0] <= row[0] + reach);
        *steps = steps.saturating_add((end - start) * row.len() + 1);
        if *steps > MOST_STEPS {
            return false;
        }
        let fits: Vec<usize> = (start..end).filter(|at| close(row, &b[*at])).collect();
        if fits.is_empty() {
            return false;
        }
        partners.push(fits);
    }
    let mut matching =
        Matching { partners: &partners, taken_by: vec![None; b.len()], partner_of: vec![None; a.len()] };
    (0..a.len()).all(|row| matching.add(row, steps))
}

/// Rows that have a partner so far.
struct Matching<'p> {
    /// For each row those that are close to it.
    partners: &'p [Vec<usize>],
    taken_by: Vec<Option<usize>>,
    partner_of: Vec<Option<usize>>,
}

impl Matching<'_> {
    /// Gives a row a partner, moving others to other partners if it must.
    fn add(&mut self, row: usize, steps: &mut usize) -> bool {
        let mut came_from: HashMap<usize, usize> = HashMap::new();
        let mut open = vec![row];
        while let Some(at) = open.pop() {
            for partner in &self.partners[at] {
                *steps = steps.saturating_add(1);
                if *steps > MOST_STEPS {
                    return false;
                }
                if came_from.contains_key(partner) {
                    continue;
                }
                came_from.insert(*partner, at);
                let Some(other) = self.taken_by[*partner] else {
                    self.shift(*partner, &came_from);
                    return true;
                };
                open.push(other);
            }
        }
        false
    }

    /// Takes a free partner; whoever took it leaves its own to the next.
    fn shift(&mut self, mut free: usize, came_from: &HashMap<usize, usize>) {
        loop {
            let taker = came_from[&free];
            self.taken_by[free] = Some(taker);
            match self.partner_of[taker].replace(free) {
                Some(left) => free = left,
                None => return,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agreement(gold: &[&[&str]], other: &[&[&str]], ordered: bool) -> Agreement {
        fn columns<'a>(rows: &[&[&'a str]]) -> Vec<Vec<Cell<'a>>> {
            (0..rows[0].len()).map(|at| rows.iter().map(|row| Cell::of_text(row[at])).collect()).collect()
        }
        let (gold, other) = (columns(gold), columns(other));
        Search::new(&gold, &other, ordered, 0.01).run()
    }

    #[test]
    fn rows_stay_rows() {
        let gold: &[&[&str]] = &[&["a", "1"], &["b", "2"]];
        assert_eq!(agreement(gold, &[&["2.001", "b"], &["1", "a"]], false), Agreement::Yes);
        assert_eq!(agreement(gold, &[&["2", "b"], &["1", "a"]], true), Agreement::NoColumn(0));
        assert_eq!(agreement(gold, &[&["a", "2"], &["b", "1"]], false), Agreement::NoRows);
        assert_eq!(agreement(gold, &[&["a", "1"], &["b", "3"]], false), Agreement::NoColumn(1));
        assert_eq!(agreement(&[&["0"], &["1"]], &[&[""], &["1"]], false), Agreement::NoColumn(0));
    }

    #[test]
    fn a_column_serves_one_gold_column() {
        let gold: &[&[&str]] = &[&["1", "1"], &["2", "2"]];
        assert_eq!(agreement(gold, &[&["1", "x"], &["2", "y"]], false), Agreement::NoRows);
        assert_eq!(agreement(gold, &[&["1", "x", "1"], &["2", "y", "2"]], false), Agreement::Yes);
    }

    #[test]
    fn a_tolerance_that_changes_the_order_of_rows_does_not_decide() {
        // Sorted by the first number, the second would be paired the wrong way round.
        let gold: &[&[&str]] = &[&["1.000", "5"], &["1.001", "9"]];
        assert_eq!(agreement(gold, &[&["1.000", "9"], &["1.001", "5"]], false), Agreement::Yes);
        assert_eq!(agreement(gold, &[&["1.000", "9"], &["1.001", "9"]], false), Agreement::NoColumn(1));
    }
}
