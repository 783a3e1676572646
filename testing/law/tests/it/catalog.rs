//! A schema read from its DDL is the schema that SQLite has of it, and the foreign keys that are relied on are those
//! that SQLite itself finds kept; over the hostile schemas and random changes of them.

use std::collections::BTreeSet;
use std::path::Path;

use rusqlite::Connection;
use sqlgauge_engine::{Database, Engine as _, Limits, SqliteEngine};
use sqlgauge_law::dice::Dice;
use sqlgauge_law::world::{World, shapes};
use sqlgauge_sql::schema::{Schema, TableKind};

const WORLDS: usize = 200;

/// Worlds with the files of their databases, opened.
fn for_each_world(seed: u64, mut check: impl FnMut(&World, &Connection, &Database, &SqliteEngine)) {
    let shapes = shapes();
    let engine = SqliteEngine::new(Limits::default());
    let folder = tempfile::tempdir().unwrap();
    let mut drawn = 0;
    for place in 0_u64.. {
        let Ok(world) = World::draw(&shapes, &mut Dice::new(seed, place)) else { continue };
        let path = folder.path().join(format!("{place}.sqlite"));
        let connection = filled(&path, &world);
        let database = engine.open(&path).unwrap();
        check(&world, &connection, &database, &engine);
        drawn += 1;
        if drawn == WORLDS {
            return;
        }
    }
}

fn filled(path: &Path, world: &World) -> Connection {
    let connection = Connection::open(path).unwrap();
    connection
        .execute_batch("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA foreign_keys = OFF")
        .unwrap();
    for statement in &world.ddl {
        connection.execute_batch(statement).unwrap();
    }
    for insert in &world.databases[0].inserts {
        // A row that a constraint refuses is not there.
        let _ = connection.execute(insert, []);
    }
    connection
}

#[test]
fn a_schema_from_its_ddl_is_the_schema_of_the_database() {
    let mut tables = 0;
    for_each_world(41, |world, _, database, _| {
        let text = world.ddl.join(";\n");
        let read = Schema::from_ddl(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        assert_eq!(read.tables().len(), database.schema().tables().len(), "{text}");
        for (ours, theirs) in read.tables().iter().zip(database.schema().tables()) {
            if theirs.kind == TableKind::View {
                let names = |schema: &sqlgauge_sql::schema::Table| -> Vec<String> {
                    schema.columns.iter().map(|column| column.name.clone()).collect()
                };
                assert_eq!(
                    (&ours.name, &ours.view, names(ours)),
                    (&theirs.name, &theirs.view, names(theirs)),
                    "{text}"
                );
            } else {
                assert_eq!(ours, theirs, "{text}");
            }
            tables += 1;
        }
    });
    assert!(tables > 3 * WORLDS, "{tables} tables only");
}

#[test]
fn the_foreign_keys_that_are_relied_on_are_those_that_sqlite_finds_kept() {
    let (mut intact, mut broken) = (0, 0);
    for_each_world(43, |world, connection, database, engine| {
        let relied_on = database.kept_schema(engine);
        for table in database.schema().tables().iter().filter(|table| !table.foreign_keys.is_empty()) {
            let Ok(violated) = violated_keys(connection, &table.name) else { continue };
            for (place, key) in table.foreign_keys.iter().enumerate() {
                let described = key.describe(table);
                let is_broken = relied_on.broken.iter().any(|broken| broken.key == described);
                // SQLite numbers the keys of a table from the last to the first.
                let number = u32::try_from(table.foreign_keys.len() - 1 - place).unwrap();
                assert_eq!(is_broken, violated.contains(&number), "{described}\n{}", script(world));
                if is_broken { broken += 1 } else { intact += 1 }
            }
        }
    });
    assert!(intact > 10 && broken > 3, "{intact} kept and {broken} broken only");
}

/// The numbers of the table's keys that some row breaks; an error where SQLite cannot tell.
fn violated_keys(connection: &Connection, table: &str) -> rusqlite::Result<BTreeSet<u32>> {
    let mut check = connection.prepare("SELECT fkid FROM pragma_foreign_key_check(?1)")?;
    check.query_map([table], |row| row.get(0))?.collect()
}

fn script(world: &World) -> String {
    let statements = world.ddl.iter().chain(&world.databases[0].inserts);
    statements.flat_map(|statement| [statement.as_str(), ";\n"]).collect()
}
