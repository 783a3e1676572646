//! The chores of the repository:
//!
//! - `cargo xtask check` is the quick check before a commit: format, lints, unit tests, links;
//! - `cargo xtask long` runs the long tests, which `cargo test` leaves out;
//! - `cargo xtask docs` writes the generated pages; with `--check` it fails if one is not current, a link is broken, a promise of
//!   `SECURITY.md` does not name a test, or a first line, a help text or an error message has a phrase that `words` refuses;
//! - `cargo xtask size` prints how large everything is and may be, and fails where something is too large; `--write` makes the
//!   lines of crates as they are the new table, `--measure` takes the CPU seconds of README's first command;
//! - `cargo xtask work` counts the instructions of ten small jobs with valgrind, and fails where one takes 5 % more than its
//!   table says; `--write` makes the counts the new table;
//! - `cargo xtask links` checks the links alone;
//! - `cargo xtask schemas FOLDER` writes a JSON Schema of each file that `docs/reference/files.md` lists;
//! - `cargo xtask book` builds the documentation as a book;
//! - `cargo xtask research PROGRAM ARGS…` runs a program of `research/`;
//! - `cargo xtask pictures` takes the pictures of README from the demo, with Chromium.

mod audit_page;
mod causes_page;
mod cli_page;
mod extraction_page;
mod files_page;
mod help;
mod limits;
mod links;
mod long;
mod metrics_page;
mod pictures;
mod programs;
mod promises;
mod quotes;
mod research;
mod rules_page;
mod size;
mod wings;
mod words;
mod work;

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

const USAGE: &str = "usage: cargo xtask check | long | docs [--check] | size [--write | --measure] | work [--write] | links | schemas FOLDER | book | pictures | research PROGRAM ARGS";

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["check"] => quick_check(),
        ["docs"] => docs(false),
        ["docs", "--check"] => {
            docs(true)?;
            links::check()?;
            promises::check()?;
            pictures::check()?;
            words::check()
        }
        ["long"] => long::run(),
        ["links"] => links::check(),
        ["size"] => size::check(),
        ["size", "--write"] => size::write(),
        ["size", "--measure"] => size::measure(),
        ["work"] => work::check(),
        ["work", "--write"] => work::write(),
        ["schemas", folder] => files_page::write_schemas(Path::new(folder)),
        ["book"] => book(),
        ["pictures"] => pictures::take(),
        ["research", program, arguments @ ..] => research::run(program, arguments),
        _ => bail!(USAGE),
    }
}

/// The workspace's root folder.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().map_or_else(PathBuf::new, Path::to_owned)
}

fn docs(check: bool) -> Result<()> {
    let mut pages = vec![
        ("docs/reference/metrics.md".to_owned(), metrics_page::render()?),
        ("docs/reference/causes.md".to_owned(), causes_page::render()),
        ("docs/reference/cli.md".to_owned(), cli_page::render()?),
        ("docs/reference/extraction.md".to_owned(), extraction_page::render()),
        ("docs/reference/rules/README.md".to_owned(), rules_page::render()),
        ("docs/reference/audit/README.md".to_owned(), audit_page::render()),
        ("docs/reference/files.md".to_owned(), files_page::render()?),
    ];
    pages.extend(quotes::render()?);
    let mut stale = Vec::new();
    for (name, text) in pages {
        let path = root().join(&name);
        if !check {
            let folder = path.parent().unwrap_or(&path);
            std::fs::create_dir_all(folder)
                .with_context(|| format!("{} cannot be made", folder.display()))?;
            std::fs::write(&path, text).with_context(|| format!("{} cannot be written", path.display()))?;
        } else if std::fs::read_to_string(&path).ok().as_deref() != Some(&text) {
            stale.push(name);
        }
    }
    if stale.is_empty() {
        return Ok(());
    }
    bail!("not current: {}; run `cargo xtask docs` and commit the result", stale.join(", "))
}

/// What takes minutes; `.ci/run` has everything.
fn quick_check() -> Result<()> {
    cargo("fmt --all --check")?;
    cargo("clippy --workspace --all-targets --features full --locked -- -D warnings")?;
    cargo("test --workspace --features full --lib --locked --quiet")?;
    links::check()?;
    promises::check()?;
    words::check()
}

fn cargo(arguments: &str) -> Result<()> {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(program).args(arguments.split(' ')).current_dir(root()).status();
    let status = status.context("cargo cannot be started")?;
    ensure!(status.success(), "`cargo {arguments}` failed");
    Ok(())
}

fn book() -> Result<()> {
    let mut command = Command::new("python3");
    command.args(["packaging/site.py", "--book", "--out", "target/book"]).current_dir(root());
    let status = command.status().context("python3 cannot be started")?;
    ensure!(status.success(), "the book failed; it needs mdbook: `cargo install mdbook`");
    println!("{}", root().join("target/book/index.html").display());
    Ok(())
}
