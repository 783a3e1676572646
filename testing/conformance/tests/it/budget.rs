//! The budgets of analyses do not touch real queries: the largest of the benchmarks and predictions stays far below.

use std::collections::HashMap;
use std::sync::Arc;

use sqlgauge_base::budget;
use sqlgauge_conformance::{data, read, statements};
use sqlgauge_dialects::{DIALECTS, TypedSchema, translate};
use sqlgauge_engine::{Database, Engine, Limits, SqliteEngine};
use sqlgauge_etm::{Matcher, Profile};
use sqlgauge_metrics::{Pair, Target, find};
use sqlgauge_search::{Search, SearchOptions};
use sqlgauge_sql::resolve;

/// How many times the largest real analysis fits into its budget, at least.
const ROOM: u64 = 10;

#[test]
#[ignore = "long: cargo xtask long"]
fn the_largest_real_query_takes_a_small_part_of_its_budget() {
    let Some(root) = data() else { return };
    let engine = SqliteEngine::new(Limits::default());
    let mut open: HashMap<std::path::PathBuf, Arc<Database>> = HashMap::new();
    let mut largest: [(u64, String); 4] = Default::default();
    for statement in statements(&root).into_iter().filter(|statement| is_chosen(&statement.sql)) {
        let path = statement.database.clone();
        let database =
            Arc::clone(open.entry(path).or_insert_with(|| engine.open(&statement.database).unwrap()));
        let (schema, sql) = (database.schema(), &statement.sql);
        let (query, resolved) = budget::measure(|| resolve(sql, schema));
        let typed = TypedSchema::declared(schema);
        let of_dialect = |dialect| {
            budget::measure(|| query.as_ref().map(|query| translate(query, &typed, dialect).is_ok())).1
        };
        let translated = DIALECTS.iter().copied().map(of_dialect).max().unwrap_or(0);
        let (_, matched) = budget::measure(|| {
            Matcher::new(schema, Profile::Sound)
                .judge(sql, &format!("SELECT * FROM ({})", sql.trim_end_matches([';', ' '])))
        });
        let target = Target::new("", Arc::clone(&database));
        let pair = Pair::new(&engine, &target, sql, "SELECT 1", None);
        let (_, fair) = budget::measure(|| find("esm-fair").unwrap().score(&pair));
        for (steps, largest) in [resolved, matched, fair, translated].into_iter().zip(&mut largest) {
            if steps > largest.0 {
                *largest = (steps, sql.clone());
            }
        }
    }
    let budgets = [budget::RESOLVE, budget::ANALYSIS, budget::ANALYSIS, budget::TRANSLATION];
    for ((steps, sql), budget) in largest.iter().zip(budgets) {
        has_room(*steps, budget, sql);
    }
}

/// A query beside itself in other words has no counterexample, so that every database is tried.
#[test]
#[ignore = "long: cargo xtask long"]
fn the_longest_golds_are_searched_in_a_small_part_of_the_budget() {
    let Some(root) = data() else { return };
    let golds: serde_json::Value = serde_json::from_str(&read(&root.join("bird/dev.json"))).unwrap();
    let text = |gold: &serde_json::Value, field: &str| gold[field].as_str().unwrap_or_default().to_owned();
    let mut golds: Vec<(String, String)> =
        golds.as_array().unwrap().iter().map(|gold| (text(gold, "SQL"), text(gold, "db_id"))).collect();
    golds.sort_by_key(|(sql, _)| std::cmp::Reverse(sql.len()));
    let engine = SqliteEngine::new(Limits::default());
    let mut largest = (0, String::new());
    for (sql, db_id) in golds.into_iter().take(LONGEST) {
        let path = root.join(format!("bird/schema_only/{db_id}/{db_id}.sqlite"));
        let search =
            Search::new(Arc::clone(engine.open(&path).unwrap().schema()), SearchOptions::default()).unwrap();
        let around = format!("SELECT * FROM ({})", sql.trim_end_matches([';', ' ']));
        let (_, steps) = budget::measure(|| search.refute(&sql, &around));
        largest = largest.max((steps, sql));
    }
    has_room(largest.0, budget::SEARCH, &largest.1);
}

/// How many of BIRD's golds are searched, from the longest one on.
const LONGEST: usize = 50;

fn has_room(steps: u64, budget: u64, sql: &str) {
    println!("{steps} of {budget} steps: {sql}");
    assert!(steps > 0 && steps * ROOM <= budget, "{steps} of {budget} steps: {sql}");
}

/// The long texts, and some of the others.
fn is_chosen(sql: &str) -> bool {
    sql.len() > 300 || sql.len().is_multiple_of(16)
}
