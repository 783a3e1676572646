//! A small share of the law: the program `sqlgauge-law` tries more.

use std::time::Duration;

use sqlgauge_law::hunt::{Options, hunt};
use sqlgauge_law::report::{breaks_law, markdown};

#[test]
#[ignore = "long: cargo xtask long"]
fn before_and_after_a_rule_the_rows_are_the_same() {
    let options =
        Options { applications: 15_000, time: Duration::from_secs(25), examples: 2, ..Options::default() };
    let findings = hunt(&options, &|_, _| {});
    assert!(findings.total() > 1_000, "{} applications only", findings.total());
    let broken = findings.counts.keys().any(|(_, kind)| breaks_law(*kind));
    assert!(!broken, "{}", markdown(&findings));
}
