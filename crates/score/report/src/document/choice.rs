//! Filters the entries of a section without a script: by tag, and page by page. Each choice is a radio button, and a style hides all
//! other entries; on paper all are shown.

#![expect(clippy::format_push_string, reason = "a page is written once; what reads best wins")]

use super::Entry;
use crate::charts::escape;

/// Entries of a page.
const PAGE: usize = 50;

/// The tags of entries with how many have each, the most frequent first.
fn tags(entries: &[Entry]) -> Vec<(&str, usize)> {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for tag in entries.iter().flat_map(|entry| &entry.tags) {
        match counts.iter_mut().find(|(earlier, _)| earlier == tag) {
            Some((_, count)) => *count += 1,
            None => counts.push((tag, 1)),
        }
    }
    counts.sort_by_key(|(tag, count)| (std::cmp::Reverse(*count), *tag));
    counts
}

/// The buttons over the entries of a section of that id, and their style; nothing where all are of one kind and on one page.
pub(super) fn buttons(id: &str, entries: &[Entry]) -> String {
    let (tags, pages) = (tags(entries), entries.len().div_ceil(PAGE));
    if tags.len() < 2 && pages < 2 {
        return String::new();
    }
    let of_page = |page: usize| format!("{} to {}", page * PAGE + 1, ((page + 1) * PAGE).min(entries.len()));
    let pages: Vec<String> = (0..pages).map(of_page).collect();
    let names = tags.iter().map(|(tag, count)| format!("{} ({count})", escape(tag)));
    let all = format!("all ({})", entries.len());
    let kinds: Vec<String> = std::iter::once(all).chain(names).collect();
    let mut style = String::new();
    for at in 0..pages.len() {
        style.push_str(&format!(
            "#{id}:has(#{id}-k0:checked):has(#{id}-p{at}:checked) .entry:not(.p{at}){{display:none}}\n"
        ));
    }
    for at in 1..kinds.len() {
        style.push_str(&format!("#{id}:has(#{id}-k{at}:checked) .entry:not(.k{at}){{display:none}}\n"));
    }
    style.push_str(&format!("#{id}:not(:has(#{id}-k0:checked)) .choice.pages{{display:none}}\n"));
    format!(
        "{}{}<style>@media screen {{\n{style}}}</style>\n",
        group(id, "k", "Show", "", &kinds),
        if pages.len() > 1 { group(id, "p", "Page", " pages", &pages) } else { single(id) }
    )
}

/// The one page of few entries, which is always chosen.
fn single(id: &str) -> String {
    format!("<input type=\"radio\" hidden=\"\" checked=\"\" id=\"{id}-p0\">")
}

fn group(id: &str, letter: &str, title: &str, class: &str, names: &[String]) -> String {
    let button = |(at, name): (usize, &String)| {
        let checked = if at == 0 { " checked=\"\"" } else { "" };
        format!(
            "<input type=\"radio\" name=\"{id}-{letter}\" id=\"{id}-{letter}{at}\"{checked}><label for=\"{id}-{letter}{at}\">{name}</label>\n"
        )
    };
    let buttons: String = names.iter().enumerate().map(button).collect();
    format!("<fieldset class=\"choice{class}\"><legend>{title}</legend>{buttons}</fieldset>\n")
}

/// The classes of the entry at that place, for the style that hides and shows entries.
pub(super) fn classes(entries: &[Entry], at: usize) -> String {
    let tags = tags(entries);
    let numbers = entries[at].tags.iter().filter_map(|tag| tags.iter().position(|(of_all, _)| of_all == tag));
    numbers.fold(format!("p{}", at / PAGE), |classes, number| format!("{classes} k{}", number + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(tags: &[&[&str]]) -> Vec<Entry> {
        let entry = |tags: &&[&str]| Entry {
            title: String::new(),
            note: String::new(),
            blocks: Vec::new(),
            tags: tags.iter().map(|tag| (*tag).to_owned()).collect(),
        };
        tags.iter().map(entry).collect()
    }

    #[test]
    fn every_entry_is_on_a_page_and_under_each_of_its_tags() {
        let mut tagged: Vec<&[&str]> = vec![&["rare", "common"]];
        tagged.resize(120, &["common"]);
        let entries = entries(&tagged);
        assert_eq!([classes(&entries, 0), classes(&entries, 119)], ["p0 k2 k1", "p2 k1"]);
        let buttons = buttons("s", &entries);
        for text in ["all (120)", "common (120)", "rare (1)", "1 to 50", "101 to 120"] {
            assert!(buttons.contains(text), "{text}: {buttons}");
        }
    }

    #[test]
    fn few_entries_of_one_kind_need_no_buttons() {
        assert_eq!(buttons("s", &entries(&[&["a"], &["a"]])), "");
        let hostile = buttons("s", &entries(&[&["<i>"], &["b"]]));
        assert!(hostile.contains("&lt;i&gt;") && !hostile.contains("<i>"), "{hostile}");
    }
}
