//! Schemas that are larger than a benchmark's: what the golds read is evolved, in bounded time and memory.

use std::fs;
use std::path::Path;

use sqlgauge_evolve::{Chain, Change, ChangeError, ChangeKind};
use sqlgauge_sql::schema::Schema;

use crate::common::{self, of_kinds};

/// Evolves a database `d` with those golds by kinds; says how many are written.
fn evolved(folder: &Path, world: &str, kinds: &[ChangeKind], golds: &[&str]) -> Vec<usize> {
    let done = common::evolved(folder, world, &of_kinds(kinds), golds);
    done.into_iter().map(|(_, statistics)| statistics.written).collect()
}

fn renames(count: usize) -> impl Iterator<Item = Change> {
    (0..count).map(|at| Change::RenameColumn {
        table: "t0".to_owned(),
        column: format!("c{at}"),
        to: format!("n{at}"),
    })
}

fn wide(columns: usize) -> String {
    let columns: Vec<String> = (0..columns).map(|at| format!("c{at} INTEGER")).collect();
    format!("CREATE TABLE t0 ({});", columns.join(", "))
}

#[test]
fn a_schema_of_many_columns_takes_so_many_changes_and_one_more_is_refused_by_name() {
    let mut chain = Chain::new(Schema::from_ddl(&wide(2000)).unwrap());
    let refused = renames(2000).find_map(|change| chain.push(change).err());
    assert_eq!(refused, Some(ChangeError::TooMany { columns: 2000, most: 200 }));
    assert_eq!(chain.changes().len(), 200);
    // The schema of a benchmark takes one for each of its columns.
    let mut chain = Chain::new(Schema::from_ddl(&wide(400)).unwrap());
    assert!(renames(400).all(|change| chain.push(change).is_ok()));
}

#[test]
fn of_many_tables_those_that_golds_read_are_changed() {
    let folder = tempfile::tempdir().unwrap();
    let table = |at: usize| format!("CREATE TABLE t{at} (id INTEGER PRIMARY KEY, name TEXT, a INTEGER);");
    let world: String = (0..300).map(table).collect::<String>() + "INSERT INTO t7 VALUES (1, 'x', 2);";
    let golds = ["SELECT name FROM t7 WHERE a > 1"];
    let done = evolved(folder.path(), &world, &[ChangeKind::RenameColumns], &golds);
    assert_eq!(done, [1]);
    let changes = fs::read_to_string(folder.path().join("out/rename-columns/changes.jsonl")).unwrap();
    assert!(changes.contains(r#""changed_tables":["t7"]"#), "{changes}");
    // The others are there as they were.
    let views =
        fs::read_to_string(folder.path().join("out/rename-columns/database/d/old_over_new.sql")).unwrap();
    let view = r#"CREATE TEMP VIEW "t299" ("id", "name", "a") AS SELECT id, name, a FROM main.t299;"#;
    assert!(views.contains(view), "{views}");
}

#[test]
fn a_view_that_joins_too_much_to_be_described_is_left_out_and_the_rest_is_evolved() {
    let folder = tempfile::tempdir().unwrap();
    let mut world =
        "CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT, a INTEGER); INSERT INTO t VALUES (1, 'x', 2);"
            .to_owned();
    for at in 0..14 {
        let before = if at == 0 { "t".to_owned() } else { format!("v{}", at - 1) };
        let from = format!("{before} x JOIN {before} y JOIN {before} z");
        world.extend([
            "CREATE VIEW v",
            &at.to_string(),
            " AS SELECT x.id AS id, x.name AS name FROM ",
            &from,
            ";",
        ]);
    }
    let done =
        evolved(folder.path(), &world, &[ChangeKind::RenameColumns], &["SELECT name FROM t WHERE a > 1"]);
    assert_eq!(done, [1]);
}
