//! What a project's `sqlgauge.toml` may do before its user trusts it, and what the links in a foreign folder may do.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Output;

use crate::common::{Benchmark, sqlgauge, stderr, tree};
use assert_cmd::Command;

/// Runs the binary in a folder of the benchmark, as a user who has a home there.
fn run(benchmark: &Benchmark, folder: &str, words: &[&str]) -> Output {
    let mut command = Command::cargo_bin("sqlgauge").unwrap();
    command.args(words).current_dir(benchmark.path(folder)).env("HOME", benchmark.path("home"));
    command.env_remove("XDG_DATA_HOME").env_remove("XDG_CONFIG_HOME").env("MY_TOKEN", "secret");
    command.output().unwrap()
}

/// Whoever unpacks somebody's project runs nothing of theirs and sends nothing to them, before they say that they trust it.
#[test]
fn a_projects_file_starts_no_program_before_it_is_trusted() {
    use std::os::unix::fs::PermissionsExt as _;
    let benchmark = Benchmark::new(&["SELECT name FROM item"], &["SELECT name FROM item"]);
    let (solver, proof, home) = (benchmark.path("evil.sh"), benchmark.path("ran"), benchmark.path("home"));
    fs::write(&solver, format!("#!/bin/sh\ntouch '{}'\n", proof.display())).unwrap();
    fs::set_permissions(&solver, fs::Permissions::from_mode(0o755)).unwrap();
    let run = |words: &[&str]| run(&benchmark, "", words);
    let refused = |words: &[&str], key: &str| {
        let output = run(words);
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        assert!(
            stderr(&output).contains(key) && stderr(&output).contains("sqlgauge trust"),
            "{}",
            stderr(&output)
        );
    };
    fs::write(benchmark.path("schema.sql"), "CREATE TABLE t (a INT)").unwrap();
    let config = "[verify]\nsolver = './evil.sh'\n[predict]\nllm-url = 'http://127.0.0.1:9/v1'\n\
                  llm_key_env = 'MY_TOKEN'\nllm-model = 'm'\n";
    fs::write(benchmark.path("sqlgauge.toml"), config).unwrap();
    let verify = [
        "verify",
        "--schema",
        "schema.sql",
        "--left",
        "SELECT a FROM t WHERE a > 1 UNION SELECT a FROM t WHERE a <= 1",
        "--right",
    ];
    let verify = [verify.as_slice(), &["SELECT DISTINCT a FROM t WHERE a IS NOT NULL"]].concat();
    refused(&verify, "solver");
    refused(&["predict", "--questions", "gold.sql", "--db", "database", "--out", "p"], "llm");
    assert!(!proof.exists());
    // What is typed is the user's own, and other commands do not mind.
    assert!(run(&["metrics"]).status.success());
    run(&[verify.as_slice(), &["--solver", "/bin/true"]].concat());
    assert!(!proof.exists());

    assert!(run(&["trust"]).status.success());
    run(&verify);
    assert!(proof.exists(), "the solver of a trusted file is asked");
    fs::write(benchmark.path("sqlgauge.toml"), format!("{config}# changed\n")).unwrap();
    refused(&verify, "solver");
    assert!(run(&["trust"]).status.success() && run(&["trust", "--revoke"]).status.success());
    refused(&verify, "solver");

    // The file in the user's home may name it.
    fs::remove_file(benchmark.path("sqlgauge.toml")).unwrap();
    fs::create_dir_all(home.join(".config/sqlgauge")).unwrap();
    fs::write(home.join(".config/sqlgauge/config.toml"), config).unwrap();
    fs::remove_file(&proof).unwrap();
    run(&verify);
    assert!(proof.exists(), "the solver of the user's own file is asked");
}

/// A project's file writes below its folder only, under new and visible names; each line of the table is refused before
/// anything is written.
#[test]
fn a_projects_file_writes_in_its_folder_only() {
    let benchmark = Benchmark::new(&["SELECT name FROM item"], &["SELECT name FROM item"]);
    let path = |name: &str| benchmark.path(name);
    fs::create_dir_all(path("project/filled")).unwrap();
    fs::create_dir_all(path("project/run")).unwrap();
    for name in ["secret", "project/filled/Makefile", "project/conftest.py", "project/run/run.json"] {
        fs::write(path(name), "old").unwrap();
    }
    symlink(path("secret"), path("project/link")).unwrap();
    symlink(path(""), path("project/up")).unwrap();
    symlink(path("nowhere"), path("project/dangling")).unwrap();
    symlink(path("secret"), path("project/run/report.html")).unwrap();
    fs::hard_link(path("secret"), path("project/hard")).unwrap();
    let absolute = path("new").display().to_string();
    let outputs = [
        (absolute.as_str(), "outside"),
        ("../secret", "outside"),
        ("run/../../secret", "outside"),
        ("link", "link"),
        ("dangling", "link"),
        ("up/new", "link"),
        ("hard", "there already"),
        ("conftest.py", "there already"),
        ("sqlgauge.toml", "there already"),
        (".envrc", "dot"),
        (".git/hooks/pre-commit", "dot"),
        ("new/.github/x", "dot"),
        (".", "itself"),
        ("filled", "run.json"),
        ("run", "report.html"),
    ];
    let golds = ["--gold", "../gold.sql", "--db", "../database"];
    let commands: [(&str, &str, &[&str]); 4] = [
        ("audit", "out", &golds),
        ("score", "gold-cache", &[&golds[..], &["--pred", "S=../pred.sql", "--out", "o"]].concat()),
        ("score", "out", &[&golds[..], &["--pred", "S=../pred.sql"]].concat()),
        ("man", "out", &[]),
    ];
    for (command, key, words) in commands {
        for (value, reason) in outputs {
            fs::write(path("project/sqlgauge.toml"), format!("[{command}]\n{key} = '{value}'\n")).unwrap();
            let before = tree(&path(""));
            let output = run(&benchmark, "project", &[&[command], words].concat());
            let text = stderr(&output);
            assert_eq!(output.status.code(), Some(2), "{command} {key} {value}: {text}");
            for part in [key, value, reason, "sqlgauge trust sqlgauge.toml"] {
                assert!(text.contains(part), "{command} {key} {value}: {text}");
            }
            assert_eq!(tree(&path("")), before, "{command} {key} {value}");
        }
    }

    // A new name is fine, once; a second time it is there already, unless the file is trusted.
    fs::write(path("project/sqlgauge.toml"), "[man]\nout = 'new/pages'\n[score]\nout = 'runs/a'\n").unwrap();
    let score = [&["score"], commands[2].2].concat();
    assert_eq!(run(&benchmark, "project", &score).status.code(), Some(0));
    assert_eq!(run(&benchmark, "project", &score).status.code(), Some(0), "the folder of a run goes on");
    assert_eq!(run(&benchmark, "project", &["man"]).status.code(), Some(0));
    assert_eq!(run(&benchmark, "project", &["man"]).status.code(), Some(2));
    assert_eq!(run(&benchmark, "project", &["trust"]).status.code(), Some(0));
    assert_eq!(run(&benchmark, "project", &["man"]).status.code(), Some(0));
    assert_eq!(fs::read_to_string(path("secret")).unwrap(), "old");
}

/// The report of a run whose folder holds a link goes to no place outside of that folder.
#[test]
fn a_link_in_a_run_leads_no_report_outside() {
    let benchmark = Benchmark::new(&["SELECT name FROM item"], &["SELECT id FROM item"]);
    assert!(sqlgauge(&benchmark.score()).status.success());
    let secret = benchmark.path("secret");
    fs::write(&secret, "old").unwrap();
    for (format, file) in [("html", "report.html"), ("junit", "junit.xml")] {
        let _ = fs::remove_file(benchmark.path("run").join(file));
        symlink(&secret, benchmark.path("run").join(file)).unwrap();
        let output = run(&benchmark, "", &["report", "run", "--output-format", format]);
        assert_eq!(output.status.code(), Some(2), "{format}: {}", stderr(&output));
        assert!(stderr(&output).contains("link"), "{format}: {}", stderr(&output));
        assert_eq!(fs::read_to_string(&secret).unwrap(), "old", "{format}");
    }
}
