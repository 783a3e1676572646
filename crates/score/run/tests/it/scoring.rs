//! The real scorer: on a small database of its own, and on the bundled sample benchmark.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use serde_json::{Value, json};
use sqlgauge_dataset::{
    Benchmark, BenchmarkSource, Databases, Example, PredictionOptions, PredictionSet, load_benchmark,
    load_predictions, load_tables,
};
use sqlgauge_engine::{Engine, Limits, SqliteEngine};
use sqlgauge_metrics::Metric;
use sqlgauge_run::{
    BenchmarkScorer, Item, Judgement, Manifest, Plan, Reasons, RunDirectory, RunError, Schedule, Scorer,
    Start, StoredRun, Summary, SummaryBuilder, Task, UsedDatabases, digest_inputs, execute,
};

fn metrics(ids: &[&str]) -> Vec<&'static dyn Metric> {
    ids.iter().map(|id| sqlgauge_metrics::find(id).unwrap()).collect()
}

fn build(folder: &Path, db_id: &str, ddl: &str) {
    let path = folder.join(db_id).join(format!("{db_id}.sqlite"));
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    rusqlite::Connection::open(path).unwrap().execute_batch(ddl).unwrap();
}

struct Bank {
    folder: tempfile::TempDir,
    scorer: BenchmarkScorer,
}

const METRICS: [&str; 4] = ["ex-spider", "ex", "soft-f1", "vm-steps"];

impl Bank {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        build(
            folder.path(),
            "bank",
            "CREATE TABLE account (id INTEGER PRIMARY KEY, owner TEXT, balance REAL);
             INSERT INTO account VALUES (1, 'Ada', 10.5), (2, NULL, 3), (3, 'Bo', 3);",
        );
        let engine: Arc<dyn Engine> = Arc::new(SqliteEngine::new(Limits::default()));
        let databases = Databases::open(folder.path()).unwrap();
        let used = UsedDatabases::locate(&databases, &[example(&["SELECT 1"])], false).unwrap();
        let targets = used.open(engine.as_ref(), None).unwrap();
        let scorer = BenchmarkScorer::new(engine, metrics(&METRICS), targets);
        Self { folder, scorer }
    }

    fn score(&self, golds: &[&str], prediction: Option<&str>) -> Judgement {
        let example = example(golds);
        self.scorer.score(&Task { example: &example, prediction, confidence: None, earlier: None }).unwrap()
    }
}

fn example(golds: &[&str]) -> Example {
    Example {
        id: "0".into(),
        index: 0,
        db_id: "bank".into(),
        question: Some("Who?".into()),
        evidence: Some(String::new()),
        golds: golds.iter().map(|g| (*g).to_owned()).collect(),
        difficulty: None,
        turn: None,
        ddl: None,
        source_index: None,
        source_db_id: None,
    }
}

const OWNERS: &str = "SELECT owner FROM account";
const SPACED: &str = "SELECT owner FROM account WHERE id ! = 1";
const BROKEN: &str = "SELECT owner FROM accounts";

/// The run that the bank's items would be of.
fn manifest_of(bank: &Bank) -> Manifest {
    let path = bank.folder.path().join("bank/bank.sqlite");
    Manifest {
        engine: "SQLite 3".to_owned(),
        metrics: metrics(&METRICS).iter().map(|metric| metric.id().to_owned()).collect(),
        systems: vec!["a".to_owned()],
        inputs: digest_inputs(&[("database:bank".to_owned(), path)]).unwrap(),
        examples: 1,
        ..Manifest::default()
    }
}

fn item_of(judgement: Judgement) -> Item {
    let Judgement { status, metrics, details } = judgement;
    let (system, id, db_id) = ("a".to_owned(), "0".to_owned(), "bank".to_owned());
    Item { system, id, index: 0, db_id, status, metrics, details }
}

#[test]
fn the_log_has_facts_and_a_reader_makes_the_sentence() {
    let bank = Bank::new();
    let gold = &["SELECT owner FROM account WHERE balance > 3"];
    let reasons = Reasons::of_run(bank.folder.path(), &manifest_of(&bank));
    let reason = |golds: &[&str], prediction| {
        let item = item_of(bank.score(golds, Some(prediction)));
        let log = serde_json::to_string(&item).unwrap();
        assert!(!log.contains("sentence") && !log.contains("The prediction"), "{log}");
        reasons.of(&item)
    };
    let wrong = reason(gold, "SELECT owner FROM account WHERE balance >= 3").unwrap();
    assert_eq!(
        (wrong.words().as_deref(), wrong.causes.join(" ").as_str()),
        (Some("The prediction tests `balance >= 3`, the gold `balance > 3`."), "other-comparison")
    );
    let case = "SELECT owner FROM account WHERE balance IN (SELECT balance FROM account WHERE owner = 'ada')";
    let other = reason(&["SELECT owner FROM account WHERE owner = 'Ada'"], case).unwrap();
    let sentence = "The prediction writes `'ada'`, the gold `'Ada'`, and letter case matters.";
    assert_eq!(other.sentence.as_deref(), Some(sentence));
    let union = "SELECT owner FROM account UNION SELECT owner FROM account WHERE id IN (SELECT 7)";
    let unclear = reason(gold, union).unwrap();
    assert_eq!(unclear.unclear.as_deref(), Some("other-shape"));
    let words = unclear.words().unwrap();
    assert!(words.starts_with("No single reason found: the queries are built too differently"), "{words}");
    let columns = "SELECT owner, id FROM account UNION SELECT owner, id FROM account WHERE id IN (SELECT 7)";
    assert_eq!(reason(&["SELECT id, owner FROM account"], columns).unwrap().causes, ["output-order"]);
    assert_eq!(reason(gold, "SELECT owner FROM account WHERE id = 1"), None);
    assert_eq!(reason(gold, "SELECT owner FROM nowhere"), None);
}

#[test]
fn a_reader_is_told_that_the_database_is_gone() {
    let bank = Bank::new();
    let manifest = manifest_of(&bank);
    let gold = &["SELECT owner FROM account WHERE balance > 3"];
    let item = item_of(bank.score(gold, Some("SELECT owner FROM account")));
    let path = bank.folder.path().join("bank/bank.sqlite");
    let schema = bank.scorer.schemas().remove("bank").unwrap();
    let words = |reasons: Reasons| reasons.of(&item).unwrap().words().unwrap();
    std::fs::write(&path, "another").unwrap();
    let changed = words(Reasons::of_run(bank.folder.path(), &manifest));
    assert!(
        changed.starts_with("Not known: the database ") && changed.ends_with(" has changed since the run."),
        "{changed}"
    );
    std::fs::remove_file(&path).unwrap();
    let gone = words(Reasons::of_run(bank.folder.path(), &manifest));
    assert!(gone.contains("cannot be read"), "{gone}");
    // Who has its schema needs no file.
    let open =
        Reasons::of_run(bank.folder.path(), &manifest).with_schemas([("bank".to_owned(), schema)].into());
    assert_eq!(words(open), "Only the gold tests `balance > 3`.");
}

#[test]
fn what_is_read_from_a_database_that_changed_is_no_judgement() {
    let bank = Bank::new();
    let path = bank.folder.path().join("bank/bank.sqlite");
    let score = || {
        bank.scorer.score(&Task {
            example: &example(&[OWNERS]),
            prediction: Some(OWNERS),
            confidence: None,
            earlier: None,
        })
    };
    assert!(score().is_ok());
    rusqlite::Connection::open(&path).unwrap().execute_batch("UPDATE account SET owner = 'X'").unwrap();
    let error = score().unwrap_err();
    assert!(matches!(error, RunError::NotScored { .. }), "{error}");
    assert!(error.to_string().contains("bank.sqlite"), "{error}");
}

#[test]
fn a_database_that_changed_since_it_was_opened_is_not_recorded() {
    let folder = tempfile::tempdir().unwrap();
    build(folder.path(), "bank", "CREATE TABLE account (id INTEGER PRIMARY KEY)");
    let engine = SqliteEngine::new(Limits::default());
    let databases = Databases::open(folder.path()).unwrap();
    let used = UsedDatabases::locate(&databases, &[example(&["SELECT 1"])], false).unwrap();
    let open = || used.open(&engine, None).unwrap();
    let records = digest_inputs(&used.files()).unwrap();
    assert_eq!(used.digest(&open()).unwrap(), records);
    let before = open();
    build(folder.path(), "bank", "CREATE TABLE other (id INTEGER PRIMARY KEY)");
    assert!(used.digest(&before).is_err());
    assert_ne!(used.digest(&open()).unwrap(), records);
}

#[test]
fn statuses_and_what_the_metrics_make_of_them() {
    let bank = Bank::new();
    let (right, wrong, null) = (Some(1.0), Some(0.0), None);
    // (golds, prediction, status, ex-spider, ex, soft-f1, whether vm-steps applies)
    let cases = [
        (&[OWNERS][..], Some(OWNERS), "ok", [right, right, right], true),
        (&[OWNERS], Some("SELECT balance FROM account WHERE id = 1"), "ok", [wrong, wrong, wrong], true),
        (&[OWNERS], Some(BROKEN), "no_such_table", [wrong, wrong, wrong], false),
        (&[OWNERS], Some("```sql\nSELECT 1\n```"), "syntax_error", [wrong, wrong, wrong], false),
        (&[OWNERS], Some("DROP TABLE account"), "denied", [wrong, wrong, wrong], false),
        (&[OWNERS], None, "missing", [wrong, wrong, wrong], false),
        (&[BROKEN], Some(OWNERS), "gold_failed", [null, null, null], false),
        (&[BROKEN], Some(BROKEN), "gold_failed", [null, null, null], false),
        (&[BROKEN], None, "missing", [null, null, null], false),
        // What only the official script's repairs make run is the failure of the other metrics alone.
        (&[SPACED], Some(OWNERS), "ok", [wrong, null, null], false),
        (&[SPACED], Some("SELECT owner FROM account WHERE id > 1"), "ok", [right, null, null], false),
        (&[SPACED], Some(SPACED), "syntax_error", [right, null, null], false),
        (&[SPACED], Some(BROKEN), "no_such_table", [wrong, null, null], false),
        (&[SPACED], None, "missing", [wrong, null, null], false),
        (&[SPACED, OWNERS], Some(SPACED), "syntax_error", [right, wrong, wrong], false),
        (&["SELECT 7", OWNERS], Some(OWNERS), "ok", [right, right, right], true),
        (&[BROKEN, OWNERS], Some(OWNERS), "ok", [right, right, right], true),
        (&[OWNERS, BROKEN], None, "missing", [wrong, wrong, wrong], false),
        // An empty result does not make a missing answer right.
        (&["SELECT owner FROM account WHERE id = 9"], None, "missing", [wrong, wrong, wrong], false),
    ];
    for (golds, prediction, status, [spider, ex, soft], has_cost) in cases {
        let judgement = bank.score(golds, prediction);
        let of = |id: &str| judgement.metrics[id];
        assert_eq!(judgement.status, status, "{golds:?} {prediction:?}");
        assert_eq!([of("ex-spider@1"), of("ex@1")], [spider, ex], "{golds:?} {prediction:?}");
        assert_eq!(of("soft-f1@1").is_none(), soft.is_none(), "{golds:?} {prediction:?}");
        assert_eq!(of("vm-steps@1").is_some(), has_cost, "{golds:?} {prediction:?}");
    }
}

#[test]
fn details_say_what_went_wrong() {
    let bank = Bank::new();
    let details = |golds: &[&str], prediction| json!(bank.score(golds, Some(prediction)).details);
    let failed = details(&[OWNERS], BROKEN);
    assert!(failed["error"].as_str().unwrap().contains("accounts"));
    assert_eq!(failed["gold_result"]["total_rows"], 3);
    assert_eq!(failed["gold_result"]["rows"][1][0], Value::Null);
    assert!(failed.get("prediction_result").is_none() && failed.get("evidence").is_none());
    assert_eq!(
        (&failed["hardness"], &failed["features"][0]),
        (&Value::from("easy"), &Value::from("single table"))
    );

    let gold_failed = details(&[BROKEN], "SELEC");
    assert!(gold_failed["gold_error"].as_str().unwrap().starts_with("no_such_table"));
    assert_eq!(gold_failed["prediction_status"], "syntax_error");

    let repaired = details(&[SPACED], OWNERS);
    assert!(repaired["gold_error"].as_str().unwrap().starts_with("syntax_error"));
    assert_eq!(repaired["metrics"]["ex@1"]["gold_failed"], "syntax_error");
    assert!(repaired["metrics"]["ex-spider@1"].get("gold_failed").is_none());

    // The rows beside a reason are those of the gold that the reason is about.
    let wrong = details(&["SELECT 7, 8", "SELECT owner FROM account WHERE id = 3"], "SELECT 'Al'");
    let gold = wrong["metrics"]["ex-spider@1"]["gold"].as_u64().unwrap();
    assert_eq!((gold, &wrong["gold_result"]["columns"][0]), (0, &Value::from("7")));

    let (empty, full) = ("SELECT owner FROM account WHERE id = 9", OWNERS);
    assert_eq!(details(&[empty], full)["gold_empty"], true);
    assert!(details(&[empty, full], full).get("gold_empty").is_none());
    assert!(details(&[BROKEN], full).get("gold_empty").is_none());

    let right = details(&["SELECT 7", OWNERS], OWNERS);
    assert_eq!(right["metrics"]["ex-spider@1"]["reason"], "by gold 2 of 2");
    assert_eq!(right["golds"].as_array().unwrap().len(), 2);
    assert!(right.get("gold_result").is_none());
}

#[test]
fn a_line_stays_small_whatever_a_system_says() {
    let bank = Bank::new();
    let long = format!("SELECT '{}'", "é".repeat(500_000));
    let wide =
        format!("SELECT {} UNION ALL SELECT * FROM ({0})", vec!["hex(zeroblob(9999))"; 200].join(", "));
    for prediction in [long.as_str(), wide.as_str(), &"(".repeat(900_000)] {
        let judgement = bank.score(&[OWNERS], Some(prediction));
        let size = serde_json::to_string(&judgement.details).unwrap().len();
        assert!(size < 20_000, "{size} bytes for {}", &prediction[..20]);
        assert_eq!(judgement.details.prediction_bytes, Some(prediction.len()));
    }
}

fn sample() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../core/sample")
}

struct Sample {
    benchmark: Benchmark,
    systems: Vec<PredictionSet>,
    scorer: BenchmarkScorer,
    manifest: Manifest,
}

const SAMPLE_METRICS: [&str; 5] = ["ex-spider", "ex-bird", "ex", "soft-f1", "vm-steps"];

impl Sample {
    fn load(databases: &Path) -> Self {
        for db_id in ["bike_rental", "town_library"] {
            let ddl = std::fs::read_to_string(sample().join(format!("databases/{db_id}.sql"))).unwrap();
            build(databases, db_id, &ddl);
        }
        let gold = sample().join("questions.json");
        let source = BenchmarkSource { gold: gold.clone(), ..BenchmarkSource::default() };
        let benchmark = load_benchmark(&source).unwrap();
        let predictions = |name: &&str| {
            let path = sample().join(format!("predictions/{name}.jsonl"));
            load_predictions(name, &path, &benchmark, &PredictionOptions::default()).unwrap()
        };
        let systems: Vec<_> = ["baseline", "careful", "chatty"].iter().map(predictions).collect();
        let tables = load_tables(&sample().join("tables.json")).unwrap();
        let limits = Limits { timeout: std::time::Duration::from_millis(500), ..Limits::default() };
        let engine: Arc<dyn Engine> = Arc::new(SqliteEngine::new(limits));
        let located = Databases::open(databases).unwrap();
        let used = UsedDatabases::locate(&located, &benchmark.examples, false).unwrap();
        let targets = used.open(engine.as_ref(), Some(&tables)).unwrap();
        let mut files = vec![("gold".to_owned(), gold)];
        files.extend(used.files());
        let metrics = metrics(&SAMPLE_METRICS);
        let manifest = Manifest {
            engine: engine.name_and_version(),
            metrics: metrics.iter().map(|m| m.id().to_owned()).collect(),
            systems: systems.iter().map(|s| s.system.clone()).collect(),
            inputs: digest_inputs(&files).unwrap(),
            examples: benchmark.examples.len(),
            ..Manifest::default()
        };
        let scorer = BenchmarkScorer::new(engine, metrics, targets);
        Self { benchmark, systems, scorer, manifest }
    }

    fn run(&self, out: &Path, jobs: usize) -> (Vec<u8>, Summary) {
        let plan = Plan::new(&self.benchmark.examples, &self.systems).unwrap();
        let directory = RunDirectory::create(out, &self.manifest, Start::Continue).unwrap();
        let cancel = AtomicBool::new(false);
        let schedule = Schedule { jobs, ..Schedule::new(&cancel) };
        assert!(execute(&directory, &plan, &self.scorer, &schedule, &()).unwrap().is_complete());
        let mut builder = SummaryBuilder::new(&self.manifest);
        StoredRun::read(out).unwrap().items.iter().for_each(|item| builder.add(item));
        let summary = builder.finish();
        directory.write_summary(&summary).unwrap();
        (std::fs::read(directory.items_path()).unwrap(), summary)
    }
}

#[test]
fn the_sample_benchmark_shows_every_kind_of_outcome() {
    let folder = tempfile::tempdir().unwrap();
    let sample = Sample::load(&folder.path().join("databases"));
    let (one, summary) = sample.run(&folder.path().join("one"), 1);
    let (three, _) = sample.run(&folder.path().join("three"), 3);
    assert!(one == three, "the log depends on the number of jobs");
    assert_eq!(StoredRun::read(&folder.path().join("one")).unwrap().summary, Some(summary.clone()));

    let by_name: BTreeMap<&str, _> = summary.systems.iter().map(|s| (s.system.as_str(), s)).collect();
    for system in by_name.values() {
        assert_eq!((system.counts.gold_failed, system.statuses.get("internal_error")), (0, None));
    }
    let ex = |name: &str| by_name[name].scores["ex@1"].mean.unwrap();
    assert!(ex("careful") > ex("baseline") && ex("baseline") > ex("chatty") && ex("chatty") > 0.0);
    let statuses: Vec<&str> = by_name["chatty"].statuses.keys().map(String::as_str).collect();
    for status in ["ok", "syntax_error", "no_such_table", "no_such_column", "ambiguous_column", "denied"] {
        assert!(statuses.contains(&status), "{status} is not among {statuses:?}");
    }
    for status in ["missing", "empty", "multiple_statements", "timeout", "no_such_function"] {
        assert!(statuses.contains(&status), "{status} is not among {statuses:?}");
    }
    let difficulties = &by_name["careful"].breakdown["difficulty"];
    assert_eq!(difficulties.keys().collect::<Vec<_>>(), ["challenging", "moderate", "simple"]);
}
