//! `score --shard` and `merge`: the parts of a run make the run, byte by byte, and nothing else does.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::common::{Benchmark, items, next_state, sqlgauge, stderr};

const ITEMS: usize = 37;
const NOW: &str = "2026-01-02 03:04:05";

/// Golds of all sorts (some fail), two systems of which one is often right and sometimes says nothing.
fn world() -> Benchmark {
    let gold = |n: usize| match n % 5 {
        0 => format!("SELECT name FROM item WHERE id = {}", n % 4),
        1 => format!("SELECT {n}, date('now')"),
        2 => "SELECT no_such FROM item".to_owned(),
        3 => format!("SELECT price FROM item WHERE price > {n} ORDER BY price"),
        _ => format!("SELECT count(*) + {n} FROM item"),
    };
    let golds: Vec<String> = (0..ITEMS).map(gold).collect();
    let world = Benchmark::new(&golds.iter().map(String::as_str).collect::<Vec<_>>(), &[]);
    let other: Vec<String> =
        (0..ITEMS).map(|n| if n % 3 == 0 { format!("SELECT {n} -- not this") } else { gold(n) }).collect();
    std::fs::write(world.path("a.sql"), golds.join("\n") + "\n").unwrap();
    std::fs::write(world.path("b.sql"), other.join("\n") + "\n").unwrap();
    world
}

/// A command over the benchmark that is run in its folder, so that all commands say the same of their files.
fn words(command: &str, out: &str, further: &[&str]) -> Vec<String> {
    let fixed = [
        command, "--gold", "gold.sql", "--db", "database", "--pred", "A=a.sql", "--pred", "B=b.sql", "--now",
        NOW,
    ];
    fixed
        .iter()
        .chain(further)
        .map(|word| (*word).to_owned())
        .chain(["--out".to_owned(), out.to_owned()])
        .collect()
}

fn program(world: &Benchmark, words: &[String]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sqlgauge"));
    command.args(words).current_dir(world.path("."));
    command
}

fn run(world: &Benchmark, words: &[String]) -> Result<String, String> {
    let output = program(world, words).output().unwrap();
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        Err(stderr(&output))
    }
}

fn score(world: &Benchmark, out: &str, further: &[&str]) {
    run(world, &words("score", out, &[&["--quiet"], further].concat())).unwrap();
}

fn merge(world: &Benchmark, runs: &[String], out: &str) -> Result<String, String> {
    let fixed = ["merge", "--quiet", "--out", out].map(str::to_owned);
    run(world, &[&fixed, runs].concat())
}

fn shards(world: &Benchmark, of: usize, further: &[&str]) -> Vec<String> {
    let shard = |part: usize| {
        let folder = format!("part{part}");
        score(world, &folder, &[&["--shard", &format!("{part}/{of}")], further].concat());
        folder
    };
    (1..=of).map(shard).collect()
}

/// The files that a run is.
fn files(world: &Benchmark, folder: &str) -> [Vec<u8>; 3] {
    ["run.json", "items.jsonl", "summary.json"]
        .map(|name| std::fs::read(world.path(folder).join(name)).unwrap())
}

#[test]
fn shards_make_the_run_byte_by_byte() {
    let world = world();
    // The same folder for both, as it stands in the command of a run.
    score(&world, "all", &[]);
    let wanted = files(&world, "all");
    std::fs::rename(world.path("all"), world.path("unsharded")).unwrap();
    for (of, jobs) in [(1, "1"), (4, "2"), (7, "1")] {
        let mut runs = shards(&world, of, &["--jobs", jobs]);
        let counts: Vec<usize> = runs.iter().map(|run| items(&world.path(run)).len()).collect();
        assert_eq!(counts.iter().sum::<usize>(), 2 * ITEMS);
        runs.reverse();
        merge(&world, &runs, "all").unwrap();
        let contents = files(&world, "all");
        // The command of the shards has --jobs; the rest is the same.
        let plain = |bytes: &[u8]| {
            let mut manifest: serde_json::Value = serde_json::from_slice(bytes).unwrap();
            let command = manifest["command"].as_array_mut().unwrap();
            if let Some(at) = command.iter().position(|word| word == "--jobs") {
                command.drain(at..at + 2);
            }
            manifest
        };
        assert_eq!(plain(&contents[0]), plain(&wanted[0]));
        assert!(contents[1..] == wanted[1..], "{of} shards");
        assert!(world.path("all/report.html").is_file());
        // Again, it is the same.
        merge(&world, &runs, "all").unwrap();
        assert!(files(&world, "all") == contents);
        for folder in runs.iter().map(String::as_str).chain(["all"]) {
            std::fs::remove_dir_all(world.path(folder)).unwrap();
        }
    }
    let runs = shards(&world, 3, &[]);
    merge(&world, &runs, "all").unwrap();
    assert!(files(&world, "all") == wanted, "run.json too, where the commands are the same");
}

#[test]
fn a_shard_that_was_killed_counts_nothing_twice() {
    let world = world();
    score(&world, "all", &[]);
    let wanted = files(&world, "all");
    std::fs::rename(world.path("all"), world.path("unsharded")).unwrap();
    let mut state: u64 = 20_261_124;
    for part in 1..=3 {
        let words = words("score", &format!("part{part}"), &["--quiet", "--shard", &format!("{part}/3")]);
        for _ in 0..4 {
            state = next_state(state);
            let mut child =
                program(&world, &words).stderr(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
            std::thread::sleep(Duration::from_millis((state >> 33) % 90));
            child.kill().unwrap();
            child.wait().unwrap();
        }
        run(&world, &words).unwrap();
    }
    // A line that a process wrote twice, as after a lost disk cache: the command of the shard takes it out.
    let log = world.path("part2/items.jsonl");
    let text = std::fs::read_to_string(&log).unwrap();
    let first = text.lines().next().unwrap();
    let rest = text.lines().take(text.lines().count() - 1).skip(1).collect::<Vec<_>>().join("\n");
    std::fs::write(&log, format!("{first}\n{first}\n{rest}\n")).unwrap();
    let runs: Vec<String> = (1..=3).map(|part| format!("part{part}")).collect();
    let message = merge(&world, &runs, "all").unwrap_err();
    assert!(
        message.contains("not the log that its shard finished with") && message.contains("part2"),
        "{message}"
    );
    run(&world, &words("score", "part2", &["--quiet", "--shard", "2/3"])).unwrap();
    merge(&world, &runs, "all").unwrap();
    assert!(files(&world, "all") == wanted);
}

#[test]
fn what_is_not_all_shards_of_one_run_is_refused_by_name() {
    let world = world();
    let runs = shards(&world, 4, &[]);
    let refused = |runs: &[&str]| {
        let runs: Vec<String> = runs.iter().map(|run| (*run).to_owned()).collect();
        let message = merge(&world, &runs, "all").unwrap_err();
        assert!(!world.path("all").exists(), "{message}");
        message
    };
    let message = refused(&["part1", "part3"]);
    assert!(message.contains("2 of 4 shards are missing: 2, 4"), "{message}");
    let message = refused(&["part1", "part2", "part3", "part4", "part2"]);
    assert!(message.contains("part2 and part2 are both shard 2/4"), "{message}");

    score(&world, "whole", &[]);
    let message = refused(&["part1", "whole"]);
    assert!(message.contains("whole is not a shard"), "{message}");
    score(&world, "other", &["--shard", "2/4", "--metrics", "ex"]);
    let message = refused(&["part1", "other", "part3", "part4"]);
    assert!(
        message.contains("other is a shard of another run than part1: metrics was")
            && message.contains("is now ex@1"),
        "{message}"
    );
    score(&world, "five", &["--shard", "2/5"]);
    let message = refused(&["part1", "five", "part3", "part4"]);
    assert!(message.contains("number of shards was 4 and is now 5"), "{message}");
    std::fs::write(world.path("b.sql"), "SELECT 1\n".repeat(ITEMS)).unwrap();
    score(&world, "changed", &["--shard", "2/4"]);
    let message = refused(&["part1", "changed", "part3", "part4"]);
    assert!(message.contains("input predictions:B (b.sql) has changed"), "{message}");

    let log = world.path("part3/items.jsonl");
    let text = std::fs::read_to_string(&log).unwrap();
    std::fs::write(&log, &text[..text.len() / 2]).unwrap();
    let message = refused(&["part1", "part2", "part3", "part4"]);
    assert!(message.contains("items of shard 3/4; the command of the shard scores the others"), "{message}");
    std::fs::write(&log, text.replacen("\"ex@1\"", "\"ex@2\"", 1)).unwrap();
    unseal(&world, "part3");
    let runs: Vec<String> = runs.iter().map(|run| format!("./{run}")).collect();
    let message = merge(&world, &runs, "all").unwrap_err();
    assert!(message.contains("it has other metrics"), "{message}");
    let empty = run(&world, &words("score", "none", &["--shard", "40/50"])).unwrap_err();
    assert!(empty.contains("shard 40/50 has none of the 37 examples"), "{empty}");
    let mut without_now = words("score", "none", &["--shard", "1/2"]);
    let at = without_now.iter().position(|word| word == "--now").unwrap();
    without_now.drain(at..at + 2);
    assert!(run(&world, &without_now).unwrap_err().contains("--now"));
}

#[test]
fn verification_goes_by_shards_too() {
    let world = world();
    let verify = |out: &str, further: &[&str]| {
        run(&world, &words("verify", out, &[&["--quiet", "--bound", "1"], further].concat())).unwrap();
    };
    verify("all", &[]);
    let wanted = files(&world, "all");
    std::fs::rename(world.path("all"), world.path("unsharded")).unwrap();
    for part in ["1/2", "2/2"] {
        verify(&format!("part{}", &part[..1]), &["--shard", part]);
    }
    merge(&world, &["part1".to_owned(), "part2".to_owned()], "all").unwrap();
    assert!(files(&world, "all") == wanted);
}

#[test]
fn a_merged_run_is_a_run_for_the_other_commands() {
    let world = world();
    let runs = shards(&world, 2, &[]);
    merge(&world, &runs, "all").unwrap();
    let path = |name: &str| -> PathBuf { world.path(name) };
    let output = sqlgauge(&["compare".as_ref(), path("all").as_os_str()]);
    assert!(output.status.success(), "{}", stderr(&output));
    let output =
        sqlgauge(&["report".as_ref(), path("all").as_os_str(), "--output-format".as_ref(), "csv".as_ref()]);
    assert!(output.status.success(), "{}", stderr(&output));
}

/// Makes a shard one of an older version, which did not note the digest of its log.
fn unseal(world: &Benchmark, folder: &str) {
    let path = world.path(folder).join("run.json");
    let mut manifest: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    assert!(manifest["options"]["shard"].as_object_mut().unwrap().remove("items_sha256").is_some());
    std::fs::write(path, manifest.to_string()).unwrap();
}

#[test]
fn a_shard_that_was_changed_after_it_finished_is_refused_by_name() {
    let world = world();
    let runs = shards(&world, 3, &[]);
    // The answers of system B to its items are wrong.
    let log = world.path("part1/items.jsonl");
    let finished = std::fs::read_to_string(&log).unwrap();
    for (from, to) in [("\"ex@1\":0.0", "\"ex@1\":1.0"), ("\"db_id\":\"", "\"db_id\":\"x")] {
        assert!(finished.contains(from), "{from}");
        std::fs::write(&log, finished.replacen(from, to, 1)).unwrap();
        let message = merge(&world, &runs, "all").unwrap_err();
        assert!(message.contains("part1") && message.contains("--restart"), "{message}");
        // Nor does the command of the shard take the change for its log.
        let words = words("score", "part1", &["--quiet", "--shard", "1/3"]);
        let message = run(&world, &words).unwrap_err();
        assert!(message.contains("not the log that its shard finished with"), "{message}");
    }
    std::fs::write(&log, &finished).unwrap();
    merge(&world, &runs, "all").unwrap();
    // A shard of an older version.
    unseal(&world, "part1");
    let fixed = ["merge", "--out", "older"].map(str::to_owned);
    let output = program(&world, &[&fixed, runs.as_slice()].concat()).output().unwrap();
    assert!(output.status.success());
    let message = stderr(&output);
    assert!(
        message.contains("note: part1 has no digest of its log") && !message.contains("part2"),
        "{message}"
    );
}

#[cfg(unix)]
#[test]
fn a_pipe_in_the_place_of_a_log_is_refused_at_once() {
    let world = world();
    let runs = shards(&world, 2, &[]);
    for name in ["part1/items.jsonl", "part2/run.json"] {
        std::fs::remove_file(world.path(name)).unwrap();
        assert!(Command::new("mkfifo").arg(world.path(name)).status().unwrap().success());
        let message = merge(&world, &runs, "all").unwrap_err();
        assert!(
            message.contains(name.split('/').next().unwrap()) && message.contains("regular file"),
            "{name}: {message}"
        );
        std::fs::remove_file(world.path(name)).unwrap();
        std::fs::write(world.path(name), "{}").unwrap();
    }
}
