//! What a question says, by its words.

/// Numbers that questions write as words.
const NUMBERS: [(&str, i64); 13] = [
    ("one", 1),
    ("two", 2),
    ("three", 3),
    ("four", 4),
    ("five", 5),
    ("six", 6),
    ("seven", 7),
    ("eight", 8),
    ("nine", 9),
    ("ten", 10),
    ("eleven", 11),
    ("twelve", 12),
    ("dozen", 12),
];

/// Words after "how many" among which the counted thing is.
const NEAR: usize = 5;

/// A text as words in lower case.
#[derive(Debug, Clone)]
pub(crate) struct Words {
    list: Vec<String>,
    /// The words with one space between them and around.
    joined: String,
    /// Letters and digits alone.
    packed: String,
}

impl Words {
    pub(crate) fn of(text: &str) -> Self {
        let words = split(text);
        let joined = format!(" {} ", words.join(" "));
        Self { packed: packed(text), joined, list: words }
    }

    /// Whether one of the words occurs, or one of the phrases.
    pub(crate) fn any(&self, phrases: &[&str]) -> bool {
        phrases.iter().any(|phrase| self.joined.contains(&format!(" {phrase} ")))
    }

    /// Whether the text begins with one of the phrases.
    pub(crate) fn begins(&self, phrases: &[&str]) -> bool {
        phrases.iter().any(|phrase| self.joined.starts_with(&format!(" {phrase} ")))
    }

    /// Whether the text has that value in some spelling: letter case, spaces and punctuation do not count.
    pub(crate) fn mentions(&self, value: &str) -> bool {
        let value = packed(value);
        value.is_empty() || self.packed.contains(&value)
    }

    /// Whether most words of a value occur, be it apart.
    pub(crate) fn mentions_words_of(&self, value: &str) -> bool {
        let parts = split(value);
        let is_here = |part: &String| {
            self.list
                .iter()
                .any(|word| stem(word) == stem(part) || (part.len() > 3 && word.starts_with(part.as_str())))
        };
        !parts.is_empty() && parts.iter().filter(|part| is_here(part)).count() * 2 >= parts.len()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &str> {
        self.list.iter().map(String::as_str)
    }

    /// What the question counts, in the singular: the first plural after "how many" or "number of".
    pub(crate) fn counted(&self) -> Option<String> {
        let asks = |pair: &[String]| {
            (pair[0] == "how" && pair[1] == "many") || (pair[0] == "number" && pair[1] == "of")
        };
        let start = self.list.windows(2).position(asks)? + 2;
        let is_plural = |word: &&String| word.len() > 3 && stem(word) != **word;
        self.list[start..].iter().take(NEAR).find(is_plural).map(|word| stem(word))
    }

    /// Whether the text has that number: as digits, also beside letters, as a word, an ordinal or the name of a month.
    pub(crate) fn states(&self, number: i64) -> bool {
        const ORDINALS: [&str; 12] = [
            "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth",
            "eleventh", "twelfth",
        ];
        const MONTHS: [&str; 12] =
            ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
        let is_word = |word: &str| {
            let digits = word.split(|c: char| !c.is_ascii_digit()).any(|part| part.parse() == Ok(number));
            let at = |place: usize| usize::try_from(number).is_ok_and(|number| place + 1 == number);
            let ordinal = ORDINALS.iter().position(|name| *name == word).is_some_and(at);
            digits || ordinal || MONTHS.iter().position(|name| word.starts_with(name)).is_some_and(at)
        };
        self.iter().any(is_word) || self.numbers().contains(&number)
    }

    /// The numbers, as digits and as words.
    pub(crate) fn numbers(&self) -> Vec<i64> {
        let of_word = |word: &str| NUMBERS.iter().find(|(name, _)| *name == word).map(|(_, number)| *number);
        self.iter().filter_map(|word| word.parse().ok().or_else(|| of_word(word))).collect()
    }
}

/// Whether one of the words of a name is that word.
pub(crate) fn names(name: &str, word: &str) -> bool {
    split(name).iter().any(|part| stem(part) == word)
}

/// The words of a text or of a name such as `first_name` or `firstName`, in lower case.
pub(crate) fn split(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut before = ' ';
    for c in text.chars() {
        let breaks = before.is_lowercase() && c.is_uppercase();
        if (!c.is_alphanumeric() || breaks) && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if c.is_alphanumeric() {
            word.extend(c.to_lowercase());
        }
        before = c;
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

/// Letters and digits alone, in lower case.
pub(crate) fn packed(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// The word without the ending of its plural.
pub(crate) fn stem(word: &str) -> String {
    if let Some(rest) = word.strip_suffix("ies").filter(|rest| rest.len() > 2) {
        return format!("{rest}y");
    }
    for ending in ["sses", "shes", "ches", "xes"] {
        if word.ends_with(ending) {
            return word[..word.len() - 2].to_owned();
        }
    }
    match word.strip_suffix('s') {
        Some(rest) if rest.len() > 2 && !rest.ends_with('s') && !rest.ends_with('u') => rest.to_owned(),
        _ => word.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_texts_are_words() {
        assert_eq!(split("firstName of_the Club's 2nd"), ["first", "name", "of", "the", "club", "s", "2nd"]);
        for (word, expected) in [
            ("cities", "city"),
            ("boxes", "box"),
            ("status", "status"),
            ("clubs", "club"),
            ("class", "class"),
        ] {
            assert_eq!(stem(word), expected);
        }
    }

    #[test]
    fn what_is_counted_is_the_first_plural() {
        let counted = |text: &str| Words::of(text).counted();
        assert_eq!(counted("How many players have won awards?").as_deref(), Some("player"));
        assert_eq!(counted("State the number of married male clients.").as_deref(), Some("client"));
        assert_eq!(counted("Who has the awards?"), None);
        assert!(names("order_lines", "line") && !names("order_lines", "orders"));
    }

    #[test]
    fn a_value_is_mentioned_in_any_spelling() {
        let words = Words::of("How many of the three clubs in São-Paulo were founded by 1902?");
        assert!(words.mentions("SÃO PAULO") && words.mentions_words_of("Club") && words.any(&["how many"]));
        assert!(!words.mentions("Porto") && !words.mentions_words_of("players"));
        assert_eq!(words.numbers(), [3, 1902]);
        assert!(words.states(3) && words.states(1902) && !words.states(2));
        let words = Words::of("the second of August in the 1990s");
        assert!([2, 8, 1990].iter().all(|number| words.states(*number)) && !words.states(90));
    }
}
