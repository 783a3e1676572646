//! Code in pages, quoted from the source so that it does not age.
//!
//! A page says `<!-- quote: PATH: TEXT -->`, and `cargo xtask docs` writes a code block below it: the ten lines from the one of PATH that
//! contains TEXT. `<!-- quote 4: PATH: TEXT -->` takes four. TEXT must stand in one line and no other.

use std::path::Path;

use anyhow::{Context, Result, bail, ensure};

use crate::{links, root};

/// Lines of a quotation that does not say how many.
const LINES: usize = 10;

/// Every page with quotations, filled from the source.
pub(crate) fn render() -> Result<Vec<(String, String)>> {
    let mut pages = Vec::new();
    for path in links::documents()? {
        let page = std::fs::read_to_string(root().join(&path))
            .with_context(|| format!("{} cannot be read", path.display()))?;
        if page.lines().any(|line| Quote::parse(line).is_some()) {
            let filled = fill(&page, &|path| Ok(std::fs::read_to_string(root().join(path))?));
            let filled = filled.with_context(|| path.display().to_string())?;
            pages.push((path.to_string_lossy().into_owned(), filled));
        }
    }
    Ok(pages)
}

/// What a comment asks for.
struct Quote<'a> {
    path: &'a str,
    text: &'a str,
    lines: usize,
}

impl<'a> Quote<'a> {
    fn parse(line: &'a str) -> Option<Self> {
        let inside = line.strip_prefix("<!-- quote")?.strip_suffix(" -->")?;
        let (lines, rest) = inside.split_once(": ")?;
        let lines = if lines.is_empty() { LINES } else { lines.trim().parse().ok()? };
        let (path, text) = rest.split_once(": ")?;
        Some(Self { path, text, lines })
    }

    /// The lines of the source, without the indentation that all have.
    fn take(&self, source: &str) -> Result<String> {
        let mut places = source.lines().enumerate().filter(|(_, line)| line.contains(self.text));
        let Some((first, _)) = places.next() else { bail!("{} has no line with `{}`", self.path, self.text) };
        ensure!(places.next().is_none(), "{} has several lines with `{}`", self.path, self.text);
        let lines: Vec<&str> = source.lines().skip(first).take(self.lines).collect();
        let indents = lines.iter().filter(|line| !line.trim().is_empty());
        let indent = indents.map(|line| line.len() - line.trim_start().len()).min().unwrap_or(0);
        Ok(lines.iter().map(|line| line.get(indent..).unwrap_or("").trim_end().to_owned() + "\n").collect())
    }
}

/// The page with a code block below each comment, in place of the one that stands there.
fn fill(page: &str, read: &dyn Fn(&Path) -> Result<String>) -> Result<String> {
    let mut filled = String::new();
    let mut lines = page.lines().peekable();
    while let Some(line) = lines.next() {
        filled.push_str(line);
        filled.push('\n');
        let Some(quote) = Quote::parse(line) else { continue };
        let source =
            read(Path::new(quote.path)).with_context(|| format!("{} cannot be quoted", quote.path))?;
        if lines.next_if(|line| line.starts_with("```")).is_some() {
            while lines.next().is_some_and(|line| line != "```") {}
        }
        filled.push_str("```rust\n");
        filled.push_str(&quote.take(&source)?);
        filled.push_str("```\n");
    }
    Ok(filled)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "mod a;\n\n    fn one() {\n        1\n    }\n\n    fn two() {}\n";

    fn filled(page: &str) -> Result<String> {
        fill(page, &|_| Ok(SOURCE.to_owned()))
    }

    #[test]
    fn a_block_is_written_and_written_again() {
        let page = "Text.\n<!-- quote 3: a.rs: fn one -->\nMore.\n";
        let once = filled(page).unwrap();
        assert_eq!(
            once,
            "Text.\n<!-- quote 3: a.rs: fn one -->\n```rust\nfn one() {\n    1\n}\n```\nMore.\n"
        );
        assert_eq!(filled(&once).unwrap(), once);
    }

    #[test]
    fn a_text_must_stand_once() {
        let error = |page: &str| filled(page).unwrap_err().to_string();
        assert!(error("<!-- quote: a.rs: fn three -->\n").contains("has no line with `fn three`"));
        assert!(error("<!-- quote: a.rs: fn -->\n").contains("has several lines with `fn`"));
    }
}
