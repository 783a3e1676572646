//! Words of questions and of names.

/// A word, in lower case and cut to its stem.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Word {
    pub(super) text: String,
    pub(super) stem: String,
}

impl Word {
    fn new(text: String) -> Self {
        Self { stem: stem(&text), text }
    }

    pub(super) fn is_number(&self) -> bool {
        self.text.starts_with(|c: char| c.is_ascii_digit())
    }
}

/// Words that say nothing about what is asked for.
const STOP_WORDS: &[&str] = &[
    "a", "all", "also", "an", "and", "any", "are", "as", "at", "be", "been", "by", "can", "could", "did",
    "do", "does", "each", "find", "for", "from", "give", "had", "has", "have", "how", "i", "if", "in", "is",
    "it", "its", "list", "many", "me", "more", "most", "much", "no", "not", "of", "on", "or", "out",
    "please", "return", "show", "than", "that", "the", "their", "them", "there", "these", "they", "this",
    "those", "to", "was", "we", "were", "what", "when", "where", "which", "who", "whose", "with", "you",
];

pub(super) fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.binary_search(&word).is_ok()
}

/// The words of a text: runs of letters and digits. An apostrophe between letters and a point or comma between
/// digits belong to the word; `'s` at its end does not.
pub(super) fn words(text: &str) -> Vec<Word> {
    let characters: Vec<char> = text.chars().collect();
    let mut words = Vec::new();
    let mut word = String::new();
    for (at, &character) in characters.iter().enumerate() {
        let is_between = |test: fn(&char) -> bool| {
            !word.is_empty()
                && word.chars().last().is_some_and(|c| test(&c))
                && characters.get(at + 1).is_some_and(test)
        };
        let belongs = match character {
            '\'' | '\u{2019}' => is_between(|c| c.is_alphabetic()),
            '.' | ',' => is_between(char::is_ascii_digit),
            _ => character.is_alphanumeric(),
        };
        if belongs {
            match character {
                '\u{2019}' => word.push('\''),
                ',' => {}
                _ => word.extend(character.to_lowercase()),
            }
        } else {
            finish(&mut word, &mut words);
        }
    }
    finish(&mut word, &mut words);
    words
}

fn finish(word: &mut String, words: &mut Vec<Word>) {
    let text = std::mem::take(word);
    let text = text.strip_suffix("'s").map(str::to_owned).unwrap_or(text);
    if !text.is_empty() {
        words.push(Word::new(text));
    }
}

/// The words of a name: split at everything that is no letter or digit, between `aB` and between a letter and a digit.
pub(super) fn name_words(name: &str) -> Vec<Word> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut before: Option<char> = None;
    for character in name.chars() {
        let splits = before.is_some_and(|before| {
            (before.is_lowercase() && character.is_uppercase())
                || (before.is_alphabetic() && character.is_numeric())
                || (before.is_numeric() && character.is_alphabetic())
        });
        if splits || !character.is_alphanumeric() {
            finish(&mut word, &mut words);
        }
        if character.is_alphanumeric() {
            word.extend(character.to_lowercase());
        }
        before = Some(character);
    }
    finish(&mut word, &mut words);
    words
}

/// A light stem of an English word: plural, `-ing` and `-ed` are taken off, a doubled consonant before them and an
/// `e` at the end too. It is no root of a dictionary, only the same for forms of one word most of the time.
pub(super) fn stem(word: &str) -> String {
    if !word.is_ascii() || word.len() < 4 || word.bytes().any(|byte| !byte.is_ascii_lowercase()) {
        return word.to_owned();
    }
    let mut stem = singular(word);
    for ending in ["ing", "ed"] {
        if let Some(rest) = stem.strip_suffix(ending)
            && rest.len() >= 3
            && rest.bytes().any(|byte| b"aeiouy".contains(&byte))
        {
            stem.truncate(undoubled(rest).len());
            break;
        }
    }
    match stem.strip_suffix('e') {
        Some(rest) if rest.len() >= 3 => rest.to_owned(),
        _ => stem,
    }
}

/// Not `sqlgauge_names::singular`, which reads words for people: the components of `features@1` are counted by these stems, and
/// another stem is another version of the encoder.
fn singular(word: &str) -> String {
    if let Some(rest) = word.strip_suffix("ies").filter(|rest| rest.len() >= 2) {
        return format!("{rest}y");
    }
    if let Some(rest) = word.strip_suffix("es")
        && ["s", "x", "z", "ch", "sh"].iter().any(|ending| rest.ends_with(ending))
    {
        return rest.to_owned();
    }
    match word.strip_suffix('s') {
        Some(rest) if !rest.ends_with(['s', 'u', 'i']) => rest.to_owned(),
        _ => word.to_owned(),
    }
}

fn undoubled(word: &str) -> &str {
    let mut last = word.bytes().rev();
    match (last.next(), last.next()) {
        (Some(a), Some(b)) if a == b && !b"aeiouls".contains(&a) => &word[..word.len() - 1],
        _ => word,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(words: &[Word]) -> Vec<&str> {
        words.iter().map(|word| word.text.as_str()).collect()
    }

    #[test]
    fn stop_words_are_sorted() {
        assert!(STOP_WORDS.is_sorted());
    }

    #[test]
    fn words_are_runs_of_letters_and_digits() {
        let text = "Which singer\u{2019}s songs don't cost 1,000.50, in 'São Paulo' (song_id)?";
        let expected =
            ["which", "singer", "songs", "don't", "cost", "1000.50", "in", "são", "paulo", "song", "id"];
        assert_eq!(texts(&words(text)), expected);
        assert!(words(" ?!.' ").is_empty());
    }

    #[test]
    fn names_are_split_where_people_join_words() {
        for (name, expected) in [
            ("song_release_year", vec!["song", "release", "year"]),
            ("StuID", vec!["stu", "id"]),
            ("Free Meal Count (K-12)", vec!["free", "meal", "count", "k", "12"]),
            ("T_BIL", vec!["t", "bil"]),
            ("address2", vec!["address", "2"]),
            ("", vec![]),
        ] {
            assert_eq!(texts(&name_words(name)), expected, "{name}");
        }
    }

    #[test]
    fn forms_of_one_word_have_one_stem() {
        for forms in [
            &["singer", "singers"][..],
            &["city", "cities"],
            &["name", "names", "named", "naming"],
            &["plan", "planned", "plans"],
            &["class", "classes"],
            &["order", "ordered", "ordering", "orders"],
            &["status"],
            &["release", "released", "releases"],
        ] {
            let stems: Vec<String> = forms.iter().map(|form| stem(form)).collect();
            assert!(stems.iter().all(|stem| *stem == stems[0]), "{stems:?}");
        }
        assert_ne!(stem("sing"), stem("s"));
        assert_eq!(stem("red"), "red");
    }
}
