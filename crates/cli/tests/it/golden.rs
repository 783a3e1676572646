//! `init` and `run`: from an empty folder to a gate, and what an application may do wrong.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::Output;
use std::time::{Duration, Instant};

use assert_cmd::Command;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::common::{json_lines, stderr, stdout};

/// A folder with `shop.sqlite` and ten questions about it, and a home for what is trusted.
struct Project {
    folder: TempDir,
    home: TempDir,
}

/// Answers from a table `ID SQL` in the file answers.
const ASK: &str = "#!/bin/sh\nread -r question\ngrep \"^$SQLGAUGE_ID \" answers | cut -d' ' -f2-\n";

fn gold(number: usize) -> String {
    format!("SELECT name FROM item WHERE id = {number}")
}

impl Project {
    fn new() -> Self {
        let project = Self { folder: tempfile::tempdir().unwrap(), home: tempfile::tempdir().unwrap() };
        let connection = rusqlite::Connection::open(project.path("shop.sqlite")).unwrap();
        let rows: Vec<String> = (1..=10).map(|number| format!("({number}, 'thing {number}')")).collect();
        let script = format!(
            "CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT); CREATE TABLE \"order\" (id INTEGER, day TEXT);
             INSERT INTO item VALUES {};",
            rows.join(", ")
        );
        connection.execute_batch(&script).unwrap();
        let question = |number: usize| json!({"id": format!("q{number}"), "question": format!("What is thing {number}?"), "gold": gold(number)});
        let lines = (1..=10).map(|number| question(number).to_string() + "\n").collect::<Vec<_>>().concat();
        project.write("questions.jsonl", &lines);
        project.script("ask.sh", ASK);
        project.answers(10);
        project
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    fn script(&self, name: &str, text: &str) {
        self.write(name, text);
        fs::set_permissions(self.path(name), fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// Answers of the application, the first `right` of them right.
    fn answers(&self, right: usize) {
        let answer =
            |number: usize| if number <= right { gold(number) } else { "SELECT id FROM item".to_owned() };
        let lines =
            (1..=10).map(|number| format!("q{number} {}\n", answer(number))).collect::<Vec<_>>().concat();
        self.write("answers", &lines);
    }

    fn sqlgauge(&self, words: &[&str]) -> Output {
        self.sqlgauge_with(words, &[])
    }

    /// The same with variables of the environment.
    fn sqlgauge_with(&self, words: &[&str], variables: &[(&str, &str)]) -> Output {
        let mut command = Command::cargo_bin("sqlgauge").unwrap();
        command
            .envs(variables.iter().copied())
            .args(words)
            .current_dir(self.folder.path())
            .env("HOME", self.home.path());
        command.env_remove("XDG_DATA_HOME").env_remove("XDG_CONFIG_HOME").output().unwrap()
    }

    fn init(&self) {
        let output = self.sqlgauge(&["init", "--db", "shop.sqlite", "--ask", "./ask.sh"]);
        assert!(output.status.success(), "{}", stderr(&output));
    }

    /// `run` with a command of its own, and few questions at a time.
    fn ask(&self, command: &str, further: &[&str]) -> Output {
        let fixed = [
            "run",
            "--questions",
            "questions.jsonl",
            "--db",
            "shop.sqlite",
            "--ask",
            command,
            "--metrics",
            "ex",
        ];
        self.sqlgauge(&[&fixed, further].concat())
    }

    fn lines(&self, name: &str) -> Vec<Value> {
        json_lines(&self.path(name))
    }
}

#[test]
fn two_commands_lead_to_a_green_gate_and_a_loss_to_a_red_one() {
    let project = Project::new();
    project.init();
    assert!(project.path(".github/workflows/sqlgauge.yml").is_file());
    let first = project.sqlgauge(&["run", "--out", "runs/first"]);
    assert_eq!(first.status.code(), Some(0), "{}", stderr(&first));
    assert!(
        stdout(&first).contains("100.0") && stdout(&first).contains("nothing to compare with"),
        "{}",
        stdout(&first)
    );
    let answers = project.lines("runs/first/answers.jsonl");
    assert_eq!((answers.len(), &answers[9]["answer"]), (10, &format!("{}\n", gold(10)).into()));

    project.answers(2);
    for name in ["runs/second", "runs/third"] {
        // The second fell below the bars, so the third is compared with the first too.
        let worse = project.sqlgauge(&["run", "--out", name]);
        assert_eq!(worse.status.code(), Some(1), "{}", stderr(&worse));
        assert!(stdout(&worse).contains("Compared with runs/first"), "{}", stdout(&worse));
        assert!(stderr(&worse).contains("ex@1 is lower by 80.0 points"), "{}", stderr(&worse));
    }
    let accepted = project.sqlgauge(&["run", "--max-regression", "90", "--json"]);
    assert_eq!(accepted.status.code(), Some(0), "{}", stderr(&accepted));
    let accepted: Value = serde_json::from_slice(&accepted.stdout).unwrap();
    assert_eq!((&accepted["compared_with"], &accepted["questions"]), (&"runs/first".into(), &10.into()));
    let next = project.sqlgauge(&["run"]);
    assert_eq!(next.status.code(), Some(0), "{}", stderr(&next));
    assert!(stdout(&next).contains(accepted["out"].as_str().unwrap()), "{}", stdout(&next));
}

#[test]
fn a_bar_is_checked_and_the_answers_are_scored_again_without_asking() {
    let project = Project::new();
    project.answers(7);
    let bar = ["--out", "kept", "--fail-under", "ex=0.8"];
    let below = project.ask("./ask.sh", &bar);
    assert_eq!(below.status.code(), Some(1), "{}", stderr(&below));
    assert!(stderr(&below).contains("below the bar"), "{}", stderr(&below));
    let again = project.ask("/no/such/program", &["--out", "kept", "--fail-under", "ex=0.7"]);
    assert_eq!(again.status.code(), Some(0), "{}", stderr(&again));
    // Nothing is asked where a bar cannot be checked.
    let unknown = project.ask("./ask.sh", &["--out", "none", "--fail-under", "esm=0.7"]);
    assert_eq!(
        (unknown.status.code(), project.path("none").exists()),
        (Some(2), false),
        "{}",
        stderr(&unknown)
    );
}

#[test]
fn questions_to_begin_with_are_made_of_the_schema() {
    let project = Project::new();
    fs::remove_file(project.path("questions.jsonl")).unwrap();
    project.init();
    let items = project.lines("questions.jsonl");
    let golds: Vec<&str> = items.iter().map(|item| item["gold"].as_str().unwrap()).collect();
    let third = "SELECT COUNT(DISTINCT id) FROM item";
    assert_eq!(golds, ["SELECT COUNT(*) FROM item", "SELECT COUNT(*) FROM \"order\"", third]);
    assert!(items.iter().all(|item| item["todo"].as_str().unwrap().contains("made of the schema")));
    project.script("ask.sh", &format!("#!/bin/sh\necho '```sql'\necho \"{third};\"\necho '```'\n"));
    let run = project.sqlgauge(&["run", "--out", "first", "--json"]);
    assert_eq!(run.status.code(), Some(0), "{}", stderr(&run));
    let run: Value = serde_json::from_slice(&run.stdout).unwrap();
    assert_eq!(run["summary"]["golds"]["failed"], 0);
    // The number of rows is the number of ids.
    assert!(
        (run["summary"]["systems"][0]["scores"]["ex@1"]["mean"].as_f64().unwrap() - 2.0 / 3.0).abs() < 1e-9
    );
}

#[test]
fn init_writes_over_nothing_and_names_what_is_missing() {
    let project = Project::new();
    for (words, part) in [
        (vec!["init", "--ask", "./ask.sh"], "--db is missing"),
        (vec!["init", "--db", "shop.sqlite"], "--ask or --ask-url is missing"),
        (vec!["init", "--db", "none.sqlite", "--ask", "./ask.sh"], "none.sqlite"),
        (vec!["init", "--db", "shop.sqlite", "--ask", "x", "--questions", "none.json"], "none.json"),
    ] {
        let output = project.sqlgauge(&words);
        assert_eq!(output.status.code(), Some(2), "{words:?}");
        assert!(stderr(&output).contains(part), "{words:?}: {}", stderr(&output));
        assert!(!project.path("sqlgauge.toml").exists(), "{words:?}");
    }
    let before = fs::read(project.path("questions.jsonl")).unwrap();
    fs::create_dir_all(project.path(".github/workflows")).unwrap();
    project.write(".github/workflows/sqlgauge.yml", "mine");
    project.init();
    assert_eq!(fs::read(project.path("questions.jsonl")).unwrap(), before);
    assert_eq!(fs::read_to_string(project.path(".github/workflows/sqlgauge.yml")).unwrap(), "mine");
    let config = fs::read(project.path("sqlgauge.toml")).unwrap();
    let again = project.sqlgauge(&["init", "--db", "shop.sqlite", "--ask", "other"]);
    assert_eq!(again.status.code(), Some(2));
    assert!(stderr(&again).contains("sqlgauge.toml is there"), "{}", stderr(&again));
    assert_eq!(fs::read(project.path("sqlgauge.toml")).unwrap(), config);
}

#[test]
fn a_strangers_command_starts_only_once_it_is_trusted() {
    let project = Project::new();
    project.script("ask.sh", "#!/bin/sh\ntouch ran\necho 'SELECT 1'\n");
    let config = "[run]\nquestions = 'questions.jsonl'\ndb = 'shop.sqlite'\nask = './ask.sh'\n";
    project.write("sqlgauge.toml", config);
    let refused = project.sqlgauge(&["run"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(stderr(&refused).contains("sqlgauge trust sqlgauge.toml"), "{}", stderr(&refused));
    assert!(!project.path("ran").exists() && !project.path("runs").exists());
    assert!(project.sqlgauge(&["trust"]).status.success());
    assert_eq!(project.sqlgauge(&["run"]).status.code(), Some(0));
    assert!(project.path("ran").exists());
}

#[test]
fn a_program_without_a_slash_is_not_taken_from_the_folder() {
    let project = Project::new();
    project.script("ask", "#!/bin/sh\ntouch ran\necho 'SELECT 1'\n");
    let output = project.ask("ask --now", &[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("write ./ask"), "{}", stderr(&output));
    assert!(!project.path("ran").exists() && !project.path("runs").exists());
}

/// One of ten questions goes wrong in each way; the others are answered.
#[test]
fn what_goes_wrong_with_a_question_is_its_outcome() {
    for (way, part) in [
        ("sleep 600", "no answer within 3 s"),
        ("sleep 600 & sleep 600 & wait", "no answer within 3 s"),
        ("echo first >&2; echo 'KeyError: x' >&2; exit 3", "exit code 3: KeyError: x"),
        ("kill -9 $$", "ended by a signal"),
        ("head -c 100000000 /dev/zero | tr '\\0' x", "printed more than 1024 KiB"),
        ("head -c 100000000 /dev/zero >&2; exit 1", "exit code 1"),
        ("true", "the answer is empty"),
        ("printf '\\377'", "not UTF-8"),
        ("echo '{\"query\": \"SELECT 1\"}'", "name one with --answer-path"),
    ] {
        let project = Project::new();
        project.script(
            "ask.sh",
            &ASK.replace("read -r", &format!("[ $SQLGAUGE_ID = q4 ] && {{ {way}; exit; }}\nread -r")),
        );
        let begun = Instant::now();
        let output = project.ask("./ask.sh", &["--timeout", "3", "--out", "run"]);
        assert!(begun.elapsed() < Duration::from_secs(30), "{way}");
        assert_eq!(output.status.code(), Some(0), "{way}: {}", stderr(&output));
        let expected = format!("1 of 10 questions has no answer; the first, q4: {part}");
        let (start, _) = expected.split_once(part).unwrap();
        assert!(
            stderr(&output).contains(start) && stderr(&output).contains(part),
            "{way}: {}",
            stderr(&output)
        );
        let answers = project.lines("run/answers.jsonl");
        assert!(
            answers[3]["answer"].is_null() && answers[3]["error"].as_str().unwrap().contains(part),
            "{way}"
        );
        assert_eq!(answers.iter().filter(|answer| answer["answer"].is_string()).count(), 9, "{way}");
        assert_eq!(fs::read_to_string(project.path("run/items.jsonl")).unwrap().lines().count(), 10);
    }
}

#[test]
fn no_answer_at_all_is_an_error_that_leaves_nothing() {
    let project = Project::new();
    for (command, part) in [
        ("./ask.sh --broken 'x'", "no question got an answer; the first: ended with exit code 7"),
        ("./ask.sh | tail", "without a shell"),
        ("./none.sh", "there is no program ./none.sh"),
    ] {
        project.script("ask.sh", "#!/bin/sh\nexit 7\n");
        let output = project.ask(command, &["--out", "run"]);
        assert_eq!(output.status.code(), Some(2), "{command}: {}", stderr(&output));
        assert!(stderr(&output).contains(part), "{command}: {}", stderr(&output));
        assert!(!project.path("run").exists(), "{command}");
    }
}

#[test]
fn json_answers_are_read_at_their_path() {
    let project = Project::new();
    let answer = r#"{"sql": "SELECT 0", "data": [{"text": "SELECT name FROM item WHERE id = 1"}]}"#;
    project.script("ask.sh", &format!("#!/bin/sh\necho '{answer}'\n"));
    for (further, sql) in
        [(&["--out", "a"][..], "SELECT 0"), (&["--out", "b", "--answer-path", "data.0.text"][..], &gold(1))]
    {
        let output = project.ask("./ask.sh", further);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        let answers = project.lines(&format!("{}/answers.jsonl", further[1]));
        assert!(answers.iter().all(|answer| answer["answer"] == sql), "{answers:?}");
    }
}

#[test]
fn an_interrupted_run_keeps_its_answers_and_goes_on() {
    let project = Project::new();
    let slow = ASK.replace(
        "read -r",
        "echo $SQLGAUGE_ID >> asked\n[ $SQLGAUGE_ID = q3 ] && [ ! -e go ] && exec sleep 600\nread -r",
    );
    project.script("ask.sh", &slow);
    let words = [
        "run",
        "--questions",
        "questions.jsonl",
        "--db",
        "shop.sqlite",
        "--ask",
        "./ask.sh",
        "--jobs",
        "1",
        "--out",
        "run",
    ];
    let program = assert_cmd::cargo::cargo_bin("sqlgauge");
    let mut child =
        std::process::Command::new(program).args(words).current_dir(project.folder.path()).spawn().unwrap();
    let asked = || fs::read_to_string(project.path("asked")).unwrap_or_default();
    while !asked().contains("q3") {
        std::thread::sleep(Duration::from_millis(10));
    }
    let interrupt = format!("kill -INT {}", child.id());
    assert!(std::process::Command::new("sh").args(["-c", &interrupt]).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let kept = project.lines("run/answers.jsonl");
    assert_eq!(kept.iter().map(|answer| answer["id"].as_str().unwrap()).collect::<Vec<_>>(), ["q1", "q2"]);
    project.write("go", "");
    let output = project.sqlgauge(&words);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(asked().lines().collect::<Vec<_>>()[..4], ["q1", "q2", "q3", "q3"]);
    assert_eq!(asked().lines().count(), 11);
}

/// The address gets the question as JSON; what it says is the answer.
#[cfg(feature = "services")]
#[test]
fn an_address_is_asked_as_a_command_is() {
    use crate::server::{Reply, Server};
    let project = Project::new();
    let server = Server::start(|seen| match seen.body["id"].as_str().unwrap() {
        "q1" => Reply::json(200, &json!({"sql": gold(1)})),
        "q2" => Reply::Full(200, Vec::new(), gold(2).into_bytes()),
        _ => Reply::error(500, "no idea"),
    });
    let url = format!("{}/ask", server.url());
    let fixed =
        ["run", "--questions", "questions.jsonl", "--db", "shop.sqlite", "--metrics", "ex", "--out", "run"];
    let output = project.sqlgauge(&[&fixed[..], &["--ask-url", &url]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(
        stderr(&output).contains("8 of 10 questions have no answer") && stderr(&output).contains("no idea")
    );
    let seen = server.seen();
    assert_eq!(seen.len(), 10);
    assert!(seen.iter().all(|seen| seen.body["db_id"] == "shop" && seen.line.contains("/v1/ask")));
    let right = crate::common::items(&project.path("run"));
    assert_eq!(right.iter().filter(|item| item["metrics"]["ex@1"] == 1.0).count(), 2);
}

/// The key is in the environment, and goes to the address alone.
#[cfg(feature = "services")]
#[test]
fn a_key_goes_to_the_address_and_into_no_file() {
    use crate::server::{Reply, Server};
    const KEY: &str = "sk-0123456789abcdef";
    let project = Project::new();
    let server = Server::start(|_| Reply::Full(200, Vec::new(), format!("SELECT '{KEY}'").into_bytes()));
    let url = format!("{}/ask", server.url());
    let init = ["init", "--db", "shop.sqlite", "--ask-url", &url, "--ask-key-env", "APP_KEY"];
    assert!(project.sqlgauge(&init).status.success());
    assert!(fs::read_to_string(project.path("sqlgauge.toml")).unwrap().contains("ask-key-env = \"APP_KEY\""));
    let workflow = fs::read_to_string(project.path(".github/workflows/sqlgauge.yml")).unwrap();
    assert!(workflow.contains("env: {APP_KEY: \"${{ secrets.APP_KEY }}\"}"), "{workflow}");

    let output = project.sqlgauge(&["run"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("APP_KEY of --ask-key-env is not set"), "{}", stderr(&output));
    let output = project.sqlgauge_with(&["run", "--out", "run"], &[("APP_KEY", KEY)]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let bearer = format!("Bearer {KEY}");
    assert!(server.seen().iter().all(|seen| seen.header("authorization") == Some(bearer.as_str())));
    for (name, bytes) in crate::common::tree(&project.path("run")) {
        assert!(!String::from_utf8_lossy(&bytes).contains(KEY), "{}", name.display());
    }
}

#[test]
fn an_application_that_is_right_is_no_file_of_golds() {
    let project = Project::new();
    let output = project.ask("./ask.sh", &["--out", "run"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(!stderr(&output).contains("the golds' own texts"), "{}", stderr(&output));
}
