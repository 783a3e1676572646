//! A small benchmark in a temporary folder, and the binary to run on it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Output;

use assert_cmd::Command;
use tempfile::TempDir;

/// A folder with `gold.sql`, `pred.sql` and `database/shop/shop.sqlite`.
pub(crate) struct Benchmark {
    folder: TempDir,
}

impl Benchmark {
    /// A benchmark of those golds and predictions on a database with one table `item(id, name, price)`.
    pub(crate) fn new(golds: &[&str], predictions: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let benchmark = Self { folder };
        let script = "CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT, price REAL);
            INSERT INTO item VALUES (1, 'pen', 1.5), (2, 'book', 12), (3, 'lamp', NULL);";
        write_database(&benchmark.path("database"), "shop", script);
        let golds = golds.iter().map(|sql| format!("{sql}\tshop\n")).collect::<Vec<_>>().concat();
        std::fs::write(benchmark.path("gold.sql"), golds).unwrap();
        std::fs::write(benchmark.path("pred.sql"), predictions.join("\n") + "\n").unwrap();
        benchmark
    }

    /// A path in the folder.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The arguments of `score` that write the run to `run`.
    pub(crate) fn score(&self) -> Vec<String> {
        let text = |name: &str| self.path(name).display().to_string();
        let named = format!("S={}", text("pred.sql"));
        [
            "score",
            "--gold",
            &text("gold.sql"),
            "--db",
            &text("database"),
            "--pred",
            &named,
            "--out",
            &text("run"),
            "--quiet",
        ]
        .map(str::to_owned)
        .into()
    }
}

/// Writes `DB_ID/DB_ID.sqlite` into a folder of databases.
pub(crate) fn write_database(databases: &Path, db_id: &str, script: &str) {
    let folder = databases.join(db_id);
    std::fs::create_dir_all(&folder).unwrap();
    let connection = rusqlite::Connection::open(folder.join(format!("{db_id}.sqlite"))).unwrap();
    connection.execute_batch(script).unwrap();
}

/// Runs the binary.
pub(crate) fn sqlgauge<S: AsRef<std::ffi::OsStr>>(arguments: &[S]) -> Output {
    Command::cargo_bin("sqlgauge").unwrap().args(arguments).output().unwrap()
}

/// Arguments that are put together.
pub(crate) fn strings(arguments: &[&str]) -> Vec<String> {
    arguments.iter().map(|&argument| argument.to_owned()).collect()
}

/// Standard output as text.
pub(crate) fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Standard error as text.
pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The lines of `items.jsonl` of a run.
pub(crate) fn items(run: &Path) -> Vec<serde_json::Value> {
    json_lines(&run.join("items.jsonl"))
}

/// The values of a file of JSON lines.
pub(crate) fn json_lines(path: &Path) -> Vec<serde_json::Value> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Writes a file of JSON lines.
pub(crate) fn write_json_lines(path: &Path, rows: impl Iterator<Item = serde_json::Value>) {
    std::fs::write(path, rows.map(|row| row.to_string() + "\n").collect::<String>()).unwrap();
}

/// The next state of a linear congruential generator: with a fixed seed the moments of a test differ, and the test does not.
pub(crate) fn next_state(state: u64) -> u64 {
    state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407)
}

/// Whether the files below two folders are the same, as [`tree`] gives them.
pub(crate) fn assert_same(
    files: &BTreeMap<PathBuf, Vec<u8>>,
    wanted: &BTreeMap<PathBuf, Vec<u8>>,
    what: &str,
) {
    assert_eq!(files.keys().collect::<Vec<_>>(), wanted.keys().collect::<Vec<_>>(), "{what}");
    for (name, bytes) in wanted {
        assert!(files[name] == *bytes, "{what}: {} differs", name.display());
    }
}

/// The files below a folder with their bytes, by name, and where its links lead; the lock aside.
pub(crate) fn tree(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut contents = BTreeMap::new();
    let mut open = vec![folder.to_owned()];
    while let Some(place) = open.pop() {
        for entry in std::fs::read_dir(&place).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(folder).unwrap().to_owned();
            if let Ok(target) = std::fs::read_link(&path) {
                contents.insert(name, target.into_os_string().into_encoded_bytes());
            } else if path.is_dir() {
                open.push(path);
            } else if path.extension().is_none_or(|extension| extension != "lock") {
                contents.insert(name, std::fs::read(&path).unwrap());
            }
        }
    }
    contents
}
