//! Checks that every promise of `SECURITY.md` names a test that exists.

use anyhow::{Context, Result, ensure};

use crate::root;

/// The page with the tables of promises; the last column of a row has the tests as `` `path: name` ``.
const PAGE: &str = "SECURITY.md";

/// Fails if a promise names no test, or a test that does not exist.
pub(crate) fn check() -> Result<()> {
    let page =
        std::fs::read_to_string(root().join(PAGE)).with_context(|| format!("{PAGE} cannot be read"))?;
    let mut rows =
        page.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| promise |")).peekable();
    ensure!(rows.peek().is_some(), "{PAGE} has no table of promises");
    for row in rows {
        let tests: Vec<&str> =
            row.split('|').nth_back(1).unwrap_or_default().split('`').skip(1).step_by(2).collect();
        ensure!(!tests.is_empty(), "{PAGE}: this promise names no test, as `path: name`: {row}");
        for test in tests {
            let (path, name) =
                test.split_once(": ").with_context(|| format!("{PAGE}: write `{test}` as `path: name`"))?;
            let source =
                std::fs::read_to_string(root().join(path)).with_context(|| format!("{PAGE} names {path}"))?;
            let exists =
                [format!("fn {name}("), format!("def {name}(")].iter().any(|start| source.contains(start));
            ensure!(exists, "{PAGE}: {path} has no test `{name}`; name the test that holds the promise");
        }
    }
    Ok(())
}
