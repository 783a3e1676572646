//! Results that are equal within a tolerance, or equal to some of another result's columns.
//!
//! Equality within a tolerance is not transitive: 0.00 and 0.01 are equal, 0.01 and 0.02, but not 0.00 and 0.02. So
//! values cannot be numbered and compared by number; rows are paired off, each gold row with one of the
//! prediction. Whether that can be done is a matching problem, solved exactly as long as it takes few steps, which it
//! does unless many rows are within the tolerance of many others.

use std::collections::HashMap;

use sqlgauge_engine::compare::pyeq::exact_integer;
use sqlgauge_engine::{ResultSet, Value};

/// What counts as equal.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rule {
    /// Difference within which two numbers of any size are equal.
    pub(crate) absolute: f64,
    /// Share of the larger number within which two numbers are equal.
    pub(crate) relative: f64,
    /// Whether the prediction may have further columns, and any order of columns.
    pub(crate) extra_columns: bool,
}

impl Rule {
    fn close(self, a: f64, b: f64) -> bool {
        a.to_bits() == b.to_bits() || (a - b).abs() <= self.absolute.max(self.relative * a.abs().max(b.abs()))
    }

    /// Two whole numbers are equal only if they are the same.
    fn equal(self, a: Cell, b: Cell) -> bool {
        match (a, b) {
            (Cell::Other(a), Cell::Other(b)) => a == b,
            (Cell::Whole(a), Cell::Whole(b)) => a == b,
            _ => matches!((a.number(), b.number()), (Some(a), Some(b)) if self.close(a, b)),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fit {
    /// They do; for each column of the gold, the column of the prediction.
    Fits(Vec<usize>),
    /// No way to pair them off.
    Differs,
    /// It would take too long to find out.
    Undecided,
}

/// Comparisons of two cells that one fit may take.
const MAX_STEPS: usize = 20_000_000;

/// A value; numbers are kept as such.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Cell {
    /// NULL, a text or a blob, by its number.
    Other(u32),
    Whole(i64),
    Real(f64),
}

impl Cell {
    fn number(self) -> Option<f64> {
        match self {
            Self::Other(_) => None,
            Self::Whole(i) => Some(i as f64),
            Self::Real(r) => Some(r),
        }
    }
}

/// Whether the prediction's rows, or some columns of them, are the gold's. Where `runs` are given (lengths that add
/// up to the number of rows), rows must fit run by run.
pub(crate) fn fit(gold: &ResultSet, runs: Option<&[usize]>, prediction: &ResultSet, rule: Rule) -> Fit {
    let enough = prediction.width() >= gold.width();
    if gold.len() != prediction.len() || !enough || (!rule.extra_columns && prediction.width() > gold.width())
    {
        return Fit::Differs;
    }
    let mut numbers = HashMap::new();
    let (ours, theirs) = (columns(gold, &mut numbers), columns(prediction, &mut numbers));
    let run_of_row = run_of_row(runs, gold.len());
    let mut fitting = Fitting { rule, ours: &ours, theirs: &theirs, run_of_row, steps: 0 };
    if rule.extra_columns {
        fitting.choose_columns()
    } else {
        let same: Vec<(usize, usize)> = (0..ours.len()).map(|column| (column, column)).collect();
        if !same.iter().all(|&(a, b)| fitting.columns_fit(a, b)) {
            return Fit::Differs;
        }
        match fitting.rows_fit(&same) {
            Some(true) => Fit::Fits((0..ours.len()).collect()),
            Some(false) => Fit::Differs,
            None => Fit::Undecided,
        }
    }
}

fn columns<'a>(rows: &'a ResultSet, numbers: &mut HashMap<&'a Value, u32>) -> Vec<Vec<Cell>> {
    let mut cell = |value: &'a Value| match value {
        Value::Integer(i) => Cell::Whole(*i),
        Value::Real(r) => exact_integer(*r + 0.0).map_or(Cell::Real(*r), Cell::Whole),
        Value::Decimal(decimal) => Cell::Real(decimal.to_float()),
        other => {
            let next = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
            Cell::Other(*numbers.entry(other).or_insert(next))
        }
    };
    (0..rows.width()).map(|at| rows.rows().filter_map(|row| row.get(at)).map(&mut cell).collect()).collect()
}

fn run_of_row(runs: Option<&[usize]>, rows: usize) -> Vec<usize> {
    let lengths = runs.unwrap_or_default().iter().enumerate();
    let mut of_row: Vec<usize> =
        lengths.flat_map(|(run, length)| std::iter::repeat_n(run, *length)).collect();
    of_row.resize(rows, usize::MAX);
    of_row
}

/// What rows must have in common to be paired: their run and everything that has no tolerance.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Fixed {
    Run(usize),
    Other(u32),
    Whole(i64),
    Number,
}

struct Fitting<'a> {
    rule: Rule,
    ours: &'a [Vec<Cell>],
    theirs: &'a [Vec<Cell>],
    run_of_row: Vec<usize>,
    steps: usize,
}

impl Fitting<'_> {
    /// Looks for a column of the prediction for each column of the gold.
    fn choose_columns(&mut self) -> Fit {
        let fits: Vec<Vec<usize>> = (0..self.ours.len())
            .map(|ours| (0..self.theirs.len()).filter(|&theirs| self.columns_fit(ours, theirs)).collect())
            .collect();
        let mut order: Vec<usize> = (0..self.ours.len()).collect();
        order.sort_by_key(|&column| fits[column].len());
        let mut chosen = Vec::new();
        match self.choose(&order, &fits, &mut chosen) {
            Some(true) => {
                chosen.sort_unstable();
                Fit::Fits(chosen.into_iter().map(|(_, theirs)| theirs).collect())
            }
            Some(false) => Fit::Differs,
            None => Fit::Undecided,
        }
    }

    /// Whether the rest of `order` can be chosen too; `None` where that takes too long.
    fn choose(
        &mut self,
        order: &[usize],
        fits: &[Vec<usize>],
        chosen: &mut Vec<(usize, usize)>,
    ) -> Option<bool> {
        let Some((&column, rest)) = order.split_first() else { return Some(true) };
        let mut tried: Vec<usize> = Vec::new();
        let mut is_open = false;
        for &theirs in &fits[column] {
            let is_taken = chosen.iter().any(|&(_, other)| other == theirs);
            // Of columns with the same values in the same rows one is as good as another.
            if is_taken || tried.iter().any(|&other| self.theirs[other] == self.theirs[theirs]) {
                continue;
            }
            tried.push(theirs);
            chosen.push((column, theirs));
            let outcome = match self.rows_fit(chosen) {
                Some(true) => self.choose(rest, fits, chosen),
                other => other,
            };
            match outcome {
                Some(true) => return Some(true),
                Some(false) => {}
                None => is_open = true,
            }
            chosen.pop();
            if self.steps > MAX_STEPS {
                return None;
            }
        }
        if is_open { None } else { Some(false) }
    }

    /// Whether two columns can fit by their values alone: sorted, each number is close to its partner.
    fn columns_fit(&mut self, ours: usize, theirs: usize) -> bool {
        let sorted = |column: &[Cell]| {
            let mut others: Vec<u32> = Vec::new();
            let mut numbers: Vec<f64> = Vec::new();
            for &cell in column {
                match cell {
                    Cell::Other(other) => others.push(other),
                    number => numbers.extend(number.number()),
                }
            }
            others.sort_unstable();
            numbers.sort_unstable_by(f64::total_cmp);
            (others, numbers)
        };
        let ((a_others, a), (b_others, b)) = (sorted(&self.ours[ours]), sorted(&self.theirs[theirs]));
        self.steps += a.len();
        a_others == b_others && a.len() == b.len() && a.iter().zip(&b).all(|(a, b)| self.rule.close(*a, *b))
    }

    /// Whether the rows can be paired off in those columns of both; `None` where that takes too long.
    fn rows_fit(&mut self, columns: &[(usize, usize)]) -> Option<bool> {
        let is_tolerant: Vec<bool> = columns
            .iter()
            .map(|&(a, b)| self.ours[a].iter().chain(&self.theirs[b]).any(|c| matches!(c, Cell::Real(_))))
            .collect();
        self.steps += columns.len() * self.run_of_row.len();
        let mut groups: HashMap<Vec<Fixed>, (Vec<usize>, Vec<usize>)> = HashMap::new();
        for row in 0..self.run_of_row.len() {
            let ours = columns.iter().map(|&(a, _)| self.ours[a][row]);
            let theirs = columns.iter().map(|&(_, b)| self.theirs[b][row]);
            groups.entry(fixed(self.run_of_row[row], ours, &is_tolerant)).or_default().0.push(row);
            groups.entry(fixed(self.run_of_row[row], theirs, &is_tolerant)).or_default().1.push(row);
        }
        if groups.values().any(|(ours, theirs)| ours.len() != theirs.len()) {
            return Some(false);
        }
        let tolerant: Vec<(usize, usize)> =
            columns.iter().zip(&is_tolerant).filter(|(_, is)| **is).map(|(column, _)| *column).collect();
        let mut is_open = false;
        for (ours, theirs) in groups.into_values() {
            match self.group_fits(&tolerant, ours, theirs) {
                Some(true) => {}
                Some(false) => return Some(false),
                None => is_open = true,
            }
        }
        if is_open { None } else { Some(true) }
    }

    /// Whether rows that agree in all that is fixed can be paired off.
    fn group_fits(
        &mut self,
        columns: &[(usize, usize)],
        mut ours: Vec<usize>,
        mut theirs: Vec<usize>,
    ) -> Option<bool> {
        let Some(&(first_of_ours, first_of_theirs)) = columns.first() else { return Some(true) };
        sort_rows(&mut ours, columns.iter().map(|column| &self.ours[column.0]));
        sort_rows(&mut theirs, columns.iter().map(|column| &self.theirs[column.1]));
        self.steps += columns.len() * ours.len();
        if ours.iter().zip(&theirs).all(|(&a, &b)| self.row_fits(columns, a, b)) {
            return Some(true);
        }
        // Rows near enough in the first column are next to each other.
        let number = |cell: Cell| cell.number().unwrap_or(f64::NAN);
        let first: Vec<f64> = theirs.iter().map(|&row| number(self.theirs[first_of_theirs][row])).collect();
        let mut partners: Vec<Vec<usize>> = Vec::with_capacity(ours.len());
        for &row in &ours {
            let value = number(self.ours[first_of_ours][row]);
            let from = first.partition_point(|&other| other < value && !self.rule.close(value, other));
            let near = (from..theirs.len()).take_while(|&at| {
                first[at].is_nan()
                    || value.is_nan()
                    || first[at] <= value
                    || self.rule.close(value, first[at])
            });
            let mut fitting = Vec::new();
            for at in near {
                self.steps += columns.len();
                if self.steps > MAX_STEPS {
                    return None;
                }
                if self.row_fits(columns, row, theirs[at]) {
                    fitting.push(at);
                }
            }
            partners.push(fitting);
        }
        self.pair_off(&partners)
    }

    fn row_fits(&self, columns: &[(usize, usize)], ours: usize, theirs: usize) -> bool {
        columns.iter().all(|&(a, b)| self.rule.equal(self.ours[a][ours], self.theirs[b][theirs]))
    }

    /// Whether each row can have one of its partners for itself (Kuhn's algorithm).
    fn pair_off(&mut self, partners: &[Vec<usize>]) -> Option<bool> {
        let mut row_of: Vec<Option<usize>> = vec![None; partners.len()];
        let mut partner_of: Vec<Option<usize>> = vec![None; partners.len()];
        for row in 0..partners.len() {
            let mut asked_by: Vec<Option<usize>> = vec![None; partners.len()];
            let mut open = vec![row];
            let mut free = None;
            while let (None, Some(asking)) = (free, open.pop()) {
                for &partner in &partners[asking] {
                    self.steps += 1;
                    if asked_by[partner].is_some() {
                        continue;
                    }
                    asked_by[partner] = Some(asking);
                    match row_of[partner] {
                        Some(other) => open.push(other),
                        None => free = Some(partner),
                    }
                }
                if self.steps > MAX_STEPS {
                    return None;
                }
            }
            // Each row on the way gives its partner up for the one that it asked.
            let mut partner = free;
            if partner.is_none() {
                return Some(false);
            }
            while let Some(column) = partner {
                let Some(asking) = asked_by[column] else { break };
                row_of[column] = Some(asking);
                partner = partner_of[asking].replace(column);
            }
        }
        Some(true)
    }
}

fn fixed(run: usize, cells: impl Iterator<Item = Cell>, is_tolerant: &[bool]) -> Vec<Fixed> {
    let cells = cells.zip(is_tolerant).map(|(cell, is_tolerant)| match cell {
        Cell::Other(other) => Fixed::Other(other),
        Cell::Whole(whole) if !is_tolerant => Fixed::Whole(whole),
        _ => Fixed::Number,
    });
    std::iter::once(Fixed::Run(run)).chain(cells).collect()
}

fn sort_rows<'a>(rows: &mut [usize], columns: impl Iterator<Item = &'a Vec<Cell>>) {
    let columns: Vec<&Vec<Cell>> = columns.collect();
    let number = |cell: Cell| cell.number().unwrap_or(f64::NEG_INFINITY);
    rows.sort_by(|&a, &b| {
        let cells = columns.iter().map(|column| number(column[a]).total_cmp(&number(column[b])));
        cells.fold(std::cmp::Ordering::Equal, std::cmp::Ordering::then)
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    const HUNDREDTH: Rule = Rule { absolute: 1e-2, relative: 1e-9, extra_columns: false };
    const SUBSET: Rule = Rule { absolute: 1e-8, relative: 1e-5, extra_columns: true };

    fn reals(width: usize, values: &[f64]) -> ResultSet {
        let columns = (0..width).map(|at| at.to_string()).collect();
        ResultSet::new(columns, values.iter().map(|&value| Value::Real(value)).collect())
    }

    #[test]
    fn closeness_is_not_carried_on_from_row_to_row() {
        let steps: Vec<f64> = (0..100).map(|at| f64::from(at) * 0.0099 + 0.0001).collect();
        let moved: Vec<f64> = steps.iter().map(|step| step + 0.0099).collect();
        assert_eq!(fit(&reals(1, &steps), None, &reals(1, &moved), HUNDREDTH), Fit::Fits(vec![0]));
        assert_eq!(
            fit(&reals(1, &[0.001, 0.501]), None, &reals(1, &[0.021, 0.501]), HUNDREDTH),
            Fit::Differs
        );
        // A chain from the first to the last does not make them equal.
        let (chain, doubled) = (reals(1, &[0.001, 0.009, 0.017]), reals(1, &[0.001, 0.001, 0.017]));
        assert_eq!(fit(&chain, None, &doubled, HUNDREDTH), Fit::Fits(vec![0]));
        let (chain, doubled) = (reals(1, &[0.001, 0.012, 0.023]), reals(1, &[0.001, 0.001, 0.001]));
        assert_eq!(fit(&chain, None, &doubled, HUNDREDTH), Fit::Differs);
    }

    /// Sorting pairs the rows wrongly here; only a search finds the partners.
    #[test]
    fn rows_are_paired_where_sorting_does_not_find_the_pairs() {
        let gold = reals(2, &[0.001, 5.5, 0.002, 1.5]);
        let prediction = reals(2, &[0.001, 1.5, 0.002, 5.5]);
        assert_eq!(fit(&gold, None, &prediction, HUNDREDTH), Fit::Fits(vec![0, 1]));
        let prediction = reals(2, &[0.001, 1.5, 0.002, 5.6]);
        assert_eq!(fit(&gold, None, &prediction, HUNDREDTH), Fit::Differs);
        // Three rows of which each gives up its first partner.
        let gold = reals(2, &[0.0, 0.5, 0.0, 0.505, 0.0, 0.511]);
        let prediction = reals(2, &[0.001, 0.503, 0.002, 0.512, 0.003, 0.495]);
        assert_eq!(fit(&gold, None, &prediction, HUNDREDTH), Fit::Fits(vec![0, 1]));
    }

    #[test]
    fn columns_are_chosen_so_that_rows_fit_together() {
        // All four columns have the values of the gold's two; only 0 (or its likes 1 and 3) beside 2 has them in its rows.
        let gold = reals(2, &[1.5, 2.5, 2.5, 1.5, 1.5, 1.5]);
        let prediction = reals(4, &[1.5, 1.5, 2.5, 1.5, 1.5, 1.5, 1.5, 1.5, 2.5, 2.5, 1.5, 2.5]);
        assert_eq!(fit(&gold, None, &prediction, SUBSET), Fit::Fits(vec![0, 2]));
        let without = reals(2, &[1.5, 1.5, 1.5, 1.5, 2.5, 2.5]);
        assert_eq!(fit(&gold, None, &without, SUBSET), Fit::Differs);
        // One column cannot stand for two.
        let twice = reals(2, &[1.5, 1.5, 2.5, 2.5]);
        assert_eq!(fit(&twice, None, &reals(1, &[1.5, 2.5]), SUBSET), Fit::Differs);
        assert_eq!(fit(&twice, None, &twice, SUBSET), Fit::Fits(vec![0, 1]));
    }

    #[test]
    fn runs_keep_their_order() {
        let (gold, swapped) = (reals(1, &[1.5, 2.5, 3.5]), reals(1, &[2.5, 1.5, 3.5]));
        assert_eq!(fit(&gold, Some(&[1, 1, 1]), &swapped, SUBSET), Fit::Differs);
        assert_eq!(fit(&gold, Some(&[2, 1]), &swapped, SUBSET), Fit::Fits(vec![0]));
        assert_eq!(fit(&gold, None, &swapped, SUBSET), Fit::Fits(vec![0]));
    }

    /// Brute force over all ways to pair off rows and choose columns.
    #[test]
    fn small_results_are_decided_as_by_trying_everything() {
        let mut random = sqlgauge_base::Random::new([7]);
        let mut counts = [0; 2];
        for _ in 0..4000 {
            let (rows, ours) = (random.below(4) + 1, random.below(2) + 1);
            let theirs = ours + random.below(2);
            let mut values =
                |n: usize| (0..n).map(|_| random.below(4) as f64 * 0.007 + 0.001).collect::<Vec<_>>();
            let (gold, prediction) =
                (reals(ours, &values(rows * ours)), reals(theirs, &values(rows * theirs)));
            let rule = Rule { absolute: 1e-2, relative: 1e-9, extra_columns: true };
            let expected = by_trying_everything(&gold, &prediction, rule);
            let fits = matches!(fit(&gold, None, &prediction, rule), Fit::Fits(_));
            assert_eq!(fits, expected, "{gold:?} {prediction:?}");
            counts[usize::from(fits)] += 1;
        }
        assert!(counts.iter().all(|count| *count > 500), "{counts:?}");
    }

    fn by_trying_everything(gold: &ResultSet, prediction: &ResultSet, rule: Rule) -> bool {
        let number = |rows: &ResultSet, row: usize, column: usize| match rows.row(row).unwrap()[column] {
            Value::Real(real) => real,
            _ => unreachable!("only reals are made"),
        };
        let choices = |of: usize, from: usize| -> Vec<Vec<usize>> {
            (0..of).fold(vec![Vec::new()], |lists, _| {
                let longer = |list: Vec<usize>| {
                    let free = (0..from).filter(|at| !list.contains(at)).collect::<Vec<_>>();
                    free.into_iter().map(move |at| [list.as_slice(), &[at]].concat()).collect::<Vec<_>>()
                };
                lists.into_iter().flat_map(longer).collect()
            })
        };
        let partners = choices(gold.len(), gold.len());
        choices(gold.width(), prediction.width()).iter().any(|columns| {
            partners.iter().any(|rows| {
                (0..gold.len()).all(|row| {
                    (0..gold.width()).all(|column| {
                        rule.close(number(gold, row, column), number(prediction, rows[row], columns[column]))
                    })
                })
            })
        })
    }
}
