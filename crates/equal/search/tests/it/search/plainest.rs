//! A counterexample as it is shown is minimal: every row and every plainer value was tried.

use std::time::Instant;

use sqlgauge_engine::Value;
use sqlgauge_search::{Minimality, Search, Shortage, Witness, WitnessTable};

use super::{SCHOOL, options, schema};

/// Every plainer value that may replace one: NULL is plain where no query reads the column, and else the least plain.
fn plainer_values(value: &Value, is_read: bool) -> Vec<Value> {
    let typed = match value {
        Value::Null if is_read => vec![Value::Integer(1), Value::text("a")],
        Value::Null => return Vec::new(),
        Value::Text(_) => vec![Value::text("a")],
        Value::Real(_) => vec![Value::Real(0.0), Value::Real(1.0)],
        _ => vec![Value::Integer(0), Value::Integer(1)],
    };
    let null = (!is_read).then_some(Value::Null);
    null.into_iter().chain(typed).take_while(|plain| plain != value).collect()
}

#[test]
fn the_plainest_counterexample_loses_the_difference_with_any_change() {
    let search = Search::new(schema(SCHOOL), options(2000)).unwrap();
    for (left, right) in [
        ("SELECT max(goals) FROM player", "SELECT goals FROM player ORDER BY goals DESC LIMIT 1"),
        ("SELECT name FROM player WHERE goals > 3", "SELECT name FROM player WHERE goals >= 3"),
        ("SELECT a FROM loose WHERE b > 3", "SELECT DISTINCT a FROM loose WHERE b > 3"),
        ("SELECT t.name FROM team t LEFT JOIN player p ON p.team_id = t.id", "SELECT name FROM team"),
        ("SELECT count(*) FROM player GROUP BY team_id", "SELECT count(height) FROM player GROUP BY team_id"),
        ("SELECT name FROM player WHERE name LIKE 'b%'", "SELECT name FROM player WHERE name LIKE '%b%'"),
    ] {
        let verdict = search.refute(left, right);
        let (plainest, minimality) = search.plainest(verdict.refutation().unwrap(), left, right, None);
        assert_eq!(minimality, Minimality::Local, "{left}\n{right}");
        // SQLite replaces NULL in an INTEGER PRIMARY KEY by a number.
        let refutes = |database: &Witness| {
            let again = search.replay(database, left, right);
            again.is_some_and(|again| {
                again.database() == database
                    && again.needs().iter().all(|need| plainest.needs().contains(need))
            })
        };
        let database = plainest.database();
        assert!(refutes(database), "{left}\n{right}\n{database}");
        let read = search.read_tables(database, left, right);
        let is_read = |table: usize, cell: usize| {
            let WitnessTable { name, columns, .. } = &database.tables[table];
            read.iter().any(|(other, rows)| other == name && rows.columns.contains(&columns[cell]))
        };
        let mut tried = 0;
        for (table, rows) in database.tables.iter().enumerate() {
            for row in 0..rows.rows.len() {
                let mut smaller = database.clone();
                let cells = smaller.tables[table].rows.remove(row);
                assert!(!refutes(&smaller), "{left}\n{right}\n{database}\nwithout {cells:?}");
                for (cell, value) in cells.iter().enumerate() {
                    for plain in plainer_values(value, is_read(table, cell)) {
                        let mut changed = database.clone();
                        changed.tables[table].rows[row][cell] = plain.clone();
                        assert!(!refutes(&changed), "{left}\n{right}\n{database}\n{plain:?} for {value:?}");
                        tried += 1;
                    }
                }
            }
        }
        assert!(tried > 0 || database.rows() == 0, "{left}\n{right}\n{database}");
    }
}

#[test]
fn a_column_that_is_read_is_null_only_where_that_tells() {
    let search = Search::new(schema(SCHOOL), options(2000)).unwrap();
    for (left, right, needs_null) in [
        (
            "SELECT name, height FROM player WHERE goals > 3",
            "SELECT name, height FROM player WHERE goals >= 3",
            false,
        ),
        ("SELECT count(*) FROM player", "SELECT count(height) FROM player", true),
    ] {
        let verdict = search.refute(left, right);
        let (plainest, _) = search.plainest(verdict.refutation().unwrap(), left, right, None);
        let read = search.read_tables(plainest.database(), left, right);
        let has_null = read.iter().any(|(_, rows)| rows.values().contains(&Value::Null));
        assert_eq!(has_null, needs_null, "{left}\n{right}\n{}", plainest.database());
    }
}

#[test]
fn what_ends_the_trials_is_said() {
    let search = Search::new(schema(SCHOOL), options(2000)).unwrap();
    let (left, right) =
        ("SELECT name FROM player WHERE goals > 3", "SELECT name FROM player WHERE goals >= 3");
    let verdict = search.refute(left, right);
    let refutation = verdict.refutation().unwrap();
    search.begin_pair(Some(Instant::now()));
    let (left_as_it_was, minimality) = search.plainest(refutation, left, right, None);
    search.end_pair();
    assert_eq!(minimality, Minimality::Unfinished(Shortage::Time));
    assert_eq!(left_as_it_was.database(), refutation.database());
}
