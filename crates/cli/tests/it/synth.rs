//! `sqlgauge synth` from end to end: killed at any moment and begun again, it comes to the same bytes.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use crate::common::{assert_same, next_state, sqlgauge, stderr, tree};
use rusqlite::Connection;

/// Databases, so that there are many moments between two of them.
const DATABASES: usize = 8;
const SCRIPT: &str = "
    CREATE TABLE artist (artist_id INTEGER PRIMARY KEY, name TEXT, country TEXT, age INTEGER);
    CREATE TABLE album (album_id INTEGER PRIMARY KEY, title TEXT, artist_id INTEGER REFERENCES artist(artist_id), price REAL, sold INTEGER);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 30)
    INSERT INTO artist SELECT i, 'Artist ' || char(64 + i), CASE i % 3 WHEN 0 THEN 'Chile' WHEN 1 THEN 'Ghana' END, 20 + i FROM n;
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 90)
    INSERT INTO album SELECT i, 'Album ' || i, 1 + i % 30, i * 1.5, i * 37 % 400 FROM n;
";

/// A folder whose folder `in` has one database.
fn one_database() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("in")).unwrap();
    Connection::open(folder.path().join("in/music.sqlite")).unwrap().execute_batch(SCRIPT).unwrap();
    folder
}

fn words(folder: &Path, out: &str) -> Vec<String> {
    let format = if cfg!(feature = "parquet") { "both" } else { "jsonl" };
    let (db, out) = (folder.join("in"), folder.join(out));
    let further =
        ["--count", "800", "--seed", "7", "--jobs", "2", "--variants", "0.2", "--quiet", "--format", format];
    let paths = ["synth".to_owned(), "--db".to_owned(), db.display().to_string(), "--out".to_owned()];
    paths.into_iter().chain([out.display().to_string()]).chain(further.map(str::to_owned)).collect()
}

#[test]
#[ignore = "long: cargo xtask long"]
fn killed_at_any_moment_it_goes_on_to_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("in");
    std::fs::create_dir(&input).unwrap();
    for number in 0..DATABASES {
        let path = input.join(format!("music_{number}.sqlite"));
        Connection::open(path).unwrap().execute_batch(SCRIPT).unwrap();
    }
    let started = Instant::now();
    let output = sqlgauge(&words(folder.path(), "unbroken"));
    assert!(output.status.success(), "{}", stderr(&output));
    let whole = started.elapsed();
    let wanted = tree(&folder.path().join("unbroken"));

    let mut state: u64 = 20_261_122;
    let mut killed = 0;
    for _ in 0..12 {
        state = next_state(state);
        let share = f64::from(u32::try_from(state >> 40).unwrap()) / f64::from(1 << 24);
        let mut child = Command::new(env!("CARGO_BIN_EXE_sqlgauge"))
            .args(words(folder.path(), "out"))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(whole.mul_f64(share * 0.12));
        child.kill().unwrap();
        killed += usize::from(!child.wait().unwrap().success());
    }
    assert!(killed > 1, "{killed} kills hit it");
    let output = sqlgauge(&words(folder.path(), "out"));
    assert!(output.status.success(), "{}", stderr(&output));
    assert_same(&tree(&folder.path().join("out")), &wanted, "begun again");
}

#[test]
#[ignore = "long: cargo xtask long"]
fn killed_while_it_puts_things_in_place_it_goes_on() {
    let folder = one_database();
    let output = sqlgauge(&words(folder.path(), "out"));
    assert!(output.status.success(), "{}", stderr(&output));
    let out = folder.path().join("out");
    let wanted = tree(&out);
    // As it is left behind while the card is written, and while the units are taken away.
    std::fs::write(out.join("README.md.1.sqlgauge-partial"), "half").unwrap();
    std::fs::create_dir(out.join("units")).unwrap();
    std::fs::write(out.join("units/music.json"), "{}").unwrap();
    let output = sqlgauge(&words(folder.path(), "out"));
    assert!(output.status.success(), "{}", stderr(&output));
    std::fs::remove_file(out.join("README.md.1.sqlgauge-partial")).unwrap();
    assert_eq!(tree(&out), wanted);
}

#[test]
#[ignore = "long: cargo xtask long"]
fn later_schemas_are_databases_too() {
    let folder = one_database();
    let further = ["--schema-versions", "3"].map(str::to_owned);
    let corpus = |out: &str| {
        let words: Vec<String> = words(folder.path(), out).into_iter().chain(further.clone()).collect();
        let output = sqlgauge(&words);
        assert!(output.status.success(), "{}", stderr(&output));
        tree(&folder.path().join(out))
    };
    let files = corpus("out");
    assert!(files == corpus("again"), "the same again is not the same");
    assert!(files == corpus("out"), "the same command after it finished changes the corpus");
    let records = std::fs::read_to_string(folder.path().join("out/schemas.jsonl")).unwrap();
    let records: Vec<serde_json::Value> =
        records.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(!records.is_empty() && records.len() <= 3, "{records:?}");
    let pairs = std::fs::read_to_string(folder.path().join("out/data/train-00000-of-00001.jsonl")).unwrap();
    for record in &records {
        let db_id = record["db_id"].as_str().unwrap();
        assert!(db_id.starts_with("music__") && record["of"] == "music" && !record["changes"][0].is_null());
        assert!(files.contains_key(Path::new(&format!("databases/{db_id}/{db_id}.sqlite"))), "{db_id}");
        assert!(pairs.contains(&format!("\"db_id\":\"{db_id}\"")), "no pair of {db_id}");
    }
}

#[cfg(feature = "services")]
mod in_a_models_words {
    use std::collections::HashMap;
    use std::path::PathBuf;
    use std::sync::Mutex;

    use serde_json::Value;

    use super::*;
    use crate::server::{Reply, SeenRequest, Server};

    /// A model that repeats the question, and knows the SQL of every second one.
    fn model() -> impl Fn(&SeenRequest) -> Reply + Send + Sync + 'static {
        let queries: Mutex<HashMap<String, String>> = Mutex::default();
        move |seen| {
            let prompt = seen.prompt();
            let Some(task) = prompt.split("the query below it:\n").nth(1) else {
                let question = prompt.split("-- Question: ").nth(1).unwrap();
                let sql: String = queries.lock().unwrap()[question].clone();
                let answer =
                    if sql.len().is_multiple_of(2) { sql.as_str() } else { "SELECT 'I do not know'" };
                return Reply::chat(answer, 50, 20);
            };
            let mut lines = task.lines();
            let (question, sql) = (lines.next().unwrap(), lines.next().unwrap());
            let wording = format!("Please, {question}");
            queries.lock().unwrap().insert(wording.clone(), sql.to_owned());
            Reply::chat(&wording, 50, 20)
        }
    }

    fn words(folder: &Path, server: &Server, out: &str, cache: &str) -> Vec<String> {
        let (db, out, cache) = (folder.join("in"), folder.join(out), folder.join(cache));
        let paths = [("--db", db), ("--out", out), ("--llm-cache", cache)];
        let paths =
            paths.map(|(option, path): (&str, PathBuf)| [option.to_owned(), path.display().to_string()]);
        let url = server.url();
        let further = [
            "--count",
            "60",
            "--polish",
            "0.5",
            "--llm-model",
            "m",
            "--llm-attempts",
            "1",
            "--llm-url",
            &url,
        ];
        ["synth".to_owned()]
            .into_iter()
            .chain(paths.into_iter().flatten())
            .chain(further.map(str::to_owned))
            .collect()
    }

    fn input(folder: &Path) {
        std::fs::create_dir(folder.join("in")).unwrap();
        Connection::open(folder.join("in/music.sqlite")).unwrap().execute_batch(SCRIPT).unwrap();
    }

    #[test]
    fn they_are_asked_for_once_and_marked_where_its_sql_agrees() {
        let folder = tempfile::tempdir().unwrap();
        input(folder.path());
        let server = Server::start(model());
        let output = sqlgauge(&words(folder.path(), &server, "out", "kept"));
        assert!(output.status.success(), "{}", stderr(&output));
        let text =
            std::fs::read_to_string(folder.path().join("out/data/train-00000-of-00001.jsonl")).unwrap();
        let pairs: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let polished: Vec<&Value> = pairs.iter().filter(|pair| !pair["polished"].is_null()).collect();
        assert!(polished.len() > 10 && polished.len() < 50, "{}", polished.len());
        for pair in &polished {
            let (question, sql) = (pair["question"].as_str().unwrap(), pair["sql"].as_str().unwrap());
            assert_eq!(pair["polished"]["question"], format!("Please, {question}"));
            assert_eq!(pair["polished"]["agrees"], sql.len().is_multiple_of(2), "{sql}");
        }
        assert_eq!(server.count(), 2 * polished.len());
        // Another folder of the same answers: no server is needed.
        let again = words(folder.path(), &server, "again", "kept");
        drop(server);
        let output = sqlgauge(&again);
        assert!(output.status.success(), "{}", stderr(&output));
        assert!(tree(&folder.path().join("again")) == tree(&folder.path().join("out")));
    }

    #[test]
    fn without_an_answer_it_ends_and_says_how_to_go_on() {
        let folder = tempfile::tempdir().unwrap();
        input(folder.path());
        let server = Server::start(|_| Reply::error(401, "no"));
        let output = sqlgauge(&words(folder.path(), &server, "out", "kept"));
        assert_eq!(output.status.code(), Some(2));
        for part in ["--polish has no answer", "the answers so far are kept in", "running it again goes on"] {
            assert!(stderr(&output).contains(part), "{}", stderr(&output));
        }
        assert!(!folder.path().join("out/data").exists());
    }
}
