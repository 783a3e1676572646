//! Databases that separate the readings of a question.
//!
//! # Contract
//! A question that may mean several queries is kept with all of them. For each further reading the search of crate `verify`
//! looks for a small database that keeps the schema and on which it returns other rows than the pair's query; databases that
//! were found for earlier readings are tried first. A reading without one may be equal to the query: that is not known, and
//! not claimed. Of more readings than [`MOST_READINGS`] only the first are looked at, so that the work has a bound.

use sqlgauge_search::{Refutation, Search};

use crate::related::search_over;
use crate::world::GrammarDatabase;

/// Readings of one question for which a database is looked for.
const MOST_READINGS: usize = 8;

/// For each reading, a script of a database on which it returns other rows than the query.
pub(crate) fn separating_databases(
    world: &GrammarDatabase,
    sql: &str,
    readings: &[String],
) -> Vec<Option<String>> {
    let mut scripts: Vec<Option<String>> = vec![None; readings.len()];
    if readings.is_empty() {
        return scripts;
    }
    let Some(search) = search_over(world) else { return scripts };
    let mut refutations: Vec<Refutation> = Vec::new();
    for (reading, script) in readings.iter().zip(&mut scripts).take(MOST_READINGS) {
        let replayed = refutations.iter().find_map(|earlier| search.replay(earlier.database(), sql, reading));
        let is_new = replayed.is_none();
        let Some(refutation) = replayed.or_else(|| searched(&search, sql, reading)) else { continue };
        *script = Some(refutation.database().script());
        if is_new {
            refutations.push(refutation);
        }
    }
    scripts
}

fn searched(search: &Search, sql: &str, reading: &str) -> Option<Refutation> {
    search.refute_minimised(sql, reading).refutation().cloned()
}

#[cfg(test)]
mod tests {
    use sqlgauge_engine::{Engine, Limits, SqliteEngine};

    use super::*;

    #[test]
    fn a_reading_is_separated_by_a_database_unless_it_is_equal() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("shop.sqlite");
        let script = "CREATE TABLE sale (id INTEGER PRIMARY KEY, price INTEGER, tax INTEGER); INSERT INTO sale VALUES (1, 2, 3);";
        rusqlite::Connection::open(&path).unwrap().execute_batch(script).unwrap();
        let engine = SqliteEngine::new(Limits::default());
        let world = GrammarDatabase::read("shop", &engine.open(&path).unwrap(), &engine);
        let readings = ["SELECT tax FROM sale", "SELECT sale.price FROM sale", "SELECT max(price) FROM sale"];
        let scripts = separating_databases(&world, "SELECT price FROM sale", &readings.map(str::to_owned));
        assert_eq!(scripts.iter().map(Option::is_some).collect::<Vec<_>>(), [true, false, true]);
        for (reading, script) in readings.iter().zip(&scripts) {
            let Some(script) = script else { continue };
            let connection = rusqlite::Connection::open_in_memory().unwrap();
            connection.execute_batch(script).unwrap();
            let rows = |sql: &str| -> Vec<Option<i64>> {
                let mut statement = connection.prepare(sql).unwrap();
                let rows = statement.query_map([], |row| row.get(0)).unwrap();
                rows.map(Result::unwrap).collect()
            };
            assert_ne!(rows("SELECT price FROM sale"), rows(reading), "{reading}: {script}");
        }
        assert_eq!(separating_databases(&world, "SELECT price FROM sale", &[]), []);
    }
}
