//! The examples of README and of a tutorial run as printed, and print what stands below them.

use std::path::Path;
use std::process::{Command, Output};

const README: &str = include_str!("../../../../README.md");
const TUTORIAL: &str = include_str!("../../../../docs/tutorials/why-is-this-wrong.md");

/// What the folder of the examples is called in both.
const FOLDER: &str = "sqlgauge-demo/benchmark";

/// The contents of a document's fenced blocks of a language.
fn blocks<'a>(document: &'a str, language: &str) -> Vec<&'a str> {
    let fenced = document.split("\n```").skip(1).step_by(2);
    fenced.filter_map(|block| block.strip_prefix(language)?.strip_prefix('\n')).collect()
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
    let shell = Command::new("sh")
        .args(["-c", command])
        .current_dir(folder)
        .env("PATH", path)
        .env("COLUMNS", "120")
        .output();
    shell.unwrap()
}

/// The words of a line of a table, however wide its columns are.
fn words(line: &str) -> String {
    let words = line.split(|c: char| c.is_whitespace() || "─═│".contains(c)).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
}

/// Runs the examples after a demo, and finds every line of the document's outputs in what was printed.
fn check(document: &str, least: usize) {
    assert!(document.contains(FOLDER));
    let folder = tempfile::tempdir().unwrap();
    let demo = run("sqlgauge demo", folder.path());
    assert!(demo.status.success(), "{}", String::from_utf8_lossy(&demo.stderr));
    let mut printed = String::from_utf8_lossy(&demo.stdout).into_owned();

    let examples: Vec<String> = blocks(document, "sh")
        .into_iter()
        .filter(|block| !block.contains("cargo ") && !block.starts_with("cd "))
        .flat_map(commands)
        .collect();
    assert!(examples.iter().filter(|command| command.starts_with("sqlgauge ")).count() >= least);
    for command in examples {
        let output = run(&command, &folder.path().join(FOLDER));
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(announced(&command)), "{command}\n{message}");
        // `show` finds the databases of the demo from any folder.
        assert!(!message.contains("cannot be read"), "{command}\n{message}");
        printed.push_str(&String::from_utf8_lossy(&output.stdout));
    }

    let printed: Vec<String> = printed.lines().map(words).collect();
    for line in blocks(document, "text").iter().flat_map(|block| block.lines()) {
        assert!(printed.contains(&words(line)), "not printed: `{line}`");
    }
}

#[test]
#[ignore = "long: cargo xtask long"]
fn the_examples_of_the_readme_run_as_printed() {
    check(README, 7);
}

#[test]
#[ignore = "long: cargo xtask long"]
fn the_examples_of_the_tutorial_run_as_printed() {
    check(TUTORIAL, 6);
}
