//! `add-tables`: beside the tables that a question needs, its item shows one to three others of the same database
//! (`EvoSchema`, section 3.6 and Table 2). Schema, data and golds stay.

use std::collections::{BTreeSet, HashSet};

use sqlgauge_base::Random;
use sqlgauge_sql::schema::Schema;

use super::tables;

/// The most tables that are shown besides.
const MOST: usize = 3;

/// One to three tables of the database that the gold of an item does not need. Empty where the gold needs all of them.
pub(crate) fn others(schema: &Schema, needed: &HashSet<usize>, random: &mut Random) -> BTreeSet<usize> {
    let others: Vec<usize> = tables(schema).map(|(at, _)| at).filter(|at| !needed.contains(at)).collect();
    if others.is_empty() {
        return BTreeSet::new();
    }
    let count = 1 + random.below(others.len().min(MOST));
    random.distinct(count, others.len()).into_iter().map(|chosen| others[chosen]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_to_three_others_are_drawn_and_none_that_is_needed() {
        let ddl = "CREATE TABLE a (x); CREATE TABLE b (x); CREATE TABLE c (x); CREATE TABLE d (x); CREATE TABLE e (x);
                   CREATE VIEW v AS SELECT x FROM a;";
        let schema = Schema::from_ddl(ddl).unwrap();
        let drawn = |needed: &[usize], seed: u64| {
            others(&schema, &needed.iter().copied().collect(), &mut Random::new([seed]))
        };
        let sizes: BTreeSet<usize> = (0..40).map(|seed| drawn(&[0], seed).len()).collect();
        assert_eq!(sizes, BTreeSet::from([1, 2, 3]));
        let seen: BTreeSet<usize> = (0..40).flat_map(|seed| drawn(&[0], seed)).collect();
        assert_eq!(seen, BTreeSet::from([1, 2, 3, 4]));
        assert_eq!(drawn(&[0, 1, 2, 3], 7), BTreeSet::from([4]));
        assert!(drawn(&[0, 1, 2, 3, 4], 7).is_empty());
    }
}
