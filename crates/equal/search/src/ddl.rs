//! The CREATE TABLE text that makes an empty copy of a table of the schema.

use sqlgauge_sql::quote::name as quoted;
use sqlgauge_sql::schema::{Affinity, Collation, Column, ForeignKey, Schema, Table};

/// The statement that creates the table with everything that limits its rows: types, keys, NOT NULL, CHECK,
/// collations, STRICT, WITHOUT ROWID. Defaults are left out, as every value is given; so is a foreign key
/// whose target has no such key, as SQLite calls that an error.
pub fn create_table(schema: &Schema, table: &Table) -> String {
    let mut parts: Vec<String> =
        (0..).zip(&table.columns).map(|(at, column)| column_text(table, at, column)).collect();
    if !table.primary_key.is_empty() && table.rowid_alias().is_none() && !table.key_apart_from_rowid {
        parts.push(format!("PRIMARY KEY ({})", names(table, &table.primary_key)));
    }
    parts.extend(table.unique.iter().map(|key| format!("UNIQUE ({})", names(table, key))));
    parts.extend(table.checks.iter().map(|check| format!("CHECK ({check}\n)")));
    parts.extend(table.foreign_keys.iter().filter_map(|key| foreign_key(schema, table, key)));
    let options = match (table.strict, table.without_rowid) {
        (false, false) => "",
        (true, false) => " STRICT",
        (false, true) => " WITHOUT ROWID",
        (true, true) => " STRICT, WITHOUT ROWID",
    };
    format!("CREATE TABLE {} ({}){options}", quoted(&table.name), parts.join(", "))
}

/// A comma-separated list of column names.
pub(super) fn names(table: &Table, columns: &[u32]) -> String {
    let names = columns.iter().filter_map(|&at| table.column(at)).map(|column| quoted(&column.name));
    names.collect::<Vec<_>>().join(", ")
}

fn column_text(table: &Table, at: u32, column: &Column) -> String {
    let mut text = quoted(&column.name);
    if let Some(declared) = declared_type(column) {
        text.push(' ');
        text.push_str(&declared);
    }
    if table.rowid_alias() == Some(at) {
        text.push_str(" PRIMARY KEY");
    } else if table.key_apart_from_rowid && table.primary_key == [at] {
        text.push_str(" PRIMARY KEY DESC");
    }
    if column.not_null {
        text.push_str(" NOT NULL");
    }
    if column.collation != Collation::Binary {
        text.push_str(" COLLATE ");
        text.push_str(&quoted(column.collation.name()));
    }
    text
}

/// The declared type where it is made of words and numbers, else a type of the same affinity: the name may come
/// from anywhere, and must not be able to end the column.
fn declared_type(column: &Column) -> Option<String> {
    const CONSTRAINT_WORDS: [&str; 13] = [
        "ALWAYS",
        "AS",
        "CHECK",
        "COLLATE",
        "CONSTRAINT",
        "DEFAULT",
        "FOREIGN",
        "GENERATED",
        "NOT",
        "NULL",
        "PRIMARY",
        "REFERENCES",
        "UNIQUE",
    ];
    let declared = column.declared_type.as_deref()?;
    let words = declared.split_once('(').map_or(declared, |(words, _)| words);
    let is_plain = declared.is_empty()
        || words.split(' ').all(|word| {
            word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
                && !word.starts_with(|c: char| c.is_ascii_digit())
                && !CONSTRAINT_WORDS.iter().any(|taken| taken.eq_ignore_ascii_case(word))
        });
    let length = declared.get(words.len()..).unwrap_or_default();
    let is_length = length.is_empty()
        || length.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')).is_some_and(|inside| {
            let mut numbers = inside.split(',').map(str::trim);
            numbers.clone().count() <= 2
                && numbers.all(|n| !n.is_empty() && n.bytes().all(|byte| byte.is_ascii_digit()))
        });
    let same_affinity =
        Affinity::of_declared_type(Some(declared)) == column.affinity || declared.eq_ignore_ascii_case("ANY");
    if is_plain && is_length && same_affinity {
        return Some(declared.to_owned());
    }
    let stand_in = match column.affinity {
        Affinity::Text => "TEXT",
        Affinity::Numeric => "NUMERIC",
        Affinity::Integer => "INT",
        Affinity::Real => "REAL",
        Affinity::Blob => "BLOB",
    };
    Some(stand_in.to_owned())
}

fn foreign_key(schema: &Schema, table: &Table, key: &ForeignKey) -> Option<String> {
    let (target, columns) = schema.resolve_foreign_key(key)?;
    let target = schema.table(target)?;
    if !is_parent_key(target, &columns) {
        return None;
    }
    let (own, referenced) = (names(table, &key.columns), names(target, &columns));
    Some(format!("FOREIGN KEY ({own}) REFERENCES {} ({referenced})", quoted(&target.name)))
}

/// Whether SQLite takes these columns as the target of a foreign key: exactly a primary key or UNIQUE set.
pub(super) fn is_parent_key(target: &Table, columns: &[u32]) -> bool {
    let sorted = |key: &[u32]| {
        let mut key = key.to_vec();
        key.sort_unstable();
        key
    };
    let columns = sorted(columns);
    !columns.is_empty()
        && (sorted(&target.primary_key) == columns || target.unique.iter().any(|key| sorted(key) == columns))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_copy_has_the_same_catalog() {
        let schema = Schema::from_ddl(
            "CREATE TABLE a (id INTEGER PRIMARY KEY, \"odd \"\"name\" VARCHAR(20) NOT NULL COLLATE NOCASE, UNIQUE (\"odd \"\"name\"));
             CREATE TABLE b (x INT REFERENCES a, y, z DECIMAL(10, 2) CHECK (z > 0 -- up\n), PRIMARY KEY (x, y)) WITHOUT ROWID;
             CREATE TABLE c (k TEXT PRIMARY KEY, v ANY) STRICT;",
        )
        .unwrap();
        let copied: Vec<String> = schema.tables().iter().map(|table| create_table(&schema, table)).collect();
        let again = Schema::from_ddl(&copied.join(";\n")).unwrap();
        let without_spelling = |schema: &Schema| {
            let mut tables = schema.tables().to_vec();
            tables
                .iter_mut()
                .flat_map(|table| &mut table.foreign_keys)
                .for_each(|key| key.referenced_columns.clear());
            tables
                .iter_mut()
                .flat_map(|table| &mut table.checks)
                .for_each(|check| check.retain(|c| !c.is_whitespace()));
            tables
        };
        assert_eq!(without_spelling(&again), without_spelling(&schema), "{copied:#?}");
    }

    #[test]
    fn a_type_cannot_smuggle_in_a_constraint() {
        for (declared, printed) in [
            ("VARCHAR(20)", "VARCHAR(20)"),
            ("unsigned big int", "unsigned big int"),
            ("INT DEFAULT (load_extension('x'))", "INT"),
            ("TEXT, y CHAR", "TEXT"),
            ("INT NOT NULL", "INT"),
            ("DECIMAL(10, x)", "NUMERIC"),
            ("", ""),
        ] {
            assert_eq!(declared_type(&Column::new("c", Some(declared))).as_deref(), Some(printed));
        }
    }
}
