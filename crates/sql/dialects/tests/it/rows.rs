//! The rows of texts in PostgreSQL beside those of the queries in SQLite, over a small database that has what is odd: NULL,
//! zeros, negative numbers, texts that are numbers, letters of both cases and beyond ASCII.
//!
//! Runs where `SQLGAUGE_POSTGRES` names a database for `psql` (as in `postgresql:///postgres?host=/tmp/pg`) in which a schema
//! can be made; says that it skipped elsewhere. The tables go into a schema of their own, which is dropped.

use std::path::Path;
use std::process::Command;

use sqlgauge_dialects::{create_table, dialect, translate};
use sqlgauge_engine::{Engine, Limits, SqliteEngine, Value, observed_types};
use sqlgauge_sql::resolve;

const DATA: &str = "
    CREATE TABLE t (id INTEGER PRIMARY KEY, i INTEGER, r REAL, x TEXT, k TEXT, d DATE);
    INSERT INTO t VALUES (1, 7, 2.5, 'abc', '1', '2020-01-31'), (2, -7, -2.5, 'ABC', '-7', '2020-02-29'),
                         (3, 0, 0.5, 'é_%', '0', NULL), (4, NULL, NULL, NULL, NULL, '1999-12-31'),
                         (5, 2, 1.5, 'Zebra', '12', '2021-06-15'), (6, 2, 0.1, 'it''s \\ one', '2', '2021-06-15');";

const QUERIES: &[&str] = &[
    "SELECT id, i / 2, i % 3, -i / 2, 7 / i, 7 % i, r / i FROM t",
    "SELECT id, i > 0, NOT (i > 0), i IS NULL, i IS 2, i IS NOT NULL FROM t",
    "SELECT x FROM t ORDER BY x",
    "SELECT i FROM t ORDER BY i DESC, id",
    "SELECT id FROM t ORDER BY i NULLS LAST, id",
    "SELECT DISTINCT i FROM t ORDER BY i",
    "SELECT id FROM t WHERE x LIKE 'a%' OR x LIKE '%É%' OR x LIKE '%!%' ESCAPE '!' OR x LIKE '%\\%'",
    "SELECT id FROM t WHERE x LIKE '%_!%' ESCAPE '!'",
    "SELECT id, UPPER(x), LOWER(x), LENGTH(x), SUBSTR(x, 2), SUBSTR(x, 2, 2), INSTR(x, 'b'), x || i FROM t",
    "SELECT id, ROUND(r), CAST(r AS INTEGER), CAST(i AS REAL), CAST(i AS TEXT) FROM t",
    "SELECT SUM(i), AVG(i), TOTAL(i), COUNT(i), MIN(x), MAX(x), SUM(i) / COUNT(*), SUM(r) FROM t",
    "SELECT SUM(i), TOTAL(r), COUNT(*), MAX(x) FROM t WHERE id > 99",
    "SELECT i, COUNT(*) FILTER (WHERE r > 1) FROM t GROUP BY i HAVING COUNT(*) > 0 ORDER BY 1",
    "SELECT id, k + 1, k * 2.5, SUM(k) OVER () FROM t",
    "SELECT id FROM t WHERE i = k",
    "SELECT id FROM t WHERE i IN (SELECT k FROM t) OR i < 'a' AND i = 'b'",
    "SELECT id, strftime('%Y', d), strftime('%m', d), date(d) FROM t",
    "SELECT MAX(i, id), MIN(i, id), COALESCE(i, 9), NULLIF(i, 2), IIF(i > 0, 'p', 'n') FROM t",
    "SELECT i FROM t UNION SELECT id FROM t INTERSECT SELECT 2 ORDER BY 1",
    "SELECT x FROM t EXCEPT SELECT 'abc' ORDER BY 1 DESC LIMIT 2",
    "SELECT id, RANK() OVER (ORDER BY i), LAG(i, 1, 0) OVER (ORDER BY id) FROM t",
    "SELECT id, SUM(i) OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM t",
    "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 9) SELECT n, n / 2 FROM c",
    "SELECT a.id, b.id FROM t a FULL JOIN t b ON a.i = b.id",
    "SELECT a.id FROM t a JOIN t b ON a.id = c.id JOIN t c ON b.id = c.id",
    "SELECT id, (SELECT x FROM t b WHERE b.id = a.i), (SELECT 1 FROM t WHERE 1 = 0) FROM t a",
    "SELECT * FROM (VALUES (1, 'a'), (NULL, NULL))",
    "SELECT id FROM t ORDER BY id LIMIT -1 OFFSET 4",
    "SELECT group_concat(x, ';' ORDER BY x DESC) FROM t",
    "SELECT x, d, MAX(r), COUNT(*) FROM t",
    "SELECT id, x, MIN(i) FROM t WHERE id > 3 AND id < 6",
    "SELECT i, x, MAX(r) FROM t GROUP BY i HAVING x > 'A' OR i < 0 ORDER BY d, x",
    "SELECT x, MIN(i) FROM t WHERE i IS NULL",
    "SELECT x, d, MAX(i) FROM t WHERE id > 99",
    "SELECT DISTINCT id FROM t ORDER BY r DESC, x LIMIT 3",
    "SELECT SUM(i) FROM t ORDER BY x LIMIT 2",
    "SELECT id FROM t WHERE 0.1 * 3 > r AND r < (SELECT AVG(r) FROM t)",
];

#[test]
fn postgres_returns_what_sqlite_does() {
    let Ok(server) = std::env::var("SQLGAUGE_POSTGRES") else {
        eprintln!("skipped: SQLGAUGE_POSTGRES is not set");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("d.sqlite");
    rusqlite::Connection::open(&path).unwrap().execute_batch(DATA).unwrap();
    let engine = SqliteEngine::new(Limits::default());
    let database = engine.open(&path).unwrap();
    let schema = database.schema();
    let typed = observed_types(schema, &database, &engine).unwrap();
    let postgres = dialect("postgres").unwrap();
    let name = format!("sqlgauge_test_{}", std::process::id());
    let created = create_table(postgres, &typed, schema.table_id("t").unwrap()).unwrap();
    let rows = DATA.split_once("INSERT").map(|(_, rows)| format!("INSERT{rows}")).unwrap();
    let set = format!("SET search_path = {name}");
    psql(&server, folder.path(), &[&format!("CREATE SCHEMA {name}"), &set, &created, &rows]);
    let mut differences = Vec::new();
    for sql in QUERIES {
        let query = resolve(sql, schema).unwrap();
        let text = match translate(&query, &typed, postgres) {
            Ok(text) => text,
            Err(refused) => panic!("{sql}: {refused}"),
        };
        let result = engine.run(&database, sql).outcome;
        let expected = result.rows().unwrap_or_else(|| panic!("{sql}"));
        let mut expected: Vec<String> =
            expected.rows().map(|row| row.iter().map(written).collect::<Vec<_>>().join("|")).collect();
        let mut answer = psql(&server, folder.path(), &[&set, &text]);
        if !sql.contains(" ORDER BY ") {
            expected.sort();
            answer.sort();
        }
        if expected != answer {
            differences.push(format!("{sql}\n  {text}\n  {expected:?}\n  {answer:?}"));
        }
    }
    psql(&server, folder.path(), &[&format!("DROP SCHEMA {name} CASCADE")]);
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

/// A value as both sides are compared: numbers by value.
fn written(value: &Value) -> String {
    match value {
        Value::Null => "~".to_owned(),
        Value::Integer(integer) => number(&integer.to_string()),
        Value::Real(real) => number(&real.to_string()),
        Value::Decimal(decimal) => number(decimal.as_str()),
        Value::Text(text) | Value::Blob(text) => number(&String::from_utf8_lossy(text)),
    }
}

/// A number to nine digits, and any other text as it is.
fn number(text: &str) -> String {
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() => format!("{:.9e}", if value == 0.0 { 0.0 } else { value }),
        _ => text.to_owned(),
    }
}

fn psql(server: &str, folder: &Path, statements: &[&str]) -> Vec<String> {
    let script = folder.join("script.sql");
    std::fs::write(&script, statements.join(";\n")).expect("a script can be written");
    let output = Command::new("psql")
        .args(["-X", "-q", "-A", "-t", "-F", "|", "-P", "null=~", "-v", "ON_ERROR_STOP=1", "-f"])
        .arg(&script)
        .args(["-d", server])
        .output()
        .expect("psql is there");
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {message}", statements.join("; "));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().map(|line| line.split('|').map(number).collect::<Vec<_>>().join("|")).collect()
}
