//! Each spelling against what the text means, executed on SQLite; and what must stay as it is.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use rusqlite::Connection;
use rusqlite::types::Value;

use super::*;

const ROWS: &str = "CREATE TABLE t (a INTEGER, b TEXT, c INTEGER, d TEXT);
    INSERT INTO t VALUES (1, 'x', 5, '2024-02-29'), (1, 'y', 6, '2023-12-01'), (2, 'x', NULL, NULL), (NULL, 'z', 12, '2024-01-31');";

/// The rows of a query, sorted; `None` if SQLite refuses it.
fn rows(connection: &Connection, sql: &str) -> Option<Vec<String>> {
    let mut statement = connection.prepare(sql).ok()?;
    let width = statement.column_count();
    let row =
        |row: &rusqlite::Row<'_>| (0..width).map(|at| row.get::<_, Value>(at)).collect::<Result<Vec<_>, _>>();
    let rows: Result<Vec<Vec<Value>>, _> = statement.query_map([], row).ok()?.collect();
    let mut rows: Vec<String> = rows.ok()?.iter().map(|row| format!("{row:?}")).collect();
    rows.sort();
    Some(rows)
}

fn connection(script: &str) -> Connection {
    let connection = Connection::open_in_memory().unwrap();
    connection.execute_batch(script).unwrap();
    connection
}

/// A text that SQLite refuses, by what it is spelled, and a query that means the same by the standard.
const CASES: [(&str, &[&str], &str); 24] = [
    ("SELECT q.$f0 FROM (SELECT a AS $f0 FROM t) AS q", &["dollar-names"], "SELECT a FROM t"),
    (
        "SELECT a FROM t WHERE d > DATE '2024-01-01'",
        &["typed-literals"],
        "SELECT a FROM t WHERE d > '2024-01-01'",
    ),
    (
        "SELECT a FROM t ORDER BY c FETCH FIRST 2 ROWS ONLY",
        &["fetch-first"],
        "SELECT a FROM t ORDER BY c LIMIT 2",
    ),
    (
        "SELECT a FROM t ORDER BY c OFFSET 1 ROWS FETCH NEXT ROW ONLY",
        &["fetch-first"],
        "SELECT a FROM t ORDER BY c LIMIT 1, 1",
    ),
    (
        "SELECT a FROM t ORDER BY c OFFSET 3 ROWS",
        &["fetch-first"],
        "SELECT a FROM t ORDER BY c LIMIT 9 OFFSET 3",
    ),
    ("SELECT y, x FROM (SELECT a, b FROM t) AS q (x, y)", &["column-lists"], "SELECT b, a FROM t"),
    ("SELECT x FROM (VALUES (1), (2)) q (x) WHERE x > 1", &["column-lists"], "SELECT 2"),
    (
        "SELECT x FROM (SELECT y FROM (SELECT a FROM t) AS p (y)) AS spelled (x)",
        &["column-lists"],
        "SELECT a FROM t",
    ),
    (
        "(SELECT a FROM t ORDER BY c LIMIT 1) UNION ALL (SELECT 2)",
        &["operands"],
        "SELECT 2 UNION ALL SELECT 2",
    ),
    (
        "SELECT * FROM ((SELECT a FROM t) EXCEPT (SELECT a FROM t WHERE c > 5)) AS q",
        &["operands"],
        "SELECT 2",
    ),
    (
        "SELECT EXTRACT(YEAR FROM d), EXTRACT(DAY FROM d) FROM t",
        &["extract"],
        "SELECT 2024, 29 UNION ALL SELECT 2023, 1 UNION ALL SELECT NULL, NULL UNION ALL SELECT 2024, 31",
    ),
    (
        "SELECT SUBSTRING(d FROM 6 FOR 2), SUBSTRING(d FROM 9) FROM t WHERE a = 1",
        &["substring"],
        "SELECT '02', '29' UNION ALL SELECT '12', '01'",
    ),
    (
        "SELECT a, BIT_OR(c), BIT_AND(c) FROM t GROUP BY a",
        &["bit-aggregates"],
        "SELECT 1, 7, 4 UNION ALL SELECT 2, NULL, NULL UNION ALL SELECT NULL, 12, 12",
    ),
    ("SELECT BIT_OR(-c) FROM t", &["bit-aggregates"], "SELECT -1"),
    (
        "SELECT a, b, COUNT(*), SUM(a) FROM t GROUP BY ROLLUP(a, b)",
        &["grouping-sets"],
        "SELECT a, b, COUNT(*), SUM(a) FROM t GROUP BY a, b UNION ALL SELECT a, NULL, COUNT(*), SUM(a) FROM t GROUP BY a \
         UNION ALL SELECT NULL, NULL, COUNT(*), SUM(a) FROM t",
    ),
    ("SELECT a FROM t WHERE a > 9 GROUP BY ROLLUP(a)", &["grouping-sets"], "SELECT NULL"),
    (
        "SELECT a, COUNT(*) FROM t WHERE a > 9 GROUP BY GROUPING SETS((a), ())",
        &["grouping-sets"],
        "SELECT NULL, 0",
    ),
    (
        "SELECT a AS x, b, GROUPING(a, b) AS g FROM t GROUP BY CUBE(a, b)",
        &["grouping-sets"],
        "SELECT a, b, 0 FROM t GROUP BY a, b UNION ALL SELECT a, NULL, 1 FROM t GROUP BY a UNION ALL \
         SELECT NULL, b, 2 FROM t GROUP BY b UNION ALL SELECT NULL, NULL, 3",
    ),
    (
        "SELECT q.a, q.n FROM (SELECT a, COUNT(*) FILTER (WHERE b = 'x') AS n FROM t GROUP BY GROUPING SETS(b, a) \
         HAVING COALESCE(a, 0) < 2) AS q",
        &["grouping-sets"],
        "SELECT NULL, COUNT(*) FILTER (WHERE b = 'x') FROM t GROUP BY b UNION ALL \
         SELECT a, COUNT(*) FILTER (WHERE b = 'x') FROM t GROUP BY a HAVING COALESCE(a, 0) < 2",
    ),
    (
        "SELECT a, c > 5 AS big, COUNT(*) FROM t GROUP BY a, ROLLUP(c > 5)",
        &["grouping-sets"],
        "SELECT a, c > 5, COUNT(*) FROM t GROUP BY a, c > 5 UNION ALL SELECT a, NULL, COUNT(*) FROM t GROUP BY a",
    ),
    (
        "SELECT DISTINCT a FROM t GROUP BY ROLLUP(a, b) ORDER BY a FETCH FIRST 2 ROWS ONLY",
        &["fetch-first", "grouping-sets"],
        "SELECT NULL UNION ALL SELECT 1",
    ),
    (
        "SELECT 7 UNION ALL SELECT a FROM t GROUP BY ROLLUP((a, b))",
        &["grouping-sets"],
        "SELECT 7 UNION ALL SELECT a FROM t GROUP BY a, b UNION ALL SELECT NULL",
    ),
    (
        "SELECT SUM(n) FROM (SELECT a, SUM(c) AS n FROM t GROUP BY ROLLUP(a)) AS q GROUP BY ROLLUP(n)",
        &["grouping-sets"],
        "SELECT n FROM (SELECT 11 AS n UNION ALL SELECT NULL UNION ALL SELECT 12 UNION ALL SELECT 23) UNION ALL SELECT 46",
    ),
    (
        "WITH q AS (SELECT a FROM t) SELECT a FROM q GROUP BY ROLLUP(a)",
        &["grouping-sets"],
        "SELECT DISTINCT a FROM t UNION ALL SELECT NULL",
    ),
];

#[test]
fn what_is_spelled_otherwise_means_the_same_on_sqlite() {
    let database = connection(ROWS);
    for (sql, by, meaning) in CASES {
        assert_eq!(rows(&database, sql), None, "SQLite takes {sql}");
        let spelling = spelled(sql, |text| database.prepare(text).is_err());
        let spelling = spelling.unwrap_or_else(|| panic!("not spelled: {sql}"));
        assert_eq!(spelling.by, by, "{sql}");
        assert_eq!(
            rows(&database, &spelling.sql),
            Some(rows(&database, meaning).unwrap()),
            "{sql}\n{}",
            spelling.sql
        );
    }
    let used: std::collections::BTreeSet<&str> =
        CASES.iter().flat_map(|(_, by, _)| by.iter().copied()).collect();
    assert_eq!(used, SPELLINGS.iter().map(|spelling| spelling.name).collect(), "a spelling without a case");
}

#[test]
fn what_cannot_be_spelled_stays_refused() {
    let database = connection(ROWS);
    for sql in [
        // Real parameters: a name in brackets is no text.
        "SELECT a FROM t WHERE a = $1",
        "SELECT COUNT(a, b) FROM t",
        "SELECT a FROM t ORDER BY a FETCH FIRST 1 ROWS WITH TIES",
        "SELECT SUBSTRING(b FROM 0 FOR 2) FROM t",
        // The standard takes INTERSECT first, SQLite what stands left.
        "(SELECT 1) UNION (SELECT 2) INTERSECT (SELECT 3)",
        // The words do not say whether these are the grouping columns.
        "SELECT t.a FROM t GROUP BY ROLLUP(a)",
        "SELECT * FROM t GROUP BY ROLLUP(a)",
        "SELECT a, (SELECT MAX(a) FROM t) FROM t GROUP BY ROLLUP(a)",
        "SELECT a FROM t GROUP BY ROLLUP(1)",
        "SELECT a, COUNT(*) OVER () FROM t GROUP BY ROLLUP(a)",
        "SELECT a FROM t GROUP BY ROLLUP(a) ORDER BY COUNT(*)",
        "SELECT x FROM (SELECT a, b FROM t) AS q (x)",
        "SELECT nothing FROM t",
    ] {
        let spelling = spelled(sql, |text| database.prepare(text).is_err());
        assert_eq!(spelling, None, "{sql}");
    }
}

#[test]
fn any_text_is_read_to_its_end() {
    let long = [
        "GROUP BY ROLLUP(",
        "((",
        "SUBSTRING(",
        "GROUPING SETS((",
        "BIT_OR(x",
        "(SELECT ",
        "UNION (",
        ") AS t (a",
    ];
    let broken = [
        "",
        "$",
        "é$",
        "AS t (",
        ") AS t (a",
        "FETCH FIRST",
        "OFFSET 1 ROWS FETCH",
        "EXTRACT(YEAR FROM",
        "GROUP BY CUBE(a",
    ];
    let texts = broken.iter().map(|text| (*text).to_owned());
    for sql in texts.chain(long.iter().map(|text| text.repeat(20_000))) {
        assert_eq!(spelled(&sql, |_| true), None, "{sql:.40}");
    }
}
