//! Every metric on pairs of queries over a small database.

#![expect(clippy::unwrap_used, reason = "a test that cannot read its data must stop")]

use std::path::Path;
use std::sync::Arc;

use sqlgauge_engine::{Engine, GoldCache, Limits, SqliteEngine};
use sqlgauge_metrics::{
    GoldFacts, Metric, MetricKind, Pair, RVes, Score, Target, Ves, all, find, score_best,
};

const SCHEMA: &str = "
    CREATE TABLE singer (id INTEGER PRIMARY KEY, name TEXT, age INTEGER, pay REAL);
    INSERT INTO singer VALUES (1, 'Ann', 30, 0.1), (2, 'Bob', 20, 0.2), (3, 'Cid', 30, 0.3), (4, 'Dee', 40, NULL);
    CREATE TABLE song (id INTEGER PRIMARY KEY, singer_id INTEGER REFERENCES singer(id), title TEXT);
    INSERT INTO song VALUES (1, 1, 'x'), (2, 1, 'y'), (3, 2, 'x');
    CREATE TABLE odd (t TEXT);
    INSERT INTO odd VALUES (CAST(x'61ff' AS TEXT));";

struct World {
    engine: SqliteEngine,
    target: Target,
    _folder: tempfile::TempDir,
}

impl World {
    /// A folder with one database per script, the first of them the target.
    fn new(scripts: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let engine = SqliteEngine::new(Limits::default());
        let open = |(index, script): (usize, &&str)| {
            let path = folder.path().join(format!("db{index}.sqlite"));
            write_database(&path, script);
            engine.open(&path).unwrap()
        };
        let suite: Vec<_> = scripts.iter().enumerate().map(open).collect();
        let target = Target::new("db0", Arc::clone(&suite[0])).with_suite(suite);
        Self { engine, target, _folder: folder }
    }

    fn pair<'a>(&'a self, gold: &'a str, prediction: &'a str) -> Pair<'a> {
        Pair::new(&self.engine, &self.target, gold, prediction, None)
    }

    fn score(&self, metric: &str, gold: &str, prediction: &str) -> Score {
        find(metric).unwrap().score(&self.pair(gold, prediction))
    }
}

fn write_database(path: &Path, script: &str) {
    rusqlite::Connection::open(path).unwrap().execute_batch(script).unwrap();
}

#[test]
fn the_accuracies_differ_where_their_contracts_do() {
    let world = World::new(&[SCHEMA]);
    let metrics = ["ex-spider", "ex-spider-distinct", "ex-bird", "ex"];
    for (gold, prediction, expected) in [
        ("SELECT name FROM singer", "select name from singer", [1.0, 1.0, 1.0, 1.0]),
        // Column order.
        ("SELECT name, age FROM singer", "SELECT age, name FROM singer", [1.0, 1.0, 0.0, 0.0]),
        // Repetition.
        ("SELECT age FROM singer", "SELECT DISTINCT age FROM singer", [1.0, 0.0, 1.0, 0.0]),
        // Ties: equal ages in either order.
        (
            "SELECT name FROM singer ORDER BY age, id",
            "SELECT name FROM singer ORDER BY age, name DESC",
            [0.0, 0.0, 1.0, 0.0],
        ),
        (
            "SELECT name FROM singer ORDER BY age",
            "SELECT name FROM singer ORDER BY age, name DESC",
            [0.0, 0.0, 1.0, 1.0],
        ),
        (
            "SELECT name, age FROM singer ORDER BY 2 DESC",
            "SELECT name, age FROM singer ORDER BY age",
            [0.0, 0.0, 1.0, 0.0],
        ),
        // An order inside a subquery asks for none.
        (
            "SELECT name FROM (SELECT name FROM singer ORDER BY age)",
            "SELECT name FROM singer ORDER BY name DESC",
            [0.0, 0.0, 1.0, 1.0],
        ),
        // The last bit of a sum.
        ("SELECT 0.3", "SELECT 0.1 + 0.2", [0.0, 0.0, 0.0, 1.0]),
        ("SELECT 1", "SELECT 1.0", [1.0, 1.0, 1.0, 1.0]),
        // Empty results.
        ("SELECT name FROM singer WHERE 0", "SELECT 1, 2 WHERE 0", [1.0, 1.0, 1.0, 0.0]),
        // Several statements, and none.
        ("SELECT 1", "SELECT 1; SELECT 2", [1.0, 0.0, 0.0, 0.0]),
        ("SELECT 1 WHERE 0", "-- nothing", [1.0, 1.0, 1.0, 0.0]),
        // The placeholder.
        (
            "SELECT name FROM singer WHERE id = 1",
            "SELECT name FROM singer WHERE id = value",
            [1.0, 1.0, 0.0, 0.0],
        ),
        // Text that is not UTF-8.
        ("SELECT 'a'", "SELECT t FROM odd", [1.0, 1.0, 0.0, 0.0]),
    ] {
        let found = metrics.map(|metric| world.score(metric, gold, prediction).value);
        assert_eq!(found, expected.map(Some), "{gold} | {prediction}");
    }
}

#[test]
fn a_gold_that_fails_is_null_for_every_metric_and_a_prediction_that_fails_is_0() {
    let world = World::new(&[SCHEMA]);
    for metric in all() {
        let id = metric.id();
        let gold_failed = world.score(id, "SELECT nonesuch FROM singer", "SELECT 1");
        assert_eq!(gold_failed.value, None, "{id}");
        assert!(gold_failed.detail.contains_key("reason"), "{id}");
        if id.starts_with("ex") || id == "suite@1" {
            assert_eq!(gold_failed.detail["gold_failed"], "no_such_column", "{id}");
        }
        let prediction_failed = world.score(id, "SELECT count(*) FROM singer", "SELECT x FROM nowhere");
        let expected = if id == "vm-steps@1" { None } else { Some(0.0) };
        assert_eq!(prediction_failed.value, expected, "{id}");
        assert!(prediction_failed.detail.contains_key("reason"), "{id}");
    }
    let denied = world.score("ex-spider", "SELECT 1 WHERE 0", "DROP TABLE singer");
    assert_eq!((denied.value, denied.detail["status"].as_str()), (Some(0.0), Some("denied")));
    let blank = world.score("ex-spider", "SELECT 1 WHERE 0", "  ");
    assert_eq!((blank.value, blank.detail["status"].as_str()), (Some(0.0), Some("empty")));
}

#[test]
fn a_suite_needs_every_database() {
    let other = "CREATE TABLE singer (id INTEGER PRIMARY KEY, name TEXT, age INTEGER);
                 INSERT INTO singer VALUES (1, 'Ann', 20), (2, 'Bob', 30);";
    let world = World::new(&[SCHEMA, other]);
    let (gold, lucky) = ("SELECT name FROM singer WHERE id = 2", "SELECT name FROM singer WHERE age = 20");
    assert_eq!(world.score("ex-spider", gold, lucky).value, Some(1.0));
    let score = world.score("suite", gold, lucky);
    assert_eq!((score.value, score.detail["database"].as_str()), (Some(0.0), Some("db1.sqlite")));
    assert_eq!(world.score("suite", gold, gold).value, Some(1.0));
    let gold = "SELECT pay FROM singer WHERE id = 2";
    assert_eq!(world.score("suite", gold, gold).value, None);
}

#[test]
fn names_are_compared_as_sets() {
    let world = World::new(&[SCHEMA]);
    let gold = "SELECT T1.name FROM singer AS T1 JOIN song AS T2 ON T1.id = T2.singer_id";
    let same = "SELECT name FROM singer WHERE id IN (SELECT singer_id FROM song)";
    assert_eq!(world.score("table-f1", gold, same).value, Some(1.0));
    assert_eq!(world.score("column-f1", gold, same).value, Some(1.0));
    let score = world.score("table-f1", gold, "SELECT name FROM singer");
    assert_eq!(score.value, Some(2.0 / 3.0));
    assert_eq!(score.detail["reason"], "missing tables: song");
    let score = world.score("column-f1", "SELECT name FROM singer", "SELECT age FROM singer");
    assert_eq!(score.detail["reason"], "missing columns: singer.name; too many: singer.age");
}

#[test]
fn costs_are_relative_to_the_gold() {
    let world = World::new(&[SCHEMA]);
    let gold = "SELECT count(*) FROM singer WHERE age > 0";
    let same = world.score("vm-steps", gold, gold);
    assert_eq!((same.value, &same.detail["same_result"]), (Some(1.0), &true.into()));
    let dearer = "SELECT count(*) FROM singer AS a WHERE age > (SELECT min(b.age) - 100 FROM singer AS b WHERE b.id <> a.id)";
    let score = world.score("vm-steps", gold, dearer);
    assert!(score.value.unwrap() > 2.0, "{score:?}");
    let pair = world.pair(gold, dearer);
    for metric in [&Ves { repetitions: 3 } as &dyn Metric, &RVes { repetitions: 3 }] {
        assert!(metric.score(&pair).value.unwrap() > 0.0);
        assert_eq!(metric.score(&world.pair(gold, "SELECT 7")).value, Some(0.0));
    }
}

#[test]
fn the_best_of_several_golds_counts() {
    let world = World::new(&[SCHEMA]);
    let golds = ["SELECT nonesuch FROM singer", "SELECT name FROM singer WHERE id = 1", "SELECT 'Bob'"];
    let best = |prediction| {
        let pairs: Vec<Pair<'_>> = golds.iter().map(|gold| world.pair(gold, prediction)).collect();
        score_best(find("ex").unwrap(), &pairs)
    };
    let right = best("SELECT name FROM singer WHERE id = 2");
    assert_eq!((right.value, &right.detail["gold"]), (Some(1.0), &2.into()));
    let wrong = best("SELECT 'Eve'");
    assert_eq!((wrong.value, &wrong.detail["gold"]), (Some(0.0), &1.into()));
    assert_eq!(score_best(find("ex").unwrap(), &[]).value, None);
}

#[test]
fn shared_memos_change_nothing() {
    let world = World::new(&[SCHEMA]);
    let (cache, facts) = (GoldCache::new(1 << 20), GoldFacts::default());
    let gold = "SELECT DISTINCT name FROM singer ORDER BY age";
    for prediction in
        ["SELECT name FROM singer ORDER BY age, name DESC", "SELECT name FROM singer", "SELECT 1"]
    {
        let shared = Pair::new(&world.engine, &world.target, gold, prediction, Some(&cache)).sharing(&facts);
        for metric in all().iter().filter(|metric| metric.kind() != MetricKind::Cost) {
            let alone = metric.score(&world.pair(gold, prediction));
            assert_eq!(metric.score(&shared), alone, "{} {prediction}", metric.id());
        }
    }
}
