//! Every metric on pairs of queries over a small database.

use std::path::Path;
use std::sync::Arc;

use sqlgauge_engine::{Engine, GoldCache, Limits, SqliteEngine};
use sqlgauge_metrics::{
    GoldFacts, Metric, MetricKind, Pair, RVes, Reads, Score, Target, Ves, all, find, score_best,
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
        let mut target = Target::new("db0", Arc::clone(&suite[0]));
        target.suite = suite;
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

/// SQLite takes a byte order mark for white space where a token may begin; the official parser does not know it.
#[test]
fn a_byte_order_mark_changes_the_official_match_alone() {
    let world = World::new(&[SCHEMA]);
    for (metric, expected) in [("ex", 1.0), ("etm", 1.0), ("esm-fair", 1.0), ("esm", 0.0)] {
        let score = world.score(metric, "SELECT name FROM singer", "\u{feff}SELECT name FROM singer");
        assert_eq!(score.value, Some(expected), "{metric}");
    }
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
        // One statement and a semicolon that Python's module, on which the official scripts run, refuses.
        ("SELECT 1", "SELECT 1;;", [1.0, 0.0, 0.0, 1.0]),
        ("SELECT 1", "SELECT 1; /* b */ ;", [1.0, 0.0, 0.0, 1.0]),
        ("SELECT 1", "SELECT 1; -- b", [1.0, 1.0, 1.0, 1.0]),
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
        let values = metrics.map(|metric| world.score(metric, gold, prediction).value);
        assert_eq!(values, expected.map(Some), "{gold} | {prediction}");
    }
}

/// What the official script compares is not always what the texts return.
#[test]
fn ex_spider_says_what_it_compared() {
    let world = World::new(&[SCHEMA]);
    let reason = |metric: &str, gold: &str, prediction: &str| {
        let score = world.score(metric, gold, prediction);
        (
            score.value.unwrap(),
            score.detail.entries().get("reason").map(|reason| reason.as_str().unwrap().to_owned()),
        )
    };
    let (distinct, plain) = ("SELECT DISTINCT age FROM singer", "SELECT age FROM singer");
    let (value, text) = reason("ex-spider", distinct, plain);
    assert!((value - 1.0).abs() < f64::EPSILON);
    assert_eq!(text.unwrap(), "equal when compared as the official script runs them, gold: DISTINCT dropped");
    let (value, text) = reason("ex-spider", distinct, "SELECT DISTINCT age FROM singer WHERE age < 40");
    let text = text.unwrap();
    assert!(value.abs() < f64::EPSILON);
    assert!(text.starts_with("gold has 4 rows, prediction 3 (compared as the official script"), "{text}");
    assert!(text.ends_with("gold: DISTINCT dropped; prediction: DISTINCT dropped)"), "{text}");
    let (value, text) = reason(
        "ex-spider-distinct",
        "SELECT id FROM singer WHERE id ! = 2",
        "SELECT id FROM singer WHERE id > = 2",
    );
    assert!(value.abs() < f64::EPSILON);
    assert!(text.unwrap().contains("gold: comparison operators closed up"));
    // Nothing is said where nothing differs.
    assert_eq!(reason("ex-spider", "SELECT DISTINCT id FROM singer", "SELECT id FROM singer"), (1.0, None));
    assert_eq!(reason("ex-spider-distinct", distinct, distinct), (1.0, None));
}

/// Which order a DISTINCT query has that is sorted by what it does not return depends on the data.
#[test]
fn distinct_sorted_by_what_is_not_returned_is_ordered_where_that_is_determined() {
    let world = World::new(&["
        CREATE TABLE one (a INTEGER, b TEXT); -- every b has one a
        INSERT INTO one VALUES (3, 'x'), (2, 'y'), (2, 'w'), (3, 'x'), (1, 'z');
        CREATE TABLE many (a INTEGER, b TEXT, c TEXT); -- x has two
        INSERT INTO many VALUES (3, 'x', 'p'), (2, 'y', 'p'), (1, 'x', 'p'), (0, 'z', 'q');
        CREATE TABLE folded (a INTEGER, b TEXT COLLATE NOCASE);
        INSERT INTO folded VALUES (1, 'x'), (2, 'y'), (1, 'X');"]);
    for (gold, prediction, value, order) in [
        ("SELECT DISTINCT b FROM one ORDER BY a", "SELECT DISTINCT b FROM one ORDER BY a DESC", 0.0, None),
        (
            "SELECT DISTINCT b FROM one ORDER BY a",
            "SELECT b FROM one GROUP BY b ORDER BY max(a), b DESC",
            1.0,
            None,
        ),
        (
            "SELECT DISTINCT b FROM one ORDER BY a",
            "SELECT b FROM one GROUP BY b ORDER BY max(a), b",
            1.0,
            None,
        ),
        (
            "SELECT DISTINCT b FROM one ORDER BY a LIMIT 3",
            "SELECT 'z' UNION ALL SELECT 'w' UNION ALL SELECT 'y'",
            1.0,
            None,
        ),
        (
            "SELECT DISTINCT b FROM one ORDER BY a LIMIT 3",
            "SELECT 'y' UNION ALL SELECT 'w' UNION ALL SELECT 'z'",
            0.0,
            None,
        ),
        (
            "SELECT DISTINCT b FROM many ORDER BY a",
            "SELECT DISTINCT b FROM many ORDER BY a DESC",
            1.0,
            Some("not compared"),
        ),
        ("SELECT DISTINCT b FROM many ORDER BY a", "SELECT 'x' UNION SELECT 'y'", 0.0, None),
        (
            "SELECT DISTINCT c, b FROM many ORDER BY c, a",
            "SELECT DISTINCT c, b FROM many ORDER BY c, b",
            1.0,
            Some("in part"),
        ),
        (
            "SELECT DISTINCT c, b FROM many ORDER BY c, a",
            "SELECT DISTINCT c, b FROM many ORDER BY c DESC",
            0.0,
            Some("in part"),
        ),
        (
            "SELECT DISTINCT b FROM folded ORDER BY a",
            "SELECT DISTINCT b FROM folded ORDER BY a DESC",
            1.0,
            Some("collation"),
        ),
    ] {
        let score = world.score("ex", gold, prediction);
        assert_eq!(score.value, Some(value), "{gold} | {prediction}: {score:?}");
        let order_text = score.detail.entries().get("order").and_then(|order| order.as_str());
        assert_eq!(order_text.is_some(), order.is_some(), "{gold} | {prediction}: {score:?}");
        assert!(order_text.unwrap_or_default().contains(order.unwrap_or_default()), "{order_text:?}");
    }
}

#[test]
fn a_gold_that_fails_is_null_for_every_metric_and_a_prediction_that_fails_is_0() {
    let world = World::new(&[SCHEMA]);
    for metric in all() {
        let id = metric.id();
        let gold_failed = world.score(id, "SELECT nonesuch FROM singer", "SELECT 1");
        assert_eq!(gold_failed.value, None, "{id}");
        assert!(gold_failed.detail.entries().contains_key("reason"), "{id}");
        if id.starts_with("ex") || id == "suite@1" {
            assert_eq!(gold_failed.detail.entries()["gold_failed"], "no_such_column", "{id}");
        }
        let prediction_failed = world.score(id, "SELECT count(*) FROM singer", "SELECT x FROM nowhere");
        // A cost has no worst value, and without a pack nothing is said of one.
        let expected = if matches!(id, "vm-steps@1" | "pack@1") { None } else { Some(0.0) };
        assert_eq!(prediction_failed.value, expected, "{id}");
        assert!(prediction_failed.detail.entries().contains_key("reason"), "{id}");
    }
    let denied = world.score("ex-spider", "SELECT 1 WHERE 0", "DROP TABLE singer");
    assert_eq!((denied.value, denied.detail.entries()["status"].as_str()), (Some(0.0), Some("denied")));
    let blank = world.score("ex-spider", "SELECT 1 WHERE 0", "  ");
    assert_eq!((blank.value, blank.detail.entries()["status"].as_str()), (Some(0.0), Some("empty")));
}

#[test]
fn a_suite_needs_every_database() {
    let other = "CREATE TABLE singer (id INTEGER PRIMARY KEY, name TEXT, age INTEGER);
                 INSERT INTO singer VALUES (1, 'Ann', 20), (2, 'Bob', 30);";
    let world = World::new(&[SCHEMA, other]);
    let (gold, lucky) = ("SELECT name FROM singer WHERE id = 2", "SELECT name FROM singer WHERE age = 20");
    assert_eq!(world.score("ex-spider", gold, lucky).value, Some(1.0));
    let score = world.score("suite", gold, lucky);
    assert_eq!((score.value, score.detail.entries()["database"].as_str()), (Some(0.0), Some("db1.sqlite")));
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
    assert_eq!(score.detail.entries()["reason"], "missing tables: song");
    let score = world.score("column-f1", "SELECT name FROM singer", "SELECT age FROM singer");
    assert_eq!(score.detail.entries()["reason"], "missing columns: singer.name; too many: singer.age");
}

/// One name that the schema does not have costs no more than itself, but in the first version.
#[test]
fn names_of_a_prediction_that_does_not_resolve_are_read_off_its_text() {
    let world = World::new(&[SCHEMA]);
    let gold = "SELECT T1.name FROM singer AS T1 JOIN song AS T2 ON T1.id = T2.singer_id";
    let renamed = "SELECT T1.nick FROM singer AS T1 JOIN song AS T2 ON T1.id = T2.singer_id";
    let score = world.score("table-f1", gold, renamed);
    assert_eq!(score.value, Some(1.0));
    let text = score.detail.entries()["reason"].as_str().unwrap();
    assert!(
        text.starts_with("read off the text, which does not resolve (") && text.contains("nick"),
        "{text}"
    );
    let score = world.score("column-f1", gold, renamed);
    assert_eq!(score.value, Some(2.0 / 3.0));
    assert!(
        score.detail.entries()["reason"]
            .as_str()
            .unwrap()
            .contains("missing columns: singer.name; too many: singer.nick")
    );
    let score = world.score("table-f1", gold, "SELECT name FROM artist JOIN song ON singer_id = artist.id");
    assert_eq!(score.value, Some(0.5));
    for metric in ["table-f1@1", "column-f1@1"] {
        assert_eq!(world.score(metric, gold, renamed).value, Some(0.0));
    }
    for metric in ["table-f1", "column-f1"] {
        assert_eq!(world.score(metric, gold, "SELECT name FROM").value, Some(0.0));
    }
}

#[test]
fn costs_are_relative_to_the_gold() {
    let world = World::new(&[SCHEMA]);
    let gold = "SELECT count(*) FROM singer WHERE age > 0";
    let same = world.score("vm-steps", gold, gold);
    assert_eq!((same.value, &same.detail.entries()["same_result"]), (Some(1.0), &true.into()));
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
    assert_eq!((right.value, &right.detail.entries()["gold"]), (Some(1.0), &2.into()));
    assert_eq!(right.detail.entries()["reason"], "by gold 3 of 3");
    let wrong = best("SELECT 'Eve'");
    assert_eq!((wrong.value, &wrong.detail.entries()["gold"]), (Some(0.0), &1.into()));
    assert!(wrong.detail.entries()["reason"].as_str().unwrap().starts_with("gold 2 of 3: "), "{wrong:?}");
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
        for metric in all().iter().filter(|metric| metric.kind() != MetricKind::Unbounded) {
            let alone = metric.score(&world.pair(gold, prediction));
            assert_eq!(metric.score(&shared), alone, "{} {prediction}", metric.id());
        }
    }
}

/// Whatever stops early scores as it would have at its end.
#[test]
fn a_prediction_that_is_wrong_already_stops_and_scores_the_same() {
    let world = World::new(&[SCHEMA]);
    let numbers = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 500)";
    let golds = [
        "SELECT id FROM singer",
        "SELECT DISTINCT age FROM singer",
        "SELECT age FROM singer",
        "SELECT name, age FROM singer ORDER BY age",
        "SELECT id FROM singer WHERE 0",
    ];
    let predictions = [
        format!("{numbers} SELECT x FROM n"),
        format!("{numbers} SELECT x % 4 + 1 FROM n"),
        format!("{numbers} SELECT DISTINCT x % 4 + 1 FROM n"),
        format!("{numbers} SELECT 30 FROM n UNION ALL SELECT 20 UNION ALL SELECT 40"),
        format!("{numbers} SELECT abs(iif(x < 9, x, -9223372036854775807 - 1)) FROM n"),
        "SELECT age FROM singer, song, odd".to_owned(),
        "SELECT age, age FROM singer, song".to_owned(),
        "SELECT name, age FROM singer ORDER BY age DESC".to_owned(),
        "SELECT name, age FROM singer ORDER BY age, name DESC".to_owned(),
        "SELECT id FROM singer ORDER BY id DESC".to_owned(),
    ];
    let text_free: Vec<&dyn Metric> =
        all().iter().copied().filter(|m| m.reads() != Reads::Everything).collect();
    let cases: Vec<(&str, &str)> =
        golds.iter().flat_map(|gold| predictions.iter().map(move |text| (*gold, text.as_str()))).collect();
    // A pair that is told of no metric does not stop.
    let wholes: Vec<Pair<'_>> = cases.iter().map(|(gold, text)| world.pair(gold, text)).collect();
    let mut stopped = 0;
    for group in
        [&["ex"][..], &["ex-bird"], &["ex-spider", "ex-bird"], &["ex-subset", "ex-tolerance", "suite"], &[]]
    {
        let metrics: Vec<&dyn Metric> = match group {
            [] => text_free.iter().copied().filter(|metric| metric.kind() != MetricKind::Unbounded).collect(),
            ids => ids.iter().map(|id| find(id).unwrap() as &dyn Metric).collect(),
        };
        for ((gold, prediction), whole) in cases.iter().zip(&wholes) {
            let pair = world.pair(gold, prediction).for_metrics(&metrics);
            let early = pair.prediction_execution();
            stopped += usize::from(early.rows().is_some_and(|rows| rows.is_beginning()));
            for metric in &metrics {
                let whole = metric.score(whole).value;
                assert_eq!(metric.score(&pair).value, whole, "{} {gold} | {prediction}", metric.id());
            }
        }
    }
    assert!(stopped > 40, "{stopped}");
    // One metric that reads everything, and nothing stops.
    let everything: Vec<&dyn Metric> = vec![find("ex").unwrap(), find("soft-f1").unwrap()];
    let pair = world.pair(golds[0], &predictions[0]).for_metrics(&everything);
    assert_eq!(pair.prediction_execution().rows().unwrap().len(), 500);
    let reason = |ids: &[&str]| {
        let metrics: Vec<&dyn Metric> = ids.iter().map(|id| find(id).unwrap() as &dyn Metric).collect();
        let score = metrics[0].score(&world.pair(golds[0], &predictions[0]).for_metrics(&metrics));
        score.detail.entries()["reason"].as_str().unwrap().to_owned()
    };
    assert_eq!(reason(&["ex"]), "gold has 4 rows, prediction at least 5");
}

/// Hand-made truth: what defog's `subset_df` and Spider 2's `compare_pandas_table` (with 0.01, order ignored) say of the
/// same rows, where nothing else is noted.
#[test]
fn further_columns_and_tolerance() {
    let world = World::new(&[SCHEMA]);
    let metrics = ["ex", "ex-tolerance", "ex-subset", "ex-subset-tolerance"];
    for (gold, prediction, expected) in [
        ("SELECT name FROM singer", "SELECT name FROM singer", [1.0, 1.0, 1.0, 1.0]),
        ("SELECT name FROM singer", "SELECT id, name FROM singer", [0.0, 0.0, 1.0, 1.0]),
        ("SELECT name, age FROM singer", "SELECT age, id, name FROM singer", [0.0, 0.0, 1.0, 1.0]),
        ("SELECT name, age FROM singer", "SELECT name FROM singer", [0.0, 0.0, 0.0, 0.0]),
        ("SELECT name FROM singer", "SELECT id, name FROM singer WHERE id < 4", [0.0, 0.0, 0.0, 0.0]),
        // The rows must fit together; Spider 2 compares each column for itself and takes this for equal.
        (
            "SELECT 1.5 AS a, 2.5 AS b UNION ALL SELECT 2.5, 1.5",
            "SELECT 1.5, 1.5 UNION ALL SELECT 2.5, 2.5",
            [0.0, 0.0, 0.0, 0.0],
        ),
        // One column does not stand for two; Spider 2 lets it.
        ("SELECT id, id FROM singer", "SELECT id, name FROM singer", [0.0, 0.0, 0.0, 0.0]),
        // The second column with the gold's values fits; defog tries the first alone.
        (
            "SELECT 1 AS a, 'x' AS b UNION ALL SELECT 2, 'y'",
            "SELECT 2 AS z, 1 AS a, 'x' AS b UNION ALL SELECT 1, 2, 'y'",
            [0.0, 0.0, 1.0, 1.0],
        ),
        // 3.333 for a third of ten.
        ("SELECT 3.333", "SELECT 10 / 3.0", [0.0, 1.0, 0.0, 1.0]),
        ("SELECT 3.33333", "SELECT 10 / 3.0", [0.0, 1.0, 1.0, 1.0]),
        ("SELECT 3.3", "SELECT 10 / 3.0, 1", [0.0, 0.0, 0.0, 0.0]),
        ("SELECT 3.333", "SELECT 'x', 10 / 3.0", [0.0, 0.0, 0.0, 1.0]),
        ("SELECT 100000.5", "SELECT 100001.0", [0.0, 0.0, 1.0, 0.0]),
        ("SELECT 3", "SELECT 3.004", [0.0, 1.0, 0.0, 1.0]),
        ("SELECT 3", "SELECT 4", [0.0, 0.0, 0.0, 0.0]),
        ("SELECT 3", "SELECT '3'", [0.0, 0.0, 0.0, 0.0]),
        ("SELECT pay FROM singer", "SELECT pay, name FROM singer", [0.0, 0.0, 1.0, 1.0]),
        (
            "SELECT pay FROM singer WHERE id = 4",
            "SELECT name, NULL FROM singer WHERE id = 4",
            [0.0, 0.0, 1.0, 1.0],
        ),
        // Order counts where the gold asks for it, ties free.
        (
            "SELECT name FROM singer ORDER BY age",
            "SELECT age, name FROM singer ORDER BY age, name DESC",
            [0.0, 0.0, 1.0, 1.0],
        ),
        (
            "SELECT name FROM singer ORDER BY age",
            "SELECT age, name FROM singer ORDER BY age DESC",
            [0.0, 0.0, 0.0, 0.0],
        ),
        ("SELECT name FROM singer", "SELECT age, name FROM singer ORDER BY age DESC", [0.0, 0.0, 1.0, 1.0]),
        // Repetition counts.
        ("SELECT age FROM singer", "SELECT DISTINCT age, 1 FROM singer", [0.0, 0.0, 0.0, 0.0]),
        // Empty results.
        ("SELECT name FROM singer WHERE 0", "SELECT id, name FROM singer WHERE 0", [0.0, 0.0, 1.0, 1.0]),
        ("SELECT name FROM singer WHERE 0", "SELECT id, name FROM singer", [0.0, 0.0, 0.0, 0.0]),
        ("SELECT name, id FROM singer WHERE 0", "SELECT id FROM singer WHERE 0", [0.0, 0.0, 0.0, 0.0]),
    ] {
        let values = metrics.map(|metric| world.score(metric, gold, prediction).value);
        assert_eq!(values, expected.map(Some), "{gold} | {prediction}");
    }
    let chosen = world.score("ex-subset", "SELECT name, age FROM singer", "SELECT age, id, name FROM singer");
    assert_eq!(chosen.detail.entries()["reason"], "equal in the prediction's columns 3, 1");
}
