//! The options that the record of a run has, and which values each can change.
//!
//! # Contract
//! - [`OPTIONS`] has every option that a run records; a test scores with all of them.
//! - The value of a metric on an item is a function of the item, the engine, and the options that reach the metric. So two runs
//!   that differ in one of them have other values than their answers make.
//! - An option that is not in the list, of a later version, reaches everything.

use std::collections::BTreeSet;

use sqlgauge_metrics::{Reads, is_verify, recorded};

use crate::record::{Manifest, PAIRED_BY};

/// Which values an option can change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// None: it says which items there are, or what their answers are.
    Items,
    /// Those of metrics that run queries.
    Queries,
    /// Those of metrics that run queries, on items with a query that asks for the time.
    Time,
    /// Those of metrics that verify.
    Verification,
    /// All.
    Everything,
}

impl Reach {
    /// Whether a value of that metric can be another; `asks_time` says whether an item asks for the time.
    fn has(self, metric: &str, asks_time: bool) -> bool {
        let verifies = is_verify(metric);
        // A metric that this version does not know may run queries.
        let runs_queries =
            || verifies || recorded(metric).is_none_or(|metric| metric.reads() != Reads::NoRows);
        match self {
            Self::Items => false,
            Self::Queries => runs_queries(),
            Self::Time => asks_time && runs_queries(),
            Self::Verification => verifies,
            Self::Everything => true,
        }
    }
}

/// All options, by name.
pub const OPTIONS: &[(&str, Reach)] = &[
    ("extract_sql", Reach::Items),
    ("max_bytes", Reach::Queries),
    ("max_heap_bytes", Reach::Queries),
    ("max_rows", Reach::Queries),
    ("now", Reach::Time),
    (PAIRED_BY, Reach::Items),
    ("shard", Reach::Items),
    ("subset", Reach::Items),
    ("timeout_ms", Reach::Queries),
    ("verify_bound", Reach::Verification),
    // It makes a counterexample smaller, and finds none.
    ("verify_fewest", Reach::Items),
    ("verify_only", Reach::Verification),
    ("verify_seed", Reach::Verification),
    // Of earlier versions; now the id of the metric says it.
    ("verify_semantics", Reach::Verification),
    ("verify_solver", Reach::Verification),
    ("verify_solver_ms", Reach::Verification),
    ("verify_values", Reach::Verification),
];

/// In what two runs differ on which values of that metric depend, each with what it is in the one and in the other; empty where
/// the values can be compared. `asks_time` says whether an item that is compared asks for the time.
pub fn unlike([first, second]: [&Manifest; 2], metric: &str, asks_time: bool) -> Vec<String> {
    let mut texts = Vec::new();
    let mut differ = |name: &str, reach: Reach, [a, b]: [String; 2]| {
        if a != b && reach.has(metric, asks_time) {
            texts.push(format!("{name} is {a} and {b}"));
        }
    };
    differ("the engine", Reach::Queries, [first.engine.clone(), second.engine.clone()]);
    let names: BTreeSet<&String> = first.options.keys().chain(second.options.keys()).collect();
    for name in names {
        let listed = OPTIONS.iter().find(|(listed, _)| listed == name);
        let reach = listed.map_or(Reach::Everything, |(_, reach)| *reach);
        let text = |run: &Manifest| {
            run.options
                .get(name)
                .map_or_else(|| "not set".to_owned(), |value| value.to_string().replace('"', ""))
        };
        differ(name, reach, [text(first), text(second)]);
    }
    texts
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn manifest(engine: &str, options: &serde_json::Value) -> Manifest {
        serde_json::from_value(json!({
            "tool_version": "", "engine": engine, "command": [], "metrics": [], "systems": [], "inputs": [],
            "options": options, "examples": 0,
        }))
        .unwrap()
    }

    #[test]
    fn an_option_reaches_the_metrics_that_depend_on_it() {
        for (name, reached) in [
            ("timeout_ms", &["ex@1", "verify@3"][..]),
            ("verify_bound", &["verify@3"]),
            ("verify_semantics", &["verify@3"]),
            ("subset", &[]),
            ("verify_fewest", &[]),
            ("of_a_later_version", &["esm@1", "ex@1", "verify@3"]),
        ] {
            let of = |value: u64| manifest("SQLite 3", &json!({name: value}));
            for metric in ["esm@1", "ex@1", "verify@3"] {
                let text = unlike([&of(1), &of(2)], metric, true);
                let expected: &[String] =
                    if reached.contains(&metric) { &[format!("{name} is 1 and 2")] } else { &[] };
                assert_eq!(text, expected, "{metric}");
                assert!(unlike([&of(1), &of(1)], metric, true).is_empty());
            }
        }
    }

    #[test]
    fn the_time_counts_where_it_is_asked_for() {
        let of = |now: &str| manifest("SQLite 3", &json!({"now": now}));
        let runs = [of("2026-01-01 00:00:00"), of("2026-01-02 00:00:00")];
        let text = |metric, asks| unlike([&runs[0], &runs[1]], metric, asks);
        assert_eq!(text("ex@1", true), ["now is 2026-01-01 00:00:00 and 2026-01-02 00:00:00"]);
        assert!(text("ex@1", false).is_empty() && text("esm@1", true).is_empty());
    }

    #[test]
    fn engines_differ_by_their_version() {
        let runs = [manifest("SQLite 3.45", &json!({})), manifest("SQLite 3.50", &json!({"max_rows": 5}))];
        assert_eq!(
            unlike([&runs[0], &runs[1]], "ex@1", false),
            ["the engine is SQLite 3.45 and SQLite 3.50", "max_rows is not set and 5"]
        );
        assert!(unlike([&runs[0], &runs[1]], "etm@1", false).is_empty());
    }
}
