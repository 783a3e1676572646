//! `cargo xtask links`: every relative link of the documents leads to a file, every `#anchor` to a heading, and every
//! page below `docs` is in `docs/SUMMARY.md`, which is what the book has.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, Result, bail};
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use crate::root;

const SUMMARY: &str = "docs/SUMMARY.md";

/// The documents outside of `docs`.
const OTHERS: &[&str] = &["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "python/README.md"];

/// What links can lead from, and to.
struct Page {
    anchors: Vec<String>,
    links: Vec<String>,
}

/// Fails with a line for every link that leads nowhere.
pub(crate) fn check() -> Result<()> {
    let pages = read()?;
    let mut faults = Vec::new();
    for (path, page) in &pages {
        for link in page.links.iter().filter(|link| is_relative(link)) {
            if let Some(fault) = fault(path, link, &pages) {
                faults.push(format!("{}: ({link}) {fault}", path.display()));
            }
        }
    }
    faults.extend(not_in_summary(&pages).map(|path| format!("{}: is not in {SUMMARY}", path.display())));
    if faults.is_empty() {
        return Ok(());
    }
    bail!("{} links to mend:\n{}", faults.len(), faults.join("\n"))
}

fn is_relative(link: &str) -> bool {
    !link.contains("://") && !link.starts_with("mailto:")
}

/// What is wrong with a link on a page.
fn fault(from: &Path, link: &str, pages: &BTreeMap<PathBuf, Page>) -> Option<String> {
    let (path, anchor) = link.split_once('#').map_or((link, None), |(path, anchor)| (path, Some(anchor)));
    let folder = from.parent().unwrap_or(Path::new(""));
    let target = if path.is_empty() { from.to_owned() } else { normal(&folder.join(path)) };
    // The book takes the pages of `research` along.
    let is_in_book = target.starts_with("docs") || is_measurement(&target);
    if from.starts_with("docs") && !is_in_book {
        return Some("leads out of docs, where the book cannot follow; write the path as code".to_owned());
    }
    if !pages.contains_key(&target) && !root().join(&target).exists() {
        return Some(format!("{} does not exist", target.display()));
    }
    let anchor = anchor?;
    let has_anchor = pages.get(&target).is_some_and(|page| page.anchors.iter().any(|one| one == anchor));
    (!has_anchor).then(|| format!("{} does not have a heading #{anchor}", target.display()))
}

/// Whether it is the page of a measurement, `research/NAME/README.md`.
fn is_measurement(path: &Path) -> bool {
    path.starts_with("research") && path.ends_with("README.md") && path.components().count() == 3
}

/// The path without `.` and `..`.
fn normal(path: &Path) -> PathBuf {
    let mut result = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => _ = result.pop(),
            Component::CurDir => {}
            part => result.push(part),
        }
    }
    result
}

/// The pages of `docs` that the summary does not lead to.
fn not_in_summary(pages: &BTreeMap<PathBuf, Page>) -> impl Iterator<Item = &PathBuf> {
    let listed = pages.get(Path::new(SUMMARY)).map_or(&[][..], |page| &page.links);
    let listed: Vec<PathBuf> = listed.iter().map(|link| Path::new("docs").join(link)).collect();
    pages
        .keys()
        .filter(move |path| path.starts_with("docs") && *path != Path::new(SUMMARY) && !listed.contains(path))
}

/// The paths of all documents from the root.
pub(crate) fn documents() -> Result<Vec<PathBuf>> {
    let mut paths: Vec<PathBuf> = OTHERS.iter().map(PathBuf::from).collect();
    collect(Path::new("docs"), "md", &mut paths)?;
    collect(Path::new("research"), "md", &mut paths)?;
    Ok(paths)
}

/// All documents, by their path from the root.
fn read() -> Result<BTreeMap<PathBuf, Page>> {
    let mut pages = BTreeMap::new();
    for path in documents()? {
        let text = std::fs::read_to_string(root().join(&path))
            .with_context(|| format!("{} cannot be read", path.display()))?;
        pages.insert(path, parse(&text));
    }
    Ok(pages)
}

/// Adds the files of a folder and those below it that have an ending.
pub(crate) fn collect(folder: &Path, ending: &str, paths: &mut Vec<PathBuf>) -> Result<()> {
    let entries = std::fs::read_dir(root().join(folder))
        .with_context(|| format!("{} cannot be read", folder.display()))?;
    for entry in entries {
        let entry = entry?;
        let path = folder.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            collect(&path, ending, paths)?;
        } else if path.extension().is_some_and(|extension| extension == ending) {
            paths.push(path);
        }
    }
    Ok(())
}

fn parse(text: &str) -> Page {
    let mut page = Page { anchors: Vec::new(), links: Vec::new() };
    let mut heading: Option<String> = None;
    for event in Parser::new_ext(text, Options::ENABLE_TABLES) {
        match event {
            Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
            Event::End(TagEnd::Heading(_)) => {
                let title = heading.take().unwrap_or_default();
                let anchor = anchor(&title, &page.anchors);
                page.anchors.push(anchor);
            }
            Event::Text(text) | Event::Code(text) => {
                if let Some(heading) = &mut heading {
                    heading.push_str(&text);
                }
            }
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                page.links.push(dest_url.into_string());
            }
            _ => {}
        }
    }
    page
}

/// The anchor that GitHub and mdBook give a heading: a number follows where an earlier heading has it.
pub(crate) fn anchor(title: &str, earlier: &[String]) -> String {
    let letters = title.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    let plain: String =
        letters.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect();
    let mut anchor = plain.clone();
    let mut repeated = 0;
    while earlier.contains(&anchor) {
        repeated += 1;
        anchor = format!("{plain}-{repeated}");
    }
    anchor
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pages(texts: &[(&str, &str)]) -> BTreeMap<PathBuf, Page> {
        texts.iter().map(|(path, text)| (PathBuf::from(path), parse(text))).collect()
    }

    #[test]
    fn headings_have_the_anchors_of_git_hub() {
        let page = parse("# What `a.b` does: 2 things\n## Speed\n## Speed\n");
        assert_eq!(page.anchors, ["what-ab-does-2-things", "speed", "speed-1"]);
    }

    #[test]
    fn a_link_leads_to_a_file_and_a_heading() {
        let pages = pages(&[
            ("README.md", "# One house"),
            ("docs/a.md", "# A\n## Speed"),
            ("research/a/README.md", "# How fast?"),
        ]);
        let fault = |from: &str, link: &str| fault(Path::new(from), link, &pages);
        assert_eq!(fault("README.md", "Cargo.toml"), None);
        assert_eq!(fault("README.md", "#one-house"), None);
        assert_eq!(fault("docs/a.md", "#speed"), None);
        assert_eq!(fault("docs/a.md", "../research/a/README.md#how-fast"), None);
        let broken = |from, link| fault(from, link).unwrap_or_default();
        assert_eq!(broken("README.md", "none.md"), "none.md does not exist");
        assert_eq!(broken("docs/a.md", "#size"), "docs/a.md does not have a heading #size");
        assert!(broken("docs/a.md", "../Cargo.toml").contains("leads out of docs"));
        assert!(broken("docs/a.md", "../research/a/b.tsv").contains("leads out of docs"));
    }

    #[test]
    fn every_page_is_in_the_summary() {
        let pages = pages(&[("docs/SUMMARY.md", "- [A](a.md)"), ("docs/a.md", ""), ("docs/b/c.md", "")]);
        assert_eq!(not_in_summary(&pages).collect::<Vec<_>>(), [Path::new("docs/b/c.md")]);
    }
}
