//! Audits `etm@1` on real predictions: no pair that it calls equal may be told apart, and few that nothing tells
//! apart may be missed.
//!
//! `cargo xtask research etm_audit [PATTERN] [DATABASES] [OUT.tsv]` looks at
//! every prediction file of Spider dev whose name contains PATTERN (default `etm_`), tries DATABASES generated
//! databases per pair (default 400) and writes one line per pair that needs a look:
//! `unsound` (called equal, refuted), `real` (called equal, other rows on the real database), `open` (called equal,
//! results differ where SQL leaves them open), `missed` (told apart by nothing, not called equal).

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use rayon::prelude::*;
use sqlgauge_conformance::{data, files, gold_lines, read};
use sqlgauge_engine::{Database, Engine, Limits, SqliteEngine};
use sqlgauge_etm::{Matcher, Profile};
use sqlgauge_metrics::{Pair, Target};
use sqlgauge_search::{Search, SearchOptions, SearchVerdict};

/// What became of one distinct pair.
#[derive(Clone)]
struct Finding {
    class: &'static str,
    note: String,
}

struct Item {
    database: Arc<Database>,
    db: String,
    gold: String,
    prediction: String,
    systems: BTreeSet<String>,
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let pattern = arguments.next().unwrap_or_else(|| "etm_".to_owned());
    let databases = arguments.next().and_then(|n| n.parse().ok()).unwrap_or(400);
    let out = arguments.next();
    let Some(root) = data() else { return };
    let engine = SqliteEngine::new(Limits::default());
    let items = items(&root, &pattern, &engine);
    let findings: Vec<Finding> = items.par_iter().map(|item| examine(item, databases, &engine)).collect();
    report(&items, &findings, out.as_deref());
}

fn items(root: &Path, pattern: &str, engine: &SqliteEngine) -> Vec<Item> {
    let spider = root.join("spider");
    let golds = gold_lines(&spider.join("dev_gold.sql"));
    let mut open: HashMap<String, Arc<Database>> = HashMap::new();
    let mut items: BTreeMap<(String, String, String), Item> = BTreeMap::new();
    for path in files(&spider.join("predictions/dev"), "sql") {
        let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        if !name.contains(pattern) {
            continue;
        }
        for ((gold, db), line) in golds.iter().zip(read(&path).lines()) {
            let prediction = line.split('\t').next().unwrap_or_default().to_owned();
            let database = open.entry(db.clone()).or_insert_with(|| {
                let file = spider.join("database").join(db).join(format!("{db}.sqlite"));
                engine.open(&file).unwrap_or_else(|error| panic!("{error}"))
            });
            let key = (db.clone(), gold.clone(), prediction.clone());
            let item = items.entry(key).or_insert_with(|| Item {
                database: Arc::clone(database),
                db: db.clone(),
                gold: gold.clone(),
                prediction,
                systems: BTreeSet::new(),
            });
            item.systems.insert(name.clone());
        }
    }
    items.into_values().collect()
}

fn examine(item: &Item, databases: usize, engine: &SqliteEngine) -> Finding {
    let schema = item.database.schema();
    let matcher = Matcher::new(schema, Profile::Sound);
    let comparison = matcher.judge(&item.gold, &item.prediction);
    let equal = comparison.verdict.is_equal();
    let target = Target::new(item.db.clone(), Arc::clone(&item.database));
    let metric = sqlgauge_metrics::find("ex").expect("ex is a metric");
    let pair = Pair::new(engine, &target, &item.gold, &item.prediction, None);
    let executed = metric.score(&pair).value == Some(1.0);
    let finding = |class, note: String| Finding { class, note };
    if !equal && !executed {
        return finding("different", String::new());
    }
    let options = SearchOptions { databases, ..SearchOptions::default() };
    let search = Search::new(Arc::clone(schema), options).expect("SQLite opens a database in memory");
    let difference = || comparison.difference.clone().unwrap_or_else(|| comparison.verdict.to_string());
    match (search.refute(&item.gold, &item.prediction), equal) {
        (SearchVerdict::Refuted(refutation), true) => {
            let small = search.minimise(&refutation, &item.gold, &item.prediction);
            finding("unsound", format!("{:?}", small.database()))
        }
        (SearchVerdict::Refuted(_), false) => finding("different", String::new()),
        (_, true) if !executed => finding("real", String::new()),
        (SearchVerdict::Survived(survived), true) if survived.undecided > 0 => {
            finding("open", format!("{} of {}", survived.undecided, survived.databases))
        }
        (_, true) => finding("equal", String::new()),
        (SearchVerdict::Survived(survived), false) if survived.undecided > 0 => finding("tie", difference()),
        (SearchVerdict::Survived(_), false) => finding("missed", difference()),
        (SearchVerdict::Inapplicable(reason), false) => finding("unknown", reason.code()),
    }
}

fn report(items: &[Item], findings: &[Finding], out: Option<&str>) {
    let mut list = String::new();
    let mut tally: BTreeMap<&str, BTreeMap<&'static str, usize>> = BTreeMap::new();
    for (item, finding) in items.iter().zip(findings) {
        for system in &item.systems {
            *tally.entry(system).or_default().entry(finding.class).or_default() += 1;
        }
        if !matches!(finding.class, "equal" | "different") {
            let systems = item.systems.iter().cloned().collect::<Vec<_>>().join(",");
            let note = finding.note.replace(['\t', '\n'], " ");
            let _ = writeln!(
                list,
                "{}\t{systems}\t{}\t{}\t{}\t{note}",
                finding.class, item.db, item.gold, item.prediction
            );
        }
    }
    for (system, classes) in &tally {
        let of = |class: &str| classes.get(class).copied().unwrap_or_default();
        let indistinguishable = of("equal") + of("open") + of("missed");
        let share = 100.0 * of("missed") as f64 / indistinguishable.max(1) as f64;
        println!("{system}: {classes:?}; missed {share:.2} % of {indistinguishable} distinct pairs");
    }
    if let Some(out) = out {
        std::fs::write(out, list).unwrap_or_else(|error| panic!("{out}: {error}"));
    }
}
