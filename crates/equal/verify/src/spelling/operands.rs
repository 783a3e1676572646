//! `(SELECT …) UNION (SELECT …)`: operands of set operations in parentheses.
//!
//! *Why it holds*: `SELECT * FROM (SELECT …)` has the rows and the columns of the query in parentheses, with what orders and
//! limits it. SQLite reads set operations from left to right, the standard INTERSECT first: where an INTERSECT follows another
//! operation between the same parentheses, the text stays.

use std::collections::BTreeSet;

use super::words::{Edits, Words};

const OPERATIONS: [&str; 3] = ["UNION", "INTERSECT", "EXCEPT"];

pub(super) fn spell(words: &Words<'_>) -> Edits {
    let mixed = mixed(words);
    let is_operand = |&open: &usize| {
        let Some(close) = words.closing(open).filter(|_| words.is_query(open)) else { return false };
        let first = if words.follows(open, &["ALL"]) { open - 1 } else { open };
        let is_later = words.follows(first, &OPERATIONS);
        let begins = open == 0 || words.at(open - 1) == "(" || words.follows(open, &["AS"]);
        let is_first = begins && words.is(close + 1, &OPERATIONS);
        (is_later || is_first) && !mixed.contains(&words.around(open))
    };
    (0..words.len()).filter(is_operand).map(|open| (open, "SELECT * FROM (".to_owned())).collect()
}

/// The parentheses between which an INTERSECT follows another set operation.
fn mixed(words: &Words<'_>) -> BTreeSet<Option<usize>> {
    let mut others = BTreeSet::new();
    let mut mixed = BTreeSet::new();
    for at in (0..words.len()).filter(|&at| words.is(at, &OPERATIONS)) {
        let around = words.around(at);
        if !words.is(at, &["INTERSECT"]) {
            others.insert(around);
        } else if others.contains(&around) {
            mixed.insert(around);
        }
    }
    mixed
}
