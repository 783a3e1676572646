//! The names of a schema as words, and the words as names.
//!
//! # Contract
//! A column or table is said in the words of its name, abbreviations written out by the lexicon of schema changes; a
//! column may also be called by what the lexicon knows as another name of it. Two that are said alike share one entry,
//! and the reader gets both. What no words say, or not well, stands in double
//! quotes, spelled as the schema spells it.

use std::collections::HashMap;

use sqlgauge_names::{as_noun, other_names, plural_phrase, singular, spoken_words};
use sqlgauge_sql::schema::{Schema, Table};

use crate::engine::token::{Kind, Token, in_quotes};

/// What columns are called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct NameId(u32);

/// What tables are called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct NounId(u32);

/// A column by the places of its table and of itself.
pub(crate) type Spot = (u32, u32);

#[derive(Debug)]
struct Name {
    text: String,
    many: String,
    /// What else it is called, in the singular and in the plural.
    others: Vec<(String, String)>,
    columns: Vec<Spot>,
}

#[derive(Debug)]
struct Noun {
    one: String,
    many: String,
    tables: Vec<u32>,
}

/// All names of a schema.
#[derive(Debug, Default)]
pub(crate) struct Vocabulary {
    names: Vec<Name>,
    nouns: Vec<Noun>,
    /// By the name as it is spelled, in lower case.
    exact_names: HashMap<String, NameId>,
    exact_nouns: HashMap<String, NounId>,
    by_words: HashMap<String, NameId>,
    /// Of columns whose name begins with that of their table, what is said: the name of a contestant, for `contestant_name`.
    short: HashMap<Spot, NameId>,
    by_noun: HashMap<String, NounId>,
    /// By their first word.
    names_from: HashMap<String, Vec<(Vec<String>, NameId)>>,
    nouns_from: HashMap<String, Vec<(Vec<String>, NounId, bool)>>,
}

impl Vocabulary {
    pub(crate) fn of(schema: &Schema) -> Self {
        let mut vocabulary = Self::default();
        for (at, table) in (0..).zip(schema.tables()) {
            vocabulary.add_table(at, &table.name);
            for (place, column) in (0..).zip(&table.columns) {
                vocabulary.add_column((at, place), &column.name);
            }
            for (place, words) in short_names(table) {
                let id = vocabulary.add_words((at, place), &words, true);
                vocabulary.short.insert((at, place), id);
            }
        }
        vocabulary
    }

    fn add_table(&mut self, at: u32, name: &str) {
        let next = NounId(index(self.nouns.len()));
        let exact = *self.exact_nouns.entry(name.to_lowercase()).or_insert(next);
        if exact == next {
            let text = in_quotes(name, '"');
            self.nouns.push(Noun { one: text.clone(), many: text, tables: Vec::new() });
        }
        self.nouns[exact.0 as usize].tables.push(at);
        let words = plain_words(name);
        let Some(first) = words.first().cloned() else { return };
        let (one, many) = numbers(&words);
        let next = NounId(index(self.nouns.len()));
        let id = *self.by_noun.entry(one.clone()).or_insert(next);
        if id == next {
            for (text, is_many) in [(&one, false), (&many, true)] {
                let words: Vec<String> = text.split(' ').map(str::to_owned).collect();
                let begin = words.first().unwrap_or(&first).clone();
                let nouns = self.nouns_from.entry(begin).or_default();
                if !nouns.iter().any(|(other, other_id, _)| *other == words && *other_id == id) {
                    nouns.push((words, id, is_many));
                }
            }
            self.nouns.push(Noun { one, many, tables: Vec::new() });
        }
        self.nouns[id.0 as usize].tables.push(at);
    }

    fn add_column(&mut self, spot: Spot, name: &str) {
        let next = NameId(index(self.names.len()));
        let exact = *self.exact_names.entry(name.to_lowercase()).or_insert(next);
        if exact == next {
            let text = in_quotes(name, '"');
            self.names.push(Name { many: text.clone(), text, others: Vec::new(), columns: Vec::new() });
        }
        self.names[exact.0 as usize].columns.push(spot);
        let words = plain_words(name);
        if !words.is_empty() {
            // A noun for a participle is one of its senses; its other names are of all of them.
            self.add_words(spot, &words, spoken_words(name) == words);
        }
    }

    /// Makes words known that say a column; it may have other names.
    fn add_words(&mut self, spot: Spot, words: &[String], has_others: bool) -> NameId {
        let text = words.join(" ");
        let next = NameId(index(self.names.len()));
        let id = *self.by_words.entry(text.clone()).or_insert(next);
        if id == next {
            let other = if has_others { other_names(&text) } else { Vec::new() };
            let others: Vec<(String, String)> = other
                .into_iter()
                .map(|other| plain_words(&other))
                .filter(|other| !other.is_empty() && other.as_slice() != words)
                .map(|other| (other.join(" "), plural(&other)))
                .collect();
            let many = plural(words);
            self.add_phrase(&text, id);
            self.add_phrase(&many, id);
            for (one, many) in &others {
                self.add_phrase(one, id);
                self.add_phrase(many, id);
            }
            self.names.push(Name { text, many, others, columns: Vec::new() });
        }
        self.names[id.0 as usize].columns.push(spot);
        id
    }

    /// Makes a phrase known as a name.
    fn add_phrase(&mut self, phrase: &str, id: NameId) {
        let words: Vec<String> = phrase.split(' ').map(str::to_owned).collect();
        let from = self.names_from.entry(words[0].clone()).or_default();
        if !from.iter().any(|(other, other_id)| *other == words && *other_id == id) {
            from.push((words, id));
        }
    }

    /// What else a column of that name is called, as it is written.
    pub(crate) fn other_texts(&self, name: NameId, many: bool) -> Vec<&str> {
        let others = self.names[name.0 as usize].others.iter();
        others.map(|(one, plural)| if many { plural.as_str() } else { one }).collect()
    }

    /// What a column is called: in words, unless they are not wanted or say another column of its table too.
    pub(crate) fn name(&self, spot: Spot, spelled: &str, exact: bool) -> Option<NameId> {
        let short = self.short.get(&spot).copied().filter(|_| !exact);
        short.or_else(|| self.full_name(spot, spelled, exact))
    }

    /// Whether a column is called without the words that its table has too.
    pub(crate) fn is_short(&self, spot: Spot) -> bool {
        self.short.contains_key(&spot)
    }

    /// The same with the words that its table has too.
    pub(crate) fn full_name(&self, spot: Spot, spelled: &str, exact: bool) -> Option<NameId> {
        let in_words = || {
            let id = *self.by_words.get(&plain_words(spelled).join(" "))?;
            let columns = self.columns(id).iter().filter(|(table, _)| *table == spot.0);
            (columns.count() == 1).then_some(id)
        };
        let spelled = || self.exact_names.get(&spelled.to_lowercase()).copied();
        if exact { spelled() } else { in_words().or_else(spelled) }
    }

    /// What a table is called: in words, unless they are not wanted or say another table too.
    pub(crate) fn noun(&self, spelled: &str, exact: bool) -> Option<NounId> {
        let in_words = || {
            let id = *self.by_noun.get(&numbers(&plain_words(spelled)).0)?;
            (self.tables(id).len() == 1).then_some(id)
        };
        let spelled = || self.exact_nouns.get(&spelled.to_lowercase()).copied();
        if exact { spelled() } else { in_words().or_else(spelled) }
    }

    pub(crate) fn columns(&self, name: NameId) -> &[Spot] {
        &self.names[name.0 as usize].columns
    }

    pub(crate) fn tables(&self, noun: NounId) -> &[u32] {
        &self.nouns[noun.0 as usize].tables
    }

    /// The name as it is written.
    pub(crate) fn text(&self, name: NameId, many: bool) -> &str {
        let name = &self.names[name.0 as usize];
        if many { &name.many } else { &name.text }
    }

    /// The table's name as it is written.
    pub(crate) fn noun_text(&self, noun: NounId, many: bool) -> &str {
        let noun = &self.nouns[noun.0 as usize];
        if many { &noun.many } else { &noun.one }
    }

    /// Whether the table's name has a plural that differs from its singular.
    pub(crate) fn has_plural(&self, noun: NounId) -> bool {
        let noun = &self.nouns[noun.0 as usize];
        noun.one != noun.many
    }

    pub(crate) fn exact_name(&self, spelled: &str) -> Option<NameId> {
        self.exact_names.get(&spelled.to_lowercase()).copied()
    }

    pub(crate) fn exact_noun(&self, spelled: &str) -> Option<NounId> {
        self.exact_nouns.get(&spelled.to_lowercase()).copied()
    }

    /// Whether a name has that first word.
    pub(crate) fn may_begin(&self, word: &str) -> bool {
        self.names_from.contains_key(word) || self.nouns_from.contains_key(word)
    }

    /// The names that the tokens begin with, and how many words they have.
    pub(crate) fn names_at(&self, tokens: &[Token]) -> Vec<(usize, NameId)> {
        let from = tokens.first().and_then(|token| self.names_from.get(&token.text));
        let fitting = from.into_iter().flatten().filter(|(words, _)| begins(tokens, words));
        fitting.map(|(words, id)| (words.len(), *id)).collect()
    }

    /// The tables' names that the tokens begin with, how many words they have, and whether they are plurals.
    pub(crate) fn nouns_at(&self, tokens: &[Token]) -> Vec<(usize, NounId, bool)> {
        let from = tokens.first().and_then(|token| self.nouns_from.get(&token.text));
        let fitting = from.into_iter().flatten().filter(|(words, ..)| begins(tokens, words));
        fitting.map(|(words, id, many)| (words.len(), *id, *many)).collect()
    }
}

fn begins(tokens: &[Token], words: &[String]) -> bool {
    tokens.len() >= words.len()
        && tokens
            .iter()
            .zip(words)
            .all(|(token, word)| token.text == *word && matches!(token.kind, Kind::Word | Kind::Number(_)))
}

fn index(place: usize) -> u32 {
    u32::try_from(place).unwrap_or(u32::MAX)
}

/// The words of a name as a text has them: letters and digits only, without the article.
fn plain_words(name: &str) -> Vec<String> {
    let words = spoken_words(name);
    let parts = words.iter().flat_map(|word| word.split(|c: char| !c.is_alphanumeric()));
    let words = parts.filter(|part| !part.is_empty() && *part != "the").map(str::to_lowercase);
    let words = as_noun(words.collect());
    let is_value = words.first().is_some_and(|word| word.starts_with(|c: char| c.is_ascii_digit()));
    let is_state = matches!(words.as_slice(), [word] if STATES.contains(&word.as_str()));
    if is_value || is_state { Vec::new() } else { words }
}

/// The columns of a table whose names begin with its noun, or with the end of it, and what follows: of `contestants` the name, for
/// `contestant_name`. None where another column of the table is called so.
fn short_names(table: &Table) -> Vec<(u32, Vec<String>)> {
    let noun: Vec<String> = numbers(&plain_words(&table.name)).0.split(' ').map(str::to_owned).collect();
    let all: Vec<Vec<String>> = table.columns.iter().map(|column| plain_words(&column.name)).collect();
    let short = |words: &Vec<String>| {
        let begin = (0..noun.len()).find(|&from| words.starts_with(&noun[from..]))?;
        let rest = &words[noun.len() - begin..];
        let is_noun =
            rest.first().is_some_and(|first| first.len() > 2 && !PREPOSITIONS.contains(&first.as_str()));
        // "The numbers of contestants" would be how many there are.
        let is_noun = is_noun && !matches!(rest.join(" ").as_str(), "number" | "count");
        let is_clear = !STATES.contains(&rest.join(" ").as_str()) && !all.iter().any(|other| other == rest);
        (is_noun && is_clear).then(|| rest.to_vec())
    };
    let candidates: Vec<Option<Vec<String>>> = all.iter().map(short).collect();
    let is_only =
        |words: &Vec<String>| candidates.iter().flatten().filter(|other| *other == words).count() == 1;
    let named = (0..).zip(&candidates).filter_map(|(place, words)| Some((place, words.clone()?)));
    named.filter(|(_, words)| is_only(words)).collect()
}

/// Words with which no noun begins.
const PREPOSITIONS: &[&str] = &["of", "by", "from", "to", "in", "with", "at", "on", "for", "and", "per"];

/// What is said of a value: a column of that name would be taken for it.
const STATES: &[&str] = &["missing", "known", "null", "true", "false", "not"];

/// The name of a column in the plural; a name that ends in a number or in a participle has none.
fn plural(words: &[String]) -> String {
    let text = words.join(" ");
    // "The number of seats": the numbers of seats.
    if let [first, of, rest @ ..] = words
        && (first == "number" && of == "of" && !rest.is_empty())
    {
        return format!("numbers of {}", rest.join(" "));
    }
    // "Dates on market", "years awarded": the noun is the first word.
    if let [first, _, ..] = words
        && ["date", "year", "time"].contains(&first.as_str())
    {
        return plural_phrase(&text);
    }
    let is_preposition =
        |word: &String| ["by", "from", "to", "in", "with", "at", "on", "for"].contains(&word.as_str());
    if words.iter().any(is_preposition) {
        return match words.split_last() {
            Some((last, before)) if !is_preposition(last) => {
                format!("{} {}", before.join(" "), plural_phrase(last))
            }
            _ => text,
        };
    }
    let is_noun = words
        .last()
        .is_some_and(|last| last.len() > 1 && !last.ends_with("ed") && last.chars().all(char::is_alphabetic));
    if is_noun { plural_phrase(&text) } else { text }
}

/// A noun phrase in the singular and in the plural.
fn numbers(words: &[String]) -> (String, String) {
    let mut one = words.to_vec();
    // "Data" is said in the one form for both.
    if let Some(last) = one.last_mut().filter(|last| *last != "data") {
        *last = singular(last).into_owned();
    }
    let one = one.join(" ");
    let many = plural_phrase(&one);
    (one, many)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_table_is_called_is_not_said_again_of_its_columns() {
        let ddl = "CREATE TABLE contestants (contestant_id, contestant_name, contestant_number, age);
                   CREATE TABLE ref_size_codes (size_code, size_description, description, code_name);
                   CREATE TABLE votes (contestant_name);";
        let schema = Schema::from_ddl(ddl).unwrap();
        let short = |table: usize| -> Vec<String> {
            short_names(&schema.tables()[table]).into_iter().map(|(_, words)| words.join(" ")).collect()
        };
        // An id and a number say little alone, and a description is there already.
        assert_eq!(short(0), ["name"]);
        assert_eq!(short(1), ["name"]);
        assert!(short(2).is_empty());
    }
}
