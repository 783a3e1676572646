//! When two results count as equal.

use sqlgauge_engine::compare::{GoldOrder, Semantics};
use sqlgauge_engine::{ResultSet, Value};

/// Whether the order of the result columns is part of the answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ColumnOrder {
    /// It is, as in `ex@1`.
    #[default]
    Kept,
    /// Any order will do, as in rule P2 of the ETM paper (Table 1).
    Free,
}

/// When two results count as equal.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Contract {
    /// What of the rows counts; by default what counts for `ex@1`.
    pub semantics: Semantics,
    /// Whether the order of the result columns counts.
    pub column_order: ColumnOrder,
    /// Whether rows of NULL alone are equal to no rows: `max(x)` and `ORDER BY x DESC LIMIT 1` both say that there is nothing.
    pub null_is_nothing: bool,
}

/// Permutations of columns that are tried.
const MAX_PERMUTATIONS: usize = 2000;

/// Cells that may be looked at for that: some seconds of work. Ten columns of ten thousand rows take a tenth.
const MAX_CELLS: usize = 20_000_000;

/// What comparing two columns costs besides their cells.
const CELLS_OF_A_COMPARISON: usize = 50;

/// What comparing two results came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Equality {
    Equal,
    /// How they differ, in words.
    Different(String),
    /// Too many permutations of the columns had to be tried.
    Undecided,
}

impl Contract {
    /// How the results, each with its order, differ; `None` if they do not, or too many permutations had to be tried.
    pub(super) fn difference(
        self,
        left: (&ResultSet, &GoldOrder),
        right: (&ResultSet, &GoldOrder),
    ) -> Option<String> {
        match self.compare(left, right) {
            Equality::Different(how) => Some(how),
            Equality::Equal | Equality::Undecided => None,
        }
    }

    /// Compares the results, each with its order; the left one is the gold's.
    pub fn compare(self, left: (&ResultSet, &GoldOrder), right: (&ResultSet, &GoldOrder)) -> Equality {
        let has_one_width = left.0.width() == right.0.width();
        if has_one_width && left.0.values() == right.0.values() {
            return Equality::Equal;
        }
        if self.null_is_nothing && has_one_width && [left.0, right.0].into_iter().all(says_nothing) {
            return Equality::Equal;
        }
        let Some(as_given) = self.semantics.difference(left, right) else { return Equality::Equal };
        if self.column_order == ColumnOrder::Kept || !has_one_width {
            return Equality::Different(as_given);
        }
        match self.is_equal_up_to_columns(left, right) {
            Some(true) => Equality::Equal,
            Some(false) => Equality::Different(as_given),
            None => Equality::Undecided,
        }
    }

    /// Whether some permutation of the right columns makes the results equal; `None` where too many had to be tried.
    fn is_equal_up_to_columns(
        self,
        left: (&ResultSet, &GoldOrder),
        right: (&ResultSet, &GoldOrder),
    ) -> Option<bool> {
        let counts_rows = self.semantics != Semantics::Set;
        if counts_rows && left.0.len() != right.0.len() {
            return Some(false);
        }
        let width = left.0.width();
        let fits = |l: &ResultSet, r: &ResultSet| {
            let unordered = &GoldOrder::Unordered;
            self.semantics.difference((l, unordered), (r, unordered)).is_none()
        };
        // A column can only stand for one that has the same values.
        let mut cells_left = MAX_CELLS;
        let mut candidates: Vec<Vec<usize>> = Vec::with_capacity(width);
        for l in 0..width {
            cells_left =
                cells_left.checked_sub(width * (left.0.len() + right.0.len() + CELLS_OF_A_COMPARISON))?;
            let column = projected(left.0, &[l]);
            let fitting: Vec<usize> =
                (0..width).filter(|&r| fits(&column, &projected(right.0, &[r]))).collect();
            if fitting.is_empty() {
                return Some(false);
            }
            candidates.push(fitting);
        }
        // Having the same values is an equivalence, so each class of columns must have as many on the right as on the
        // left.
        let is_matched = |l: &Vec<usize>| l.len() == candidates.iter().filter(|other| *other == l).count();
        if !candidates.iter().all(is_matched) {
            return Some(false);
        }
        let cells_of_one = left.0.values().len() + right.0.values().len();
        let mut left_to_try = MAX_PERMUTATIONS.min(cells_left / cells_of_one.max(1) + 1);
        let mut chosen = Vec::with_capacity(width);
        let has_ended = permute(&candidates, &mut chosen, &mut |permutation| {
            left_to_try = left_to_try.saturating_sub(1);
            let permuted = projected(right.0, permutation);
            left_to_try == 0 || self.semantics.difference(left, (&permuted, right.1)).is_none()
        });
        (left_to_try > 0).then_some(has_ended)
    }
}

/// Whether no row has a value.
fn says_nothing(rows: &ResultSet) -> bool {
    rows.values().iter().all(|value| *value == Value::Null)
}

/// Tries all permutations that the candidates allow until one is accepted.
fn permute(
    candidates: &[Vec<usize>],
    chosen: &mut Vec<usize>,
    accept: &mut dyn FnMut(&[usize]) -> bool,
) -> bool {
    let Some(options) = candidates.get(chosen.len()) else { return accept(chosen) };
    for &option in options {
        if !chosen.contains(&option) {
            chosen.push(option);
            if permute(candidates, chosen, accept) {
                return true;
            }
            chosen.pop();
        }
    }
    false
}

/// The result with those columns only, in that order.
fn projected(rows: &ResultSet, columns: &[usize]) -> ResultSet {
    let names = columns.iter().filter_map(|&at| rows.columns.get(at).cloned()).collect();
    let values = rows.rows().flat_map(|row| columns.iter().filter_map(|&at| row.get(at).cloned()));
    ResultSet::new(names, values.collect::<Vec<Value>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(width: usize, values: &[i64]) -> ResultSet {
        let names = (0..width).map(|at| format!("c{at}")).collect();
        ResultSet::new(names, values.iter().map(|&value| Value::Integer(value)).collect())
    }

    fn differs(column_order: ColumnOrder, left: &ResultSet, right: &ResultSet) -> bool {
        let contract = Contract { column_order, ..Contract::default() };
        let unordered = &GoldOrder::Unordered;
        contract.difference((left, unordered), (right, unordered)).is_some()
    }

    #[test]
    fn columns_may_be_permuted_only_where_that_is_free() {
        let (left, right) = (rows(2, &[1, 2, 3, 4]), rows(2, &[4, 3, 2, 1]));
        assert!(differs(ColumnOrder::Kept, &left, &right));
        assert!(!differs(ColumnOrder::Free, &left, &right));
        // The same values in each column, but in other rows.
        assert!(differs(ColumnOrder::Free, &left, &rows(2, &[2, 3, 4, 1])));
        assert!(differs(ColumnOrder::Free, &left, &rows(1, &[1, 3])));
    }

    #[test]
    fn nulls_alone_may_be_nothing() {
        let nulls = ResultSet::new(vec!["c0".into()], vec![Value::Null]);
        let compared = |null_is_nothing, left: &ResultSet, right: &ResultSet| {
            let contract = Contract { null_is_nothing, ..Contract::default() };
            contract.compare((left, &GoldOrder::Unordered), (right, &GoldOrder::Unordered)) == Equality::Equal
        };
        assert!(compared(true, &rows(1, &[]), &nulls) && compared(true, &nulls, &rows(1, &[])));
        for (right, is_equal) in [(&nulls, false), (&rows(1, &[1]), false), (&rows(2, &[]), false)] {
            assert_eq!(compared(false, &rows(1, &[]), right), is_equal);
        }
        assert!(!compared(true, &rows(1, &[]), &rows(1, &[1])));
        assert!(!compared(true, &rows(2, &[]), &nulls));
    }

    #[test]
    fn wide_results_with_equal_columns_end() {
        let wide = rows(16, &[7; 64]);
        let mut other = vec![7; 64];
        other[63] = 8;
        assert!(differs(ColumnOrder::Free, &wide, &rows(16, &other)));
        assert!(!differs(ColumnOrder::Free, &wide, &rows(16, &[7; 64])));
        // Of many columns those that differ are found at once, and others only within the budget.
        let many = |from: i64| rows(3000, &(from..from + 6000).map(|at| at / 3000).collect::<Vec<i64>>());
        assert!(differs(ColumnOrder::Free, &many(0), &many(9000)));
        let contract = Contract { column_order: ColumnOrder::Free, ..Contract::default() };
        let ordered = |values: [i64; 2]| rows(3000, &values.map(|value| vec![value; 3000]).concat());
        let runs = GoldOrder::Runs(vec![1, 1]);
        let compared = contract.compare((&ordered([1, 2]), &runs), (&ordered([2, 1]), &runs));
        assert_eq!(compared, Equality::Undecided);
        // Each column has one 9, in rows of which no two have as many on both sides.
        let nines = |of_column: fn(usize) -> usize| {
            rows(
                16,
                &(0..64).map(|at| if of_column(at % 16) == at / 16 { 9 } else { 7 }).collect::<Vec<i64>>(),
            )
        };
        let (even, uneven) = (nines(|column| column / 4), nines(|column| (column / 4).min(2)));
        let compared = contract.compare((&even, &GoldOrder::Unordered), (&uneven, &GoldOrder::Unordered));
        assert_eq!(compared, Equality::Undecided);
    }
}
