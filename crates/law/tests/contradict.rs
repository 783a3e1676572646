//! A small share of the pairs on which the rules, the verifier and SQLite are asked; `sqlgauge-law --pairs` tries more.

use std::time::Duration;

use sqlgauge_law::contradict::{Made, Options, hunt};

const OPTIONS: Options =
    Options { pairs: 500, time: Duration::from_secs(30), threads: 2, seed: 1, solver: None, broken: None };

#[test]
fn the_rules_the_verifier_and_sqlite_do_not_contradict_each_other() {
    let tally = hunt(&OPTIONS);
    let told_apart = tally.told_apart.get(&Made::NearMiss).copied().unwrap_or(0);
    assert!(tally.total() >= 100 && told_apart > 10, "{}", tally.markdown());
    assert!(tally.contradictions.is_empty(), "{}", tally.markdown());
}
