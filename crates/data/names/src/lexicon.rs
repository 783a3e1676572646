//! The lexicon: words and phrases of database schemas with what else they are called and how people abbreviate them.
//!
//! Its files (`data/names/*.txt`) hold an entry a line: the word, its other names, its short forms. In brackets after the
//! word stand the domains of which the entry speaks: a person's name is its full name, a product's is not. A `~` stands
//! for the noun of the owner: the `id` of `students` is a `student id`. A `?` after another name says that a reader may take it
//! for something else. A column may be renamed so, but no question uses the name. The entries are this project's own.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use super::domain::Domain;
use super::inflect::{plural, plural_phrase, singular};

/// The files of the lexicon with what they say; the order is that in which entries of one word are asked.
const FILES: &[&str] = &[
    include_str!("../data/names/general.txt"),
    include_str!("../data/names/time.txt"),
    include_str!("../data/names/people.txt"),
    include_str!("../data/names/commerce.txt"),
    include_str!("../data/names/places.txt"),
    include_str!("../data/names/education.txt"),
    include_str!("../data/names/sports.txt"),
    include_str!("../data/names/media.txt"),
    include_str!("../data/names/transport.txt"),
    include_str!("../data/names/science.txt"),
    include_str!("../data/names/technology.txt"),
    include_str!("../data/names/society.txt"),
    include_str!("../data/names/function.txt"),
];

/// What is known of a word or phrase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    /// The word, in the singular where it has one.
    pub(super) phrase: &'static str,
    /// Where the entry holds; everywhere without one.
    pub(super) domains: Vec<Domain>,
    /// What else it is called.
    pub(super) synonyms: Vec<Synonym>,
    /// How it is abbreviated.
    pub(super) shorts: Vec<&'static str>,
}

/// Another name of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Synonym {
    pub(super) phrase: &'static str,
    /// Whether a reader may take it for something else.
    pub(super) is_loose: bool,
}

/// How a phrase of an identifier stands in the lexicon.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// As the entry's word.
    Full,
    Plural,
    /// As one of its short forms.
    Short,
    /// As the plural of one of its short forms.
    ShortPlural,
}

impl Form {
    /// A phrase in the number in which the identifier has it.
    pub(super) fn inflect(self, phrase: &str) -> String {
        match self {
            Self::Full | Self::Short => phrase.to_owned(),
            Self::Plural | Self::ShortPlural => plural_phrase(phrase),
        }
    }

    pub(super) fn is_short(self) -> bool {
        matches!(self, Self::Short | Self::ShortPlural)
    }
}

/// All entries, and where they are found.
#[derive(Debug)]
pub(super) struct Lexicon {
    entries: Vec<Entry>,
    by_phrase: HashMap<&'static str, Vec<usize>>,
    by_short: HashMap<&'static str, usize>,
    /// The single words of all phrases and short forms of at least two letters: what may be written together.
    words: HashSet<&'static str>,
    longest_word: usize,
    longest_phrase: usize,
}

/// The lexicon that is built in.
pub(super) fn lexicon() -> &'static Lexicon {
    static LEXICON: LazyLock<Lexicon> = LazyLock::new(|| Lexicon::of(FILES));
    &LEXICON
}

impl Lexicon {
    fn of(files: &[&'static str]) -> Self {
        let entries: Vec<Entry> = files.iter().flat_map(|file| super::lines(file)).map(entry).collect();
        let (mut by_phrase, mut by_short) = (HashMap::<_, Vec<usize>>::new(), HashMap::new());
        let mut words = HashSet::new();
        for (number, entry) in entries.iter().enumerate() {
            by_phrase.entry(entry.phrase).or_default().push(number);
            words.extend(entry.phrase.split(' '));
            for &short in &entry.shorts {
                by_short.entry(short).or_insert(number);
                words.insert(short);
            }
        }
        words.retain(|word| word.len() > 1);
        let longest_word = words.iter().map(|word| word.len()).max().unwrap_or_default();
        let longest_phrase =
            by_phrase.keys().map(|phrase| phrase.split(' ').count()).max().unwrap_or_default();
        Self { entries, by_phrase, by_short, words, longest_word, longest_phrase }
    }

    #[cfg(test)]
    pub(super) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// How many words the longest phrase has.
    pub(super) fn longest_phrase(&self) -> usize {
        self.longest_phrase
    }

    /// The entry of a phrase in lower case: the one of the owner's domains before the one that holds everywhere.
    pub(super) fn find(&self, phrase: &str, domains: &[Domain]) -> Option<(&Entry, Form)> {
        if let Some(entry) = self.exact(phrase, domains) {
            return Some((entry, Form::Full));
        }
        if let Some(&number) = self.by_short.get(phrase) {
            return Some((&self.entries[number], Form::Short));
        }
        let (before, noun) = phrase.rsplit_once(' ').map_or(("", phrase), |(before, noun)| (before, noun));
        let one = singular(noun);
        if one == noun {
            return None;
        }
        let phrase = if before.is_empty() { one.into_owned() } else { format!("{before} {one}") };
        if let Some(entry) = self.exact(&phrase, domains) {
            return Some((entry, Form::Plural));
        }
        let short = self.by_short.get(phrase.as_str()).filter(|_| phrase.len() > 2)?;
        Some((&self.entries[*short], Form::ShortPlural))
    }

    fn exact(&self, phrase: &str, domains: &[Domain]) -> Option<&Entry> {
        let candidates =
            || self.by_phrase.get(phrase).into_iter().flatten().map(|&number| &self.entries[number]);
        candidates()
            .find(|entry| entry.domains.iter().any(|domain| domains.contains(domain)))
            .or_else(|| candidates().find(|entry| entry.domains.is_empty()))
    }

    /// Whether a word in lower case stands in an entry, alone or in a phrase, in any form.
    pub(super) fn knows(&self, word: &str) -> bool {
        self.words.contains(word)
            || self.words.contains(singular(word).as_ref())
            || self.by_phrase.contains_key(word)
    }

    /// The words of which a text is run together, the fewest there are; the text itself if the lexicon has it, or if it
    /// does not have all its parts.
    pub(super) fn run_together<'a>(&self, text: &'a str) -> Vec<&'a str> {
        let lower = text.to_ascii_lowercase();
        if !text.is_ascii() || self.knows(&lower) {
            return vec![text];
        }
        // The fewest words that make up the text until here, and where the last of them begins.
        let mut best: Vec<Option<(usize, usize)>> = vec![None; text.len() + 1];
        best[0] = Some((0, 0));
        for end in 1..=text.len() {
            for start in end.saturating_sub(self.longest_word + 1)..end {
                let Some((count, _)) = best[start] else { continue };
                if self.may_be_run_together(&lower[start..end])
                    && best[end].is_none_or(|(least, _)| count + 1 < least)
                {
                    best[end] = Some((count + 1, start));
                }
            }
        }
        let mut parts = Vec::new();
        let mut end = text.len();
        while let Some((_, start)) = best[end].filter(|_| end > 0) {
            parts.push(&text[start..end]);
            end = start;
        }
        parts.reverse();
        // Short forms alone make up almost anything.
        let tells =
            parts.iter().any(|part| part.len() >= 4 && self.by_phrase.contains_key(lower_of(part).as_str()));
        if parts.len() > 1 && parts.len() <= 4 && tells { parts } else { vec![text] }
    }

    fn may_be_run_together(&self, word: &str) -> bool {
        self.words.contains(word) || word.len() > 4 && self.words.contains(singular(word).as_ref())
    }
}

fn lower_of(text: &str) -> String {
    text.to_ascii_lowercase()
}

fn entry(line: &'static str) -> Entry {
    let mut fields = line.split('|').map(str::trim);
    let head = fields.next().unwrap_or_default();
    let (phrase, domains) =
        head.strip_suffix(']').and_then(|head| head.split_once('[')).unwrap_or((head, ""));
    let mut list = || fields.next().map(super::list).unwrap_or_default();
    Entry {
        phrase: phrase.trim(),
        domains: super::list(domains).into_iter().map(Domain).collect(),
        synonyms: list().into_iter().map(synonym).collect(),
        shorts: list(),
    }
}

fn synonym(text: &'static str) -> Synonym {
    match text.strip_suffix('?') {
        Some(phrase) => Synonym { phrase, is_loose: true },
        None => Synonym { phrase: text, is_loose: false },
    }
}

/// Whether two words are one noun, in one number or the other.
pub(super) fn same_noun(left: &str, right: &str) -> bool {
    left == right || singular(left) == singular(right) || plural(left) == right
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain;

    fn others(entry: &Entry) -> impl Iterator<Item = &'static str> + '_ {
        entry.synonyms.iter().map(|synonym| synonym.phrase)
    }

    #[test]
    fn there_are_at_least_1500_entries_made_of_plain_words() {
        let entries = lexicon().entries();
        assert!(entries.len() >= 1500, "{}", entries.len());
        let plain = |text: &str, also: &[char]| {
            !text.is_empty()
                && text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || also.contains(&c))
                && !text.starts_with(' ')
                && !text.contains("  ")
        };
        for entry in entries {
            assert!(plain(entry.phrase, &[' ']), "{entry:?}");
            assert!(entry.synonyms.iter().all(|synonym| plain(synonym.phrase, &[' ', '~'])), "{entry:?}");
            assert!(entry.shorts.iter().all(|short| plain(short, &[])), "{entry:?}");
        }
    }

    #[test]
    fn no_word_is_its_own_synonym_or_short_form() {
        for entry in lexicon().entries() {
            let mut forms = others(entry).chain(entry.shorts.iter().copied());
            assert!(forms.all(|other| other != entry.phrase), "{entry:?}");
        }
    }

    #[test]
    fn nothing_is_said_twice() {
        let mut seen = HashSet::new();
        for entry in lexicon().entries() {
            if entry.domains.is_empty() {
                assert!(seen.insert((entry.phrase, None)), "{entry:?}");
            }
            for &domain in &entry.domains {
                assert!(seen.insert((entry.phrase, Some(domain))), "{entry:?}");
            }
            let forms: HashSet<_> = others(entry).chain(entry.shorts.iter().copied()).collect();
            assert_eq!(forms.len(), entry.synonyms.len() + entry.shorts.len(), "{entry:?}");
        }
    }

    #[test]
    fn a_short_form_has_one_meaning() {
        let mut meanings: HashMap<&str, &str> = HashMap::new();
        for entry in lexicon().entries() {
            for &short in &entry.shorts {
                let meaning = *meanings.entry(short).or_insert(entry.phrase);
                assert_eq!(meaning, entry.phrase, "{short} is short for two words");
                let word = lexicon().exact(short, &[]);
                assert!(word.is_none(), "{short} is short for {} and a word itself", entry.phrase);
            }
        }
    }

    /// A word may have narrower names, but where two words name each other, both must be ready to.
    #[test]
    fn a_synonym_that_is_an_entry_is_not_of_another_domain() {
        for entry in lexicon().entries().iter().filter(|entry| entry.domains.is_empty()) {
            for synonym in others(entry) {
                let entries: Vec<&Entry> =
                    lexicon().entries().iter().filter(|other| other.phrase == synonym).collect();
                let everywhere = entries.is_empty() || entries.iter().any(|other| other.domains.is_empty());
                assert!(
                    everywhere,
                    "{} is called {synonym}, which is known of some domains only",
                    entry.phrase
                );
            }
        }
    }

    #[test]
    fn every_domain_of_an_entry_is_one_that_tables_can_have() {
        for entry in lexicon().entries() {
            for domain in &entry.domains {
                assert!(domain::all().contains(domain), "{entry:?}");
            }
        }
    }

    #[test]
    fn phrases_are_found_in_every_form() {
        let find = |phrase| lexicon().find(phrase, &[]).map(|(entry, form)| (entry.phrase, form));
        assert_eq!(find("customer"), Some(("customer", Form::Full)));
        assert_eq!(find("dept"), Some(("department", Form::Short)));
        assert_eq!(find("phone numbers"), Some(("phone number", Form::Plural)));
        assert_eq!(find("attrs"), Some(("attribute", Form::ShortPlural)));
        assert_eq!(find("xyzzy"), None);
        let person = domain::of_words(&["student".to_owned()]);
        assert_eq!(
            lexicon().find("name", &person).map(|(entry, _)| entry.synonyms[0].phrase),
            Some("full name")
        );
    }
}
