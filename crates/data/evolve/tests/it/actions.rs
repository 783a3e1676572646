//! What foreign keys do when rows are deleted or change, and the numbers of AUTOINCREMENT, under changed schemas. SQLite itself
//! enforces both: a statement on the original and its counterpart on the evolved database must leave the same old tables,
//! seen through the views.

use std::path::Path;

use crate::common::{self, scripted};
use rusqlite::Connection;
use sqlgauge_evolve::ChangeRecord;

const WORLD: &str = "
    CREATE TABLE team (id INTEGER PRIMARY KEY AUTOINCREMENT, title TEXT);
    CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT, born TEXT,
        team_id INTEGER REFERENCES team (id) ON DELETE CASCADE ON UPDATE CASCADE,
        mentor INTEGER REFERENCES player (id) ON DELETE SET NULL);
    CREATE TABLE award (id INTEGER PRIMARY KEY, what TEXT,
        player_id INTEGER DEFAULT 1 REFERENCES player (id) ON DELETE SET DEFAULT ON UPDATE CASCADE DEFERRABLE INITIALLY DEFERRED,
        witness INTEGER REFERENCES player (id));
    CREATE TABLE badge (code TEXT, player_id INTEGER REFERENCES player (id) ON DELETE RESTRICT);
    INSERT INTO team VALUES (1, 'sales'), (2, 'tools'), (3, 'field'), (9, 'gone');
    DELETE FROM team WHERE id = 9;
    INSERT INTO player VALUES (1, 'Ann', '1990', 1, NULL), (2, 'Bo', '1991', 2, 1), (3, 'Cy', '1992', 2, 1),
        (4, 'Di', '1993', 3, 2), (5, 'Ed', '1994', 3, 4), (6, 'Fi', '1995', 1, 5);
    INSERT INTO award VALUES (1, 'cup', 2, NULL), (2, 'cap', 5, NULL), (3, 'pin', 6, NULL);
    INSERT INTO badge VALUES ('x', 3), ('y', 6);";

const TABLES: [&str; 4] = ["team", "player", "award", "badge"];

/// A change, statements on the original with their counterparts, and what is said to be left out.
struct Case {
    changes: &'static [&'static str],
    statements: &'static [(&'static str, &'static str)],
    left_out: &'static [&'static str],
}

const CASES: &[Case] = &[
    Case {
        changes: &[
            r#""operator": "rename_table", "table": "team", "to": "squad""#,
            r#""operator": "rename_column", "table": "player", "column": "team_id", "to": "squad_id""#,
            r#""operator": "rename_column", "table": "player", "column": "id", "to": "nr""#,
        ],
        statements: &[
            ("DELETE FROM team WHERE id = 3", "DELETE FROM squad WHERE id = 3"),
            ("UPDATE team SET id = 30 WHERE id = 2", "UPDATE squad SET id = 30 WHERE id = 2"),
            ("INSERT INTO team (title) VALUES ('new')", "INSERT INTO squad (title) VALUES ('new')"),
            ("DELETE FROM player WHERE id = 3", "DELETE FROM player WHERE nr = 3"),
            ("DELETE FROM player WHERE id = 2", "DELETE FROM player WHERE nr = 2"),
            (
                "BEGIN; UPDATE award SET player_id = 77 WHERE id = 1; UPDATE player SET id = 77 WHERE id = 1; COMMIT",
                "BEGIN; UPDATE award SET player_id = 77 WHERE id = 1; UPDATE player SET nr = 77 WHERE nr = 1; COMMIT",
            ),
        ],
        left_out: &[],
    },
    Case {
        changes: &[
            r#""operator": "split_table", "table": "player", "fragments": [["player", ["team_id", "mentor"]], ["player_info", ["name", "born"]]]"#,
        ],
        statements: &[
            ("DELETE FROM team WHERE id = 3", "DELETE FROM team WHERE id = 3"),
            ("DELETE FROM team WHERE id = 2", "DELETE FROM team WHERE id = 2"),
            ("UPDATE team SET id = 30 WHERE id = 1", "UPDATE team SET id = 30 WHERE id = 1"),
            ("INSERT INTO team (title) VALUES ('new')", "INSERT INTO team (title) VALUES ('new')"),
        ],
        left_out: &[],
    },
    Case {
        changes: &[
            r#""operator": "split_table", "table": "player", "fragments": [["player", ["name", "born"]], ["player_team", ["team_id", "mentor"]]]"#,
        ],
        statements: &[
            ("UPDATE team SET id = 30 WHERE id = 2", "UPDATE team SET id = 30 WHERE id = 2"),
            ("UPDATE award SET player_id = 4 WHERE id = 1", "UPDATE award SET player_id = 4 WHERE id = 1"),
        ],
        left_out: &["ON DELETE CASCADE of FOREIGN KEY player(team_id) REFERENCES team(id)"],
    },
    Case {
        changes: &[
            r#""operator": "merge_tables", "child": "player", "key": ["team_id"], "parent": "team", "to": "team_player", "renamed": [["team.id", "team_nr"]], "shape": "inner""#,
        ],
        statements: &[
            ("DELETE FROM team WHERE id = 3", "DELETE FROM team_player WHERE team_id = 3"),
            ("DELETE FROM player WHERE id = 2", "DELETE FROM team_player WHERE id = 2"),
        ],
        left_out: &["PRIMARY KEY (id) of team", "AUTOINCREMENT of team"],
    },
    Case {
        changes: &[
            r#""operator": "merge_tables", "child": "award", "key": ["player_id"], "parent": "player", "to": "player_award", "renamed": [["player.id", "player_nr"]], "shape": "right""#,
        ],
        statements: &[("UPDATE team SET id = 30 WHERE id = 2", "UPDATE team SET id = 30 WHERE id = 2")],
        left_out: &[
            "ON DELETE SET DEFAULT of FOREIGN KEY award(player_id) REFERENCES player(id)",
            "ON DELETE CASCADE of FOREIGN KEY player(team_id) REFERENCES team(id)",
            "FOREIGN KEY award(witness) REFERENCES player(id) of award",
            "FOREIGN KEY badge(player_id) REFERENCES player(id) of badge",
            "FOREIGN KEY player_award(mentor) REFERENCES player(id) of player_award",
            "PRIMARY KEY (id) of player",
            "PRIMARY KEY (id) of award",
        ],
    },
];

/// The evolved database, its views, and what was left out.
fn evolved(folder: &Path, changes: &[&str]) -> (Connection, String, Vec<String>) {
    let lines: Vec<String> =
        changes.iter().map(|change| format!("{{\"db_id\": \"d\", {change}}}\n")).collect();
    let out = scripted(folder, WORLD, &lines.concat(), &["SELECT name FROM player"]);
    let text = std::fs::read_to_string(out.join("changes.jsonl")).unwrap();
    let left_out = text.lines().find_map(|line| match serde_json::from_str(line).unwrap() {
        ChangeRecord::Schema(schema) => {
            assert_eq!(schema.infeasible, None, "{:?}", schema.detail);
            Some(schema.left_out)
        }
        _ => None,
    });
    let place = out.join("database/d");
    let views = std::fs::read_to_string(place.join("old_over_new.sql")).unwrap();
    (Connection::open(place.join("d.sqlite")).unwrap(), views, left_out.unwrap())
}

fn rows(connection: &Connection, table: &str) -> Vec<String> {
    common::rows(connection, &format!("SELECT * FROM {table} ORDER BY 1, 2"))
}

/// Whether SQLite took the statement; what it began is undone where not.
fn takes(connection: &Connection, sql: &str) -> bool {
    let done = connection.execute_batch(sql).is_ok();
    if !connection.is_autocommit() {
        connection.execute_batch("ROLLBACK").unwrap();
    }
    done
}

#[test]
fn rows_that_refer_follow_as_they_did() {
    for case in CASES {
        let folder = tempfile::tempdir().unwrap();
        let (evolved, views, left_out) = evolved(folder.path(), case.changes);
        let mut actual = left_out.clone();
        let mut expected: Vec<&str> = case.left_out.to_vec();
        actual.sort_unstable();
        expected.sort_unstable();
        assert_eq!(actual, expected, "{:?}", case.changes);
        let original = Connection::open_in_memory().unwrap();
        original.execute_batch(WORLD).unwrap();
        for connection in [&original, &evolved] {
            connection.execute_batch("PRAGMA foreign_keys = ON").unwrap();
        }
        for (before, after) in case.statements {
            assert_eq!(takes(&original, before), takes(&evolved, after), "{before} | {after}");
            evolved.execute_batch(&views).unwrap();
            for table in TABLES {
                assert_eq!(rows(&evolved, table), rows(&original, table), "{table} after {after}");
            }
            for table in TABLES {
                evolved.execute_batch(&format!("DROP VIEW temp.{table}")).unwrap();
            }
        }
    }
}
