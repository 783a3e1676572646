//! Phrases that make a reader stop, refused where everybody looks first: the first lines of pages, help texts, error messages.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::{links, root};

/// "Not an X" instead of "is no X", the noun instead of "what is", two sentences instead of "of which".
const PHRASES: [&str; 5] = ["is no ", "of which", "nobody", "what is", "such as are"];

/// The page that shows every help text.
const HELP: &str = "docs/reference/cli.md";

/// Where error messages are.
const SOURCES: [&str; 4] = ["crates", "python/src", "testing", "xtask/src"];

/// Fails with a line for every phrase.
pub(crate) fn check() -> Result<()> {
    let mut faults = String::new();
    for path in links::documents()? {
        let text = read(&path)?;
        let lines: Vec<&str> =
            if path == Path::new(HELP) { text.lines().collect() } else { first_lines(&text) };
        list(&mut faults, &path, lines);
    }
    let mut sources = Vec::new();
    for folder in SOURCES {
        links::collect(Path::new(folder), "rs", &mut sources)?;
    }
    for path in sources.iter().filter(|path| !path.ends_with("xtask/src/words.rs")) {
        list(&mut faults, path, messages(&read(path)?));
    }
    if faults.is_empty() {
        return Ok(());
    }
    bail!("say this in plainer words (CONTRIBUTING.md, The English):\n{faults}")
}

fn read(path: &Path) -> Result<String> {
    std::fs::read_to_string(root().join(path)).with_context(|| format!("{} cannot be read", path.display()))
}

fn list(faults: &mut String, path: &Path, texts: Vec<&str>) {
    for text in texts {
        if let Some(phrase) = phrase(text) {
            let _ = writeln!(faults, "{}: \"{}\" in: {}", path.display(), phrase.trim(), text.trim());
        }
    }
}

fn phrase(text: &str) -> Option<&'static str> {
    let text = text.to_lowercase();
    PHRASES.into_iter().find(|phrase| text.contains(phrase))
}

/// The title and the line that follows it.
fn first_lines(page: &str) -> Vec<&str> {
    page.lines().filter(|line| !line.trim().is_empty() && !line.starts_with("<!--")).take(2).collect()
}

/// What stands in `#[error(…)]`.
fn messages(source: &str) -> Vec<&str> {
    let parts = source.split("#[error(").skip(1);
    parts.filter_map(|part| part.split_once(")]").map(|(message, _)| message)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn planted_phrases_are_found() {
        let page =
            "# Title\n\n<!-- Generated. -->\n\nShows what is in it.\n\nA table, of which more below.\n";
        assert_eq!(first_lines(page), ["# Title", "Shows what is in it."]);
        assert_eq!(first_lines(page).into_iter().find_map(phrase), Some("what is"));
        let source = "enum E {\n    #[error(\n        \"{0} is no number\"\n    )]\n    A,\n    /// Nobody.\n    #[error(\"{0} is not a number\")]\n    B,\n}\n";
        let phrases: Vec<_> = messages(source).into_iter().map(phrase).collect();
        assert_eq!(phrases, [Some("is no "), None]);
    }

    #[test]
    fn no_page_or_message_has_one() {
        check().unwrap();
    }
}
