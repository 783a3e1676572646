//! `cargo xtask long` runs the long tests.
//!
//! # Contract
//! `cargo test --workspace --features full` runs the tests that are done in seconds. A longer one has `#[ignore = "long: cargo xtask long"]`
//! and runs here. Nothing else is ignored but what `FOR_READERS` lists.

use std::process::{Command, Stdio};
use std::thread;

use anyhow::{Context, Result, anyhow, ensure};

use crate::root;

/// They mostly wait for other programs, so they run side by side with the rest. Neither asserts a time.
const WAITING: [&str; 2] = ["browser::", "wheel::"];

/// It prints what a person is to read.
const FOR_READERS: [&str; 1] = ["mutations::slips_planted_in_the_golds_of_spider"];

/// Runs all long tests; every program runs even if an earlier one fails.
pub(crate) fn run() -> Result<()> {
    ensure!(
        test(&["--no-run"]).status().context("cargo cannot be started")?.success(),
        "the tests do not build"
    );
    let others = [&WAITING[..], &FOR_READERS].concat();
    let skipped = others.iter().flat_map(|name| ["--skip", *name]);
    // Without the examples of the documentation. An ignored one of them is only to be read.
    let programs = ["--no-fail-fast", "--lib", "--bins", "--tests", "--", "--ignored", "--show-output"];
    let mut rest = test(&programs);
    rest.args(skipped);
    let mut waiting = test(&["--no-fail-fast", "--tests", "--", "--ignored", "--show-output"]);
    let waiting = waiting.args(WAITING).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let waiting = waiting.context("cargo cannot be started")?;
    // In a thread, so that what they print is read while the rest runs.
    let waiting = thread::spawn(|| waiting.wait_with_output());
    let rest = rest.status().context("cargo cannot be started")?;
    let waiting =
        waiting.join().map_err(|_| anyhow!("the output of {} was not read", WAITING.join(", ")))??;
    print!("{}", String::from_utf8_lossy(&waiting.stdout));
    eprint!("{}", String::from_utf8_lossy(&waiting.stderr));
    ensure!(rest.success() && waiting.status.success(), "a long test failed");
    Ok(())
}

fn test(arguments: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command
        .current_dir(root())
        .args(["test", "--workspace", "--features", "full", "--locked"])
        .args(arguments);
    command
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};

    use super::FOR_READERS;
    use crate::root;

    const LONG: &str = "#[ignore = \"long: cargo xtask long\"]";

    /// Every file of Rust in a folder but those that a build wrote.
    fn sources(folder: &Path) -> Vec<PathBuf> {
        let mut sources = Vec::new();
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() && !path.ends_with("target") {
                sources.extend(self::sources(&path));
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                sources.push(path);
            }
        }
        sources
    }

    /// The tests of a file that are ignored, each with its attribute.
    fn ignored(text: &str) -> Vec<(String, String)> {
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        let attributes = lines.iter().enumerate().filter(|(_, line)| line.starts_with("#[ignore"));
        let name = |below: &[&str]| {
            let line = below.iter().find_map(|line| line.split_once("fn ")).unwrap_or_default();
            line.1.split('(').next().unwrap_or_default().to_owned()
        };
        attributes.map(|(at, line)| (name(&lines[at..]), (*line).to_owned())).collect()
    }

    #[test]
    fn what_is_ignored_is_long() {
        let mut long = 0;
        for path in
            ["crates", "python", "testing", "xtask"].iter().flat_map(|wing| sources(&root().join(wing)))
        {
            for (name, attribute) in ignored(&fs::read_to_string(&path).unwrap()) {
                let is_for_readers = FOR_READERS.iter().any(|test| test.ends_with(&format!("::{name}")));
                assert!(attribute == LONG || is_for_readers, "{}: {name}: write {LONG}", path.display());
                long += usize::from(attribute == LONG);
            }
        }
        assert!(long > 20, "{long}");
    }

    #[test]
    fn another_reason_is_seen() {
        let text = "    #[test]\n    #[ignore = \"flaky\"]\n    #[cfg(unix)]\n    fn a_test() {}\n";
        assert_eq!(ignored(text), [("a_test".to_owned(), "#[ignore = \"flaky\"]".to_owned())]);
    }
}
