//! Faults: the process is killed at any moment, the disk is full at any moment, two processes write at once, and inputs
//! are damaged anywhere.
//!
//! What must hold: a command that goes on afterwards ends with outputs equal byte for byte to those of a command that
//! nothing disturbed, and leaves nothing else; damaged inputs give exit code 0, 1 or 2 and never a defect of our own.
//!
//! The tests are small here. `SQLGAUGE_ADVERSARY=KILLS,FULL,MUTATIONS` makes them as large as one wants, and
//! `SQLGAUGE_ADVERSARY_SEED` others; every failure names what is needed to see it again.

mod damage;
mod disk;
mod inputs;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::time::{Duration, Instant};

use sqlgauge_base::{Random, seed_of};
use tempfile::TempDir;

use crate::common::{assert_same, stderr, tree};
use damage::{FORGED, damage};
use disk::{Disk, PAGE};
use inputs::Inputs;

/// Seconds that a command may compute with a damaged input; it is killed then, which is a failure. Time by the clock would count
/// what else the machine does.
const LONGEST: u64 = 60;

/// How often to kill, to fill the disk, to damage an input.
fn sizes() -> [usize; 3] {
    let text = std::env::var("SQLGAUGE_ADVERSARY").unwrap_or_else(|_| "3,3,60".to_owned());
    let sizes: Vec<usize> = text.split(',').map(|size| size.parse().unwrap()).collect();
    sizes.try_into().expect("SQLGAUGE_ADVERSARY is KILLS,FULL,MUTATIONS")
}

fn seed() -> u64 {
    std::env::var("SQLGAUGE_ADVERSARY_SEED").map_or(0, |text| text.parse().unwrap())
}

fn command(folder: &Path, arguments: &[String]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sqlgauge"));
    command.current_dir(folder).args(arguments).stdin(Stdio::null());
    command
}

/// The same, killed once it has computed for [`LONGEST`].
fn bounded(folder: &Path, arguments: &[String]) -> Command {
    let mut command = Command::new("sh");
    let script = format!("ulimit -t {LONGEST}; exec \"$@\"");
    command.args(["-c", &script, "sh", env!("CARGO_BIN_EXE_sqlgauge")]).args(arguments);
    command.current_dir(folder).stdin(Stdio::null());
    piped(command)
}

/// The commands whose outputs are files, with their outputs.
fn writers() -> Vec<(Vec<&'static str>, &'static str)> {
    let mut writers = vec![
        (vec!["score", "--out", "out", "--quiet"], "out"),
        (vec!["import", "--out", "out", "--quiet"], "out"),
        (vec!["verify", "--out", "out", "--quiet"], "out"),
        (vec!["pack", "--witnesses", "verified", "--out", "suite"], "suite"),
        (vec!["monitor", "--out", "out", "--log", "out/log.jsonl", "--as-of", "may", "--quiet"], "out"),
        (vec!["evolve", "--kinds", "all", "--out", "out", "--quiet"], "out"),
        (vec!["synth", "--out", "out", "--quiet"], "out"),
        (vec!["tables", "sources", "--out", "corpus", "--quiet"], "corpus"),
        (vec!["coverage", "ours=dev.json@database", "--out", "out", "--quiet"], "out"),
        (
            vec![
                "evolve",
                "--training",
                "--kinds",
                "rename-columns",
                "--out",
                "out/augmented.jsonl",
                "--quiet",
            ],
            "out",
        ),
    ];
    if cfg!(feature = "evaluator") {
        writers.push((vec!["encode", "--out", "out.parquet", "--quiet"], "out.parquet"));
        writers.push((vec!["fit", "--out", "out", "--quiet"], "out"));
    }
    writers
}

/// A copy of the inputs, in which one command writes.
fn copy(inputs: &Inputs) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    copy_folder(inputs.folder.path(), folder.path());
    fs::create_dir(folder.path().join("out")).unwrap();
    folder
}

fn copy_folder(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).unwrap() {
        let (source, target) = (entry.as_ref().unwrap().path(), to.join(entry.unwrap().file_name()));
        if source.is_dir() {
            fs::create_dir_all(&target).unwrap();
            copy_folder(&source, &target);
        } else {
            fs::copy(&source, &target).unwrap();
        }
    }
}

/// What a command leaves that nothing disturbed, and how long it took.
fn undisturbed(inputs: &Inputs, arguments: &[String]) -> (BTreeMap<PathBuf, Vec<u8>>, Duration) {
    let folder = copy(inputs);
    let begun = Instant::now();
    let output = command(folder.path(), arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", stderr(&output));
    (tree(folder.path()), begun.elapsed())
}

/// What `witnesses` and `tables` say of a folder that is there.
const LATE: [&str; 2] = ["suite is not empty", "corpus: directory not empty"];

/// Runs the command again. One that writes into no folder but an empty one says that it is not: what is there is then
/// what an earlier one put there.
fn finish(folder: &Path, arguments: &[String], what: &str) {
    let output = command(folder, arguments).output().unwrap();
    let is_there = LATE.iter().any(|late| stderr(&output).contains(late));
    assert!(output.status.success() || is_there, "{what}: {}", stderr(&output));
}

#[test]
#[ignore = "long: cargo xtask long"]
fn a_command_that_was_killed_goes_on_to_the_same_files() {
    let inputs = Inputs::new();
    let [kills, ..] = sizes();
    for (words, _) in writers() {
        let arguments = Inputs::arguments(&words);
        let (expected, time) = undisturbed(&inputs, &arguments);
        let mut random = Random::new([seed(), seed_of(words[0])]);
        for round in 0..kills {
            let folder = copy(&inputs);
            let pause = time.mul_f64(random.unit() * 1.05);
            let mut child = quiet(command(folder.path(), &arguments)).spawn().unwrap();
            std::thread::sleep(pause);
            let _ = child.kill();
            child.wait().unwrap();
            let what = format!("{} killed after {pause:?}, round {round}", words[0]);
            finish(folder.path(), &arguments, &what);
            assert_same(&tree(folder.path()), &expected, &what);
        }
    }
}

/// Waits until a command handles the signals that end it, or has ended: on a busy machine it may not have come so far. Where the
/// system does not say what is handled, it is taken to be.
fn await_handlers(child: &mut Child) {
    const INT: u32 = 2;
    const TERM: u32 = 15;
    let status = format!("/proc/{}/status", child.id());
    let handled = || {
        let text = fs::read_to_string(&status).ok()?;
        let caught = text.lines().find_map(|line| line.strip_prefix("SigCgt:"))?;
        u64::from_str_radix(caught.trim(), 16).ok()
    };
    while child.try_wait().unwrap().is_none() {
        if handled().is_none_or(|caught| [INT, TERM].iter().all(|signal| caught >> (signal - 1) & 1 == 1)) {
            return;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
#[ignore = "long: cargo xtask long"]
fn a_signal_ends_a_command_with_its_code_and_a_sentence() {
    let inputs = Inputs::new();
    for (words, _) in writers() {
        let arguments = Inputs::arguments(&words);
        let (expected, time) = undisturbed(&inputs, &arguments);
        for (signal, code) in [("INT", 130), ("TERM", 143)] {
            let folder = copy(&inputs);
            let mut child = piped(command(folder.path(), &arguments)).spawn().unwrap();
            std::thread::sleep(time.mul_f64(0.4));
            await_handlers(&mut child);
            Command::new("kill").args([&format!("-{signal}"), &child.id().to_string()]).status().unwrap();
            let output = child.wait_with_output().unwrap();
            let what = format!("{} with SIG{signal}: {}", words[0], stderr(&output));
            // A command that had ended before is as good.
            assert!([Some(code), Some(0)].contains(&output.status.code()), "{what} {:?}", output.status);
            let is_reported = stderr(&output).contains("interrupted: ");
            assert_eq!(is_reported, output.status.code() == Some(code), "{what}");
            finish(folder.path(), &arguments, &what);
            assert_same(&tree(folder.path()), &expected, &what);
        }
    }
}

#[test]
#[ignore = "long: cargo xtask long"]
fn a_disk_that_is_full_leaves_what_was_there_and_a_sentence() {
    let inputs = Inputs::new();
    let [_, full, _] = sizes();
    for (words, output) in writers() {
        let arguments = Inputs::arguments(&words);
        let (expected, _) = undisturbed(&inputs, &arguments);
        let is_output = |path: &Path| path.starts_with(output);
        let largest =
            expected.iter().filter(|(path, _)| is_output(path)).map(|(_, bytes)| bytes.len()).max().unwrap();
        let mut random = Random::new([seed(), seed_of(words[0]), 1]);
        for round in 0..full {
            if round % 2 == 1 && Disk::can_be_made() {
                let disk = Disk::with(&inputs);
                let pages: usize = (expected.iter().filter(|(path, _)| is_output(path)))
                    .map(|(_, bytes)| bytes.len().div_ceil(PAGE) + 1)
                    .sum();
                let free = random.below(pages * 2) * PAGE;
                disk.leave(free);
                let output_of_command = command(disk.path(), &arguments).output().unwrap();
                let what = format!("{} with {free} bytes free: {}", words[0], stderr(&output_of_command));
                assert_refused(&output_of_command, disk.path(), &expected, &what);
                disk.leave(64 << 20);
                finish(disk.path(), &arguments, &what);
                assert_same(&tree(disk.path()), &expected, &what);
                continue;
            }
            let folder = copy(&inputs);
            // Files may not grow beyond so many blocks: the system refuses the write as it does on a full disk.
            let blocks = random.below(largest.div_ceil(512));
            let script = format!("ulimit -f {blocks}; exec \"$@\"");
            let mut limited = Command::new("sh");
            limited.args(["-c", &script, "sh", env!("CARGO_BIN_EXE_sqlgauge")]).args(&arguments);
            let output_of_command = limited.current_dir(folder.path()).output().unwrap();
            let what = format!("{} with ulimit -f {blocks}: {}", words[0], stderr(&output_of_command));
            assert_refused(&output_of_command, folder.path(), &expected, &what);
            finish(folder.path(), &arguments, &what);
            assert_same(&tree(folder.path()), &expected, &what);
        }
    }
}

/// A command that did not find room for all ended with a sentence, and left nothing that does not belong there.
fn assert_refused(output: &Output, folder: &Path, expected: &BTreeMap<PathBuf, Vec<u8>>, what: &str) {
    assert!([Some(0), Some(2)].contains(&output.status.code()), "{what} {:?}", output.status);
    assert!(output.status.success() || stderr(output).contains("error: "), "{what}");
    let left = tree(folder);
    // What `evolve` and `synth` have made so far lies in folders of their own, which the next call takes up.
    let goes_on = |path: &Path| {
        [".sqlgauge-partial/", "out/units/"].iter().any(|part| path.to_string_lossy().contains(part))
    };
    let belongs = |path: &PathBuf| expected.contains_key(path) || goes_on(path);
    assert!(left.keys().all(belongs), "{what} leaves {:?}", left.keys());
}

#[test]
#[ignore = "long: cargo xtask long"]
fn two_writers_leave_the_files_of_one() {
    let inputs = Inputs::new();
    for (words, _) in writers() {
        let arguments = Inputs::arguments(&words);
        let (expected, _) = undisturbed(&inputs, &arguments);
        let folder = copy(&inputs);
        let children: Vec<Child> =
            (0..2).map(|_| piped(command(folder.path(), &arguments)).spawn().unwrap()).collect();
        let outputs: Vec<Output> =
            children.into_iter().map(|child| child.wait_with_output().unwrap()).collect();
        let ended = |status: ExitStatus| status.code();
        assert!(outputs.iter().any(|output| output.status.success()), "{words:?}");
        for output in outputs.iter().filter(|output| !output.status.success()) {
            let text = stderr(output);
            let is_late = LATE.iter().any(|late| text.contains(late)) || text.contains("another process is");
            assert!(ended(output.status) == Some(2) && is_late, "{text}");
        }
        finish(folder.path(), &arguments, words[0]);
        assert_same(&tree(folder.path()), &expected, words[0]);
    }
}

/// Every reader: the file that is damaged, and a command that reads it.
fn readers() -> Vec<(&'static str, Vec<&'static str>)> {
    let mut readers = vec![
        ("known/run.json", vec!["report", "known", "--output-format", "json"]),
        ("known/run.json", vec!["show", "known", "--system", "good", "--id", "3"]),
        ("known/run.json", vec!["compare", "known"]),
        ("known/items.jsonl", vec!["report", "known", "--output-format", "csv"]),
        ("known/items.jsonl", vec!["report", "known", "--output-format", "html", "-o", "-"]),
        ("known/items.jsonl", vec!["score", "--out", "known", "--quiet"]),
        ("known/items.index", vec!["show", "known", "--system", "good", "--id", "3"]),
        ("known/items.index", vec!["score", "--out", "known", "--quiet"]),
        ("known/summary.json", vec!["report", "known"]),
        ("known/run.json", vec!["estimate", "--quiet"]),
        ("known/items.jsonl", vec!["estimate", "--quiet"]),
        ("good.jsonl", vec!["score", "--out", "out", "--quiet"]),
        ("dev.json", vec!["score", "--out", "out", "--quiet"]),
        ("good.csv", vec!["score-alone", "--gold", "dev.json", "--pred", "good=good.csv"]),
        ("good-list.json", vec!["score-alone", "--gold", "dev.json", "--pred", "good=good-list.json"]),
        ("good-map.json", vec!["score-alone", "--gold", "dev.json", "--pred", "good=good-map.json"]),
        ("good.sql", vec!["score-alone", "--gold", "gold.sql", "--pred", "good=good.sql"]),
        ("gold.sql", vec!["score-alone", "--gold", "gold.sql", "--pred", "good=good.sql"]),
        ("dev.json", vec!["import", "--out", "out", "--quiet"]),
        ("labels.tsv", vec!["import", "--out", "out", "--quiet"]),
        ("tables.json", vec!["inspect", "tables.json"]),
        ("schema.sql", vec!["inspect", "schema.sql", "--json"]),
        ("schema.sql", vec!["verify-pair", "--schema", "schema.sql"]),
        ("verified/run.json", vec!["pack", "--witnesses", "verified", "--out", "suite"]),
        ("verified/items.jsonl", vec!["pack", "--witnesses", "verified", "--out", "suite"]),
        ("verified/items.jsonl", vec!["verify", "--out", "verified", "--quiet"]),
        ("database/shop/shop.sqlite", vec!["pack", "--witnesses", "verified", "--out", "suite"]),
        ("own.toml", vec!["--config", "own.toml", "metrics"]),
        ("log.jsonl", vec!["monitor", "--log", "log.jsonl", "--as-of", "june", "--quiet"]),
        ("database/shop/shop.sqlite", vec!["inspect", "database/shop/shop.sqlite"]),
        ("database/shop/shop.sqlite", vec!["score", "--out", "out", "--quiet", "--timeout", "5"]),
    ];
    if cfg!(feature = "evaluator") {
        readers.extend([
            ("source.parquet", vec!["shift", "--source", "source.parquet", "--target", "source.parquet"]),
            ("source.parquet", vec!["encode", "--out", "out.parquet", "--like", "source.parquet", "--quiet"]),
            ("source.parquet", vec!["fit", "--out", "out", "--quiet"]),
            (
                "evaluator/card.json",
                vec!["estimate", "--evaluator", "evaluator", "--questions", "source.parquet"],
            ),
            (
                "evaluator/evaluator.safetensors",
                vec!["estimate", "--evaluator", "evaluator", "--questions", "source.parquet"],
            ),
            (FORGED, vec!["estimate", "--evaluator", "evaluator", "--questions", "source.parquet"]),
        ]);
    }
    readers
}

#[test]
#[ignore = "long: cargo xtask long"]
fn a_damaged_input_is_an_error_with_a_sentence() {
    let inputs = Inputs::new();
    let [.., mutations] = sizes();
    let readers = readers();
    let mut codes: BTreeMap<i32, usize> = BTreeMap::new();
    for round in 0..mutations {
        let (file, words) = &readers[round % readers.len()];
        let mut random = Random::new([seed(), round as u64]);
        let folder = copy(&inputs);
        damage(folder.path(), file, &mut random);
        // Enough time for every command, and far less than a damaged count may ask for.
        let output = bounded(folder.path(), &Inputs::arguments(words)).output().unwrap();
        let what = format!("round {round}, {file}, {words:?}: {}", stderr(&output));
        let code = output.status.code();
        // Of a pair it may be unknown whether it is equivalent.
        let most = if words[0] == "verify-pair" { 3 } else { 2 };
        assert!(code.is_some_and(|code| (0..=most).contains(&code)), "{what} {:?}", output.status);
        let printed = [output.stdout, output.stderr].concat();
        let printed = String::from_utf8_lossy(&printed);
        assert!(!printed.contains("defect of its own"), "{what}");
        assert!(!printed.contains(sqlgauge_base::is_obeyed), "{what}: what a terminal obeys is printed");
        *codes.entry(code.unwrap_or(-1)).or_default() += 1;
    }
    eprintln!("{mutations} damaged inputs, by exit code: {codes:?}");
}

/// Numbers that no run can have are refused, and nothing is set aside for them.
#[test]
#[ignore = "long: cargo xtask long"]
fn an_absurd_option_is_an_error_with_a_sentence() {
    let inputs = Inputs::new();
    let mut absurd = vec![
        ("score", "--jobs", "18446744073709551615"),
        ("score", "--max-rows", "18446744073709551615"),
        ("score", "--timeout", "1e300"),
        ("score", "--max-heap", "18446744073709551615"),
    ];
    if cfg!(feature = "evaluator") {
        absurd.extend([
            ("fit", "--sets", "18446744073709551615"),
            ("fit", "--set-size", "18446744073709551615"),
            ("fit", "--smallest-set", "18446744073709551615"),
            ("fit", "--slices", "4294967295"),
            ("shift", "--slices", "4294967295"),
            ("shift", "--top", "18446744073709551615"),
            ("encode", "--batch", "4294967295"),
        ]);
    }
    for (name, option, value) in absurd {
        let folder = copy(&inputs);
        let words = match name {
            "shift" => vec!["shift", "--source", "source.parquet", "--target", "source.parquet"],
            "encode" => vec!["encode", "--out", "out.parquet", "--quiet"],
            name => vec![name, "--out", "out", "--quiet"],
        };
        let mut arguments = Inputs::arguments(&words);
        match arguments.iter().position(|argument| argument == option) {
            Some(place) => value.clone_into(&mut arguments[place + 1]),
            None => arguments.extend([option.to_owned(), value.to_owned()]),
        }
        let output = bounded(folder.path(), &arguments).output().unwrap();
        let what = format!("{name} {option} {value}: {}", stderr(&output));
        assert!(
            output.status.code().is_some_and(|code| (0..=2).contains(&code)),
            "{what} {:?}",
            output.status
        );
        assert!(!what.contains("defect of its own"), "{what}");
    }
}

fn quiet(mut command: Command) -> Command {
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command
}

fn piped(mut command: Command) -> Command {
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}
