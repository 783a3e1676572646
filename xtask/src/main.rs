//! The chores of the repository:
//!
//! - `cargo xtask check` is the quick check before a commit: format, lints, unit tests, links;
//! - `cargo xtask long` runs the long tests, which `cargo test --workspace` leaves out;
//! - `cargo xtask docs` writes the generated pages; with `--check` it fails if one is not current, a link is broken, or a promise of
//!   `SECURITY.md` names no test;
//! - `cargo xtask links` checks the links alone;
//! - `cargo xtask book` builds the documentation as a book;
//! - `cargo xtask pictures` takes the pictures of README from the demo, with Chromium.

mod audit_page;
mod causes_page;
mod cli_page;
mod files_page;
mod links;
mod long;
mod metrics_page;
mod pictures;
mod programs;
mod promises;
mod rules_page;
mod wings;

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

const USAGE: &str = "usage: cargo xtask check | long | docs [--check] | links | book | pictures";

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["check"] => quick_check(),
        ["docs"] => docs(false),
        ["docs", "--check"] => docs(true).and_then(|()| links::check()).and_then(|()| promises::check()),
        ["long"] => long::run(),
        ["links"] => links::check(),
        ["book"] => book(),
        ["pictures"] => pictures::take(),
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
        (
            "docs/SUMMARY.md".to_owned(),
            audit_page::summary(&rules_page::summary(&root().join("docs/SUMMARY.md"))?),
        ),
    ];
    pages.extend(rules_page::render());
    pages.extend(audit_page::render());
    pages.extend(files_page::render()?);
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
    cargo(&["fmt", "--all", "--check"])?;
    cargo(&["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"])?;
    cargo(&["test", "--workspace", "--lib", "--locked", "--quiet"])?;
    links::check()?;
    promises::check()
}

fn cargo(arguments: &[&str]) -> Result<()> {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(program).args(arguments).current_dir(root()).status();
    let status = status.context("cargo cannot be started")?;
    ensure!(status.success(), "`cargo {}` failed", arguments.join(" "));
    Ok(())
}

fn book() -> Result<()> {
    let status = Command::new("mdbook").arg("build").current_dir(root()).status();
    let status = status.context("mdbook cannot be started; install it with `cargo install mdbook`")?;
    ensure!(status.success(), "`mdbook build` failed");
    println!("{}", root().join("target/book/index.html").display());
    Ok(())
}
