//! Every construct, grown a little, has an outcome in every analysis: nothing doubles with each level, nothing overflows
//! the stack of a thread.

use sqlgauge_base::budget;
use sqlgauge_engine::{Limits, SqliteEngine};
use sqlgauge_research::analyses::{ANALYSES, World};
use sqlgauge_research::constructs::CONSTRUCTS;

/// A gold, a prediction, and what is asked of each besides.
const MOST_STEPS: u64 = 2 * (budget::RESOLVE + budget::ANALYSIS);

/// Bytes of the texts: enough for 30 levels of most constructs.
const BYTES: usize = 900;

#[test]
fn every_construct_has_an_outcome_in_every_analysis() {
    let world = World::new(SqliteEngine::new(Limits::default())).unwrap();
    for construct in CONSTRUCTS {
        let text = construct.of_bytes(BYTES);
        for analysis in ANALYSES {
            (analysis.prepare)(&world, &text);
            let (outcome, steps) = budget::measure(|| (analysis.run)(&world, &text));
            let of = format!("{} of {}", analysis.name, construct.name);
            assert!(steps <= MOST_STEPS, "{of}: {steps} steps, {outcome}");
        }
    }
}

/// What used to double with each level, and the outcome that it has.
#[test]
fn what_doubled_is_right_or_too_complex() {
    let world = World::new(SqliteEngine::new(Limits::default())).unwrap();
    for (analysis, construct, levels, outcome) in [
        ("etm, both", "between chain", 40, "None \"too_complex"),
        ("etm, both", "doubling columns", 40, "None \"too_complex"),
        ("esm-fair, both", "subqueries in FROM", 40, "Some(1.0)"),
        ("esm-fair, both", "EXISTS", 40, "Some(1.0)"),
        ("esm-fair, both", "subqueries of IN", 40, "Some(1.0)"),
        ("esm-fair, both", "scalar subqueries", 40, "Some(1.0)"),
        ("esm-fair, both", "linear CTEs", 40, "Some(1.0)"),
        ("esm-fair, both", "doubling columns", 40, "Some(1.0)"),
        ("parse", "doubling CTEs", 9, "0 tables"),
        ("parse", "doubling CTEs", 16, "too many columns in result set"),
        ("parse", "doubling widths", 40, "too many columns in result set"),
        ("parse", "joins", 2000, "unsupported construct: more than 1000 relations"),
        ("parse", "parenthesised joins", 2000, "unsupported construct"),
        ("parse", "long type", 10_000, "unsupported construct: more than 64 names in a row"),
        ("schema", "created columns", 10_000, "unsupported construct: a CREATE TABLE of more"),
        ("parse", "compound", 1000, "too many terms in compound SELECT"),
        ("schema", "doubling views", 40, "view v"),
        ("schema", "doubling views, one column", 40, "a schema"),
    ] {
        let text = CONSTRUCTS
            .iter()
            .find(|entry| entry.name == construct)
            .map(|entry| (entry.text)(levels))
            .unwrap();
        let answer = ANALYSES
            .iter()
            .find(|entry| entry.name == analysis)
            .map(|entry| (entry.run)(&world, &text))
            .unwrap();
        assert!(answer.starts_with(outcome), "{analysis} of {construct}: {answer}");
    }
}
