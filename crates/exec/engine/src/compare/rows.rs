//! The equality of `ex@1`, whose contract stands in that metric: bags of rows, columns in order, rows in the gold's
//! order up to ties, numbers within a tolerance. Exact decimals are compared exactly in a column without floats, and as
//! floats in one that has some.

use std::collections::HashMap;

use sqlgauge_base::listed;

use crate::{ResultSet, Value};

use crate::compare::explain;
use crate::compare::pyeq::{FoldMap, Grid, Interner, exact_integer};

/// Relative difference within which numbers with a fraction are equal.
pub const RELATIVE_TOLERANCE: f64 = 1e-9;

/// The order that a gold asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GoldOrder {
    /// None: rows are a bag.
    Unordered,
    /// The gold's rows in runs of equal sort keys: the length of each run, in order.
    Runs(Vec<usize>),
    /// The gold orders its rows further than into those runs, but by what is not determined, and why.
    Partly(Vec<usize>, String),
    /// The gold orders its rows, but by what could not be determined, and why.
    Unknown(String),
}

impl GoldOrder {
    /// The runs of rows with equal sort keys, where the keys are those columns of `rows`.
    pub fn from_keys(rows: &ResultSet, keys: &[usize]) -> Self {
        Self::Runs(runs_of_keys(rows, keys))
    }
}

/// The lengths of the runs of rows that are equal in those columns.
pub(crate) fn runs_of_keys(rows: &ResultSet, keys: &[usize]) -> Vec<usize> {
    let mut interner = Interner::default();
    let grid = interner.grid(rows);
    let rows: Vec<&[u32]> = grid.rows().collect();
    let is_tie = |a: &&[u32], b: &&[u32]| keys.iter().all(|&key| a.get(key) == b.get(key));
    rows.chunk_by(is_tie).map(<[_]>::len).collect()
}

/// How the prediction's rows differ from the gold's, in words; `None` if they do not.
pub fn difference(gold: &ResultSet, order: &GoldOrder, prediction: &ResultSet) -> Option<String> {
    let shape = explain::width(gold, prediction).or_else(|| explain::shape(gold, prediction));
    if shape.is_some() {
        return shape;
    }
    let (ours, theirs) = grids_within_tolerance(gold, prediction);
    if ours.cells == theirs.cells {
        None
    } else if sorted_rows(&ours) != sorted_rows(&theirs) {
        let reason = columns_in_other_order(&ours, &theirs)
            .or_else(|| explain::missing_row((gold, &ours), (prediction, &theirs), false));
        Some(reason.unwrap_or_default())
    } else {
        difference_of_order((gold, &ours), order, (prediction, &theirs))
    }
}

/// How the sets of rows differ, in words; `None` if they do not. Numbers are equal within the tolerance.
pub(crate) fn difference_of_sets(gold: &ResultSet, prediction: &ResultSet) -> Option<String> {
    let width = explain::width(gold, prediction);
    if width.is_some() {
        return width;
    }
    let (ours, theirs) = grids_within_tolerance(gold, prediction);
    let (mut our_set, mut their_set) = (sorted_rows(&ours), sorted_rows(&theirs));
    our_set.dedup();
    their_set.dedup();
    let differs = our_set != their_set;
    differs.then(|| explain::missing_row((gold, &ours), (prediction, &theirs), true).unwrap_or_default())
}

/// How the reason begins where the rows are equal once the prediction's columns stand in a different order.
pub const COLUMNS_MOVED: &str = "the columns stand in a different order";

/// Columns of results whose order is tried.
const MOST_COLUMNS: usize = 8;

/// Says so where the rows are equal once the prediction's columns stand in a different order, each of the gold's taken for the first
/// with the same values.
fn columns_in_other_order(gold: &Grid, prediction: &Grid) -> Option<String> {
    let width = gold.width;
    if !(2..=MOST_COLUMNS).contains(&width) {
        return None;
    }
    let column = |grid: &Grid, at: usize| {
        let mut values: Vec<u32> = grid.column(at).collect();
        values.sort_unstable();
        values
    };
    let mut left: Vec<(usize, Vec<u32>)> = (0..width).map(|at| (at, column(prediction, at))).collect();
    let mut order = Vec::new();
    for at in 0..width {
        let values = column(gold, at);
        order.push(left.remove(left.iter().position(|(_, other)| *other == values)?).0);
    }
    let cells = prediction.rows().flat_map(|row| order.iter().map(|at| row[*at])).collect();
    let moved = Grid { width, cells };
    let places: Vec<String> = order.iter().map(|at| (at + 1).to_string()).collect();
    (sorted_rows(gold) == sorted_rows(&moved))
        .then(|| format!("{COLUMNS_MOVED}: the gold's are the prediction's {}", listed(&places)))
}

/// Whether both have as many rows and as many columns.
pub fn has_same_shape(gold: &ResultSet, prediction: &ResultSet) -> bool {
    gold.width() == prediction.width() && gold.len() == prediction.len()
}

/// Of two equal bags, where the prediction leaves the order of the gold: cut into the gold's runs, each run must be
/// the same bag.
fn difference_of_order(
    gold: (&ResultSet, &Grid),
    order: &GoldOrder,
    prediction: (&ResultSet, &Grid),
) -> Option<String> {
    let (GoldOrder::Runs(runs) | GoldOrder::Partly(runs, _)) = order else { return None };
    let (ours, theirs): (Vec<_>, Vec<_>) = (gold.1.rows().collect(), prediction.1.rows().collect());
    let mut start = 0;
    for length in runs {
        let end = (start + length).min(ours.len());
        let (mut our_run, mut their_run) = (ours[start..end].to_vec(), theirs[start..end].to_vec());
        our_run.sort_unstable();
        their_run.sort_unstable();
        if our_run != their_run {
            let at = (start..end).find(|&at| !our_run.contains(&theirs[at])).unwrap_or(start);
            let row = |of: &ResultSet| of.row(at).map(explain::row).unwrap_or_default();
            return Some(format!(
                "order differs: row {} is {} in the gold, {} in the prediction",
                at + 1,
                row(gold.0),
                row(prediction.0)
            ));
        }
        start = end;
    }
    None
}

fn sorted_rows(grid: &Grid) -> Vec<&[u32]> {
    let mut rows: Vec<&[u32]> = grid.rows().collect();
    rows.sort_unstable();
    rows
}

/// A value up to the equality of this metric, within one column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Cell<'a> {
    Null,
    Whole(i64),
    /// The smallest of a chain of numbers that are equal within the tolerance, by its bits.
    Near(u64),
    Text(&'a [u8]),
    Blob(&'a [u8]),
    /// An exact number, by its digits.
    Decimal(&'a str),
}

/// Both results as numbers that are equal where the values are equal within the tolerance.
fn grids_within_tolerance(gold: &ResultSet, prediction: &ResultSet) -> (Grid, Grid) {
    let columns: Vec<Chains> = (0..gold.width()).map(|i| Chains::new(gold, prediction, i)).collect();
    let mut numbers: FoldMap<Cell<'_>, u32> = FoldMap::default();
    let (ours, theirs) =
        (number_cells(gold, &columns, &mut numbers), number_cells(prediction, &columns, &mut numbers));
    (Grid { width: gold.width(), cells: ours }, Grid { width: prediction.width(), cells: theirs })
}

fn number_cells<'a>(
    rows: &'a ResultSet,
    columns: &[Chains],
    numbers: &mut FoldMap<Cell<'a>, u32>,
) -> Vec<u32> {
    let mut cells = Vec::with_capacity(rows.values().len());
    for row in rows.rows() {
        for (value, chains) in row.iter().zip(columns) {
            let next = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
            cells.push(*numbers.entry(chains.cell(value)).or_insert(next));
        }
    }
    cells
}

/// The chains of nearly equal numbers in one column of both results, by the bits of the numbers in them.
struct Chains(HashMap<u64, u64>);

impl Chains {
    fn new(gold: &ResultSet, prediction: &ResultSet, column: usize) -> Self {
        let values = || gold.rows().chain(prediction.rows()).filter_map(|row| row.get(column));
        if !values().any(|value| matches!(value, Value::Real(r) if exact_integer(*r).is_none())) {
            return Self(HashMap::new());
        }
        let mut numbers: Vec<f64> = values().filter_map(as_float).collect();
        numbers.sort_unstable_by(f64::total_cmp);
        numbers.dedup();
        let chains = numbers.chunk_by(|&a, &b| {
            let either_has_fraction = exact_integer(a).is_none() || exact_integer(b).is_none();
            either_has_fraction && (b - a).abs() <= RELATIVE_TOLERANCE * a.abs().max(b.abs())
        });
        let chains = chains.flat_map(|chain| {
            let is_chain = chain.len() > 1 || chain.iter().any(|n| exact_integer(*n).is_none());
            let smallest = chain[0].to_bits();
            chain.iter().filter(move |_| is_chain).map(move |n| (n.to_bits(), smallest))
        });
        Self(chains.collect())
    }

    fn cell<'a>(&self, value: &'a Value) -> Cell<'a> {
        let chain = as_float(value).and_then(|number| self.0.get(&number.to_bits()));
        match (value, chain) {
            (_, Some(&smallest)) => Cell::Near(smallest),
            (Value::Null, _) => Cell::Null,
            (Value::Integer(i), _) => Cell::Whole(*i),
            (Value::Real(r), _) => exact_integer(*r).map_or(Cell::Near(r.to_bits()), Cell::Whole),
            (Value::Text(bytes), _) => Cell::Text(bytes),
            (Value::Blob(bytes), _) => Cell::Blob(bytes),
            (Value::Decimal(decimal), _) => Cell::Decimal(decimal.as_str()),
        }
    }
}

/// The number as a float, -0.0 as 0.0; `None` for what is no number or too large to be one exactly.
fn as_float(value: &Value) -> Option<f64> {
    match value {
        #[expect(clippy::cast_possible_truncation, reason = "a float that came from an integer of 64 bits")]
        Value::Integer(i) => (*i as f64 as i128 == i128::from(*i)).then_some(*i as f64),
        Value::Real(r) => Some(*r + 0.0),
        // Only where a float stands beside it: the chains of a column without one are empty.
        Value::Decimal(decimal) => Some(decimal.to_float() + 0.0),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(width: usize, values: &[Value]) -> ResultSet {
        ResultSet::new((0..width).map(|i| format!("c{i}")).collect(), values.to_vec())
    }

    fn ints(width: usize, values: &[i64]) -> ResultSet {
        rows(width, &values.iter().map(|&i| Value::Integer(i)).collect::<Vec<_>>())
    }

    fn reals(values: &[f64]) -> ResultSet {
        rows(1, &values.iter().map(|&r| Value::Real(r)).collect::<Vec<_>>())
    }

    fn is_right(gold: &ResultSet, order: &GoldOrder, prediction: &ResultSet) -> bool {
        difference(gold, order, prediction).is_none()
    }

    #[test]
    fn bags_with_columns_in_order() {
        for (gold, prediction, expected) in [
            (ints(1, &[1, 2, 2]), ints(1, &[2, 1, 2]), true),
            (ints(1, &[1, 2, 2]), ints(1, &[1, 2]), false),
            (ints(1, &[1, 1, 2]), ints(1, &[1, 2, 2]), false),
            (ints(2, &[1, 2]), ints(2, &[2, 1]), false),
            (ints(1, &[]), ints(1, &[]), true),
            (ints(1, &[]), ints(2, &[]), false),
        ] {
            assert_eq!(
                is_right(&gold, &GoldOrder::Unordered, &prediction),
                expected,
                "{gold:?} {prediction:?}"
            );
        }
    }

    #[test]
    fn columns_in_a_different_order_are_the_reason() {
        let gold = rows(2, &[Value::text("a"), Value::Real(0.3), Value::text("b"), Value::Real(0.5)]);
        let reason = |prediction: &ResultSet| difference(&gold, &GoldOrder::Unordered, prediction).unwrap();
        let swapped = rows(2, &[Value::Real(0.5), Value::text("b"), Value::Real(0.3), Value::text("a")]);
        let sentence = "the columns stand in a different order: the gold's are the prediction's 2 and 1";
        assert_eq!(reason(&swapped), sentence);
        let mixed = rows(2, &[Value::Real(0.5), Value::text("a"), Value::Real(0.3), Value::text("b")]);
        assert!(reason(&mixed).starts_with("gold row 1 "), "{}", reason(&mixed));
    }

    #[test]
    fn ties_are_free_and_all_else_is_ordered() {
        // Two columns: name and key; keys 1, 1, 2.
        let gold = ints(2, &[10, 1, 11, 1, 12, 2]);
        let order = GoldOrder::from_keys(&gold, &[1]);
        assert_eq!(order, GoldOrder::Runs(vec![2, 1]));
        assert!(is_right(&gold, &order, &ints(2, &[11, 1, 10, 1, 12, 2])));
        let wrong = ints(2, &[12, 2, 10, 1, 11, 1]);
        assert!(!is_right(&gold, &order, &wrong));
        assert!(is_right(&gold, &GoldOrder::Unordered, &wrong));
        assert!(is_right(&gold, &GoldOrder::Unknown("no parser".into()), &wrong));
    }

    #[test]
    fn numbers_with_a_fraction_are_equal_within_the_tolerance() {
        for (gold, prediction, expected) in [
            (reals(&[0.1 + 0.2]), reals(&[0.3]), true),
            (reals(&[0.300_000_01]), reals(&[0.3]), false),
            (reals(&[30.000_000_000_000_004]), ints(1, &[30]), true),
            (reals(&[30.0]), ints(1, &[30]), true),
            (reals(&[-0.0]), ints(1, &[0]), true),
            (ints(1, &[10_000_000_001]), ints(1, &[10_000_000_002]), false),
            (reals(&[10_000_000_001.0]), reals(&[10_000_000_002.0]), false),
            (ints(1, &[(1 << 60) + 1]), ints(1, &[1 << 60]), false),
            (reals(&[1e300]), reals(&[1e300 * (1.0 + 1e-12)]), true),
            (reals(&[0.5, 0.1 + 0.2]), reals(&[0.3, 0.5]), true),
        ] {
            assert_eq!(
                is_right(&gold, &GoldOrder::Unordered, &prediction),
                expected,
                "{gold:?} {prediction:?}"
            );
        }
    }

    #[test]
    fn jitter_in_one_column_does_not_hide_another() {
        let cell = |number: f64, id: i64| [Value::Real(number), Value::Integer(id)];
        let gold = rows(2, &[cell(0.1 + 0.2, 5), cell(0.3, 7)].concat());
        let prediction = rows(2, &[cell(0.3, 5), cell(0.1 + 0.2, 7)].concat());
        assert!(is_right(&gold, &GoldOrder::Unordered, &prediction));
    }

    #[test]
    fn text_is_no_number() {
        let gold = ints(1, &[1]);
        assert!(!is_right(&gold, &GoldOrder::Unordered, &rows(1, &[Value::text("1")])));
        assert!(!is_right(&gold, &GoldOrder::Unordered, &rows(1, &[Value::Null])));
    }
}
