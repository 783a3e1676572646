//! The protocols of `bench` on tiny runs: what is held out, and that its labels decide nothing.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde_json::json;
use sqlgauge_engine::{Limits, SqliteEngine};
use sqlgauge_estimate::EstimateOptions;
use sqlgauge_estimate::estimators::{self, Estimator};
use sqlgauge_research::bench::{
    BenchOptions, BenchRun, PeerAvailability, Protocol, RowsFile, SeededTrial, Transfer, Trial, pool_of, run,
    transfers, trials,
};
use sqlgauge_run::{Item, Manifest, StoredRun, digest_inputs};

const SYSTEMS: [&str; 4] = ["one", "two", "three", "four"];
const METRIC: &str = "correct@1";
const FEW_SETS: EstimateOptions = EstimateOptions { level: 0.9, seed: 0, tau: 0.8, sample_sets: 3000 };

/// A run of four systems on some databases of a table each, 12 questions per database.
fn tiny(folder: &Path, name: &str, databases: usize, hardness: usize) -> BenchRun {
    let mut files = Vec::new();
    let mut items = Vec::new();
    for database in 0..databases {
        let db_id = format!("{name}_{database}");
        let path = folder.join(format!("{db_id}.sqlite"));
        let connection = rusqlite::Connection::open(&path).unwrap();
        let ddl = format!("CREATE TABLE t{database} (a INTEGER, b TEXT, c{database} REAL)");
        connection.execute_batch(&ddl).unwrap();
        drop(connection);
        files.push((format!("database:{db_id}"), path));
        for (place, system) in SYSTEMS.iter().enumerate() {
            for number in 0..12 {
                let right = (number * 7 + place * 3 + database) % (4 + hardness) > place;
                let sql = if right {
                    format!("SELECT a FROM t{database} WHERE a > {number}")
                } else {
                    format!("SELECT b, count(*) FROM t{database} WHERE a > {} GROUP BY b", number + place)
                };
                let details = json!({"question": format!("question {number} of {db_id}"), "prediction": sql,
                    "gold": "SELECT secret"});
                items.push(Item {
                    system: (*system).to_owned(),
                    id: format!("{database}:{number}"),
                    index: database * 12 + number,
                    db_id: db_id.clone(),
                    status: "unknown".to_owned(),
                    metrics: BTreeMap::from([(METRIC.to_owned(), Some(f64::from(u8::from(right))))]),
                    details: serde_json::from_value(details).unwrap(),
                });
            }
        }
    }
    let manifest = Manifest {
        tool_version: String::new(),
        engine: String::new(),
        command: Vec::new(),
        metrics: vec![METRIC.to_owned()],
        systems: SYSTEMS.map(str::to_owned).to_vec(),
        inputs: digest_inputs(&files).unwrap(),
        options: BTreeMap::new(),
        examples: databases * 12,
    };
    let stored = StoredRun { manifest, items, summary: None };
    BenchRun { name: name.to_owned(), path: PathBuf::from(name), stored, metric: METRIC.to_owned() }
}

fn of(runs: &[BenchRun], protocol: Protocol) -> Vec<Trial> {
    trials(runs, protocol, PeerAvailability::All, &BTreeSet::new(), 5)
}

/// Turns the labels of the trial's target answers around.
fn garbled(runs: &[BenchRun], trial: &Trial) -> Vec<BenchRun> {
    let mut runs = runs.to_vec();
    for item in &mut runs[trial.target.run].stored.items {
        if trial.systems.contains(&item.system) && trial.target.databases.contains(&item.db_id) {
            for label in item.metrics.values_mut() {
                *label = label.map(|label| 1.0 - label);
            }
            item.details.gold = Some("garbled".to_owned());
        }
    }
    runs
}

const PROTOCOLS: [Protocol; 4] = [
    Protocol::LeaveDatasetOut,
    Protocol::LeaveModelOut,
    Protocol::LeaveDatabasesOut { databases: 3, splits: 2 },
    Protocol::LeaveGroupsOut { splits: 3 },
];

#[test]
fn held_out_labels_are_not_in_the_pool() {
    let folder = tempfile::tempdir().unwrap();
    let runs = [tiny(folder.path(), "a", 6, 0), tiny(folder.path(), "b", 5, 2)];
    let engine = SqliteEngine::new(Limits::default());
    for (protocol, count) in PROTOCOLS.into_iter().zip([2, 8, 4, 24]) {
        let trials = of(&runs, protocol);
        assert_eq!(trials.len(), count, "{protocol:?}");
        for trial in &trials {
            let pool = pool_of(&runs, trial, &engine, &[]).unwrap();
            assert_eq!(pool.targets.len(), trial.systems.len());
            let questions = pool.asked.clone();
            assert_eq!(questions.len(), 12 * trial.target.databases.len());
            for &target in &pool.targets {
                assert!(questions.iter().all(|&question| pool.label(target, question).is_none()));
            }
            // Labels of others on the target's questions are there where one system alone is left out.
            let others = pool.all_systems().filter(|system| !pool.targets.contains(system));
            let labelled = others.flat_map(|system| pool.labelled(system)).any(|q| questions.contains(&q));
            assert_eq!(labelled, protocol == Protocol::LeaveModelOut);
        }
    }
}

/// Of a trial's target and of what is known, the mean of what the other systems reach.
fn others_reach(runs: &[BenchRun], trial: &Trial) -> [f64; 2] {
    [&trial.target.databases, &trial.sources[0].databases].map(|databases| {
        let stored = &runs[trial.target.run].stored;
        let others = stored.items.iter().filter(|item| !trial.systems.contains(&item.system));
        let labels: Vec<f64> = others
            .filter(|item| databases.contains(&item.db_id))
            .map(|item| item.metrics[METRIC].unwrap())
            .collect();
        labels.iter().sum::<f64>() / f64::from(u32::try_from(labels.len()).unwrap())
    })
}

#[test]
fn groups_of_databases_are_hard_or_easy_for_the_other_systems() {
    let folder = tempfile::tempdir().unwrap();
    let mut runs = [tiny(folder.path(), "a", 9, 0)];
    // On the last three databases nobody is right, on the first three everybody.
    for item in &mut runs[0].stored.items {
        let label = match item.index / 36 {
            0 => Some(1.0),
            2 => Some(0.0),
            _ => continue,
        };
        item.metrics.insert(METRIC.to_owned(), label);
    }
    let trials = of(&runs, Protocol::LeaveGroupsOut { splits: 30 });
    assert_eq!(trials.len(), 4 * 30);
    let sizes: BTreeSet<usize> = trials.iter().map(|trial| trial.target.databases.len()).collect();
    assert_eq!(sizes, BTreeSet::from([2, 3, 4]));
    for trial in &trials {
        let [source] = &trial.sources[..] else { panic!("{} parts", trial.sources.len()) };
        assert!(source.databases.is_disjoint(&trial.target.databases));
        assert_eq!(source.databases.len() + trial.target.databases.len(), 9);
        assert_eq!((source.systems.len(), &source.systems), (1, &trial.target.systems));
        let [target, rest] = others_reach(&runs, trial);
        match trial.transfer.split(' ').next() {
            Some("hard") => assert!(target < rest, "{target} {rest}"),
            Some("easy") => assert!(target > rest, "{target} {rest}"),
            _ => {}
        }
    }
    // Any databases: sometimes these, sometimes those.
    let random = trials.iter().filter(|trial| trial.transfer.starts_with("random"));
    let harder =
        random.map(|trial| others_reach(&runs, trial)).filter(|[target, rest]| target < rest).count();
    assert!((5..35).contains(&harder), "{harder} of 40");
}

#[test]
fn garbled_labels_of_the_held_out_part_change_no_estimate() {
    let folder = tempfile::tempdir().unwrap();
    let runs = [tiny(folder.path(), "a", 6, 0), tiny(folder.path(), "b", 5, 2)];
    let engine = SqliteEngine::new(Limits::default());
    let methods: Vec<(String, &dyn Estimator)> =
        ["source", "signals", "fusion"].map(|id| (id.to_owned(), estimators::find(id).unwrap())).into();
    let options = BenchOptions { methods, estimate: FEW_SETS, labelled: 0.0, databases: Vec::new() };
    for protocol in PROTOCOLS {
        let trial = of(&runs, protocol).swap_remove(0);
        let garbled = garbled(&runs, &trial);
        let trial = [SeededTrial { trial, seeds: vec![5] }];
        let [before, after] = [&runs[..], &garbled[..]]
            .map(|runs| run(runs, &trial, &engine, &options, &mut RowsFile::default(), &|_| ()).unwrap());
        assert!(!before.rows.is_empty() && before.rows.len() == after.rows.len());
        assert_eq!(before.skipped, after.skipped);
        for (before, after) in before.rows.iter().zip(&after.rows) {
            assert_eq!(before.accuracy.to_bits(), after.accuracy.to_bits(), "{before:?}");
            assert_eq!(before.low.to_bits(), after.low.to_bits());
            assert_eq!(before.high.to_bits(), after.high.to_bits());
            assert!((before.truth + after.truth - 1.0).abs() < 1e-12);
        }
    }
}

/// The evaluator before knows of another dataset only; half of the target's labels say how far it is off.
#[test]
fn labels_of_the_target_make_the_interval_of_fusion_tl() {
    let folder = tempfile::tempdir().unwrap();
    let runs = [tiny(folder.path(), "a", 6, 0), tiny(folder.path(), "b", 10, 6)];
    let engine = SqliteEngine::new(Limits::default());
    let methods: Vec<(String, &dyn Estimator)> =
        ["fusion", "fusion-tl"].map(|id| (id.to_owned(), estimators::find(id).unwrap())).into();
    let options = BenchOptions { methods, estimate: FEW_SETS, labelled: 0.5, databases: Vec::new() };
    let only = BTreeSet::from(["two".to_owned()]);
    let trial = trials(&runs, Protocol::LeaveDatasetOut, PeerAvailability::All, &only, 5).swap_remove(0);
    let trial = [SeededTrial { trial, seeds: vec![5] }];
    let bench = run(&runs, &trial, &engine, &options, &mut RowsFile::default(), &|_| ()).unwrap();
    let rows = |method: &str| bench.rows.iter().filter(|row| row.method == method).collect::<Vec<_>>();
    let (before, tuned) = (rows("fusion"), rows("fusion-tl"));
    let (&[before], &[tuned]) = (&before[..], &tuned[..]) else { panic!("{:?}", bench.skipped) };
    assert!(tuned.high - tuned.low < before.high - before.low, "{before:?} {tuned:?}");
    assert!((tuned.low..=tuned.high).contains(&tuned.truth), "{tuned:?}");
}

/// Sets how sure the systems are of every answer that `is_said` names: by its label where `by_label`, else the same of all.
fn with_confidence(run: &BenchRun, by_label: Option<f64>, is_said: impl Fn(&Item) -> bool) -> BenchRun {
    let mut run = run.clone();
    for item in run.stored.items.iter_mut().filter(|item| is_said(item)) {
        let right = item.metrics[METRIC].is_some_and(|label| label > 0.5);
        let of_item = if right { 0.9 } else { 0.4 } + 0.001 * (item.index % 7) as f64;
        item.details.confidence = Some(by_label.unwrap_or(of_item));
    }
    run
}

#[test]
fn how_sure_a_system_is_counts_only_where_every_answer_says_it() {
    let folder = tempfile::tempdir().unwrap();
    let (home, target) = (tiny(folder.path(), "a", 6, 0), tiny(folder.path(), "b", 2, 2));
    let engine = SqliteEngine::new(Limits::default());
    let structure = |home: BenchRun, confidence: f64| {
        let runs = [home, with_confidence(&target, Some(confidence), |_| true)];
        let family = |system: &str| system.to_owned();
        let list = transfers(&runs, &family, &engine, &[], EstimateOptions::default()).unwrap();
        let whole = list.into_iter().filter(|one| one.database.is_none() && one.system == SYSTEMS[1]);
        whole.map(|Transfer { moves, .. }| moves[1]).sum::<f64>()
    };
    let all = || with_confidence(&home, None, |_| true);
    assert!(structure(all(), 0.9) > structure(all(), 0.3) + 0.1);
    let most = || with_confidence(&home, None, |item| !item.id.ends_with(":3"));
    assert!((structure(most(), 0.9) - structure(most(), 0.3)).abs() < 1e-12);
}
