//! The published files: counts, agreement between files that say the same, and nothing mis-read.
//!
//! The data is looked for in `SQLGAUGE_DATA`, else in `../shared/data` beside the workspace; where it is missing
//! the tests say that they skip, except in CI.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use sqlgauge_dataset::{
    Benchmark, BenchmarkSource, ColumnRole, Columns, Databases, PredictionOptions, PredictionSet,
    extract_sql, load_benchmark, load_predictions, load_tables,
};

pub(crate) fn data() -> Option<PathBuf> {
    let default_folder = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../../shared/data");
    let folder = std::env::var_os("SQLGAUGE_DATA").map_or_else(default_folder, PathBuf::from);
    if folder.is_dir() {
        return Some(folder);
    }
    assert!(std::env::var_os("CI").is_none_or(|ci| ci != "true"), "no real data at {}", folder.display());
    println!("skipped: no real data at {}", folder.display());
    None
}

fn benchmark(data: &Path, gold: &str, questions: Option<&str>) -> Benchmark {
    let source = BenchmarkSource {
        gold: data.join(gold),
        questions: questions.map(|q| data.join(q)),
        ..BenchmarkSource::default()
    };
    load_benchmark(&source).unwrap_or_else(|e| panic!("{gold}: {e}"))
}

/// Every file of a folder, sorted.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

fn predictions(path: &Path, benchmark: &Benchmark) -> PredictionSet {
    load_predictions("S", path, benchmark, &PredictionOptions::default()).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn every_benchmark_has_its_published_size_and_databases() {
    let Some(data) = data() else { return };
    // Gold file, questions, examples, databases, with question, with evidence, with difficulty.
    for (gold, questions, sizes) in [
        ("spider/dev_gold.sql", None, [1034, 20, 0, 0, 0]),
        ("spider/dev_gold.sql", Some("spider/dev.json"), [1034, 20, 1034, 0, 0]),
        ("spider/dev.json", None, [1034, 20, 1034, 0, 0]),
        ("spider/train_gold.sql", None, [8659, 146, 0, 0, 0]),
        ("spider/test_gold.sql", None, [2147, 40, 0, 0, 0]),
        ("spider/variants/spider_dk/Spider-DK.json", None, [535, 10, 535, 0, 0]),
        ("spider/variants/spider_syn_dev.json", None, [1034, 20, 1034, 0, 0]),
        ("spider/variants/spider_syn_train.json", None, [7000, 140, 7000, 0, 0]),
        ("spider/variants/spider_realistic.json", None, [508, 19, 508, 0, 0]),
        ("spider/variants/archer_en_dev.json", None, [104, 2, 104, 0, 0]),
        ("spider/variants/archer_en_train.json", None, [414, 8, 414, 0, 0]),
        ("cosql/gold.txt", None, [1007, 20, 0, 0, 0]),
        ("bird/dev.json", None, [1534, 11, 1534, 1382, 1530]),
        ("bird/dev_gold_etm.sql", Some("bird/dev.json"), [1534, 11, 1534, 1382, 1530]),
        ("bird/llm_nl2sql/questions.json", Some("bird/dev.json"), [1534, 11, 1534, 1386, 1534]),
        ("human/bird_financial_noise/financial.json", None, [106, 1, 106, 80, 106]),
        ("evoschema/rename_columns_bird_dev.json", None, [1533, 11, 1533, 0, 0]),
    ] {
        let examples = benchmark(&data, gold, questions).examples;
        let databases: BTreeSet<&str> = examples.iter().map(|e| e.db_id.as_str()).collect();
        let count = |has: fn(&sqlgauge_dataset::Example) -> bool| examples.iter().filter(|e| has(e)).count();
        let counts = [
            examples.len(),
            databases.len(),
            count(|e| e.question.is_some()),
            count(|e| e.evidence.is_some()),
            count(|e| e.difficulty.is_some()),
        ];
        assert_eq!(counts, sizes, "{gold} {questions:?}");
        assert!(examples.iter().all(|e| e.golds.len() == 1), "{gold}");
        assert!(examples.iter().all(|e| e.turn.is_some() == gold.starts_with("cosql")), "{gold}");
    }
}

#[test]
fn files_that_publish_the_same_golds_are_read_as_the_same() {
    let Some(data) = data() else { return };
    let golds = |name: &str| -> Vec<(String, Vec<String>)> {
        benchmark(&data, name, None).examples.into_iter().map(|e| (e.db_id, e.golds)).collect()
    };
    assert_eq!(golds("spider/dev_gold.sql"), golds("spider/dev.json"));
    let merged = benchmark(&data, "spider/dev_gold.sql", Some("spider/dev.json"));
    assert_eq!(merged.notes, [""; 0]);
    let merged = benchmark(&data, "bird/dev_gold_etm.sql", Some("bird/dev.json"));
    assert_eq!(merged.notes.len(), 1);
    assert!(merged.notes[0].contains("6 golds differ in text"), "{:?}", merged.notes);
}

#[test]
fn cosql_is_read_by_interaction() {
    let Some(data) = data() else { return };
    let benchmark = benchmark(&data, "cosql/gold.txt", None);
    assert_eq!(benchmark.interactions(), 293);
    let mut turns: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for turn in benchmark.examples.iter().filter_map(|e| e.turn) {
        turns.entry(turn.interaction).or_default().push(turn.turn);
    }
    assert!(turns.values().all(|t| t.iter().copied().eq(1..=t.len())));
    // The gold file itself is a file of predictions: by interaction, and each is its own gold.
    let golds = predictions(&data.join("cosql/gold.txt"), &benchmark);
    for (prediction, example) in golds.predictions.iter().zip(&benchmark.examples) {
        assert_eq!(prediction.as_ref().map(|p| &p.sql), example.golds.first());
    }
}

#[test]
fn a_named_column_reads_an_evolved_gold() {
    let Some(data) = data() else { return };
    let mut columns = Columns::default();
    columns.set(ColumnRole::Gold, "new_gold_sql");
    let gold = data.join("evoschema/rename_tables_bird_dev.json");
    let evolved = load_benchmark(&BenchmarkSource { gold, columns, ..BenchmarkSource::default() }).unwrap();
    assert_eq!(evolved.examples.len(), 1534);
    let original = benchmark(&data, "evoschema/rename_tables_bird_dev.json", None);
    assert_ne!(evolved.examples[0].golds, original.examples[0].golds);
}

#[test]
fn every_prediction_file_gives_one_prediction_per_example() {
    let Some(data) = data() else { return };
    // Folder, gold, files, predictions that are blank over all files.
    for (folder, gold, count, blank) in [
        ("spider/predictions/dev", "spider/dev_gold.sql", 56, 0),
        ("spider/predictions/test", "spider/test_gold.sql", 4, 0),
        ("bird/predictions/dev", "bird/dev.json", 28, 68),
        ("bird/predictions/etm", "bird/dev_gold_etm.sql", 3, 0),
        ("bird/llm_nl2sql/predictions", "bird/llm_nl2sql/questions.json", 10, 24),
    ] {
        let benchmark = benchmark(&data, gold, None);
        let files = files(&data.join(folder));
        assert_eq!(files.len(), count, "{folder}");
        let mut blanks = 0;
        for file in files {
            let set = predictions(&file, &benchmark);
            assert_eq!(set.predictions.len(), benchmark.examples.len());
            assert!(set.predictions.iter().all(Option::is_some), "{}", file.display());
            assert_eq!(set.notes, [""; 0], "{}", file.display());
            blanks += set.predictions.iter().flatten().filter(|p| p.sql.trim().is_empty()).count();
        }
        assert_eq!(blanks, blank, "{folder}");
    }
}

#[test]
fn a_prediction_is_the_first_tab_separated_field_of_its_line() {
    let Some(data) = data() else { return };
    let benchmark = benchmark(&data, "spider/dev_gold.sql", None);
    let file = data.join("spider/predictions/dev/nl2sql360_pretrained_codellama_7b.sql");
    let lines = std::fs::read_to_string(&file).unwrap();
    let cut = |line: &str| line.trim().split('\t').next().map(str::to_owned);
    let expected: Vec<Option<String>> = lines.lines().map(cut).collect();
    let answers: Vec<Option<String>> =
        predictions(&file, &benchmark).predictions.into_iter().map(|p| p.map(|p| p.sql)).collect();
    assert_eq!(answers, expected);
    assert_eq!(lines.lines().filter(|line| line.trim().contains('\t')).count(), 18);
}

#[test]
fn tables_give_a_schema_for_every_database_of_their_benchmark() {
    let Some(data) = data() else { return };
    for (tables, gold, databases, columns) in [
        ("spider/tables.json", "spider/dev_gold.sql", 166, 4669 - 166),
        ("spider/tables.json", "spider/train_gold.sql", 166, 4669 - 166),
        ("spider/test_tables.json", "spider/test_gold.sql", 206, 5494 - 206),
        (
            "spider/variants/spider_dk/tables.json",
            "spider/variants/spider_dk/Spider-DK.json",
            169,
            4730 - 169,
        ),
        ("bird/dev_tables.json", "bird/dev.json", 11, 809 - 11),
        ("cosql/tables.json", "cosql/gold.txt", 178, 5191 - 178),
    ] {
        let tables = load_tables(&data.join(tables)).unwrap();
        assert_eq!(tables.entries().len(), databases);
        let width = |entry: &sqlgauge_dataset::TablesEntry| -> usize {
            let schema = entry.schema();
            let keys: usize = schema.tables().iter().map(|t| t.foreign_keys.len()).sum();
            assert_eq!(keys, entry.foreign_keys.len());
            let resolved = schema
                .tables()
                .iter()
                .flat_map(|t| &t.foreign_keys)
                .all(|k| schema.resolve_foreign_key(k).is_some());
            assert!(resolved, "{}", entry.db_id);
            schema.tables().iter().map(|t| t.columns.len()).sum()
        };
        assert_eq!(tables.entries().iter().map(width).sum::<usize>(), columns);
        for example in benchmark(&data, gold, None).examples {
            assert!(tables.get(&example.db_id).is_some(), "{}", example.db_id);
        }
    }
    let bird = load_tables(&data.join("bird/dev_tables.json")).unwrap();
    let composite = bird.entries().iter().flat_map(|e| &e.primary_keys).filter(|key| key.len() > 1).count();
    assert_eq!(composite, 6);
}

#[test]
fn every_spider_dev_database_is_located() {
    let Some(data) = data() else { return };
    let databases = Databases::open(&data.join("spider/database")).unwrap();
    for example in benchmark(&data, "spider/dev_gold.sql", None).examples {
        let location = databases.locate(&example.db_id).unwrap();
        assert!(location.suite.contains(&location.main));
    }
    let message = databases.locate("concert_singers").unwrap_err().to_string();
    assert!(message.contains("concert_singer"), "{message}");
}

#[test]
fn extraction_leaves_clean_sql_alone() {
    let Some(data) = data() else { return };
    for gold in [
        "spider/train_gold.sql",
        "spider/dev_gold.sql",
        "spider/test_gold.sql",
        "bird/dev.json",
        "spider/variants/archer_en_train.json",
    ] {
        for example in benchmark(&data, gold, None).examples {
            let extraction = extract_sql(&example.golds[0]);
            assert_eq!(
                extraction.sql,
                example.golds[0].trim().trim_end_matches(';').trim_end(),
                "{gold} {}",
                example.id
            );
            assert_eq!(extraction.removed, [], "{gold} {}", example.id);
        }
    }
}
