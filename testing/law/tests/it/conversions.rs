//! Where SQLite converts differently: what the schema says of references is what SQLite does, and each row of the table of
//! conversions is a planted defect that the generators of databases bring to light.

use std::time::Duration;

use rusqlite::Connection;
use sqlgauge_etm::{Matcher, Profile};
use sqlgauge_law::data::fill;
use sqlgauge_law::dice::Dice;
use sqlgauge_law::plant::{Plant, find, sound_rules};
use sqlgauge_search::conversions::{SEPARATIONS, Separation};
use sqlgauge_search::{Search, SearchOptions, SearchVerdict};
use sqlgauge_sql::schema::Schema;

/// Time for a defect in one rule.
const LIMIT: Duration = Duration::from_mins(1);

/// Databases within which a defect must show.
const DATABASES: u64 = 6_000;

const TYPES: [&str; 5] = ["", "TEXT", "INT", "NUMERIC", "REAL"];
const STRICT_TYPES: [&str; 5] = ["ANY", "TEXT", "INT", "BLOB", "REAL"];
const COLLATIONS: [&str; 3] = ["", "COLLATE NOCASE", "COLLATE RTRIM"];
/// Values with others that some mechanism of SQLite takes for the same.
const VALUES: &str = "('0'), (0), (0.0), ('0.0'), ('00'), ('1'), (1), ('01'), (' 1'), (1.5), ('1.5'), ('1.50'), \
    (9007199254740993), (9007199254740992), ('9007199254740993'), (9007199254740992.0), (0.1 + 0.2), ('0.3'), (0.3), \
    ('a'), ('A'), ('a '), (x'61'), (x'31'), (''), (x'')";

/// Every pair of columns, and every two values that they hold: where the schema says that a reference has a partner, SQLite
/// finds one row by `=` from either side, for each reference that its check takes.
#[test]
fn a_partner_is_one_that_sqlite_finds() {
    let (mut with_partner, mut without) = (0, 0);
    for strict in ["", "STRICT"] {
        let types = if strict.is_empty() { TYPES } else { STRICT_TYPES };
        for (from, to) in types.iter().flat_map(|from| types.iter().map(move |to| (from, to))) {
            for (a, b) in COLLATIONS.iter().flat_map(|a| COLLATIONS.iter().map(move |b| (a, b))) {
                let key = if to.is_empty() { format!("k {b}") } else { format!("k {to} {b}") };
                let ddl = format!(
                    "CREATE TABLE p ({key} UNIQUE) {strict}; CREATE TABLE c (b {from} {a} REFERENCES p (k)) {strict};"
                );
                let schema = Schema::from_ddl(&ddl).unwrap();
                let child = schema.table_named("c").unwrap();
                let is_partner = schema.partner(child, &child.foreign_keys[0]).is_some();
                assert!(!is_partner || unequal(&ddl) == 0, "{ddl}");
                *(if is_partner { &mut with_partner } else { &mut without }) += 1;
            }
        }
    }
    assert!(with_partner > 100 && without > 200, "{with_partner} {without}");
}

/// How many references that SQLite's check takes equal no key, or several.
fn unequal(ddl: &str) -> u32 {
    let connection = Connection::open_in_memory().unwrap();
    connection.execute_batch(ddl).unwrap();
    connection.execute_batch("PRAGMA foreign_keys = ON; CREATE TABLE v (v)").unwrap();
    connection.execute_batch(&format!("INSERT INTO v VALUES {VALUES}")).unwrap();
    for table in ["p", "c"] {
        for row in 1.. {
            let insert = format!("INSERT OR IGNORE INTO {table} SELECT v FROM v WHERE rowid = {row}");
            let is_there = format!("SELECT 1 FROM v WHERE rowid = {row}");
            if !connection.prepare(&is_there).unwrap().exists([]).unwrap() {
                break;
            }
            // What the check or a STRICT table refuses is not there.
            let _ = connection.execute(&insert, []);
        }
    }
    // With and without the index, for SQLite converts what it looks up there.
    let ways =
        ["p", "p NOT INDEXED"].into_iter().flat_map(|from| ["c.b = p.k", "p.k = c.b"].map(|on| (from, on)));
    let count = |(from, on): (&str, &str)| -> u32 {
        let sql = format!("SELECT count(*) FROM c WHERE (SELECT count(*) FROM {from} WHERE {on}) <> 1");
        connection.query_row(&sql, [], |row| row.get(0)).unwrap()
    };
    ways.map(count).sum()
}

/// Whether the queries fail or return the same.
fn rows(connection: &Connection, sql: &str) -> Option<Vec<Vec<rusqlite::types::Value>>> {
    let mut statement = connection.prepare(sql).ok()?;
    let width = statement.column_count();
    let rows = statement.query_map([], |row| (0..width).map(|at| row.get(at)).collect()).ok()?;
    rows.collect::<Result<_, _>>().ok()
}

/// After how many of the law's random databases, all of whose keys hold, the row's mechanisms part.
fn databases_until_found(row: &Separation) -> Option<u64> {
    let schema = Schema::from_ddl(row.ddl).unwrap();
    (1..=DATABASES).find(|&number| {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch(row.ddl).unwrap();
        fill(&connection, &schema, 5, true, &mut Dice::new(7, number)).unwrap();
        let is_kept = rows(&connection, "PRAGMA foreign_key_check").is_some_and(|broken| broken.is_empty());
        let [one, other] = row.queries.map(|sql| rows(&connection, sql));
        is_kept && one.is_some() && other.is_some() && one != other
    })
}

/// Takes two mechanisms for one: the law's databases show each of these defects.
#[test]
fn each_confusion_of_two_mechanisms_is_found_by_the_law() {
    let needs: Vec<_> = SEPARATIONS.iter().map(|row| (row.name, databases_until_found(row))).collect();
    println!("{needs:#?}");
    let missed: Vec<_> = needs.iter().filter(|(_, number)| number.is_none()).collect();
    assert!(missed.is_empty(), "{missed:#?}");
}

/// What the search does not write: its references agree with their keys letter by letter.
const BEYOND_SEARCH: [&str; 1] = ["key check by a collation, = by another"];

/// And so does the search.
#[test]
fn each_confusion_of_two_mechanisms_is_found_by_the_search() {
    let mut missed = Vec::new();
    for Separation { name, ddl, queries: [one, other], .. } in SEPARATIONS {
        let options = SearchOptions { databases: 4_000, ..SearchOptions::default() };
        let search = Search::new(Schema::from_ddl(ddl).unwrap(), options).unwrap();
        match search.refute(one, other) {
            SearchVerdict::Refuted(refutation) => println!("{name}: {}", refutation.database().script()),
            _ if BEYOND_SEARCH.contains(name) => {}
            verdict => missed.push(format!("{name}: {verdict:?}")),
        }
    }
    assert!(missed.is_empty(), "{missed:#?}");
}

/// What SQLite tells apart, `match` does not call equal.
#[test]
fn no_rule_takes_two_mechanisms_for_one() {
    for Separation { name, ddl, queries: [one, other], .. } in SEPARATIONS {
        let schema = Schema::from_ddl(ddl).unwrap();
        for (left, right) in [(one, other), (other, one)] {
            assert!(!Matcher::new(&schema, Profile::Sound).is_equal(left, right), "{name}");
        }
    }
}

/// A rule that takes every reference for a partner is found out.
#[test]
#[ignore = "long: cargo xtask long"]
fn a_rule_that_trusts_every_reference_is_found() {
    let rules = sound_rules().filter(|rule| ["14", "S4", "S28"].contains(&rule.id));
    let hunts: Vec<_> = rules.map(|rule| (rule.id, find(rule, Plant::ReferencesCompare, 1, LIMIT))).collect();
    println!("{hunts:#?}");
    let missed: Vec<&str> =
        hunts.iter().filter(|(_, violation)| violation.is_none()).map(|(id, _)| *id).collect();
    assert!(missed.is_empty() && hunts.len() == 3, "{missed:?}");
}
