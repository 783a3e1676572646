//! `cargo xtask docs` writes the generated reference pages; `cargo xtask docs --check` fails if they are not
//! current.

mod cli_page;
mod metrics_page;
mod rules_page;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["docs"] => docs(false),
        ["docs", "--check"] => docs(true),
        _ => bail!("usage: cargo xtask docs [--check]"),
    }
}

/// The workspace's root folder.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().map_or_else(PathBuf::new, Path::to_owned)
}

fn docs(check: bool) -> Result<()> {
    let mut pages = vec![
        ("docs/reference/metrics.md".to_owned(), metrics_page::render()?),
        ("docs/reference/cli.md".to_owned(), cli_page::render()?),
    ];
    pages.extend(rules_page::render());
    let mut stale = Vec::new();
    for (name, text) in pages {
        let path = root().join(&name);
        if !check {
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
