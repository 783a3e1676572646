//! Pairs that differ only because of an affinity, a collation, values that are equal and not the same, or a key that
//! is none; SQLite itself tells them apart. Beside each its near relatives that must still match.

use rusqlite::Connection;
use sqlgauge_etm::{AssumptionKind, Matcher, Profile};
use sqlgauge_sql::schema::Schema;

use crate::common;

const DDL: &str = "
    CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT, age INT, city TEXT COLLATE NOCASE, born TEXT NOT NULL);
    CREATE TABLE r (k, w TEXT);
    CREATE TABLE d (id INTEGER PRIMARY KEY DESC, x INT);
    CREATE TABLE p (code TEXT PRIMARY KEY, x INT);
    CREATE TABLE f (a TEXT COLLATE NOCASE, x INT, UNIQUE (a COLLATE BINARY));
    CREATE TABLE g (k INT UNIQUE, c TEXT COLLATE NOCASE);
    CREATE TABLE h (d TEXT UNIQUE, c TEXT COLLATE NOCASE UNIQUE);
    CREATE TABLE l (lid INTEGER PRIMARY KEY, cn TEXT COLLATE NOCASE REFERENCES h(d), pc TEXT NOT NULL REFERENCES h(c));
    CREATE VIEW vn AS SELECT city AS name, age FROM t;
    CREATE VIEW vb AS SELECT name, age FROM t;
    CREATE VIEW ve AS SELECT upper(city) AS name, age + 0 AS age FROM t;
";

/// Pairs with rows that tell them apart.
const DIFFERENT: &[(&str, &str, &str)] = &[
    (
        "SELECT name, COUNT(*) FROM vn GROUP BY name HAVING hex(name) = '41'",
        "SELECT name, COUNT(*) FROM vn WHERE hex(name) = '41' GROUP BY name",
        "INSERT INTO t (city, born) VALUES ('A', ''), ('a', '')",
    ),
    (
        "SELECT k, typeof(k) FROM r GROUP BY k",
        "SELECT DISTINCT k, typeof(k) FROM r",
        "INSERT INTO r VALUES (1, ''), (1.0, '')",
    ),
    (
        "SELECT city FROM t WHERE age = 1 UNION SELECT city FROM t WHERE age = 2",
        "SELECT DISTINCT city FROM t WHERE age IN (1, 2)",
        "INSERT INTO t (city, age, born) VALUES ('A', 1, ''), ('a', 2, '')",
    ),
    ("SELECT COUNT(id) FROM d", "SELECT COUNT(*) FROM d", "INSERT INTO d VALUES (NULL, 1)"),
    ("SELECT x FROM d WHERE id IS NOT NULL", "SELECT x FROM d", "INSERT INTO d VALUES (NULL, 1)"),
    ("SELECT COUNT(code) FROM p", "SELECT COUNT(*) FROM p", "INSERT INTO p VALUES (NULL, 1)"),
    (
        "SELECT age FROM t WHERE 1.0 * age = '5'",
        "SELECT age FROM t WHERE CAST(age AS REAL) = '5'",
        "INSERT INTO t (age, born) VALUES (5, '')",
    ),
    (
        "SELECT id FROM t WHERE name = (SELECT age FROM t ORDER BY age DESC LIMIT 1)",
        "SELECT id FROM t WHERE name = (SELECT MAX(age) FROM t)",
        "INSERT INTO t (name, age, born) VALUES ('07', 7, '')",
    ),
    (
        "SELECT a.id FROM t a JOIN vn ON a.name = vn.name",
        "SELECT a.id FROM t a JOIN vn ON vn.name = a.name",
        "INSERT INTO t (name, city, born) VALUES ('x', 'X', '')",
    ),
    (
        "SELECT a.id FROM t a, (SELECT city AS n FROM t) q WHERE a.name = q.n",
        "SELECT a.id FROM t a, t b WHERE b.city = a.name",
        "INSERT INTO t (name, city, born) VALUES ('x', 'X', '')",
    ),
    (
        "SELECT id FROM t WHERE name IN (SELECT city FROM t)",
        "SELECT id FROM t a WHERE EXISTS (SELECT 1 FROM t b WHERE b.city = a.name)",
        "INSERT INTO t (name, city, born) VALUES ('x', 'X', '')",
    ),
    (
        "SELECT city FROM t UNION SELECT name FROM t",
        "SELECT name FROM t UNION SELECT city FROM t",
        "INSERT INTO t (name, city, born) VALUES ('x', 'X', '')",
    ),
    ("SELECT DISTINCT a FROM f", "SELECT a FROM f", "INSERT INTO f VALUES ('x', 1), ('X', 2)"),
    (
        "SELECT a.x FROM f a JOIN f b ON a.a = b.a",
        "SELECT x FROM f WHERE a IS NOT NULL",
        "INSERT INTO f VALUES ('x', 1), ('X', 2)",
    ),
    ("SELECT k FROM r WHERE k = 5", "SELECT k FROM r WHERE k = '5'", "INSERT INTO r VALUES (5, '')"),
    (
        "SELECT r.k FROM r JOIN t ON r.k = t.age",
        "SELECT t.age FROM r JOIN t ON r.k = t.age",
        "INSERT INTO r VALUES (1.0, ''); INSERT INTO t (age, born) VALUES (1, '')",
    ),
    (
        "SELECT c FROM g WHERE NOT k < 2 ORDER BY c LIMIT 1",
        "SELECT c FROM g WHERE k >= 2 ORDER BY c LIMIT 1",
        "INSERT INTO g VALUES (3, 'a'), (2, 'A')",
    ),
    (
        "SELECT id, (SELECT c FROM g WHERE NOT k < id ORDER BY c) FROM t",
        "SELECT id, (SELECT c FROM g WHERE k >= id ORDER BY c) FROM t",
        "INSERT INTO g VALUES (3, 'a'), (2, 'A'); INSERT INTO t (id, born) VALUES (2, '')",
    ),
    (
        "SELECT c FROM g UNION ALL SELECT city FROM t ORDER BY 1 LIMIT 1",
        "SELECT city FROM t UNION ALL SELECT c FROM g ORDER BY 1 LIMIT 1",
        "INSERT INTO g VALUES (3, 'a'); INSERT INTO t (city, born) VALUES ('A', '')",
    ),
    (
        "SELECT c FROM (SELECT c FROM g UNION ALL SELECT city FROM t) ORDER BY c LIMIT 1",
        "SELECT c FROM (SELECT city AS c FROM t UNION ALL SELECT c FROM g) ORDER BY c LIMIT 1",
        "INSERT INTO g VALUES (3, 'a'); INSERT INTO t (city, born) VALUES ('A', '')",
    ),
    (
        "SELECT lid FROM l JOIN h ON l.cn = h.d",
        "SELECT lid FROM l WHERE cn IS NOT NULL",
        "INSERT INTO h VALUES ('a', 'x'), ('A', 'y'); INSERT INTO l VALUES (1, 'a', 'x')",
    ),
    (
        "SELECT lid, h.d FROM l LEFT JOIN h ON l.pc = h.c",
        "SELECT lid, h.d FROM l JOIN h ON l.pc = h.c",
        "INSERT INTO h VALUES ('a', 'x'); INSERT INTO l VALUES (1, 'a', 'X')",
    ),
    (
        "SELECT pc FROM l INTERSECT SELECT c FROM h",
        "SELECT DISTINCT pc FROM l WHERE EXISTS (SELECT 1 FROM h WHERE h.c = l.pc)",
        "INSERT INTO h VALUES ('a', 'x'); INSERT INTO l VALUES (1, 'a', 'X')",
    ),
    (
        "SELECT h.d FROM h JOIN l ON l.pc = h.c GROUP BY h.rowid",
        "SELECT d FROM h WHERE c IN (SELECT pc FROM l)",
        "INSERT INTO h VALUES ('a', 'x'); INSERT INTO l VALUES (1, 'a', 'X')",
    ),
];

/// Pairs that must match.
const EQUAL: &[(&str, &str)] = &[
    (
        "SELECT name, COUNT(*) FROM vb GROUP BY name HAVING hex(name) = '41'",
        "SELECT name, COUNT(*) FROM vb WHERE hex(name) = '41' GROUP BY name",
    ),
    ("SELECT age FROM t GROUP BY age", "SELECT DISTINCT age FROM t"),
    (
        "SELECT name FROM t WHERE age = 1 UNION SELECT name FROM t WHERE age = 2",
        "SELECT DISTINCT name FROM t WHERE age IN (1, 2)",
    ),
    ("SELECT COUNT(id) FROM t", "SELECT COUNT(*) FROM t"),
    ("SELECT 1.0 * age FROM t", "SELECT CAST(age AS REAL) FROM t"),
    ("SELECT id FROM t WHERE 1.0 * age / 2 > 5", "SELECT id FROM t WHERE CAST(age AS REAL) / 2 > 5"),
    ("SELECT id FROM t WHERE 1.0 * age > 5", "SELECT id FROM t WHERE CAST(age AS REAL) > 5"),
    (
        "SELECT id FROM t WHERE age = (SELECT age FROM t ORDER BY age DESC LIMIT 1)",
        "SELECT id FROM t WHERE age = (SELECT MAX(age) FROM t)",
    ),
    ("SELECT a.id FROM t a JOIN vb ON a.name = vb.name", "SELECT a.id FROM t a JOIN vb ON vb.name = a.name"),
    (
        "SELECT a.id FROM t a, (SELECT name AS n FROM t) q WHERE a.born = q.n",
        "SELECT a.id FROM t a, t b WHERE b.name = a.born",
    ),
    ("SELECT name FROM t UNION SELECT born FROM t", "SELECT born FROM t UNION SELECT name FROM t"),
    ("SELECT city FROM t UNION ALL SELECT name FROM t", "SELECT name FROM t UNION ALL SELECT city FROM t"),
    ("SELECT age FROM t WHERE age = '5'", "SELECT age FROM t WHERE age = 5"),
    ("SELECT lid FROM l JOIN h ON h.d = l.pc", "SELECT lid FROM l JOIN h ON l.pc = h.d"),
    (
        "SELECT pc FROM l INTERSECT SELECT d FROM h",
        "SELECT DISTINCT pc FROM l WHERE EXISTS (SELECT 1 FROM h WHERE h.d = l.pc)",
    ),
    (
        "SELECT name FROM t WHERE NOT age < 2 ORDER BY name LIMIT 1",
        "SELECT name FROM t WHERE age >= 2 ORDER BY name LIMIT 1",
    ),
    (
        "SELECT name FROM t UNION ALL SELECT born FROM t ORDER BY 1 LIMIT 1",
        "SELECT born FROM t UNION ALL SELECT name FROM t ORDER BY 1 LIMIT 1",
    ),
];

fn rows(connection: &Connection, sql: &str) -> Vec<String> {
    let mut all: Vec<String> = common::rows(connection, sql).iter().map(|row| format!("{row:?}")).collect();
    all.sort();
    all
}

#[test]
fn what_sqlite_tells_apart_does_not_match() {
    let schema = Schema::from_ddl(DDL).unwrap();
    let matcher = Matcher::new(&schema, Profile::Sound);
    let mut failures = Vec::new();
    for (left, right, inserts) in DIFFERENT {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch(DDL).unwrap();
        connection.execute_batch(inserts).unwrap();
        if rows(&connection, left) == rows(&connection, right) {
            failures.push(format!("no witness: {left} | {right}"));
        }
        if matcher.is_equal(left, right) || matcher.is_equal(right, left) {
            failures.push(format!("matches: {left} | {right}"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn near_relatives_still_match() {
    let schema = Schema::from_ddl(DDL).unwrap();
    let matcher = Matcher::new(&schema, Profile::Sound);
    let mut failures = Vec::new();
    for (left, right) in EQUAL {
        let comparison = matcher.compare(left, right);
        if !comparison.verdict.is_equal() {
            failures.push(format!("{}: {left} | {right}: {:?}", comparison.verdict, comparison.difference));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn a_match_names_the_constraints_without_which_it_would_be_none() {
    let schema = Schema::from_ddl(
        "CREATE TABLE t (id INTEGER PRIMARY KEY, code TEXT NOT NULL UNIQUE, name TEXT);
         CREATE TABLE u (t_id INT NOT NULL REFERENCES t(id), v INT);",
    )
    .unwrap();
    let matcher = Matcher::new(&schema, Profile::Sound);
    for (left, right, expected) in [
        ("SELECT name FROM t", "SELECT t.name FROM t", &[][..]),
        ("SELECT COUNT(id) FROM t", "SELECT COUNT(*) FROM t", &[]),
        ("SELECT COUNT(code) FROM t", "SELECT COUNT(*) FROM t", &["NOT NULL t.code"]),
        (
            "SELECT v FROM u JOIN t ON u.t_id = t.id",
            "SELECT v FROM u",
            &["NOT NULL u.t_id", "FOREIGN KEY u(t_id) REFERENCES t(id)"],
        ),
    ] {
        let comparison = matcher.compare(left, right);
        assert!(comparison.verdict.is_equal(), "{left}: {:?}", comparison.difference);
        let mut assumptions: Vec<String> = comparison.assumes.iter().map(ToString::to_string).collect();
        let mut expected: Vec<String> = expected.iter().map(|text| (*text).to_owned()).collect();
        assumptions.sort();
        expected.sort();
        assert_eq!(assumptions, expected, "{left}");
    }
    let keys = matcher.compare("SELECT v FROM u JOIN t ON u.t_id = t.id", "SELECT v FROM u").assumes;
    assert!(keys.iter().any(|assumption| assumption.kind == AssumptionKind::ForeignKey));
}
