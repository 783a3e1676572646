//! Evolved benchmarks of Spider dev: every item that is written returns the original's rows, from its own text on the evolved
//! database and from the unchanged text through the views; the folder follows from the seed and not from the threads.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use sqlgauge_conformance::{data, measured, read};
use sqlgauge_dataset::{Benchmark, BenchmarkSource, Databases, load_benchmark};
use sqlgauge_engine::compare::{GoldOrder, difference};
use sqlgauge_engine::{Engine, Limits, SqliteEngine};
use sqlgauge_evolve::layout::{EvolveReason, Statistics};
use sqlgauge_evolve::{ChangeKind, EvolveOptions, EvolvePlan, EvolvedItem, evolve};

/// Databases of the usual test; `EVOLVE_ALL=1` takes all of them.
const SOME: [&str; 4] = ["concert_singer", "pets_1", "student_transcripts_tracking", "tvshow"];

fn benchmark(root: &Path) -> (Benchmark, PathBuf) {
    let spider = root.join("spider");
    let source = BenchmarkSource { gold: spider.join("dev.json"), ..BenchmarkSource::default() };
    let mut benchmark = load_benchmark(&source).unwrap();
    if std::env::var_os("EVOLVE_ALL").is_none() {
        benchmark.examples.retain(|example| SOME.contains(&example.db_id.as_str()));
    }
    (benchmark, spider.join("database"))
}

fn run(
    benchmark: &Benchmark,
    databases: &Path,
    plan: EvolvePlan,
    seed: u64,
    threads: usize,
) -> (tempfile::TempDir, Vec<(String, Statistics)>) {
    let out = tempfile::tempdir().unwrap();
    let options = EvolveOptions { seed, intensity: 0.5, ..EvolveOptions::of(plan) };
    let engine = SqliteEngine::new(Limits::default());
    let databases = Databases::open(databases).unwrap();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let evolved = pool
        .install(|| evolve(benchmark, &databases, &engine, &options, out.path(), &|_, _| ()))
        .unwrap_or_else(|error| panic!("{error}"));
    (out, evolved)
}

/// Runs every written item of a folder again.
fn check(folder: &Path, databases: &Path) -> usize {
    let engine = SqliteEngine::new(Limits::default());
    let items: Vec<EvolvedItem> =
        serde_json::from_str(&std::fs::read_to_string(folder.join("dev.json")).unwrap()).unwrap();
    let open = |folder: &Path, db: &str| engine.open(&folder.join(db).join(format!("{db}.sqlite"))).unwrap();
    for item in items.iter().filter(|item| item.answerable) {
        let original = open(databases, &item.source_db_id);
        let place = folder.join("database");
        let evolved = open(&place, &item.db_id);
        let views = std::fs::read_to_string(place.join(&item.db_id).join("old_over_new.sql")).unwrap();
        let gold = engine.run(&original, &item.source_query);
        let gold = gold.rows().unwrap_or_else(|| panic!("{}", item.source_query));
        for (database, sql) in [(&*evolved, &item.query), (&evolved.with_prelude(&views), &item.source_query)]
        {
            let execution = engine.run(database, sql);
            let rows = execution.rows().unwrap_or_else(|| panic!("{sql}: {:?}", execution.outcome));
            assert_eq!(difference(gold, &GoldOrder::Unordered, rows), None, "{sql}");
        }
    }
    items.len()
}

fn assert_sound(name: &str, statistics: &Statistics, items: usize) {
    let refused: usize = statistics.not_written.values().sum();
    assert_eq!(statistics.written + refused, items, "{name}");
    for reason in [
        EvolveReason::RowsDiffer,
        EvolveReason::ViewsDiffer,
        EvolveReason::MigrationFails,
        EvolveReason::NotExpressible,
    ] {
        assert!(!statistics.not_written.contains_key(&reason), "{name}: {statistics:?}");
    }
}

/// What a plan makes of the benchmark, which returns the rows of the original; `None` without the data.
fn evolved(plan: EvolvePlan) -> Option<Vec<(String, Statistics)>> {
    let (benchmark, databases) = benchmark(&data()?);
    let (out, evolved) = run(&benchmark, &databases, plan, 7, 2);
    for (name, statistics) in &evolved {
        assert_sound(name, statistics, benchmark.examples.len());
        assert_eq!(check(&out.path().join(name), &databases), statistics.written, "{name}");
    }
    Some(evolved)
}

#[test]
#[ignore = "long: cargo xtask long"]
fn what_is_written_returns_the_rows_of_the_original() {
    let plan = EvolvePlan::Kinds { kinds: ChangeKind::ALL.to_vec(), per_item: false };
    let Some(evolved) = evolved(plan) else { return };
    let renames = evolved.iter().filter(|(name, _)| name.starts_with("rename"));
    for (name, statistics) in renames {
        assert!(statistics.golds_changed > 0, "{name}");
        assert!(statistics.length_ratio.unwrap().median <= 1.25, "{name}: {statistics:?}");
    }
}

#[test]
#[ignore = "long: cargo xtask long"]
fn every_version_of_a_history_returns_the_rows_of_the_original() {
    let plan = EvolvePlan::Steps { kinds: ChangeKind::ALL.to_vec(), steps: 5 };
    let Some(evolved) = evolved(plan) else { return };
    assert_eq!(evolved.len(), 5);
}

#[test]
#[ignore = "long: cargo xtask long"]
fn a_folder_follows_from_the_seed_and_not_from_the_threads() {
    let Some(root) = data() else { return };
    let (mut benchmark, databases) = benchmark(&root);
    benchmark.examples.retain(|example| example.db_id == "concert_singer" || example.db_id == "tvshow");
    let kinds = vec![ChangeKind::RenameColumns, ChangeKind::SplitTables, ChangeKind::RemoveTablesInGold];
    let files = |seed: u64, threads: usize| {
        let plan = EvolvePlan::Kinds { kinds: kinds.clone(), per_item: false };
        let (out, _) = run(&benchmark, &databases, plan, seed, threads);
        let mut files = BTreeMap::new();
        let mut pending = vec![out.path().to_owned()];
        while let Some(folder) = pending.pop() {
            for entry in std::fs::read_dir(&folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    pending.push(path);
                } else {
                    files.insert(
                        path.strip_prefix(out.path()).unwrap().to_owned(),
                        std::fs::read(&path).unwrap(),
                    );
                }
            }
        }
        files
    };
    let one = files(7, 1);
    assert!(one == files(7, 4), "the folder depends on the threads");
    assert!(one != files(8, 1), "the folder does not depend on the seed");
}

/// The change as EvoSchema publishes it: how many other tables of the same database are shown, over all of Spider dev.
#[test]
#[ignore = "long: cargo xtask long"]
fn added_tables_are_counted_as_the_page_says() {
    let Some(root) = data() else { return };
    let spider = root.join("spider");
    let source = BenchmarkSource { gold: spider.join("dev.json"), ..BenchmarkSource::default() };
    let benchmark = load_benchmark(&source).unwrap();
    let plan = EvolvePlan::Kinds { kinds: vec![ChangeKind::AddTables], per_item: false };
    let (out, evolved) = run(&benchmark, &spider.join("database"), plan, 0, 2);
    let (name, _) = &evolved[0];
    let text = std::fs::read_to_string(out.path().join(name).join("dev.json")).unwrap();
    let items: Vec<EvolvedItem> = serde_json::from_str(&text).unwrap();
    let tables = |ddl: &str| ddl.matches("CREATE TABLE").count();
    let mut added = BTreeMap::new();
    for item in &items {
        *added.entry(tables(&item.ddl_relevant) - tables(&item.ddl_needed)).or_insert(0) += 1;
    }
    let whole = items.iter().filter(|item| tables(&item.ddl) == tables(&item.ddl_relevant)).count();
    let written = measured("evolve/added-tables.tsv");
    let written: Vec<(String, String)> = written
        .iter()
        .map(|row| (row["other tables that are shown"].clone(), row["items"].clone()))
        .collect();
    let counted: Vec<(String, String)> =
        added.iter().map(|(tables, items)| (tables.to_string(), items.to_string())).collect();
    assert_eq!(written, counted);
    let page = read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../research/evolve/README.md"));
    for sentence in [
        format!("{} of Spider dev's 1,034 items have other tables to add", items.len()),
        format!("in {whole} the schema has no more than what is shown"),
    ] {
        assert!(page.contains(&sentence), "research/evolve/README.md does not say: {sentence}");
    }
}
