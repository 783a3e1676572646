//! The budgets of analyses do not touch real queries: the largest of the benchmarks and predictions stays far below.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::HashMap;
use std::sync::Arc;

use sqlgauge_base::budget;
use sqlgauge_conformance::{data, statements};
use sqlgauge_engine::{Database, Engine, Limits, SqliteEngine};
use sqlgauge_etm::{Matcher, Profile};
use sqlgauge_metrics::{Pair, Target, find};
use sqlgauge_sql::resolve;

/// How many times the largest real analysis fits into its budget, at least.
const ROOM: u64 = 10;

#[test]
fn the_largest_real_query_takes_a_small_part_of_its_budget() {
    let Some(root) = data() else { return };
    let engine = SqliteEngine::new(Limits::default());
    let mut open: HashMap<std::path::PathBuf, Arc<Database>> = HashMap::new();
    let mut largest: [(u64, String); 3] = Default::default();
    for statement in statements(&root).into_iter().filter(|statement| is_chosen(&statement.sql)) {
        let path = statement.database.clone();
        let database =
            Arc::clone(open.entry(path).or_insert_with(|| engine.open(&statement.database).unwrap()));
        let (schema, sql) = (database.schema(), &statement.sql);
        let resolved = budget::measure(|| resolve(sql, schema).is_ok()).1;
        let (_, matched) = budget::measure(|| {
            Matcher::new(schema, Profile::Sound)
                .judge(sql, &format!("SELECT * FROM ({})", sql.trim_end_matches([';', ' '])))
        });
        let target = Target::new("", Arc::clone(&database));
        let pair = Pair::new(&engine, &target, sql, "SELECT 1", None);
        let (_, fair) = budget::measure(|| find("esm-fair").unwrap().score(&pair));
        for (own, largest) in [resolved, matched, fair].into_iter().zip(&mut largest) {
            if own > largest.0 {
                *largest = (own, sql.clone());
            }
        }
    }
    for ((steps, sql), budget) in largest.iter().zip([budget::RESOLVE, budget::ANALYSIS, budget::ANALYSIS]) {
        println!("{steps} of {budget} steps: {sql}");
        assert!(steps * ROOM <= budget, "{steps} of {budget} steps: {sql}");
    }
}

/// The long texts, and some of the others.
fn is_chosen(sql: &str) -> bool {
    sql.len() > 300 || sql.len().is_multiple_of(16)
}
