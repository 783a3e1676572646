//! `ex@1`: execution accuracy as it should be.
//!
//! # Contract
//! 1 if prediction and gold return the same rows, else 0. Both texts run as they are written.
//! - *Rows*: a bag. Repetition counts.
//! - *Columns*: in the gold's order and number, also for empty results. Names do not count.
//! - *Order*: compared only where the gold asks for one, with a top-level ORDER BY, and ties are free: the
//!   prediction may list rows with equal sort keys in any order. An ORDER BY inside a subquery does not count.
//! - *DISTINCT sorted by what is not returned* (`SELECT DISTINCT b FROM t ORDER BY a`): a row of the result stands
//!   for several rows of `t`. Where all of them have the same keys, the order is determined and compared like any
//!   other. Where they differ, SQLite sorts by whichever it meets first (an index changes the result), so the
//!   order is compared by the keys before the first such one, if there are any, and the detail says so.
//! - *Numbers*: an integer equals a float of the same value (`1 == 1.0`). Two whole numbers are compared
//!   exactly, whatever their type; if either has a fraction they are equal within 1e-9 of the larger. Being
//!   equal is taken transitively within a column, so the order of rows cannot change the answer.
//! - *Text* is compared by its bytes, text never equals a number or a blob, NULL equals NULL.
//!
//! A prediction that has returned more rows than the gold is wrong whatever follows, and need not run to its end (see
//! `Pair::for_metrics`): the score is the same.
//!
//! # Unlike the official scripts
//! Column order counts (Spider frees it), repetition counts and order may count (BIRD ignores both), DISTINCT
//! counts (Spider's default drops it), and rounding noise of sums does not count (both compare exactly).
//!
//! # Limits
//! A gold with LIMIT whose last key is tied has several right answers; the one that the gold returned is taken.
//! Where the sort keys of a gold cannot be determined, rows are compared as a bag and the detail says so (`order`).
//! Keys are tied if they are equal values, so keys that only a collation such as NOCASE takes for equal are not.

use std::collections::HashMap;

use sqlgauge_engine::{ResultSet, Value};
use sqlgauge_sql::{Dialect, UnderDistinct, ordered, ordered_under_distinct, print};

use crate::explain;
use crate::metric::{Metric, MetricKind, Reads, Score};
use crate::pair::Pair;
use crate::pyeq::{FoldMap, Grid, Interner, exact_integer};

/// Relative difference within which numbers with a fraction are equal.
pub const RELATIVE_TOLERANCE: f64 = 1e-9;

/// Bags of rows, columns in order, rows in the gold's order up to ties, numbers within a tolerance.
pub(crate) struct Ex;

impl Metric for Ex {
    fn id(&self) -> &'static str {
        "ex@1"
    }

    fn summary(&self) -> &'static str {
        "Execution accuracy: equal bags of rows, ordered where the gold orders them, ties free, numbers within 1e-9."
    }

    fn kind(&self) -> MetricKind {
        MetricKind::Binary
    }

    fn reads(&self) -> Reads {
        Reads::Bag
    }

    fn score(&self, pair: &Pair<'_>) -> Score {
        match pair.results() {
            Ok(results) if results.are_identical() => Score::new(1.0),
            Ok(results) => compare(&results.gold, pair.gold_order(&results.gold), &results.prediction),
            Err(score) => score,
        }
    }
}

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
    /// The order that the gold of a pair asks for. Sort keys that the gold does not return are fetched by
    /// running the gold with those keys as further columns.
    pub(crate) fn of(pair: &Pair<'_>, gold: &ResultSet) -> Self {
        if gold.len() < 2 || !pair.gold().to_ascii_lowercase().contains("order") {
            return Self::Unordered;
        }
        let query = match pair.gold_query() {
            Ok(query) => query,
            Err(error) => return Self::Unknown(format!("the gold could not be resolved: {error}")),
        };
        if let Some(under) = ordered_under_distinct(query) {
            return match runs_under_distinct(pair, gold, &under) {
                Ok(runs) => Self::Runs(runs),
                Err(why) => match ordered(query) {
                    Some(ordered) => Self::Partly(runs_of_keys(gold, &ordered.keys), why),
                    None => Self::Unknown(why),
                },
            };
        }
        let Some(ordered) = ordered(query) else { return Self::Unordered };
        if ordered.keys.iter().all(|&key| key < ordered.width) {
            return Self::from_keys(gold, &ordered.keys);
        }
        let database = &pair.target().database;
        let sql = match print(&ordered.query, database.schema(), Dialect::Sqlite) {
            Ok(sql) => sql,
            Err(error) => return Self::Unknown(format!("the gold's sort keys cannot be added: {error}")),
        };
        match pair.run_gold(database, &sql).rows() {
            Some(rows) if has_same_rows(gold, rows) => Self::from_keys(rows, &ordered.keys),
            Some(_) => Self::Unknown("the gold returns other rows when its sort keys are added".into()),
            None => Self::Unknown("the gold does not run with its sort keys added".into()),
        }
    }

    /// The runs of rows with equal sort keys, where the keys are those columns of `rows`.
    pub fn from_keys(rows: &ResultSet, keys: &[usize]) -> Self {
        Self::Runs(runs_of_keys(rows, keys))
    }
}

/// The lengths of the runs of rows that are equal in those columns.
fn runs_of_keys(rows: &ResultSet, keys: &[usize]) -> Vec<usize> {
    let mut interner = Interner::default();
    let grid = interner.grid(rows);
    let rows: Vec<&[u32]> = grid.rows().collect();
    let is_tie = |a: &&[u32], b: &&[u32]| keys.iter().all(|&key| a.get(key) == b.get(key));
    rows.chunk_by(is_tie).map(<[_]>::len).collect()
}

/// The runs of equal sort keys of a gold with DISTINCT whose keys it does not return, or why there are none.
fn runs_under_distinct(
    pair: &Pair<'_>,
    gold: &ResultSet,
    under: &UnderDistinct,
) -> Result<Vec<usize>, String> {
    let database = &pair.target().database;
    let run = |query| {
        let sql = print(query, database.schema(), Dialect::Sqlite)
            .map_err(|error| format!("the gold's sort keys cannot be added: {error}"))?;
        Ok::<_, String>(pair.run_gold(database, &sql))
    };
    let (every, all) = (run(&under.every)?, run(&under.all)?);
    let (Some(every), Some(all)) = (every.rows(), all.rows()) else {
        return Err("the gold does not run with its sort keys added".into());
    };
    let mut interner = Interner::default();
    let (every, gold) = (interner.grid(every), interner.grid(gold));
    let mut keys_of: HashMap<&[u32], Vec<u32>> = HashMap::new();
    for row in every.rows() {
        let keys: Vec<u32> = under.keys.iter().filter_map(|&key| row.get(key).copied()).collect();
        let row = row.get(..under.width).unwrap_or(row);
        if keys_of.entry(row).or_insert_with(|| keys.clone()) != &keys {
            return Err("DISTINCT makes one row of rows with different sort keys, \
                        and which of them SQLite sorts by is not determined"
                .into());
        }
    }
    let keys: Option<Vec<&Vec<u32>>> = gold.rows().map(|row| keys_of.get(row)).collect();
    match keys {
        Some(keys) if keys_of.len() == all.len() => {
            Ok(keys.chunk_by(|a, b| a == b).map(<[_]>::len).collect())
        }
        _ => Err("DISTINCT makes one row of rows that only a collation takes for equal".into()),
    }
}

/// Whether `wider` has the rows of `rows`, in order, with columns appended.
fn has_same_rows(rows: &ResultSet, wider: &ResultSet) -> bool {
    rows.len() == wider.len() && rows.rows().zip(wider.rows()).all(|(row, wide)| wide.starts_with(row))
}

/// Whether the prediction returned what the gold did, as a score with its reason.
pub fn compare(gold: &ResultSet, order: &GoldOrder, prediction: &ResultSet) -> Score {
    let shape = explain::width(gold, prediction).or_else(|| explain::shape(gold, prediction));
    if let Some(reason) = shape {
        return Score::new(0.0).because(reason);
    }
    let (ours, theirs) = grids_within_tolerance(gold, prediction);
    let score = if ours.cells == theirs.cells {
        Score::new(1.0)
    } else if sorted_rows(&ours) != sorted_rows(&theirs) {
        let reason = explain::missing_row((gold, &ours), (prediction, &theirs), false);
        Score::new(0.0).because(reason.unwrap_or_default())
    } else {
        compare_order((gold, &ours), order, (prediction, &theirs))
    };
    note_order(score, order)
}

/// Says where the order was not compared.
pub(crate) fn note_order(score: Score, order: &GoldOrder) -> Score {
    match order {
        GoldOrder::Unknown(why) => score.with("order", format!("not compared: {why}")),
        GoldOrder::Partly(_, why) => score.with("order", format!("compared in part: {why}")),
        GoldOrder::Unordered | GoldOrder::Runs(_) => score,
    }
}

/// Of two equal bags, whether the prediction respects the order of the gold: cut into the gold's runs, each
/// run must be the same bag.
fn compare_order(gold: (&ResultSet, &Grid), order: &GoldOrder, prediction: (&ResultSet, &Grid)) -> Score {
    let (GoldOrder::Runs(runs) | GoldOrder::Partly(runs, _)) = order else { return Score::new(1.0) };
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
            let reason = format!(
                "order differs: row {} is {} in the gold, {} in the prediction",
                at + 1,
                row(gold.0),
                row(prediction.0)
            );
            return Score::new(0.0).because(reason);
        }
        start = end;
    }
    Score::new(1.0)
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
        }
    }
}

/// The number as a float, -0.0 as 0.0; `None` for what is no number or too large to be one exactly.
fn as_float(value: &Value) -> Option<f64> {
    match value {
        #[expect(clippy::cast_possible_truncation, reason = "a float that came from an integer of 64 bits")]
        Value::Integer(i) => (*i as f64 as i128 == i128::from(*i)).then_some(*i as f64),
        Value::Real(r) => Some(*r + 0.0),
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
        compare(gold, order, prediction).value == Some(1.0)
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
    fn ties_are_free_and_all_else_is_ordered() {
        // Two columns: name and key; keys 1, 1, 2.
        let gold = ints(2, &[10, 1, 11, 1, 12, 2]);
        let order = GoldOrder::from_keys(&gold, &[1]);
        assert_eq!(order, GoldOrder::Runs(vec![2, 1]));
        assert!(is_right(&gold, &order, &ints(2, &[11, 1, 10, 1, 12, 2])));
        let wrong = ints(2, &[12, 2, 10, 1, 11, 1]);
        assert!(!is_right(&gold, &order, &wrong));
        assert!(is_right(&gold, &GoldOrder::Unordered, &wrong));
        let unknown = compare(&gold, &GoldOrder::Unknown("no parser".into()), &wrong);
        assert_eq!(
            (unknown.value, unknown.detail["order"].as_str()),
            (Some(1.0), Some("not compared: no parser"))
        );
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
