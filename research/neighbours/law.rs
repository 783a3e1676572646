//! Each item alone and among its neighbours.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Result;
use sqlgauge_base::{Random, seed_of};
use sqlgauge_engine::{Database, Engine, Execution, Outcome};

use crate::families::{self, Expected, Item};
use crate::worlds::World;

/// Connections of the two runs among neighbours.
const CONNECTIONS: [usize; 2] = [1, 8];
/// Items that run alone at the same time, each on a new engine.
const THREADS: usize = 2;
/// Differences that are printed of each run.
const PRINTED: usize = 8;

/// Compares on one engine, prints a line for each number of connections, and returns the number of differences.
pub(crate) fn run(world: &World, (count, seed): (usize, u64), limit: Duration) -> Result<usize> {
    let mut random = Random::new([seed, seed_of(world.name)]);
    let (items, drawn) = families::draw(world, count, &mut random);
    let mut places = drawn.clone();
    places.sort_unstable();
    places.dedup();
    let started = Instant::now();
    let outcomes = each(&places, THREADS, |place| alone(world, &items[place], limit));
    let outcomes = outcomes.into_iter().collect::<Result<Vec<_>>>()?;
    let alone: BTreeMap<usize, Outcome> = places.iter().copied().zip(outcomes).collect();
    let mut differences = 0;
    for (&place, outcome) in &alone {
        let item = &items[place];
        if !item.expected.is(outcome) {
            differences += 1;
            println!("  alone, not {:?} but {}: {}", item.expected, outcome.status(), short(&item.sql));
        }
    }
    println!(
        "{}: {} different items alone, {differences} with another outcome than their family, {:.0} s",
        world.name,
        alone.len(),
        started.elapsed().as_secs_f64()
    );
    for connections in CONNECTIONS {
        differences += among(world, (&items, &drawn, &alone), connections, limit)?;
    }
    Ok(differences)
}

/// The outcome on an engine that has run nothing else.
fn alone(world: &World, item: &Item, limit: Duration) -> Result<Outcome> {
    let engine = world.engine(limit, 1)?;
    let database = engine.open(&world.path)?;
    Ok(executed(&engine, &database, item).outcome)
}

fn executed(engine: &Arc<dyn Engine>, database: &Database, item: &Item) -> Execution {
    match &item.enough {
        Some(enough) => engine.run_until(database, &item.sql, enough),
        None => engine.run(database, &item.sql),
    }
}

/// The items in their order on one engine.
fn among(
    world: &World,
    (items, drawn, alone): (&[Item], &[usize], &BTreeMap<usize, Outcome>),
    connections: usize,
    limit: Duration,
) -> Result<usize> {
    let engine = world.engine(limit, connections)?;
    let database = engine.open(&world.path)?;
    let started = Instant::now();
    let executions = each(drawn, connections, |place| executed(&engine, &database, &items[place]));
    let seconds = started.elapsed().as_secs_f64();
    let (mut differences, mut right, mut lost, mut slow) = (0, 0, 0, 0);
    for (place, execution) in drawn.iter().zip(&executions) {
        let item = &items[*place];
        let is_right = item.expected == Expected::Rows;
        right += usize::from(is_right);
        if is_same(&alone[place], &execution.outcome) {
            continue;
        }
        // It had its whole time: on a busy machine the clock ends it. Then it ends as alone when it runs again.
        if execution.elapsed >= limit && is_same(&alone[place], &executed(&engine, &database, item).outcome) {
            slow += 1;
            continue;
        }
        differences += 1;
        lost += usize::from(is_right);
        if differences <= PRINTED {
            println!("  {}: {}", item.family, short(&item.sql));
            println!("    alone: {}", text_of(&alone[place]));
            println!("    among: {}, after {:?}", text_of(&execution.outcome), execution.elapsed);
        }
    }
    if let Err(error) = engine.check() {
        differences += 1;
        println!("  {error}");
    }
    println!(
        "{}, {connections} connections: {} items, {differences} differences, {lost} of {right} right answers lost, \
         {slow} slow, {seconds:.0} s",
        world.name,
        drawn.len()
    );
    Ok(differences)
}

/// Whether a reader decides alike: of a beginning he sees that there is more.
fn is_same(alone: &Outcome, among: &Outcome) -> bool {
    match (alone, among) {
        (Outcome::Rows(alone), Outcome::Rows(among)) => {
            alone.is_beginning() && among.is_beginning() || alone == among
        }
        (Outcome::Failed(alone), Outcome::Failed(among)) => alone.kind == among.kind,
        _ => false,
    }
}

/// Does the work for each place, on so many threads; the results stand in the order of the places.
fn each<T: Send>(places: &[usize], threads: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let (next, results) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some((at, &place)) = {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    places.get(at).map(|place| (at, place))
                } {
                    let result = work(place);
                    results.lock().unwrap_or_else(PoisonError::into_inner).insert(at, result);
                }
            });
        }
    });
    results.into_inner().unwrap_or_else(PoisonError::into_inner).into_values().collect()
}

fn text_of(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Rows(rows) if rows.is_beginning() => format!("more than {} rows", rows.len() - 1),
        Outcome::Rows(rows) => {
            short(&format!("{} rows, {:?}", rows.len(), &rows.values()[..rows.values().len().min(4)]))
        }
        Outcome::Failed(failure) => short(&failure.to_string()),
    }
}

/// The beginning of a text, on one line.
pub(crate) fn short(text: &str) -> String {
    text.chars().take(120).flat_map(char::escape_debug).collect()
}
