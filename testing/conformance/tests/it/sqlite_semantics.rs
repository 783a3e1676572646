//! SQLite's own rules for names, construct by construct: the printed query gives what the text gives on a real
//! SQLite, row by row; and what SQLite refuses for a name is refused here for the same name.

use std::sync::Arc;

use sqlgauge_engine::{Database, Engine, FailureKind, Limits, Outcome, SqliteEngine};
use sqlgauge_sql::{ErrorKind, PrintDialect, print, renumber, resolve};

const SCHEMA: &str = "
    CREATE TABLE t (id INTEGER PRIMARY KEY, a INT, b TEXT, c REAL);
    CREATE TABLE u (id INTEGER PRIMARY KEY, a INT, d TEXT COLLATE NOCASE);
    CREATE TABLE v (a INT, e TEXT);
    CREATE TABLE \"order\" (\"group\" INT, \"x y\" TEXT, [from] TEXT);
    CREATE TABLE w (k TEXT PRIMARY KEY, n INT) WITHOUT ROWID;
    CREATE VIEW big AS SELECT id, a AS amount FROM t WHERE a > 1;
    INSERT INTO t VALUES (1, 1, 'x', 1.5), (2, 2, 'y', NULL), (3, 2, 'X', 2.0), (4, NULL, 'z', -1), (5, 5, NULL, 0);
    INSERT INTO u VALUES (1, 2, 'one'), (2, 2, 'ONE'), (3, 7, 'two'), (4, NULL, NULL);
    INSERT INTO v VALUES (1, 'p'), (2, 'q'), (7, 'r');
    INSERT INTO \"order\" VALUES (1, 'm', 'n'), (2, NULL, 'o');
    INSERT INTO w VALUES ('k1', 3), ('k2', 4);
";

struct Fixture {
    _folder: tempfile::TempDir,
    engine: SqliteEngine,
    database: Arc<Database>,
}

impl Fixture {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f.sqlite");
        rusqlite::Connection::open(&path).unwrap().execute_batch(SCHEMA).unwrap();
        let engine = SqliteEngine::new(Limits::default());
        let database = engine.open(&path).unwrap();
        Self { _folder: folder, engine, database }
    }

    fn run(&self, sql: &str) -> Outcome {
        self.engine.run(&self.database, sql).outcome
    }
}

const SAME: &[&str] = &[
    // Names
    "SELECT ID, T.A, [b], `c` FROM T ORDER BY 1",
    "SELECT \"a\", \"no such column\", 'a' FROM t ORDER BY id",
    "SELECT main.t.a FROM main.t ORDER BY t.id",
    "SELECT \"group\", \"x y\", [from] FROM \"order\" ORDER BY \"group\"",
    "SELECT true, FALSE, a IS TRUE FROM t ORDER BY id",
    "SELECT rowid, oid, _rowid_ FROM v ORDER BY rowid DESC",
    "SELECT rowid FROM t WHERE rowid > 2 ORDER BY rowid",
    "SELECT * FROM big ORDER BY id",
    "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name",
    "SELECT rowid, m.oid, name FROM sqlite_schema AS m ORDER BY rowid DESC",
    "SELECT rowid, value FROM json_each('[4, 5]') ORDER BY rowid",
    // Aliases
    "SELECT a + 1 AS n FROM t WHERE n > 2 ORDER BY n",
    "SELECT a AS id, id AS a FROM t ORDER BY id, a",
    "SELECT -a AS a FROM t ORDER BY a, id",
    "SELECT -a AS a FROM t ORDER BY a + 0, id",
    "SELECT b AS k, count(*) AS n FROM t GROUP BY k HAVING n > 0 ORDER BY n DESC, k",
    "SELECT a AS b, count(*) FROM t GROUP BY b ORDER BY 1, 2",
    "SELECT lower(b) AS l, max(a) FROM t GROUP BY 1 ORDER BY l",
    "SELECT (SELECT max(d) FROM u WHERE u.a = t.a) AS m FROM t WHERE m IS NOT NULL ORDER BY id",
    "SELECT a AS 'quoted', b \"double\" FROM t ORDER BY \"double\", quoted",
    // ORDER BY
    "SELECT b FROM t ORDER BY 1 COLLATE NOCASE, id",
    "SELECT a FROM t ORDER BY a NULLS LAST, id DESC",
    "SELECT a FROM t ORDER BY a DESC NULLS FIRST, id",
    "SELECT a FROM t UNION SELECT a FROM v ORDER BY a DESC",
    "SELECT a AS q FROM t UNION ALL SELECT a AS r FROM v ORDER BY r LIMIT 3",
    "SELECT a, b FROM t EXCEPT SELECT a, e FROM v ORDER BY 2, 1",
    "SELECT a FROM t INTERSECT SELECT a FROM v UNION SELECT 9 EXCEPT SELECT 1 ORDER BY 1",
    "SELECT 5 AS n, count(*) FROM t GROUP BY 1",
    // Joins
    "SELECT * FROM t JOIN u USING (a) ORDER BY t.id, u.id",
    "SELECT * FROM t NATURAL JOIN v ORDER BY 1",
    "SELECT a, t.a, u.a FROM t LEFT JOIN u USING (a) ORDER BY t.id, u.id",
    "SELECT a FROM t RIGHT JOIN v USING (a) ORDER BY e, t.id",
    "SELECT a, e, d FROM u FULL JOIN v USING (a) ORDER BY a, e, d",
    "SELECT * FROM u FULL JOIN v USING (a) ORDER BY a, e, d",
    "SELECT x.a, y.a FROM t x, t y WHERE x.id = y.a ORDER BY x.id, y.id",
    "SELECT t.id FROM t JOIN (u JOIN v ON u.a = v.a) ON t.a = u.a ORDER BY t.id, u.id",
    "SELECT count(*) FROM t CROSS JOIN u, v",
    "SELECT t.*, v.e FROM t, v WHERE t.a = v.a ORDER BY t.id",
    "SELECT n FROM w NATURAL JOIN t ORDER BY n LIMIT 2",
    // Subqueries
    "SELECT id FROM t WHERE a IN (SELECT a FROM u WHERE u.id = t.id) ORDER BY id",
    "SELECT id FROM t WHERE EXISTS (SELECT 1 FROM u WHERE a = t.a AND NOT EXISTS (SELECT 1 FROM v WHERE v.a = u.a)) ORDER BY id",
    "SELECT a FROM (SELECT a, count(*) FROM t GROUP BY a) WHERE \"count(*)\" > 1",
    "SELECT q.a, q.\"a:1\" FROM (SELECT t.a, v.a FROM t JOIN v ON t.a = v.a) AS q ORDER BY 1",
    "SELECT * FROM (SELECT a AS n FROM t UNION SELECT id FROM u) ORDER BY n",
    "SELECT max(column1) FROM (VALUES (1), (3), (2)) AS q",
    "SELECT column1 FROM (VALUES (1, 'a'), (2, 'b')) ORDER BY column2 DESC",
    "SELECT a FROM t WHERE (a, b) IN (SELECT a, e FROM v) OR (a, b) = (1, 'x')",
    "SELECT id FROM t WHERE (a, b) IN v ORDER BY id",
    "SELECT id FROM t WHERE b IN (SELECT k FROM w) OR a IN () ORDER BY id",
    // Common table expressions
    "WITH q AS (SELECT a FROM t), unused AS (SELECT no_such FROM nowhere) SELECT count(*) FROM q, q AS r",
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5) SELECT sum(i) FROM n",
    "WITH later AS (SELECT i FROM first), first(i) AS (SELECT 7) SELECT * FROM later",
    "WITH t AS (SELECT a FROM v) SELECT * FROM t, main.t AS o WHERE t.a = o.a ORDER BY o.id",
    "SELECT (WITH q AS (SELECT t.a AS z) SELECT z FROM q) FROM t ORDER BY id",
    "WITH q AS MATERIALIZED (SELECT a FROM t) SELECT a FROM q WHERE a > 1 ORDER BY a",
    // Windows and aggregates
    "SELECT id, row_number() OVER w, sum(a) OVER (PARTITION BY b IS NULL ORDER BY id ROWS 1 PRECEDING) FROM t WINDOW w AS (ORDER BY a, id) ORDER BY id",
    "SELECT id, sum(a) OVER (w ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW EXCLUDE TIES) FROM t WINDOW w AS (ORDER BY id) ORDER BY id",
    "SELECT count(DISTINCT a), sum(a) FILTER (WHERE id > 2), group_concat(b, '-' ORDER BY b DESC) FROM t",
    "SELECT b, max(a) FROM t",
    "SELECT count(*) FROM t HAVING count(*) > 1",
    "SELECT (SELECT count(t.a)) FROM t",
    "SELECT (SELECT count(t.a) FROM u), (SELECT count(*) FROM u) FROM t",
    "SELECT id FROM t WHERE EXISTS (SELECT (SELECT count(u.a)) FROM u WHERE a > 1000) ORDER BY id",
    "SELECT (SELECT c FROM (SELECT sum(t.a) AS c FROM u)) FROM t",
    "SELECT b FROM t GROUP BY b ORDER BY (SELECT sum(t.a)), b",
    // Expressions
    "SELECT a - -1, - - a, -(-a), +b, ~a, NOT a, a || b || c FROM t ORDER BY id",
    "SELECT a FROM t WHERE NOT a = 1 AND NOT (a > 3 OR b LIKE 'X') ORDER BY id",
    "SELECT a = 1 = 1, (a < 2) < 3, a IS b, a IS NOT NULL, b ISNULL, c NOTNULL FROM t ORDER BY id",
    "SELECT a BETWEEN 1 AND 2 AND b, NOT a BETWEEN 1 AND 2, a NOT IN (1, NULL) FROM t ORDER BY id",
    "SELECT b LIKE 'x%' ESCAPE '!', b GLOB 'x*', b NOT LIKE '_' FROM t ORDER BY id",
    "SELECT CASE a WHEN 1 THEN 'one' WHEN 2 THEN 'two' END, CASE WHEN a > 1 THEN b ELSE c END FROM t ORDER BY id",
    "SELECT CAST(c AS INTEGER), CAST(a AS VARCHAR(10)), typeof(1.0), 1e3, .5, 0x1F, x'4142', 9223372036854775807, -9223372036854775808 FROM t",
    "SELECT -(9223372036854775808), typeof(-((9223372036854775808))), - -9223372036854775808, +9223372036854775808",
    "SELECT CAST(c AS \"my int type\"), CAST(c AS my int type), CAST(c AS \"a(b\"), CAST(c AS 'text'), CAST(c AS \"select\"), CAST(c AS [int] \"x y\"), CAST(c AS decimal(10, 2)) FROM t ORDER BY id",
    "SELECT a + 1 * 2 - 3 / (2 - 4) % 5, a & 3 | 4 << 1, (a & 3) = 1 FROM t ORDER BY id",
    "SELECT b = 'X' COLLATE NOCASE, d = 'one', 'it''s' FROM t JOIN u ON t.id = u.id ORDER BY t.id",
    "SELECT '{\"k\": [1, 2]}' -> 'k', '{\"k\": 3}' ->> '$.k'",
    "SELECT value FROM t, json_each('[' || a || ']') WHERE a IS NOT NULL ORDER BY t.id",
    "SELECT iif(a > 1, 'y', 'n'), coalesce(a, 0), replace(b, 'x', 'q'), strftime('%Y', '2020-02-03') FROM t ORDER BY id",
    "SELECT a FROM t LIMIT 2 OFFSET 1",
    "SELECT a FROM t LIMIT 1, 2",
    "SELECT DISTINCT a FROM t ORDER BY c",
    "VALUES (1, 'a'), (2, 'b')",
    "SELECT 1 UNION ALL VALUES (2), (3)",
    "SELECT a IS NOT DISTINCT FROM NULL, a IS DISTINCT FROM 1 FROM t ORDER BY id;  -- done",
];

#[test]
fn the_printed_query_gives_the_same_rows_in_the_same_order() {
    let fixture = Fixture::new();
    let schema = fixture.database.schema();
    for sql in SAME {
        let Outcome::Rows(wanted) = fixture.run(sql) else { panic!("{sql}: {:?}", fixture.run(sql)) };
        let query = resolve(sql, schema).unwrap_or_else(|error| panic!("{sql}: {error}"));
        let printed = print(&query, schema, PrintDialect::Sqlite).unwrap();
        match fixture.run(&printed) {
            Outcome::Rows(rows) => assert_eq!(rows.values(), wanted.values(), "{sql}\n{printed}"),
            failed @ Outcome::Failed(_) => panic!("{sql}\n{printed}\n{failed:?}"),
        }
        // Printing is a normal form: what it prints resolves to the same tree.
        let (mut first, mut again) = (query, resolve(&printed, schema).unwrap());
        renumber(&mut first);
        renumber(&mut again);
        assert_eq!(print(&again, schema, PrintDialect::Sqlite).unwrap(), printed, "{sql}");
    }
}

#[test]
fn what_sqlite_refuses_for_a_name_is_refused_for_the_same_name() {
    let fixture = Fixture::new();
    for (sql, place) in [
        ("SELECT nope FROM t", Some((1, 8))),
        ("SELECT t.nope FROM t", Some((1, 10))),
        ("SELECT a FROM t AS x WHERE t.a = 1", Some((1, 30))),
        ("SELECT x.y.z FROM t", Some((1, 12))),
        ("SELECT a FROM t, u", Some((1, 8))),
        ("SELECT nope FROM missing", Some((1, 18))),
        ("SELECT nope,\n  (SELECT 1 FROM missing) FROM t", Some((2, 18))),
        ("SELECT missing.* FROM t", Some((1, 8))),
        ("SELECT a FROM t WHERE id IN (SELECT nope FROM u)", Some((1, 37))),
        ("SELECT rowid FROM w", Some((1, 8))),
        ("SELECT rowid FROM big", Some((1, 8))),
        // The place is the first that shows the name, here not the one at fault.
        ("SELECT a FROM t LIMIT a", Some((1, 8))),
        ("SELECT `nope` FROM t", Some((1, 8))),
        ("SELECT n + 1, a AS n FROM t", Some((1, 8))),
        ("SELECT nope FROM t; SELECT 1", Some((1, 8))),
    ] {
        let Outcome::Failed(failure) = fixture.run(sql) else { panic!("{sql} runs") };
        let error = resolve(sql, fixture.database.schema()).unwrap_err();
        assert_eq!(error.kind().to_string(), failure.message, "{sql}");
        let kind = match error.kind() {
            ErrorKind::UnknownTable(_) => FailureKind::NoSuchTable,
            ErrorKind::UnknownColumn(_) => FailureKind::NoSuchColumn,
            ErrorKind::AmbiguousColumn(_) => FailureKind::AmbiguousColumn,
            other => panic!("{sql}: {other}"),
        };
        assert_eq!(kind, failure.kind, "{sql}");
        let position = error.position().map(|position| (position.line, position.column));
        assert_eq!(position, place, "{sql}");
    }
}

#[test]
fn what_is_no_query_is_named() {
    let fixture = Fixture::new();
    let schema = fixture.database.schema();
    let kind = |sql: &str| resolve(sql, schema).unwrap_err().kind().clone();
    assert_eq!(kind(" -- nothing\n ;"), ErrorKind::Empty);
    assert_eq!(kind("SELECT 1; SELECT 2"), ErrorKind::MultipleStatements);
    assert_eq!(kind("DROP TABLE t"), ErrorKind::NotAQuery("DROP TABLE"));
    assert_eq!(kind("EXPLAIN SELECT 1"), ErrorKind::NotAQuery("EXPLAIN"));
    assert!(matches!(kind("SELECT ?1"), ErrorKind::Unsupported(_)));
    assert!(matches!(kind("SELEC 1"), ErrorKind::Syntax(_)));
    assert!(matches!(kind("SELECT 'open"), ErrorKind::Syntax(_)));
    assert!(matches!(kind("SELECT a\0 FROM t"), ErrorKind::Syntax(_)));
    assert!(matches!(kind("SELECT a FROM t UNION SELECT a, b FROM t"), ErrorKind::OperandWidths("UNION")));
    assert!(matches!(kind("SELECT a FROM t ORDER BY 2"), ErrorKind::OrdinalOutOfRange { .. }));
    let deep = format!("SELECT {}1{}", "(".repeat(10_000), ")".repeat(10_000));
    assert!(matches!(kind(&deep), ErrorKind::Unsupported(_)));
    let long = format!("SELECT 1{}", " + 1".repeat(1_000_000));
    assert!(matches!(kind(&long), ErrorKind::Unsupported(_)));
}
