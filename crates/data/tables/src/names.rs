//! Names of safe characters, and the words of names.
//!
//! # Contract
//! A name is letters, digits and underscores of ASCII, begins with a letter, has at most [`LONGEST`] characters, is no keyword of
//! SQLite and no name of a rowid. Accents are taken off Latin letters; whatever else is no letter or digit becomes one
//! underscore. Names that would be the same, in any case of letters, get `_2`, `_3` ….

use sqlgauge_names::{NamesInUse, noun_of, spoken_words};
use sqlgauge_sql::PrintDialect;

/// Most characters of a name.
const LONGEST: usize = 60;

/// Latin letters with what stands for them.
const FOLDED: [(&str, &str); 14] = [
    ("àáâãåāăą", "a"),
    ("äæ", "ae"),
    ("çćčĉ", "c"),
    ("ďđð", "d"),
    ("èéêëēęěė", "e"),
    ("ìíîïīįı", "i"),
    ("ñńň", "n"),
    ("òóôõøō", "o"),
    ("öœ", "oe"),
    ("śšşșß", "s"),
    ("ťţț", "t"),
    ("ùúûūůű", "u"),
    ("üŸÿý", "y"),
    ("łžźżğř", "l"),
];

/// Words that say that a column is a key and not of what.
const KEY_WORDS: [&str; 14] = [
    "id",
    "identifier",
    "key",
    "code",
    "number",
    "no",
    "nr",
    "num",
    "uuid",
    "pk",
    "ref",
    "reference",
    "index",
    "rownames",
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Of {
    Table,
    Column,
}

/// The name, made safe; none where nothing is left of it.
pub(crate) fn safe(raw: &str, of: Of) -> Option<String> {
    let mut name = String::with_capacity(raw.len());
    for c in raw.chars() {
        match folded(c) {
            Some(text) => name.push_str(&text),
            None if name.ends_with('_') => {}
            None => name.push('_'),
        }
    }
    let mut name: String = name.trim_matches('_').chars().take(LONGEST).collect();
    if name.is_empty() {
        return None;
    }
    if !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
        name.insert_str(0, "n_");
    }
    let is_rowid = ["rowid", "oid"].contains(&name.to_ascii_lowercase().as_str());
    let is_kept = name.to_ascii_lowercase().starts_with("sqlite_");
    if is_rowid || is_kept || PrintDialect::Sqlite.identifier(&name) != name {
        name.push_str(if of == Of::Table { "_table" } else { "_value" });
    }
    Some(if is_kept { format!("a_{name}") } else { name })
}

/// Letters and digits of ASCII as they are, Latin letters without accents; none for what becomes an underscore.
fn folded(c: char) -> Option<String> {
    if c.is_ascii_alphanumeric() {
        return Some(c.to_string());
    }
    let lower: String = c.to_lowercase().collect();
    let (_, plain) = FOLDED.iter().find(|(letters, _)| letters.contains(lower.as_str()))?;
    let plain = match lower.as_str() {
        "ü" => "ue",
        "ž" | "ź" | "ż" => "z",
        "ğ" => "g",
        "ř" => "r",
        "ß" => "ss",
        _ => plain,
    };
    Some(if c.is_uppercase() { plain.to_ascii_uppercase() } else { plain.to_owned() })
}

/// A name like this that is free, which it takes.
pub(crate) fn free(name: &str, in_use: &mut NamesInUse) -> String {
    let numbered = (2_u32..).map(|number| format!("{name}_{number}"));
    let first = std::iter::once(name.to_owned()).chain(numbered).find(|name| in_use.insert(name));
    first.unwrap_or_else(|| name.to_owned())
}

/// The words of a name without those that only say that it is a key.
pub(crate) fn without_key_words(words: &[String]) -> Vec<String> {
    words.iter().filter(|word| !KEY_WORDS.contains(&word.as_str())).cloned().collect()
}

/// Whether a name says that it is a key.
pub(crate) fn is_key_like(name: &str) -> bool {
    spoken_words(name).iter().any(|word| KEY_WORDS.contains(&word.as_str()))
}

/// The name of a table of what a column determines: what the column is the key of.
pub(crate) fn entity(column: &str) -> String {
    let words = without_key_words(&spoken_words(column));
    let name = if words.is_empty() { column.to_owned() } else { words.join("_") };
    safe(&name, Of::Table).unwrap_or_else(|| "entity".to_owned())
}

/// How well a column's name names another table's key, in [0, 1].
///
/// | the column's words are | score |
/// |---|---|
/// | the table's noun and the key's; or the key's, where these have the table's noun in them | 1 |
/// | the key's, where these say more than that it is a key or a name | 0.95 |
/// | those with others before them (`home_team_id`) | 0.9 |
/// | the table's noun, alone or with words of keys (`team`, `team_code`) | 0.8 |
/// | that with others before it | 0.6 |
/// | the key's, which only say that it is a key or a name | 0.1 |
/// | anything else | 0 |
pub(crate) fn similarity(column: &ColumnName, to: &KeyName) -> f64 {
    let (words, bare) = (&column.words, &column.bare);
    let KeyName { column: key, nouns, qualified, .. } = to;
    let says_more = !key.bare.is_empty() && key.words != ["name"];
    let after = |end: &[String]| !end.is_empty() && words.len() > end.len() && words.ends_with(end);
    let is_same = *words == key.words || column.name.eq_ignore_ascii_case(&key.name);
    let is_of_table = key.words.iter().any(|word| nouns[0].last() == Some(word));
    if says_more && is_same && is_of_table || qualified.contains(words) {
        1.0
    } else if says_more && is_same {
        0.95
    } else if says_more && after(&key.words) || qualified.iter().any(|name| after(name)) {
        0.9
    } else if !bare.is_empty() && (nouns.contains(bare) || says_more && *bare == key.bare) {
        0.8
    } else if nouns.iter().any(|noun| !noun.is_empty() && bare.ends_with(noun)) {
        0.6
    } else if is_same {
        0.1
    } else {
        0.0
    }
}

/// The name of a column, in words: they are looked up once, and compared with those of every key.
#[derive(Debug, Clone)]
pub(crate) struct ColumnName {
    pub(crate) name: String,
    words: Vec<String>,
    /// The words without those that only say that it is a key or a name.
    bare: Vec<String>,
}

/// The name of a column of a table's key, in words.
#[derive(Debug, Clone)]
pub(crate) struct KeyName {
    pub(crate) column: ColumnName,
    /// What the table's rows are, and its last word.
    nouns: [Vec<String>; 2],
    /// The key's words after those.
    qualified: [Vec<String>; 2],
}

impl ColumnName {
    pub(crate) fn new(name: &str) -> Self {
        let words = spoken_words(name);
        let bare = without_key_words(&words);
        Self { name: name.to_owned(), words, bare }
    }

    /// The words with which the name may end so that it names a key: without one of them in common with [`KeyName::ends`],
    /// [`similarity`] is 0, but for equal names.
    pub(crate) fn ends(&self) -> impl Iterator<Item = &String> {
        self.words.last().into_iter().chain(self.bare.last())
    }
}

impl KeyName {
    pub(crate) fn new(table: &str, column: &str) -> Self {
        let (column, noun) = (ColumnName::new(column), noun_of(table));
        let nouns = [noun.clone(), noun.last().cloned().into_iter().collect()];
        let qualified = nouns.each_ref().map(|noun| [noun.as_slice(), &column.words].concat());
        Self { column, nouns, qualified }
    }

    /// The words with which a column's name may end so that it names this key.
    pub(crate) fn ends(&self) -> impl Iterator<Item = &String> {
        self.column.ends().chain(self.nouns[0].last())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_made_of_safe_characters() {
        for (raw, expected) in [
            ("Année de naissance", Some("Annee_de_naissance")),
            ("  % of GDP (2013) ", Some("of_GDP_2013")),
            ("2013", Some("n_2013")),
            ("order", Some("order_value")),
            ("rowid", Some("rowid_value")),
            ("sqlite_x", Some("a_sqlite_x_value")),
            ("playerID", Some("playerID")),
            ("Größe", Some("Groesse")),
            ("人口", None),
            ("", None),
        ] {
            assert_eq!(safe(raw, Of::Column).as_deref(), expected, "{raw}");
        }
        let mut in_use = NamesInUse::default();
        let names: Vec<String> = ["a", "A", "a_2", "a"].iter().map(|name| free(name, &mut in_use)).collect();
        assert_eq!(names, ["a", "A_2", "a_2_2", "a_3"]);
    }

    #[test]
    fn a_reference_is_known_by_its_name() {
        for (column, table, key, expected) in [
            ("singer_id", "singer", "singer_id", 1.0),
            ("singer_id", "singer_in_concert", "singer_id", 0.95),
            ("singer_id", "singers", "id", 1.0),
            ("home_team_id", "teams", "id", 0.9),
            ("playerID", "People", "playerID", 0.95),
            ("stuid", "Student", "StuID", 1.0),
            ("team", "teams", "id", 0.8),
            ("id", "teams", "id", 0.1),
            ("name", "teams", "name", 0.1),
            ("origin", "airports", "faa", 0.0),
        ] {
            let (column_name, other) = (ColumnName::new(column), KeyName::new(table, key));
            let score = similarity(&column_name, &other);
            let meet = column_name.ends().any(|end| other.ends().any(|other| end == other));
            assert!(meet || score < 1e-9 || column.eq_ignore_ascii_case(key), "{column} {table}.{key}");
            assert!((score - expected).abs() < 1e-9, "{column} {table}.{key}: {score}");
        }
    }
}
