//! What the facts say of affinities, collations and values, judged by SQLite itself: its own byte code tells how it
//! compares two operands, and hostile rows tell which values there are.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use rusqlite::Connection;
use sqlgauge_sql::derive::{Fact, Facts, Operand, ValueDomain};
use sqlgauge_sql::resolve;
use sqlgauge_sql::schema::{Affinity, Schema};
use sqlgauge_sql::tree::{Expr, Query};

const DDL: &str = "
    CREATE TABLE t (k INTEGER PRIMARY KEY, i INTEGER, n NUMERIC, r REAL, x TEXT, b BLOB, u, d DATE,
        c TEXT COLLATE NOCASE, e TEXT COLLATE RTRIM, y COLLATE NOCASE, z INT NOT NULL);
    CREATE TABLE s (si INT, sr REAL, st TEXT, sb BLOB, sa ANY, sk INTEGER PRIMARY KEY) STRICT;
    CREATE TABLE w (p TEXT COLLATE NOCASE PRIMARY KEY, q) WITHOUT ROWID;
    CREATE VIEW v AS SELECT i AS vi, r AS vr, x AS vx, u AS vu, c AS vc, upper(c) AS vup, i + 1 AS vadd,
        CAST(x AS INTEGER) AS vcast, x || '' AS vcat, c COLLATE RTRIM AS vcol, (SELECT c FROM t LIMIT 1) AS vsub,
        +c AS vplus, k AS vk FROM t;
    CREATE VIEW vv AS SELECT vc AS wc, vadd AS wadd, vu AS wu, vcol AS wcol FROM v;
    CREATE VIEW vu AS SELECT i AS ui, c AS uc, x AS ux, u AS uu FROM t UNION ALL SELECT k, x, c, u FROM t;
    CREATE VIEW vm AS SELECT i AS mi, x AS mx FROM t UNION SELECT r, i FROM t;
";

/// Every operand below can be read in this FROM clause.
const FROM: &str = "t, s, w, v, vv, vu, vm, (SELECT c AS qc, lower(c) AS ql, u AS qu, count(*) AS qn FROM t GROUP BY u) q, \
    (VALUES (1, 'a'), (1.0, 'A')) l";

const OPERANDS: &[&str] = &[
    "t.k",
    "t.rowid",
    "t.i",
    "t.n",
    "t.r",
    "t.x",
    "t.b",
    "t.u",
    "t.d",
    "t.c",
    "t.e",
    "t.y",
    "t.z",
    "si",
    "sr",
    "st",
    "sb",
    "sa",
    "sk",
    "p",
    "q.qc",
    "q.ql",
    "q.qu",
    "q.qn",
    "vi",
    "vr",
    "vx",
    "vu.uu",
    "v.vu",
    "vc",
    "vup",
    "vadd",
    "vcast",
    "vcat",
    "vcol",
    "vsub",
    "vplus",
    "wc",
    "wadd",
    "wu",
    "wcol",
    "ui",
    "uc",
    "ux",
    "mi",
    "mx",
    "l.column1",
    "l.column2",
    "CAST(t.i AS TEXT)",
    "CAST(t.k AS TEXT)",
    "CAST(vk AS TEXT)",
    "CAST(t.c AS INTEGER)",
    "CAST(t.c AS BLOB)",
    "CAST(t.r AS NUMERIC)",
    "+t.c",
    "+t.i",
    "-t.i",
    "t.c || t.x",
    "t.x COLLATE NOCASE",
    "(t.x COLLATE RTRIM) || t.c",
    "upper(t.x COLLATE NOCASE)",
    "CAST(t.x COLLATE NOCASE AS TEXT)",
    "CASE WHEN t.i THEN t.c ELSE t.x END",
    "CASE WHEN t.i THEN t.c COLLATE RTRIM END",
    "(SELECT c FROM t)",
    "(SELECT i FROM t)",
    "(SELECT x FROM t UNION SELECT i FROM t)",
    "coalesce(t.c, 'a')",
    "t.i + t.r",
    "t.i * 1.0",
    "1.0 * t.x",
    "t.i = t.x",
    "length(t.x)",
    "round(t.i)",
    "abs(t.u)",
    "NOT t.i",
    "~t.i",
    "t.i / 2",
    "t.r % 2",
    "substr(t.c, 1, 1)",
    "min(t.c, t.x)",
    "nullif(t.c, 'a')",
    "ifnull(t.i, t.r)",
    "iif(t.i, t.c, t.x)",
];

/// Values that equal one another under some affinity or collation, and others.
const HOSTILE: &[&str] = &[
    "NULL",
    "0",
    "1",
    "1.0",
    "'1'",
    "'1.0'",
    "' 1 '",
    "1.5",
    "'1.5'",
    "'a'",
    "'A'",
    "'a '",
    "'A '",
    "''",
    "x'61'",
    "x'31'",
    "9007199254740993",
    "9007199254740992.0",
    "'1e0'",
    "-0.0",
    "0.0",
    "'0x10'",
    "'abc1'",
    "9223372036854775807",
    "9223372036854775808.0",
    "-1",
    "'-1'",
    "1e300",
];

fn fill(connection: &Connection) {
    for (place, value) in HOSTILE.iter().enumerate() {
        let other = HOSTILE[(place * 7 + 3) % HOSTILE.len()];
        let row = format!(
            "INSERT INTO t (i, n, r, x, b, u, d, c, e, y, z) SELECT {value}, {value}, {value}, {value}, {value}, {value}, \
             {value}, {value}, {other}, {value}, {place}"
        );
        connection.execute(&row, []).unwrap();
        for (column, kind) in [("si", "INT"), ("sr", "REAL"), ("st", "TEXT"), ("sb", "BLOB"), ("sa", "ANY")] {
            // A STRICT column refuses what is not of its type.
            let refused =
                connection.execute(&format!("INSERT INTO s ({column}) SELECT {value}"), []).is_err();
            assert!(!refused || kind != "ANY", "{value}");
        }
        let _ = connection
            .execute(&format!("INSERT INTO w SELECT {value}, {other} WHERE {value} IS NOT NULL"), []);
    }
}

/// What SQLite does with `left = right`: the affinity bits and the collation of its comparison.
fn judged(connection: &Connection, left: &str, right: &str) -> BTreeSet<(u8, String)> {
    let mut statement =
        connection.prepare(&format!("EXPLAIN SELECT ({left}) = ({right}) FROM {FROM}")).unwrap();
    let rows = statement.query_map([], |row| {
        Ok((row.get::<_, String>(1)?, row.get::<_, Option<String>>(5)?, row.get::<_, i64>(6)?))
    });
    let all: Vec<(String, Option<String>, i64)> = rows.unwrap().map(Result::unwrap).collect();
    // The outermost comparison is the last that stores its result and does not jump.
    let compares = all.iter().filter(|(op, ..)| matches!(op.as_str(), "Eq" | "Ne"));
    compares
        .map(|(_, collation, flags)| {
            let name = collation.as_deref().unwrap_or_default().split('-').next().unwrap_or_default();
            // No collation is BINARY; all numeric affinities compare alike, and so do NONE and BLOB.
            let name = if name.is_empty() { "BINARY" } else { name };
            let affinity = match u8::try_from(flags & 0x47).unwrap() {
                0x42 => 0x42,
                0x43.. => 0x43,
                _ => 0x41,
            };
            (affinity, name.to_owned())
        })
        .collect()
}

fn output(query: &Query) -> &Expr {
    &query.as_select().unwrap().outputs[0].expr
}

/// The affinity bits by which SQLite compares operands of those affinities.
fn bits(left: Option<Affinity>, right: Option<Affinity>) -> u8 {
    let numeric = |affinity: Option<Affinity>| affinity.is_some_and(Affinity::is_numeric);
    match (left, right) {
        _ if numeric(left) || numeric(right) => 0x43,
        (Some(Affinity::Text), None) | (None, Some(Affinity::Text)) => 0x42,
        _ => 0x41,
    }
}

#[test]
fn sqlite_compares_by_the_affinity_and_the_collation_that_the_facts_name() {
    let schema = Schema::from_ddl(DDL).unwrap();
    let connection = Connection::open_in_memory().unwrap();
    connection.execute_batch(DDL).unwrap();
    let (mut failures, mut count, mut unknown) = (String::new(), 0, BTreeSet::new());
    for left in OPERANDS {
        for right in OPERANDS {
            let query = resolve(&format!("SELECT ({left}) = ({right}) FROM {FROM}"), &schema).unwrap();
            let facts = Facts::of(&query, &schema);
            let Expr::Binary(_, a, b) = output(&query) else { panic!("{left} {right}") };
            let (a, b): (Operand, Operand) = (facts.operand(a), facts.operand(b));
            let (Fact::Known(of_a), Fact::Known(of_b)) = (a.affinity, b.affinity) else {
                unknown.extend(
                    [(a, left), (b, right)]
                        .iter()
                        .filter(|(o, _)| o.affinity == Fact::Unknown)
                        .map(|(_, name)| **name),
                );
                continue;
            };
            // Texts on both sides, so that the collation is named.
            let text = |operand: &Operand| Operand {
                values: ValueDomain::TEXT,
                affinity: Fact::Known(None),
                ..operand.clone()
            };
            let Fact::Known(collation) = text(&a).compared_with(&text(&b)).collation else {
                let brings_unknown = [(a, left), (b, right)];
                let brings_unknown =
                    brings_unknown.iter().filter(|(operand, _)| operand.collating == Fact::Unknown);
                unknown.extend(brings_unknown.map(|(_, name)| **name));
                continue;
            };
            count += 1;
            let expected = (bits(of_a, of_b), collation.name().to_owned());
            let answer = judged(&connection, left, right);
            // rowid and integer keys bring no collation, and numbers need none.
            let is_numeric = !a.values.may_be(ValueDomain::TEXT) || !b.values.may_be(ValueDomain::TEXT);
            let fits = answer
                .iter()
                .any(|(affinity, name)| *affinity == expected.0 && (is_numeric || *name == expected.1));
            if !fits {
                let _ = writeln!(failures, "{left} = {right}: the facts say {expected:?}, SQLite {answer:?}");
            }
        }
    }
    assert!(failures.is_empty(), "{failures}");
    assert!(count > 4_000, "{count} known; unknown: {unknown:?}");
    assert!(
        unknown.iter().all(|name| ["CAST(vk AS TEXT)", "mx", "ux", "vsub"].contains(name)),
        "{unknown:?}"
    );
}

#[test]
fn every_value_that_occurs_is_among_those_that_the_facts_name() {
    let schema = Schema::from_ddl(DDL).unwrap();
    let connection = Connection::open_in_memory().unwrap();
    connection.execute_batch(DDL).unwrap();
    fill(&connection);
    let mut failures = String::new();
    for operand in OPERANDS {
        let sql = format!("SELECT {operand} FROM {}", from_of(operand));
        let query = resolve(&sql, &schema).unwrap();
        let facts = Facts::of(&query, &schema);
        let values = facts.values(output(&query));
        let nullable = facts.is_nullable(output(&query));
        let inner = format!("SELECT {operand} AS o FROM {}", from_of(operand));
        let text = format!(
            "SELECT DISTINCT quote(o), typeof(o), typeof(o) = 'real' AND o = CAST(o AS INTEGER), looks_numeric(o) FROM ({inner})"
        );
        connection
            .create_scalar_function(
                "looks_numeric",
                1,
                rusqlite::functions::FunctionFlags::SQLITE_UTF8,
                |context| {
                    let text = context.get_raw(0);
                    Ok(text.as_str().is_ok_and(|text| text.trim().parse::<f64>().is_ok()))
                },
            )
            .unwrap();
        let mut statement = connection.prepare(&text).unwrap();
        let rows = statement.query_map([], |row| {
            Ok((
                row.get::<_, String>(0)?,
                row.get::<_, String>(1)?,
                row.get::<_, bool>(2)?,
                row.get::<_, bool>(3)?,
            ))
        });
        for row in rows.unwrap() {
            let (quoted, kind, whole, number) = row.unwrap();
            let one = match kind.as_str() {
                "integer" => ValueDomain::INTEGER,
                "real" if whole => ValueDomain::WHOLE_REAL,
                "real" => ValueDomain::OTHER_REAL,
                "text" if number => ValueDomain::NUMBER_TEXT,
                "text" => ValueDomain::OTHER_TEXT,
                "blob" => ValueDomain::BLOB,
                _ if nullable => continue,
                _ => ValueDomain::ANY,
            };
            if !values.may_be(one) || one == ValueDomain::ANY {
                let _ = writeln!(
                    failures,
                    "{operand}: {kind} {quoted} is not among {values:?}, nullable {nullable}"
                );
            }
        }
    }
    assert!(failures.is_empty(), "{failures}");
}

/// One relation is enough for an operand, and keeps the product small.
fn from_of(operand: &str) -> &'static str {
    let names = [
        ("q.", "(SELECT c AS qc, lower(c) AS ql, u AS qu, count(*) AS qn FROM t GROUP BY u) q"),
        ("l.", "(VALUES (1, 'a'), (1.0, 'A')) l"),
        ("vu.", "vu"),
        ("v.", "v"),
        ("s", "s"),
        ("p", "w"),
        ("v", "v"),
        ("w", "vv"),
        ("u", "vu"),
        ("m", "vm"),
    ];
    if operand.contains("vk") {
        return "v";
    }
    let bare = operand.chars().all(|c| c.is_ascii_alphanumeric() || c == '.');
    let source =
        names.iter().find(|(prefix, _)| bare && !operand.starts_with("t.") && operand.starts_with(prefix));
    source.map_or("t", |(_, from)| from)
}

#[test]
fn equality_means_what_the_facts_say_it_means() {
    let schema = Schema::from_ddl(DDL).unwrap();
    let connection = Connection::open_in_memory().unwrap();
    connection.execute_batch(DDL).unwrap();
    fill(&connection);
    let columns = [
        "k",
        "i",
        "n",
        "r",
        "x",
        "b",
        "u",
        "d",
        "c",
        "e",
        "y",
        "z",
        "CAST(x AS INTEGER)",
        "x || ''",
        "i + 1",
        "r + 0",
    ];
    let mut failures = String::new();
    let (mut identical, mut fixing) = (0, 0);
    for left in columns {
        let query = resolve(&format!("SELECT {left} FROM t"), &schema).unwrap();
        let facts = Facts::of(&query, &schema);
        if facts.is_identity(output(&query)) {
            let sql = format!(
                "SELECT max(n) FROM (SELECT count(DISTINCT typeof(o) || quote(o)) AS n FROM (SELECT {left} AS o FROM t) GROUP BY o)"
            );
            let most: i64 = connection.query_row(&sql, [], |row| row.get(0)).unwrap();
            if most > 1 && left != "r" && left != "r + 0" {
                let _ = writeln!(failures, "{left} is no identity: {most} values are equal");
            }
        }
        for right in columns {
            let on = |table: &str, text: &str| {
                let mut out = String::new();
                for word in text.split_inclusive(|c: char| !c.is_ascii_alphanumeric()) {
                    let bare = word.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
                    let is_column = columns.contains(&bare) && !bare.is_empty();
                    let _ = if is_column { write!(out, "{table}.{word}") } else { write!(out, "{word}") };
                }
                out
            };
            let (a, b) = (on("a", left), on("b", right));
            let query = resolve(&format!("SELECT {a} = {b} FROM t a, t b"), &schema).unwrap();
            let facts = Facts::of(&query, &schema);
            let Expr::Binary(_, of_a, of_b) = output(&query) else { panic!() };
            let distinct = |group: &str, what: &str| -> i64 {
                let sql = format!(
                    "SELECT coalesce(max(n), 0) FROM (SELECT count(DISTINCT typeof({what}) || quote({what})) AS n FROM t a, t b \
                     WHERE {a} = {b} GROUP BY typeof({group}) || quote({group}))"
                );
                connection.query_row(&sql, [], |row| row.get(0)).unwrap()
            };
            if facts.equality_fixes(of_a, of_b) {
                fixing += 1;
                if distinct(&a, &b) > 1 && !right.starts_with('r') {
                    let _ = writeln!(failures, "{a} = {b} does not fix {b}");
                }
            }
            if facts.equals_are_identical(of_a, of_b) {
                identical += 1;
                let sql = format!(
                    "SELECT count(*) FROM t a, t b WHERE {a} = {b} AND typeof({a}) || quote({a} + 0) || quote({a}) <> typeof({b}) || quote({b} + 0) || quote({b}) \
                     AND NOT ({a} = 0.0 AND typeof({a}) = 'real')"
                );
                let different: i64 = connection.query_row(&sql, [], |row| row.get(0)).unwrap();
                if different > 0 {
                    let _ = writeln!(failures, "{a} = {b} holds for {different} pairs of different values");
                }
            }
        }
    }
    assert!(failures.is_empty(), "{failures}");
    assert!(identical > 20 && fixing > identical, "{identical} {fixing}");
}
