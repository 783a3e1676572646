//! When a query has returned enough for its reader.

use std::collections::HashSet;
use std::sync::Arc;

use crate::value::{ResultSet, Value, row_digest};

/// What makes further rows needless: all that is asked for here has come to pass. A query that is run until then
/// returns the rows that it has returned so far, marked as a beginning ([`ResultSet::is_beginning`]).
#[derive(Debug, Clone)]
pub struct Enough {
    /// More rows than that.
    pub rows_over: Option<usize>,
    /// A row that this result does not have, as `ex-bird@1` tells rows apart.
    pub foreign_to: Option<Arc<ResultSet>>,
}

impl Enough {
    /// Whether the rows are enough already.
    pub fn is_reached_by(&self, rows: &ResultSet) -> bool {
        Watch::new(self).is_over(rows.values(), rows.width(), rows.len())
    }
}

/// Follows a result row by row.
#[derive(Debug)]
pub(crate) struct Watch<'a> {
    enough: &'a Enough,
    known: Option<HashSet<u64>>,
    checked: usize,
    is_foreign: bool,
}

impl<'a> Watch<'a> {
    pub(crate) fn new(enough: &'a Enough) -> Self {
        Self { enough, known: None, checked: 0, is_foreign: enough.foreign_to.is_none() }
    }

    /// Whether the values, `count` rows of them, are enough.
    pub(crate) fn is_over(&mut self, values: &[Value], width: usize, count: usize) -> bool {
        let Enough { rows_over, foreign_to } = self.enough;
        if rows_over.is_some_and(|rows| count <= rows) {
            return false;
        }
        if let (false, Some(other)) = (self.is_foreign, foreign_to) {
            let known = self.known.get_or_insert_with(|| other.rows().map(row_digest).collect());
            let unchecked = values.chunks_exact(width.max(1)).skip(self.checked);
            // A digest that is not there is a row that is not there; the reverse need not hold.
            self.is_foreign = unchecked.into_iter().any(|row| !known.contains(&row_digest(row)));
            self.checked = count;
        }
        self.is_foreign && (rows_over.is_some() || foreign_to.is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ints(values: &[i64]) -> ResultSet {
        ResultSet::new(vec!["a".into()], values.iter().map(|&i| Value::Integer(i)).collect())
    }

    #[test]
    fn all_that_is_asked_for_must_have_come() {
        let gold = || Some(Arc::new(ints(&[1, 2])));
        for (rows_over, foreign_to, rows, expected) in [
            (Some(2), None, &[1, 2][..], false),
            (Some(2), None, &[1, 2, 2], true),
            (None, gold(), &[2, 1, 1, 2], false),
            (None, gold(), &[2, 3], true),
            (Some(2), gold(), &[2, 3], false),
            (Some(2), gold(), &[2, 2, 1], false),
            (Some(2), gold(), &[2, 2, 3], true),
            (Some(2), gold(), &[3, 2, 2], true),
            (None, None, &[1, 2, 3], false),
        ] {
            let enough = Enough { rows_over, foreign_to };
            assert_eq!(enough.is_reached_by(&ints(rows)), expected, "{enough:?} {rows:?}");
            let values = ints(rows);
            let mut watch = Watch::new(&enough);
            let in_turn = (1..=rows.len()).any(|count| watch.is_over(&values.values()[..count], 1, count));
            assert_eq!(in_turn, expected, "{enough:?} {rows:?}");
        }
        let enough = Enough { rows_over: None, foreign_to: gold() };
        let reals = ResultSet::new(vec!["a".into()], vec![Value::Real(1.0), Value::Real(2.0)]);
        assert!(!enough.is_reached_by(&reals), "1 and 1.0 are one row");
    }
}
