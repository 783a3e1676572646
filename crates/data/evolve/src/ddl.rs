//! Writes the statements of a schema as a person lays them out.

use std::fmt::Write as _;

use sqlgauge_sql::schema::{Collation, Column, Index, Indexed, Schema, Table, TableKind};
use sqlgauge_sql::{PrintDialect, lex, quote};

fn identifier(name: &str) -> String {
    PrintDialect::Sqlite.identifier(name)
}

/// The statements of the tables that `wanted` takes, each ended by a semicolon: tables, then views.
pub(crate) fn script(schema: &Schema, wanted: impl Fn(usize) -> bool) -> String {
    let tables = schema.tables().iter().enumerate().filter(|(at, _)| wanted(*at)).map(|(_, table)| table);
    let statements = tables.filter_map(create);
    statements.map(|statement| format!("{statement};\n")).collect::<Vec<_>>().join("\n")
}

/// The statement that creates the table or view; `None` for what is neither.
pub(crate) fn create(table: &Table) -> Option<String> {
    match table.kind {
        TableKind::Table => Some(create_table(table)),
        TableKind::View => {
            let names: Vec<String> = table.columns.iter().map(|column| identifier(&column.name)).collect();
            let query = table.view.as_ref()?;
            Some(format!("CREATE VIEW {} ({}) AS {query}", identifier(&table.name), names.join(", ")))
        }
        TableKind::Virtual | TableKind::Shadow => None,
    }
}

fn create_table(table: &Table) -> String {
    let mut parts: Vec<String> =
        (0..).zip(&table.columns).map(|(at, entry)| column(table, at, entry)).collect();
    let is_inline = table.rowid_alias().is_some() || table.key_apart_from_rowid;
    if !table.primary_key.is_empty() && !is_inline {
        parts.push(format!("PRIMARY KEY ({})", names(table, &table.primary_key)));
    }
    let is_index = |columns: &Vec<u32>| {
        let of_index = |index: &Index| {
            index.name.is_some() && index.unique_columns(&table.columns).as_ref() == Some(columns)
        };
        table.indexes.iter().any(of_index)
    };
    let uniques = table.unique.iter().filter(|columns| !is_index(columns));
    parts.extend(uniques.map(|columns| format!("UNIQUE ({})", names(table, columns))));
    parts.extend(table.checks.iter().map(|check| format!("CHECK ({})", on_own_line(check))));
    parts.extend(table.foreign_keys.iter().map(|key| {
        let referenced: Vec<String> = key.referenced_columns.iter().map(|name| identifier(name)).collect();
        let columns =
            if referenced.is_empty() { String::new() } else { format!(" ({})", referenced.join(", ")) };
        let to = identifier(&key.referenced_table);
        format!("FOREIGN KEY ({}) REFERENCES {to}{columns}{}", names(table, &key.columns), key.actions())
    }));
    let options = table.options();
    format!("CREATE TABLE {} (\n    {}\n){options}", identifier(&table.name), parts.join(",\n    "))
}

/// A text that may end in a comment.
fn on_own_line(text: &str) -> String {
    if text.contains("--") { format!("{text}\n") } else { text.to_owned() }
}

fn names(table: &Table, columns: &[u32]) -> String {
    let names = columns.iter().filter_map(|&at| table.column(at)).map(|column| identifier(&column.name));
    names.collect::<Vec<_>>().join(", ")
}

fn column(table: &Table, at: u32, column: &Column) -> String {
    let mut text = identifier(&column.name);
    if let Some(declared) = column.declared_type.as_deref().filter(|declared| !declared.is_empty()) {
        text.push(' ');
        text.push_str(&declared_type(declared));
    }
    if table.rowid_alias() == Some(at) {
        text.push_str(if table.autoincrement { " PRIMARY KEY AUTOINCREMENT" } else { " PRIMARY KEY" });
    } else if table.key_apart_from_rowid && table.primary_key == [at] {
        text.push_str(" PRIMARY KEY DESC");
    } else if column.not_null {
        text.push_str(" NOT NULL");
    }
    if let Some(default) = &column.default {
        let _ = write!(text, " DEFAULT {}", default_value(default));
    }
    if column.collation != Collation::Binary {
        let _ = write!(text, " COLLATE {}", identifier(column.collation.name()));
    }
    if let Some(value) = &column.generated_as {
        let _ = write!(text, " GENERATED ALWAYS AS ({})", on_own_line(value));
    }
    text
}

/// A type as it is where its words are plain ones, and in quotes elsewhere: it must not be able to end the column.
fn declared_type(declared: &str) -> String {
    let (words, size) = match declared.split_once('(') {
        Some((words, _)) => (words.trim_end(), &declared[words.len()..]),
        None => (declared, ""),
    };
    let is_plain = words.split(' ').all(|word| !word.is_empty() && identifier(word) == word);
    let inside = size.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
    let is_size = size.is_empty()
        || inside.is_some_and(|inside| {
            let mut numbers = inside.split(',').map(str::trim);
            numbers.clone().count() <= 2
                && numbers.all(|n| !n.is_empty() && n.bytes().all(|byte| byte.is_ascii_digit()))
        });
    if is_plain && is_size { declared.to_owned() } else { quote::name(declared) }
}

/// A default: a word or a constant as it is, anything else in parentheses.
fn default_value(text: &str) -> String {
    let is_number = text.parse::<f64>().is_ok();
    let is_word = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let inside = text.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\''));
    let is_string = inside.is_some_and(|inside| !inside.replace("''", "").contains('\''));
    if is_number || is_word || is_string || is_parenthesised(text) {
        text.to_owned()
    } else {
        format!("({})", on_own_line(text))
    }
}

/// Whether the first parenthesis is closed by the last character.
fn is_parenthesised(text: &str) -> bool {
    let mut depth = 0_usize;
    let closing = lex::words(text).find(|token| {
        match token.text {
            "(" => depth += 1,
            ")" => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0
    });
    text.starts_with('(') && closing.is_some_and(|token| token.range().end == text.len())
}

/// The statements of the indexes that CREATE INDEX made.
pub(crate) fn indexes(table: &Table) -> Vec<String> {
    let named = table.indexes.iter().filter_map(|index| Some((index.name.as_ref()?, index)));
    named
        .map(|(name, index)| {
            let parts: Vec<String> = index.parts.iter().map(|part| index_part(table, part)).collect();
            let unique = if index.unique { "UNIQUE " } else { "" };
            let filter = index.filter.as_ref().map(|text| format!(" WHERE {text}")).unwrap_or_default();
            let (name, table) = (identifier(name), identifier(&table.name));
            format!("CREATE {unique}INDEX {name} ON {table} ({}){filter}", parts.join(", "))
        })
        .collect()
}

fn index_part(table: &Table, part: &sqlgauge_sql::schema::IndexPart) -> String {
    let (text, default) = match &part.of {
        Indexed::Column(at) => {
            let column = table.column(*at);
            (column.map(|c| identifier(&c.name)).unwrap_or_default(), column.map(|c| c.collation.clone()))
        }
        Indexed::Expression(text) => (text.clone(), Some(Collation::Binary)),
    };
    let collation = if default.as_ref() == Some(&part.collation) {
        String::new()
    } else {
        format!(" COLLATE {}", identifier(part.collation.name()))
    };
    format!("{text}{collation}{}", if part.descending { " DESC" } else { "" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_printed_reads_back_as_the_same_catalog() {
        let schema = Schema::from_ddl(
            "CREATE TABLE a (id INTEGER PRIMARY KEY, \"odd \"\"name\" VARCHAR(20) NOT NULL DEFAULT 'x' COLLATE NOCASE,
                             u UNIQUE, g INT GENERATED ALWAYS AS (id + 1));
             CREATE TABLE \"order\" (x INT REFERENCES a ON DELETE CASCADE, y, z DECIMAL(10, 2) DEFAULT (1 + 1) CHECK (z > 0 -- up\n),
                             PRIMARY KEY (x, y)) WITHOUT ROWID;
             CREATE TABLE c (k TEXT PRIMARY KEY, v ANY) STRICT;
             CREATE TABLE d (id INTEGER PRIMARY KEY AUTOINCREMENT, c TEXT DEFAULT 'x' REFERENCES c (k) ON DELETE SET DEFAULT
                             ON UPDATE CASCADE DEFERRABLE INITIALLY DEFERRED, a REFERENCES a ON DELETE SET NULL ON UPDATE RESTRICT);
             CREATE VIEW v AS SELECT k FROM c;
             CREATE UNIQUE INDEX i ON c (v DESC); CREATE INDEX e ON a (lower(u)) WHERE id > 3;",
        )
        .unwrap();
        let mut text = script(&schema, |_| true);
        text.extend(schema.tables().iter().flat_map(indexes).map(|index| format!("{index};")));
        let again = Schema::from_ddl(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
        for (left, right) in again.tables().iter().zip(schema.tables()) {
            let plain = |table: &Table| {
                let mut table = table.clone();
                table.checks.iter_mut().for_each(|check| check.retain(|c| !c.is_whitespace()));
                table
            };
            assert_eq!(plain(left), plain(right), "{text}");
        }
    }

    #[test]
    fn a_type_cannot_smuggle_in_a_constraint() {
        for (declared, printed) in [
            ("VARCHAR(20)", "VARCHAR(20)"),
            ("DECIMAL(10,2)", "DECIMAL(10,2)"),
            ("unsigned big int", "unsigned big int"),
            ("INT NOT NULL", "\"INT NOT NULL\""),
            ("TEXT, y CHAR", "\"TEXT, y CHAR\""),
        ] {
            assert_eq!(declared_type(declared), printed);
        }
    }
}
