//! When two results count as equal.

use sqlgauge_compare::{GoldOrder, difference};
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

/// When two results count as equal: as in `ex@1` (bags of rows; the left query's ORDER BY counts, ties are free;
/// numbers within 1e-9), except for what is said here.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Contract {
    /// Whether the order of the result columns counts.
    pub column_order: ColumnOrder,
}

/// Permutations of columns that are tried before two results are taken for equal.
const MAX_PERMUTATIONS: usize = 2000;

impl Contract {
    /// How the results differ, `None` if they do not.
    pub(super) fn difference(self, left: &ResultSet, order: &GoldOrder, right: &ResultSet) -> Option<String> {
        if left.width() == right.width() && left.values() == right.values() {
            return None;
        }
        let as_given = difference(left, order, right)?;
        let is_free = self.column_order == ColumnOrder::Free && left.width() == right.width();
        (!is_free || !is_equal_up_to_columns(left, order, right)).then_some(as_given)
    }
}

/// Whether some permutation of the right columns makes the results equal. Gives up, and says yes, where there are
/// too many.
fn is_equal_up_to_columns(left: &ResultSet, order: &GoldOrder, right: &ResultSet) -> bool {
    if left.len() != right.len() {
        return false;
    }
    let width = left.width();
    // A column can only stand for one that has the same bag of values.
    let candidates: Vec<Vec<usize>> = (0..width)
        .map(|l| {
            let column = projected(left, &[l]);
            let fits =
                |&r: &usize| difference(&column, &GoldOrder::Unordered, &projected(right, &[r])).is_none();
            (0..width).filter(fits).collect()
        })
        .collect();
    // Having the same bag is an equivalence, so each class of columns must have as many on the right as on the left.
    let is_matched = |l: &Vec<usize>| l.len() == candidates.iter().filter(|other| *other == l).count();
    if !candidates.iter().all(is_matched) {
        return false;
    }
    let mut left_to_try = MAX_PERMUTATIONS;
    let mut chosen = Vec::with_capacity(width);
    permute(&candidates, &mut chosen, &mut |permutation| {
        left_to_try = left_to_try.saturating_sub(1);
        left_to_try == 0 || difference(left, order, &projected(right, permutation)).is_none()
    })
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

    #[test]
    fn columns_may_be_permuted_only_where_that_is_free() {
        let (left, right) = (rows(2, &[1, 2, 3, 4]), rows(2, &[4, 3, 2, 1]));
        for (column_order, differs) in [(ColumnOrder::Kept, true), (ColumnOrder::Free, false)] {
            let contract = Contract { column_order };
            assert_eq!(contract.difference(&left, &GoldOrder::Unordered, &right).is_some(), differs);
        }
        // The same values in each column, but in other rows.
        let free = Contract { column_order: ColumnOrder::Free };
        assert!(free.difference(&left, &GoldOrder::Unordered, &rows(2, &[2, 3, 4, 1])).is_some());
        assert!(free.difference(&left, &GoldOrder::Unordered, &rows(1, &[1, 3])).is_some());
    }

    #[test]
    fn wide_results_with_equal_columns_end() {
        let wide = rows(16, &[7; 64]);
        let mut other = vec![7; 64];
        other[63] = 8;
        let free = Contract { column_order: ColumnOrder::Free };
        assert!(free.difference(&wide, &GoldOrder::Unordered, &rows(16, &other)).is_some());
        assert!(free.difference(&wide, &GoldOrder::Unordered, &rows(16, &[7; 64])).is_none());
    }
}
