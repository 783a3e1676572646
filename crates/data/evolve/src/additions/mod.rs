//! Columns and tables that a schema might as well have: typed, of the domain of their table, with plausible values.
//!
//! # Contract
//! [`columns_for`] and [`table_for`] draw from what `data/additions` holds for the domain of a table (persons have an email
//! address, products a price) and, after that, for any. Names are free, written as those of their table, and mean nothing
//! that a column there means already. Values are SQL over the key of a row, of integers and texts only: the same in every
//! row on every machine, of the declared type, never NULL.

mod values;

use std::sync::LazyLock;

use sqlgauge_base::Random;
use sqlgauge_sql::PrintDialect;
use sqlgauge_sql::schema::{Column, Table};

use self::values::Values;
use sqlgauge_names::{Convention, Domain, NamesInUse, domains_of_words, full_words, like, lines, noun_of};

pub(crate) use self::values::row_number;

#[derive(Debug, Clone, PartialEq)]
struct Proposal {
    words: Vec<String>,
    declared_type: &'static str,
    values: Values,
}

/// A table that may be added next to another one.
#[derive(Debug, Clone, PartialEq)]
struct TableProposal {
    domain: &'static str,
    /// The words of its name; `~` for the noun of the other table.
    words: Vec<String>,
    columns: Vec<Proposal>,
}

/// The domain of what any table may have.
const ANY: &str = "any";

static COLUMNS: LazyLock<Vec<(&'static str, Proposal)>> = LazyLock::new(|| {
    lines(include_str!("../../data/additions/columns.txt"))
        .filter_map(|line| line.split_once('|'))
        .filter_map(|(domain, rest)| Some((domain.trim(), proposal(rest)?)))
        .collect()
});

static TABLES: LazyLock<Vec<TableProposal>> = LazyLock::new(|| {
    let mut tables: Vec<TableProposal> = Vec::new();
    for line in lines(include_str!("../../data/additions/tables.txt")) {
        if let Some(column) = proposal(line) {
            let Some(table) = tables.last_mut() else { continue };
            table.columns.push(column);
        } else if let Some((domain, name)) = line.split_once('|') {
            tables.push(TableProposal { domain: domain.trim(), words: words(name), columns: Vec::new() });
        }
    }
    tables
});

/// A column of a line: name, declared type, values.
fn proposal(line: &'static str) -> Option<Proposal> {
    let [name, declared_type, values] = *line.splitn(3, '|').map(str::trim).collect::<Vec<_>>().as_slice()
    else {
        return None;
    };
    Some(Proposal { words: words(name), declared_type, values: Values::read(values)? })
}

fn words(name: &str) -> Vec<String> {
    name.split_whitespace().map(str::to_owned).collect()
}

/// A column with its values.
#[derive(Debug, Clone, PartialEq)]
pub struct Addition {
    /// Name and type.
    pub column: Column,
    /// Its value in a row of the table, as SQL over the row's other columns.
    pub value: String,
}

/// Up to `count` columns for a table: those of its domain before those of any.
pub fn columns_for(
    table: &Table,
    convention: Convention,
    in_use: &NamesInUse,
    count: usize,
    random: &mut Random,
) -> Vec<Addition> {
    let domains = domains_of_words(&full_words(&table.name));
    let is_of = |domain: &'static str| domains.contains(&Domain::named(domain));
    let of = |wanted: &dyn Fn(&'static str) -> bool| -> Vec<&Proposal> {
        COLUMNS.iter().filter(|(domain, _)| wanted(domain)).map(|(_, proposal)| proposal).collect()
    };
    let (mut of_domain, mut any) = (of(&is_of), of(&|domain| domain == ANY));
    random.shuffle(&mut of_domain);
    random.shuffle(&mut any);
    let mut phrases: Vec<Vec<String>> = table.columns.iter().map(|column| full_words(&column.name)).collect();
    let (mut in_use, mut additions) = (in_use.clone(), Vec::new());
    let row = row_number(table, None);
    for proposal in of_domain.into_iter().chain(any) {
        if additions.len() == count {
            break;
        }
        if phrases.iter().any(|words| says(words, &proposal.words)) {
            continue;
        }
        let name = named(table, convention, &proposal.words);
        if in_use.insert(&name) {
            phrases.push(proposal.words.clone());
            additions.push(Addition {
                column: Column::new(name, Some(proposal.declared_type)),
                value: proposal.values.sql(&row, random),
            });
        }
    }
    additions
}

/// Whether a column of those words tells what one of these would: one has all words of the other.
fn says(words: &[String], proposed: &[String]) -> bool {
    let holds = |all: &[String], some: &[String]| some.iter().all(|word| all.contains(word));
    !words.is_empty() && (holds(words, proposed) || holds(proposed, words))
}

/// A name of these words, written as the columns of the table are.
fn named(table: &Table, convention: Convention, words: &[String]) -> String {
    let sample = table.columns.iter().max_by_key(|column| full_words(&column.name).len());
    plain(sample.map_or("a", |column| &column.name), convention, words)
}

/// A name of these words, written as another one, but without signs that need quotes.
fn plain(sample: &str, convention: Convention, words: &[String]) -> String {
    let name = like(sample, convention, words);
    if PrintDialect::Sqlite.identifier(&name) == name { name } else { words.join("_") }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableAddition {
    pub name: String,
    pub ddl: String,
    /// Its rows, as a query over the table that it extends.
    pub rows: String,
}

/// A table that extends another: with a key of its own, a foreign key to the other one's key, and columns of its domain.
/// None where the other has no key of one column, or all names are taken.
pub(crate) fn table_for(
    table: &Table,
    convention: Convention,
    in_use: &NamesInUse,
    random: &mut Random,
) -> Option<TableAddition> {
    let [key] = table.primary_key.as_slice() else { return None };
    let key = table.column(*key)?;
    let domains = domains_of_words(&full_words(&table.name));
    let is_of = |proposal: &&TableProposal| domains.contains(&Domain::named(proposal.domain));
    let (mut proposals, mut any): (Vec<_>, Vec<_>) =
        TABLES.iter().filter(|proposal| proposal.domain == ANY || is_of(proposal)).partition(is_of);
    random.shuffle(&mut proposals);
    random.shuffle(&mut any);
    let noun = noun_of(&table.name);
    let (name, proposal) = proposals.into_iter().chain(any).find_map(|proposal| {
        let spoken = |word: &String| if word == "~" { noun.clone() } else { vec![word.clone()] };
        let words: Vec<String> = proposal.words.iter().flat_map(spoken).collect();
        let name = plain(&table.name, convention, &words);
        (!in_use.contains(&name)).then_some((name, proposal))
    })?;
    Some(written(table, key, name, proposal, convention, random))
}

fn written(
    table: &Table,
    key: &Column,
    name: String,
    proposal: &TableProposal,
    convention: Convention,
    random: &mut Random,
) -> TableAddition {
    let quoted = |name: &str| PrintDialect::Sqlite.identifier(name);
    let last: Vec<String> = full_words(&name).last().cloned().into_iter().collect();
    let id = named(table, convention, &[last, words("id")].concat());
    // The reference is called as the key, or after the table where the key's name says nothing.
    let reference = match full_words(&key.name).as_slice() {
        [_] => named(table, convention, &[noun_of(&table.name), full_words(&key.name)].concat()),
        _ => key.name.clone(),
    };
    let reference = if reference.eq_ignore_ascii_case(&id) { format!("{reference}_of") } else { reference };
    let declared = key.declared_type.as_deref().map(|declared| format!(" {declared}")).unwrap_or_default();
    let mut definitions = vec![
        format!("{} INTEGER PRIMARY KEY", quoted(&id)),
        format!("{}{declared} NOT NULL", quoted(&reference)),
    ];
    let (parent, parent_key) = (quoted(&table.name), quoted(&key.name));
    let row = row_number(table, Some("T1"));
    let mut outputs =
        vec![format!("row_number() OVER (ORDER BY T1.{parent_key})"), format!("T1.{parent_key}")];
    for column in &proposal.columns {
        let name = named(table, convention, &column.words);
        definitions.push(format!("{} {}", quoted(&name), column.declared_type));
        outputs.push(column.values.sql(&row, random));
    }
    definitions.push(format!("FOREIGN KEY ({}) REFERENCES {parent} ({parent_key})", quoted(&reference)));
    let ddl = format!("CREATE TABLE {} (\n  {}\n)", quoted(&name), definitions.join(",\n  "));
    // Two rows of three have something to tell.
    let third = Values::among(3).sql(&row, random);
    let rows = format!(
        "SELECT {} FROM {parent} AS T1 WHERE {third} < 2 AND T1.{parent_key} IS NOT NULL",
        outputs.join(", ")
    );
    TableAddition { name, ddl, rows }
}

#[cfg(test)]
mod tests;
