//! The CREATE TABLE text that makes an empty copy of a table of the schema.

use sqlgauge_sql::quote::name as quoted;
use sqlgauge_sql::schema::{
    Affinity, Collation, Column, ForeignKey, Index, IndexPart, Indexed, Schema, Table, TableId,
};

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
    let options = table.options();
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
    if let Some(expression) = column.generated_as.as_ref().filter(|_| column.generated) {
        text.push_str(" GENERATED ALWAYS AS (");
        text.push_str(expression);
        text.push_str("\n)");
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
                && !CONSTRAINT_WORDS.iter().any(|keyword| keyword.eq_ignore_ascii_case(word))
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
    let (target, columns) = schema.enforced_foreign_key(key)?;
    let target = schema.table(target)?;
    let (key_columns, referenced) = (names(table, &key.columns), names(target, &columns));
    Some(format!("FOREIGN KEY ({key_columns}) REFERENCES {} ({referenced})", quoted(&target.name)))
}

/// The statements that create what else limits the rows of those tables, and the views: UNIQUE indexes that no constraint of
/// [`create_table`] stands for, as they are partial, on an expression, or compare otherwise than their columns do.
pub fn create_definitions(schema: &Schema, tables: &[TableId], views: &[TableId]) -> Vec<String> {
    let table = |&id: &TableId| schema.table(id);
    let indexes = tables.iter().filter_map(table).flat_map(create_indexes);
    indexes.chain(views.iter().filter_map(table).filter_map(create_view)).collect()
}

/// The UNIQUE indexes of a table that no constraint of [`create_table`] stands for.
pub(super) fn create_indexes(table: &Table) -> Vec<String> {
    let further = table.indexes.iter().enumerate().filter(|(_, index)| index.limits_further(&table.columns));
    let text = |(at, index): (usize, &Index)| {
        let parts: Option<Vec<String>> = index.parts.iter().map(|part| part_text(table, part)).collect();
        let name = index.name.clone().unwrap_or_else(|| format!("unique_{}_{at}", table.name));
        let filter = index.filter.as_ref().map_or_else(String::new, |filter| format!(" WHERE {filter}\n"));
        let on = quoted(&table.name);
        Some(format!("CREATE UNIQUE INDEX {} ON {on} ({}){filter}", quoted(&name), parts?.join(", ")))
    };
    further.filter_map(text).collect()
}

fn part_text(table: &Table, part: &IndexPart) -> Option<String> {
    let of = match &part.of {
        Indexed::Column(at) => quoted(&table.column(*at)?.name),
        Indexed::Expression(text) => format!("({text}\n)"),
    };
    Some(format!("{of} COLLATE {}", quoted(part.collation.name())))
}

/// The statement that creates a view, where its query is known.
pub(super) fn create_view(view: &Table) -> Option<String> {
    let query = view.view.as_ref()?;
    let columns: Vec<u32> = (0..).zip(&view.columns).map(|(at, _)| at).collect();
    Some(format!("CREATE VIEW {} ({}) AS {query}\n", quoted(&view.name), names(view, &columns)))
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
