//! A label is never lost, and counts only for the answer that was shown.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use super::*;

/// Where the process of [`a_server_for_another_process`] finds its folder, and whose labels it takes.
const FOLDER: &str = "SQLGAUGE_TEST_FOLDER";

/// Not a test of its own: the tests below start it as a second process.
#[test]
fn a_server_for_another_process() {
    let Some(folder) = std::env::var_os(FOLDER).map(PathBuf::from) else { return };
    let options = ViewOptions {
        folders: vec![folder.join("runs")],
        labels: folder.join("labels"),
        labeller: "somebody".to_owned(),
        ..ViewOptions::default()
    };
    serve(options, |address| println!("\nlistens at {address}"), std::future::pending()).unwrap();
}

/// A server in a process of its own.
struct Process(Child);

impl Process {
    fn start(folder: &Folder) -> (Self, Asker) {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["dashboard::labels::a_server_for_another_process", "--exact", "--nocapture"])
            .env(FOLDER, folder.folder.path())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let address = lines
            .find_map(|line| line.unwrap().strip_prefix("listens at http://").map(str::to_owned))
            .unwrap();
        let (host, token) = address.split_once("/?token=").unwrap();
        let (stop, _) = tokio::sync::oneshot::channel();
        (Self(child), Asker { host: host.to_owned(), token: token.to_owned(), _stop: stop })
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

/// A label of a system of the run `good`.
fn body_of(folder: &Folder, run: &str, system: &str, id: &str, verdict: &str) -> Value {
    let digest = folder.digest_of("good", system, id);
    json!({"run": run, "system": system, "id": id, "verdict": verdict, "shown": digest})
}

fn body(folder: &Folder, run: &str, id: &str, verdict: &str) -> Value {
    body_of(folder, run, "careful", id, verdict)
}

fn ids(folder: &Folder) -> Vec<String> {
    let questions = std::fs::read(&folder.sample.questions).unwrap();
    let questions: Vec<Value> = serde_json::from_slice(&questions).unwrap();
    questions.iter().map(|question| question["id"].as_str().unwrap().to_owned()).collect()
}

fn file_of(folder: &Folder, run: &str) -> PathBuf {
    folder.path("labels").join("somebody").join(run).join("careful.jsonl")
}

fn lines(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Two servers of one person write into one file at the same time.
#[test]
fn two_processes_keep_all_labels() {
    let folder = Folder::new();
    let servers = [Process::start(&folder), Process::start(&folder)];
    let run = servers[0].1.id("good");
    let systems: Vec<String> = folder.sample.predictions.iter().map(|(name, _)| name.clone()).collect();
    let ids = ids(&folder);
    std::thread::scope(|scope| {
        for ((_, asker), ids) in servers.iter().zip(ids[..40].chunks(20)) {
            let (folder, run, systems) = (&folder, &run, &systems);
            scope.spawn(move || {
                for (id, system) in ids.iter().flat_map(|id| systems.iter().map(move |system| (id, system))) {
                    let label = body_of(folder, run, system, id, "right");
                    assert_eq!(asker.post("/api/label", &label).status, 204, "{system} {id}");
                }
            });
        }
    });
    let mut labels = 0;
    for file in std::fs::read_dir(file_of(&folder, &run).parent().unwrap()).unwrap() {
        let rows = lines(&file.unwrap().path());
        let labelled: BTreeSet<&str> = rows.iter().map(|row| row["id"].as_str().unwrap()).collect();
        labels += labelled.len();
    }
    assert_eq!(labels, 120);
}

/// A server is killed at any moment: the labels that it confirmed are there, and the file can be read.
#[test]
fn a_kill_loses_no_confirmed_label() {
    let folder = Folder::new();
    let ids = ids(&folder);
    let mut confirmed = 0;
    let run = Asker::of(folder.options()).id("good");
    for round in 0..3 {
        let (mut process, asker) = Process::start(&folder);
        for id in &ids[round * 13..round * 13 + 10] {
            assert_eq!(asker.post("/api/label", &body(&folder, &run, id, "right")).status, 204);
            confirmed += 1;
        }
        std::thread::scope(|scope| {
            let unconfirmed = body(&folder, &run, &ids[round * 13 + 10], "wrong");
            let request = scope.spawn(move || asker.post("/api/label", &unconfirmed));
            std::thread::sleep(std::time::Duration::from_millis(round as u64));
            process.0.kill().unwrap();
            drop(request.join());
        });
    }
    let rows = lines(&file_of(&folder, &run));
    assert_eq!(rows.iter().filter(|row| row["verdict"] == "right").count(), confirmed);
}

/// What is not read whole is not written over: labels, decisions, and what `audit --allow` reads.
#[test]
fn an_unreadable_line_is_named_and_stays() {
    let folder = Folder::new();
    let audit = "{\"id\":\"1\",\"sql\":\"SELECT 1\",\"findings\":[{\"rule\":\"near-literal\"}]}\n";
    std::fs::write(folder.path("runs/audit.jsonl"), audit).unwrap();
    let asker = Asker::of(folder.options());
    let run = asker.id("good");
    let records: Value = serde_json::from_str(&asker.get("/api/records").body).unwrap();
    let audit = records["audits"][0]["id"].as_str().unwrap();
    let decision = json!({"audit": audit, "id": "1", "rule": "near-literal", "decision": "rejected", "reason": "why", "shown": sha256_of_bytes(b"SELECT 1")});
    let label = body(&folder, &run, "bike-01", "right");
    assert_eq!(asker.post("/api/label", &label).status, 204);
    assert_eq!(asker.post("/api/decide", &decision).status, 204);
    let decisions = folder.path("labels/somebody/audits").join(audit);
    let labels = file_of(&folder, &run);
    for (path, address, request) in [
        (labels.clone(), "/api/label", &label),
        (decisions.join("decisions.jsonl"), "/api/decide", &decision),
        (decisions.join("allowed.jsonl"), "/api/decide", &decision),
    ] {
        let whole = std::fs::read(&path).unwrap();
        for bad in
            [&b"{\"id\": \"\xff\"}\n"[..], b"{\"id\": \"b", b"\0\0\0\0", b"not JSON\n\n", b"\xef\xbb\xbf\n"]
        {
            let bytes = [&whole, bad].concat();
            std::fs::write(&path, &bytes).unwrap();
            let answer = asker.post(address, request);
            assert_eq!(answer.status, 422, "{}", answer.body);
            let name = path.file_name().unwrap().to_str().unwrap();
            assert!(answer.body.contains(&format!("{name}, line 2 cannot be read (")), "{}", answer.body);
            assert_eq!(std::fs::read(&path).unwrap(), bytes, "{}", path.display());
        }
        std::fs::write(&path, &whole).unwrap();
    }
    std::fs::write(&labels, "{}").unwrap();
    assert_eq!(asker.get(&format!("/api/labels?run={run}&system=careful")).status, 422);
    let all: Value = serde_json::from_str(&asker.get("/api/labelled").body).unwrap();
    assert!(all["problems"][0].as_str().unwrap().contains("careful.jsonl, line 1"), "{all}");
}

/// Lines that a change does not concern keep their bytes: fields of other programs, and entries that a person wrote.
#[test]
fn other_lines_keep_their_bytes() {
    let folder = Folder::new();
    let audit = "{\"id\":\"1\",\"sql\":\"SELECT 1\",\"findings\":[{\"rule\":\"near-literal\"}]}\n\
        {\"id\":\"1\",\"sql\":\"SELECT 2\",\"findings\":[{\"rule\":\"near-literal\"}]}\n";
    std::fs::write(folder.path("runs/audit.jsonl"), audit).unwrap();
    let asker = Asker::of(folder.options());
    let run = asker.id("good");
    assert_eq!(asker.post("/api/label", &body(&folder, &run, "bike-01", "right")).status, 204);
    let labels = file_of(&folder, &run);
    let line = std::fs::read_to_string(&labels).unwrap().replacen('{', "{ \"remark\": [1.50],  ", 1);
    std::fs::write(&labels, &line).unwrap();
    assert_eq!(asker.post("/api/label", &body(&folder, &run, "bike-02", "wrong")).status, 204);
    assert!(std::fs::read_to_string(&labels).unwrap().starts_with(&line));

    let records: Value = serde_json::from_str(&asker.get("/api/records").body).unwrap();
    let id = records["audits"][0]["id"].as_str().unwrap();
    let allowed = folder.path("labels/somebody/audits").join(id).join("allowed.jsonl");
    let decide = |gold: &str, decision: Value| {
        let digest = sha256_of_bytes(gold.as_bytes());
        let body = json!({"audit": id, "id": "1", "rule": "near-literal", "decision": decision, "reason": gold, "shown": digest});
        asker.post("/api/decide", &body).status
    };
    assert_eq!(decide("SELECT 1", json!("rejected")), 204);
    let by_hand = "{\"id\": 7, \"rule\": \"clock\",  \"reason\": \"by hand\"}\n";
    std::fs::write(&allowed, by_hand).unwrap();
    // Another gold of the same item, and the entry that was missing.
    assert_eq!(decide("SELECT 2", json!("rejected")), 204);
    assert!(std::fs::read_to_string(&allowed).unwrap().starts_with(by_hand));
    let reasons =
        |path: &Path| -> Vec<Value> { lines(path).into_iter().map(|mut row| row["reason"].take()).collect() };
    assert_eq!(reasons(&allowed), ["by hand", "SELECT 1", "SELECT 2"]);
    assert_eq!(decide("SELECT 1", Value::Null), 204);
    assert_eq!(reasons(&allowed), ["by hand", "SELECT 2"]);
    assert_eq!(decide("SELECT 3", json!("rejected")), 409);
    assert_eq!(reasons(&allowed.with_file_name("decisions.jsonl")), ["SELECT 2"]);
}

/// Another answer is scored at the same path: its label is asked for again.
#[test]
fn a_label_is_of_the_answer_that_was_shown() {
    let folder = Folder::new();
    let asker = Asker::of(folder.options());
    let run = asker.id("good");
    for id in ["bike-01", "bike-02"] {
        assert_eq!(asker.post("/api/label", &body(&folder, &run, id, "right")).status, 204);
    }
    let of_first = body(&folder, &run, "bike-01", "wrong");
    let questions = ids(&folder);
    let answers: String = questions
        .iter()
        .map(|id| {
            let sql = std::iter::repeat_n("SELECT 42 ", if id == "bike-03" { 500 } else { 1 });
            json!({"id": id, "sql": sql.collect::<String>()}).to_string() + "\n"
        })
        .collect();
    let file = folder.path("others.jsonl");
    std::fs::write(&file, answers).unwrap();
    std::fs::remove_dir_all(folder.path("runs/good")).unwrap();
    let mut job = folder.sample.score_job(&["ex"], folder.path("runs/good")).unwrap();
    job.systems = vec![System::new("careful", file.clone())];
    job.run(&Context::default()).unwrap();

    let labels = file_of(&folder, &run);
    let before = std::fs::read(&labels).unwrap();
    let answer = asker.post("/api/label", &of_first);
    assert!(answer.status == 409 && answer.body.contains("has changed"), "{}", answer.body);
    // The log has only the beginning of a long answer.
    assert_eq!(asker.post("/api/label", &body(&folder, &run, "bike-03", "right")).status, 422);
    assert_eq!(std::fs::read(&labels).unwrap(), before);
    let of_system: Value =
        serde_json::from_str(&asker.get(&format!("/api/labels?run={run}&system=careful")).body).unwrap();
    assert_eq!(of_system["bike-01"], json!({"verdict": "right", "current": false}));
    let people = || -> Value {
        let all: Value = serde_json::from_str(&asker.get("/api/labelled").body).unwrap();
        all["systems"][0]["people"][0].clone()
    };
    assert_eq!(people(), json!({"by": "somebody", "right": 0, "wrong": 0, "unsure": 0, "earlier": 2}));
    assert_eq!(asker.post("/api/label", &body(&folder, &run, "bike-01", "wrong")).status, 204);
    assert_eq!(people(), json!({"by": "somebody", "right": 0, "wrong": 1, "unsure": 0, "earlier": 1}));

    let questions = folder.sample.questions.as_path();
    let systems = vec![System::new("careful", file)];
    let job = ImportJob::new(questions, systems, labels, &folder.sample.databases, folder.path("imported"));
    assert_eq!(job.run(&Context::default()).unwrap().labels, [1]);
}
