//! `score --db` on real servers. Needs the feature `engines`, and Debian's `postgresql` and `mariadb-server`.
#![cfg(feature = "engines")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../../run/engines/tests/servers/mod.rs"]
mod servers;

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use assert_cmd::Command;

use servers::PASSWORD;
use servers::mariadb::MariaDb;
use servers::postgresql::Server;

const ITEMS: usize = 150;

fn score(folder: &Path, address: &str, out: &str) -> Command {
    let mut command = Command::cargo_bin("sqlgauge").unwrap();
    command.current_dir(folder).env("SQLGAUGE_DB_PASSWORD", PASSWORD).env_remove("PGPASSWORD");
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
    let said = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert_eq!(ended.status.code(), Some(2), "{said}");
    assert!(said.contains("same command again") && !said.contains(PASSWORD), "{said}");
    assert!(log("killed").lines().count() < ITEMS);
    turn(true);
    score(folder.path(), address, "killed").assert().success();
    assert_eq!(log("killed"), whole);

    for file in ["run.json", "items.jsonl", "summary.json", "report.html"] {
        let text = std::fs::read_to_string(folder.path().join("killed").join(file)).unwrap();
        assert!(!text.contains(PASSWORD) && !text.contains("p'w"), "{file}");
    }
}

#[test]
fn other_commands_say_that_they_run_on_sqlite() {
    let folder = tempfile::tempdir().unwrap();
    write_benchmark(folder.path(), POSTGRES.0, POSTGRES.1);
    let mut audit = Command::cargo_bin("sqlgauge").unwrap();
    audit.current_dir(folder.path()).args([
        "audit",
        "--gold",
        "gold.jsonl",
        "--db",
        "postgresql://u@127.0.0.1:1/{db_id}",
    ]);
    let output = audit.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(2) && said.contains("runs on SQLite files only"), "{said}");
}
