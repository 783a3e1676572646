//! New names for tables and columns: of the same meaning, in the same style, free in their schema.
//!
//! # Contract
//! [`rename`] gives a name that differs from the old one, is not taken (letters of ASCII in either case are the same, as
//! for SQLite), needs quotes only where the old one does, and is no name of a rowid. The same request, taken names and
//! state of the generator give the same name. Without a name that fits there is none; a caller leaves the element as
//! it is.
//!
//! [`Naturalness`] has the levels of SNAILS (K. Luoma, A. Kumar, "SNAILS: Schema Naming Assessments for Improved
//! LLM-Based SQL Inference", 2025): full words, abbreviations that people use, and names of which little can be read.
//! Words, their other names and short forms are the `lexicon`'s; a word that it does not have is kept, or, for a
//! single one, said with its owner (`singer_xyz`). [`Suggestions`] are names that a language model thought of, in place of the
//! lexicon's; they are held to the same.

mod domain;
mod inflect;
mod lexicon;
mod meaning;
mod shorten;
mod suggested;
mod synonyms;
mod topic;
mod verbs;
mod words;

use std::collections::HashSet;
use std::str::FromStr;

use sqlgauge_base::Random;
use sqlgauge_sql::PrintDialect;

use self::lexicon::{Lexicon, Synonym, lexicon};
use self::words::Identifier;

pub use self::domain::{Domain, all as all_domains, of_words as domains_of_words};
pub use self::inflect::{plural_phrase, singular};
pub use self::meaning::{Meaning, adds_up, as_noun, is_rank};
pub use self::suggested::{SchemaNames, Suggestions};
pub use self::topic::topic;
pub use self::verbs::{LinkVerb, begins_verb, is_person, link_verb, verbs_at};
pub use self::words::Convention;
use self::words::bare_words;

sqlgauge_base::named! {
    /// How readable a name is (SNAILS).
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    #[serde(rename_all = "lowercase")]
    pub enum Naturalness by name {
        /// Full words: `vegetation_height`.
        #[default]
        Regular = "regular",
        /// Abbreviations that people recognise: `veg_hgt`.
        Low = "low",
        /// Initials and skeletons of words: `vgt_hgt`, `vh`.
        Least = "least",
    }
}

/// A name that no level of naturalness has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a level of naturalness; write regular, low or least")]
pub struct UnknownNaturalness(String);

impl FromStr for Naturalness {
    type Err = UnknownNaturalness;

    fn from_str(name: &str) -> Result<Self, UnknownNaturalness> {
        Self::ALL
            .into_iter()
            .find(|level| level.name() == name)
            .ok_or_else(|| UnknownNaturalness(name.to_owned()))
    }
}

/// Names that are in use, in any case of ASCII letters.
#[derive(Debug, Clone, Default)]
pub struct NamesInUse(HashSet<String>);

impl NamesInUse {
    /// These names.
    pub fn new<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        Self(names.into_iter().map(str::to_ascii_lowercase).collect())
    }

    /// Takes a name; whether it was free.
    pub fn insert(&mut self, name: &str) -> bool {
        self.0.insert(name.to_ascii_lowercase())
    }

    pub fn contains(&self, name: &str) -> bool {
        self.0.contains(&name.to_ascii_lowercase())
    }
}

/// Why a name cannot be given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// It is empty, or has characters that cannot be seen.
    #[error("the name is empty or cannot be read")]
    Unprintable,
    /// Another element has it.
    #[error("the name is taken")]
    Taken,
    /// It is a keyword or not a plain word, and the old name is not.
    #[error("the name must be quoted, and the old one need not be")]
    NeedsQuotes,
    /// SQLite keeps it for itself: `rowid`, `oid`, `_rowid_`, `sqlite_…`.
    #[error("SQLite keeps the name for itself")]
    Reserved,
}

/// What is to be named anew.
#[derive(Debug, Clone, Copy)]
pub struct Naming<'a> {
    /// The old name.
    pub identifier: &'a str,
    /// The table of a column; nothing for a table.
    pub owner: Option<&'a str>,
    /// How the names of the schema are written.
    pub convention: Convention,
    /// How readable the new name shall be.
    pub naturalness: Naturalness,
}

/// A new name; the module's contract says of which kind.
pub fn rename(naming: &Naming<'_>, in_use: &NamesInUse, random: &mut Random) -> Option<String> {
    let request = Request::of(naming);
    let fits = |name: &String| request.is_new(name) && acceptable(name, naming.identifier, in_use).is_ok();
    let candidates = match naming.naturalness {
        Naturalness::Regular => request.synonyms(random),
        Naturalness::Low => request.abbreviations(random),
        Naturalness::Least => request.skeletons(random),
    };
    candidates.into_iter().find(fits)
}

/// Whether a name may take the place of another, whoever made it.
///
/// # Errors
/// Why not, as [`NameError`] lists.
pub fn acceptable(name: &str, old: &str, in_use: &NamesInUse) -> Result<(), NameError> {
    let quoted = |name: &str| PrintDialect::Sqlite.identifier(name) != name;
    let lower = name.to_ascii_lowercase();
    if name.trim().is_empty() || name.trim() != name || name.chars().any(char::is_control) {
        Err(NameError::Unprintable)
    } else if ["rowid", "oid", "_rowid_"].contains(&lower.as_str()) || lower.starts_with("sqlite_") {
        Err(NameError::Reserved)
    } else if in_use.contains(name) {
        Err(NameError::Taken)
    } else if quoted(name) && !quoted(old) {
        Err(NameError::NeedsQuotes)
    } else {
        Ok(())
    }
}

/// How many words of a name the lexicon has, and how many it is of; numbers are no words.
pub fn coverage(naming: &Naming<'_>) -> (usize, usize) {
    let request = Request::of(naming);
    let matches = request.phrases().into_iter().filter(|phrase| phrase.entry.is_some());
    let words = request.identifier.words.iter().filter(|word| !word.is_number());
    (matches.map(|phrase| phrase.at.1 - phrase.at.0).sum(), words.count())
}

/// The words of a name in lower case, abbreviations written out.
pub fn full_words(name: &str) -> Vec<String> {
    let naturalness = Naturalness::Regular;
    let request = Request::of(&Naming {
        identifier: name,
        owner: None,
        convention: Convention::default(),
        naturalness,
    });
    let written_out = request.phrases().into_iter().flat_map(|phrase| match phrase.entry {
        Some((entry, form)) if form.is_short() => {
            form.inflect(entry.phrase).split(' ').map(str::to_owned).collect()
        }
        _ => request.identifier.words[phrase.at.0..phrase.at.1]
            .iter()
            .map(|word| word.lower.clone())
            .collect::<Vec<_>>(),
    });
    written_out.collect()
}

/// The words in which a person says a name, in lower case. A word that is written together is taken apart only if all
/// its parts are words, and only a word that stands alone may be an abbreviation: `stuid` stays, `emp_id` does not.
pub fn spoken_words(name: &str) -> Vec<String> {
    let lexicon = lexicon();
    let is_word =
        |part: &&str| part.len() > 2 && lexicon.find(part, &[]).is_some_and(|(_, form)| !form.is_short());
    let words = bare_words(name).into_iter().flat_map(|word| {
        match lexicon.find(&word, &[]) {
            Some((entry, form)) if form.is_short() => form.inflect(entry.phrase),
            Some(_) => word,
            None => {
                let parts = lexicon.run_together(&word);
                if parts.iter().all(is_word) { parts.join(" ") } else { word }
            }
        }
        .split(' ')
        .map(str::to_owned)
        .collect::<Vec<_>>()
    });
    words.collect()
}

/// What else people call a thing of this name, given in lower case, and mean the same; nothing where it depends on what owns it.
pub fn other_names(phrase: &str) -> Vec<String> {
    let Some((entry, form)) = lexicon().find(phrase, &[]) else { return Vec::new() };
    let means_it = |synonym: &&Synonym| !synonym.is_loose && !synonym.phrase.contains('~');
    let plain = entry.synonyms.iter().filter(|synonym| entry.domains.is_empty() && means_it(synonym));
    plain.map(|synonym| form.inflect(synonym.phrase)).collect()
}

/// The noun of a table's name: its last two words, written out, in the singular.
pub fn noun_of(table: &str) -> Vec<String> {
    noun(&bare_words(table), lexicon())
}

/// A name of these words, written as another one is.
pub fn like(name: &str, convention: Convention, words: &[String]) -> String {
    let identifier = Identifier::of(name, convention, lexicon());
    identifier.like(words, identifier.joint())
}

/// A naming with what is known of its words.
struct Request<'a> {
    naming: Naming<'a>,
    lexicon: &'static Lexicon,
    identifier: Identifier,
    /// The noun of the owner, in the singular and in full words.
    owner: Vec<String>,
    /// What the owner's rows are, or the table's own.
    domains: Vec<Domain>,
}

impl<'a> Request<'a> {
    fn of(naming: &Naming<'a>) -> Self {
        let lexicon = lexicon();
        let identifier = Identifier::of(naming.identifier, naming.convention, lexicon);
        let lower = |identifier: &Identifier| -> Vec<String> {
            identifier.words.iter().filter(|word| !word.is_number()).map(|word| word.lower.clone()).collect()
        };
        let table = naming.owner.map(|owner| Identifier::of(owner, naming.convention, lexicon));
        let words = lower(table.as_ref().unwrap_or(&identifier));
        let domains = domain::of_words(&words);
        let owner = if naming.owner.is_some() { noun(&words, lexicon) } else { Vec::new() };
        Self { naming: *naming, lexicon, identifier, owner, domains }
    }

    fn is_new(&self, name: &str) -> bool {
        !name.eq_ignore_ascii_case(self.naming.identifier)
    }
}

/// The noun of a table's words in lower case: its last two words in full, the last in the singular.
fn noun(words: &[String], lexicon: &Lexicon) -> Vec<String> {
    let last_two = &words[words.len().saturating_sub(2)..];
    let full = last_two.iter().flat_map(|word| match lexicon.find(word, &[]) {
        Some((entry, form)) if form.is_short() => entry.phrase.split(' ').map(str::to_owned).collect(),
        _ => vec![word.clone()],
    });
    let mut noun: Vec<String> = full.collect();
    if let Some(last) = noun.last_mut() {
        *last = singular(last).into_owned();
    }
    noun
}

/// The lines of a data file that say something.
pub fn lines(file: &'static str) -> impl Iterator<Item = &'static str> {
    file.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'))
}

/// The items of a list with commas.
pub fn list(text: &'static str) -> Vec<&'static str> {
    text.split(',').map(str::trim).filter(|item| !item.is_empty()).collect()
}

#[cfg(test)]
mod tests;
