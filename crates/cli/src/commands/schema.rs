//! `sqlgauge schema`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};
use clap::Args;
use sqlgauge_dataset::load_tables;
use sqlgauge_engine::{Engine, Limits};
use sqlgauge_sql::schema::{Schema, Table, TableKind};

use crate::Verdict;
use crate::engine::engine;
use crate::options::{databases_in, schema_of};
use crate::output::{print, print_json};

/// Print the catalog of a database, a folder of databases or a tables.json as sqlgauge sees it
#[derive(Debug, Args)]
pub(crate) struct SchemaCommand {
    /// A SQLite file, a folder with SQLite files, a tables.json, or a .sql file with DDL
    source: PathBuf,
    /// Only this database of a folder or tables.json
    #[arg(long)]
    db_id: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl SchemaCommand {
    pub(crate) fn run(self) -> Result<Verdict> {
        let mut schemas = read(&self.source)?;
        if let Some(wanted) = &self.db_id {
            schemas.retain(|(name, _)| name == wanted);
            ensure!(!schemas.is_empty(), "{} has no database {wanted:?}", self.source.display());
        }
        if self.json {
            let object: serde_json::Map<String, serde_json::Value> = schemas
                .iter()
                .map(|(name, schema)| Ok((name.clone(), serde_json::to_value(schema)?)))
                .collect::<Result<_>>()?;
            print_json(&object)?;
        } else {
            let texts: Vec<String> = schemas.iter().map(|(name, schema)| describe(name, schema)).collect();
            print(&texts.join("\n"))?;
        }
        Ok(Verdict::Done)
    }
}

fn read(source: &Path) -> Result<Vec<(String, Schema)>> {
    let name = |path: &Path| path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let extension = source.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    match extension {
        "json" => {
            let tables = load_tables(source)?;
            Ok(tables.entries().iter().map(|entry| (entry.db_id.clone(), entry.schema())).collect())
        }
        "sql" => Ok(vec![(name(source), schema_of(source)?)]),
        _ => {
            let engine = engine(Limits::default())?;
            let files = if source.is_dir() { databases_in(source)? } else { vec![source.to_owned()] };
            let schema = |path: &PathBuf| Ok((name(path), engine.open(path)?.schema().as_ref().clone()));
            files.iter().map(schema).collect()
        }
    }
}

fn describe(name: &str, schema: &Schema) -> String {
    let mut text = format!("{name}\n");
    for table in schema.tables().iter().filter(|table| table.kind != TableKind::Shadow) {
        describe_table(table, &mut text);
    }
    text
}

fn describe_table(table: &Table, text: &mut String) {
    let kind = match table.kind {
        TableKind::Table => "table",
        TableKind::View => "view",
        TableKind::Virtual => "virtual table",
        TableKind::Shadow => "shadow table",
    };
    let flags = [(table.without_rowid, " WITHOUT ROWID"), (table.strict, " STRICT")];
    let flags: String = flags.iter().filter_map(|(holds, text)| holds.then_some(*text)).collect();
    let _ = writeln!(text, "  {kind} {}{flags}", table.name);
    let names = |columns: &[u32]| {
        columns
            .iter()
            .filter_map(|&c| table.column(c))
            .map(|c| c.name.as_str())
            .collect::<Vec<_>>()
            .join(", ")
    };
    for column in &table.columns {
        let not_null = if column.not_null { " NOT NULL" } else { "" };
        let declared = column.declared_type.as_deref().unwrap_or("(no type)");
        let default = column.default.as_deref().map(|value| format!(" DEFAULT {value}")).unwrap_or_default();
        let collation = column.collation.name();
        let collation = if collation == "BINARY" { String::new() } else { format!(" COLLATE {collation}") };
        let generated = if column.generated { " GENERATED" } else { "" };
        let _ = writeln!(text, "    {} {declared}{not_null}{default}{collation}{generated}", column.name);
    }
    if !table.primary_key.is_empty() {
        let _ = writeln!(text, "    PRIMARY KEY ({})", names(&table.primary_key));
    }
    for unique in &table.unique {
        let _ = writeln!(text, "    UNIQUE ({})", names(unique));
    }
    for key in &table.foreign_keys {
        let referenced = key.referenced_columns.join(", ");
        let referenced = if referenced.is_empty() { String::new() } else { format!(" ({referenced})") };
        let _ = writeln!(
            text,
            "    FOREIGN KEY ({}) REFERENCES {}{referenced}{}",
            names(&key.columns),
            key.referenced_table,
            key.actions()
        );
    }
    for check in &table.checks {
        let _ = writeln!(text, "    CHECK ({check})");
    }
}
