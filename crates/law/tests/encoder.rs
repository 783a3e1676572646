//! A small share of the law of the symbolic execution; `ENCODER_QUERIES` and `ENCODER_SEED` make it a hunt.
#![allow(clippy::unwrap_used, reason = "a test")]

use sqlgauge_law::encoder::hunt;

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[test]
fn with_the_values_of_a_database_put_in_the_symbolic_rows_are_those_of_sqlite() {
    let queries = usize::try_from(number("ENCODER_QUERIES", 400)).unwrap();
    let tally = hunt(number("ENCODER_SEED", 1), queries, 3).unwrap();
    println!("{} compared, {} with rows, {} open", tally.compared, tally.with_rows, tally.open);
    for (construct, count) in &tally.unsupported {
        println!("{count:6}  unsupported: {construct}");
    }
    assert!(
        tally.violations.is_empty(),
        "{} violations\n{}",
        tally.violations.len(),
        tally.violations[..tally.violations.len().min(12)].join("\n")
    );
    assert!(tally.with_rows * 10 > queries, "too few are compared");
}
