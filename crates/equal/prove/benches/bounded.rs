//! Measures bounded proofs on pairs of queries: how many are encoded, proved, or have a candidate that replays.
//!
//! ```text
//! cargo bench -p sqlgauge-verify --bench bounded -- --pairs pairs.jsonl [--bound K] [--time SECONDS] [--solver PATH] [--all] [--semantics set|bag|list] [--show]
//! ```
//! A line of the file is `{"id", "ddl" | "db", "left", "right"}`. Pairs that the search refutes or the rules prove are left
//! out, unless `--all`. `--show` prints a line for each pair.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;
use sqlgauge_engine::{Engine, Limits, SqliteEngine};
use sqlgauge_etm::{Matcher, Profile};
use sqlgauge_prove::{Bounds, ProofOutcome, ResultSemantics, Solver};
use sqlgauge_search::{Search, SearchOptions, SearchVerdict, Witness};
use sqlgauge_sql::resolve;
use sqlgauge_sql::schema::Schema;

fn argument(name: &str) -> Option<String> {
    let args: Vec<String> = std::env::args().collect();
    args.iter().position(|arg| arg == name).and_then(|at| args.get(at + 1)).cloned()
}

fn has(name: &str) -> bool {
    std::env::args().any(|arg| arg == name)
}

fn main() {
    let Some(pairs) = argument("--pairs") else { return println!("skipped: no --pairs FILE") };
    let path = std::env::var_os("PATH");
    let named = argument("--solver");
    let program = match sqlgauge_prove::locate(named.as_deref().map(Path::new), path.as_deref()) {
        Ok(program) => program,
        Err(error) => return println!("skipped: {error}"),
    };
    let number =
        |name: &str, default: u64| argument(name).and_then(|text| text.parse().ok()).unwrap_or(default);
    let time = Duration::from_secs(number("--time", 10));
    let bound = usize::try_from(number("--bound", 3)).unwrap_or(3);
    let bounds = Bounds { rows_per_table: bound, time, ..Bounds::default() };
    let semantics = match argument("--semantics").as_deref() {
        Some("set") => ResultSemantics::Set,
        Some("bag") => ResultSemantics::Bag,
        _ => ResultSemantics::List,
    };
    let mut solver = Solver::new(
        program,
        sqlgauge_prove::SolverLimits { time, ..sqlgauge_prove::SolverLimits::default() },
    );
    let text = std::fs::read_to_string(&pairs).unwrap_or_else(|error| panic!("{pairs}: {error}"));
    let mut schemas = BTreeMap::new();
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut spent: Vec<u128> = Vec::new();
    for line in text.lines() {
        let pair: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{line}: {error}"));
        let get = |key: &str| pair[key].as_str().unwrap_or_default();
        let schema = schema_of(&mut schemas, get("ddl"), get("db"));
        let begun = Instant::now();
        let outcome = judge(&schema, get("left"), get("right"), semantics, bounds, &mut solver);
        let took = begun.elapsed().as_millis();
        if has("--show") {
            println!("{}\t{outcome}\t{took} ms\t{}", get("id"), pair["published"]["verdict"]);
        }
        let kind = outcome.split(" | ").next().unwrap_or_default().to_owned();
        if kind.contains("bounded") {
            spent.push(took);
        }
        *counts.entry(kind).or_default() += 1;
    }
    for (outcome, count) in &counts {
        println!("{count:6}  {outcome}");
    }
    spent.sort_unstable();
    let at = |percent: usize| spent.get(spent.len() * percent / 100).copied().unwrap_or_default();
    println!(
        "bounded: {} pairs, median {} ms, 90 % {} ms, sum {} ms",
        spent.len(),
        at(50),
        at(90),
        spent.iter().sum::<u128>()
    );
}

fn schema_of(schemas: &mut BTreeMap<String, Arc<Schema>>, ddl: &str, db: &str) -> Arc<Schema> {
    let make = || {
        if db.is_empty() {
            return Arc::new(Schema::from_ddl(ddl).unwrap_or_default());
        }
        let engine = SqliteEngine::new(Limits::default());
        let database = engine.open(Path::new(db)).unwrap_or_else(|error| panic!("{db}: {error}"));
        Arc::clone(database.schema())
    };
    Arc::clone(schemas.entry(format!("{ddl}{db}")).or_insert_with(make))
}

fn judge(
    schema: &Arc<Schema>,
    left: &str,
    right: &str,
    semantics: ResultSemantics,
    bounds: Bounds,
    solver: &mut Solver,
) -> String {
    let (Ok(first), Ok(second)) = (resolve(left, schema), resolve(right, schema)) else {
        return "not resolved".to_owned();
    };
    let search = match Search::new(Arc::clone(schema), SearchOptions::default()) {
        Ok(search) => search,
        Err(error) => return error.to_string(),
    };
    if !has("--all") {
        if Matcher::new(schema, Profile::Sound).is_equal(left, right) {
            return "rules".to_owned();
        }
        if let SearchVerdict::Refuted(_) = search.refute(left, right) {
            return "search".to_owned();
        }
    }
    let mut replay = |database: &Witness| search.replay(database, left, right);
    match sqlgauge_prove::bounded(schema, (&first, &second), semantics, bounds, solver, &mut replay).0 {
        ProofOutcome::NoDifference { bound, assumes } => {
            let assumes: Vec<_> = assumes.iter().map(sqlgauge_prove::ProofAssumption::code).collect();
            format!("bounded: proved up to {bound} | {}", assumes.join(" "))
        }
        ProofOutcome::Different { bound, .. } => format!("bounded: candidate replayed | {bound}"),
        ProofOutcome::Unsupported { construct } => format!("bounded: unsupported {construct}"),
        ProofOutcome::Unknown { reason, proved, .. } => {
            format!("bounded: unknown {} | {proved:?}", reason.code())
        }
    }
}
