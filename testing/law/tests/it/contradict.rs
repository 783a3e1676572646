//! A small share of the pairs on which the rules, the verifier and SQLite are asked; `sqlgauge-law --pairs` tries more.

use std::time::Duration;

use sqlgauge_etm::find;
use sqlgauge_law::contradict::{Contradiction, Options, PairOrigin, hunt};

const OPTIONS: Options = Options {
    pairs: 500,
    // A net: the pairs end it.
    time: Duration::from_mins(3),
    threads: 2,
    seed: 1,
    solver: None,
    broken: None,
    forgets_indexes: false,
};

#[test]
#[ignore = "long: cargo xtask long"]
fn the_rules_the_verifier_and_sqlite_do_not_contradict_each_other() {
    let tally = hunt(&OPTIONS);
    let told_apart = tally.told_apart.get(&PairOrigin::NearMiss).copied().unwrap_or(0);
    assert!(tally.total() >= 100 && told_apart > 10, "{}", tally.markdown());
    assert!(tally.contradictions.is_empty(), "{}", tally.markdown());
}

#[test]
#[ignore = "long: cargo xtask long"]
fn a_broken_rule_is_contradicted_by_sqlite_and_by_the_verifier() {
    // A rule that is lied to about its place, rules of the paper that are lied to about the schema, and one that a defect
    // cannot but damage.
    for id in ["S10", "1", "2", "5", "9", "13", "22"] {
        let broken = find(id);
        assert!(broken.is_some(), "{id}");
        let tally = hunt(&Options { broken, pairs: 100, time: Duration::from_mins(2), ..OPTIONS });
        for contradiction in [Contradiction::MadeEqualAndRowsDiffer, Contradiction::MadeEqualAndDifferent] {
            let is_found = tally.contradictions.contains_key(&contradiction);
            assert!(is_found, "rule {id}: {contradiction:?}\n{}", tally.markdown());
        }
    }
}

#[test]
#[ignore = "long: cargo xtask long"]
fn forgotten_indexes_are_found_by_witnesses_that_break_the_schema() {
    let tally = hunt(&Options { forgets_indexes: true, pairs: 4_000, ..OPTIONS });
    assert!(tally.contradictions.contains_key(&Contradiction::WitnessBreaksSchema), "{}", tally.markdown());
}
