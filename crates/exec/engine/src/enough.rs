//! Decides when a query has returned enough rows for its reader.

use std::collections::HashSet;
use std::sync::Arc;

use crate::value::{ResultSet, Value, row_digest};
use crate::worker::Until;

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
    /// The same for another process.
    pub(crate) fn until(&self) -> Until {
        let digests = |rows: &Arc<ResultSet>| {
            let mut digests: Vec<u64> = rows.rows().map(row_digest).collect();
            digests.sort_unstable();
            digests.dedup();
            digests
        };
        Until { rows_over: self.rows_over, foreign_to: self.foreign_to.as_ref().map(digests) }
    }

    /// Whether the rows are enough already.
    pub fn is_reached_by(&self, rows: &ResultSet) -> bool {
        Watch::new(self).is_over(rows.values(), rows.width(), rows.len())
    }
}

/// Follows a result row by row.
#[derive(Debug, Clone)]
pub(crate) struct Watch<'a> {
    rows_over: Option<usize>,
    expected: ExpectedRows<'a>,
    checked: usize,
    is_foreign: bool,
}

/// The rows to which another may be foreign.
#[derive(Debug, Clone)]
enum ExpectedRows<'a> {
    Rows(&'a ResultSet),
    Digests(HashSet<u64>),
    /// None are asked for.
    Nothing,
}

impl<'a> Watch<'a> {
    pub(crate) fn new(enough: &'a Enough) -> Self {
        let Enough { rows_over, foreign_to } = enough;
        let expected = foreign_to.as_deref().map_or(ExpectedRows::Nothing, ExpectedRows::Rows);
        Self { rows_over: *rows_over, expected, checked: 0, is_foreign: foreign_to.is_none() }
    }

    /// With the digests of the rows in their place.
    pub(crate) fn of(until: &Until) -> Self {
        let Until { rows_over, foreign_to } = until;
        let digests = foreign_to.as_ref().map(|digests| digests.iter().copied().collect());
        let expected = digests.map_or(ExpectedRows::Nothing, ExpectedRows::Digests);
        Self { rows_over: *rows_over, expected, checked: 0, is_foreign: foreign_to.is_none() }
    }

    /// Whether the values, `count` rows of them, are enough.
    pub(crate) fn is_over(&mut self, values: &[Value], width: usize, count: usize) -> bool {
        if self.rows_over.is_some_and(|rows| count <= rows) {
            return false;
        }
        if !self.is_foreign {
            if let ExpectedRows::Rows(rows) = self.expected {
                self.expected = ExpectedRows::Digests(rows.rows().map(row_digest).collect());
            }
            if let ExpectedRows::Digests(digests) = &self.expected {
                let unchecked = values.chunks_exact(width.max(1)).skip(self.checked);
                // A digest that is not there is a row that is not there; the reverse need not hold.
                self.is_foreign = unchecked.into_iter().any(|row| !digests.contains(&row_digest(row)));
                self.checked = count;
            }
        }
        self.is_foreign && (self.rows_over.is_some() || !matches!(self.expected, ExpectedRows::Nothing))
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
            let mut elsewhere = Watch::of(&enough.until());
            let in_turn =
                (1..=rows.len()).any(|count| elsewhere.is_over(&values.values()[..count], 1, count));
            assert_eq!(in_turn, expected, "{enough:?} {rows:?} in another process");
        }
        let enough = Enough { rows_over: None, foreign_to: gold() };
        let reals = ResultSet::new(vec!["a".into()], vec![Value::Real(1.0), Value::Real(2.0)]);
        assert!(!enough.is_reached_by(&reals), "1 and 1.0 are one row");
    }
}
