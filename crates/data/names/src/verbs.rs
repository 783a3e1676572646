//! What people do to things, told from the name of the table that links the two.
//!
//! # Contract
//! [`link_verb`] finds a verb of `verbs.txt` among the words of a table's name, and says in which voice it leads from one
//! table to the other: people write papers, and papers are written by people. It needs a person on one side and none on
//! the other; else who does what is not known, and there is no verb.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use crate::domain::{self, Domain};

/// A verb between two tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct LinkVerb {
    /// The words: `wrote`, or `written` before "by".
    pub words: &'static str,
    /// Whether the first table's rows are what something is done to.
    pub is_passive: bool,
}

struct Verb {
    active: &'static str,
    passive: &'static str,
}

static VERBS: LazyLock<HashMap<&'static str, Verb>> = LazyLock::new(|| {
    let mut verbs = HashMap::new();
    for line in crate::lines(include_str!("../data/verbs.txt")) {
        let mut fields = line.split('|').map(str::trim);
        let words = fields.next().map(crate::list).unwrap_or_default();
        let (active, passive) = (fields.next().unwrap_or_default(), fields.next().unwrap_or_default());
        for word in words {
            verbs.insert(word, Verb { active, passive });
        }
    }
    verbs
});

/// Whether the words of a table, in lower case, name people.
pub fn is_person(words: &[String]) -> bool {
    domain::of_words(words).contains(&Domain("person"))
}

/// The verb that a table between two others names, from the first to the second.
pub fn link_verb(first: &[String], between: &[String], second: &[String]) -> Option<LinkVerb> {
    // A word of one of the two tables names that table, and not what is done.
    let is_free = |word: &&String| !first.contains(word) && !second.contains(word);
    let verb = between.iter().filter(is_free).find_map(|word| VERBS.get(word.as_str()))?;
    match (is_person(first), is_person(second)) {
        (true, false) => Some(LinkVerb { words: verb.active, is_passive: false }),
        (false, true) if !verb.passive.is_empty() => Some(LinkVerb { words: verb.passive, is_passive: true }),
        _ => None,
    }
}

/// Whether a verb has that first word, in lower case.
pub fn begins_verb(word: &str) -> bool {
    static FIRST: LazyLock<HashSet<&'static str>> = LazyLock::new(|| {
        let both = VERBS.values().flat_map(|verb| [verb.active, verb.passive]);
        both.filter_map(|words| words.split(' ').next()).filter(|word| !word.is_empty()).collect()
    });
    FIRST.contains(word)
}

/// The verbs whose words a text in lower case begins with, active and passive, by how many words they have.
pub fn verbs_at(words: &[&str]) -> Vec<(usize, LinkVerb)> {
    static PHRASES: LazyLock<Vec<LinkVerb>> = LazyLock::new(|| {
        let both = VERBS.values().flat_map(|verb| [(verb.active, false), (verb.passive, true)]);
        let mut all: Vec<LinkVerb> = both
            .filter(|(words, _)| !words.is_empty())
            .map(|(words, is_passive)| LinkVerb { words, is_passive })
            .collect();
        all.sort_unstable_by_key(|verb| (verb.words, verb.is_passive));
        all.dedup();
        all
    });
    let begins = |verb: &&LinkVerb| {
        let phrase: Vec<&str> = verb.words.split(' ').collect();
        words.starts_with(&phrase)
    };
    PHRASES.iter().filter(begins).map(|verb| (verb.words.split(' ').count(), *verb)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verb_leads_from_people_to_things_and_back() {
        let words = |text: &str| -> Vec<String> { text.split(' ').map(str::to_owned).collect() };
        let verb = |first, between, second| {
            link_verb(&words(first), &words(between), &words(second))
                .map(|verb| (verb.words, verb.is_passive))
        };
        assert_eq!(verb("author", "writes", "paper"), Some(("wrote", false)));
        assert_eq!(verb("paper", "writes", "author"), Some(("written", true)));
        assert_eq!(verb("student", "has pet", "pet"), Some(("have", false)));
        assert_eq!(verb("pet", "has pet", "student"), None);
        assert_eq!(verb("paper", "writes", "topic"), None);
        assert_eq!(verb("singer", "singer in concert", "concert"), None);
    }

    #[test]
    fn phrases_are_found_by_their_words() {
        let verbs = verbs_at(&["took", "part", "in", "concerts"]);
        assert!(verbs.contains(&(3, LinkVerb { words: "took part in", is_passive: false })), "{verbs:?}");
        assert!(verbs_at(&["bananas"]).is_empty());
    }
}
