//! `sqlgauge predict` against a server on this machine that answers as scripted.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use crate::common::{Benchmark, items, next_state, sqlgauge, stderr};
use crate::server::{Reply, SeenRequest, Server};
use serde_json::{Value, json};

const DDL: &str = "CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT, price REAL);";

/// The question of a request.
fn question(seen: &SeenRequest) -> String {
    seen.prompt().split_once("-- Question: ").unwrap().1.to_owned()
}

/// An answer with a token for each word.
fn says(text: &str, logprob: f64) -> Reply {
    let tokens: Vec<Value> =
        text.split_inclusive(' ').map(|word| json!({"token": word, "logprob": logprob})).collect();
    let message = json!({"role": "assistant", "content": text});
    let choice = json!({"message": message, "finish_reason": "stop", "logprobs": {"content": tokens}});
    let usage = json!({"prompt_tokens": 50, "completion_tokens": 5});
    Reply::json(200, &json!({"model": "served", "choices": [choice], "usage": usage}))
}

/// Questions about two databases in turn; those of the second bring their own schema.
fn world(count: usize) -> Benchmark {
    let world = Benchmark::new(&["SELECT 1"], &["SELECT 1"]);
    let item = |id: usize| {
        let mut item = json!({"id": format!("q{id:03}"), "db_id": "shop", "question": format!("number {id:03}"),
            "query": format!("SELECT {id}")});
        if id % 2 == 1 {
            item["ddl"] = "CREATE TABLE other (a);".into();
        }
        item
    };
    let workload: Vec<Value> = (0..count).map(item).collect();
    std::fs::write(world.path("dev.json"), serde_json::to_vec(&workload).unwrap()).unwrap();
    world
}

fn arguments(world: &Benchmark, server: &Server, further: &[&str]) -> Vec<String> {
    let text = |name: &str| world.path(name).display().to_string();
    let (workload, db, out) = (text("dev.json"), text("database"), text("preds.jsonl"));
    let fixed = ["predict", "--questions", &workload, "--db", &db, "--out", &out, "--llm-model", "m"];
    let url = server.url();
    let all = fixed.into_iter().chain(["--llm-url", &url]).chain(further.iter().copied());
    all.map(str::to_owned).collect()
}

fn lines(world: &Benchmark) -> Vec<Value> {
    let text = std::fs::read_to_string(world.path("preds.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn times_asked(server: &Server) -> HashMap<String, usize> {
    let mut times = HashMap::new();
    server.seen().iter().for_each(|seen| *times.entry(question(seen)).or_default() += 1);
    times
}

#[test]
fn answers_are_written_in_order_asked_by_schema_and_kept() {
    let server = Server::start(|seen| says(&format!("```sql\nSELECT {} ;\n```", &question(seen)[7..]), -0.5));
    let world = world(6);
    let run = || sqlgauge(&arguments(&world, &server, &["--llm-concurrency", "1", "--stop", "\n\n"]));
    let output = run();
    assert!(output.status.success(), "{}", stderr(&output));
    let numbers: Vec<String> = server.seen().iter().map(|seen| question(seen)[7..].to_owned()).collect();
    assert_eq!(numbers, ["000", "002", "004", "001", "003", "005"]);
    let first = &server.seen()[0];
    assert_eq!(first.prompt(), format!("{DDL}\n\n-- Question: number 000"));
    assert_eq!((&first.body["logprobs"], &first.body["stop"]), (&json!(true), &json!(["\n\n"])));
    assert_eq!(first.body.get("seed"), None);
    assert!(server.seen()[3].prompt().starts_with("CREATE TABLE other (a);\n\n"));

    let rows = lines(&world);
    let sql: Vec<&str> = rows.iter().map(|line| line["sql"].as_str().unwrap()).collect();
    assert_eq!(sql, ["SELECT 000", "SELECT 001", "SELECT 002", "SELECT 003", "SELECT 004", "SELECT 005"]);
    assert_eq!(
        (&rows[3]["id"], &rows[3]["status"], &rows[3]["model"]),
        (&json!("q003"), &json!("ok"), &json!("served"))
    );
    // `SELECT ` and the number, not the fence; the token of the fence ends in the SQL's first word.
    assert_eq!((&rows[0]["tokens"], &rows[0]["sum_logprob"]), (&json!(2), &json!(-1.0)));
    assert_eq!(rows[0]["confidence"].as_f64().unwrap().to_bits(), (-1.0_f64).exp().to_bits());

    let before = std::fs::read(world.path("preds.jsonl")).unwrap();
    let output = run();
    assert!(String::from_utf8_lossy(&output.stdout).contains("0 requests and 6 answers from the cache"));
    assert_eq!((server.count(), std::fs::read(world.path("preds.jsonl")).unwrap()), (6, before));
}

#[test]
fn a_score_of_the_file_keeps_the_confidence() {
    let server = Server::start(|seen| says(&format!("SELECT {}", &question(seen)[7..]), -0.25));
    let world = world(4);
    assert!(sqlgauge(&arguments(&world, &server, &["--quiet"])).status.success());
    let text = |name: &str| world.path(name).display().to_string();
    let named = format!("M={}", text("preds.jsonl"));
    let (gold, db, out) = (text("dev.json"), text("database"), text("run"));
    let score = [
        "score",
        "--gold",
        &gold,
        "--db",
        &db,
        "--pred",
        &named,
        "--metrics",
        "ex",
        "--out",
        &out,
        "--quiet",
    ];
    let output = sqlgauge(&score);
    assert!(output.status.success(), "{}", stderr(&output));
    for item in items(&world.path("run")) {
        assert_eq!(item["metrics"]["ex@1"], 1.0);
        assert_eq!(item["details"]["confidence"].as_f64(), Some((-0.5_f64).exp()));
    }
}

#[test]
fn a_server_that_fails_costs_its_items_a_status() {
    let server = Server::start(|seen| match &question(seen)[7..] {
        "000" => Reply::error(500, "oops"),
        "001" => Reply::Late(Duration::from_secs(4), Box::new(says("SELECT 1", -0.1))),
        "002" => Reply::Full(200, vec![], b"{\"choices\": [".to_vec()),
        "003" => Reply::HangUp,
        "004" => Reply::chat("", 10, 0),
        "005" => Reply::chat(
            "The given table information is insufficient to generate an SQL query to answer the question",
            9,
            9,
        ),
        "006" => {
            let message = json!({"content": "SELECT name FROM"});
            Reply::json(200, &json!({"choices": [{"message": message, "finish_reason": "length"}]}))
        }
        "007" => {
            let message = json!({"content": null, "refusal": "I will not"});
            Reply::json(200, &json!({"choices": [{"message": message}]}))
        }
        _ => Reply::chat("SELECT 8", 10, 2),
    });
    let world = world(9);
    let output = sqlgauge(&arguments(&world, &server, &["--llm-timeout", "2", "--llm-attempts", "1"]));
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stderr(&output).contains("4 of 9 questions have no answer"), "{}", stderr(&output));
    let rows = lines(&world);
    let statuses: Vec<&str> = rows.iter().map(|line| line["status"].as_str().unwrap()).collect();
    let expected = [
        "server_error",
        "timeout",
        "malformed",
        "unreachable",
        "empty",
        "abstained",
        "truncated",
        "refused",
        "ok",
    ];
    assert_eq!(statuses, expected);
    for line in &rows[..4] {
        assert!(line["sql"].is_null() && line["confidence"].is_null() && line["error"].is_string(), "{line}");
    }
    assert_eq!((&rows[8]["sql"], rows[8].get("sum_logprob")), (&json!("SELECT 8"), None));
}

#[test]
fn a_budget_ends_the_asking_and_the_rest_is_asked_for_later() {
    let server = Server::start(|_| says("SELECT 1", -0.1));
    let world = world(6);
    let output = sqlgauge(&arguments(&world, &server, &["--llm-max-requests", "4"]));
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let unasked = || lines(&world).iter().filter(|line| line["status"] == "not_asked").count();
    assert_eq!((unasked(), server.count()), (2, 4));
    assert!(sqlgauge(&arguments(&world, &server, &[])).status.success());
    assert_eq!((unasked(), server.count()), (0, 6));
}

#[test]
fn several_answers_differ_by_their_seed_and_vote() {
    let server = Server::start(|seen| {
        let odd = seen.body["seed"].as_u64().unwrap() == 7;
        says(if odd { "SELECT 1" } else { "SELECT  2" }, -0.5)
    });
    let world = world(2);
    let more = ["--n", "3", "--temperature", "0.8", "--seed", "7", "--quiet"];
    assert!(sqlgauge(&arguments(&world, &server, &more)).status.success());
    let rows = lines(&world);
    assert_eq!((&rows[0]["sql"], rows[0]["samples"].as_array().unwrap().len()), (&json!("SELECT  2"), 3));
    assert!((rows[0]["confidence"].as_f64().unwrap() - 2.0 / 3.0).abs() < 1e-12);
    assert_eq!(server.count(), 6);
    let output = sqlgauge(&arguments(&world, &server, &["--n", "3"]));
    assert!(stderr(&output).contains("give --temperature too"), "{}", stderr(&output));
}

#[test]
fn a_prompt_may_show_rows_and_come_from_a_file() {
    let server = Server::start(|_| says("SELECT 1", -0.1));
    let world = world(1);
    let prompt = "# System\nS\n# User\n{{question}}\n{{evidence}}\n-- Question: {{schema}}";
    std::fs::write(world.path("prompt.md"), prompt).unwrap();
    let path = world.path("prompt.md").display().to_string();
    let output = sqlgauge(&arguments(&world, &server, &["--prompt", &path, "--example-rows", "2"]));
    assert!(output.status.success(), "{}", stderr(&output));
    let expected = format!(
        "number 000\n-- Question: {DDL}\n-- Rows of item: id, name, price\n--   1, 'pen', 1.5\n--   2, 'book', 12"
    );
    assert_eq!(server.seen()[0].prompt(), expected);
}

#[test]
#[cfg(unix)]
fn broken_off_and_begun_again_it_asks_nothing_twice() {
    let server = Server::start(|_| Reply::Late(Duration::from_millis(150), Box::new(says("SELECT 1", -0.1))));
    let world = world(40);
    let arguments = arguments(&world, &server, &["--llm-concurrency", "2", "--quiet"]);
    let start = || {
        let program = assert_cmd::cargo::cargo_bin("sqlgauge");
        std::process::Command::new(program)
            .args(&arguments)
            .stderr(std::process::Stdio::null())
            .spawn()
            .unwrap()
    };
    let wait_for = |count: usize| {
        let begin = std::time::Instant::now();
        while server.count() < count {
            assert!(begin.elapsed() < Duration::from_mins(2), "{} of {count} requests", server.count());
            std::thread::sleep(Duration::from_millis(5));
        }
    };
    let mut first = start();
    wait_for(6);
    let signal =
        std::process::Command::new("kill").args(["-TERM", &first.id().to_string()]).status().unwrap();
    assert!(signal.success());
    assert_eq!(first.wait().unwrap().code(), Some(143));
    let count = server.count();
    assert!(count < 40 && !world.path("preds.jsonl").exists(), "{count}");

    // Killed, it loses what is under way, and no more: 2 at a time.
    let mut second = start();
    wait_for((count + 6).min(40));
    second.kill().unwrap();
    second.wait().unwrap();
    assert!(sqlgauge(&arguments).status.success());
    let times = times_asked(&server);
    assert_eq!(times.len(), 40);
    assert!(server.count() <= 42 && times.values().all(|times| *times <= 2), "{times:?}");
    assert_eq!(lines(&world).iter().filter(|line| line["status"] == "ok").count(), 40);
}

/// The questions whose answers are kept.
fn cached_questions(world: &Benchmark) -> HashSet<String> {
    let folders = std::fs::read_dir(world.path("preds.jsonl.answers"))
        .into_iter()
        .flatten()
        .map(|entry| entry.unwrap().path());
    let files = folders
        .flat_map(|folder| std::fs::read_dir(folder).into_iter().flatten())
        .map(|entry| entry.unwrap().path());
    let whole = files.filter(|path| path.extension().is_some_and(|extension| extension == "json"));
    let question = |path: std::path::PathBuf| {
        let text = std::fs::read_to_string(path).unwrap();
        let at = text.find("-- Question: ").unwrap() + "-- Question: ".len();
        text[at..at + "number 000".len()].to_owned()
    };
    whole.map(question).collect()
}

/// What is under way at a SIGKILL is the only thing that is asked again: every answer is kept before its worker asks on.
#[test]
#[cfg(unix)]
fn killed_many_times_it_asks_again_only_what_was_under_way() {
    let server = Server::start(|_| Reply::Late(Duration::from_millis(40), Box::new(says("SELECT 1", -0.1))));
    let world = world(60);
    let concurrency = 3;
    let arguments = arguments(&world, &server, &["--llm-concurrency", "3", "--quiet"]);
    let mut under_way: HashMap<String, usize> = HashMap::new();
    let mut state: u64 = 20_261_123;
    let kills = 6;
    for _ in 0..kills {
        state = next_state(state);
        let before = server.count();
        let mut child = std::process::Command::new(assert_cmd::cargo::cargo_bin("sqlgauge"))
            .args(&arguments)
            .stderr(std::process::Stdio::null())
            .spawn()
            .unwrap();
        let begin = std::time::Instant::now();
        while server.count() == before && begin.elapsed() < Duration::from_mins(2) {
            std::thread::sleep(Duration::from_millis(2));
        }
        std::thread::sleep(Duration::from_millis((state >> 33) % 130));
        child.kill().unwrap();
        child.wait().unwrap();
        // What it sent at the last moment reaches the server a little later.
        std::thread::sleep(Duration::from_millis(100));
        let cached = cached_questions(&world);
        let lost: Vec<String> =
            server.seen()[before..].iter().map(question).filter(|text| !cached.contains(text)).collect();
        assert!(lost.len() <= concurrency, "{lost:?} were under way, of {concurrency} at a time");
        lost.into_iter().for_each(|question| *under_way.entry(question).or_default() += 1);
        assert!(!world.path("preds.jsonl").exists());
    }
    assert!(sqlgauge(&arguments).status.success());
    let times = times_asked(&server);
    assert_eq!(times.len(), 60);
    for (question, times) in &times {
        assert_eq!(*times, 1 + under_way.get(question).copied().unwrap_or(0), "{question}");
    }
    assert_eq!(server.count(), 60 + under_way.values().sum::<usize>());
    assert_eq!(lines(&world).iter().filter(|line| line["status"] == "ok").count(), 60);
}

/// The roles and texts of a request.
fn turns_of(seen: &SeenRequest) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let messages = seen.body["messages"].as_array().unwrap().iter();
    messages.map(|message| (text(&message["role"]), text(&message["content"]))).collect()
}

#[test]
fn demonstrations_are_turns_before_the_question_and_of_other_databases() {
    let server = Server::start(|_| says("SELECT 1", -0.1));
    let world = world(4);
    let item = |db_id: &str, source: &str, at: usize| {
        json!({"db_id": db_id, "source_db_id": source, "question": format!("shown {db_id} {at}"),
            "query": format!("SELECT {at};"), "ddl": format!("CREATE TABLE {db_id} (x);")})
    };
    let mut pool: Vec<Value> = (0..4).map(|at| item("zoo", "zoo", at)).collect();
    pool.extend((0..40).map(|at| item("shop__1", "shop", at)));
    pool.push(item("school", "school", 9));
    std::fs::write(world.path("train.json"), json!(pool).to_string()).unwrap();
    let train = world.path("train.json").display().to_string();
    let run = |seed: &str, shots: &str| {
        let further = ["--shots", shots, "--shots-gold", &train, "--seed", seed, "--quiet"];
        sqlgauge(&arguments(&world, &server, &further))
    };
    let output = run("7", "3");
    assert!(output.status.success(), "{}", stderr(&output));
    let seen = server.seen();
    let turns: Vec<_> = seen.iter().map(turns_of).collect();
    assert_eq!(turns.len(), 4);
    for turn in &turns {
        let roles: Vec<&str> = turn.iter().map(|(role, _)| role.as_str()).collect();
        let expected = ["system", "user", "assistant", "user", "assistant", "user", "assistant", "user"];
        assert_eq!(roles, expected);
        assert_eq!(turn[..7], turns[0][..7], "all questions about a database are shown the same");
        for pair in turn[1..7].chunks(2) {
            let (question_text, answer) = (&pair[0].1, &pair[1].1);
            assert!(
                question_text.starts_with("CREATE TABLE ") && question_text.contains("-- Question: shown "),
                "{question_text}"
            );
            assert!(!question_text.contains("shop"), "{question_text}");
            assert!(
                question_text.ends_with(answer.trim_start_matches("SELECT ").trim_end_matches(';')),
                "{question_text} {answer}"
            );
        }
        assert!(turn[7].1.contains("-- Question: number 00"), "{}", turn[7].1);
    }
    assert!((0..6).any(|seed| {
        assert!(run(&seed.to_string(), "3").status.success());
        turns_of(server.seen().last().unwrap())[..7] != turns[0][..7]
    }));

    let output = run("7", "6");
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("has 5 answered questions about other databases than \"shop\""),
        "{}",
        stderr(&output)
    );
}

#[test]
fn a_pruned_schema_is_asked_for_first_and_what_it_lacks_is_said() {
    let server = Server::start(|seen| {
        if !seen.prompt().contains("Which tables and columns") {
            return says("SELECT 1", -0.1);
        }
        match seen.prompt() {
            text if text.contains("number 000") => says(r#"{"item": ["name"]}"#, -0.1),
            text if text.contains("number 002") => says("all of them", -0.1),
            text if text.contains("number 004") => Reply::error(400, "no"),
            _ => says(r#"{"other": []}"#, -0.1),
        }
    });
    let world = world(6);
    let output = sqlgauge(&arguments(&world, &server, &["--prune", "--llm-attempts", "1"]));
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stderr(&output).contains("1 questions are shown the whole schema"), "{}", stderr(&output));
    let prompts: Vec<String> = server
        .seen()
        .iter()
        .map(|seen| seen.prompt().to_owned())
        .filter(|text| !text.contains("Which tables and columns"))
        .collect();
    let schema_of = |number: &str| {
        let prompt = prompts.iter().find(|text| text.ends_with(&format!("number {number}")));
        prompt.map(|text| text.split_once("\n\n").unwrap().0.to_owned())
    };
    assert_eq!(schema_of("000").as_deref(), Some("CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT);"));
    assert_eq!(schema_of("002").as_deref(), Some(DDL));
    assert_eq!(schema_of("004"), None);
    assert_eq!(schema_of("001").as_deref(), Some("CREATE TABLE other (a);"));
    let rows = lines(&world);
    assert_eq!(rows[0]["schema"]["shown"], json!({"item": ["id", "name"]}));
    assert_eq!(rows[2]["schema"]["error"], "the answer is not a JSON object");
    assert_eq!((&rows[4]["status"], &rows[4]["sql"]), (&json!("server_error"), &Value::Null));
    assert_eq!(rows[0]["sql"], "SELECT 1");

    let output = sqlgauge(&arguments(&world, &server, &["--prune", "--example-rows", "1"]));
    assert_eq!(output.status.code(), Some(2));
}
