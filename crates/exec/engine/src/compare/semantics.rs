//! Decides what of a result counts: the contracts besides `ex@1`.

use std::str::FromStr;

use crate::ResultSet;

use crate::compare::rows::{GoldOrder, difference, difference_of_sets};

sqlgauge_base::named! {
    /// When the results of two queries count as equal. Columns are kept in order, and numbers with a fraction are equal
    /// within [`RELATIVE_TOLERANCE`](super::RELATIVE_TOLERANCE), in all of them.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
    pub enum Semantics by name {
        /// As `ex@1`: bags of rows; in the order that the left query asks for, if it asks for one, ties free.
        #[default]
        Ex = "ex",
        /// Sets of rows, as BIRD and SpotIt compare: neither repetition nor order counts.
        Set = "set",
        /// Bags of rows, as VeriEQL compares: repetition counts, order does not.
        Bag = "bag",
        /// Rows in the order that either query asks for, ties free: a query that orders differs from one that does not.
        List = "list",
    }
}

impl Semantics {
    /// Whether the order that the left query asks for counts.
    pub fn keeps_left_order(self) -> bool {
        matches!(self, Self::Ex | Self::List)
    }

    /// Whether the order that the right query asks for counts.
    pub fn keeps_right_order(self) -> bool {
        self == Self::List
    }

    /// How the results differ, in words; `None` if they do not. An order that does not count is not looked at.
    pub fn difference(
        self,
        (left, left_order): (&ResultSet, &GoldOrder),
        (right, right_order): (&ResultSet, &GoldOrder),
    ) -> Option<String> {
        match self {
            Self::Ex => difference(left, left_order, right),
            Self::Set => difference_of_sets(left, right),
            Self::Bag => difference(left, &GoldOrder::Unordered, right),
            Self::List => difference(left, left_order, right).or_else(|| {
                difference(right, right_order, left).map(|_| {
                    "order differs: the gold does not keep the order that the prediction asks for".to_owned()
                })
            }),
        }
    }
}

/// A name that no contract has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown semantics {:?}: choose from {}", .0, Semantics::ALL.map(Semantics::name).join(", "))]
pub struct UnknownSemantics(String);

impl FromStr for Semantics {
    type Err = UnknownSemantics;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|semantics| semantics.name() == name)
            .ok_or_else(|| UnknownSemantics(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Value;

    fn column(values: &[i64]) -> ResultSet {
        ResultSet::new(vec!["a".to_owned()], values.iter().map(|&i| Value::Integer(i)).collect())
    }

    /// Which contracts call the results equal, where `L`, `R` say which query orders by its column.
    #[test]
    fn what_counts_differs_from_contract_to_contract() {
        for (left, right, ordered, equal) in [
            (&[1, 2][..], &[1, 2][..], "LR", "ex set bag list"),
            (&[1, 2], &[2, 1], "", "ex set bag list"),
            (&[1, 2], &[2, 1], "L", "set bag"),
            (&[1, 2], &[2, 1], "R", "ex set bag"),
            (&[1, 2], &[2, 1], "LR", "set bag"),
            (&[1, 1, 2], &[1, 2], "", "set"),
            (&[1, 1, 2], &[1, 2, 2], "", "set"),
            (&[1, 2], &[1, 3], "", ""),
            (&[], &[1], "", ""),
            (&[], &[], "LR", "ex set bag list"),
        ] {
            let (l, r) = (column(left), column(right));
            let order = |side: char, rows: &ResultSet| {
                if ordered.contains(side) { GoldOrder::from_keys(rows, &[0]) } else { GoldOrder::Unordered }
            };
            let (l, r) = ((&l, &order('L', &l)), (&r, &order('R', &r)));
            for semantics in Semantics::ALL {
                let is_equal = equal.split(' ').any(|name| name == semantics.name());
                let difference = semantics.difference(l, r);
                assert_eq!(difference.is_none(), is_equal, "{semantics}: {left:?} {right:?} {ordered}");
                assert!(difference.is_none_or(|words| !words.is_empty()));
            }
        }
    }

    #[test]
    fn sets_are_equal_within_the_tolerance_and_differ_in_width() {
        let real = |r: f64| ResultSet::new(vec!["a".to_owned()], vec![Value::Real(r)]);
        assert_eq!(difference_of_sets(&real(0.1 + 0.2), &real(0.3)), None);
        let wide = ResultSet::new(vec!["a".to_owned(), "b".to_owned()], Vec::new());
        assert_eq!(difference_of_sets(&column(&[]), &wide).unwrap(), "gold has 1 column, prediction 2");
    }

    #[test]
    fn names_read_back() {
        for semantics in Semantics::ALL {
            assert_eq!(semantics.name().parse(), Ok(semantics));
        }
        let error = "bags".parse::<Semantics>().unwrap_err();
        assert_eq!(error.to_string(), "unknown semantics \"bags\": choose from ex, set, bag, list");
    }
}
