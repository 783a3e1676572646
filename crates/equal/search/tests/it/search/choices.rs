//! A gold that permits one result alone, and predictions that permit another too: each is refuted by results that SQLite returned
//! for the same rows. A gold that permits several blames nobody for one of them.

use std::collections::BTreeSet;

use rusqlite::Connection;
use sqlgauge_search::{DifferenceKind, Search, SearchOptions, SearchVerdict};

use super::{SCHOOL, options, schema, show};

fn search(counts_choices: bool) -> Search {
    Search::new(schema(SCHOOL), SearchOptions { counts_choices, ..options(400) }).unwrap()
}

/// Gold and prediction; only SQLite's choice tells them apart.
const FREER: &[(&str, &str)] = &[
    (
        "SELECT min(name) FROM player HAVING count(name) > 0",
        "SELECT name FROM player WHERE name IS NOT NULL LIMIT 1",
    ),
    (
        "SELECT name FROM player ORDER BY goals DESC, id LIMIT 1",
        "SELECT name FROM player ORDER BY goals DESC LIMIT 1",
    ),
    // Returns the gold's result in the order in which SQLite reads the table.
    ("SELECT name FROM player ORDER BY id LIMIT 1", "SELECT name FROM player LIMIT 1"),
    (
        "SELECT team_id, max(id) FROM player GROUP BY team_id",
        "SELECT team_id, id FROM player GROUP BY team_id",
    ),
    (
        "SELECT team_id, min(name) FROM player GROUP BY team_id",
        "SELECT team_id, name FROM player GROUP BY team_id",
    ),
    (
        "SELECT id FROM player WHERE goals = (SELECT max(goals) FROM player WHERE team_id = 1)",
        "SELECT id FROM player WHERE goals = (SELECT goals FROM player WHERE team_id = 1)",
    ),
    (
        "SELECT team_id FROM player GROUP BY team_id ORDER BY count(*) DESC, team_id LIMIT 1",
        "SELECT team_id FROM player GROUP BY team_id ORDER BY count(*) DESC LIMIT 1",
    ),
];

/// What the gold leaves open, or what differs by more than a choice.
const NOT_FREER: &[(&str, &str)] = &[
    (
        "SELECT name FROM player ORDER BY goals DESC LIMIT 1",
        "SELECT name FROM player ORDER BY goals DESC, id LIMIT 1",
    ),
    ("SELECT name FROM player LIMIT 1", "SELECT min(name) FROM player HAVING count(*) > 0"),
    ("SELECT name FROM player LIMIT 2", "SELECT name FROM player ORDER BY id LIMIT 2"),
    (
        "SELECT team_id, name FROM player GROUP BY team_id",
        "SELECT team_id, name FROM player GROUP BY team_id",
    ),
    // One row of each group, as `id` is unique.
    ("SELECT id, name FROM player", "SELECT id, name FROM player GROUP BY id"),
    ("SELECT max(goals) FROM player", "SELECT goals FROM player UNION SELECT NULL ORDER BY 1 DESC LIMIT 1"),
];

#[test]
fn a_prediction_that_permits_more_is_refuted_by_what_sqlite_returns() {
    for (gold, prediction) in FREER {
        let verdict = search(true).refute_minimised(gold, prediction);
        let refutation =
            verdict.refutation().unwrap_or_else(|| panic!("{gold} | {prediction}: {}", show(&verdict)));
        let DifferenceKind::PermitsMore(other) = refutation.kind() else {
            panic!("{gold} | {prediction}: {:?}", refutation.kind())
        };
        assert_ne!(other.values(), refutation.right().values(), "{gold} | {prediction}");
        assert_ne!(refutation.left().values(), refutation.right().values(), "{gold} | {prediction}");
        // Where a difference must hold whatever SQLite chooses, there is none.
        let verdict = search(false).refute_minimised(gold, prediction);
        assert!(!verdict.is_refuted(), "{gold} | {prediction}: {}", show(&verdict));
    }
}

/// All rows tie, and SQLite returns the same one in every layout.
#[test]
fn a_prediction_that_leaves_the_row_open_is_refuted_though_sqlite_always_takes_one() {
    let gold = "SELECT t.id FROM player p JOIN team t ON p.team_id = t.id GROUP BY t.id ORDER BY count(*) DESC LIMIT 1";
    let prediction = "SELECT team.id FROM team JOIN player GROUP BY team.id ORDER BY count(*) DESC LIMIT 1";
    let verdict = search(true).refute_minimised(gold, prediction);
    let refutation = verdict.refutation().unwrap_or_else(|| panic!("{}", show(&verdict)));
    assert_eq!(refutation.kind(), &DifferenceKind::PermitsAnother);
    let script = refutation.database().script();
    let (gold, prediction) = (results(&script, gold), results(&script, prediction));
    assert_eq!(gold.len(), 1);
    assert!(gold.is_disjoint(&prediction), "{script}");
}

#[test]
fn a_gold_that_permits_several_results_blames_nobody_for_one_of_them() {
    for (gold, prediction) in NOT_FREER {
        let verdict = search(true).refute_minimised(gold, prediction);
        assert!(!verdict.is_refuted(), "{gold} | {prediction}: {}", show(&verdict));
    }
}

/// What a plain SQLite returns in every layout of the rows of a witness, as texts.
fn results(script: &str, sql: &str) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    for backwards in [false, true] {
        for indexes in [
            "",
            "CREATE INDEX a ON player (name); CREATE INDEX b ON player (goals); CREATE INDEX c ON player (team_id)",
            "CREATE INDEX a ON player (team_id, id DESC, name DESC); CREATE INDEX b ON player (goals, id DESC, name DESC)",
        ] {
            let connection = Connection::open_in_memory().unwrap();
            connection.execute_batch(script).unwrap();
            connection.execute_batch(indexes).unwrap();
            connection.pragma_update(None, "reverse_unordered_selects", backwards).unwrap();
            let mut statement = connection.prepare(sql).unwrap();
            let width = statement.column_count();
            let rows = statement.query_map([], |row| {
                (0..width).map(|at| row.get::<_, rusqlite::types::Value>(at)).collect::<Result<Vec<_>, _>>()
            });
            let mut rows: Vec<String> = rows.unwrap().map(|row| format!("{:?}", row.unwrap())).collect();
            rows.sort();
            all.insert(rows.join("; "));
        }
    }
    all
}

/// Another SQLite connection, not ours, shows the same: one result of the gold, several of the prediction.
#[test]
fn the_layouts_show_on_any_sqlite() {
    for (gold, prediction) in FREER {
        let SearchVerdict::Refuted(refutation) = search(true).refute_minimised(gold, prediction) else {
            continue;
        };
        let script = refutation.database().script();
        assert_eq!(results(&script, gold).len(), 1, "{gold}\n{script}");
        assert!(results(&script, prediction).len() > 1, "{prediction}\n{script}");
    }
}
