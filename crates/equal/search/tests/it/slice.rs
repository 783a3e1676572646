//! A slice of a database holds only rows of it, satisfies the schema, and tells the queries apart.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use sqlgauge_engine::{Engine, Limits, SqliteEngine, Value};
use sqlgauge_search::{
    Constraints, Mined, Observed, Refutation, RowConstraint, Search, SearchOptions, Witness,
};
use sqlgauge_sql::schema::Schema;

/// 400 orders of 20 customers of 4 towns; order 401 refers to no customer.
fn shop(path: &Path) {
    let connection = rusqlite::Connection::open(path).unwrap();
    connection
        .execute_batch(
            "PRAGMA foreign_keys = OFF;
             CREATE TABLE town (id INTEGER PRIMARY KEY, name TEXT);
             CREATE TABLE customer (id INTEGER PRIMARY KEY, name TEXT, town_id INT REFERENCES town(id));
             CREATE TABLE purchase (code TEXT PRIMARY KEY, customer_id INT REFERENCES customer(id), price REAL, note TEXT);
             WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 4)
                 INSERT INTO town SELECT i, 'town ' || i FROM n;
             WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20)
                 INSERT INTO customer SELECT i, 'name ' || (i % 7), 1 + i % 4 FROM n;
             WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 400)
                 INSERT INTO purchase SELECT 'p' || i, 1 + i * i % 20, i * 7 % 400, 'a note' FROM n;
             INSERT INTO purchase VALUES ('lost', 99, 1000, NULL);",
        )
        .unwrap();
}

/// The schema of a database, and what its rows in some tables keep.
fn mined(path: &Path, tables: &[&str]) -> (Arc<Schema>, Constraints) {
    let engine = SqliteEngine::new(Limits::default());
    let database = engine.open(path).unwrap();
    let schema = Arc::clone(database.schema());
    let tables = tables.iter().map(|name| schema.table_id(name).unwrap());
    let constraints = Mined::new(Arc::clone(&schema)).among(tables, &engine, &database);
    (schema, constraints)
}

/// The plain counterexamples of a realistic search look like the database that it was given.
#[test]
fn a_realistic_witness_keeps_what_the_database_keeps() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shop.sqlite");
    shop(&path);
    let (schema, constraints) = mined(&path, &["town", "customer", "purchase"]);
    let plain = Search::new(Arc::clone(&schema), SearchOptions::default()).unwrap();
    let realistic = Search::realistic(&schema, constraints, SearchOptions::default()).unwrap();
    let like = |search: &Search, left: &str, right: &str| {
        let verdict = search.refute_minimised(left, right);
        Some(realistic.resemblance(verdict.refutation()?.database(), left, right).unwrap())
    };
    for (left, right) in [
        ("SELECT code FROM purchase WHERE price > 5", "SELECT code FROM purchase WHERE price >= 5"),
        ("SELECT count(*) FROM customer", "SELECT count(DISTINCT name) FROM customer"),
        ("SELECT id FROM town WHERE name <> 'town 1'", "SELECT id FROM town"),
    ] {
        let resemblance = like(&realistic, left, right).unwrap_or_else(|| panic!("{left}\n{right}"));
        assert!(
            resemblance.is_complete() == Some(true) && !resemblance.kept.is_empty(),
            "{left}\n{right}\n{resemblance:?}"
        );
    }
    // No price there is below zero, no name is NULL, and no two towns have one name.
    for (left, right, broken) in [
        (
            "SELECT code FROM purchase WHERE price < 0",
            "SELECT code FROM purchase WHERE 0",
            "purchase.price is ",
        ),
        ("SELECT count(*) FROM customer", "SELECT count(name) FROM customer", "customer.name is NULL"),
        (
            "SELECT count(*) FROM town WHERE name IS NOT NULL",
            "SELECT count(DISTINCT name) FROM town",
            "town.name has ",
        ),
    ] {
        assert_eq!(like(&realistic, left, right), None, "{left}\n{right}");
        let resemblance = like(&plain, left, right).unwrap();
        assert!(
            resemblance.not_kept.iter().any(|sentence| sentence.starts_with(broken)),
            "{left}\n{right}\n{resemblance:?}"
        );
    }
}

/// A search that keeps what 40 rows of `t` keep: those that a SELECT makes of the numbers `i` from 1 on.
fn keeping(create: &str, row: &str) -> Search {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("made.sqlite");
    let rows = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40)";
    let script = format!("{create}; {rows} INSERT INTO t SELECT {row} FROM n;");
    rusqlite::Connection::open(&path).unwrap().execute_batch(&script).unwrap();
    let (schema, constraints) = mined(&path, &["t"]);
    Search::realistic(&schema, constraints, SearchOptions::default()).unwrap()
}

/// The rows of a counterexample have no values of generated columns, and what is said of the columns after one is about those.
#[test]
fn columns_after_a_generated_one_are_compared_with_themselves() {
    let create = "CREATE TABLE t (id INTEGER PRIMARY KEY, twice INT AS (id * 2), name TEXT, a INT)";
    let search = keeping(create, "i, 'name ' || i, 100 + i % 3");
    for (rows, not_kept) in [
        ("(7, 'x', 101), (8, 'y', 101)", vec![]),
        ("(7, 'x', 101), (8, 'x', 5)", vec!["t.name has 'x' twice", "t.a is 5, the given ones never are"]),
        ("(7, NULL, NULL)", vec!["t.name is NULL", "t.a is NULL"]),
    ] {
        let witness = Witness::of_script(&format!("{create};\nINSERT INTO t VALUES {rows};\n")).unwrap();
        let resemblance =
            search.resemblance(&witness, "SELECT twice, name, a FROM t", "SELECT id FROM t").unwrap();
        assert_eq!(resemblance.not_kept.len(), not_kept.len(), "{rows}: {resemblance:?}");
        for (sentence, expected) in resemblance.not_kept.iter().zip(not_kept) {
            assert!(sentence.starts_with(expected), "{rows}: {sentence}");
        }
    }
}

#[test]
fn a_column_of_nulls_is_not_said_to_lie_in_a_range() {
    let create = "CREATE TABLE t (id INTEGER PRIMARY KEY, a INT)";
    let search = keeping(create, "i, CASE WHEN i % 2 THEN i / 3 * 10 END");
    for (rows, is_said) in [("(7, NULL)", false), ("(7, NULL), (8, 20)", true)] {
        let witness = Witness::of_script(&format!("{create};\nINSERT INTO t VALUES {rows};\n")).unwrap();
        let resemblance = search.resemblance(&witness, "SELECT a FROM t", "SELECT id FROM t").unwrap();
        let lies_between = resemblance.kept.iter().any(|sentence| sentence.starts_with("t.a lies between"));
        assert_eq!(lies_between, is_said, "{rows}: {resemblance:?}");
    }
}

/// An order that would be broken if it were an accident is kept, and not one that is.
#[test]
fn a_realistic_witness_keeps_the_order_of_columns() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("stay.sqlite");
    let create = "CREATE TABLE stay (id INTEGER PRIMARY KEY, arrived TEXT, departed TEXT, low REAL, high INT, rooms INT, guests INT)";
    // There are never more rooms than guests either, but only because the ranges of the two do not overlap.
    let rows = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60)
        INSERT INTO stay SELECT i, date('2020-01-01', (i * 37 % 100) || ' days'), date('2020-01-03', (i * 37 % 100) || ' days'),
            i * 17 % 40, i * 17 % 40 + i % 3, 1 + i % 4, 50 + i * 7 % 30 FROM n;";
    rusqlite::Connection::open(&path).unwrap().execute_batch(&format!("{create}; {rows}")).unwrap();
    let (schema, constraints) = mined(&path, &["stay"]);
    let orders: Vec<RowConstraint> = constraints
        .listed(&schema)
        .into_iter()
        .filter(|constraint| matches!(constraint, RowConstraint::Order { .. }))
        .collect();
    let order = |low: &str, high: &str| RowConstraint::Order { low: low.to_owned(), high: high.to_owned() };
    assert_eq!(orders, [order("stay.arrived", "stay.departed"), order("stay.low", "stay.high")]);
    let search = Search::realistic(&schema, constraints, SearchOptions::default()).unwrap();
    let queries =
        ["SELECT id FROM stay WHERE departed > arrived", "SELECT id FROM stay WHERE departed >= arrived"];
    for (rows, not_kept) in [
        ("(1, '2020-01-05', '2020-01-07', 1.0, 2, 1, 50)", 0),
        ("(1, '2020-01-07', '2020-01-05', 1.0, 2, 1, 50)", 1),
        ("(1, '2020-01-07', NULL, 1.0, 2, 1, 50)", 1),
    ] {
        let witness = Witness::of_script(&format!("{create};\nINSERT INTO stay VALUES {rows};\n")).unwrap();
        let resemblance = search.resemblance(&witness, queries[0], queries[1]).unwrap();
        assert_eq!(resemblance.not_kept.len(), not_kept, "{rows}: {resemblance:?}");
    }
    let like = |left: &str, right: &str| {
        let verdict = search.refute_minimised(left, right);
        let resemblance = search.resemblance(verdict.refutation()?.database(), left, right).unwrap();
        Some(resemblance.is_complete() == Some(true))
    };
    // Nobody departs on the day of arrival, and the search need not know that; before it, nobody does.
    assert_eq!(
        like("SELECT id FROM stay WHERE low < high", "SELECT id FROM stay WHERE low <= high"),
        Some(true)
    );
    assert_eq!(like("SELECT id FROM stay WHERE low > high", "SELECT id FROM stay WHERE 0"), None);
}

/// Of a table that cannot be read it is not known what it holds, so that any value may stand there; an empty one is what it
/// declares.
#[test]
fn a_table_that_cannot_be_read_need_not_hold_what_it_declares() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("long.sqlite");
    let ddl = "CREATE TABLE long (id INTEGER PRIMARY KEY, a TEXT); CREATE TABLE none (id INTEGER PRIMARY KEY, a INT NOT NULL);
        CREATE TABLE wrong (id INTEGER PRIMARY KEY, a INT); INSERT INTO wrong VALUES (1, 'x');
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9000)
            INSERT INTO long SELECT i, hex(randomblob(200)) FROM n;";
    rusqlite::Connection::open(&path).unwrap().execute_batch(ddl).unwrap();
    let columns = ["long.id", "long.a"];
    for (timeout, is_readable) in [(Limits::default().timeout, true), (Duration::from_nanos(1), false)] {
        let engine = SqliteEngine::new(Limits { timeout, ..Limits::default() });
        let database = engine.open(&path).unwrap();
        let schema = Arc::clone(database.schema());
        let observed = Observed::new(Arc::clone(&schema), &engine, &database);
        let free = observed.declared().free(&schema);
        assert_eq!(
            columns.map(|column| free.iter().any(|name| name == column)),
            [!is_readable; 2],
            "{free:?}"
        );
        if is_readable {
            assert_eq!(free, ["wrong.a"]);
            // Nothing is learnt of a table without rows.
            assert_eq!(observed.without_repeats().tables()[1], schema.tables()[1]);
        }
    }
}

/// What the rows keep is not known of a table with more than ten million values, and nobody says that it is kept.
#[test]
fn a_table_too_large_to_look_at_makes_no_counterexample_realistic() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("wide.sqlite");
    let columns: Vec<String> = (1..1_999).map(|at| format!("c{at}")).collect();
    let numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5003)";
    let ddl = format!(
        "CREATE TABLE wide (id INTEGER PRIMARY KEY, a INTEGER, {}); CREATE TABLE plain (id INTEGER PRIMARY KEY, a INTEGER);
         {numbers} INSERT INTO wide (id, a) SELECT i, i FROM n; INSERT INTO plain VALUES (1, 1), (2, 2), (3, 2);",
        columns.join(", ")
    );
    rusqlite::Connection::open(&path).unwrap().execute_batch(&ddl).unwrap();
    let engine = SqliteEngine::new(Limits::default());
    let database = engine.open(&path).unwrap();
    let schema = Arc::clone(database.schema());
    let mined = Mined::new(Arc::clone(&schema));
    for (table, expected) in [("plain", Some(true)), ("wide", None)] {
        let constraints = mined.among([schema.table_id(table).unwrap()], &engine, &database);
        assert_eq!(constraints.are_known(), expected.is_some());
        let search = Search::realistic(&schema, constraints, SearchOptions::default()).unwrap();
        let pair = [">", ">="].map(|sign| format!("SELECT id FROM {table} WHERE a {sign} 1"));
        let verdict = search.refute_minimised(&pair[0], &pair[1]);
        let witness = verdict.refutation().unwrap().database();
        let resemblance = search.resemblance(witness, &pair[0], &pair[1]).unwrap();
        assert_eq!(resemblance.is_complete(), expected, "{resemblance:?}");
        assert_eq!(resemblance.unknown.is_empty(), expected.is_some(), "{resemblance:?}");
    }
}

fn slice(left: &str, right: &str) -> Option<Refutation> {
    slice_of(shop, left, right)
}

fn slice_of(database: fn(&Path), left: &str, right: &str) -> Option<Refutation> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data.sqlite");
    database(&path);
    let engine = SqliteEngine::new(Limits::default());
    let database = engine.open(&path).unwrap();
    let search = Search::new(Arc::clone(database.schema()), SearchOptions::default()).unwrap();
    let refutation = search.slice(&engine, &database, left, right);
    for table in refutation.iter().flat_map(|refutation| &refutation.database().tables) {
        for row in &table.rows {
            let filled = table.columns.iter().zip(row).filter(|(_, value)| **value != Value::Null);
            let equal: Vec<String> = filled
                .map(|(column, value)| format!("\"{column}\" = {}", sqlgauge_search::literal(value)))
                .collect();
            let sql = format!("SELECT 1 FROM \"{}\" WHERE {}", table.name, equal.join(" AND "));
            assert!(!engine.run(&database, &sql).rows().unwrap().is_empty(), "{sql}");
        }
    }
    refutation
}

#[test]
fn a_slice_is_made_of_real_rows_and_small() {
    for (left, right, most) in [
        ("SELECT name FROM customer WHERE id > 3", "SELECT name FROM customer WHERE id >= 3", 1),
        ("SELECT name FROM customer WHERE id > 18", "SELECT name FROM customer WHERE id >= 18", 1),
        ("SELECT count(*) FROM customer", "SELECT count(DISTINCT name) FROM customer", 2),
        (
            "SELECT c.name FROM customer c JOIN purchase p ON p.customer_id = c.id ORDER BY p.price DESC LIMIT 1",
            "SELECT c.name FROM customer c JOIN purchase p ON p.customer_id = c.id ORDER BY p.price LIMIT 1",
            6,
        ),
        (
            "SELECT t.name, sum(price) FROM town t JOIN customer c ON t.id = c.town_id JOIN purchase p ON c.id = p.customer_id \
             GROUP BY t.id",
            "SELECT t.name, avg(price) FROM town t JOIN customer c ON t.id = c.town_id JOIN purchase p ON c.id = p.customer_id \
             GROUP BY t.id",
            5,
        ),
    ] {
        let refutation = slice(left, right).unwrap_or_else(|| panic!("{left}\n{right}"));
        assert!(refutation.database().rows() <= most, "{left}\n{}", refutation.database());
    }
}

#[test]
fn what_the_database_does_not_tell_apart_has_no_slice() {
    assert_eq!(slice("SELECT name FROM town WHERE id > 9", "SELECT name FROM town WHERE id > 10"), None);
    // The only row that tells them apart refers to no customer.
    assert_eq!(
        slice(
            "SELECT customer_id FROM purchase WHERE price > 900",
            "SELECT customer_id FROM purchase WHERE price > 2000"
        ),
        None
    );
}

/// Visits refer to registrations, which refer to courses: by a number that the course's key stores as text, and one of them
/// to no course.
fn school(path: &Path) {
    let connection = rusqlite::Connection::open(path).unwrap();
    connection
        .execute_batch(
            "PRAGMA foreign_keys = OFF;
             CREATE TABLE course (id VARCHAR(9) PRIMARY KEY, name TEXT);
             CREATE TABLE registration (id INTEGER PRIMARY KEY, course_id INT NOT NULL REFERENCES course(id));
             CREATE TABLE visit (registration_id INT NOT NULL REFERENCES registration(id), course_id INT REFERENCES course(id), day TEXT);
             INSERT INTO course VALUES ('301', 'statistics'), ('302', 'law');
             INSERT INTO registration VALUES (1, 301), (2, 302), (3, 999);
             INSERT INTO visit VALUES (1, 301, 'Monday'), (2, 302, 'Friday'), (3, 301, 'Sunday');",
        )
        .unwrap();
}

#[test]
fn a_key_refers_as_its_target_stores_it() {
    let (left, right) = (
        "SELECT day FROM visit v JOIN course c ON v.course_id = c.id WHERE c.name = 'law'",
        "SELECT v.course_id FROM visit v JOIN course c ON v.course_id = c.id WHERE c.name = 'law'",
    );
    let refutation = slice_of(school, left, right).unwrap();
    assert_eq!(refutation.database().rows(), 3, "{}", refutation.database());
}

#[test]
fn what_refers_to_a_row_that_refers_to_none_is_left_out() {
    // The visit on Sunday is of a registration for no course.
    let differing = "SELECT day FROM visit WHERE day = 'Sunday'";
    assert_eq!(slice_of(school, differing, "SELECT day FROM visit WHERE 0"), None);
}

fn pets(path: &Path) {
    let connection = rusqlite::Connection::open(path).unwrap();
    connection
        .execute_batch(
            "CREATE TABLE pet (id INTEGER PRIMARY KEY, kind TEXT, weight REAL);
             INSERT INTO pet VALUES (1, 'cat', 12.0), (2, 'dog', 13.4), (3, 'dog', 9.3);",
        )
        .unwrap();
}

/// On all rows the queries return the same, on the cat alone they do not.
#[test]
fn a_part_of_the_rows_tells_apart_what_all_of_them_do_not() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data.sqlite");
    pets(&path);
    let engine = SqliteEngine::new(Limits::default());
    let database = engine.open(&path).unwrap();
    let (_, constraints) = mined(&path, &["pet"]);
    let search =
        Search::realistic(&Arc::clone(database.schema()), constraints, SearchOptions::default()).unwrap();
    let (left, right) = ("SELECT max(weight) FROM pet WHERE kind = 'dog'", "SELECT max(weight) FROM pet");
    assert!(search.slice(&engine, &database, left, right).is_none());
    let part = search.part(&engine, &database, left, right).unwrap();
    assert_eq!(part.database().tables[0].rows.len(), 1);
    let resemblance = search.resemblance(part.database(), left, right).unwrap();
    assert_eq!(resemblance.is_complete(), Some(true), "{resemblance:?}");
    assert!(
        search.part(&engine, &database, left, "SELECT max(weight) FROM pet WHERE kind == 'dog'").is_none()
    );
}
