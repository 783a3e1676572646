//! Singular and plural of English nouns: the regular endings, and `irregular.txt` for the rest.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::LazyLock;

struct Irregular {
    plural_of: HashMap<&'static str, &'static str>,
    singular_of: HashMap<&'static str, &'static str>,
}

static IRREGULAR: LazyLock<Irregular> = LazyLock::new(|| {
    let (mut plural_of, mut singular_of) = (HashMap::new(), HashMap::new());
    for line in super::lines(include_str!("../data/names/irregular.txt")) {
        let (singular, plural) = line.split_once('|').unwrap_or((line, line));
        plural_of.insert(singular.trim(), plural.trim());
        singular_of.insert(plural.trim(), singular.trim());
    }
    Irregular { plural_of, singular_of }
});

/// The plural of a noun in lower case; a word that has none stays.
pub(crate) fn plural(noun: &str) -> Cow<'_, str> {
    if let Some(&plural) = IRREGULAR.plural_of.get(noun) {
        return plural.into();
    }
    if let Some(stem) = noun.strip_suffix('y')
        && !stem.ends_with(['a', 'e', 'i', 'o', 'u'])
    {
        return format!("{stem}ies").into();
    }
    let hissing = ["s", "x", "z", "ch", "sh"].iter().any(|end| noun.ends_with(end));
    format!("{noun}{}", if hissing { "es" } else { "s" }).into()
}

/// The singular of a noun in lower case; a word that is no plural stays.
pub fn singular(noun: &str) -> Cow<'_, str> {
    if let Some(&singular) = IRREGULAR.singular_of.get(noun) {
        return singular.into();
    }
    if IRREGULAR.plural_of.contains_key(noun) {
        return noun.into();
    }
    if let Some(stem) = noun.strip_suffix("ies").filter(|stem| stem.len() > 1) {
        return format!("{stem}y").into();
    }
    if let Some(stem) = noun.strip_suffix("es")
        && ["ss", "x", "zz", "ch", "sh"].iter().any(|end| stem.ends_with(end))
    {
        return stem.into();
    }
    match noun.strip_suffix('s') {
        Some(stem) if stem.len() > 1 && !stem.ends_with(['s', 'u', 'i']) => stem.into(),
        _ => noun.into(),
    }
}

/// Whether a noun in lower case is a plural.
pub(crate) fn is_plural(noun: &str) -> bool {
    singular(noun) != noun
}

/// What may follow a date, a year or a time, and is neither a noun nor regular.
const PARTICIPLES: &[&str] = &[
    "sold",
    "left",
    "effective",
    "first",
    "last",
    "born",
    "met",
    "made",
    "built",
    "begun",
    "won",
    "lost",
    "taken",
];

/// The plural of a phrase: that of its noun, which stands last or before a preposition (`date of birth`).
pub fn plural_phrase(phrase: &str) -> String {
    let words: Vec<&str> = phrase.split(' ').collect();
    let preposition =
        |word: &&str| ["of", "in", "at", "on", "to", "for", "from", "by", "with"].contains(word);
    // In "date sold" and "year awarded" the noun is the first word.
    let said_of = |word: &&str| word.len() > 3 && word.ends_with("ed") || PARTICIPLES.contains(word);
    let noun = match words.as_slice() {
        ["date" | "year" | "time", second, ..] if said_of(second) => 0,
        _ => words.iter().position(preposition).unwrap_or(words.len()).saturating_sub(1),
    };
    let inflected = words.iter().enumerate().map(|(place, word)| {
        if place == noun && !is_plural(word) { plural(word) } else { Cow::Borrowed(*word) }
    });
    inflected.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn singular_and_plural_undo_each_other() {
        for (one, many) in [
            ("customer", "customers"),
            ("city", "cities"),
            ("day", "days"),
            ("class", "classes"),
            ("address", "addresses"),
            ("box", "boxes"),
            ("match", "matches"),
            ("dish", "dishes"),
            ("person", "people"),
            ("child", "children"),
            ("analysis", "analyses"),
            ("movie", "movies"),
            ("bus", "buses"),
            ("status", "statuses"),
            ("house", "houses"),
            ("price", "prices"),
            ("type", "types"),
            ("shoe", "shoes"),
        ] {
            assert_eq!((plural(one).as_ref(), singular(many).as_ref()), (many, one));
            assert!(is_plural(many) && !is_plural(one), "{one}");
        }
    }

    #[test]
    fn a_word_without_a_plural_stays() {
        for word in ["series", "news", "staff", "aircraft", "gymnastics"] {
            assert_eq!((plural(word).as_ref(), singular(word).as_ref()), (word, word));
        }
        for word in ["this", "s", "bonus", "plus", "is", ""] {
            assert_eq!(singular(word), word);
        }
    }

    #[test]
    fn a_phrase_is_counted_by_its_noun() {
        assert_eq!(plural_phrase("date of birth"), "dates of birth");
        assert_eq!(plural_phrase("phone number"), "phone numbers");
        assert_eq!(plural_phrase("point of contact"), "points of contact");
        assert_eq!(plural_phrase("goods"), "goods");
    }
}
