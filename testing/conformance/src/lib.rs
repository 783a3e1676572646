//! Real benchmarks and predictions for the conformance suite.
//!
//! The data is not part of the project. It is looked for in the folder that `SQLGAUGE_DATA` names, else in
//! `../shared/data` beside the checkout. Without it a test says that it skipped; with `CI=true` it fails. Some tests take a share of
//! it, and all with `SQLGAUGE_WHOLE=1`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The data folder, or `None` (and a word on standard error) when there is none.
///
/// # Panics
/// In CI, where the data must be there.
pub fn data() -> Option<PathBuf> {
    let sibling = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let root = std::env::var_os("SQLGAUGE_DATA").map_or(sibling, PathBuf::from);
    if root.join("spider/dev_gold.sql").is_file() {
        return Some(root);
    }
    assert!(std::env::var_os("CI").is_none(), "the conformance data must be there in CI: {}", root.display());
    eprintln!("skipped: no conformance data at {}", root.display());
    None
}

/// Of how many items a test takes one: of `share`, but every one with `SQLGAUGE_WHOLE` set.
pub fn one_of(share: usize) -> usize {
    if std::env::var_os("SQLGAUGE_WHOLE").is_some() { 1 } else { share }
}

/// One query with the database that it is for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Statement {
    /// Path of the SQLite file.
    pub database: PathBuf,
    pub sql: String,
    /// Whether it is a gold query.
    pub gold: bool,
}

/// Reads a file, invalid UTF-8 replaced.
///
/// # Panics
/// If it cannot be read.
pub fn read(path: &Path) -> String {
    let bytes = std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The rows of a data file below `research`, as `papers/errors.tsv`: cells by the names of the columns.
///
/// # Panics
/// If it cannot be read, or a row has not as many cells as there are columns.
pub fn measured(file: &str) -> Vec<BTreeMap<String, String>> {
    let text = read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../research").join(file));
    let mut lines = text.lines().map(|line| line.split('\t').map(str::to_owned));
    let columns: Vec<String> = lines.next().into_iter().flatten().collect();
    lines
        .map(|cells| {
            let row: BTreeMap<_, _> = columns.iter().cloned().zip(cells.clone()).collect();
            assert_eq!((row.len(), cells.count()), (columns.len(), columns.len()), "{file}: {row:?}");
            row
        })
        .collect()
}

/// The files of a folder with that extension, sorted.
///
/// # Panics
/// If the folder cannot be read.
pub fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let paths = entries.filter_map(|entry| entry.ok().map(|entry| entry.path()));
    let mut paths: Vec<_> =
        paths.filter(|path| path.extension().is_some_and(|ending| ending == extension)).collect();
    paths.sort();
    paths
}

/// Lines `SQL\tdb_id` of a gold file.
pub fn gold_lines(path: &Path) -> Vec<(String, String)> {
    let text = read(path);
    let pairs = text.lines().filter_map(|line| line.split_once('\t'));
    pairs.map(|(sql, db)| (sql.to_owned(), db.trim().to_owned())).collect()
}

fn sqlite(folder: &Path, db_id: &str) -> PathBuf {
    folder.join(db_id).join(format!("{db_id}.sqlite"))
}

/// Every distinct gold and prediction of Spider dev, Spider train and BIRD superhero whose database is there.
pub fn statements(root: &Path) -> Vec<Statement> {
    let mut all = BTreeSet::new();
    let mut add = |database: PathBuf, sql: &str, gold: bool| {
        if database.is_file() {
            all.insert(Statement { database, sql: sql.to_owned(), gold });
        }
    };
    let spider = root.join("spider");
    let dev = gold_lines(&spider.join("dev_gold.sql"));
    for (sql, db) in &dev {
        add(sqlite(&spider.join("database"), db), sql, true);
    }
    for (sql, db) in gold_lines(&spider.join("train_gold.sql")) {
        add(sqlite(&spider.join("train_database"), &db), &sql, true);
    }
    for path in files(&spider.join("predictions/dev"), "sql") {
        for ((_, db), line) in dev.iter().zip(read(&path).lines()) {
            let sql = line.split('\t').next().unwrap_or_default();
            add(sqlite(&spider.join("database"), db), sql, false);
        }
    }
    let bird = root.join("bird");
    let superhero = sqlite(&bird.join("database"), "superhero");
    let golds: serde_json::Value = serde_json::from_str(&read(&bird.join("dev.json"))).unwrap_or_default();
    let of_superhero = |index: usize| golds[index]["db_id"] == "superhero";
    for gold in golds.as_array().into_iter().flatten().filter(|gold| gold["db_id"] == "superhero") {
        add(superhero.clone(), gold["SQL"].as_str().unwrap_or_default(), true);
    }
    for path in files(&bird.join("predictions/dev"), "json") {
        let predictions: serde_json::Value = serde_json::from_str(&read(&path)).unwrap_or_default();
        for (key, value) in predictions.as_object().into_iter().flatten() {
            if key.parse().is_ok_and(of_superhero)
                && let Some(text) = value.as_str()
            {
                add(superhero.clone(), text.split("\t----- bird -----\t").next().unwrap_or_default(), false);
            }
        }
    }
    all.into_iter().collect()
}
