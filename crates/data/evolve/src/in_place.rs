//! Replaces old names by new ones in the text that a person wrote.
//!
//! The text is not parsed for this: names are replaced where they look like those of tables and columns that only got
//! another name. Whether the text then means what it should is for [`crate::text`] to find out.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;

use sqlgauge_sql::lex::{self, Token, TokenKind};
use sqlgauge_sql::reads;
use sqlgauge_sql::schema::Schema;
use sqlgauge_sql::tree::Query;
use sqlgauge_sql::{Aliases, PrintDialect};

/// Names of a first schema with those of the last, all in lower case, by table.
#[derive(Debug, Clone, Default)]
pub(crate) struct Renamed {
    /// The new name of a table, by the position of the old one.
    pub(crate) tables: BTreeMap<usize, String>,
    /// The new name of a column, by the position of its table and its old name.
    pub(crate) columns: BTreeMap<(usize, String), String>,
}

pub(crate) fn replace(
    text: &str,
    query: &Query,
    aliases: &Aliases,
    old: &Schema,
    renamed: &Renamed,
) -> String {
    let scope = Scope::new(query, aliases, old, renamed);
    let words = words(text);
    let mut new = String::with_capacity(text.len());
    let mut start = 0;
    for (at, token) in words.iter().enumerate() {
        let Some(name) = &token.name else { continue };
        let before = at.checked_sub(1).and_then(|at| words.get(at));
        let qualifier =
            before.filter(|token| token.is_dot).and(at.checked_sub(2)).and_then(|at| words.get(at));
        let is_qualifier = words.get(at + 1).is_some_and(|token| token.is_dot);
        let after_from = before
            .and_then(|token| token.name.as_deref())
            .is_some_and(|word| !token.is_quoted && matches!(word, "from" | "join"));
        let new_name = match qualifier.and_then(|token| token.name.as_deref()) {
            Some(qualifier) => scope.column_of(qualifier, name),
            None if is_qualifier => scope.qualifier(name),
            None if after_from => scope.table(name),
            None => scope.column(name).or_else(|| scope.table(name).filter(|_| !token.is_quoted)),
        };
        if let Some(new_name) = new_name {
            new.push_str(&text[start..token.range.start]);
            new.push_str(&PrintDialect::Sqlite.identifier(new_name));
            start = token.range.end;
        }
    }
    new.push_str(&text[start..]);
    new
}

/// What names mean in a statement, as far as one meaning serves all of it.
struct Scope<'a> {
    renamed: &'a Renamed,
    old: &'a Schema,
    /// The tables that an alias or a table's name stands for somewhere in the statement.
    named: HashMap<String, BTreeSet<usize>>,
    aliases: BTreeSet<String>,
    tables: BTreeSet<usize>,
}

impl<'a> Scope<'a> {
    fn new(query: &Query, aliases: &Aliases, old: &'a Schema, renamed: &'a Renamed) -> Self {
        let read = reads::tables(query);
        let mut named: HashMap<String, BTreeSet<usize>> = HashMap::new();
        for (relation, table) in &read {
            let name = aliases.get(relation).unwrap_or(&old.tables()[table.index()].name);
            named.entry(name.to_ascii_lowercase()).or_default().insert(table.index());
        }
        let tables = read.iter().map(|(_, table)| table.index()).collect();
        let aliases = aliases.values().map(|alias| alias.to_ascii_lowercase()).collect();
        Self { renamed, old, named, aliases, tables }
    }

    fn table(&self, name: &str) -> Option<&'a str> {
        let at = self.old.table_id(name)?.index();
        let new = self.renamed.tables.get(&at).filter(|_| self.tables.contains(&at))?;
        (!new.eq_ignore_ascii_case(name)).then_some(new.as_str())
    }

    fn qualifier(&self, name: &str) -> Option<&'a str> {
        if self.aliases.contains(name) { None } else { self.table(name) }
    }

    fn column_of(&self, qualifier: &str, name: &str) -> Option<&'a str> {
        self.only(name, self.named.get(qualifier)?)
    }

    fn column(&self, name: &str) -> Option<&'a str> {
        self.only(name, &self.tables)
    }

    /// The new name of a column, if all those tables that have it say the same.
    fn only(&self, name: &str, tables: &BTreeSet<usize>) -> Option<&'a str> {
        let mut names =
            tables.iter().filter_map(|&table| self.renamed.columns.get(&(table, name.to_owned())));
        let first = names.next()?;
        (names.all(|other| other == first) && !first.eq_ignore_ascii_case(name)).then_some(first.as_str())
    }
}

struct Word {
    range: Range<usize>,
    /// A name, in lower case, without quotes.
    name: Option<String>,
    is_quoted: bool,
    is_dot: bool,
}

/// The words and signs of a text, without white space and comments.
fn words(text: &str) -> Vec<Word> {
    let word = |token: Token<'_>| Word {
        range: token.range(),
        name: token.is_name().then(|| token.unquoted().to_ascii_lowercase()),
        is_quoted: token.kind == TokenKind::Quoted,
        is_dot: token.text == ".",
    };
    lex::words(text).map(word).collect()
}
