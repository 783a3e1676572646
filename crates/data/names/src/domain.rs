//! What the rows of a table are, told from its name: persons, places, products…. It decides which meaning a word has, and
//! which columns a table may be given.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use super::inflect::singular;
use super::lexicon::lexicon;

/// A domain, by its name in `data/domains.txt`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Domain(pub(super) &'static str);

impl Domain {
    pub fn named(name: &'static str) -> Self {
        Self(name)
    }
}

/// The domains of each noun, in the order of the file.
static DOMAINS: LazyLock<HashMap<&'static str, Vec<Domain>>> = LazyLock::new(|| {
    let mut by_noun = HashMap::<_, Vec<Domain>>::new();
    for (domain, nouns) in
        super::lines(include_str!("../data/domains.txt")).filter_map(|line| line.split_once('|'))
    {
        let nouns: HashSet<&str> = super::list(nouns).into_iter().collect();
        for noun in nouns {
            by_noun.entry(noun).or_default().push(Domain(domain.trim()));
        }
    }
    by_noun
});

pub fn all() -> HashSet<Domain> {
    DOMAINS.values().flatten().copied().collect()
}

/// The domains of a name's words in lower case: those of the last word that has any, as the noun of a name stands last.
pub fn of_words(words: &[String]) -> Vec<Domain> {
    let of = |word: &String| {
        let full = match lexicon().find(word, &[]) {
            Some((entry, form)) if form.is_short() => entry.phrase,
            _ => word,
        };
        DOMAINS.get(singular(full).as_ref()).cloned()
    };
    words.iter().rev().find_map(of).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nouns_of_a_domain_are_in_the_singular() {
        for noun in DOMAINS.keys() {
            assert!(singular(noun) == *noun, "{noun} is a plural");
        }
    }

    #[test]
    fn the_noun_of_a_table_decides() {
        let of = |words: &[&str]| of_words(&words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>());
        assert_eq!(of(&["students"])[0], Domain("person"));
        assert_eq!(of(&["customer", "orders"]), [Domain("transaction")]);
        assert_eq!(of(&["customer", "xyzzy"]), [Domain("person")]);
        assert_eq!(of(&["stu"])[0], Domain("person"));
        assert!(of(&["xyzzy"]).is_empty());
    }
}
