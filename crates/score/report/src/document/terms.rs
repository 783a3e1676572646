//! The words of a page that not every reader knows: the first use of each leads to its meaning at the end of the page.
//!
//! # Contract
//! The meanings are those of `docs/glossary.md`. A word is linked where it stands in running text: not in tables, code, pictures,
//! headings and links. A page that uses none of them has no such end.

use crate::charts::escape;

/// Words and their meanings; each may have an `s` at its end.
pub(crate) const TERMS: [(&str, &str); 5] = [
    ("bounded proof", "a proof for all databases with at most a given number of rows per table"),
    ("counterexample", "a database on which two queries return different results"),
    ("EX", "execution accuracy: prediction and gold return the same result"),
    ("gold", "the reference query of a question; an item may accept several"),
    ("interval", "the range that holds the true score with a given probability, such as 95 %"),
];

/// Elements in which nothing is linked.
const APART: [&str; 10] = ["a", "code", "pre", "svg", "table", "h1", "h2", "h3", "summary", "fieldset"];

/// A body with links and meanings.
pub(super) fn explained(body: &str) -> String {
    let mut terms: Vec<(&str, &str)> = TERMS.into();
    let mut page = String::with_capacity(body.len() + 2_000);
    let mut apart: Option<(&str, usize)> = None;
    for piece in body.split_inclusive('>') {
        let (text, tag) = piece.split_at(piece.find('<').unwrap_or(piece.len()));
        if apart.is_some() {
            page.push_str(text);
        } else {
            linked(text, &mut terms, &mut page);
        }
        page.push_str(tag);
        let name = tag.trim_start_matches(['<', '/']);
        let name = name.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
        let step = if tag.starts_with("</") { -1 } else { 1 };
        apart = match apart {
            None if step > 0 => APART.into_iter().find(|other| *other == name).map(|name| (name, 1)),
            Some((outer, depth)) if outer == name => {
                Some((outer, depth.saturating_add_signed(step))).filter(|(_, depth)| *depth > 0)
            }
            apart => apart,
        };
    }
    let used = TERMS.iter().filter(|term| !terms.contains(term));
    let meaning = |(word, meaning): &(&str, &str)| {
        format!("<dt id=\"{}\">{word}</dt><dd>{}</dd>\n", id(word), escape(meaning))
    };
    let meanings: String = used.map(meaning).collect();
    if !meanings.is_empty() {
        page.extend([
            "<details class=\"section\" id=\"words\"><summary><h2>Words</h2></summary>\n<dl class=\"kv\">\n",
            &meanings,
            "</dl></details>\n",
        ]);
    }
    page
}

fn id(word: &str) -> String {
    format!("word-{}", word.replace(' ', "-"))
}

/// Adds a text with a link from the first use of each word, which is taken off the list.
fn linked(mut text: &str, terms: &mut Vec<(&str, &str)>, page: &mut String) {
    let first = |text: &str, terms: &[(&str, &str)]| {
        let places = terms.iter().enumerate().filter_map(|(at, (word, _))| Some((find(text, word)?, at)));
        places.min()
    };
    while let Some(((from, to), at)) = first(text, terms) {
        let (word, _) = terms.remove(at);
        page.extend([&text[..from], "<a href=\"#", &id(word), "\">", &text[from..to], "</a>"]);
        text = &text[to..];
    }
    page.push_str(text);
}

/// Where a word stands whole, perhaps with an `s`.
fn find(text: &str, word: &str) -> Option<(usize, usize)> {
    let is_letter = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || "-_@&;".contains(c));
    text.match_indices(word).find_map(|(from, _)| {
        let end = from + word.len();
        let to = if text[end..].starts_with('s') { end + 1 } else { end };
        let is_whole = !is_letter(text[..from].chars().next_back()) && !is_letter(text[to..].chars().next());
        is_whole.then_some((from, to))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_use_in_running_text_leads_to_the_meaning() {
        let page =
            explained("<h2>gold</h2><table><td>gold</td></table><p>Two golds, a gold, EX-SpotIt.</p>\n");
        assert!(page.contains("<p>Two <a href=\"#word-gold\">golds</a>, a gold, EX-SpotIt.</p>"), "{page}");
        assert!(page.starts_with("<h2>gold</h2><table><td>gold</td></table>"), "{page}");
        assert!(page.contains("<dt id=\"word-gold\">gold</dt>") && !page.contains("word-EX"), "{page}");
        assert_eq!(explained("<p>Nothing of the kind.</p>"), "<p>Nothing of the kind.</p>");
    }

    #[test]
    fn the_meanings_are_those_of_the_glossary() {
        let glossary = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../docs/glossary.md");
        let glossary = std::fs::read_to_string(glossary).unwrap();
        for (word, meaning) in TERMS {
            let mut lines = glossary.lines().filter(|line| line.starts_with(&format!("- **{word}")));
            assert!(lines.any(|line| line.ends_with(&format!("**: {meaning}"))), "{word}: {meaning}");
        }
    }
}
