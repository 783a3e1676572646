//! Kills at any moment, and files that cannot grow. Given again, the command must come to the bytes of one that nothing disturbed.
//!
//! `crates/cli/tests/adversary` does the same with more commands, a disk that is full, signals and two writers.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use anyhow::{Result, ensure};
use sqlgauge_research::measure_within;

use crate::report::{END, LIMIT, Report};
use crate::{Round, shop};

/// Questions of the benchmark.
const ITEMS: usize = 40;

/// Makes the run that some commands read.
const RUN: [&str; 14] = [
    "score",
    "--gold",
    "dev.json",
    "--db",
    "database",
    "--pred",
    "fair=fair.jsonl",
    "--metrics",
    "ex,verify",
    "--now",
    "2026-01-31",
    "--out",
    "run",
    "--quiet",
];

/// The bytes of each file by its place.
type Files = BTreeMap<PathBuf, Vec<u8>>;

/// The commands that write, by their names.
fn writers() -> Vec<(&'static str, Vec<&'static str>)> {
    let benchmark = ["--gold", "dev.json", "--db", "database", "--quiet"];
    vec![
        ("score", [&shop::SCORE[..], &["--out", "out", "--quiet"]].concat()),
        ("evolve", [&["evolve", "--kinds", "all", "--out", "out"][..], &benchmark].concat()),
        (
            "augment",
            [&["evolve", "--training", "--kinds", "rename-columns", "--out", "out/a.jsonl"][..], &benchmark]
                .concat(),
        ),
        ("synth", vec!["synth", "--db", "database", "--count", "100", "--out", "out", "--quiet"]),
        ("tables", vec!["tables", "sources", "--out", "out", "--quiet"]),
        (
            "vote",
            vec![
                "vote",
                "--gold",
                "dev.json",
                "--db",
                "database",
                "--pred",
                "several=several.jsonl",
                "--now",
                "2026-01-31",
                "--out",
                "out",
            ],
        ),
        (
            "pack",
            vec![
                "pack",
                "--gold",
                "dev.json",
                "--db",
                "database",
                "--pred",
                "fair=fair.jsonl",
                "--out",
                "out",
            ],
        ),
        (
            "audit",
            vec!["audit", "--gold", "dev.json", "--db", "database", "--now", "2026-01-31", "--out", "out"],
        ),
        ("witnesses", vec!["pack", "--witnesses", "run", "--out", "out"]),
        ("bundle", vec!["bundle", "run", "--db", "database", "--out", "out"]),
    ]
}

pub(crate) fn run(round: &Round<'_>, report: &mut Report) -> Result<()> {
    for (name, words) in writers() {
        if !round.asks("disturbed", name) {
            continue;
        }
        let folder = round.folder.join("disturbed").join(name);
        let Some((expected, time)) = undisturbed(round, report, name, &folder.join("whole"), &words)? else {
            continue;
        };
        let mut random = round.random(name);
        for at in 0..round.scaled(8) {
            let place = folder.join(format!("killed{at}"));
            prepare(round, &place, &words)?;
            let mut child = round.program(&words);
            let mut child = child.current_dir(&place).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
            thread::sleep(time.mul_f64(random.unit() * 1.05));
            // It may have ended before.
            let _ = child.kill();
            child.wait()?;
            again(round, report, (name, "killed", &words), &place, &expected)?;
        }
        if cfg!(unix) {
            let largest = expected.values().map(Vec::len).max().unwrap_or_default();
            for at in 0..round.scaled(8) {
                let place = folder.join(format!("full{at}"));
                prepare(round, &place, &words)?;
                // What is written to standard error is a file too, and needs one.
                let blocks = 1 + random.below(largest.div_ceil(512).max(1));
                let mut limited = Command::new("sh");
                limited.args(["-c", &format!("ulimit -f {blocks}; exec \"$@\""), "sh"]).arg(round.binary);
                let ended = measure_within(limited.args(&words).current_dir(&place), END)?;
                report.add(("disturbed", name, "files cannot grow"), &ended, LIMIT, None);
                again(round, report, (name, "given again with room", &words), &place, &expected)?;
            }
        }
        fs::remove_dir_all(&folder)?;
    }
    Ok(())
}

/// What a command reads: the benchmark, and a run of it where it is named.
fn prepare(round: &Round<'_>, folder: &Path, words: &[&str]) -> Result<()> {
    shop::write(folder, ITEMS)?;
    if words.contains(&"run") {
        let output = round.program(RUN).current_dir(folder).output()?;
        ensure!(output.status.success(), "{RUN:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(())
}

/// The files of a run that nothing disturbs, and how long it takes; `None` where the program lacks the command.
fn undisturbed(
    round: &Round<'_>,
    report: &mut Report,
    name: &str,
    folder: &Path,
    words: &[&str],
) -> Result<Option<(Files, Duration)>> {
    prepare(round, folder, words)?;
    let ended = measure_within(round.program(words).current_dir(folder), END)?;
    report.add(("disturbed", name, "undisturbed"), &ended, LIMIT, None);
    if ended.error.contains("--features") {
        return Ok(None);
    }
    ensure!(ended.code == Some(0), "{words:?}: {}", ended.error);
    Ok(Some((files(folder)?, ended.took.wall)))
}

/// Gives the command again, which must then come to those files.
fn again(
    round: &Round<'_>,
    report: &mut Report,
    (name, what, words): (&str, &str, &[&str]),
    place: &Path,
    expected: &Files,
) -> Result<()> {
    let ended = measure_within(round.program(words).current_dir(place), END)?;
    let contents = files(place)?;
    let different =
        expected.iter().find(|(path, bytes)| contents.get(*path) != Some(*bytes)).map(|(path, _)| path);
    let further = contents.keys().find(|path| !expected.contains_key(*path));
    let wrong =
        different.or(further).map(|path| format!("{} is not that of a run undisturbed", path.display()));
    // Some write into an empty folder alone, and say so of one that is whole.
    let wrong = wrong.or_else(|| {
        let wants_empty = ["tables", "witnesses"].contains(&name);
        let is_late = wants_empty && ended.error.contains("not empty");
        (ended.code != Some(0) && !is_late).then(|| format!("code {:?} with room and time", ended.code))
    });
    report.add(("disturbed", name, what), &ended, LIMIT, wrong);
    Ok(fs::remove_dir_all(place)?)
}

/// Every file below the folder but locks, with its bytes.
fn files(folder: &Path) -> Result<Files> {
    let (mut contents, mut folders) = (Files::new(), vec![folder.to_owned()]);
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_none_or(|extension| extension != "lock") {
                contents.insert(path.strip_prefix(folder)?.to_owned(), fs::read(&path)?);
            }
        }
    }
    Ok(contents)
}
