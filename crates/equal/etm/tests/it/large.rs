//! Queries far larger than people write: an answer, or word that there is none, within a second.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use sqlgauge_etm::{MatchVerdict, Matcher, Profile};
use sqlgauge_sql::schema::Schema;

fn schema() -> Schema {
    let mut ddl = String::new();
    for n in 0..50 {
        let next = (n + 1) % 50;
        writeln!(ddl, "CREATE TABLE t{n} (id INTEGER PRIMARY KEY, next INT REFERENCES t{next}(id), v INT);")
            .expect("writing to a string");
    }
    Schema::from_ddl(&ddl).expect("a schema")
}

/// Both profiles, both ways round, within a second each (in a test build on a busy machine: ten).
fn answer(left: &str, right: &str) -> Vec<MatchVerdict> {
    let schema = schema();
    let mut verdicts = Vec::new();
    for profile in Profile::ALL {
        let matcher = Matcher::new(&schema, profile);
        for (left, right) in [(left, right), (right, left)] {
            let start = Instant::now();
            verdicts.push(matcher.compare(left, right).verdict);
            assert!(start.elapsed() < Duration::from_secs(10), "{profile} took {:?}", start.elapsed());
        }
    }
    verdicts
}

fn joined(tables: impl Iterator<Item = usize> + Clone) -> String {
    let names: Vec<String> = tables.clone().map(|n| format!("t{n}")).collect();
    let links: Vec<String> =
        tables.filter(|n| *n != 49).map(|n| format!("t{n}.next = t{}.id", n + 1)).collect();
    format!("SELECT t0.v, t49.v FROM {} WHERE {}", names.join(", "), links.join(" AND "))
}

#[test]
fn fifty_joined_tables() {
    let verdicts = answer(&joined(0..50), &joined((0..50).rev()));
    assert!(verdicts.iter().all(|verdict| *verdict == MatchVerdict::Equal), "{verdicts:?}");
}

#[test]
fn fifty_instances_of_one_table_that_cannot_be_told_apart() {
    let names: Vec<String> = (0..50).map(|n| format!("t0 AS a{n}")).collect();
    let left = format!("SELECT COUNT(*) FROM {}", names.join(", "));
    let verdicts = answer(&left, &format!("{left} WHERE a7.v = 3"));
    assert!(verdicts.iter().all(|verdict| !verdict.is_equal()), "{verdicts:?}");
}

#[test]
fn two_hundred_conditions_in_any_order() {
    let condition = |n: usize| format!("(v <> {n} OR id > {n})");
    let all = |order: Vec<usize>| {
        format!(
            "SELECT id FROM t0 WHERE {}",
            order.into_iter().map(condition).collect::<Vec<_>>().join(" AND ")
        )
    };
    let verdicts = answer(&all((0..200).collect()), &all((0..200).rev().collect()));
    assert!(verdicts.iter().all(MatchVerdict::is_equal), "{verdicts:?}");
}

#[test]
fn ten_thousand_nodes() {
    let list: Vec<String> = (0..3_300).map(|n| format!("v = {n}")).collect();
    let left = format!("SELECT id FROM t0 WHERE {}", list.join(" OR "));
    let list: Vec<String> = (0..3_300).rev().map(|n| n.to_string()).collect();
    let right = format!("SELECT id FROM t0 WHERE v IN ({})", list.join(", "));
    let verdicts = answer(&left, &right);
    assert!(
        verdicts.iter().all(|v| matches!(v, MatchVerdict::Equal | MatchVerdict::TooComplex(_))),
        "{verdicts:?}"
    );
    assert!(verdicts.contains(&MatchVerdict::Equal));
}

#[test]
fn deep_nesting() {
    let mut deep = "SELECT id FROM t0".to_owned();
    for _ in 0..300 {
        deep = format!("SELECT id FROM t0 WHERE id IN ({deep})");
    }
    answer(&deep, "SELECT id FROM t0");
    let not = format!("SELECT id FROM t0 WHERE {}v = 1", "NOT ".repeat(900));
    answer(&not, "SELECT id FROM t0 WHERE v = 1");
}

#[test]
fn subqueries_that_double_with_each_step() {
    let mut with = String::from("WITH q0 AS (SELECT id FROM t0)");
    for n in 1..40 {
        write!(with, ", q{n} AS (SELECT a.id FROM q{m} a, q{m} b)", m = n - 1).unwrap();
    }
    answer(&format!("{with} SELECT id FROM q39"), &format!("{with} SELECT id FROM q38"));
}
