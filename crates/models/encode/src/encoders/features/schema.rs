//! The schema by itself, and what is looked up in it.

use std::collections::{HashMap, HashSet};

use sqlgauge_sql::schema::{Affinity, Schema, Table};

use super::row::Row;
use super::words::{Word, name_words};

/// A table or column name.
pub(super) struct Name {
    pub(super) words: Vec<Word>,
    /// The name in lower case, underscores made spaces.
    pub(super) phrase: String,
    /// The name in lower case.
    pub(super) lower: String,
}

impl Name {
    fn new(name: &str) -> Self {
        let lower = name.to_lowercase();
        Self { words: name_words(name), phrase: lower.replace('_', " "), lower }
    }
}

/// Position of a column: table, column.
pub(super) type TableColumn = (usize, usize);

/// A schema with what every item that asks about it needs.
pub(super) struct Prepared {
    /// Components of the schema itself.
    pub(super) values: Vec<f32>,
    pub(super) tables: Vec<Name>,
    /// All columns of all tables, in order.
    pub(super) columns: Vec<Name>,
    /// Table of each column.
    pub(super) table_of: Vec<usize>,
    /// Columns (positions in `columns`) whose names have the stem.
    pub(super) columns_by_stem: HashMap<String, Vec<usize>>,
    pub(super) tables_by_stem: HashMap<String, Vec<usize>>,
    pub(super) column_words: HashSet<String>,
    pub(super) table_words: HashSet<String>,
    /// How many columns have the name.
    pub(super) same_name: HashMap<String, usize>,
    /// Table and column names in lower case to the position in `columns`.
    pub(super) by_name: HashMap<(String, String), usize>,
    /// Pairs of columns that a foreign key joins, both ways round.
    pub(super) foreign_keys: HashSet<(TableColumn, TableColumn)>,
}

impl Prepared {
    pub(super) fn new(schema: &Schema, row: &mut Row) -> Self {
        let mut prepared = Self {
            values: Vec::new(),
            tables: schema.tables().iter().map(|table| Name::new(&table.name)).collect(),
            columns: Vec::new(),
            table_of: Vec::new(),
            columns_by_stem: HashMap::new(),
            tables_by_stem: HashMap::new(),
            column_words: HashSet::new(),
            table_words: HashSet::new(),
            same_name: HashMap::new(),
            by_name: HashMap::new(),
            foreign_keys: foreign_keys(schema),
        };
        for (table, declared) in schema.tables().iter().enumerate() {
            add(&prepared.tables[table], table, &mut prepared.tables_by_stem, &mut prepared.table_words);
            for column in &declared.columns {
                let position = prepared.columns.len();
                let name = Name::new(&column.name);
                add(&name, position, &mut prepared.columns_by_stem, &mut prepared.column_words);
                *prepared.same_name.entry(name.lower.clone()).or_default() += 1;
                let key = (declared.name.to_ascii_lowercase(), column.name.to_ascii_lowercase());
                prepared.by_name.entry(key).or_insert(position);
                prepared.columns.push(name);
                prepared.table_of.push(table);
            }
        }
        put_size(row, schema, &prepared);
        put_types(row, schema);
        put_names(row, schema, &prepared);
        prepared.values.clone_from(&row.values);
        prepared
    }
}

fn add(name: &Name, position: usize, by_stem: &mut HashMap<String, Vec<usize>>, all: &mut HashSet<String>) {
    for word in &name.words {
        let places = by_stem.entry(word.stem.clone()).or_default();
        if places.last() != Some(&position) {
            places.push(position);
        }
        all.insert(word.text.clone());
    }
}

fn foreign_keys(schema: &Schema) -> HashSet<(TableColumn, TableColumn)> {
    let mut pairs = HashSet::new();
    for (source, table) in schema.tables().iter().enumerate() {
        for key in &table.foreign_keys {
            let Some((target, columns)) = schema.resolve_foreign_key(key) else { continue };
            for (&from, &to) in key.columns.iter().zip(&columns) {
                let (from, to) = ((source, from as usize), (target.index(), to as usize));
                pairs.extend([(from, to), (to, from)]);
            }
        }
    }
    pairs
}

fn put_size(row: &mut Row, schema: &Schema, prepared: &Prepared) {
    let tables = schema.tables();
    let widths = || tables.iter().map(|table| table.columns.len());
    let linked: HashSet<usize> = prepared.foreign_keys.iter().map(|((table, _), _)| *table).collect();
    let keys: usize = tables.iter().map(|table| table.foreign_keys.len()).sum();
    row.count("schema.tables", "tables and views", tables.len());
    row.count("schema.columns", "columns of all tables", prepared.columns.len());
    row.mean("schema.columns_per_table", "columns per table", widths());
    row.count("schema.widest_table", "columns of the widest table", widths().max().unwrap_or(0));
    row.count("schema.foreign_keys", "foreign keys", keys);
    row.share(
        "schema.linked_tables",
        "share of tables at an end of a foreign key",
        linked.len(),
        tables.len(),
    );
    let share = |test: fn(&Table) -> bool| tables.iter().filter(|table| test(table)).count();
    let keyed = share(|table| !table.primary_key.is_empty());
    row.share("schema.keyed_tables", "share of tables with a primary key", keyed, tables.len());
    let composite = share(|table| table.primary_key.len() > 1);
    row.share(
        "schema.composite_keys",
        "share of tables with a primary key of several columns",
        composite,
        tables.len(),
    );
}

fn put_types(row: &mut Row, schema: &Schema) {
    let columns = || schema.tables().iter().flat_map(|table| &table.columns);
    let all = columns().count();
    for (name, description, affinity) in [
        ("schema.type.text", "share of columns with text affinity", Affinity::Text),
        ("schema.type.integer", "share of columns with integer affinity", Affinity::Integer),
        ("schema.type.real", "share of columns with real affinity", Affinity::Real),
        (
            "schema.type.numeric",
            "share of columns with numeric affinity (dates among them)",
            Affinity::Numeric,
        ),
        ("schema.type.blob", "share of columns with blob affinity or no type", Affinity::Blob),
    ] {
        row.share(name, description, columns().filter(|column| column.affinity == affinity).count(), all);
    }
    let dates = columns().filter(|column| {
        let declared = column.declared_type.as_deref().unwrap_or_default().to_ascii_lowercase();
        ["date", "time", "year"].iter().any(|part| declared.contains(part))
    });
    row.share("schema.type.date", "share of columns declared as date, time or year", dates.count(), all);
}

fn put_names(row: &mut Row, schema: &Schema, prepared: &Prepared) {
    let names = || prepared.tables.iter().chain(&prepared.columns);
    let declared = || {
        let of_table =
            |table: &'_ Table| table.columns.iter().map(|column| column.name.clone()).collect::<Vec<_>>();
        schema.tables().iter().flat_map(move |table| {
            let mut names = of_table(table);
            names.push(table.name.clone());
            names
        })
    };
    let all = names().count();
    let words = || names().flat_map(|name| &name.words);
    row.mean(
        "schema.name.characters",
        "characters per table or column name",
        names().map(|name| name.lower.chars().count()),
    );
    row.mean("schema.name.words", "words per table or column name", names().map(|name| name.words.len()));
    let share = |test: fn(&str) -> bool| declared().filter(|name| test(name)).count();
    row.share(
        "schema.name.underscores",
        "share of names with an underscore",
        share(|name| name.contains('_')),
        all,
    );
    let odd = share(|name| {
        name.contains(|c: char| !c.is_alphanumeric() && c != '_')
            || name.starts_with(|c: char| c.is_numeric())
    });
    row.share(
        "schema.name.quoting",
        "share of names that SQL must quote: with a space, a sign, a digit first",
        odd,
        all,
    );
    let mixed = share(|name| name.contains(char::is_uppercase) && name.contains(char::is_lowercase));
    row.share("schema.name.mixed_case", "share of names with small and capital letters", mixed, all);
    row.share(
        "schema.name.digits",
        "share of names with a digit",
        share(|name| name.contains(char::is_numeric)),
        all,
    );
    let obscure = words().filter(|word| is_obscure(&word.text)).count();
    row.share("schema.name.obscure_words", "share of the words of names that are no word: without a vowel, or of one or two letters (id, no, of, … excepted)", obscure, words().count());
    let obscure_names = names().filter(|name| name.words.iter().all(|word| is_obscure(&word.text))).count();
    row.share("schema.name.obscure", "share of names with no word but obscure ones", obscure_names, all);
    let repeated = prepared.columns.iter().filter(|column| prepared.same_name[&column.lower] > 1).count();
    row.share(
        "schema.name.repeated",
        "share of columns whose name another column has too",
        repeated,
        prepared.columns.len(),
    );
}

/// Whether a word of a name looks like an abbreviation that only its author knows.
fn is_obscure(word: &str) -> bool {
    const SHORT: [&str; 12] = ["id", "no", "of", "to", "in", "by", "is", "at", "on", "or", "us", "up"];
    if word.starts_with(|c: char| c.is_numeric()) {
        return false;
    }
    match word.chars().count() {
        0..=2 => !SHORT.contains(&word),
        _ => word.is_ascii() && !word.contains(['a', 'e', 'i', 'o', 'u', 'y']),
    }
}
