//! Measures the search on real predictions: databases per second, and how many of the predictions that execution
//! calls right it tells apart from their gold.
//!
//! ```text
//! cargo bench -p sqlgauge-verify --bench search -- [--databases N] [--pairs N] [--threads N] [--show N] [--seed N] [--only NAME] [--wrong]
//! ```
//! `--databases` is the most that are tried for one pair, `--pairs` the most pairs of each data set, `--show` the number of
//! refutations that are printed, `--only` picks the data sets with that in their name, and `--wrong` takes the predictions that
//! execution calls wrong instead: all of them can be told apart, so what is left shows what the search misses. The data folder is `SQLGAUGE_DATA`, else `../shared/data` beside the workspace.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;
use sqlgauge_engine::{Engine, Limits, SqliteEngine};
use sqlgauge_sql::schema::Schema;
use sqlgauge_verify::search::{Options, Search, Verdict};

/// A prediction that execution calls right.
struct Case {
    id: String,
    schema: Arc<Schema>,
    gold: String,
    prediction: String,
}

struct Settings {
    databases: usize,
    pairs: usize,
    threads: usize,
    show: usize,
    seed: u64,
    only: Option<String>,
    wrong: bool,
}

fn settings() -> Settings {
    let args: Vec<String> = std::env::args().collect();
    let text = |name: &str| args.iter().position(|arg| arg == name).and_then(|at| args.get(at + 1)).cloned();
    let number =
        |name: &str, default: usize| text(name).and_then(|text| text.parse().ok()).unwrap_or(default);
    Settings {
        databases: number("--databases", 400),
        pairs: number("--pairs", usize::MAX),
        threads: number("--threads", 1),
        show: number("--show", 0),
        seed: number("--seed", 0) as u64,
        only: text("--only"),
        wrong: args.iter().any(|arg| arg == "--wrong"),
    }
}

fn main() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let folder = std::env::var_os("SQLGAUGE_DATA").map_or(folder, PathBuf::from);
    if !folder.is_dir() {
        println!("skipped: the data folder {} is missing", folder.display());
        return;
    }
    let settings = settings();
    let engine = SqliteEngine::new(Limits::default());
    for (name, cases) in [
        ("spider dev, etm_DAIL", spider(&folder, &engine, "etm_DAIL", !settings.wrong)),
        ("spider dev, etm_C3", spider(&folder, &engine, "etm_C3", !settings.wrong)),
        (
            "bird superhero, codes_15b_evidence",
            bird(&folder, &engine, &["codes_15b_evidence"], !settings.wrong),
        ),
        ("bird superhero, csc_sql_7b", bird(&folder, &engine, &["csc_sql_7b"], !settings.wrong)),
        ("bird superhero, all systems", bird(&folder, &engine, &[], !settings.wrong)),
    ] {
        if settings.only.as_ref().is_none_or(|only| name.contains(only.as_str())) {
            measure(name, &cases, &settings);
        }
    }
}

fn schema(engine: &SqliteEngine, path: &Path) -> Option<Arc<Schema>> {
    engine.open(path).ok().map(|database| Arc::clone(database.schema()))
}

fn spider(folder: &Path, engine: &SqliteEngine, system: &str, right: bool) -> Vec<Case> {
    let spider = folder.join("spider");
    let read = |path: PathBuf| fs::read_to_string(path).unwrap_or_default();
    let gold = read(spider.join("dev_gold.sql"));
    let predictions = read(spider.join(format!("predictions/dev/{system}.sql")));
    let oracle = read(spider.join(format!("oracle/dev/{system}.jsonl")));
    let mut schemas: BTreeMap<String, Option<Arc<Schema>>> = BTreeMap::new();
    let lines = gold.lines().zip(predictions.lines()).zip(oracle.lines()).enumerate();
    let cases = lines.filter_map(|(at, ((gold, prediction), oracle))| {
        let oracle: Value = serde_json::from_str(oracle).ok()?;
        let (gold, name) = gold.split_once('\t')?;
        let path = spider.join(format!("database/{name}/{name}.sqlite"));
        let schema = schemas.entry(name.to_owned()).or_insert_with(|| schema(engine, &path)).clone()?;
        let prediction = prediction.split('\t').next().unwrap_or_default();
        ((oracle["ex"] == 1) == right && oracle["executes"] == 1).then(|| Case {
            id: format!("{system} {at}"),
            schema,
            gold: gold.to_owned(),
            prediction: prediction.to_owned(),
        })
    });
    cases.collect()
}

fn bird(folder: &Path, engine: &SqliteEngine, systems: &[&str], wanted: bool) -> Vec<Case> {
    let bird = folder.join("bird");
    let json = |path: PathBuf| -> Value {
        fs::read_to_string(path).ok().and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
    };
    let (items, right) = (json(bird.join("dev.json")), json(bird.join("ex_set_superhero.json")));
    let Some(schema) = schema(engine, &bird.join("database/superhero/superhero.sqlite")) else {
        return Vec::new();
    };
    let mut cases = Vec::new();
    for (system, verdicts) in right.as_object().into_iter().flatten() {
        if !systems.is_empty() && !systems.contains(&system.as_str()) {
            continue;
        }
        let predictions = json(bird.join(format!("predictions/dev/{system}.json")));
        for (id, is_right) in verdicts.as_object().into_iter().flatten() {
            let gold = id.parse::<usize>().ok().and_then(|at| items[at]["SQL"].as_str());
            let prediction =
                predictions[id].as_str().map(|text| text.split("\t----- bird").next().unwrap_or(text));
            if let (Some(gold), Some(prediction), true) =
                (gold, prediction, is_right.as_bool() == Some(wanted))
            {
                let id = format!("{system} {id}");
                cases.push(Case {
                    id,
                    schema: Arc::clone(&schema),
                    gold: gold.into(),
                    prediction: prediction.into(),
                });
            }
        }
    }
    cases
}

/// One search and how long it took.
struct Measured {
    verdict: Verdict,
    time: Duration,
}

fn run(cases: &[Case], settings: &Settings) -> Vec<Measured> {
    let options = Options { databases: settings.databases, seed: settings.seed, ..Options::default() };
    let chunk = cases.len().div_ceil(settings.threads).max(1);
    std::thread::scope(|scope| {
        let handles: Vec<_> = cases
            .chunks(chunk)
            .map(|cases| {
                scope.spawn(move || {
                    let mut searches: Vec<(*const Schema, Search)> = Vec::new();
                    let mut measured = Vec::new();
                    for case in cases {
                        let key = Arc::as_ptr(&case.schema);
                        if searches.iter().all(|(known, _)| *known != key) {
                            let search = Search::new(Arc::clone(&case.schema), options)
                                .expect("an in-memory database");
                            searches.push((key, search));
                        }
                        let search =
                            searches.iter().find(|(known, _)| *known == key).map(|(_, search)| search);
                        let started = Instant::now();
                        if let Some(search) = search {
                            let verdict = search.refute(&case.gold, &case.prediction);
                            measured.push(Measured { verdict, time: started.elapsed() });
                        }
                    }
                    measured
                })
            })
            .collect();
        handles.into_iter().flat_map(|handle| handle.join().expect("a worker that does not panic")).collect()
    })
}

fn measure(name: &str, cases: &[Case], settings: &Settings) {
    let cases = &cases[..cases.len().min(settings.pairs)];
    let started = Instant::now();
    let measured = run(cases, settings);
    let wall = started.elapsed();
    let (mut refuted, mut survived, mut open) = (0_usize, 0, 0);
    let (mut databases, mut undecided, mut failed) = (0, 0, 0);
    let mut inapplicable: BTreeMap<String, usize> = BTreeMap::new();
    let (mut tried, mut to_refute, mut to_survive) = (Vec::new(), Vec::new(), Vec::new());
    for one in &measured {
        match &one.verdict {
            Verdict::Refuted(found) => {
                refuted += 1;
                databases += found.databases();
                tried.push(found.databases());
                to_refute.push(one.time);
            }
            Verdict::Survived(found) => {
                survived += 1;
                databases += found.databases + found.undecided + found.failed;
                undecided += found.undecided;
                failed += found.failed;
                open += usize::from(found.databases * 10 < found.undecided);
                to_survive.push(one.time);
            }
            Verdict::Inapplicable(why) => *inapplicable.entry(why.code()).or_default() += 1,
        }
    }
    let busy: Duration = measured.iter().map(|one| one.time).sum();
    println!(
        "{name}: {} predictions that execution calls {}",
        cases.len(),
        if settings.wrong { "wrong" } else { "right" }
    );
    println!("  told apart   {refuted} ({:.1} %)", 100.0 * refuted as f64 / cases.len().max(1) as f64);
    println!("  not          {survived} ({open} of them left open on nine of ten databases)");
    println!("  inapplicable {inapplicable:?}");
    println!(
        "  {databases} databases in {:.2} s of work: {:.0} per second and thread; {:.2} s of wall clock",
        busy.as_secs_f64(),
        databases as f64 / busy.as_secs_f64(),
        wall.as_secs_f64()
    );
    println!("  undecided databases {undecided}, failed {failed} (of pairs that were not told apart)");
    println!("  databases until told apart: {}", quantiles(&mut tried, |n| n.to_string()));
    println!("  time until told apart:      {}", quantiles(&mut to_refute, milliseconds));
    println!("  time of those not:          {}", quantiles(&mut to_survive, milliseconds));
    if settings.wrong {
        let missed =
            cases.iter().zip(&measured).filter(|(_, one)| matches!(one.verdict, Verdict::Survived(_)));
        for (case, one) in missed.take(settings.show) {
            println!("\n-- {} {:?}\n{}\n{}", case.id, one.verdict, case.gold, case.prediction);
        }
        return;
    }
    let refutations =
        cases.iter().zip(&measured).filter_map(|(case, one)| Some((case, one.verdict.refutation()?)));
    for (case, found) in refutations.take(settings.show) {
        println!("\n-- {}\n{}\n{}", case.id, case.gold, case.prediction);
        let search =
            Search::new(Arc::clone(&case.schema), Options::default()).expect("an in-memory database");
        let smallest = search.minimise(found, &case.gold, &case.prediction);
        println!("{} [database {}]\n{}", smallest.difference(), found.databases(), smallest.database());
    }
}

fn milliseconds(time: Duration) -> String {
    format!("{:.2} ms", time.as_secs_f64() * 1000.0)
}

/// Median, 90th and 99th percentile, maximum.
fn quantiles<T: Ord + Copy>(values: &mut [T], show: impl Fn(T) -> String) -> String {
    values.sort_unstable();
    let Some(&last) = values.last() else { return "-".to_owned() };
    let at = |share: f64| {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a share of a small count"
        )]
        let place = (share * (values.len() - 1) as f64).round() as usize;
        show(values.get(place).copied().unwrap_or(last))
    };
    format!("median {}, 90 % {}, 99 % {}, most {}", at(0.5), at(0.9), at(0.99), show(last))
}
