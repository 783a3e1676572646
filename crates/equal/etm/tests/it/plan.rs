//! Where the rows of a query depend on SQLite's plan, no rule is applied, and its normal form has the same plan.
//!
//! Every column of the schemas stands in an index, or its table has one that is partial or sorts by an expression, so
//! that no order is settled, and every query leaves SQLite a choice that shows: LIMIT without a total order, bare
//! columns, ties. Only the sides of a comparison may then change places, and SQLite must plan the query before and after
//! alike.

use rusqlite::Connection;
use rusqlite::types::Value;
use sqlgauge_etm::{Matcher, Profile};
use sqlgauge_sql::schema::Schema;

use crate::common::rows;

const SCHEMAS: [&str; 5] = [
    "CREATE TABLE t (id INTEGER PRIMARY KEY, k INT UNIQUE, c TEXT NOT NULL UNIQUE, a INT NOT NULL, b INT, UNIQUE (a, k), UNIQUE (b, c, k));
     CREATE TABLE u (uid INTEGER PRIMARY KEY, tid INT REFERENCES t(id), v INT, w INT, UNIQUE (v, tid), UNIQUE (w, uid), UNIQUE (tid, w, uid));",
    "CREATE TABLE t (id INT PRIMARY KEY, k INT, c TEXT NOT NULL, a INT, b INT, UNIQUE (k, a, id), UNIQUE (a, k, id), UNIQUE (b, c, id));
     CREATE TABLE u (uid INT, tid INT, v INT NOT NULL, w INT, PRIMARY KEY (v, uid), UNIQUE (w, tid, uid), UNIQUE (tid, w, v, uid));",
    "CREATE TABLE t (id INT UNIQUE, k INT UNIQUE, c TEXT, a INT, b INT, UNIQUE (c, a, k), UNIQUE (a, b, k), UNIQUE (k, b, a));
     CREATE TABLE u (uid INT UNIQUE, tid INT, v INT, w INT, UNIQUE (tid, uid), UNIQUE (w, v, uid));",
    "CREATE TABLE t (id INTEGER PRIMARY KEY, k INT, c TEXT NOT NULL, a INT, b INT);
     CREATE INDEX t_k ON t (k DESC, a); CREATE INDEX t_c ON t (c COLLATE NOCASE, b DESC); CREATE INDEX t_a ON t (a, b, id);
     CREATE TABLE u (uid INTEGER PRIMARY KEY, tid INT REFERENCES t(id), v INT, w INT);
     CREATE INDEX u_tid ON u (tid, w DESC); CREATE INDEX u_v ON u (v); CREATE INDEX u_w ON u (w, uid);",
    "CREATE TABLE t (id INTEGER PRIMARY KEY, k INT, c TEXT NOT NULL, a INT, b INT);
     CREATE INDEX t_k ON t (k) WHERE k >= 2; CREATE INDEX t_b ON t (b, c) WHERE a = 1;
     CREATE INDEX t_c ON t (substr(c, 1, 1), k); CREATE INDEX t_a ON t (abs(a), b);
     CREATE INDEX t_sum ON t (b + k); CREATE INDEX t_mus ON t (k + b);
     CREATE TABLE u (uid INTEGER PRIMARY KEY, tid INT REFERENCES t(id), v INT, w INT);
     CREATE INDEX u_tid ON u (tid) WHERE tid IS NOT NULL; CREATE INDEX u_v ON u (v + w, uid);",
];

/// Each with a place for further conditions.
const FROMS: [&str; 8] = [
    "FROM t WHERE {}",
    "FROM t JOIN u ON t.id = u.tid WHERE {}",
    "FROM u JOIN t ON u.tid = t.id WHERE {}",
    "FROM t, u WHERE t.id = u.tid AND {}",
    "FROM t JOIN u ON t.k = u.v AND t.a = u.w WHERE {}",
    "FROM t LEFT JOIN u ON t.id = u.tid WHERE {}",
    "FROM u RIGHT JOIN t ON t.id = u.tid JOIN u AS x ON x.v = t.k WHERE {}",
    "FROM (SELECT id, k, c, a, b FROM t WHERE a < 3) AS t WHERE {}",
];

const FILTERS: [&str; 18] = [
    "t.k > 1",
    "1 < t.k",
    "t.a = 1 AND t.b = 2",
    "t.b = 2 AND t.a = 1 AND t.k IS NOT NULL",
    "t.c LIKE 'B%'",
    "NOT t.k IN (1, 2)",
    "NOT t.k BETWEEN 2 AND 4",
    "NOT t.c LIKE 'b%'",
    "(t.k < 2 OR t.a = 3) AND (t.b = 1 OR t.k > 4)",
    "t.k >= 3 AND (t.a >= 1 AND t.b <= 2)",
    "IIF(t.a > 1, t.k, t.b) > 2",
    "IFNULL(t.k, 3) = 3",
    "SUBSTRING(t.c, 1, 1) > 'b'",
    "CASE t.a WHEN 1 THEN t.k ELSE t.b END = 2",
    "CAST(t.k AS BIGINT) > 2",
    "t.a = t.b AND NOT t.k < 2",
    "t.k + t.b > 4",
    "t.b + t.k > 4",
];

/// What stands before FROM, and what after the conditions.
const RESULTS: [(&str, &str); 13] = [
    ("t.id", "LIMIT 2"),
    ("t.c, t.b", "LIMIT 3"),
    ("t.c, t.a AS x", "ORDER BY x LIMIT 2"),
    ("t.b, t.c", "ORDER BY 1 DESC LIMIT 2"),
    ("COUNT(t.id), t.c", ""),
    ("COUNT(t.c), t.id", ""),
    ("t.c, MAX(t.k)", ""),
    ("t.c, MIN(t.a)", "GROUP BY t.b"),
    ("t.k, COUNT(*)", "GROUP BY t.k HAVING COUNT(*) > 0 LIMIT 1"),
    ("t.c, COUNT(*) AS n", "GROUP BY t.a ORDER BY n DESC LIMIT 1"),
    ("t.c, COUNT(t.a)", "GROUP BY t.a ORDER BY COUNT(*) DESC LIMIT 1"),
    ("t.c, CAST(SUM(t.a) AS REAL) / COUNT(t.a)", "GROUP BY t.b"),
    ("t.c, SUM(CASE WHEN t.k > 1 THEN 1 ELSE 0 END)", "GROUP BY t.b"),
];

const LETTERS: [&str; 12] = ["b", "a", "d", "B", "c", "bb", "e", "ab", "D", "f", "ba", "g"];

fn queries() -> impl Iterator<Item = String> {
    FROMS.iter().flat_map(|from| {
        FILTERS.iter().flat_map(move |filter| {
            RESULTS.iter().flat_map(move |(outputs, tail)| {
                let plain = format!("SELECT {outputs} {} {tail}", from.replace("{}", filter));
                let with =
                    format!("WITH q AS (SELECT * FROM t) {}", plain.replace("FROM t ", "FROM q AS t "));
                [Some(plain), from.starts_with("FROM t ").then_some(with)].into_iter().flatten()
            })
        })
    })
}

fn database(ddl: &str, rows: i64) -> Connection {
    let connection = Connection::open_in_memory().expect("a database in memory");
    connection.execute_batch(ddl).expect("a schema");
    for (i, letter) in (0..rows).zip(LETTERS.iter().cycle()) {
        let value = |n: i64| if n == 0 { Value::Null } else { Value::Integer(n) };
        // A row that an index refuses is left out.
        let _ = connection.execute(
            "INSERT INTO t VALUES (?1, ?2, ?3, ?4, ?5)",
            (i * 7 % 13, value((i * 5 + 3) % 11), *letter, 1 + i % 3, value((i * 2 + 1) % 4)),
        );
        let _ = connection.execute(
            "INSERT INTO u VALUES (?1, ?2, ?3, ?4)",
            (i * 5 % 17, i * 3 % 8, 1 + i * 3 % 5, value(i % 3)),
        );
    }
    connection
}

/// The steps of the plan; names of relations are the query's own and not a part of it.
fn plan(connection: &Connection, sql: &str) -> Vec<String> {
    let names = |word: &str| {
        !matches!(
            word,
            "t" | "u" | "q" | "x" | "T1" | "T2" | "T3" | "t1" | "t2" | "(subquery-1)" | "(subquery-2)"
        )
    };
    let steps = rows(connection, &format!("EXPLAIN QUERY PLAN {sql}"));
    let texts = steps.iter().map(|row| match &row[3] {
        Value::Text(text) => text.split(' ').filter(|word| names(word)).collect::<Vec<_>>().join(" "),
        other => panic!("{other:?}"),
    });
    texts.collect()
}

#[test]
#[ignore = "long: cargo xtask long"]
fn where_the_plan_shows_no_rule_is_applied_and_the_normal_form_has_the_same_plan_and_rows() {
    let mut failures = Vec::new();
    for ddl in SCHEMAS {
        let schema = Schema::from_ddl(ddl).unwrap();
        let matcher = Matcher::new(&schema, Profile::Sound);
        let databases = [database(ddl, 0), database(ddl, 5), database(ddl, 24)];
        for sql in queries() {
            let form = matcher.compare(&sql, &sql).left.expect("a normal form");
            let same = databases.iter().all(|connection| {
                plan(connection, &sql) == plan(connection, &form.sql)
                    && rows(connection, &sql) == rows(connection, &form.sql)
            });
            if !same || !form.applications.is_empty() {
                let rules: Vec<_> = form.applications.iter().map(|application| application.rule.id).collect();
                failures.push(format!(
                    "{rules:?}\n  {sql}\n  {}\n  {:?}\n  {:?}",
                    form.sql,
                    plan(&databases[2], &sql),
                    plan(&databases[2], &form.sql)
                ));
            }
        }
    }
    assert!(failures.is_empty(), "{}:\n{}", failures.len(), failures[..failures.len().min(12)].join("\n"));
}

#[test]
fn an_operand_with_bare_columns_keeps_its_joins_and_one_without_does_not() {
    let schema = Schema::from_ddl(
        "CREATE TABLE a (id INTEGER PRIMARY KEY, x INT); CREATE TABLE b (id INTEGER PRIMARY KEY, y TEXT);",
    )
    .unwrap();
    let compound = |output: &str, from: &str| {
        format!("SELECT {output} FROM {from} WHERE a.x = b.id GROUP BY a.x + 0 UNION ALL SELECT y FROM b")
    };
    for (output, equal) in [("b.y", false), ("COUNT(*)", true)] {
        let (left, right) = (compound(output, "a JOIN b"), compound(output, "b JOIN a"));
        let is_equal = Matcher::new(&schema, Profile::Sound).compare(&left, &right).verdict.is_equal();
        assert_eq!(is_equal, equal, "{left}");
    }
}

#[test]
fn a_statement_whose_plan_shows_matches_only_what_is_called_otherwise() {
    let schema = Schema::from_ddl(
        "CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT UNIQUE, age INT NOT NULL);
         CREATE VIEW first AS SELECT id, name, age FROM t LIMIT 1; CREATE VIEW again AS SELECT id, name, age FROM first;",
    )
    .unwrap();
    let matcher = Matcher::new(&schema, Profile::Sound);
    for (left, right, equal) in [
        (
            "SELECT name FROM t WHERE age > 3 LIMIT 1",
            "SELECT x.NAME AS n FROM T AS x WHERE (3 < x.age) LIMIT 1",
            true,
        ),
        ("SELECT name, COUNT(id) FROM t GROUP BY age", "SELECT name, COUNT(*) FROM t GROUP BY age", false),
        (
            "SELECT age FROM t WHERE id IN (SELECT MAX(id) FROM t) AND NOT age > 3",
            "SELECT age FROM t WHERE id IN (SELECT MAX(id) FROM t) AND age <= 3",
            true,
        ),
        // Somewhere inside it shows, be it in a view of a view.
        (
            "SELECT age FROM t WHERE name = (SELECT name FROM t LIMIT 1) AND NOT age > 3",
            "SELECT age FROM t WHERE name = (SELECT name FROM t LIMIT 1) AND age <= 3",
            false,
        ),
        ("SELECT name FROM again WHERE age IS NOT NULL", "SELECT name FROM again", false),
        (
            "WITH q AS (SELECT id, name FROM t LIMIT 1) SELECT name FROM q",
            "SELECT name FROM (SELECT id, name FROM t LIMIT 1)",
            false,
        ),
    ] {
        assert_eq!(matcher.compare(left, right).verdict.is_equal(), equal, "{left} | {right}");
    }
}
