//! Every pair that a rule says must match is put to the search for counterexamples, and every pair that must not
//! match has one.

use std::collections::BTreeMap;
use std::sync::Arc;

use sqlgauge_base::pool::Pool;
use sqlgauge_etm::{RuleCase, rules};
use sqlgauge_search::{Search, SearchOptions, SearchVerdict};
use sqlgauge_sql::schema::Schema;

/// How many generated databases a pair must survive.
const DATABASES: usize = 2_000;

/// The cases of the sound profile by their schema.
fn by_schema(equal: bool) -> BTreeMap<&'static str, Vec<(&'static str, &'static RuleCase)>> {
    let mut cases: BTreeMap<&str, Vec<_>> = BTreeMap::new();
    for rule in rules() {
        for case in rule.cases.iter().filter(|case| case.profiles.sound && case.equal == equal) {
            cases.entry(case.schema).or_default().push((rule.id, case));
        }
    }
    cases
}

fn search(ddl: &str, cases: &[(&'static str, &'static RuleCase)]) -> Vec<SearchVerdict> {
    let schema = Arc::new(Schema::from_ddl(ddl).expect("the schema of a case"));
    let options = SearchOptions { databases: DATABASES, ..SearchOptions::default() };
    let refute = |at: usize| {
        let search = Search::new(Arc::clone(&schema), options).expect("SQLite opens a database in memory");
        search.refute(cases[at].1.left, cases[at].1.right)
    };
    let verdicts = Pool::of(0).map(cases.len(), refute).expect("a thread starts");
    verdicts.into_iter().map(|verdict| verdict.expect("a search does not panic")).collect()
}

#[test]
#[ignore = "long: cargo xtask long"]
fn no_database_refutes_a_pair_that_must_match() {
    let mut failures = Vec::new();
    for (ddl, cases) in by_schema(true) {
        for ((id, case), verdict) in cases.iter().zip(search(ddl, &cases)) {
            match verdict {
                SearchVerdict::Survived(survived)
                    if survived.undecided == 0 && survived.databases >= DATABASES * 9 / 10 => {}
                other => failures.push(format!("rule {id}: {}\n  {}\n  {other:?}", case.left, case.right)),
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
#[ignore = "long: cargo xtask long"]
fn some_database_refutes_every_pair_that_must_not_match() {
    let mut failures = Vec::new();
    for (ddl, cases) in by_schema(false) {
        let open: Vec<_> = cases.into_iter().filter(|(_, case)| case.witness.is_empty()).collect();
        for ((id, case), verdict) in open.iter().zip(search(ddl, &open)) {
            if !verdict.is_refuted() {
                failures.push(format!("rule {id}: {}\n  {}\n  {verdict:?}", case.left, case.right));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
