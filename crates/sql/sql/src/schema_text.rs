//! A schema as compact DDL.

use crate::PrintDialect;
use crate::schema::{ForeignKey, Schema, Table, TableKind};

/// The schema as CREATE TABLE statements, one line each: names, declared types, NOT NULL, PRIMARY KEY, UNIQUE and
/// FOREIGN KEY. Defaults, collations and CHECK are left out; a view is written as a table with a comment. What the database says
/// of a table or column stands behind it as a comment. Nothing of the rows is in it.
pub fn schema_text(schema: &Schema) -> String {
    let tables = schema.tables().iter().filter(|table| table.kind != TableKind::Shadow);
    tables.map(statement).collect::<Vec<_>>().join("\n")
}

fn statement(table: &Table) -> String {
    let mut parts: Vec<String> = (0..table.columns.len()).map(|index| column(table, index)).collect();
    if table.primary_key.len() > 1 {
        parts.push(format!("PRIMARY KEY ({})", names(table, &table.primary_key)));
    }
    parts.extend(table.unique.iter().map(|key| format!("UNIQUE ({})", names(table, key))));
    parts.extend(table.foreign_keys.iter().map(|key| foreign_key(table, key)));
    let kind = match table.kind {
        TableKind::Table | TableKind::Shadow => "",
        TableKind::View => " -- a view",
        TableKind::Virtual => " -- a virtual table",
    };
    let comment = comment(table.comment.as_ref());
    format!("CREATE TABLE {} ({});{comment}{kind}", name(&table.name), parts.join(", "))
}

/// Longest comment of a database that is written, in characters.
const LONGEST_COMMENT: usize = 200;

/// A comment of the database on one line, which ends where it should.
fn comment(text: Option<&String>) -> String {
    let words = text.iter().flat_map(|text| text.split(|c: char| c.is_whitespace() || c.is_control()));
    let line = words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    let line = line.replace("*/", "* /").replace("/*", "/ *");
    let start: String = line.chars().take(LONGEST_COMMENT).collect();
    match start.as_str() {
        "" => String::new(),
        _ if start.len() < line.len() => format!(" /* {start}… */"),
        _ => format!(" /* {start} */"),
    }
}

fn column(table: &Table, index: usize) -> String {
    let column = &table.columns[index];
    let mut text = name(&column.name);
    if let Some(declared) = column.declared_type.as_deref().filter(|declared| !declared.trim().is_empty()) {
        text.push(' ');
        text.push_str(&declared.split_whitespace().collect::<Vec<_>>().join(" "));
    }
    let key = matches!(table.primary_key.as_slice(), [only] if *only as usize == index);
    if key {
        text.push_str(" PRIMARY KEY");
    } else if column.not_null {
        text.push_str(" NOT NULL");
    }
    text + &comment(column.comment.as_ref())
}

fn foreign_key(table: &Table, key: &ForeignKey) -> String {
    let referenced: Vec<String> = key.referenced_columns.iter().map(|column| name(column)).collect();
    let columns = if referenced.is_empty() { String::new() } else { format!("({})", referenced.join(", ")) };
    format!(
        "FOREIGN KEY ({}) REFERENCES {}{columns}",
        names(table, &key.columns),
        name(&key.referenced_table)
    )
}

fn names(table: &Table, columns: &[u32]) -> String {
    let names = columns.iter().filter_map(|index| table.column(*index)).map(|column| name(&column.name));
    names.collect::<Vec<_>>().join(", ")
}

fn name(name: &str) -> String {
    PrintDialect::Sqlite.identifier(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_one_line_that_reads_back_as_the_same_table() {
        let ddl = "CREATE TABLE singer (\n  id INTEGER PRIMARY KEY, \"full name\" VARCHAR(20) NOT NULL, age);
            CREATE TABLE sings (singer INT REFERENCES singer, \"order\" INT NOT NULL, place TEXT,
                PRIMARY KEY (singer, \"order\"), UNIQUE (place), FOREIGN KEY (place, age) REFERENCES hall(name, \"no\"), age);";
        let ddl = ddl.replace(", age);\n            CREATE", ", age);\nCREATE").replace(
            "FOREIGN KEY (place, age) REFERENCES hall(name, \"no\"), age",
            "FOREIGN KEY (place) REFERENCES hall(name)",
        );
        let schema = Schema::from_ddl(&ddl).unwrap();
        let text = schema_text(&schema);
        assert_eq!(
            text,
            "CREATE TABLE singer (id INTEGER PRIMARY KEY, \"full name\" VARCHAR(20) NOT NULL, age);\n\
             CREATE TABLE sings (singer INT, \"order\" INT NOT NULL, place TEXT, PRIMARY KEY (singer, \"order\"), \
             UNIQUE (place), FOREIGN KEY (singer) REFERENCES singer, FOREIGN KEY (place) REFERENCES hall(name));"
        );
        assert_eq!(Schema::from_ddl(&text).unwrap(), schema);
    }

    #[test]
    fn comments_of_the_database_stand_on_the_line_and_change_nothing() {
        let plain = Schema::from_ddl("CREATE TABLE t (a INT, b TEXT, c)").unwrap();
        let mut table = plain.tables()[0].clone();
        table.comment = Some("What is\n sold".to_owned());
        table.columns[0].comment = Some("in EUR */ ); DROP TABLE t -- /* or not".to_owned());
        table.columns[1].comment = Some("é".repeat(300));
        table.columns[2].comment = Some(" \n".to_owned());
        let text = schema_text(&Schema::new(vec![table]));
        let cut = "é".repeat(200);
        let start = "CREATE TABLE t (a INT /* in EUR * / ); DROP TABLE t -- / * or not */, b TEXT /* ";
        assert_eq!(text, format!("{start}{cut}… */, c); /* What is sold */"));
        assert_eq!(Schema::from_ddl(&text).unwrap(), plain);
    }
}
