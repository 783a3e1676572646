//! What a construct becomes, and what is refused: one line per class.

use sqlgauge_dialects::{TypedSchema, dialect, translate};
use sqlgauge_sql::resolve;
use sqlgauge_sql::schema::Schema;

const DDL: &str =
    "CREATE TABLE t (id INTEGER PRIMARY KEY, i INTEGER, n INTEGER NOT NULL, r REAL, x TEXT, d DATE, u);
                   CREATE TABLE s (t_id INT REFERENCES t(id), y TEXT, z TEXT COLLATE NOCASE);
                   CREATE VIEW v AS SELECT i FROM t";

/// The text of a query, or the construct that is refused.
fn translation(name: &str, sql: &str) -> String {
    let schema = Schema::from_ddl(DDL).expect("DDL of SQLite");
    let typed = TypedSchema::declared(&schema);
    let query = resolve(sql, &schema).unwrap_or_else(|error| panic!("{sql}: {error}"));
    match translate(&query, &typed, dialect(name).expect("a dialect")) {
        Ok(text) => text,
        Err(refused) => refused.construct.name().to_owned(),
    }
}

#[test]
fn a_number_that_is_compared_with_a_text_is_compared_as_a_number() {
    let text = translation("postgres", "SELECT 1 FROM t WHERE id < '5' AND i BETWEEN '1' AND '9'");
    assert_eq!(text, r#"SELECT 1 FROM "t" WHERE "t"."id" < 5 AND "t"."i" BETWEEN 1 AND 9"#);
}

#[test]
fn meanings_are_carried() {
    for (name, sql, expected) in [
        // Division: integers are cut, 0 gives NULL.
        ("postgres", "SELECT i / n FROM t", r#"SELECT "t"."i" / NULLIF("t"."n", 0) FROM "t""#),
        ("duckdb", "SELECT i / 2 FROM t", r#"SELECT "t"."i" // 2 FROM "t""#),
        ("mysql", "SELECT i / 2 FROM t", "SELECT `t`.`i` DIV 2 FROM `t`"),
        ("snowflake", "SELECT i / 2 FROM t", r#"SELECT ("t"."i" - "t"."i" % 2) / 2 FROM "t""#),
        // NULLs are the smallest values, where there can be some.
        ("postgres", "SELECT i FROM t ORDER BY i", r#"SELECT "t"."i" FROM "t" ORDER BY "t"."i" NULLS FIRST"#),
        ("postgres", "SELECT n FROM t ORDER BY n", r#"SELECT "t"."n" FROM "t" ORDER BY "t"."n""#),
        ("duckdb", "SELECT i FROM t ORDER BY i DESC", r#"SELECT "t"."i" FROM "t" ORDER BY "t"."i" DESC"#),
        ("mysql", "SELECT i FROM t ORDER BY i", "SELECT `t`.`i` FROM `t` ORDER BY `t`.`i`"),
        (
            "mysql",
            "SELECT i FROM t ORDER BY i NULLS LAST",
            "SELECT `t`.`i` FROM `t` ORDER BY CASE WHEN `t`.`i` IS NULL THEN 1 ELSE 0 END, `t`.`i`",
        ),
        // Texts are ordered byte by byte, also where only results can be sorted by.
        (
            "postgres",
            "SELECT DISTINCT x FROM t WHERE x > 'a' ORDER BY x DESC",
            r#"SELECT "q"."c1" FROM (SELECT DISTINCT "t"."x" AS "c1" FROM "t" WHERE "t"."x" COLLATE "C" > 'a') AS "q" ORDER BY "q"."c1" COLLATE "C" DESC NULLS LAST"#,
        ),
        // LIKE knows ASCII letters alone.
        (
            "postgres",
            "SELECT 1 FROM t WHERE x NOT LIKE 'A\\%'",
            r#"SELECT 1 FROM "t" WHERE ("t"."x" COLLATE "C") NOT ILIKE 'A\\%'"#,
        ),
        (
            "duckdb",
            "SELECT 1 FROM t WHERE x LIKE '5!%%' ESCAPE '!'",
            r#"SELECT 1 FROM "t" WHERE "t"."x" LIKE '5!%%' ESCAPE '!'"#,
        ),
        // Conditions are numbers, and numbers conditions.
        (
            "postgres",
            "SELECT i > 1 FROM t WHERE n",
            r#"SELECT CAST("t"."i" > 1 AS INTEGER) FROM "t" WHERE "t"."n" <> 0"#,
        ),
        ("mysql", "SELECT i > 1 FROM t", "SELECT `t`.`i` > 1 FROM `t`"),
        // A constant becomes what the affinity of the column makes of it.
        (
            "duckdb",
            "SELECT 1 FROM t WHERE i = '5' AND x = 5",
            r#"SELECT 1 FROM "t" WHERE "t"."i" = 5 AND "t"."x" = '5'"#,
        ),
        ("duckdb", "SELECT 1 FROM t WHERE i < 'a'", r#"SELECT 1 FROM "t" WHERE "t"."i" = "t"."i""#),
        ("duckdb", "SELECT 1 FROM t WHERE d = '1995'", r#"SELECT 1 FROM "t" WHERE "t"."d" <> "t"."d""#),
        // Columns that the groups determine are grouped by.
        (
            "postgres",
            "SELECT x, COUNT(*) FROM t JOIN s ON t.id = s.t_id GROUP BY s.t_id",
            r#"SELECT "t"."x", COUNT(*) FROM "t" JOIN "s" ON "t"."id" = "s"."t_id" GROUP BY "s"."t_id", "t"."x""#,
        ),
        // A subquery as a value is its first row.
        (
            "duckdb",
            "SELECT (SELECT y FROM s), (SELECT MAX(y) FROM s)",
            r#"SELECT (SELECT "T1"."y" FROM "s" AS "T1" LIMIT 1), (SELECT MAX("T2"."y") FROM "s" AS "T2")"#,
        ),
        // LEAST passes NULLs over.
        (
            "postgres",
            "SELECT MIN(n, i) FROM t",
            r#"SELECT CASE WHEN "t"."i" IS NULL THEN NULL ELSE LEAST("t"."n", "t"."i") END FROM "t""#,
        ),
        // Set operations are left-associative and of one precedence.
        (
            "postgres",
            "SELECT i FROM t UNION SELECT n FROM t INTERSECT SELECT 1",
            r#"(SELECT "T1"."i" FROM "t" AS "T1" UNION SELECT "T2"."n" FROM "t" AS "T2") INTERSECT SELECT 1"#,
        ),
        ("oracle", "SELECT n FROM t EXCEPT SELECT 1", r#"SELECT "t"."n" FROM "t" MINUS SELECT 1 FROM DUAL"#),
        // Parts of the rows.
        ("mssql", "SELECT n FROM t LIMIT 3", "SELECT TOP (3) [t].[n] FROM [t]"),
        (
            "mssql",
            "SELECT n FROM t LIMIT 3 OFFSET 2",
            "SELECT [t].[n] FROM [t] ORDER BY (SELECT NULL) OFFSET 2 ROWS FETCH NEXT 3 ROWS ONLY",
        ),
        ("oracle", "SELECT n FROM t LIMIT 3", r#"SELECT "t"."n" FROM "t" FETCH NEXT 3 ROWS ONLY"#),
        ("hive", "SELECT n FROM t LIMIT 3 OFFSET 2", "SELECT `t`.`n` FROM `t` LIMIT 2, 3"),
        ("postgres", "SELECT n FROM t LIMIT -1 OFFSET 2", r#"SELECT "t"."n" FROM "t" OFFSET 2"#),
        // A filter is a CASE where there is no FILTER.
        (
            "duckdb",
            "SELECT COUNT(*) FILTER (WHERE n > 1) FROM t",
            r#"SELECT COUNT(*) FILTER (WHERE "t"."n" > 1) FROM "t""#,
        ),
        (
            "mysql",
            "SELECT COUNT(*) FILTER (WHERE n > 1) FROM t",
            "SELECT COUNT(CASE WHEN `t`.`n` > 1 THEN 1 END) FROM `t`",
        ),
        // Where sums of real numbers decide which rows there are, they are exact.
        (
            "duckdb",
            "SELECT SUM(r) FROM t HAVING AVG(r) > 1.5",
            r#"SELECT SUM("t"."r") FROM "t" HAVING FAVG("t"."r") > 1.5"#,
        ),
        // A condition that reads a table further right stands in WHERE.
        (
            "postgres",
            "SELECT 1 FROM t JOIN s ON t.id = w.n JOIN t AS w",
            r#"SELECT 1 FROM "t" AS "T1" CROSS JOIN "s" CROSS JOIN "t" AS "T2" WHERE "T1"."id" = "T2"."n""#,
        ),
        // Texts of one's own.
        ("mysql", "SELECT 'it''s \\'", r"SELECT 'it\'s \\'"),
        ("postgres", "SELECT x'0aff'", r"SELECT '\x0aff'::bytea"),
        ("bigquery", "SELECT i FROM t UNION SELECT 1", "SELECT `t`.`i` FROM `t` UNION DISTINCT SELECT 1"),
    ] {
        assert_eq!(translation(name, sql), expected, "{name}: {sql}");
    }
}

/// LOWER knows all letters.
#[test]
fn letters_that_lower_makes_ascii_are_set_apart_where_the_pattern_could_take_them_for_one() {
    for (name, sql, expected) in [
        ("mysql", "SELECT 1 FROM t WHERE x LIKE 'ab%'", "SELECT 1 FROM `t` WHERE LOWER(`t`.`x`) LIKE 'ab%'"),
        (
            "mysql",
            "SELECT 1 FROM t WHERE x NOT LIKE 'K%'",
            "SELECT 1 FROM `t` WHERE LOWER(REPLACE(`t`.`x`, '\u{212a}', '¿')) NOT LIKE 'k%'",
        ),
        (
            "mysql",
            "SELECT 1 FROM t WHERE x LIKE 'a_'",
            "SELECT 1 FROM `t` WHERE LOWER(REPLACE(`t`.`x`, '\u{130}', '¿')) LIKE 'a_'",
        ),
        (
            "spark",
            "SELECT 1 FROM t WHERE x LIKE '%ik%'",
            "SELECT 1 FROM `t` WHERE LOWER(REPLACE(REPLACE(`t`.`x`, '\u{212a}', '¿'), '\u{130}', '¿')) LIKE '%ik%'",
        ),
    ] {
        assert_eq!(translation(name, sql), expected, "{name}: {sql}");
    }
}

#[test]
fn groups_and_distinct_rows_are_stood_for_as_in_sqlite() {
    for (name, sql, expected) in [
        // Those beside one MIN or MAX are of its row, of equal rows all of the same one.
        (
            "duckdb",
            "SELECT x, d, MAX(i), COUNT(*) FROM t GROUP BY n",
            r#"SELECT FIRST("t"."x" ORDER BY "t"."i" DESC, "t"."x" NULLS FIRST, "t"."d" NULLS FIRST), FIRST("t"."d" ORDER BY "t"."i" DESC, "t"."x" NULLS FIRST, "t"."d" NULLS FIRST), MAX("t"."i"), COUNT(*) FROM "t" GROUP BY "t"."n""#,
        ),
        (
            "postgres",
            "SELECT MIN(i) FROM t GROUP BY n HAVING COUNT(*) > 1 AND id + MIN(i) > 2 ORDER BY id",
            r#"SELECT MIN("t"."i") FROM "t" GROUP BY "t"."n" HAVING COUNT(*) > 1 AND ((ARRAY_AGG("t"."id" ORDER BY "t"."i", "t"."id"))[1]) + MIN("t"."i") > 2 ORDER BY (ARRAY_AGG("t"."id" ORDER BY "t"."i", "t"."id"))[1]"#,
        ),
        // One row needs no order.
        (
            "postgres",
            "SELECT SUM(i) FROM t ORDER BY x LIMIT 3",
            r#"SELECT CAST(SUM("t"."i") AS BIGINT) FROM "t" LIMIT 3"#,
        ),
        // DISTINCT rows sorted by what they determine.
        (
            "duckdb",
            "SELECT DISTINCT id FROM t ORDER BY n DESC LIMIT 2",
            r#"SELECT "q"."c1" FROM (SELECT DISTINCT "t"."id" AS "c1", "t"."n" AS "c2" FROM "t") AS "q" ORDER BY "q"."c2" DESC LIMIT 2"#,
        ),
        (
            "postgres",
            "SELECT DISTINCT i FROM t GROUP BY i ORDER BY COUNT(*)",
            r#"SELECT "q"."c1" FROM (SELECT DISTINCT "t"."i" AS "c1", COUNT(*) AS "c2" FROM "t" GROUP BY "t"."i") AS "q" ORDER BY "q"."c2" NULLS FIRST"#,
        ),
    ] {
        assert_eq!(translation(name, sql), expected, "{name}: {sql}");
    }
}

#[test]
fn what_cannot_be_said_is_refused_by_name() {
    for (name, sql, expected) in [
        ("postgres", "SELECT u FROM t", "mixed_column"),
        ("postgres", "SELECT COALESCE(i, x) FROM t", "mixed_types"),
        ("postgres", "SELECT 1 FROM t WHERE i = x", "mixed_comparison"),
        ("postgres", "SELECT x, SUM(i) FROM t", "bare_column"),
        ("postgres", "SELECT x, MAX(i), MIN(i) FROM t", "bare_column"),
        ("postgres", "SELECT x, MAX(i) FILTER (WHERE n > 1) FROM t", "bare_column"),
        ("postgres", "SELECT x, MAX(i), RANK() OVER (ORDER BY MAX(i)) FROM t", "bare_column"),
        ("postgres", "SELECT MAX(i), (SELECT COUNT(*) FROM s WHERE t_id = x) FROM t", "bare_column"),
        ("postgres", "SELECT n, MAX(i) FROM t GROUP BY n + 1", "bare_column"),
        ("mysql", "SELECT x, MAX(i) FROM t", "bare_column"),
        ("postgres", "SELECT x FROM t GROUP BY i", "bare_column"),
        ("postgres", "SELECT COUNT(*) FROM t GROUP BY 1 + 1", "constant_group"),
        ("postgres", "SELECT DISTINCT i FROM t ORDER BY n", "order_outside_distinct"),
        ("postgres", "SELECT DISTINCT MAX(i) FROM t GROUP BY n ORDER BY COUNT(*)", "order_outside_distinct"),
        ("postgres", "SELECT 1 FROM s WHERE z = 'a'", "collation"),
        ("postgres", "SELECT i FROM t LIMIT 1 + 1", "limit"),
        ("postgres", "SELECT r || 'a' FROM t", "number_as_text"),
        ("postgres", "SELECT i % r FROM t", "modulo"),
        ("postgres", "SELECT i & 1 FROM t", "bit_operator"),
        ("postgres", "SELECT ROUND(r, 2) FROM t", "round"),
        ("postgres", "SELECT SUBSTR(x, i) FROM t", "substring"),
        ("postgres", "SELECT strftime('%Y', x) FROM t", "date"),
        ("postgres", "SELECT printf('%d', i) FROM t", "function"),
        ("postgres", "SELECT 1 FROM t WHERE x GLOB 'a*'", "pattern"),
        ("postgres", "SELECT x -> 'a' FROM t", "json"),
        ("postgres", "SELECT rowid FROM s", "rowid"),
        ("postgres", "SELECT i FROM v", "view"),
        ("postgres", "SELECT 1 FROM json_each('[1]')", "table_function"),
        ("postgres", "SELECT group_concat(x) FROM t", "concatenation"),
        ("postgres", "SELECT 9e999", "infinite_real"),
        ("postgres", "SELECT 1 FROM t FULL JOIN s ON t.i > s.t_id", "full_join"),
        ("mysql", "SELECT 1 FROM t FULL JOIN s ON t.id = s.t_id", "full_join"),
        ("mysql", "SELECT UPPER(x) FROM t", "case_folding"),
        ("oracle", "SELECT ''", "empty_text"),
        ("oracle", "SELECT x FROM t", "empty_text"),
        ("mssql", "SELECT 'a '", "padding"),
        ("redshift", "SELECT 1 FROM t WHERE i IS n", "function"),
        (
            "clickhouse",
            "SELECT 1 FROM t WHERE EXISTS (SELECT 1 FROM s WHERE t_id = id)",
            "correlated_subquery",
        ),
        ("hive", "SELECT (SELECT 1)", "correlated_subquery"),
        (
            "spark",
            "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT n FROM c",
            "recursive_query",
        ),
        ("bigquery", "SELECT 1 FROM t LEFT JOIN s ON t.i > s.t_id", "join_condition"),
        ("snowflake", "SELECT 1 FROM t WHERE (i, n) = (n, 1) OR (i, n) < (n, 1)", "row_value"),
        ("mysql", "SELECT SUM(i) OVER (ORDER BY n GROUPS 1 PRECEDING) FROM t", "window"),
    ] {
        assert_eq!(translation(name, sql), expected, "{name}: {sql}");
    }
}

/// An operand that is compared several times is printed once, or every level of such comparisons would double the work.
#[test]
fn nested_comparisons_are_printed_in_steps_that_grow_with_the_text() {
    let nested = |depth: usize, start: &str, middle: &str, end: &str| {
        format!("{}{middle}{}", start.repeat(depth), end.repeat(depth))
    };
    for (text, end) in [
        (format!("SELECT 1 FROM t WHERE {}", nested(40, "(", "i", " BETWEEN 0 AND 1)")), "BETWEEN 0 AND 1"),
        (format!("SELECT 1 FROM t WHERE {}", nested(40, "(", "i", " IN (0, 1, 2))")), "IN (0, 1, 2)"),
        (nested(40, "WITH c AS (", "SELECT i FROM t", ") SELECT * FROM c"), "FROM `c`"),
        // The text of a CASE holds its operand in each branch, so it grows all the same.
        (
            format!("SELECT {} FROM t", nested(40, "CASE ", "i", " WHEN 0 THEN 0 WHEN 1 THEN 1 END")),
            "too_complex",
        ),
    ] {
        let output = translation("mysql", &text);
        assert!(output.ends_with(end) && output.len() < 10_000, "{output}");
    }
}

#[test]
fn a_refusal_is_a_sentence_with_what_where_and_what_to_do() {
    let schema = Schema::from_ddl(DDL).expect("DDL of SQLite");
    let typed = TypedSchema::declared(&schema);
    for (name, sql, expected) in [
        (
            "duckdb",
            "SELECT x, COUNT(*) FROM t GROUP BY n",
            "DuckDB has nothing with SQLite's meaning for a column beside an aggregate that the groups do not determine: the \
             column x; add the column to GROUP BY, or take MIN or MAX of it",
        ),
        (
            "mysql",
            "SELECT 1 FROM t WHERE x LIKE 'aé%'",
            "MySQL has nothing with SQLite's meaning for this LIKE: letters beyond ASCII in \"aé%\"; use a constant pattern of \
             ASCII letters, without ESCAPE",
        ),
        (
            "postgres",
            "SELECT 1 FROM t WHERE i = x",
            "PostgreSQL has nothing with SQLite's meaning for a comparison of a number with a text: the column i (integers) \
             with the column x (texts); CAST one side to the type of the other",
        ),
        (
            "postgres",
            "SELECT i & 1 FROM t",
            "PostgreSQL has nothing with SQLite's meaning for an operator on bits: the operator &; use arithmetic",
        ),
    ] {
        let query = resolve(sql, &schema).expect("a query");
        let refused = translate(&query, &typed, dialect(name).expect("a dialect")).expect_err("a refusal");
        assert_eq!(refused.to_string(), expected);
    }
}
