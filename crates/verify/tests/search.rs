//! Pairs that no database tells apart must survive; pairs that some database tells apart must be refuted.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::sync::Arc;

use sqlgauge_sql::schema::Schema;
use sqlgauge_verify::search::{
    ColumnOrder, Contract, Need, Options, Reason, Search, Verdict, Witness, refute_all,
};

const SCHOOL: &str = "
    CREATE TABLE team (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, city TEXT, founded INT);
    CREATE TABLE player (id INTEGER PRIMARY KEY, team_id INT NOT NULL REFERENCES team(id), name TEXT,
        goals INT NOT NULL, height REAL, born DATE);
    CREATE TABLE coach (id INTEGER PRIMARY KEY, team_id INT REFERENCES team(id), name TEXT NOT NULL);
    CREATE TABLE plays (player_id INT NOT NULL REFERENCES player(id), season INT NOT NULL, minutes INT,
        PRIMARY KEY (player_id, season));
    CREATE TABLE loose (a, b, c);";

const ODD: &str = "
    CREATE TABLE person (ssn TEXT PRIMARY KEY, boss TEXT REFERENCES person(ssn), age INT CHECK (age >= 18 AND age < 70),
        nick TEXT COLLATE NOCASE, level INT CHECK (level IN (1, 2, 3)) NOT NULL) WITHOUT ROWID;
    CREATE TABLE item (k INT, part INT, price REAL NOT NULL, UNIQUE (k, part)) STRICT;
    CREATE TABLE left_side (id INTEGER PRIMARY KEY, other INT NOT NULL REFERENCES right_side(id));
    CREATE TABLE right_side (id INTEGER PRIMARY KEY, other INT REFERENCES left_side(id));
    CREATE TABLE part_use (k INT NOT NULL, part INT, n INT, FOREIGN KEY (k, part) REFERENCES item(k, part));";

fn schema(ddl: &str) -> Arc<Schema> {
    Arc::new(Schema::from_ddl(ddl).unwrap())
}

fn options(databases: usize) -> Options {
    Options { databases, ..Options::default() }
}

fn show(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Refuted(found) => format!("refuted: {}\n{}", found.difference(), found.database().script()),
        other => format!("{other:?}"),
    }
}

#[test]
fn equivalent_pairs_survive() {
    for (ddl, left, right) in [
        (SCHOOL, "SELECT name FROM team", "SELECT T.name FROM team AS T"),
        (SCHOOL, "SELECT count(*) FROM team", "SELECT count(id) FROM team"),
        (SCHOOL, "SELECT count(*) FROM team", "SELECT count(DISTINCT name) FROM team"),
        (SCHOOL, "SELECT count(goals) FROM player", "SELECT count(*) FROM player"),
        (SCHOOL, "SELECT name FROM player WHERE goals > 3", "SELECT name FROM player WHERE NOT goals <= 3"),
        (
            SCHOOL,
            "SELECT name FROM player WHERE goals BETWEEN 2 AND 5",
            "SELECT name FROM player WHERE goals >= 2 AND goals <= 5",
        ),
        (
            SCHOOL,
            "SELECT name FROM team WHERE city IN ('x', 'y')",
            "SELECT name FROM team WHERE city = 'x' OR city = 'y'",
        ),
        (SCHOOL, "SELECT p.name FROM player p JOIN team t ON p.team_id = t.id", "SELECT name FROM player"),
        (
            SCHOOL,
            "SELECT name FROM team WHERE id IN (SELECT team_id FROM player)",
            "SELECT name FROM team t WHERE EXISTS (SELECT 1 FROM player p WHERE p.team_id = t.id)",
        ),
        (
            SCHOOL,
            "SELECT name FROM team WHERE id NOT IN (SELECT team_id FROM player)",
            "SELECT t.name FROM team t LEFT JOIN player p ON p.team_id = t.id WHERE p.id IS NULL",
        ),
        (
            SCHOOL,
            "SELECT id FROM team EXCEPT SELECT team_id FROM player",
            "SELECT id FROM team WHERE id NOT IN (SELECT team_id FROM player)",
        ),
        (
            SCHOOL,
            "SELECT t.name, count(*) FROM player p JOIN team t ON p.team_id = t.id GROUP BY t.id",
            "SELECT t.name, count(*) FROM player p JOIN team t ON p.team_id = t.id GROUP BY t.name",
        ),
        (
            SCHOOL,
            "SELECT max(goals) FROM player HAVING count(*) > 0",
            "SELECT goals FROM player ORDER BY goals DESC LIMIT 1",
        ),
        (
            SCHOOL,
            "SELECT name, goals FROM player ORDER BY goals",
            "SELECT name, goals FROM player ORDER BY goals, name",
        ),
        (SCHOOL, "SELECT DISTINCT team_id FROM player", "SELECT team_id FROM player GROUP BY team_id"),
        (SCHOOL, "SELECT avg(goals) FROM player", "SELECT sum(goals) * 1.0 / count(*) FROM player"),
        (SCHOOL, "SELECT a FROM loose WHERE a = a", "SELECT a FROM loose WHERE a IS NOT NULL"),
        (SCHOOL, "SELECT a FROM loose WHERE b IS NULL OR b <> 3", "SELECT a FROM loose WHERE b IS NOT 3"),
        (
            SCHOOL,
            "SELECT name FROM team WHERE name LIKE 'AB'",
            "SELECT name FROM team WHERE lower(name) = 'ab'",
        ),
        (ODD, "SELECT ssn FROM person WHERE age >= 18", "SELECT ssn FROM person WHERE age IS NOT NULL"),
        (ODD, "SELECT count(*) FROM person WHERE level < 4", "SELECT count(*) FROM person"),
        (ODD, "SELECT l.id FROM left_side l JOIN right_side r ON l.other = r.id", "SELECT id FROM left_side"),
        (
            ODD,
            "SELECT u.n FROM part_use u JOIN item i ON u.k = i.k AND u.part = i.part",
            "SELECT n FROM part_use WHERE part IS NOT NULL",
        ),
        (
            ODD,
            "SELECT ssn FROM person WHERE nick = 'Bob'",
            "SELECT ssn FROM person WHERE lower(nick) = 'bob'",
        ),
    ] {
        let verdict = Search::new(schema(ddl), options(3000)).unwrap().refute(left, right);
        let Verdict::Survived(survived) = verdict else { panic!("{left}\n{right}\n{}", show(&verdict)) };
        assert!(survived.databases + survived.undecided > 2800, "{left}\n{right}\n{survived:?}");
    }
}

const DIFFERENT: &[(&str, &str, &str)] = &[
    (SCHOOL, "SELECT name FROM team", "SELECT city FROM team"),
    (SCHOOL, "SELECT name, city FROM team", "SELECT city, name FROM team"),
    (SCHOOL, "SELECT name FROM team", "SELECT name, id FROM team"),
    (SCHOOL, "SELECT count(*) FROM team", "SELECT count(city) FROM team"),
    (SCHOOL, "SELECT count(*) FROM player", "SELECT count(DISTINCT goals) FROM player"),
    (SCHOOL, "SELECT name FROM player WHERE goals > 3", "SELECT name FROM player WHERE goals >= 3"),
    (SCHOOL, "SELECT name FROM player WHERE height > 1.75", "SELECT name FROM player WHERE height >= 1.75"),
    (
        SCHOOL,
        "SELECT name FROM player WHERE goals BETWEEN 2 AND 5",
        "SELECT name FROM player WHERE goals > 2 AND goals < 5",
    ),
    (
        SCHOOL,
        "SELECT name FROM player WHERE goals BETWEEN 5 AND 2",
        "SELECT name FROM player WHERE goals BETWEEN 2 AND 5",
    ),
    (SCHOOL, "SELECT c.name FROM coach c JOIN team t ON c.team_id = t.id", "SELECT name FROM coach"),
    (
        SCHOOL,
        "SELECT name FROM team WHERE id NOT IN (SELECT team_id FROM coach)",
        "SELECT name FROM team EXCEPT SELECT t.name FROM team t JOIN coach c ON c.team_id = t.id",
    ),
    (
        SCHOOL,
        "SELECT t.name FROM team t JOIN player p ON p.team_id = t.id",
        "SELECT DISTINCT t.name FROM team t JOIN player p ON p.team_id = t.id",
    ),
    (
        SCHOOL,
        "SELECT t.name FROM team t LEFT JOIN player p ON p.team_id = t.id",
        "SELECT t.name FROM team t JOIN player p ON p.team_id = t.id",
    ),
    (SCHOOL, "SELECT max(goals) FROM player", "SELECT goals FROM player ORDER BY goals DESC LIMIT 1"),
    (
        SCHOOL,
        "SELECT name FROM player WHERE goals = (SELECT max(goals) FROM player)",
        "SELECT name FROM player ORDER BY goals DESC LIMIT 1",
    ),
    (
        SCHOOL,
        "SELECT name FROM player ORDER BY goals DESC LIMIT 3",
        "SELECT name FROM player ORDER BY goals DESC LIMIT 4",
    ),
    (
        SCHOOL,
        "SELECT name FROM player ORDER BY goals DESC LIMIT 1",
        "SELECT name FROM player ORDER BY goals ASC LIMIT 1",
    ),
    (
        SCHOOL,
        "SELECT team_id FROM player GROUP BY team_id HAVING count(*) > 3",
        "SELECT team_id FROM player GROUP BY team_id HAVING count(*) >= 3",
    ),
    (SCHOOL, "SELECT name FROM player GROUP BY name HAVING count(*) >= 2", "SELECT name FROM player"),
    (
        SCHOOL,
        "SELECT p.name, count(*) FROM player p JOIN plays s ON s.player_id = p.id GROUP BY p.name",
        "SELECT p.name, count(*) FROM player p JOIN plays s ON s.player_id = p.id GROUP BY p.id",
    ),
    (SCHOOL, "SELECT name FROM player ORDER BY goals", "SELECT name FROM player ORDER BY goals DESC"),
    (SCHOOL, "SELECT name FROM player ORDER BY goals", "SELECT name FROM player"),
    (SCHOOL, "SELECT name FROM team WHERE city LIKE '%ork%'", "SELECT name FROM team WHERE city LIKE 'ork%'"),
    (SCHOOL, "SELECT name FROM team WHERE city LIKE 'x'", "SELECT name FROM team WHERE city = 'x'"),
    (
        SCHOOL,
        "SELECT name FROM team WHERE city = 'x' AND founded = 1900",
        "SELECT name FROM team WHERE city = 'x' OR founded = 1900",
    ),
    (
        SCHOOL,
        "SELECT name FROM player WHERE born > '1990-05-05'",
        "SELECT name FROM player WHERE born >= '1990-05-05'",
    ),
    (
        SCHOOL,
        "SELECT name FROM player WHERE strftime('%Y', born) = '1990'",
        "SELECT name FROM player WHERE strftime('%Y', born) > '1990'",
    ),
    (SCHOOL, "SELECT sum(goals) / count(*) FROM player", "SELECT avg(goals) FROM player"),
    (SCHOOL, "SELECT sum(goals) FROM player", "SELECT total(goals) FROM player"),
    (SCHOOL, "SELECT a FROM loose WHERE a <> 3", "SELECT a FROM loose WHERE a IS NOT 3"),
    (SCHOOL, "SELECT a FROM loose WHERE a > 5", "SELECT a FROM loose WHERE CAST(a AS INT) > 5"),
    (
        SCHOOL,
        "SELECT a FROM loose UNION SELECT b FROM loose",
        "SELECT a FROM loose UNION ALL SELECT b FROM loose",
    ),
    (SCHOOL, "SELECT a FROM loose INTERSECT SELECT b FROM loose", "SELECT a FROM loose WHERE a = b"),
    (
        SCHOOL,
        "SELECT p.name FROM player p JOIN team t ON p.team_id = t.id JOIN coach c ON c.team_id = t.id WHERE t.city = 'Rome' AND c.name = 'Ann' AND p.goals > 10",
        "SELECT p.name FROM player p JOIN team t ON p.team_id = t.id JOIN coach c ON c.team_id = t.id WHERE t.city = 'Rome' AND c.name = 'Ann' AND p.goals >= 10",
    ),
    (ODD, "SELECT ssn FROM person WHERE age >= 18", "SELECT ssn FROM person"),
    (ODD, "SELECT ssn FROM person WHERE level = 2", "SELECT ssn FROM person WHERE level >= 2"),
    (ODD, "SELECT a.ssn FROM person a JOIN person b ON a.boss = b.ssn", "SELECT ssn FROM person"),
    (ODD, "SELECT l.id FROM left_side l JOIN right_side r ON r.other = l.id", "SELECT id FROM left_side"),
    (ODD, "SELECT count(*) FROM item", "SELECT count(DISTINCT k) FROM item"),
    (
        ODD,
        "SELECT u.n FROM part_use u JOIN item i ON u.k = i.k AND u.part = i.part",
        "SELECT n FROM part_use",
    ),
    (
        ODD,
        "SELECT ssn FROM person WHERE nick = 'Bob'",
        "SELECT ssn FROM person WHERE nick = 'Bob' COLLATE BINARY",
    ),
];

#[test]
fn different_pairs_are_refuted() {
    let mut tried = Vec::new();
    for &(ddl, left, right) in DIFFERENT {
        let search = Search::new(schema(ddl), options(3000)).unwrap();
        let verdict = search.refute(left, right);
        let Some(found) = verdict.refutation() else { panic!("{left}\n{right}\n{}", show(&verdict)) };
        assert_ne!(
            (found.left().rows().collect::<Vec<_>>(), found.left().width()),
            (found.right().rows().collect(), found.right().width())
        );
        tried.push((found.databases(), left));
        let smallest = search.minimise(found, left, right);
        assert!(smallest.database().rows() <= found.database().rows());
        assert!(search.replay(smallest.database(), left, right).is_some(), "{left}\n{right}");
    }
    tried.sort_unstable();
    println!("databases tried, the most first:");
    tried.iter().rev().take(12).for_each(|(databases, left)| println!("{databases:5} {left}"));
}

/// Differences for which SQLite's own freedom is to blame are none.
#[test]
fn freedom_is_not_a_difference() {
    let ddl = "CREATE TABLE t (id INTEGER PRIMARY KEY, g INT, v INT, s TEXT, n TEXT COLLATE NOCASE);
               CREATE TABLE u (id INTEGER PRIMARY KEY, t_id INT, w INT); CREATE INDEX by_v ON t (v);";
    for (left, right) in [
        // Ties under LIMIT, at the top, in a scalar subquery, in IN, correlated, in a CTE.
        ("SELECT id FROM t ORDER BY v LIMIT 2", "SELECT id FROM t ORDER BY v, id DESC LIMIT 2"),
        ("SELECT id FROM t LIMIT 2", "SELECT id FROM (SELECT id FROM t ORDER BY v) LIMIT 2"),
        (
            "SELECT g FROM t WHERE id = (SELECT id FROM t ORDER BY v LIMIT 1)",
            "SELECT g FROM t WHERE id = (SELECT id FROM t ORDER BY v, id DESC LIMIT 1)",
        ),
        (
            "SELECT g FROM t WHERE id IN (SELECT id FROM t ORDER BY v LIMIT 2)",
            "SELECT g FROM t WHERE id IN (SELECT id FROM t ORDER BY v, id DESC LIMIT 2)",
        ),
        (
            "SELECT (SELECT w FROM u WHERE u.t_id = t.id) FROM t",
            "SELECT (SELECT w FROM u WHERE u.t_id = t.id ORDER BY w DESC) FROM t",
        ),
        (
            "WITH c AS (SELECT id FROM t ORDER BY g LIMIT 1) SELECT id FROM c",
            "SELECT id FROM t ORDER BY g, v LIMIT 1",
        ),
        (
            "SELECT id FROM t UNION SELECT w FROM u LIMIT 1",
            "SELECT * FROM (SELECT id FROM t UNION SELECT w FROM u) ORDER BY 1 DESC LIMIT 1",
        ),
        (
            "SELECT DISTINCT g FROM t ORDER BY v LIMIT 1",
            "SELECT DISTINCT g FROM t ORDER BY v, id DESC LIMIT 1",
        ),
        // Bare columns.
        ("SELECT g, v FROM t GROUP BY g", "SELECT g, v FROM (SELECT * FROM t ORDER BY id DESC) GROUP BY g"),
        ("SELECT v, count(*) FROM t", "SELECT v, count(*) FROM (SELECT * FROM t ORDER BY g)"),
        (
            "SELECT g, id, max(v) FROM t GROUP BY g",
            "SELECT g, id, max(v) FROM (SELECT * FROM t ORDER BY id DESC) GROUP BY g",
        ),
        (
            "SELECT g FROM t GROUP BY g HAVING v > 2",
            "SELECT g FROM (SELECT * FROM t ORDER BY id DESC) GROUP BY g HAVING v > 2",
        ),
        // Concatenation in any order.
        ("SELECT group_concat(s) FROM t", "SELECT group_concat(s) FROM (SELECT s FROM t ORDER BY g)"),
        // Row numbers of tied rows.
        (
            "SELECT id, row_number() OVER (ORDER BY v) FROM t",
            "SELECT id, row_number() OVER (ORDER BY v, id DESC) FROM t",
        ),
        // Which of several equal texts is kept.
        ("SELECT DISTINCT n FROM t", "SELECT min(n) FROM (SELECT * FROM t ORDER BY id DESC) GROUP BY n"),
    ] {
        let verdict = Search::new(schema(ddl), options(2000)).unwrap().refute(left, right);
        let Verdict::Survived(survived) = verdict else { panic!("{left}\n{right}\n{}", show(&verdict)) };
        assert!(survived.databases > 100, "{left}: {survived:?}");
    }
    // The same freedoms do not hide a difference that they cannot explain.
    for (left, right) in [
        ("SELECT id FROM t ORDER BY v LIMIT 2", "SELECT id FROM t ORDER BY v LIMIT 3"),
        ("SELECT id FROM t ORDER BY v LIMIT 1", "SELECT id FROM t WHERE v = (SELECT min(v) FROM t)"),
        ("SELECT id FROM t LIMIT 1", "SELECT v FROM t LIMIT 1"),
        (
            "SELECT g FROM t WHERE id = (SELECT id FROM t ORDER BY v LIMIT 1)",
            "SELECT v FROM t WHERE id = (SELECT id FROM t ORDER BY v LIMIT 1)",
        ),
        ("SELECT g, v FROM t GROUP BY g", "SELECT g, v FROM t"),
        ("SELECT g, v FROM t GROUP BY g", "SELECT g, max(v) FROM t WHERE v > 1 GROUP BY g"),
        ("SELECT g, id, max(v) FROM t GROUP BY g", "SELECT g, id, min(v) FROM t GROUP BY g"),
        ("SELECT id, max(v) FROM t", "SELECT id, v FROM t ORDER BY v DESC LIMIT 1"),
        ("SELECT group_concat(s) FROM t", "SELECT group_concat(DISTINCT s) FROM t"),
        (
            "SELECT (SELECT w FROM u WHERE u.t_id = t.id) FROM t",
            "SELECT (SELECT w FROM u WHERE u.t_id = t.g) FROM t",
        ),
        (
            "SELECT id, row_number() OVER (ORDER BY v) FROM t",
            "SELECT id, rank() OVER (ORDER BY v DESC) FROM t",
        ),
        ("SELECT DISTINCT n FROM t", "SELECT n FROM t"),
        // Ties alone tell these apart: whichever row is taken, it is one.
        (
            "SELECT id FROM t WHERE v = (SELECT max(v) FROM t)",
            "SELECT id FROM t WHERE id = (SELECT id FROM t ORDER BY v DESC LIMIT 1)",
        ),
        (
            "SELECT g FROM t WHERE id IN (SELECT t_id FROM u WHERE w = 7)",
            "SELECT g FROM t WHERE id = (SELECT t_id FROM u WHERE w = 7)",
        ),
        ("SELECT id, v FROM t WHERE v = (SELECT max(v) FROM t)", "SELECT id, max(v) FROM t GROUP BY 'all'"),
        (
            "SELECT id FROM t WHERE g = (SELECT g FROM t GROUP BY g ORDER BY count(*) DESC LIMIT 1)",
            "SELECT id FROM t WHERE g IN (SELECT g FROM t GROUP BY g ORDER BY count(*) DESC LIMIT 2)",
        ),
        (
            "WITH m AS (SELECT id, v FROM t ORDER BY v LIMIT 1) SELECT u.w FROM u JOIN m ON u.t_id = m.id",
            "SELECT u.w FROM u JOIN t ON u.t_id = t.id WHERE t.v IS (SELECT min(v) FROM t)",
        ),
        ("SELECT g, v, count(*) FROM t GROUP BY g", "SELECT g, v, count(v) FROM t GROUP BY g"),
        (
            "SELECT g, group_concat(s) FROM t GROUP BY g HAVING count(*) > 1",
            "SELECT g, group_concat(s) FROM t GROUP BY g",
        ),
    ] {
        let verdict = Search::new(schema(ddl), options(2000)).unwrap().refute(left, right);
        assert!(verdict.is_refuted(), "{left}\n{right}\n{}", show(&verdict));
    }
}

/// Every database that a search makes satisfies the schema; SQLite, with its checks on, says so.
#[test]
fn databases_satisfy_the_schema() {
    for (ddl, tables) in [(SCHOOL, vec!["plays", "coach"]), (ODD, vec!["person", "left_side", "part_use"])] {
        for seed in 0..40 {
            for table in &tables {
                let search = Search::new(schema(ddl), Options { seed, ..options(60) }).unwrap();
                // Differs on every database with a row of some kind, so that a witness is seen.
                let left = format!("SELECT count(*) FROM {table} WHERE 1");
                let verdict = search.refute(&left, "SELECT 0 + 0");
                let found = verdict.refutation().unwrap_or_else(|| panic!("{}", show(&verdict)));
                assert!(found.database().rows() > 0);
                satisfies(found.database());
            }
        }
    }
}

fn satisfies(witness: &Witness) {
    let connection = rusqlite::Connection::open_in_memory().unwrap();
    connection.execute_batch("PRAGMA foreign_keys = OFF").unwrap();
    connection.execute_batch(&witness.script()).unwrap_or_else(|error| panic!("{error}\n{witness}"));
    let ask = |sql: &str| -> Vec<String> {
        let mut statement = connection.prepare(sql).unwrap();
        let rows = statement.query_map([], |row| row.get::<_, String>(0)).unwrap();
        rows.collect::<Result<_, _>>().unwrap()
    };
    assert_eq!(ask("PRAGMA integrity_check"), ["ok"], "{witness}");
    assert!(ask("PRAGMA foreign_key_check").is_empty(), "{witness}");
    for table in &witness.tables {
        let mut statement = connection.prepare(&format!("SELECT * FROM \"{}\"", table.name)).unwrap();
        let width = statement.column_count();
        let rows = statement.query_map([], |row| {
            (0..width)
                .map(|at| row.get_ref(at).map(sqlgauge_engine::Value::from))
                .collect::<Result<Vec<_>, _>>()
        });
        let rows: Vec<Vec<_>> = rows.unwrap().collect::<Result<_, _>>().unwrap();
        assert_eq!(rows, table.rows, "the script gives the witness's own rows");
    }
}

#[test]
fn the_column_order_may_be_free() {
    let free = Options {
        contract: Contract { column_order: ColumnOrder::Free, ..Contract::default() },
        ..options(2000)
    };
    let search = Search::new(schema(SCHOOL), free).unwrap();
    let survives = |left: &str, right: &str| matches!(search.refute(left, right), Verdict::Survived(_));
    assert!(survives("SELECT name, city FROM team", "SELECT city, name FROM team"));
    assert!(survives(
        "SELECT name, city FROM team ORDER BY founded",
        "SELECT city, name FROM team ORDER BY founded"
    ));
    assert!(!survives("SELECT name, city FROM team", "SELECT city, id FROM team"));
    assert!(!survives("SELECT name, city FROM team", "SELECT city, name FROM team WHERE founded > 3"));
}

#[test]
fn a_search_is_the_same_each_time_and_on_any_number_of_threads() {
    let schema = schema(SCHOOL);
    let pairs = [
        ("SELECT name FROM player WHERE goals > 3", "SELECT name FROM player WHERE goals >= 3"),
        ("SELECT count(*) FROM team", "SELECT count(city) FROM team"),
        ("SELECT name FROM team", "SELECT name FROM team WHERE 1"),
        ("SELECT a FROM loose", "SELECT nothing FROM loose"),
        ("SELECT name FROM player ORDER BY goals LIMIT 1", "SELECT name FROM player ORDER BY height LIMIT 1"),
    ];
    let one = refute_all(&schema, options(300), &pairs, 1).unwrap();
    for threads in [2, 5] {
        assert_eq!(refute_all(&schema, options(300), &pairs, threads).unwrap(), one);
    }
    let alone: Vec<Verdict> = pairs
        .iter()
        .rev()
        .map(|(left, right)| Search::new(Arc::clone(&schema), options(300)).unwrap().refute(left, right))
        .collect();
    assert_eq!(alone.into_iter().rev().collect::<Vec<_>>(), one);
    let other = Options { seed: 1, ..options(300) };
    assert_ne!(refute_all(&schema, other, &pairs, 1).unwrap(), one);
}

#[test]
fn what_cannot_be_searched_says_why() {
    let ddl = "CREATE TABLE t (a INT, b AS (a + 1)); CREATE TABLE s (a INT)";
    let search = Search::new(schema(ddl), options(50)).unwrap();
    for (left, right, code) in [
        ("SELECT a FROM s", "SELECT nothing FROM s", "parse"),
        ("SELEC", "SELECT a FROM s", "parse"),
        ("SELECT a FROM s", "SELECT a FROM s WHERE a > random()", "nondeterministic"),
        ("SELECT a FROM s", "SELECT a FROM s ORDER BY random() LIMIT 1", "nondeterministic"),
        ("SELECT a FROM s", "SELECT a FROM t", "unsupported:generated_column"),
        ("SELECT a FROM s", "SELECT name FROM sqlite_master", "unsupported:catalog"),
        ("SELECT a FROM s", "SELECT no_such_function(a) FROM s", "parse"),
        ("SELECT a FROM s", "SELECT a FROM s; SELECT 1", "parse"),
    ] {
        let Verdict::Inapplicable(why) = search.refute(left, right) else { panic!("{right}") };
        assert_eq!(why.code(), code, "{right}: {why}");
    }
    let Verdict::Inapplicable(why) = search.refute("SELECT a FROM s", "DROP TABLE s") else { panic!() };
    assert_eq!(why.reason, Reason::Parse);
    assert!(search.refute("SELECT a FROM s", "SELECT a + 1 FROM s").is_refuted(), "the table is still there");
}

/// Untrusted texts neither harm nor hang.
#[test]
fn hostile_texts_end() {
    let search = Search::new(schema(SCHOOL), options(400)).unwrap();
    let started = std::time::Instant::now();
    let deep = format!("SELECT {}1{} FROM loose", "(".repeat(900), ")".repeat(900));
    let wide = format!("SELECT a FROM loose WHERE {}", vec!["a = 1"; 2000].join(" OR "));
    let joins = format!("SELECT 1 FROM {}", vec!["loose"; 60].join(", "));
    let hostile = [
        "ATTACH 'x.db' AS x",
        "SELECT load_extension('x')",
        "SELECT a FROM loose WHERE load_extension('x')",
        "PRAGMA writable_schema = 1",
        "SELECT * FROM pragma_table_info('loose')",
        "DELETE FROM loose",
        "VACUUM INTO 'x.db'",
        "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT n FROM c",
        "WITH RECURSIVE c(n) AS (SELECT 'x' UNION ALL SELECT n || n FROM c) SELECT max(length(n)) FROM c",
        "SELECT a, hex(zeroblob(1000000000)) FROM loose",
        "SELECT printf('%.*c', 2000000000, 'x') FROM loose",
        "SELECT replace(hex(zeroblob(8000)), '0', hex(zeroblob(8000))) FROM loose",
        "SELECT group_concat(x.a || printf('%.*c', 9000, 'x')) FROM loose x, loose y, loose z",
        "SELECT count(*) FROM player a, player b, player c, player d, player e, player f, player g, player h, player i",
        "SELECT a FROM loose WHERE printf('%.*c', 9000, 'a') LIKE '%a%a%a%a%a%a%a%a%a%a%a%a%b'",
        "SELECT a FROM loose WHERE a = ?",
        "EXPLAIN SELECT a FROM loose",
        deep.as_str(),
        wide.as_str(),
        joins.as_str(),
        "\0",
        "",
        "SELECT a FROM loose -- '",
        "SELECT 9223372036854775807 + 1, abs(-9223372036854775808) FROM loose",
        "SELECT json_extract('{', '$') FROM loose",
    ];
    for text in hostile {
        for (left, right) in [("SELECT a FROM loose", text), (text, "SELECT a FROM loose"), (text, text)] {
            let before = std::time::Instant::now();
            let verdict = search.refute(left, right);
            let took = before.elapsed();
            assert!(took.as_secs() < 20, "{took:?} for {}", &text[..text.len().min(90)]);
            if let Some(found) = verdict.refutation() {
                satisfies(found.database());
            }
        }
    }
    // The search still works, and the catalog is what it was.
    assert!(search.refute("SELECT a FROM loose", "SELECT b FROM loose").is_refuted());
    assert!(!std::path::Path::new("x.db").exists());
    println!("{} texts in {:?}", hostile.len() * 3, started.elapsed());
}

#[test]
fn the_present_time_may_be_asked_for() {
    let search = Search::new(schema(SCHOOL), options(400)).unwrap();
    let age = "SELECT name FROM player WHERE strftime('%Y', 'now') - strftime('%Y', born) > 20";
    let other = "SELECT name FROM player WHERE strftime('%Y', 'now') - strftime('%Y', born) > 30";
    assert!(matches!(search.refute(age, age), Verdict::Survived(_)));
    let verdict = search.refute(age, other);
    assert!(
        verdict.refutation().is_none_or(sqlgauge_verify::search::Refutation::depends_on_clock),
        "{}",
        show(&verdict)
    );
    let precise = "SELECT julianday('now') FROM team";
    let Verdict::Survived(_) = search.refute(precise, precise) else {
        panic!("a clock that ticks is no difference")
    };
}

/// What the plainest witness cannot do without.
#[test]
fn a_witness_is_as_plain_as_it_can_be() {
    let ddl = "CREATE TABLE t (k TEXT PRIMARY KEY, n INTEGER, d DATE, s TEXT)";
    let search = Search::new(schema(ddl), options(400)).unwrap();
    for (left, right, needs) in [
        ("SELECT k FROM t WHERE n > 3", "SELECT k FROM t WHERE n >= 3", vec![]),
        ("SELECT k FROM t WHERE n = 'x'", "SELECT k FROM t WHERE n = 7", vec![]),
        ("SELECT k, n FROM t", "SELECT k FROM t", vec![]),
        ("SELECT count(*) FROM t", "SELECT count(k) FROM t", vec![Need::NullInKey]),
        ("SELECT k FROM t WHERE typeof(n) <> 'text'", "SELECT k FROM t", vec![Need::ValueOffType]),
        ("SELECT k FROM t WHERE 0", "SELECT k, n FROM t WHERE 0", vec![Need::EmptyResult]),
    ] {
        for verdict in [search.refute(left, right), search.refute_minimised(left, right)] {
            let found = verdict.refutation().unwrap_or_else(|| panic!("{left}\n{right}"));
            assert_eq!(found.needs(), needs, "{left}\n{right}\n{}", found.database());
        }
    }
}

/// What a search could not exercise is named; all else was.
#[test]
fn what_was_not_exercised_is_said() {
    let search = Search::new(schema(SCHOOL), options(400)).unwrap();
    for (sql, missing) in [
        ("SELECT name FROM player WHERE goals > 3 AND height < 2", vec!["player.goals > 3 was never null"]),
        (
            "SELECT name FROM player WHERE height IS NULL OR height > 1",
            vec!["player.height IS NULL OR player.height > 1 was never null"],
        ),
        (
            "SELECT name FROM player WHERE height > 1 AND 1 = 2",
            vec!["1 = 2 was never true", "1 = 2 was never null"],
        ),
        (
            "SELECT p.name FROM player p JOIN team t ON p.team_id = t.id",
            vec!["player.team_id = team.id was never unmatched"],
        ),
        ("SELECT t.name FROM team t JOIN player p ON p.team_id = t.id", vec![]),
        ("SELECT id FROM team GROUP BY id", vec!["team.id was never several-rows"]),
        (
            "SELECT city, count(*) FROM team GROUP BY city HAVING count(*) > 2",
            vec!["count(*) > 2 was never null"],
        ),
    ] {
        let found = search.unexercised(sql, "SELECT 1").unwrap_or_else(|| panic!("{sql}"));
        let found: Vec<String> = found.iter().map(ToString::to_string).collect();
        let missing: Vec<String> = missing.into_iter().map(|missing| format!("left: {missing}")).collect();
        assert_eq!(found, missing, "{sql}");
    }
}

/// A witness of one prediction is tried on another.
#[test]
fn witnesses_are_reused() {
    let search = Search::new(schema(SCHOOL), options(400)).unwrap();
    let gold = "SELECT name FROM player WHERE goals > 3";
    let witness = |right: &str| search.refute_minimised(gold, right).refutation().unwrap().database().clone();
    let databases = [
        witness("SELECT goals FROM player WHERE goals > 3"),
        witness("SELECT name FROM player WHERE goals >= 3"),
    ];
    let found = search.refute_with(&databases, gold, "SELECT p.name FROM player p WHERE 3 <= p.goals");
    assert_eq!(
        found.map(|(place, found)| (place, found.database().clone())),
        Some((1, databases[1].clone()))
    );
    assert_eq!(search.refute_with(&databases, gold, "SELECT name FROM player WHERE NOT goals <= 3"), None);
    // The table of coaches, which neither holds, is empty.
    let found = search.refute_with(&databases, gold, "SELECT name FROM coach").map(|(_, found)| found);
    assert_eq!(found.as_ref().map(|found| found.right().values().len()), Some(0));
    assert_eq!(found.map(|found| found.left().values().len()), Some(1));
}

/// Rows before DISTINCT that have one key each leave nothing open; those with several do.
#[test]
fn the_order_of_distinct_rows_by_other_columns_may_be_determined() {
    let search = Search::new(schema("CREATE TABLE t (a INT, b INT)"), options(400)).unwrap();
    let least = "SELECT DISTINCT a FROM t ORDER BY b LIMIT 1";
    assert!(search.refute(least, "SELECT DISTINCT a FROM t ORDER BY b DESC LIMIT 1").is_refuted());
    assert!(!search.refute(least, "SELECT a FROM t ORDER BY b LIMIT 1").is_refuted());
    assert!(!search.refute(least, "SELECT a FROM t GROUP BY a ORDER BY b LIMIT 1").is_refuted());
}

/// Equal rows with equal keys permit the same results under one LIMIT.
#[test]
fn what_a_limit_permits_follows_from_the_rows_with_their_keys() {
    let ddl = schema(SCHOOL);
    let search = Search::new(Arc::clone(&ddl), options(10)).unwrap();
    let proved = |left: &str, right: &str| {
        let rows = search.rows_before_limit(left, right);
        rows.is_some_and(|[left, right]| {
            sqlgauge_etm::Matcher::new(&ddl, sqlgauge_etm::Profile::Sound).is_equal(&left, &right)
        })
    };
    let top = "SELECT t.name FROM team t JOIN player p ON p.team_id = t.id ORDER BY p.goals DESC LIMIT 3";
    assert!(proved(
        top,
        "SELECT t.name FROM player p JOIN team t ON p.team_id = t.id ORDER BY p.goals DESC LIMIT 3"
    ));
    for other in [
        "SELECT t.name FROM player p JOIN team t ON p.team_id = t.id ORDER BY p.goals DESC LIMIT 4",
        "SELECT t.name FROM player p JOIN team t ON p.team_id = t.id ORDER BY p.goals LIMIT 3",
        "SELECT t.name FROM player p JOIN team t ON p.team_id = t.id ORDER BY p.height DESC LIMIT 3",
        "SELECT t.name FROM player p JOIN team t ON p.team_id = t.id ORDER BY p.goals DESC, p.id LIMIT 3",
        "SELECT t.name FROM player p JOIN team t ON p.team_id = t.id LIMIT 3",
        "SELECT DISTINCT t.name FROM player p JOIN team t ON p.team_id = t.id ORDER BY p.goals DESC LIMIT 3",
    ] {
        assert!(!proved(top, other), "{other}");
    }
}

#[test]
fn a_minimal_witness_has_no_row_too_many() {
    let search = Search::new(schema(SCHOOL), options(2000)).unwrap();
    for (left, right, rows) in [
        ("SELECT max(goals) FROM player", "SELECT goals FROM player ORDER BY goals DESC LIMIT 1", 0),
        ("SELECT name FROM player WHERE goals > 3", "SELECT name FROM player WHERE goals >= 3", 2),
        ("SELECT a FROM loose", "SELECT DISTINCT a FROM loose", 2),
        ("SELECT t.name FROM team t LEFT JOIN player p ON p.team_id = t.id", "SELECT name FROM team", 3),
    ] {
        let verdict = search.refute(left, right);
        let smallest = search.minimise(verdict.refutation().unwrap(), left, right);
        assert_eq!(smallest.database().rows(), rows, "{left}\n{}", smallest.database());
        let at_once = search.refute_minimised(left, right);
        assert_eq!(at_once.refutation().unwrap().database().rows(), rows, "{left}");
    }
}
