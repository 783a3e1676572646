//! Identifiers as words: where one ends and the next begins, and how they are written together.

use super::lexicon::Lexicon;

/// How the words of an identifier begin and go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Case {
    Lower,
    /// The first letter is a capital.
    Title,
    Upper,
}

impl Case {
    fn of(word: &str) -> Self {
        let mut letters = word.chars().filter(|c| c.is_alphabetic());
        match letters.next() {
            Some(first) if first.is_uppercase() => match letters.next() {
                Some(second) if second.is_uppercase() => Self::Upper,
                _ => Self::Title,
            },
            _ => Self::Lower,
        }
    }

    fn apply(self, word: &str) -> String {
        match self {
            Self::Lower => word.to_owned(),
            Self::Upper => word.to_uppercase(),
            Self::Title => {
                let mut chars = word.chars();
                chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
            }
        }
    }
}

/// What stands between the words of the names of a schema, for a name of one word, which does not tell. Where spaces
/// do, such a name goes on with underscores: it needs no quotes, and the new one should not.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Convention {
    /// `full_name`, `Full_Name`.
    #[default]
    Underscore,
    /// `fullName`, `FullName`.
    Capitals,
}

impl Convention {
    /// What most names of several words do; underscores where none tells.
    pub fn of<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        let (mut underscores, mut capitals) = (0_usize, 0_usize);
        for name in names {
            underscores += usize::from(name.contains('_'));
            capitals += usize::from(name.chars().all(char::is_alphabetic) && bare_words(name).len() > 1);
        }
        if capitals > underscores { Self::Capitals } else { Self::Underscore }
    }

    fn joint(self) -> &'static str {
        match self {
            Self::Underscore => "_",
            Self::Capitals => "",
        }
    }
}

/// A word of an identifier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word {
    /// What stands between it and the word before, or before the first.
    gap: String,
    /// The word as it is written.
    text: String,
    /// The word in lower case.
    pub(super) lower: String,
}

impl Word {
    pub(super) fn is_number(&self) -> bool {
        self.text.starts_with(|c: char| c.is_ascii_digit())
    }
}

/// An identifier taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Identifier {
    pub(super) words: Vec<Word>,
    /// What stands after the last word.
    tail: String,
    /// What stands between its words.
    joint: String,
    /// How it is written as a whole where all words are alike.
    case: Option<Case>,
    /// Of a name of one word: whether further words begin with capitals, having nothing else between them.
    capitals: bool,
}

/// One word of a new identifier, or several that take the place of words of the old one.
pub(super) enum Segment {
    /// The old word at this position.
    Kept(usize),
    /// These in the place of the old word at this position.
    New(usize, Vec<String>),
}

impl Identifier {
    pub(super) fn of(name: &str, convention: Convention, lexicon: &Lexicon) -> Self {
        let (bare, tail) = split(name);
        let mut words = Vec::with_capacity(bare.len());
        for (gap, text) in &bare {
            let mut gap = Some((*gap).to_owned());
            for part in lexicon.run_together(text) {
                let lower = part.to_lowercase();
                words.push(Word { gap: gap.take().unwrap_or_default(), text: part.to_owned(), lower });
            }
        }
        let between = |separator: char| words.iter().skip(1).any(|word| word.gap.contains(separator));
        let joint = match ['_', ' ', '-'].into_iter().find(|&separator| between(separator)) {
            Some(separator) => separator.to_string(),
            None if words.len() > 1 => String::new(),
            None => convention.joint().to_owned(),
        };
        let capitals = words.len() == 1 && convention == Convention::Capitals;
        Self { tail: tail.to_owned(), joint, case: whole_case(&words), capitals, words }
    }

    /// What stands between the words of a name that is made new in this one's manner.
    pub(super) fn joint(&self) -> &str {
        &self.joint
    }

    /// Whether the words of a stretch stand together as the words of a phrase do.
    pub(super) fn is_joined(&self, from: usize, to: usize) -> bool {
        self.words[from..to].iter().skip(1).all(|word| matches!(word.gap.as_str(), "" | "_" | " " | "-"))
    }

    /// The identifier of these segments, written as the old one is.
    pub(super) fn compose(&self, segments: &[Segment]) -> String {
        let mut name = String::new();
        for (place, segment) in segments.iter().enumerate() {
            match segment {
                Segment::Kept(at) => {
                    name.push_str(&self.words[*at].gap);
                    name.push_str(&self.words[*at].text);
                }
                Segment::New(at, new) => {
                    let word = &self.words[*at];
                    name.push_str(&word.gap);
                    let first = self.case_of_first(word, place == 0);
                    for (position, new) in new.iter().enumerate() {
                        if position > 0 {
                            name.push_str(&self.joint);
                        }
                        let case = if position == 0 { first } else { self.case_of_further(first) };
                        name.push_str(&self.as_written(new).unwrap_or_else(|| case.apply(new)));
                    }
                }
            }
        }
        name + &self.tail
    }

    /// A name of these words alone, in this one's manner.
    pub(super) fn like(&self, words: &[String], joint: &str) -> String {
        let Some(first) = self.words.first() else { return words.join(joint) };
        let case = self.case_of_first(first, true);
        let mut name = String::new();
        for (place, word) in words.iter().enumerate() {
            if place > 0 {
                name.push_str(joint);
            }
            name.push_str(&if place == 0 { case } else { self.case_of_further(case) }.apply(word));
        }
        name
    }

    /// An abbreviation in capitals that stays: the `ID` of `CustomerID` in `ClientID`.
    fn as_written(&self, new: &str) -> Option<String> {
        let word = self.words.iter().find(|word| word.lower == *new)?;
        (Case::of(&word.text) == Case::Upper).then(|| word.text.clone())
    }

    fn case_of_first(&self, word: &Word, is_first: bool) -> Case {
        match (self.case, Case::of(&word.text)) {
            (Some(case), _) => case,
            // A word without capitals in the middle of `customerName2` goes on as the name does.
            (None, Case::Lower) if is_first || !self.joint.is_empty() => Case::Lower,
            _ => Case::Title,
        }
    }

    fn case_of_further(&self, first: Case) -> Case {
        match self.case {
            Some(Case::Lower) if self.capitals => Case::Title,
            Some(case) => case,
            None if self.joint.is_empty() => Case::Title,
            None => match self.words.iter().skip(1).map(|word| Case::of(&word.text)).next() {
                Some(Case::Lower) => Case::Lower,
                Some(_) => Case::Title,
                None => first,
            },
        }
    }
}

/// The case that all words share: small letters, capitals (of more than one letter), or each with one capital.
fn whole_case(words: &[Word]) -> Option<Case> {
    let letters = || words.iter().flat_map(|word| word.text.chars()).filter(|c| c.is_alphabetic());
    if letters().all(|c| !c.is_uppercase()) {
        Some(Case::Lower)
    } else if letters().nth(1).is_some() && letters().all(|c| !c.is_lowercase()) {
        Some(Case::Upper)
    } else if words.iter().filter(|word| !word.is_number()).all(|word| Case::of(&word.text) == Case::Title) {
        Some(Case::Title)
    } else {
        None
    }
}

/// The words of a name in lower case, numbers included, as capitals and signs tell them.
pub(crate) fn bare_words(name: &str) -> Vec<String> {
    split(name).0.into_iter().map(|(_, word)| word.to_lowercase()).collect()
}

/// The words of a name, each with what stands before it, and what stands after the last one.
fn split(name: &str) -> (Vec<(&str, &str)>, &str) {
    let chars: Vec<(usize, char)> = name.char_indices().collect();
    let (mut words, mut gap_start) = (Vec::new(), 0);
    let mut at = 0;
    while at < chars.len() {
        if !chars[at].1.is_alphanumeric() {
            at += 1;
            continue;
        }
        let start = at;
        at += 1;
        while at < chars.len() && !begins_word(&chars, at) {
            at += 1;
        }
        let end = chars.get(at).map_or(name.len(), |&(offset, _)| offset);
        words.push((&name[gap_start..chars[start].0], &name[chars[start].0..end]));
        gap_start = end;
    }
    (words, &name[gap_start..])
}

/// Whether a word ends before this character: at a sign, between letters and digits, before a capital that follows a
/// small letter (`customerName`), and before the last of several capitals where a small letter follows (`CDSCode`).
fn begins_word(chars: &[(usize, char)], at: usize) -> bool {
    let (before, this) = (chars[at - 1].1, chars[at].1);
    if !this.is_alphanumeric() || before.is_ascii_digit() != this.is_ascii_digit() {
        return true;
    }
    let next_is_small = chars.get(at + 1).is_some_and(|&(_, c)| c.is_lowercase());
    // `IDs` is a plural, not an `I` and a `Ds`.
    let plural = chars.get(at + 1).is_some_and(|&(_, c)| c == 's')
        && !chars.get(at + 2).is_some_and(|&(_, c)| c.is_alphanumeric());
    this.is_uppercase() && (before.is_lowercase() || next_is_small && !plural)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexicon::lexicon;

    fn identifier(name: &str) -> Identifier {
        Identifier::of(name, Convention::Underscore, lexicon())
    }

    #[test]
    fn words_end_at_signs_capitals_and_digits() {
        for (name, words) in [
            ("stu_id", vec!["stu", "id"]),
            ("CustomerID", vec!["customer", "id"]),
            ("CDSCode", vec!["cds", "code"]),
            ("Charter School (Y/N)", vec!["charter", "school", "y", "n"]),
            ("line_1", vec!["line", "1"]),
            ("address2", vec!["address", "2"]),
            ("IDs", vec!["ids"]),
            ("straßeÄrger", vec!["straße", "ärger"]),
            ("__", vec![]),
            ("", vec![]),
        ] {
            assert_eq!(bare_words(name), words, "{name}");
        }
    }

    #[test]
    fn words_written_together_are_told_apart_by_the_lexicon() {
        for (name, words) in [
            ("customerid", vec!["customer", "id"]),
            ("HOMETOWN", vec!["hometown"]),
            ("dormid", vec!["dorm", "id"]),
            ("invoicedate", vec!["invoice", "date"]),
            ("xyzzy", vec!["xyzzy"]),
        ] {
            let parts: Vec<String> = identifier(name).words.into_iter().map(|word| word.lower).collect();
            assert_eq!(parts, words, "{name}");
        }
    }

    #[test]
    fn an_identifier_composed_of_its_words_is_itself() {
        for name in
            ["stu_id", "CustomerID", " Percent (%) Eligible Free (K-12)", "2013-14 CALPADS", "a__b_", "é"]
        {
            let identifier = identifier(name);
            let segments: Vec<Segment> = (0..identifier.words.len()).map(Segment::Kept).collect();
            assert_eq!(identifier.compose(&segments), name);
        }
    }

    #[test]
    fn new_words_are_written_as_the_old_ones() {
        for (name, at, new) in [
            ("stu_name", 1, "stu_full_name"),
            ("STU_NAME", 1, "STU_FULL_NAME"),
            ("Stu_Name", 1, "Stu_Full_Name"),
            ("Stu_name", 1, "Stu_full_name"),
            ("stuName", 1, "stuFullName"),
            ("StuName", 1, "StuFullName"),
            ("StuNAME", 1, "StuFullNAME"),
            ("Stu Name", 1, "Stu Full Name"),
            ("name", 0, "full_name"),
            ("Name", 0, "Full_Name"),
            ("Name (2)", 0, "Full Name (2)"),
        ] {
            let identifier = identifier(name);
            let segments: Vec<Segment> = (0..identifier.words.len())
                .map(|place| {
                    let new = Segment::New(place, vec!["full".into(), "name".into()]);
                    if place == at { new } else { Segment::Kept(place) }
                })
                .collect();
            assert_eq!(identifier.compose(&segments), new, "{name}");
        }
    }

    #[test]
    fn a_schema_tells_how_its_names_are_joined() {
        assert_eq!(Convention::of(["a_b", "c_d", "eF"]), Convention::Underscore);
        assert_eq!(Convention::of(["firstName", "lastName", "x_y"]), Convention::Capitals);
        assert_eq!(Convention::of(["School Name", "Zip"]), Convention::Underscore);
        assert_eq!(Convention::of(["id"]), Convention::Underscore);
        let camel = Identifier::of("name", Convention::Capitals, lexicon());
        assert_eq!(camel.compose(&[Segment::New(0, vec!["full".into(), "name".into()])]), "fullName");
    }
}
