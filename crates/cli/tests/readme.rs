//! The examples of README run as printed, and print what README shows.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;
use std::process::{Command, Output};

const README: &str = include_str!("../../../README.md");

/// What the folder of the examples is called in README.
const FOLDER: &str = "sqlgauge-demo/benchmark";

/// The contents of the fenced blocks of a language.
fn blocks(language: &str) -> Vec<String> {
    let (mut blocks, mut open): (Vec<String>, bool) = (Vec::new(), false);
    for line in README.lines() {
        match (open, line.strip_prefix("```")) {
            (true, Some(_)) => open = false,
            (true, None) => {
                if let Some(block) = blocks.last_mut() {
                    block.push_str(line);
                    block.push('\n');
                }
            }
            (false, Some(after)) if after == language => {
                open = true;
                blocks.push(String::new());
            }
            (false, _) => {}
        }
    }
    blocks
}

/// The commands of a block: a line that ends in a backslash goes on in the next one.
fn commands(block: &str) -> Vec<String> {
    block.replace("\\\n", "").lines().map(str::to_owned).collect()
}

/// The exit code that a command's comment announces.
fn announced(command: &str) -> i32 {
    let code = command.split_once("# exit code ").and_then(|(_, comment)| comment.chars().next());
    code.and_then(|digit| digit.to_digit(10)).map_or(0, u32::cast_signed)
}

fn run(command: &str, folder: &Path) -> Output {
    let program = Path::new(env!("CARGO_BIN_EXE_sqlgauge")).parent().unwrap();
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap_or_default());
    let shell = Command::new("sh").args(["-c", command]).current_dir(folder).env("PATH", path).output();
    shell.unwrap()
}

/// The words of a line of a table, however wide its columns are.
fn words(line: &str) -> String {
    let kept = line.split(|c: char| c.is_whitespace() || "─═│".contains(c)).filter(|word| !word.is_empty());
    kept.collect::<Vec<_>>().join(" ")
}

#[test]
fn the_examples_run_as_printed() {
    let folder = tempfile::tempdir().unwrap();
    let demo = run("sqlgauge demo", folder.path());
    assert!(demo.status.success(), "{}", String::from_utf8_lossy(&demo.stderr));

    let printed: Vec<String> = String::from_utf8_lossy(&demo.stdout).lines().map(words).collect();
    for line in blocks("text").iter().flat_map(|block| block.lines()) {
        assert!(printed.contains(&words(line)), "the demo does not print `{line}`");
    }

    assert!(README.contains(&format!("The examples run in `{FOLDER}`")));
    let examples: Vec<String> = blocks("sh")
        .iter()
        .filter(|block| !block.contains("cargo "))
        .flat_map(|block| commands(block))
        .collect();
    assert!(examples.iter().filter(|command| command.starts_with("sqlgauge ")).count() >= 5);
    for command in examples {
        let output = run(&command, &folder.path().join(FOLDER));
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(announced(&command)), "{command}\n{said}");
    }
}
