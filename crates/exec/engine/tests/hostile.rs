//! Hostile SQL: each text has its typed outcome, and nothing is written anywhere.
//!
//! A program of its own: SQLite's limit on its heap is one for the process, and can only be lowered.
#![allow(clippy::unwrap_used, reason = "a test fails by panic")]

#[path = "it/common.rs"]
mod common;

use std::time::{Duration, Instant};

use common::{FIXTURE, database, engine, in_short, snapshot};
use sqlgauge_engine::{Database, Engine, Limits, SqliteEngine};

/// What a case expects: rows in short, or one of the failure kinds behind `!`.
fn meets(expected: &str, actual: &str) -> bool {
    match expected.strip_prefix('!') {
        Some(kinds) => kinds.split('|').any(|kind| kind == actual),
        None => expected == actual,
    }
}

fn check(engine: &SqliteEngine, database: &Database, cases: &[(&str, String, &str)]) {
    let mut wrong = Vec::new();
    for (name, sql, expected) in cases {
        let started = Instant::now();
        let execution = engine.run(database, sql);
        let actual = in_short(&execution.outcome);
        println!("{name:<28} {:>9.1?} {}", started.elapsed(), actual.chars().take(60).collect::<String>());
        if !meets(expected, &actual) {
            wrong.push(format!(
                "{name}: expected {expected}, got {actual} ({:?})",
                execution.outcome.failure()
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(in_short(&engine.run(database, "SELECT count(*) FROM t").outcome), "3", "usable afterwards");
}

/// Runs cases on a fresh copy of the fixture and checks that the folder is as it was.
fn on_fixture(limits: Limits, cases: &[(&str, String, &str)]) {
    let folder = tempfile::tempdir().unwrap();
    let path = database(folder.path(), "a b%?#é.sqlite", FIXTURE);
    let before = snapshot(folder.path());
    let engine = engine(limits);
    let database = engine.open(&path).unwrap();
    check(&engine, &database, cases);
    assert!(snapshot(folder.path()) == before, "the folder has changed");
}

fn case(sql: &str, expected: &'static str) -> (&'static str, String, &'static str) {
    ("", sql.to_owned(), expected)
}

fn cases(table: &[(&str, &'static str)]) -> Vec<(&'static str, String, &'static str)> {
    table.iter().map(|(sql, expected)| case(sql, expected)).collect()
}

/// Every time limit here is long: only the kind of outcome counts.
fn patient() -> Limits {
    Limits { timeout: Duration::from_secs(20), max_heap_bytes: 64 << 20, ..Limits::default() }
}

#[test]
fn steps_are_a_limit_that_no_clock_decides() {
    let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";
    on_fixture(
        Limits { max_vm_steps: 100_000, ..patient() },
        &cases(&[("SELECT count(*) FROM t", "3"), (endless, "!too_large")]),
    );
}

#[test]
fn statements_that_are_not_queries_are_denied() {
    on_fixture(
        patient(),
        &cases(&[
            ("DROP TABLE t", "!denied"),
            ("DROP TABLE IF EXISTS nowhere", "!denied"),
            ("DROP TABLE nowhere", "!denied"),
            ("DELETE FROM t", "!denied"),
            ("DELETE FROM t RETURNING *", "!denied"),
            ("INSERT INTO t VALUES (9, 'x', 0)", "!denied"),
            ("INSERT INTO plain VALUES ('x')", "!denied"),
            ("REPLACE INTO t VALUES (1, 'x', 0)", "!denied"),
            ("UPDATE t SET name = 'x' RETURNING id", "!denied"),
            ("WITH w AS (SELECT 1) INSERT INTO t SELECT 4, 'x', 0 FROM w", "!denied"),
            ("WITH w AS (SELECT 1) DELETE FROM t RETURNING id", "!denied"),
            ("CREATE TABLE u(a)", "!denied"),
            ("CREATE TEMP TABLE u AS SELECT * FROM t", "!denied"),
            ("CREATE TABLE IF NOT EXISTS t(a)", "!denied"),
            ("CREATE VIEW u AS SELECT 1", "!denied"),
            ("CREATE INDEX u ON t(score)", "!denied"),
            (
                "CREATE TRIGGER u AFTER INSERT ON t BEGIN SELECT 1; END",
                "!denied|syntax_error|multiple_statements",
            ),
            ("CREATE VIRTUAL TABLE u USING fts5(a)", "!denied"),
            ("ALTER TABLE t RENAME TO u", "!denied"),
            ("REINDEX", "!denied"),
            ("ANALYZE", "!denied"),
            ("VACUUM", "!denied"),
            ("VACUUM INTO 'copy.sqlite'", "!denied"),
            ("ATTACH 'other.sqlite' AS o", "!denied"),
            ("ATTACH ':memory:' AS o", "!denied"),
            ("DETACH main", "!denied"),
            ("BEGIN EXCLUSIVE", "!denied"),
            ("COMMIT", "!denied"),
            ("ROLLBACK", "!denied"),
            ("SAVEPOINT s", "!denied"),
            ("PRAGMA writable_schema = ON", "!denied"),
            ("PRAGMA journal_mode = DELETE", "!denied"),
            ("PRAGMA hard_heap_limit = 1", "!denied"),
            ("PRAGMA temp_store_directory = '/'", "!denied"),
            ("PRAGMA table_info(t)", "!denied"),
            ("PRAGMA no_such_pragma", "!denied"),
            ("EXPLAIN SELECT 1", "!denied"),
            ("EXPLAIN QUERY PLAN SELECT 1", "!denied"),
        ]),
    );
}

#[test]
fn functions_and_tables_with_effects_are_denied_and_the_catalog_may_be_read() {
    on_fixture(
        patient(),
        &cases(&[
            ("SELECT load_extension('/nowhere/x.so')", "!denied"),
            ("SELECT load_extension('/nowhere/x.so', 'entry')", "!denied"),
            ("SELECT * FROM loader", "!denied"),
            ("SELECT fts3_tokenizer('simple')", "!denied|no_such_function"),
            ("SELECT writefile('x', 'y')", "!denied|no_such_function"),
            ("SELECT readfile('/etc/hostname')", "!denied|no_such_function"),
            ("SELECT edit('x')", "!denied|no_such_function"),
            ("SELECT * FROM pragma_hard_heap_limit", "!denied"),
            ("SELECT * FROM pragma_integrity_check", "!denied"),
            ("SELECT * FROM pragma_optimize(65538)", "!denied"),
            ("SELECT * FROM pragma_database_list", "!denied"),
            ("SELECT name FROM pragma_table_info('t') WHERE pk", "id"),
            ("SELECT * FROM peeks", "!denied"),
            ("SELECT name FROM sqlite_master WHERE type = 'index' AND tbl_name = 't'", "t_name"),
            ("SELECT name FROM sqlite_schema WHERE name = 't'", "t"),
            ("SELECT b FROM made", "71x"),
            ("SELECT body FROM words WHERE words MATCH 'fox'", "the quick fox"),
            ("SELECT * FROM round", "!invalid_query"),
            ("SELECT * FROM broken", "!no_such_table"),
        ]),
    );
}

/// Virtual tables of every module of the bundled SQLite that keeps content in a file.
const VIRTUAL: &str = "
    CREATE TABLE t(id INTEGER PRIMARY KEY, name TEXT, score REAL);
    INSERT INTO t VALUES (1, 'ann', 1.5), (2, 'bob', 2.5), (3, 'cy', NULL);
    CREATE VIRTUAL TABLE boxes USING rtree(id, x0, x1, y0, y1, +label TEXT);
    INSERT INTO boxes VALUES (1, 0, 2, 0, 2, 'low'), (2, 5, 6, 5, 6, 'high');
    CREATE VIRTUAL TABLE whole USING rtree_i32(id, a, b);
    INSERT INTO whole VALUES (7, 1, 3);
    CREATE VIRTUAL TABLE \"odd \"\"name\" USING rtree(id, a, b);
    INSERT INTO \"odd \"\"name\" VALUES (1, 0, 1);
    CREATE TABLE boxes_of_mine(a); INSERT INTO boxes_of_mine VALUES (1);
    CREATE VIRTUAL TABLE words USING fts5(body);
    INSERT INTO words VALUES ('the quick fox'), ('the slow ox');
    CREATE VIRTUAL TABLE terms USING fts5vocab(words, row);
    CREATE VIRTUAL TABLE outside USING fts5(name, content='t', content_rowid='id');
    INSERT INTO outside(outside) VALUES ('rebuild');
    CREATE VIRTUAL TABLE old USING fts4(body, tokenize=porter);
    INSERT INTO old VALUES ('running foxes'), ('an ox');
    CREATE VIRTUAL TABLE older USING fts3(body);
    INSERT INTO older VALUES ('a hen');
    CREATE VIRTUAL TABLE old_terms USING fts4aux(old);
    CREATE VIEW low AS SELECT id FROM boxes WHERE x0 < 1;
";

fn on_virtual_tables(cases: &[(&str, String, &str)]) {
    let folder = tempfile::tempdir().unwrap();
    let path = database(folder.path(), "v.sqlite", VIRTUAL);
    let before = snapshot(folder.path());
    for _ in 0..2 {
        let engine = engine(patient());
        let database = engine.open(&path).unwrap();
        check(&engine, &database, cases);
    }
    assert!(snapshot(folder.path()) == before, "the folder has changed");
}

#[test]
fn virtual_tables_can_be_queried() {
    on_virtual_tables(&cases(&[
        ("SELECT id, label FROM boxes WHERE x1 < 3", "1|low"),
        ("SELECT count(*) FROM boxes b JOIN t ON t.id = b.id", "2"),
        ("SELECT id FROM low", "1"),
        ("SELECT a FROM whole WHERE b > 2", "1"),
        ("SELECT count(*) FROM \"odd \"\"name\"", "1"),
        ("SELECT rtreecheck('boxes')", "ok"),
        ("SELECT count(*) FROM boxes_node", "1"),
        ("SELECT body FROM words WHERE words MATCH 'fox'", "the quick fox"),
        ("SELECT snippet(words, 0, '[', ']', '', 9) FROM words('ox')", "the slow [ox]"),
        ("SELECT rowid FROM words WHERE words MATCH 'the' ORDER BY bm25(words), rowid", "1/2"),
        ("SELECT term, cnt FROM terms WHERE term = 'the'", "the|2"),
        ("SELECT name FROM outside WHERE outside MATCH 'bob'", "bob"),
        ("SELECT body FROM old WHERE body MATCH 'fox'", "running foxes"),
        ("SELECT offsets(old) FROM old WHERE old MATCH 'ox'", "0 0 3 2"),
        ("SELECT count(*) FROM old_terms WHERE term = 'ox'", "2"),
        ("SELECT body FROM older WHERE older MATCH 'hen'", "a hen"),
        ("SELECT count(*) > 0 FROM dbstat", "1"),
        ("SELECT value FROM json_each('[4]')", "4"),
        ("SELECT name FROM pragma_table_xinfo('boxes') WHERE cid = 1", "x0"),
    ]));
}

#[test]
fn nothing_writes_to_or_through_a_virtual_table() {
    on_virtual_tables(&cases(&[
        ("INSERT INTO boxes VALUES (3, 0, 1, 0, 1, 'x')", "!denied"),
        ("INSERT INTO boxes VALUES (3, 0, 1, 0, 1, 'x') RETURNING id", "!denied"),
        ("DELETE FROM boxes", "!denied"),
        ("UPDATE boxes SET x0 = 9 RETURNING id", "!denied"),
        ("WITH w AS (SELECT 1) DELETE FROM boxes RETURNING id", "!denied"),
        ("INSERT INTO boxes_node VALUES (9, x'00')", "!denied"),
        ("REPLACE INTO boxes_rowid VALUES (1, 1, 'x')", "!denied"),
        ("DELETE FROM boxes_parent RETURNING *", "!denied"),
        ("UPDATE boxes_of_mine SET a = 2 RETURNING a", "!denied"),
        ("DELETE FROM \"odd \"\"name_node\"", "!denied"),
        ("INSERT INTO words VALUES ('x')", "!denied"),
        ("INSERT INTO words(words) VALUES ('rebuild')", "!denied"),
        ("INSERT INTO words(words, rank) VALUES ('merge', 500)", "!denied"),
        ("INSERT INTO words(words) VALUES ('delete-all') RETURNING 1", "!denied"),
        ("DELETE FROM words_config", "!denied"),
        ("INSERT INTO old(old) VALUES ('optimize')", "!denied"),
        ("SELECT optimize(old) FROM old LIMIT 1", "!denied|no_such_function|runtime_error|invalid_query"),
        ("DROP TABLE boxes", "!denied"),
        ("ALTER TABLE boxes RENAME TO b", "!denied"),
        ("CREATE VIRTUAL TABLE temp.z USING rtree(id, a, b)", "!denied"),
        ("CREATE VIRTUAL TABLE boxes_x USING rtree(id, a, b)", "!denied"),
        ("SELECT * FROM rtree", "!no_such_table"),
        ("SELECT fts3_tokenizer('porter') FROM old", "!denied|no_such_function"),
        ("SELECT rtreecheck('boxes'); DELETE FROM boxes", "!multiple_statements"),
        ("SELECT 1 FROM boxes; INSERT INTO boxes_node VALUES (9, x'00')", "!multiple_statements"),
    ]));
}

#[test]
fn texts_that_are_not_one_statement_are_told_apart() {
    on_fixture(
        patient(),
        &cases(&[
            ("", "!empty"),
            (" ;; \n", "!empty"),
            ("-- DROP TABLE t", "!empty"),
            ("/* open", "!empty"),
            ("SELECT 1; DROP TABLE t", "!multiple_statements"),
            ("SELECT 1; SELECT 2", "!multiple_statements"),
            ("SELECT 1;;", "1"),
            ("SELECT 1; /* b */ ;", "1"),
            (";;SELECT 1;;;-- b\n;", "1"),
            ("SELECT 1;; DROP TABLE t", "!multiple_statements"),
            ("SELECT 1; /* b */ ; SELECT 2", "!multiple_statements"),
            ("SELECT 1;; /* b */ DELETE FROM t;", "!multiple_statements"),
            ("SELECT 1; -- DROP TABLE t", "1"),
            ("; SELECT 1", "1"),
            ("SELECT\0 1", "!nul_byte"),
            ("SELECT 1;\0DROP TABLE t", "!nul_byte"),
            ("SELECT ?", "!parameters"),
            ("SELECT * FROM t WHERE id = :id", "!parameters"),
            ("SELECT @a, $b, ?7", "!parameters"),
            ("S\u{0}E\u{0}L\u{0}", "!nul_byte"),
            ("\u{feff}SELECT 1", "1"),
            ("\u{202e}\u{fffd}\u{1f600}", "!syntax_error"),
            ("SELECT '\u{202e}'", "\u{202e}"),
        ]),
    );
}

#[test]
fn errors_of_the_compiler_are_told_apart() {
    on_fixture(
        patient(),
        &cases(&[
            ("SELEC 1", "!syntax_error"),
            ("SELECT (", "!syntax_error"),
            ("SELECT 'open", "!syntax_error"),
            ("SELECT * FROM nowhere", "!no_such_table"),
            ("SELECT other.* FROM t", "!no_such_table"),
            ("SELECT * FROM nowhere(1)", "!no_such_table"),
            ("SELECT missing FROM t", "!no_such_column"),
            ("SELECT t.missing FROM t", "!no_such_column"),
            ("SELECT name FROM t JOIN t u ON t.id = u.id", "!ambiguous_column"),
            ("SELECT foo(1)", "!no_such_function"),
            ("SELECT name FROM t WHERE name REGEXP 'a'", "!no_such_function"),
            ("SELECT max(max(id)) FROM t", "!invalid_query"),
            ("SELECT abs(1, 2)", "!invalid_query"),
            ("SELECT 1 UNION SELECT 1, 2", "!invalid_query"),
            ("SELECT 1 ORDER BY 2", "!invalid_query"),
            ("SELECT (SELECT 1, 2)", "!invalid_query"),
            ("SELECT id FROM t ORDER BY id COLLATE nowhere", "!invalid_query"),
            ("SELECT abs(-9223372036854775808)", "!runtime_error"),
            ("SELECT json_extract('{', '$')", "!runtime_error"),
            ("SELECT \"a string\" FROM t LIMIT 1", "a string"),
            ("SELECT b FROM blobs", "x[00, ff]/\u{fffd}\u{fffd}A"),
        ]),
    );
}

#[test]
fn huge_values_are_too_large() {
    let doubled = format!(
        "SELECT length({}'a'{})",
        "replace(replace(replace(".repeat(5),
        ", 'a', 'aaaaaaaa'), 'a', 'aaaaaaaa'), 'a', 'aaaaaaaa')".repeat(5)
    );
    let mut table = cases(&[
        ("SELECT zeroblob(2000000000)", "!too_large"),
        ("SELECT randomblob(2000000000)", "!too_large"),
        ("SELECT hex(zeroblob(9000000))", "!too_large"),
        ("SELECT printf('%.*c', 2000000000, 'x')", "!too_large"),
        ("SELECT format('%2000000000d', 1)", "!too_large"),
        ("SELECT quote(zeroblob(9000000))", "!too_large"),
        ("SELECT length(zeroblob(10000000))", "10000000"),
        ("SELECT group_concat(zeroblob(9000000)) FROM t", "!too_large"),
        ("SELECT length(printf('%.8000000c', 'a') || 'b')", "8000001"),
        ("SELECT length(replace(printf('%.1000000c', 'a'), 'a', 'xyz'))", "3000000"),
        ("SELECT instr(printf('%.1000000c', 'a') || 'b', 'ab')", "1000000"),
        (
            "SELECT length(trim(printf('%.1000000c', ' ') || 1.5, ' ')), replace(1.5, '.', printf('%.70000c', ','))\
          LIKE '1,,%,5'",
            "3|1",
        ),
        ("SELECT instr(printf('%.8000000c', 'a'), printf('%.4000000c', 'a') || 'b')", "!too_large"),
        ("SELECT replace(printf('%.8000000c', 'a'), printf('%.4000000c', 'a') || 'b', '')", "!too_large"),
        ("SELECT trim(printf('%.8000000c', 'a'), printf('%.1000000c', 'b') || 'a')", "!too_large"),
        ("SELECT printf('%.8000000c', 'a') LIKE printf('%%%.300c', 'b')", "!too_large"),
        ("SELECT zeroblob(15000000) || zeroblob(15000000)", "!too_large"),
        ("SELECT json_group_array(printf('%.9000000c', 'x')) FROM t", "!too_large"),
        ("SELECT zeroblob(16000000) FROM t, t b, t c, t d", "!too_large"),
    ]);
    table.push(("nested replace", doubled, "!too_large"));
    on_fixture(patient(), &table);
}

#[test]
fn large_texts_are_read_or_refused_on_a_small_stack() {
    let repeat =
        |start: &str, middle: &str, times: usize, end: &str| format!("{start}{}{end}", middle.repeat(times));
    let nest = |open: &str, times: usize, inside: &str, close: &str| {
        format!("{}{inside}{}", open.repeat(times), close.repeat(times))
    };
    let doubling = (1..40).fold("WITH c0 AS (SELECT 1 AS a)".to_owned(), |sql, n| {
        format!("{sql}, c{n} AS (SELECT x.a FROM c{} x, c{} y)", n - 1, n - 1)
    });
    let joins = (0..64).map(|n| format!("t t{n}")).collect::<Vec<_>>().join(", ");
    let cases = [
        ("10,000 parentheses", format!("SELECT {}", nest("(", 10_000, "1", ")")), "!too_large|syntax_error"),
        ("10,000 open parentheses", repeat("SELECT ", "(", 10_000, ""), "!too_large|syntax_error"),
        ("400,000 parentheses", format!("SELECT {}", nest("(", 400_000, "1", ")")), "!too_large"),
        ("2,000 derived tables", nest("SELECT * FROM (", 2_000, "SELECT 1", ")"), "!too_large|syntax_error"),
        ("300 derived tables", nest("SELECT * FROM (", 300, "SELECT 1", ")"), "1"),
        ("600 scalar subqueries", nest("SELECT (", 600, "SELECT 1", ")"), "!too_large|1"),
        ("2,000 scalar subqueries", nest("SELECT (", 2_000, "SELECT 1", ")"), "!too_large"),
        ("900 EXISTS", nest("SELECT EXISTS (", 900, "SELECT 1", ")"), "!too_large|1"),
        ("900 IN", nest("SELECT 1 IN (", 900, "SELECT 1", ")"), "!too_large|1"),
        ("600 abs", format!("SELECT {}", nest("abs(", 600, "1", ")")), "1"),
        ("900 CASE", format!("SELECT {}", nest("CASE WHEN 1 THEN ", 900, "1", " END")), "!too_large|1"),
        ("200,000 NOT", repeat("SELECT ", "NOT ", 200_000, "1"), "!too_large"),
        ("500,000 ~", repeat("SELECT ", "~", 500_000, "1"), "!too_large"),
        ("200,000 +1", repeat("SELECT 1", "+1", 200_000, ""), "!too_large"),
        ("100,000 AND", repeat("SELECT 1 WHERE 1", " AND 1", 100_000, ""), "!too_large"),
        ("200,000 in a list", repeat("SELECT 1 IN (0", ",1", 200_000, ")"), "1"),
        ("2,001 columns", repeat("SELECT 1", ",1", 2_000, ""), "!too_large"),
        ("3,000 UNION", repeat("SELECT 1", " UNION SELECT 1", 3_000, ""), "!too_large"),
        ("500 UNION ALL", repeat("SELECT 1", " UNION SELECT 1", 499, ""), "1"),
        ("100,000 rows of VALUES", repeat("SELECT count(*) FROM (VALUES (1)", ",(1)", 99_999, ")"), "100000"),
        ("10 MB of SQL", repeat("SELECT '", "a", 10_000_000, "'"), "!too_large"),
        ("10 MB of comments", repeat("SELECT 1 -- ", "a", 10_000_000, ""), "!too_large"),
        ("65 tables", format!("SELECT count(*) FROM {joins}, t x"), "!too_large"),
        ("64 tables", format!("SELECT count(*) FROM {joins} WHERE 0"), "0"),
        ("1,000 joins in parentheses", format!("SELECT count(*) FROM {}", nest("(", 1_000, "t", ")")), "3"),
        ("doubling CTEs", format!("{doubling} SELECT count(*) FROM c39"), "!too_large|timeout"),
        ("views of views", "SELECT count(*) FROM l7".to_owned(), "!too_large|timeout"),
    ];
    // The compiler recurses with the nesting of the text; other programs' threads often have 2 MiB.
    let small = std::thread::Builder::new().stack_size(2 << 20);
    small.spawn(move || on_fixture(patient(), &cases)).unwrap().join().unwrap();
}

#[test]
fn what_eats_memory_is_too_large_and_harms_no_neighbour() {
    let numbers = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n)";
    let bombs = [
        ("rows", format!("{numbers} SELECT x FROM n"), "!too_large"),
        (
            "distinct",
            "WITH RECURSIVE n(x) AS (SELECT 1 UNION SELECT x + 1 FROM n) SELECT max(x) FROM n".to_owned(),
            "!too_large",
        ),
        ("sort", format!("{numbers} SELECT x FROM n ORDER BY -x LIMIT 1 OFFSET 1000000000"), "!too_large"),
        (
            "groups",
            format!("{numbers} SELECT count(*) FROM (SELECT printf('%0100d', x) AS g FROM n GROUP BY g)"),
            "!too_large",
        ),
        (
            "materialised",
            format!(
                "{numbers}, m AS MATERIALIZED (SELECT x, zeroblob(1000) FROM n) SELECT count(*) FROM m a JOIN m b USING (x)"
            ),
            "!too_large",
        ),
        (
            "window",
            format!(
                "{numbers} SELECT sum(x) OVER (ORDER BY x ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) FROM n"
            ),
            "!too_large",
        ),
    ];
    let folder = tempfile::tempdir().unwrap();
    let path = database(folder.path(), "shared.sqlite", FIXTURE);
    let before = snapshot(folder.path());
    let engine = engine(Limits { timeout: Duration::from_mins(2), ..patient() });
    let database = engine.open(&path).unwrap();
    // Needs a good part of the heap, so that it fails beside a bomb and must not fail in the end.
    let modest = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 120000) \
                  SELECT count(*) FROM (SELECT DISTINCT printf('%0100d', x) FROM n)";
    std::thread::scope(|scope| {
        scope.spawn(|| check(&engine, &database, &bombs));
        scope.spawn(|| {
            for _ in 0..8 {
                assert_eq!(in_short(&engine.run(&database, modest).outcome), "120000");
            }
        });
    });
    assert!(snapshot(folder.path()) == before, "the folder has changed");
}

/// A condition that the planner thinks about for long.
fn groups_of_ors(groups: usize, terms: usize) -> String {
    let term = |at: usize| format!("t.id = {at}");
    let group = |at: usize| (0..terms).map(|of| term(at + of)).collect::<Vec<_>>().join(" OR ");
    (0..groups).map(|at| format!("({})", group(at))).collect::<Vec<_>>().join(" AND ")
}

/// As many columns, each over a window of its own.
fn windows(count: usize) -> String {
    (0..count)
        .map(|at| format!("sum(id) OVER (ORDER BY id + {at})"))
        .fold(String::new(), |text, next| text + ", " + &next)
}

#[test]
fn what_never_ends_times_out() {
    let numbers = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n)";
    let doubling = "WITH RECURSIVE n(s) AS (SELECT 'a' UNION ALL SELECT substr(s || s, 1, 4000000) FROM n)";
    let long = "printf('%.8000000c', 'a')";
    on_fixture(
        Limits { timeout: Duration::from_millis(250), max_heap_bytes: 512 << 20, ..Limits::default() },
        &[
            ("endless recursion", format!("{numbers} SELECT count(*) FROM n"), "!timeout"),
            ("endless group_concat", format!("{numbers} SELECT group_concat(x) FROM n"), "!timeout"),
            ("cross joins", "SELECT count(*) FROM l1, l1 b, l1 c".to_owned(), "!timeout"),
            ("json_each", format!("{numbers} SELECT count(*) FROM n, json_each('[1,2,3]')"), "!timeout"),
            ("long strings", format!("{numbers} SELECT count(hex(randomblob(7000000))) FROM n"), "!timeout"),
            ("doubled strings", format!("{doubling} SELECT min(length(s)) FROM n"), "!timeout"),
            // From here on the time is spent inside one instruction or in the compiler, and the process is killed.
            ("sort at random", format!("{numbers} SELECT x FROM n ORDER BY random()"), "!timeout"),
            ("LIKE", format!("SELECT {long} LIKE '%{}b'", "a".repeat(200)), "!timeout"),
            ("GLOB", format!("SELECT {long} GLOB '*{}b'", "a".repeat(200)), "!timeout"),
            ("median", format!("{numbers} SELECT median(-x) FROM n"), "!timeout"),
            ("groups of ORs", format!("SELECT count(*) FROM t WHERE {}", groups_of_ors(120, 60)), "!timeout"),
            ("windows", format!("SELECT 1{} FROM t", windows(1900)), "!timeout|too_large"),
        ],
    );
}
