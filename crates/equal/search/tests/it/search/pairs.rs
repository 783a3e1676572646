//! Pairs that some database tells apart, and pairs that none does.

use sqlgauge_search::{Search, SearchVerdict};

use super::{ODD, SCHOOL, options, schema, show};

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
        let SearchVerdict::Survived(survived) = verdict else {
            panic!("{left}\n{right}\n{}", show(&verdict))
        };
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
    // Two teams of one city have fewer rows each than a third team, and more together; a table stands between.
    (
        SCHOOL,
        "SELECT t.city FROM team t JOIN player p ON p.team_id = t.id JOIN plays s ON s.player_id = p.id \
         WHERE s.minutes = 90 GROUP BY t.id ORDER BY count(*) DESC LIMIT 1",
        "SELECT t.city FROM team t JOIN player p ON p.team_id = t.id JOIN plays s ON s.player_id = p.id \
         WHERE s.minutes = 90 GROUP BY t.city ORDER BY count(*) DESC LIMIT 1",
    ),
];

#[test]
fn different_pairs_are_refuted() {
    let mut tried = Vec::new();
    for &(ddl, left, right) in DIFFERENT {
        let search = Search::new(schema(ddl), options(3000)).unwrap();
        let verdict = search.refute(left, right);
        let Some(refutation) = verdict.refutation() else { panic!("{left}\n{right}\n{}", show(&verdict)) };
        assert_ne!(
            (refutation.left().rows().collect::<Vec<_>>(), refutation.left().width()),
            (refutation.right().rows().collect(), refutation.right().width())
        );
        tried.push((refutation.databases(), left));
        let smallest = search.minimise(refutation, left, right);
        assert!(smallest.database().rows() <= refutation.database().rows());
        assert!(search.replay(smallest.database(), left, right).is_some(), "{left}\n{right}");
    }
    tried.sort_unstable();
    println!("databases tried, the most first:");
    tried.iter().rev().take(12).for_each(|(databases, left)| println!("{databases:5} {left}"));
}

/// Pairs that differ only by what SQLite is free to do.
const FREE: &[(&str, &str)] = &[
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
    ("SELECT DISTINCT g FROM t ORDER BY v LIMIT 1", "SELECT DISTINCT g FROM t ORDER BY v, id DESC LIMIT 1"),
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
    (
        "SELECT id FROM (SELECT id, row_number() OVER (PARTITION BY g ORDER BY v) AS r FROM t) WHERE r = 1",
        "SELECT id FROM (SELECT id, row_number() OVER (PARTITION BY g ORDER BY v, id DESC) AS r FROM t) WHERE r = 1",
    ),
    (
        "SELECT id, sum(v) OVER (ORDER BY g ROWS UNBOUNDED PRECEDING) FROM t",
        "SELECT id, sum(v) OVER (ORDER BY g, id DESC ROWS UNBOUNDED PRECEDING) FROM t",
    ),
    (
        "SELECT id, last_value(id) OVER (PARTITION BY v) FROM t",
        "SELECT id, max(id) OVER (PARTITION BY v) FROM t",
    ),
    ("SELECT id, lag(id) OVER (ORDER BY g) FROM t", "SELECT id, lag(id) OVER (ORDER BY g, v DESC) FROM t"),
    // Sorted by what does not tell the texts apart.
    ("SELECT group_concat(s ORDER BY g) FROM t", "SELECT group_concat(s ORDER BY g, s) FROM t"),
    // A column beside an aggregate that stands in a subquery, and which row that subquery takes.
    (
        "SELECT (SELECT count(t.v)), v FROM t",
        "SELECT (SELECT count(t.v)), v FROM (SELECT * FROM t ORDER BY g) AS t",
    ),
    (
        "SELECT (SELECT count(t.v) + u.w FROM u) FROM t",
        "SELECT (SELECT count(t.v) + u.w FROM u ORDER BY w DESC) FROM t",
    ),
    // Which of several equal texts is kept.
    ("SELECT DISTINCT n FROM t", "SELECT min(n) FROM (SELECT * FROM t ORDER BY id DESC) GROUP BY n"),
];

/// Differences for which SQLite's own freedom is to blame are none.
#[test]
fn freedom_is_not_a_difference() {
    let ddl = "CREATE TABLE t (id INTEGER PRIMARY KEY, g INT, v INT, s TEXT, n TEXT COLLATE NOCASE);
               CREATE TABLE u (id INTEGER PRIMARY KEY, t_id INT, w INT); CREATE INDEX by_v ON t (v);";
    for (left, right) in FREE.iter().copied() {
        let verdict = Search::new(schema(ddl), options(2000)).unwrap().refute(left, right);
        let SearchVerdict::Survived(survived) = verdict else {
            panic!("{left}\n{right}\n{}", show(&verdict))
        };
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
        ("SELECT (SELECT max(t.v)) FROM t", "SELECT (SELECT min(t.v)) FROM t"),
        (
            "SELECT g, (SELECT sum(t.v) + u.w FROM u WHERE u.id = 1) FROM t GROUP BY g",
            "SELECT g, (SELECT sum(t.v) + u.w FROM u WHERE u.id = 2) FROM t GROUP BY g",
        ),
        (
            "SELECT g FROM t GROUP BY g HAVING 2 < (SELECT count(t.v) + u.w FROM u WHERE u.id = 1)",
            "SELECT g FROM t GROUP BY g HAVING 2 <= (SELECT count(t.v) + u.w FROM u WHERE u.id = 1)",
        ),
        (
            "SELECT g FROM t GROUP BY g ORDER BY (SELECT max(t.v))",
            "SELECT g FROM t GROUP BY g ORDER BY (SELECT min(t.v))",
        ),
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
        // Whichever of tied rows a window takes first.
        (
            "SELECT id FROM t WHERE v = (SELECT max(v) FROM t)",
            "SELECT id FROM (SELECT id, row_number() OVER (ORDER BY v DESC) AS r FROM t WHERE v IS NOT NULL) WHERE r = 1",
        ),
        (
            "SELECT id FROM (SELECT id, rank() OVER (ORDER BY v DESC) AS r FROM t) WHERE r = 1",
            "SELECT id FROM (SELECT id, row_number() OVER (ORDER BY v DESC) AS r FROM t) WHERE r = 1",
        ),
        (
            "SELECT id FROM (SELECT id, rank() OVER (PARTITION BY g ORDER BY v) AS r FROM t) WHERE r <= 2",
            "SELECT id FROM (SELECT id, row_number() OVER (PARTITION BY g ORDER BY v) AS r FROM t) WHERE r <= 2",
        ),
        ("SELECT id, rank() OVER (ORDER BY v) FROM t", "SELECT id, row_number() OVER (ORDER BY v) FROM t"),
        (
            "SELECT id, sum(id) OVER (ORDER BY v) FROM t",
            "SELECT id, sum(id) OVER (ORDER BY v ROWS UNBOUNDED PRECEDING) FROM t",
        ),
        (
            "WITH r AS (SELECT id, g, row_number() OVER (ORDER BY v) AS n FROM t) SELECT id FROM r WHERE n = 1",
            "SELECT id FROM t WHERE v IS (SELECT min(v) FROM t)",
        ),
        (
            "SELECT t.id, rank() OVER (ORDER BY u.w) FROM t JOIN u ON u.t_id = t.id",
            "SELECT t.id, row_number() OVER (ORDER BY u.w) FROM t JOIN u ON u.t_id = t.id",
        ),
        // Sorted texts are joined in one order.
        ("SELECT group_concat(s ORDER BY s) FROM t", "SELECT group_concat(s ORDER BY s DESC) FROM t"),
        (
            "SELECT g, group_concat(s ORDER BY s) FROM t GROUP BY g",
            "SELECT g, group_concat(DISTINCT s ORDER BY s) FROM t GROUP BY g",
        ),
    ] {
        let verdict = Search::new(schema(ddl), options(2000)).unwrap().refute(left, right);
        assert!(verdict.is_refuted(), "{left}\n{right}\n{}", show(&verdict));
    }
}
