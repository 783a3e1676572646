//! What a schema has besides tables and constraints: views, generated columns, further UNIQUE indexes, keys of other types.

use sqlgauge_engine::Value;
use sqlgauge_search::{Choice, DeclaredColumns, Search, SearchOptions, SearchVerdict};

use super::{options, satisfies, schema, show};

const DDL: &str = "
    CREATE TABLE t (id INTEGER PRIMARY KEY, a INT, b TEXT, twice INT AS (a * 2), low TEXT AS (lower(b)) STORED NOT NULL);
    CREATE TABLE u (a INT, b TEXT, c TEXT);
    CREATE UNIQUE INDEX u_part ON u (a) WHERE b IS NOT NULL;
    CREATE UNIQUE INDEX u_lower ON u (lower(c));
    CREATE UNIQUE INDEX u_fold ON u (b COLLATE NOCASE);
    CREATE TABLE k (id INTEGER PRIMARY KEY, n TEXT);
    CREATE TABLE r (x TEXT REFERENCES k(id), y INT);
    CREATE TABLE loose (id INT, n TEXT);
    CREATE TABLE child (x INT REFERENCES loose(id));
    CREATE VIEW v (x, y) AS SELECT a, b FROM t WHERE a > 1;
    CREATE VIEW w AS SELECT x, count(*) AS n FROM v GROUP BY x;";

fn verdict(left: &str, right: &str) -> SearchVerdict {
    Search::new(schema(DDL), options(800)).unwrap().refute_minimised(left, right)
}

#[test]
fn pairs_over_views_and_generated_columns_are_told_apart() {
    for (left, right) in [
        ("SELECT x FROM v WHERE y = 'k'", "SELECT x FROM v WHERE y = 'l'"),
        ("SELECT x FROM v", "SELECT a FROM t"),
        ("SELECT x FROM w WHERE n > 1", "SELECT x FROM w WHERE n > 2"),
        ("SELECT x FROM w", "SELECT x FROM v"),
        ("SELECT id FROM t WHERE twice > 3", "SELECT id FROM t WHERE twice > 5"),
        ("SELECT id FROM t WHERE low = 'k'", "SELECT id FROM t WHERE b = 'k'"),
        ("SELECT sum(twice) FROM t", "SELECT sum(a) FROM t"),
    ] {
        let outcome = verdict(left, right);
        let refutation =
            outcome.refutation().unwrap_or_else(|| panic!("{left} | {right}: {}", show(&outcome)));
        satisfies(refutation.database());
    }
    for (left, right) in [
        ("SELECT x FROM v", "SELECT x FROM v WHERE x > 0"),
        ("SELECT x, n FROM w", "SELECT a, count(*) FROM t WHERE a > 1 GROUP BY a"),
        ("SELECT id FROM t WHERE twice > 4", "SELECT id FROM t WHERE a * 2 > 4"),
    ] {
        let outcome = verdict(left, right);
        assert!(matches!(outcome, SearchVerdict::Survived(_)), "{left} | {right}: {}", show(&outcome));
    }
}

/// The merged column of FULL JOIN … USING has no other name than the one beside the join.
#[test]
fn what_only_the_text_can_say_is_told_apart() {
    let schema =
        "CREATE TABLE t (id INTEGER PRIMARY KEY, a INT); CREATE TABLE u (id INTEGER PRIMARY KEY, a INT);";
    let search = Search::new(super::schema(schema), options(800)).unwrap();
    let full = "t FULL JOIN u USING (a)";
    for (left, right) in [
        (format!("SELECT DISTINCT a FROM {full}"), "SELECT DISTINCT a FROM t".to_owned()),
        (format!("SELECT x FROM (SELECT a AS x FROM {full})"), "SELECT a FROM t".to_owned()),
        (
            format!("SELECT id FROM u WHERE a IN (SELECT a FROM {full} WHERE a > 1)"),
            "SELECT id FROM u WHERE a IN (SELECT a FROM t WHERE a > 1)".to_owned(),
        ),
        (
            format!("SELECT a, count(*) FROM {full} GROUP BY a"),
            "SELECT a, count(*) FROM t GROUP BY a".to_owned(),
        ),
    ] {
        let outcome = search.refute_minimised(&left, &right);
        let refutation =
            outcome.refutation().unwrap_or_else(|| panic!("{left} | {right}: {}", show(&outcome)));
        satisfies(refutation.database());
    }
    for (left, right) in [
        (format!("SELECT DISTINCT a FROM {full}"), "SELECT a FROM t UNION SELECT a FROM u".to_owned()),
        (
            format!("SELECT a, count(*) FROM {full} GROUP BY a"),
            format!("SELECT a, count(*) FROM {full} GROUP BY 1"),
        ),
    ] {
        let outcome = search.refute_minimised(&left, &right);
        assert!(matches!(outcome, SearchVerdict::Survived(_)), "{left} | {right}: {}", show(&outcome));
    }
}

/// Databases that are made for many queries satisfy the schema, hold what columns declare, and have what the queries ask for.
#[test]
fn samples_satisfy_the_schema_and_serve_all_queries() {
    let search = Search::new(schema(DDL), options(800)).unwrap();
    search.hold(DeclaredColumns::all());
    let gold = "SELECT id FROM t WHERE b = 'needle'";
    let others =
        ["SELECT c FROM u WHERE a = 77", "SELECT x FROM v", "SELEC", "SELECT n FROM k JOIN r ON x = k.id"];
    let samples = search.samples(gold, &others, 24);
    assert!(samples.len() > 12, "{}", samples.len());
    for sample in &samples {
        satisfies(sample);
        assert!(DeclaredColumns::all().broken_by(&schema(DDL), sample).is_empty());
    }
    let has = |name: &str, value: Value| {
        let tables = samples.iter().filter_map(|sample| sample.table(name));
        tables.flat_map(|table| &table.rows).any(|row| row.contains(&value))
    };
    assert!(has("t", Value::text("needle")) && has("u", Value::Integer(77)));
    assert!(samples.iter().any(|sample| sample.table("r").is_some_and(|table| !table.rows.is_empty())));
    // A second call gives the same samples, and a gold that does not parse gives none.
    assert_eq!(search.samples(gold, &others, 24), samples);
    assert!(search.samples("SELEC", &others, 24).is_empty());
}

#[test]
fn unique_indexes_limit_the_rows() {
    for (left, right) in [
        ("SELECT count(DISTINCT a) FROM u WHERE b IS NOT NULL", "SELECT count(a) FROM u WHERE b IS NOT NULL"),
        ("SELECT count(DISTINCT lower(c)) FROM u", "SELECT count(c) FROM u"),
        ("SELECT count(DISTINCT b COLLATE NOCASE) FROM u", "SELECT count(b) FROM u"),
    ] {
        let outcome = verdict(left, right);
        assert!(matches!(outcome, SearchVerdict::Survived(_)), "{left} | {right}: {}", show(&outcome));
    }
    let outcome = verdict("SELECT count(DISTINCT a) FROM u", "SELECT count(a) FROM u");
    let refutation = outcome.refutation().unwrap();
    satisfies(refutation.database());
    assert_eq!(refutation.database().definitions.len(), 3, "{}", refutation.database());
}

#[test]
fn a_reference_of_another_type_is_spelled_in_several_ways() {
    let outcome =
        verdict("SELECT count(DISTINCT x) FROM r", "SELECT count(DISTINCT k.id) FROM r JOIN k ON k.id = r.x");
    let refutation = outcome.refutation().unwrap_or_else(|| panic!("{}", show(&outcome)));
    assert!(refutation.needs().is_empty(), "{}", refutation.database());
    let spelled: Vec<&Value> =
        refutation.database().table("r").unwrap().rows.iter().map(|row| &row[0]).collect();
    assert!(spelled.len() == 2 && spelled[0] != spelled[1], "{spelled:?}");
}

/// By which of its SELECTs' affinities a compound's column is compared, SQLite chooses.
#[test]
fn the_affinity_of_a_compound_is_no_difference() {
    let inside = "SELECT a FROM t WHERE a = '1' UNION ALL SELECT b FROM t WHERE b = '1'";
    let outside = "SELECT x FROM (SELECT a AS x FROM t UNION ALL SELECT b FROM t) WHERE x = '1'";
    match verdict(outside, inside) {
        SearchVerdict::Survived(survived) => {
            assert!(survived.undecided > 0);
            assert!(
                survived.open.iter().any(|place| place.choice == Choice::Affinity),
                "{:?}",
                survived.open
            );
        }
        other => panic!("{}", show(&other)),
    }
    // Of one affinity there is nothing to choose.
    let same = "SELECT x FROM (SELECT a AS x FROM t UNION ALL SELECT id FROM t) WHERE x = '1'";
    assert!(verdict(same, inside).refutation().is_some());
}

#[test]
fn a_key_to_columns_that_are_no_key_limits_nothing() {
    let search = Search::new(schema(DDL), SearchOptions::default()).unwrap();
    let script =
        "CREATE TABLE loose (id INT, n TEXT); CREATE TABLE child (x INT); INSERT INTO child VALUES (1);";
    let database = sqlgauge_search::Witness::of_script(script).unwrap();
    let (left, right) = ("SELECT x FROM child", "SELECT x FROM child WHERE x IN (SELECT id FROM loose)");
    assert!(search.replay(&database, left, right).is_some());
    // Rows with one name still get keys that differ.
    let by = |key: &str| {
        format!("SELECT n FROM child JOIN loose ON x = id GROUP BY {key} ORDER BY count(*) DESC LIMIT 1")
    };
    assert!(verdict(&by("x"), &by("n")).is_refuted());
}
