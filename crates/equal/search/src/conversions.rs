//! Where two mechanisms of SQLite convert or compare values differently, with values that separate them.
//!
//! # Contract
//! Each row is a pair of queries over its own tables, one for each mechanism, and
//! rows on which they differ: a test runs them on a real SQLite. Whoever takes the two mechanisms for one proves the pair equal.
//! The generators of databases draw their odd values from [`literals`], so that the law and the search write such rows.
//!
//! # Source
//! SQLite's "Datatypes In SQLite", sections 3 to 7, and "SQLite Foreign Key Support"; each row is run.

use sqlgauge_engine::Value;

/// Two mechanisms, and where they part.
#[derive(Debug)]
pub struct Separation {
    /// The mechanisms in words.
    pub name: &'static str,
    /// The tables.
    pub ddl: &'static str,
    /// A query by each mechanism.
    pub queries: [&'static str; 2],
    /// Statements that fill the tables, each by itself so that the queries differ.
    pub rows: &'static [&'static str],
    /// The values that separate them, as SQL: where there are two, or twice two, each is followed by its counterpart.
    pub values: &'static [&'static str],
}

const T: &str = "CREATE TABLE t (id INTEGER PRIMARY KEY, i INT, n NUMERIC, x REAL, s TEXT, b, c TEXT COLLATE NOCASE, d DATE);";
const KEYS: &str =
    "CREATE TABLE p (k TEXT PRIMARY KEY NOT NULL); CREATE TABLE c (b NOT NULL REFERENCES p (k));";

/// The table.
pub const SEPARATIONS: &[Separation] = &[
    Separation {
        name: "key check, = of two columns",
        ddl: KEYS,
        queries: ["SELECT b FROM c", "SELECT c.b FROM c JOIN p ON c.b = p.k"],
        rows: &[
            "INSERT INTO p VALUES ('0'); INSERT INTO c VALUES (0)",
            "INSERT INTO p VALUES ('1.5'); INSERT INTO c VALUES (1.5)",
        ],
        values: &["0", "'0'", "1.5", "'1.5'"],
    },
    Separation {
        name: "key check, IN with a subquery",
        ddl: KEYS,
        queries: ["SELECT COUNT(*) FROM c", "SELECT COUNT(*) FROM c WHERE b IN (SELECT k FROM p)"],
        rows: &["INSERT INTO p VALUES ('-1'); INSERT INTO c VALUES (-1)"],
        values: &["-1", "'-1'"],
    },
    Separation {
        name: "key check, LEFT JOIN",
        ddl: KEYS,
        queries: ["SELECT b FROM c", "SELECT p.k FROM c LEFT JOIN p ON c.b = p.k"],
        rows: &["INSERT INTO p VALUES ('2'); INSERT INTO c VALUES (2)"],
        values: &["2", "'2'"],
    },
    Separation {
        name: "key check by a collation, = by another",
        ddl: "CREATE TABLE p (k TEXT NOT NULL, PRIMARY KEY (k COLLATE NOCASE)); CREATE TABLE c (b TEXT NOT NULL REFERENCES p);",
        queries: ["SELECT b FROM c", "SELECT c.b FROM c JOIN p ON c.b = p.k"],
        rows: &["INSERT INTO p VALUES ('a'); INSERT INTO c VALUES ('A')"],
        values: &["'a'", "'A'"],
    },
    Separation {
        name: "= of two columns, = of a column and a constant",
        ddl: T,
        queries: [
            "SELECT COUNT(*) FROM t WHERE s = b AND b = 1",
            "SELECT COUNT(*) FROM t WHERE s = 1 AND b = 1",
        ],
        rows: &["INSERT INTO t (s, b) VALUES ('1', 1)"],
        values: &["1", "'1'"],
    },
    Separation {
        name: "= of two columns, an element of IN",
        ddl: T,
        queries: ["SELECT COUNT(*) FROM t WHERE b = i", "SELECT COUNT(*) FROM t WHERE b IN (i)"],
        rows: &["INSERT INTO t (b, i) VALUES ('1', 1)", "INSERT INTO t (b, i) VALUES ('01', 1)"],
        values: &["'01'", "1"],
    },
    Separation {
        name: "an element of IN, IN with a subquery",
        ddl: T,
        queries: [
            "SELECT COUNT(*) FROM t WHERE b IN (i)",
            "SELECT COUNT(*) FROM t WHERE b IN (SELECT u.i FROM t u WHERE u.id = t.id)",
        ],
        rows: &["INSERT INTO t (b, i) VALUES ('3', 3)"],
        values: &["'3'", "3"],
    },
    Separation {
        name: "=, IN with a subquery, beyond 53 bits",
        ddl: T,
        queries: [
            "SELECT COUNT(*) FROM t WHERE EXISTS (SELECT 1 FROM t u WHERE u.x = +t.b)",
            "SELECT COUNT(*) FROM t WHERE +b IN (SELECT x FROM t)",
        ],
        rows: &["INSERT INTO t (b, x) VALUES (9007199254740993, 9007199254740992)"],
        values: &["9007199254740993", "9007199254740992.0"],
    },
    Separation {
        name: "=, DISTINCT",
        ddl: T,
        queries: [
            "SELECT COUNT(*) FROM t WHERE i = s",
            "SELECT COUNT(*) FROM t WHERE (SELECT COUNT(*) FROM (SELECT t.i UNION SELECT t.s)) = 1",
        ],
        rows: &["INSERT INTO t (i, s) VALUES (1, '1')", "INSERT INTO t (i, s) VALUES (1, '1.0')"],
        values: &["'1.0'", "' 1'"],
    },
    Separation {
        name: "=, DISTINCT, for NULL",
        ddl: T,
        queries: ["SELECT DISTINCT i FROM t", "SELECT DISTINCT i FROM t WHERE i = i"],
        rows: &["INSERT INTO t (i) VALUES (NULL)"],
        values: &["NULL"],
    },
    Separation {
        name: "GROUP BY, what a text shows",
        ddl: T,
        queries: ["SELECT COUNT(DISTINCT b) FROM t", "SELECT COUNT(DISTINCT CAST(b AS TEXT)) FROM t"],
        rows: &["INSERT INTO t (b) VALUES (1), (1.0)", "INSERT INTO t (b) VALUES ('a'), (x'61')"],
        values: &["1.0", "x'61'"],
    },
    Separation {
        name: "GROUP BY, GROUP BY with a collation",
        ddl: T,
        queries: [
            "SELECT COUNT(DISTINCT s) FROM t",
            "SELECT COUNT(DISTINCT c) FROM (SELECT s COLLATE NOCASE AS c FROM t)",
        ],
        rows: &["INSERT INTO t (s) VALUES ('B'), ('b')"],
        values: &["'B'", "'b'"],
    },
    Separation {
        name: "UNION, UNION ALL",
        ddl: T,
        queries: [
            "SELECT b FROM t UNION SELECT i FROM t",
            "SELECT b FROM t UNION ALL SELECT i FROM t WHERE i <> b OR b IS NULL",
        ],
        rows: &["INSERT INTO t (b, i) VALUES ('5', 5)"],
        values: &["'5'", "5"],
    },
    Separation {
        name: "max() by class, ORDER BY a number",
        ddl: T,
        queries: ["SELECT MAX(b) + 0 FROM t", "SELECT MAX(b + 0) FROM t"],
        rows: &["INSERT INTO t (b) VALUES ('1'), (2)"],
        values: &["2", "'1'"],
    },
    Separation {
        name: "min() of texts, min() of numbers",
        ddl: T,
        queries: ["SELECT MIN(s) + 0 FROM t", "SELECT MIN(s + 0) FROM t"],
        rows: &["INSERT INTO t (s) VALUES ('10'), ('9')"],
        values: &["'10'", "'9'"],
    },
    Separation {
        name: "ORDER BY of texts, ORDER BY with a collation",
        ddl: T,
        queries: ["SELECT s FROM t ORDER BY s LIMIT 1", "SELECT s FROM t ORDER BY s COLLATE NOCASE LIMIT 1"],
        rows: &["INSERT INTO t (s) VALUES ('a'), ('B')"],
        values: &["'a'", "'B'"],
    },
    Separation {
        name: "CAST to INTEGER, numeric affinity",
        ddl: T,
        queries: [
            "SELECT COUNT(*) FROM t WHERE CAST(s AS INTEGER) = 1",
            "SELECT COUNT(*) FROM t WHERE +s = n AND n = 1",
        ],
        rows: &["INSERT INTO t (s, n) VALUES ('1x', 1)", "INSERT INTO t (s, n) VALUES ('1e3', 1)"],
        values: &["'1x'", "'1e3'"],
    },
    Separation {
        name: "CAST to INTEGER, round()",
        ddl: T,
        queries: ["SELECT CAST(x AS INTEGER) FROM t", "SELECT CAST(ROUND(x) AS INTEGER) FROM t"],
        rows: &[
            "INSERT INTO t (x) VALUES (-0.5)",
            "INSERT INTO t (x) VALUES (0.5)",
            "INSERT INTO t (x) VALUES (1.75)",
        ],
        values: &["-0.5", "0.5", "1.75"],
    },
    Separation {
        name: "arithmetic, =, of an empty text",
        ddl: T,
        queries: ["SELECT COUNT(*) FROM t WHERE s + 0 = 0", "SELECT COUNT(*) FROM t WHERE s = 0"],
        rows: &[
            "INSERT INTO t (s) VALUES ('')",
            "INSERT INTO t (s) VALUES ('abc')",
            "INSERT INTO t (s) VALUES ('00')",
        ],
        values: &["''", "'00'"],
    },
    Separation {
        name: "division of integers, of real numbers",
        ddl: T,
        queries: [
            "SELECT i / 2 FROM t",
            "SELECT CAST(i / 2.0 AS INTEGER) FROM t WHERE i % 2 = 0 UNION ALL SELECT i / 2.0 FROM t WHERE i % 2 <> 0 OR i IS NULL",
        ],
        rows: &["INSERT INTO t (i) VALUES (3)", "INSERT INTO t (i) VALUES (-1)"],
        values: &["3", "-1"],
    },
    Separation {
        name: "sums of integers, of real numbers, at the limits",
        ddl: T,
        queries: ["SELECT x * 10 > 0 FROM t", "SELECT x * 10 < 1e308 AND x > 0 FROM t"],
        rows: &["INSERT INTO t (x) VALUES (1e308)"],
        values: &["1e308", "1e-308"],
    },
    Separation {
        name: "LIKE, =",
        ddl: T,
        queries: ["SELECT COUNT(*) FROM t WHERE s LIKE 'a'", "SELECT COUNT(*) FROM t WHERE s = 'a'"],
        rows: &["INSERT INTO t (s) VALUES ('A')"],
        values: &["'A'"],
    },
    Separation {
        name: "LIKE, = with a collation, at a blank",
        ddl: T,
        queries: [
            "SELECT COUNT(*) FROM t WHERE s LIKE 'a'",
            "SELECT COUNT(*) FROM t WHERE s COLLATE RTRIM = 'a'",
        ],
        rows: &["INSERT INTO t (s) VALUES ('a ')"],
        values: &["'a '"],
    },
    Separation {
        name: "lower(), letters beyond ASCII",
        ddl: T,
        queries: ["SELECT LOWER(s) FROM t", "SELECT REPLACE(LOWER(s), 'É', 'é') FROM t"],
        rows: &["INSERT INTO t (s) VALUES ('É')"],
        values: &["'É'", "'é'"],
    },
    Separation {
        name: "letters, bytes",
        ddl: T,
        queries: ["SELECT LENGTH(s) FROM t", "SELECT LENGTH(CAST(s AS BLOB)) FROM t"],
        rows: &["INSERT INTO t (s) VALUES ('é')"],
        values: &["'é'"],
    },
    Separation {
        name: "= of a blob, its text",
        ddl: T,
        queries: ["SELECT COUNT(*) FROM t WHERE b = 'a'", "SELECT COUNT(*) FROM t WHERE b || '' = 'a'"],
        rows: &["INSERT INTO t (b) VALUES (x'61')"],
        values: &["x'61'", "'a'"],
    },
    Separation {
        name: "a number as a text, its literal",
        ddl: T,
        queries: [
            "SELECT b || '' FROM t",
            "SELECT CAST(CAST(b AS INTEGER) AS TEXT) FROM t WHERE CAST(b AS INTEGER) = b UNION ALL SELECT b || '' FROM t WHERE NOT CAST(b AS INTEGER) = b OR b IS NULL",
        ],
        rows: &["INSERT INTO t (b) VALUES (2.0)"],
        values: &["2.0"],
    },
    Separation {
        name: "date(), the first ten letters",
        ddl: T,
        queries: ["SELECT DATE(d) FROM t", "SELECT SUBSTR(d, 1, 10) FROM t"],
        rows: &["INSERT INTO t (d) VALUES ('2021-02-30')", "INSERT INTO t (d) VALUES ('2020-1-1')"],
        values: &["'2021-02-30'", "'2020-1-1'"],
    },
    Separation {
        name: "a month later, the last day",
        ddl: T,
        queries: [
            "SELECT DATE(d, '+1 month') FROM t",
            "SELECT DATE(d, 'start of month', '+1 month', '+' || (STRFTIME('%d', d) - 1) || ' days') FROM t WHERE STRFTIME('%d', d) < '29' UNION ALL SELECT DATE(d, 'start of month', '+2 months', '-1 day') FROM t WHERE STRFTIME('%d', d) >= '29' UNION ALL SELECT NULL FROM t WHERE DATE(d) IS NULL",
        ],
        rows: &["INSERT INTO t (d) VALUES ('2020-01-31')", "INSERT INTO t (d) VALUES ('2021-01-29')"],
        values: &["'2020-01-31'", "'2021-01-29'"],
    },
    Separation {
        name: "a year later, the leap day",
        ddl: T,
        queries: ["SELECT STRFTIME('%m', d, '+1 year') FROM t", "SELECT STRFTIME('%m', d) FROM t"],
        rows: &["INSERT INTO t (d) VALUES ('2020-02-29')"],
        values: &["'2020-02-29'"],
    },
    Separation {
        name: "a text that holds JSON, its value",
        ddl: T,
        queries: [
            "SELECT s -> '$.a' FROM t WHERE JSON_VALID(s)",
            "SELECT s ->> '$.a' FROM t WHERE JSON_VALID(s)",
        ],
        rows: &[
            "INSERT INTO t (s) VALUES ('{\"a\": \"x\"}')",
            "INSERT INTO t (s) VALUES ('{\"a\": \"{\\\"b\\\": 1}\"}')",
        ],
        values: &["'{\"a\": \"x\"}'", "'{\"a\": \"{\\\"b\\\": 1}\"}'"],
    },
];

/// All separating values as SQL, those of the first row first, each once.
pub fn literals() -> Vec<&'static str> {
    literals_of(|_| true)
}

/// Those of the rows about foreign keys.
pub fn key_literals() -> Vec<&'static str> {
    literals_of(|row| row.ddl.contains(" REFERENCES "))
}

fn literals_of(is_wanted: impl Fn(&Separation) -> bool) -> Vec<&'static str> {
    let mut all: Vec<&str> = Vec::new();
    for value in SEPARATIONS.iter().filter(|row| is_wanted(row)).flat_map(|row| row.values) {
        if !all.contains(value) {
            all.push(value);
        }
    }
    all
}

/// The other value of a row that some mechanism takes for that one: `0` for `'0'`.
pub fn counterpart(literal: &str) -> Option<&'static str> {
    let pair = |row: &Separation| {
        let mut pairs = row.values.chunks_exact(2);
        pairs.find_map(|pair| match pair {
            [one, other] if *one == literal => Some(*other),
            [one, other] if *other == literal => Some(*one),
            _ => None,
        })
    };
    SEPARATIONS.iter().find_map(pair)
}

/// The separating values that are texts.
pub(crate) fn texts() -> impl Iterator<Item = Value> {
    let is_text = |literal: &&str| literal.starts_with('\'');
    literals()
        .into_iter()
        .filter(is_text)
        .map(|literal| Value::text(&literal[1..literal.len() - 1].replace("''", "'")))
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::*;

    fn rows(connection: &Connection, sql: &str) -> Vec<Vec<rusqlite::types::Value>> {
        let mut statement = connection.prepare(sql).unwrap();
        let width = statement.column_count();
        let rows = statement.query_map([], |row| (0..width).map(|at| row.get(at)).collect()).unwrap();
        rows.collect::<Result<_, _>>().unwrap()
    }

    /// SQLite itself tells the two mechanisms apart, on rows that keep every key.
    #[test]
    fn each_row_separates_its_mechanisms() {
        for Separation { name, ddl, queries: [one, other], rows: fills, .. } in SEPARATIONS {
            for fill in *fills {
                let connection = Connection::open_in_memory().unwrap();
                connection.execute_batch("PRAGMA foreign_keys = ON").unwrap();
                connection.execute_batch(ddl).unwrap();
                connection.execute_batch(fill).unwrap_or_else(|error| panic!("{name}: {error}: {fill}"));
                assert_eq!(rows(&connection, "PRAGMA foreign_key_check"), Vec::<Vec<_>>::new(), "{name}");
                assert_ne!(rows(&connection, one), rows(&connection, other), "{name}: {fill}");
            }
        }
    }

    #[test]
    fn names_are_unique_and_values_have_counterparts() {
        let mut names: Vec<&str> = SEPARATIONS.iter().map(|row| row.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), SEPARATIONS.len());
        assert_eq!(counterpart("'0'"), Some("0"));
        assert!(texts().count() > 20);
    }
}
