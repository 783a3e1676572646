//! Every case of every rule, both ways round, and the databases that show why a pair must not match.

use rusqlite::Connection;
use sqlgauge_etm::{MatchVerdict, Matcher, Profile, RuleCase, rules};
use sqlgauge_sql::schema::Schema;

use crate::common::rows;

fn each_case() -> impl Iterator<Item = (&'static str, &'static RuleCase)> {
    rules().iter().flat_map(|rule| rule.cases.iter().map(|case| (rule.id, case)))
}

#[test]
fn the_verdict_is_as_expected_whichever_query_comes_first() {
    let mut failures = Vec::new();
    for (id, case) in each_case() {
        let schema = Schema::from_ddl(case.schema).unwrap();
        for profile in Profile::ALL.into_iter().filter(|profile| case.profiles.contains(*profile)) {
            let matcher = Matcher::new(&schema, profile);
            for (left, right) in [(case.left, case.right), (case.right, case.left)] {
                let comparison = matcher.compare(left, right);
                let fits = match comparison.verdict {
                    MatchVerdict::Equal => case.equal,
                    MatchVerdict::Different => !case.equal,
                    MatchVerdict::GaveUp(_) | MatchVerdict::TooComplex(_) | MatchVerdict::Unresolved(..) => {
                        false
                    }
                };
                let by_reference = matcher.is_right_by(&matcher.reference(left), right);
                if !fits
                    || matcher.is_equal(left, right) != case.equal
                    || by_reference != matcher.is_right(left, right)
                {
                    failures.push(format!(
                        "rule {id}, {profile}: {}\n  {left}\n  {right}\n  {:?}",
                        comparison.verdict, comparison.difference
                    ));
                }
            }
        }
    }
    assert!(failures.is_empty(), "{} cases fail:\n{}", failures.len(), failures.join("\n"));
}

/// Rows as a bag, unless a query sorts them.
fn differ(connection: &Connection, left: &str, right: &str) -> bool {
    let (mut a, mut b) = (rows(connection, left), rows(connection, right));
    if !left.contains("ORDER BY") {
        a.sort_by_key(|row| format!("{row:?}"));
        b.sort_by_key(|row| format!("{row:?}"));
    }
    a != b
}

#[test]
fn every_witness_is_a_database_on_which_the_queries_differ() {
    for (id, case) in each_case().filter(|(_, case)| !case.witness.is_empty()) {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch(case.schema).unwrap();
        connection
            .execute_batch(case.witness)
            .unwrap_or_else(|error| panic!("rule {id}: {error}: {}", case.witness));
        assert!(differ(&connection, case.left, case.right), "rule {id}: {} | {}", case.left, case.right);
    }
}

#[test]
fn a_match_carries_the_rules_that_were_applied_and_a_mismatch_a_reason() {
    let schema = Schema::from_ddl("CREATE TABLE singer (id INTEGER PRIMARY KEY, age INT)").unwrap();
    let matcher = Matcher::new(&schema, Profile::Sound);
    let equal = matcher.compare("SELECT COUNT(id) FROM singer", "SELECT COUNT(*) FROM singer");
    let [application] = equal.left.as_ref().unwrap().applications.as_slice() else { panic!("{equal:?}") };
    assert_eq!(
        application.to_string(),
        "6 count-of-not-null in query\n    before  SELECT count(singer.id) FROM singer\n    after   SELECT count(*) FROM singer"
    );
    assert!(equal.right.unwrap().applications.is_empty() && equal.difference.is_none());
    let different = matcher.compare("SELECT id FROM singer WHERE age > 20", "SELECT id FROM singer");
    assert_eq!(different.difference.as_deref(), Some("only the gold filters on 20 < singer.age"));
    let schema = Schema::from_ddl(
        "CREATE TABLE hero (id INT, colour_id INT); CREATE TABLE colour (id INT, name TEXT)",
    )
    .unwrap();
    let join = "SELECT hero.id FROM hero JOIN colour ON colour_id = colour.id WHERE name = 'blonde'";
    let inside = "SELECT id FROM hero WHERE colour_id = (SELECT id FROM colour WHERE name = 'blonde')";
    let matcher = Matcher::new(&schema, Profile::Sound);
    for (gold, prediction, sentence) in [
        (join, inside, "the gold joins colour, the prediction has it only in a subquery"),
        (inside, join, "the prediction joins colour, the gold has it only in a subquery"),
        (join, "SELECT id FROM hero", "only the gold reads colour"),
        (
            "SELECT x.id FROM hero x JOIN hero y",
            "SELECT id FROM hero",
            "the gold joins hero, the prediction has it less often",
        ),
    ] {
        assert_eq!(matcher.compare(gold, prediction).difference.as_deref(), Some(sentence));
    }
}
