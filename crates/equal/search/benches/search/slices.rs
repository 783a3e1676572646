//! Slices of a real database that tell two queries apart.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use sqlgauge_engine::{Engine, Limits, SqliteEngine};
use sqlgauge_search::Search;

use super::Settings;
use super::data::{PredictionFilter, sets};
use super::measure::{options, times};

/// Cuts a slice for each prediction that execution calls wrong on superhero.
pub(crate) fn run(folder: &Path, settings: Settings) {
    let settings =
        Settings { predictions: PredictionFilter::Wrong, only: Some("superhero".to_owned()), ..settings };
    let engine = SqliteEngine::new(Limits::default());
    let path = folder.join("bird/database/superhero/superhero.sqlite");
    let database = engine.open(&path).expect("the superhero database");
    let search =
        Search::new(Arc::clone(database.schema()), options(&settings)).expect("an in-memory database");
    let (mut all, mut sliced, mut rows) = (0, Vec::new(), Vec::new());
    for case in sets(folder, &settings).into_iter().flat_map(|(_, cases)| cases) {
        let runs = |sql: &str| engine.run(&database, sql).rows().is_some();
        if !runs(&case.gold) || !runs(&case.prediction) {
            continue;
        }
        all += 1;
        let started = Instant::now();
        match search.slice(&engine, &database, &case.gold, &case.prediction) {
            Some(refutation) => {
                sliced.push(started.elapsed());
                rows.push(refutation.database().rows());
            }
            None if all - sliced.len() <= settings.show => {
                println!("-- {}\n{}\n{}", case.id, case.gold, case.prediction);
            }
            None => {}
        }
    }
    rows.sort_unstable();
    println!("{all} predictions run and are wrong, {} slices tell them from their gold", sliced.len());
    println!("  rows: median {:?}, most {:?}", rows.get(rows.len() / 2), rows.last());
    println!("  {}", times(&mut sliced));
}
