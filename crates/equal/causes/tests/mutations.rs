//! A slip that is planted in a query is said for what it is, and what a sentence says is true of the two queries.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;

use sqlgauge_causes::{Difference, Explainer, Judge, Proofs};
use sqlgauge_search::mutation::{MutationKind, Mutations};
use sqlgauge_search::{Search, SearchOptions, SearchVerdict};
use sqlgauge_sql::schema::Schema;
use sqlgauge_sql::{PrintDialect, print, resolve};

const SCHEMA: &str = "
    CREATE TABLE singer (id INTEGER PRIMARY KEY, name TEXT, age INT, height INT, country TEXT);
    CREATE TABLE stadium (id INTEGER PRIMARY KEY, name TEXT, city TEXT, seats INT);
    CREATE TABLE concert (
        id INTEGER PRIMARY KEY, name TEXT, year INT, price REAL,
        singer_id INT REFERENCES singer (id), stadium_id INT REFERENCES stadium (id));";

const GOLDS: [&str; 14] = [
    "SELECT name, age FROM singer WHERE age > 20 AND country = 'Peru' ORDER BY age DESC LIMIT 3",
    "SELECT count(*), avg(age), max(height) FROM singer WHERE country <> 'Peru' OR age <= 30",
    "SELECT DISTINCT country FROM singer WHERE name LIKE '%a%' AND height IS NOT NULL",
    "SELECT s.name, count(*) FROM singer s JOIN concert c ON s.id = c.singer_id GROUP BY s.id, s.name HAVING count(*) >= 2",
    "SELECT s.name, t.city FROM singer s JOIN concert c ON s.id = c.singer_id JOIN stadium t ON c.stadium_id = t.id WHERE c.year = 2014",
    "SELECT name FROM singer WHERE id NOT IN (SELECT singer_id FROM concert WHERE year > 2010)",
    "SELECT name FROM singer WHERE age > (SELECT avg(age) FROM singer WHERE country = 'Peru')",
    "SELECT country FROM singer WHERE age > 40 INTERSECT SELECT country FROM singer WHERE age < 30",
    "SELECT name FROM stadium EXCEPT SELECT t.name FROM stadium t JOIN concert c ON c.stadium_id = t.id WHERE c.year = 2014",
    "SELECT s.name FROM singer s LEFT JOIN concert c ON s.id = c.singer_id AND c.year = 2014 WHERE s.age BETWEEN 20 AND 30",
    "SELECT t.name FROM stadium t WHERE EXISTS (SELECT 1 FROM concert c WHERE c.stadium_id = t.id AND c.price > 10.5)",
    "SELECT sum(price) FROM concert WHERE year IN (2014, 2015) AND stadium_id = 3",
    "SELECT country, count(DISTINCT name) FROM singer GROUP BY country ORDER BY count(*) DESC, country LIMIT 1",
    "SELECT x.n FROM (SELECT country AS c, count(*) AS n FROM singer GROUP BY country) x WHERE x.n > 3",
];

/// The causes that a slip of that kind may be said to be.
fn expected(kind: MutationKind) -> &'static [&'static str] {
    match kind {
        MutationKind::Column => {
            &["other-column", "same-name", "join-key", "grouping", "order", "wrong-aggregate", "join-kind"]
        }
        MutationKind::Number => &["other-constant", "limit", "join-kind"],
        MutationKind::Text => &["other-constant"],
        MutationKind::Comparison => &["other-comparison", "subquery", "join-kind"],
        MutationKind::Key => {
            &["join-key", "other-comparison", "missing-condition", "connective", "join-kind", "null-handling"]
        }
        MutationKind::Arithmetic => &["other-outputs", "other-condition"],
        MutationKind::Connective => &["connective"],
        MutationKind::Condition => &["missing-condition", "subquery", "null-handling"],
        MutationKind::Negation => &["other-comparison", "subquery", "null-handling"],
        MutationKind::Aggregate => &["wrong-aggregate", "order"],
        MutationKind::Distinct => &["distinct", "order"],
        MutationKind::Direction => &["order"],
        MutationKind::NoLimit => &["limit"],
        MutationKind::Join => &["join-kind"],
        MutationKind::SetOperation => &["set-operation"],
        MutationKind::Grouping => &["grouping"],
    }
}

#[derive(Debug, Default)]
struct Tally {
    slips: usize,
    said: usize,
    as_planted: usize,
    unclear: BTreeMap<&'static str, usize>,
}

#[test]
fn a_planted_slip_is_said_for_what_it_is() {
    let schema = Schema::from_ddl(SCHEMA).unwrap();
    let explainer = Explainer::of(&schema);
    let search =
        Search::new(schema.clone(), SearchOptions { databases: 60, ..SearchOptions::default() }).unwrap();
    let proofs = Proofs::over(&schema);
    let mut tally = Tally::default();
    let (mut other, mut untrue) = (Vec::new(), Vec::new());
    for gold in GOLDS {
        let query = resolve(gold, &schema).unwrap();
        let mutations = Mutations::new(&query, &schema);
        for number in 0..mutations.count() {
            let Some(mutant) = mutations.get(number) else { continue };
            let Ok(text) = print(&mutant, &schema, PrintDialect::Sqlite) else { continue };
            if resolve(&text, &schema).is_err() {
                continue;
            }
            tally.slips += 1;
            let found = match explainer.explain(gold, &text, &proofs) {
                Ok(found) => found,
                Err(unclear) => {
                    *tally.unclear.entry(unclear.id()).or_default() += 1;
                    other.push(format!(
                        "{:?}: {}\n  {gold}\n  {text}",
                        mutations.kinds()[number],
                        unclear.id()
                    ));
                    continue;
                }
            };
            tally.said += 1;
            let kind = mutations.kinds()[number];
            if found.slips.iter().any(|slip| expected(kind).contains(&slip.cause.id)) {
                tally.as_planted += 1;
            } else {
                other.push(format!("{kind:?}: {}\n  {gold}\n  {text}", found.sentence()));
            }
            // The gold with the one slip that is said must be the answer, and the answer without it the gold.
            if let Ok(Difference { slips, .. }) = explainer.explain(gold, &text, &Nobody)
                && let [slip] = slips.as_slice()
            {
                let [planted, repaired] = [&slip.planted, &slip.repaired]
                    .map(|query| print(query, &schema, PrintDialect::Sqlite).unwrap());
                for (left, right) in [(&planted, &text), (&gold.to_owned(), &repaired)] {
                    if let SearchVerdict::Refuted(_) = search.refute(left, right) {
                        untrue.push(format!("{}\n  {gold}\n  {text}\n  {left}\n  {right}", found.sentence()));
                    }
                }
            }
        }
    }
    println!("{tally:?}\nnot as planted, or unclear:\n{}", other.join("\n"));
    assert!(untrue.is_empty(), "{} sentences are not true:\n{}", untrue.len(), untrue.join("\n"));
    assert!(tally.slips > 150 && tally.said * 10 >= tally.slips * 9, "{tally:?}");
    assert!(tally.as_planted * 100 >= tally.said * 95, "{tally:?}");
}

/// Knows nothing, so that every slip is said.
struct Nobody;

impl Judge for Nobody {
    fn agrees(&self, _gold: &str, _planted: &str) -> Option<bool> {
        None
    }

    fn same(&self, _gold: &str, _repaired: &str) -> Option<bool> {
        None
    }
}

/// Whatever two queries are compared: with one slip, it turns the gold into the answer.
#[test]
fn one_slip_between_any_two_queries_is_the_whole_difference() {
    let schema = Schema::from_ddl(SCHEMA).unwrap();
    let explainer = Explainer::of(&schema);
    let search =
        Search::new(schema.clone(), SearchOptions { databases: 60, ..SearchOptions::default() }).unwrap();
    let (mut said, mut untrue) = (0, Vec::new());
    for gold in GOLDS {
        for yours in GOLDS.into_iter().filter(|other| *other != gold) {
            let Ok(found) = explainer.explain(gold, yours, &Nobody) else { continue };
            said += 1;
            if let [slip] = found.slips.as_slice() {
                let planted = print(&slip.planted, &schema, PrintDialect::Sqlite).unwrap();
                if let SearchVerdict::Refuted(_) = search.refute(&planted, yours) {
                    untrue.push(format!("{}\n  {gold}\n  {yours}\n  {planted}", found.sentence()));
                }
            }
        }
    }
    println!("{said} sentences");
    assert!(untrue.is_empty(), "{}", untrue.join("\n"));
}
