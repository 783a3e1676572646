//! `cargo xtask size`: how large the project is, next to a table of how large it may be.
//!
//! # Contract
//! - `xtask/size.tsv` has the code lines of each crate as last agreed, and a bound for the words of all Markdown, the
//!   crates of the default build, the programs of tests and the CPU seconds of README's first command.
//! - A crate may grow by 2 %. Beyond, `docs/explanation/decisions.md` has a row under "What grew" with its new lines and what was
//!   deleted for it. A bound has no exception.
//! - A code line is one that is neither blank nor a comment, outside of `tests/` and of `#[cfg(test)]`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::limits::{self, read};
use crate::root;

const TABLE: &str = "xtask/size.tsv";
const SECTION: &str = "## What grew";
/// Percent that a crate may grow by.
const MARGIN: usize = 2;
const SECONDS: &str = "CPU seconds of README's first command";
const BOUNDS: [&str; 4] = ["words of Markdown", "crates of the default build", "test programs", SECONDS];

/// Prints every size beside its limit.
///
/// # Errors
/// If one is above its limit.
pub(crate) fn check() -> Result<()> {
    let table = limits::table(TABLE)?;
    let mut limits = limits::limits(&table, SECTION, |lines| lines * MARGIN / 100)?;
    let bounds = BOUNDS.iter().filter_map(|name| table.get_key_value(*name));
    limits.extend(bounds.map(|(name, bound)| (name.clone(), *bound)));
    limits::compare(&sizes(&table)?, &limits, TABLE, SECTION)
}

/// Writes the code lines of all crates as they are now; bounds stay.
pub(crate) fn write() -> Result<()> {
    let table = limits::table(TABLE)?;
    let mut sizes = sizes(&table)?;
    for (name, size) in sizes.iter_mut().filter(|(name, _)| BOUNDS.contains(&name.as_str())) {
        *size = table.get(name).copied().unwrap_or(*size);
    }
    limits::write(TABLE, &sizes)
}

/// Runs README's first command from an empty target folder and prints its CPU seconds.
pub(crate) fn measure() -> Result<()> {
    let readme = read("README.md")?;
    let command = readme
        .lines()
        .find(|line| line.starts_with("cargo run "))
        .context("README.md has no line that begins with `cargo run `")?;
    let folder = root().join("target/size");
    let _absent = std::fs::remove_dir_all(&folder);
    let command = command.split('#').next().unwrap_or_default().trim();
    let script = format!("{command} > /dev/null && times");
    let output = Command::new("bash")
        .args(["-c", &script])
        .current_dir(root())
        .env("CARGO_TARGET_DIR", &folder)
        .output()
        .context("bash cannot be started")?;
    let _absent = std::fs::remove_dir_all(&folder);
    ensure!(output.status.success(), "{command} failed: {}", String::from_utf8_lossy(&output.stderr));
    // The last line is that of the processes that the shell has started.
    let times = String::from_utf8_lossy(&output.stdout);
    println!("user and system time of `{command}`: {}", times.lines().last().unwrap_or_default());
    Ok(())
}

/// All sizes as they are now. The CPU seconds are those of the table: `--measure` takes minutes.
fn sizes(table: &BTreeMap<String, usize>) -> Result<Vec<(String, usize)>> {
    let metadata: Value =
        serde_json::from_str(&output("cargo", &["metadata", "--no-deps", "--format-version", "1"])?)?;
    let packages = metadata["packages"].as_array().context("cargo metadata has no packages")?;
    let files = output("git", &["ls-files"])?;
    let mut sizes = Vec::new();
    let mut programs = 0;
    for package in packages {
        let text = |field: &str| package[field].as_str().with_context(|| format!("a package has no {field}"));
        let folder = Path::new(text("manifest_path")?).parent().context("a manifest has no folder")?;
        let folder = folder.strip_prefix(root())?.to_str().context("a folder is not UTF-8")?;
        sizes.push((text("name")?.to_owned(), lines_below(folder, &files)?));
        let targets = package["targets"].as_array().context("a package has no targets")?;
        programs += targets.iter().filter(|target| target["kind"][0] == "test").count();
    }
    sizes.sort();
    let words = files.lines().filter(|path| has_ending(path, "md")).map(read);
    let words: usize = words.map(|text| Ok(text?.split_whitespace().count())).sum::<Result<_>>()?;
    let tree =
        ["tree", "--package", "sqlgauge", "--edges", "normal,build", "--prefix", "none", "--format", "{p}"];
    let tree = output("cargo", &tree)?;
    let crates: BTreeSet<&str> = tree.lines().map(|line| line.trim_end_matches(" (*)")).collect();
    let seconds = table.get(SECONDS).copied().unwrap_or_default();
    let now = [words, crates.len(), programs, seconds];
    sizes.extend(BOUNDS.iter().zip(now).map(|(name, size)| ((*name).to_owned(), size)));
    Ok(sizes)
}

fn output(program: &str, arguments: &[&str]) -> Result<String> {
    let output = Command::new(program)
        .args(arguments)
        .current_dir(root())
        .output()
        .with_context(|| format!("{program} cannot be started"))?;
    ensure!(output.status.success(), "{program} failed: {}", String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8(output.stdout)?)
}

fn has_ending(path: &str, ending: &str) -> bool {
    Path::new(path).extension().is_some_and(|extension| extension == ending)
}

fn lines_below(folder: &str, files: &str) -> Result<usize> {
    let is_code = |path: &&str| {
        let inside = path.strip_prefix(folder).and_then(|path| path.strip_prefix('/'));
        inside.is_some_and(|path| {
            has_ending(path, "rs") && !path.split('/').any(|part| part == "tests" || part == "tests.rs")
        })
    };
    files.lines().filter(is_code).map(|path| Ok(code_lines(&read(path)?))).sum()
}

fn code_lines(text: &str) -> usize {
    let mut count = 0;
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let code = line.trim_start();
        if code == "#[cfg(test)]" {
            let closing = format!("{}}}", &line[..line.len() - code.len()]);
            let attributes = lines.by_ref().skip_while(|line| line.trim_start().starts_with("#["));
            let mut attributes = attributes.peekable();
            if attributes.next_if(|first| first.ends_with('{')).is_some() {
                let _body = attributes.find(|line| *line == closing);
            }
        } else if !code.is_empty() && !code.starts_with("//") {
            count += 1;
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_comments_and_blanks_are_no_code() {
        let text = "//! Head.\n\nuse a::b;\n\n/// Doc.\nfn f() {\n    // why\n    g();\n    #[cfg(test)]\n    h();\n}\n\n#[cfg(test)]\nmod other;\n\n#[cfg(test)]\n#[expect(x)]\nmod tests {\n    fn t() {\n    }\n}\n\nfn last() {}\n";
        assert_eq!(code_lines(text), 5);
    }
}
