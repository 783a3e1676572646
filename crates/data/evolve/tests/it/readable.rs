//! What rewritten golds look like: no condition that another one implies, or that no result sees.

use crate::common::scripted;
use sqlgauge_evolve::EvolvedItem;

/// Teams without players, players without a team.
const WORLD: &str = "
    CREATE TABLE town (id INTEGER PRIMARY KEY, name TEXT);
    CREATE TABLE team (id INTEGER PRIMARY KEY, title TEXT, town_id INTEGER REFERENCES town (id));
    CREATE TABLE player (nr INTEGER PRIMARY KEY, name TEXT, age INTEGER, team_id INTEGER REFERENCES team (id));
    INSERT INTO town VALUES (1, 'Ulm'), (2, 'Bonn');
    INSERT INTO team VALUES (1, 'red', 1), (2, 'blue', NULL), (3, 'none', 2);
    INSERT INTO player VALUES (1, 'Ann', 20, 1), (2, 'Bo', NULL, 1), (3, 'Cy', 30, 2), (4, 'Di', 40, NULL);";

const MERGE: &str = r#"{"db_id": "d", "operator": "merge_tables", "child": "player", "key": ["team_id"],
    "parent": "team", "to": "squad", "renamed": [], "shape": "full"}"#;

/// A gold, and what it becomes.
const MERGED: [(&str, &str); 12] = [
    ("SELECT name FROM player", "SELECT name FROM squad WHERE nr IS NOT NULL"),
    ("SELECT name FROM player WHERE age > 20", "SELECT name FROM squad WHERE age > 20"),
    (
        "SELECT name FROM player WHERE age > 20 OR name = 'Ann'",
        "SELECT name FROM squad WHERE age > 20 OR name = 'Ann'",
    ),
    (
        "SELECT name FROM player WHERE age IS NULL OR age > 20",
        "SELECT name FROM squad WHERE (age IS NULL OR age > 20) AND nr IS NOT NULL",
    ),
    ("SELECT name FROM player WHERE nr IS NOT NULL", "SELECT name FROM squad WHERE nr IS NOT NULL"),
    (
        "SELECT T1.name, T2.title FROM player AS T1 JOIN team AS T2 ON T1.team_id = T2.id JOIN town AS T3 ON T2.town_id = T3.id WHERE T1.age < 50 AND T3.name = 'Ulm'",
        "SELECT T1.name, T1.title FROM squad AS T1 JOIN town AS T3 ON T1.town_id = T3.id WHERE T1.age < 50 AND T3.name = 'Ulm'",
    ),
    (
        "SELECT T3.name, T1.name FROM town AS T3 LEFT JOIN player AS T1 ON T1.age = T3.id",
        "SELECT T3.name, T1.name FROM town AS T3 LEFT JOIN squad AS T1 ON T1.age = T3.id",
    ),
    (
        "SELECT T3.name FROM town AS T3 WHERE EXISTS (SELECT 1 FROM player AS T1 WHERE T1.nr = T3.id)",
        "SELECT T3.name FROM town AS T3 WHERE EXISTS (SELECT 1 FROM squad AS T1 WHERE T1.nr = T3.id)",
    ),
    (
        "SELECT T1.name, T2.title FROM player AS T1 FULL JOIN team AS T2 ON T1.team_id = T2.id",
        "SELECT name, title FROM squad AS T1",
    ),
    (
        "SELECT T1.name, T2.title FROM player AS T1 RIGHT JOIN team AS T2 ON T1.team_id = T2.id",
        "SELECT name, title FROM squad AS T2 WHERE id IS NOT NULL",
    ),
    (
        "SELECT T3.name, T1.name FROM town AS T3 FULL JOIN player AS T1 ON T1.age = T3.id",
        "SELECT T3.name, T1.name FROM town AS T3 FULL JOIN (SELECT name, age FROM squad WHERE nr IS NOT NULL) AS T1 ON T1.age = T3.id",
    ),
    (
        "SELECT count(*) FROM town AS T3 FULL JOIN player AS T1 ON T3.id = 1",
        "SELECT count(*) FROM town AS T3 FULL JOIN (SELECT nr FROM squad WHERE nr IS NOT NULL) AS T1 ON T3.id = 1",
    ),
];

/// Rows that aggregates pass over need not be left out; rows that are counted, grouped or shown need.
const AGGREGATED: [(&str, &str); 9] = [
    ("SELECT avg(age), max(age) FROM player", "SELECT avg(age), max(age) FROM squad"),
    ("SELECT count(DISTINCT age + 1) FROM player", "SELECT count(DISTINCT age + 1) FROM squad"),
    ("SELECT count(age) FROM player HAVING min(nr) > 0", "SELECT count(age) FROM squad HAVING min(nr) > 0"),
    ("SELECT count(*) FROM player", "SELECT count(*) FROM squad WHERE nr IS NOT NULL"),
    ("SELECT sum(age), count(*) FROM player", "SELECT sum(age), count(*) FROM squad WHERE nr IS NOT NULL"),
    (
        "SELECT count(coalesce(age, 0)) FROM player",
        "SELECT count(coalesce(age, 0)) FROM squad WHERE nr IS NOT NULL",
    ),
    (
        "SELECT json_array_length(json_group_array(age)) FROM player",
        "SELECT json_array_length(json_group_array(age)) FROM squad WHERE nr IS NOT NULL",
    ),
    ("SELECT max(age), name FROM player", "SELECT max(age), name FROM squad WHERE nr IS NOT NULL"),
    (
        "SELECT max(age) FROM player GROUP BY team_id",
        "SELECT max(age) FROM squad WHERE nr IS NOT NULL GROUP BY team_id",
    ),
];

/// A child with fewer columns than its parent, whose key stands where the parent has another column.
const NARROW: &str = "
    CREATE TABLE club (title TEXT, town TEXT, color TEXT, id INTEGER PRIMARY KEY);
    CREATE TABLE fan (nr INTEGER PRIMARY KEY, club_id INTEGER REFERENCES club (id));
    INSERT INTO club VALUES ('a', 'Ulm', NULL, 1), ('b', NULL, 'red', 2), ('c', NULL, NULL, 3);
    INSERT INTO fan VALUES (1, 1), (2, 1), (3, 2), (4, 3), (5, NULL);";

const OF_NARROW: [(&str, &str); 2] = [
    (
        "SELECT DISTINCT title, town, color FROM club",
        "SELECT DISTINCT title, town, color FROM member WHERE id IS NOT NULL",
    ),
    (
        "SELECT T2.title FROM fan AS T1 JOIN club AS T2 ON T1.club_id = T2.id WHERE T2.town IS NULL",
        "SELECT title FROM member AS T1 WHERE town IS NULL AND id IS NOT NULL",
    ),
];

/// A table whose key stands last.
const OF_PARTS: [(&str, &str); 2] = [
    (
        "SELECT title, color FROM club",
        "SELECT club.title, club_look.color FROM club JOIN club_look ON club.id = club_look.id",
    ),
    ("SELECT town FROM club WHERE id = 2", "SELECT town FROM club WHERE id = 2"),
];

#[test]
fn conditions_that_others_imply_are_not_written() {
    assert_eq!(rewritten(WORLD, MERGE, &MERGED), as_pairs(&MERGED));
}

#[test]
fn rows_that_no_aggregate_sees_are_not_left_out() {
    assert_eq!(rewritten(WORLD, MERGE, &AGGREGATED), as_pairs(&AGGREGATED));
}

#[test]
fn a_column_of_the_new_table_is_not_taken_for_one_of_the_old() {
    let merge = r#"{"db_id": "d", "operator": "merge_tables", "child": "fan", "key": ["club_id"], "parent": "club", "to": "member",
        "renamed": [], "shape": "left"}"#;
    assert_eq!(rewritten(NARROW, merge, &OF_NARROW), as_pairs(&OF_NARROW));
    let split = r#"{"db_id": "d", "operator": "split_table", "table": "club",
        "fragments": [["club", ["title", "town"]], ["club_look", ["color"]]]}"#;
    assert_eq!(rewritten(NARROW, split, &OF_PARTS), as_pairs(&OF_PARTS));
}

/// The golds that are written, with what they became; written means: run, with the rows of the original.
fn rewritten(world: &str, change: &str, golds: &[(&str, &str)]) -> Vec<(String, String)> {
    let folder = tempfile::tempdir().unwrap();
    let texts: Vec<&str> = golds.iter().map(|(gold, _)| *gold).collect();
    let out = scripted(folder.path(), world, &change.replace('\n', " "), &texts);
    let text = std::fs::read_to_string(out.join("dev.json")).unwrap();
    let written: Vec<EvolvedItem> = serde_json::from_str(&text).unwrap();
    written.into_iter().map(|item| (item.source_query, item.query)).collect()
}

fn as_pairs(golds: &[(&str, &str)]) -> Vec<(String, String)> {
    golds.iter().map(|(gold, new)| ((*gold).to_owned(), (*new).to_owned())).collect()
}
