//! `score --db` on real servers. Needs the feature `engines`, and Debian's `postgresql` and `mariadb-server`.

use std::fmt::Write as _;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use assert_cmd::Command;

use crate::engine_servers::PASSWORD;
use crate::engine_servers::mariadb::MariaDb;
use crate::engine_servers::postgresql::Server;

const ITEMS: usize = 150;

/// Writes the password to where the servers' own clients look for it.
fn write_passwords(home: &Path) {
    let escaped = PASSWORD.replace('\\', r"\\");
    for (name, text) in [
        (".pgpass", format!("127.0.0.1:*:*:sqlgauge:{escaped}\n")),
        (".my.cnf", format!("[client]\npassword = \"{escaped}\"\n")),
    ] {
        std::fs::write(home.join(name), text).unwrap();
        Command::new("chmod").arg("600").arg(home.join(name)).assert().success();
    }
}

fn score(folder: &Path, address: &str, out: &str) -> Command {
    write_passwords(folder);
    let mut command = Command::cargo_bin("sqlgauge").unwrap();
    command.current_dir(folder).env("HOME", folder).env_remove("PGPASSWORD");
    command.args([
        "score",
        "--db",
        address,
        "--gold",
        "gold.jsonl",
        "--pred",
        "a=a.jsonl",
        "--out",
        out,
        "--quiet",
    ]);
    command.args([
        "--metrics",
        "ex,ex-bird,soft-f1,ex-subset,etm,table-f1",
        "--jobs",
        "2",
        "--connections",
        "2",
    ]);
    command.args(["--now", "2026-01-01"]);
    command
}

/// The queries are slow enough that a run can be stopped in the middle.
fn write_benchmark(folder: &Path, columns: &str, slow: &str) {
    let (mut gold, mut predictions) = (String::new(), String::new());
    for at in 0..ITEMS {
        let sql = format!("SELECT {columns} FROM t WHERE n > {at} AND {slow} > 0 ORDER BY m, n");
        let answer =
            if at % 3 == 0 { sql.replace(" ORDER BY m, n", " ORDER BY n") } else { format!("{sql} ") };
        writeln!(
            gold,
            "{}",
            serde_json::json!({"id": at.to_string(), "db_id": "shop", "question": "q", "gold": sql})
        )
        .unwrap();
        writeln!(predictions, "{}", serde_json::json!({"id": at.to_string(), "sql": answer})).unwrap();
    }
    std::fs::write(folder.join("gold.jsonl"), gold).unwrap();
    std::fs::write(folder.join("a.jsonl"), predictions).unwrap();
}

const POSTGRES: (&str, &str) = ("n::text, n * 0.1", "(SELECT count(*) FROM generate_series(1, 60000))");

#[test]
#[ignore = "long: cargo xtask long"]
fn a_run_that_loses_postgresql_goes_on_to_the_same_log() {
    let Some(mut server) = Server::start() else { return };
    server.database(
        "shop",
        "CREATE TABLE t (n int PRIMARY KEY, m int); \
                             INSERT INTO t SELECT n, n % 7 FROM generate_series(1, 300) n",
    );
    let address = format!("postgresql://sqlgauge@127.0.0.1:{}/{{db_id}}", server.port);
    goes_on(&address, POSTGRES, |is_up| if is_up { server.run() } else { server.kill() });
}

#[test]
#[ignore = "long: cargo xtask long"]
fn a_run_that_loses_mariadb_goes_on_to_the_same_log() {
    let Some(mut server) = MariaDb::start() else { return };
    server.database(
        "shop",
        "CREATE TABLE t (n INT PRIMARY KEY, m INT); INSERT INTO t SELECT seq, seq % 7 FROM seq_1_to_300",
    );
    let address = format!("mysql://sqlgauge@127.0.0.1:{}/{{db_id}}", server.port);
    let queries = ("CAST(n AS CHAR), n * 0.1", "(SELECT COUNT(*) FROM seq_1_to_100000)");
    goes_on(&address, queries, |is_up| if is_up { server.run() } else { server.kill() });
}

/// Scores, stops the server in the middle of the same run, and goes on.
fn goes_on(address: &str, (columns, slow): (&str, &str), mut turn: impl FnMut(bool)) {
    let folder = tempfile::tempdir().unwrap();
    write_benchmark(folder.path(), columns, slow);
    let log =
        |out: &str| std::fs::read_to_string(folder.path().join(out).join("items.jsonl")).unwrap_or_default();

    score(folder.path(), address, "whole").assert().success();
    let whole = log("whole");
    assert_eq!(whole.lines().count(), ITEMS);
    // The order is read off texts that no parser of ours reads, also by keys that are not returned.
    let first: serde_json::Value = serde_json::from_str(whole.lines().next().unwrap()).unwrap();
    assert_eq!(
        (first["metrics"]["ex@1"].as_f64(), first["metrics"]["ex-bird@1"].as_f64()),
        (Some(0.0), Some(1.0))
    );
    assert!(first["metrics"]["etm@1"].is_null(), "{first}");

    let mut began = std::process::Command::new(assert_cmd::cargo::cargo_bin("sqlgauge"));
    began.args(score(folder.path(), address, "killed").get_args()).current_dir(folder.path());
    let began =
        began.env("SQLGAUGE_DB_PASSWORD", PASSWORD).stderr(std::process::Stdio::piped()).spawn().unwrap();
    while log("killed").lines().count() < 5 {
        std::thread::sleep(Duration::from_millis(5));
    }
    turn(false);
    let ended = began.wait_with_output().unwrap();
    let message = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert_eq!(ended.status.code(), Some(2), "{message}");
    assert!(message.contains("same command again") && !message.contains(PASSWORD), "{message}");
    assert!(log("killed").lines().count() < ITEMS);
    turn(true);
    score(folder.path(), address, "killed").assert().success();
    assert_eq!(log("killed"), whole);

    for file in ["run.json", "items.jsonl", "summary.json", "report.html"] {
        let text = std::fs::read_to_string(folder.path().join("killed").join(file)).unwrap();
        assert!(!text.contains(PASSWORD) && !text.contains("p'w"), "{file}");
    }
}

/// A shop whose golds have defects, on PostgreSQL.
const CLUBS: &str = "CREATE TABLE club (id int PRIMARY KEY, name text NOT NULL, city text NOT NULL); \
    CREATE TABLE player (id int PRIMARY KEY, club_id int NOT NULL REFERENCES club (id), name text NOT NULL, goals int NOT NULL); \
    INSERT INTO club VALUES (1, 'Harbour', 'Lisbon'), (2, 'Forest', 'Porto'); \
    INSERT INTO player VALUES (1, 1, 'Ana', 10), (2, 1, 'Bea', 10), (3, 2, 'Cai', 7)";

#[test]
#[ignore = "long: cargo xtask long"]
fn audit_finds_the_defects_of_golds_on_postgresql() {
    let Some(server) = Server::start() else { return };
    server.database("clubs", CLUBS);
    let folder = tempfile::tempdir().unwrap();
    let golds = [
        ("broken", "SELECT nam FROM club", "does-not-run"),
        ("empty", "SELECT name FROM club WHERE id::int = 9", "empty-result"),
        ("tied", "SELECT name FROM player ORDER BY goals DESC LIMIT 1", "tie-at-limit"),
        ("near", "SELECT name FROM club WHERE city = 'lisbon'", "near-literal"),
        ("fine", "SELECT name FROM club WHERE city = 'Porto'", ""),
    ];
    let line = |(id, sql, _): &(&str, &str, &str)| {
        serde_json::json!({"id": id, "db_id": "clubs", "question": "q", "gold": sql}).to_string() + "\n"
    };
    std::fs::write(folder.path().join("gold.jsonl"), golds.iter().map(line).collect::<String>()).unwrap();
    let address = format!("postgresql://sqlgauge@127.0.0.1:{}/{{db_id}}", server.port);
    let mut audit = Command::cargo_bin("sqlgauge").unwrap();
    audit.current_dir(folder.path()).env("SQLGAUGE_DB_PASSWORD", PASSWORD);
    audit.args(["audit", "--gold", "gold.jsonl", "--db", &address, "--output-format", "jsonl", "--quiet"]);
    let output = audit.args(["--rules", "all"]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let items: Vec<serde_json::Value> =
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    for (id, sql, rule) in golds {
        let item = items.iter().find(|item| item["id"] == id).unwrap();
        let rules: Vec<&str> =
            item["findings"].as_array().unwrap().iter().map(|one| one["rule"].as_str().unwrap()).collect();
        let certain = ["does-not-run", "empty-result", "tie-at-limit", "near-literal"];
        let expected: Vec<&str> = rules.iter().copied().filter(|rule| certain.contains(rule)).collect();
        let is_right = if rule.is_empty() { expected.is_empty() } else { expected.contains(&rule) };
        assert!(is_right, "{id}: {sql}\n{item:#}");
        // What is about SQLite alone says so.
        let unchecked = item["unchecked"].as_array().unwrap();
        assert!(unchecked.iter().any(|one| one["rule"] == "depends-on-plan"), "{item:#}");
    }
    // A cast is not in SQLite's grammar.
    assert!(items.iter().any(|item| item["id"] == "empty" && item["unresolved"].is_string()), "{text}");
}

/// What the golds are, with the texts of the predictions of two systems.
fn write_golds(folder: &Path) {
    let (mut gold, mut a, mut b) = (String::new(), String::new(), String::new());
    for at in 0..20 {
        let sql = format!("SELECT name FROM player WHERE goals > {at} ORDER BY id");
        let item = serde_json::json!({"id": at.to_string(), "db_id": "clubs", "question": "q", "gold": format!("{sql} /* gold */")});
        writeln!(gold, "{item}").unwrap();
        writeln!(a, "{}", serde_json::json!({"id": at.to_string(), "sql": format!("{sql} /* one */")}))
            .unwrap();
        writeln!(b, "{}", serde_json::json!({"id": at.to_string(), "sql": format!("{sql} DESC /* two */")}))
            .unwrap();
    }
    for (name, text) in [("gold.jsonl", gold), ("a.jsonl", a), ("b.jsonl", b)] {
        std::fs::write(folder.join(name), text).unwrap();
    }
}

#[test]
#[ignore = "long: cargo xtask long"]
fn a_second_run_asks_the_server_only_for_what_is_new() {
    let Some(mut server) = Server::start() else { return };
    server.database("clubs", CLUBS);
    server.log_queries();
    let folder = tempfile::tempdir().unwrap();
    write_golds(folder.path());
    let address = format!("postgresql://sqlgauge@127.0.0.1:{}/{{db_id}}", server.port);
    let run = |system: &str, out: &str| {
        let mut command = score(folder.path(), &address, out);
        command.args(["--pred", system, "--gold-cache", "golds"]).assert().success();
    };
    run("b=b.jsonl", "first");
    std::fs::write(
        folder.path().join("a.jsonl"),
        std::fs::read_to_string(folder.path().join("b.jsonl")).unwrap().replace("two", "three"),
    )
    .unwrap();
    run("c=b.jsonl", "second");
    let log = server.stop_and_read_log();
    let is_of = |line: &&str, what: &str| line.contains("execute <unnamed>") && line.contains(what);
    let count = |what: &str| log.lines().filter(|line| is_of(line, what)).count();
    assert_eq!((count("/* one */"), count("/* two */"), count("/* three */")), (20, 40, 20), "{log}");
    // Of the golds the first run asks for the rows, and for sort keys that they do not return.
    let golds = count("/* gold */");
    assert!((20..=40).contains(&golds), "{golds}: {log}");
    let values = |out: &str| {
        let text = std::fs::read_to_string(folder.path().join(out).join("items.jsonl")).unwrap();
        let item = |line: &str| serde_json::from_str::<serde_json::Value>(line).unwrap();
        text.lines()
            .map(item)
            .filter(|item| item["system"] != "a")
            .map(|item| item["metrics"].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(values("first"), values("second"));
}

#[test]
#[ignore = "long: cargo xtask long"]
fn shards_of_a_server_make_the_run() {
    let Some(server) = Server::start() else { return };
    server.database("clubs", CLUBS);
    let folder = tempfile::tempdir().unwrap();
    write_golds(folder.path());
    let address = format!("postgresql://sqlgauge@127.0.0.1:{}/{{db_id}}", server.port);
    score(folder.path(), &address, "whole").assert().success();
    for part in ["1/3", "2/3", "3/3"] {
        score(folder.path(), &address, &part.replace('/', "of")).args(["--shard", part]).assert().success();
    }
    let mut merge = Command::cargo_bin("sqlgauge").unwrap();
    merge.current_dir(folder.path()).args(["merge", "1of3", "2of3", "3of3", "--out", "merged", "--quiet"]);
    merge.assert().success();
    let log = |out: &str| std::fs::read(folder.path().join(out).join("items.jsonl")).unwrap();
    assert_eq!(log("merged"), log("whole"));
}

#[test]
#[ignore = "long: cargo xtask long"]
fn data_of_mariadb_that_change_while_a_run_scores_end_it() {
    let Some(server) = MariaDb::start() else { return };
    server.database(
        "shop",
        "CREATE TABLE t (n INT PRIMARY KEY, m INT); INSERT INTO t SELECT seq, seq % 7 FROM seq_1_to_300",
    );
    let folder = tempfile::tempdir().unwrap();
    write_benchmark(folder.path(), "CAST(n AS CHAR), n * 0.1", "(SELECT COUNT(*) FROM seq_1_to_100000)");
    let address = format!("mysql://sqlgauge@127.0.0.1:{}/{{db_id}}", server.port);
    let log = || std::fs::read_to_string(folder.path().join("run/items.jsonl")).unwrap_or_default();
    let mut began = std::process::Command::new(assert_cmd::cargo::cargo_bin("sqlgauge"));
    began.args(score(folder.path(), &address, "run").get_args()).current_dir(folder.path());
    let began =
        began.env("SQLGAUGE_DB_PASSWORD", PASSWORD).stderr(std::process::Stdio::piped()).spawn().unwrap();
    while log().lines().count() < 5 {
        std::thread::sleep(Duration::from_millis(5));
    }
    server.sql("shop", "INSERT INTO t VALUES (1000, 1)");
    let ended = began.wait_with_output().unwrap();
    let message = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert_eq!(ended.status.code(), Some(2), "{message}");
    assert!(message.contains("was changed while it was in use"), "{message}");
}

#[test]
#[ignore = "long: cargo xtask long"]
fn other_commands_say_that_they_run_on_sqlite() {
    let folder = tempfile::tempdir().unwrap();
    write_benchmark(folder.path(), POSTGRES.0, POSTGRES.1);
    let mut pack = Command::cargo_bin("sqlgauge").unwrap();
    pack.current_dir(folder.path()).args([
        "pack",
        "--gold",
        "gold.jsonl",
        "--out",
        "pack",
        "--db",
        "postgresql://u@127.0.0.1:1/{db_id}",
    ]);
    let output = pack.output().unwrap();
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(2) && message.contains("runs on SQLite files only"), "{message}");
}

const SQUAD: &str = "CREATE TABLE club (id INT PRIMARY KEY, name VARCHAR(40) NOT NULL, city VARCHAR(40) NOT NULL); \
    CREATE TABLE player (id INT PRIMARY KEY, club_id INT NOT NULL, name VARCHAR(40) NOT NULL, goals INT NOT NULL, \
    height DOUBLE PRECISION, born DATE, FOREIGN KEY (club_id) REFERENCES club (id)); ";

/// Clubs and players, for every engine.
fn squad() -> String {
    let mut script = SQUAD.to_owned();
    for (at, (club, city)) in
        [("Harbour", "Lisbon"), ("Forest", "Porto"), ("Mill", "Porto"), ("Bridge", "Faro")].iter().enumerate()
    {
        write!(script, "INSERT INTO club VALUES ({at}, '{club}', '{city}'); ").unwrap();
    }
    for at in 0..60 {
        let (club, goals, height) = (at % 4, at * 7 % 13, 1.5 + f64::from(at % 9) / 16.0);
        let born = format!("{}-0{}-1{}", 1990 + at % 7, 1 + at % 9, at % 10);
        write!(
            script,
            "INSERT INTO player VALUES ({at}, {club}, 'Player {}', {goals}, {height}, '{born}'); ",
            at * 37 % 60
        )
        .unwrap();
    }
    script
}

fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::cargo_bin("sqlgauge").unwrap();
    command.current_dir(folder).env("SQLGAUGE_DB_PASSWORD", PASSWORD).env_remove("PGPASSWORD");
    command.args(arguments);
    command
}

/// Numbers by value, whatever their type.
fn rows_of(rows: &sqlgauge_engine::ResultSet) -> Vec<String> {
    use sqlgauge_engine::Value;
    let text = |value: &Value| match value {
        Value::Integer(number) => format!("{:.9}", *number as f64),
        Value::Real(number) => format!("{number:.9}"),
        Value::Decimal(number) => format!("{:.9}", number.to_float()),
        other => format!("{other:?}"),
    };
    let mut rows: Vec<String> =
        rows.rows().map(|row| row.iter().map(text).collect::<Vec<_>>().join("|")).collect();
    rows.sort_unstable();
    rows
}

/// Makes pairs on a server. Each returns what its query in SQLite's words returns on a copy, and scores as right.
fn pairs_are_like_sqlite(address: &Path) {
    use sqlgauge_engine::{Engine, Limits, SqliteEngine};
    use sqlgauge_engines::{Access, Secret};
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("squad.sqlite");
    rusqlite::Connection::open(&copy).unwrap().execute_batch(&squad()).unwrap();
    let name = address.to_str().unwrap();
    let synth = ["synth", "--db", name, "--count", "120", "--jobs", "2", "--out", "corpus", "--quiet"];
    command(folder.path(), &synth).assert().success();
    let python = std::env::var_os("SQLGAUGE_PYTHON").map(Into::into);
    let access = Access { password: Some(Secret(PASSWORD.to_owned())), python, ..Access::default() };
    let server = sqlgauge_engines::open(address, Limits::default(), access).unwrap();
    let sqlite = SqliteEngine::new(Limits::default());
    let (there, here) = (server.open(address).unwrap(), sqlite.open(&copy).unwrap());
    let file = folder.path().join("corpus/data/train-00000-of-00001.jsonl");
    let (mut count, mut dated) = (0, 0);
    for line in std::fs::read_to_string(&file).unwrap().lines() {
        let pair: serde_json::Value = serde_json::from_str(line).unwrap();
        let (sql, words) =
            (pair["sql"].as_str().unwrap(), pair["dialects"]["sqlite"]["sql"].as_str().unwrap());
        let rows = [server.run(&there, sql), sqlite.run(&here, words)]
            .map(|run| run.rows().map_or_else(|| panic!("{sql}: {run:?}"), |rows| rows_of(rows)));
        assert_eq!(rows[0], rows[1], "{sql}\n{words}");
        count += 1;
        dated += usize::from(sql.contains("born") && sql.contains("WHERE"));
    }
    assert!(count > 100 && dated > 0, "{count}, {dated}");
    assert!(!folder.path().join("corpus/databases").exists());
    let gold = file.to_str().unwrap();
    let answers = format!("gold={gold}");
    let score = [
        "score",
        "--db",
        name,
        "--gold",
        gold,
        "--pred",
        &answers,
        "--metrics",
        "ex",
        "--out",
        "run",
        "--quiet",
    ];
    command(folder.path(), &score).args(["--fail-under", "ex=1"]).assert().success();
}

#[test]
#[ignore = "long: cargo xtask long"]
fn synth_on_postgresql_is_like_sqlite() {
    let Some(server) = Server::start() else { return };
    pairs_are_like_sqlite(&server.database("squad", &squad()));
}

#[test]
#[ignore = "long: cargo xtask long"]
fn synth_on_mariadb_is_like_sqlite() {
    let Some(server) = MariaDb::start() else { return };
    pairs_are_like_sqlite(&server.database("squad", &squad()));
}

#[test]
#[ignore = "long: cargo xtask long"]
fn synth_on_duckdb_is_like_sqlite() {
    let Some(python) = std::env::var_os("SQLGAUGE_PYTHON") else { return };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("squad.duckdb");
    let script = "import duckdb, sys; duckdb.connect(sys.argv[1]).execute(sys.argv[2])";
    let status = std::process::Command::new(python).args(["-c", script]).arg(&file).arg(squad()).status();
    if status.unwrap().success() {
        pairs_are_like_sqlite(Path::new(&format!("duckdb:{}", file.display())));
        let settings = folder.path().join("settings.json");
        std::fs::write(&settings, r#"{"read_only": true}"#).unwrap();
        std::fs::set_permissions(&settings, PermissionsExt::from_mode(0o600)).unwrap();
        let address = format!("dbapi:duckdb?connect={}&database={}", settings.display(), file.display());
        pairs_are_like_sqlite(Path::new(&address));
    }
}

/// Questions with golds and answers over the squad.
fn write_questions(folder: &Path) {
    std::fs::write(folder.join("a.jsonl"), "").unwrap();
    let (mut gold, mut a, mut b) = (String::new(), String::new(), String::new());
    for at in 0..40 {
        let sql = format!(
            "SELECT name FROM player WHERE goals > {} AND born > '1991-01-0{}'::date",
            at % 13,
            1 + at % 9
        );
        let item = serde_json::json!({"id": at.to_string(), "db_id": "squad", "question": format!("q{at}"), "gold": sql});
        let other = if at % 4 == 0 { sql.replace('>', ">=") } else { sql.clone() };
        writeln!(gold, "{item}").unwrap();
        writeln!(a, "{}", serde_json::json!({"id": at.to_string(), "sql": other})).unwrap();
        writeln!(b, "{}", serde_json::json!({"id": at.to_string(), "sql": sql.to_lowercase()})).unwrap();
    }
    for (name, text) in [("gold.jsonl", gold), ("a.jsonl", a), ("b.jsonl", b)] {
        std::fs::write(folder.join(name), text).unwrap();
    }
}

#[test]
#[ignore = "long: cargo xtask long"]
fn labels_make_a_number_sure_on_postgresql() {
    let Some(server) = Server::start() else { return };
    let address = server.database("squad", &squad());
    let (folder, db) = (tempfile::tempdir().unwrap(), address.to_str().unwrap());
    write_questions(folder.path());
    let plan = [
        "label",
        "plan",
        "--questions",
        "gold.jsonl",
        "--pred",
        "a=a.jsonl",
        "--peer",
        "b=b.jsonl",
        "--db",
        db,
        "--out",
        "labels",
    ];
    let output = command(folder.path(), &plan).output().unwrap();
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        output.status.success() && message.contains("no database is made to tell them apart"),
        "{message}"
    );
    let proof = [&plan[..], &["--by", "proof"]].concat();
    command(folder.path(), &proof).assert().code(2);
    for _ in 0..40 {
        let next = command(folder.path(), &["label", "next", "--in", "labels", "--json"]).output().unwrap();
        assert!(next.status.success(), "{}", String::from_utf8_lossy(&next.stderr));
        let questions: serde_json::Value = serde_json::from_slice(&next.stdout).unwrap();
        let Some(question) = questions.get(0) else { break };
        assert!(question["results"][0]["rows"]["columns"][0] == "name", "{question:#}");
        let is_right = !question["results"][0]["sql"].as_str().unwrap().contains(">=");
        let verdict = if is_right { "right" } else { "wrong" };
        let add = [
            "label",
            "add",
            "--in",
            "labels",
            "--id",
            question["id"].as_str().unwrap(),
            "--verdict",
            verdict,
        ];
        command(folder.path(), &add).assert().success();
    }
    let status = command(folder.path(), &["label", "status", "--in", "labels", "--json"]).output().unwrap();
    let status: serde_json::Value = serde_json::from_slice(&status.stdout).unwrap();
    let of = |key: &str| status["quantities"][0][key].as_f64().unwrap();
    assert!(of("low") <= 0.75 && 0.75 <= of("high"), "{status:#}");
    // A run that was scored on the server is known there.
    let score = [
        "score",
        "--gold",
        "gold.jsonl",
        "--pred",
        "a=a.jsonl",
        "--metrics",
        "ex",
        "--db",
        db,
        "--out",
        "known",
    ];
    command(folder.path(), &score).arg("--quiet").assert().success();
    let estimate =
        ["estimate", "--known", "known", "--questions", "gold.jsonl", "--pred", "b=b.jsonl", "--db", db];
    command(folder.path(), &estimate).assert().success();
}

#[test]
#[ignore = "long: cargo xtask long"]
fn corpora_on_postgresql_measure_as_in_sqlite() {
    let Some(server) = Server::start() else { return };
    let address = server.database("squad", &squad());
    let folder = tempfile::tempdir().unwrap();
    write_questions(folder.path());
    std::fs::create_dir_all(folder.path().join("db/squad")).unwrap();
    let copy = folder.path().join("db/squad/squad.sqlite");
    rusqlite::Connection::open(&copy).unwrap().execute_batch(&squad()).unwrap();
    let plain = std::fs::read_to_string(folder.path().join("gold.jsonl")).unwrap().replace("::date", "");
    std::fs::write(folder.path().join("plain.jsonl"), plain).unwrap();
    let there = format!("there=gold.jsonl@{}", address.display());
    let coverage = ["coverage", &there, "here=plain.jsonl@db", "--out", "coverage", "--quiet"];
    command(folder.path(), &coverage).assert().success();
    let text = std::fs::read_to_string(folder.path().join("coverage/coverage.json")).unwrap();
    let text: serde_json::Value = serde_json::from_str(&text).unwrap();
    let sizes = |at: usize| {
        let mut sizes = text["corpora"][at]["sizes"].clone();
        sizes["sql_characters"].take();
        sizes
    };
    assert_eq!(sizes(0)["resolved"], 40, "{}", sizes(0));
    assert_eq!(sizes(0), sizes(1));
    for (arguments, part) in [
        (&["evolve", "--gold", "gold.jsonl", "--out", "evolved"][..], "sqlgauge tables"),
        (&["synth", "--count", "9", "--variants", "0.5", "--out", "corpus"], "--variants needs SQLite files"),
        (&["estimate", "--questions", "gold.jsonl", "--pred", "a=a.jsonl"], "sqlgauge synth --for DB"),
    ] {
        let output =
            command(folder.path(), arguments).args(["--db", address.to_str().unwrap()]).output().unwrap();
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(2) && message.contains(part), "{message}");
    }
}
