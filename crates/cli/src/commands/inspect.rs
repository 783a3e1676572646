//! `sqlgauge inspect`.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, anyhow, bail, ensure};
use clap::Args;
use sqlgauge_base::regular;
use sqlgauge_base::server::{is_address, named_database, of_database};
use sqlgauge_core::cli::stdin::{input_file, query};
use sqlgauge_dataset::load_tables;
use sqlgauge_dialects::{reading, schema_of_dump};
use sqlgauge_engine::{Limits, Moment};
use sqlgauge_sql::schema::{Schema, Table, TableKind};
use sqlgauge_sql::spider::{self, Catalog};
use sqlgauge_sql::{Features, PrintDialect, print as print_sql, resolve};

use crate::Verdict;
use crate::options::{databases_in, schema_of};
use crate::output::{note, print, print_json};

/// Print the schema of a database, or a query resolved over one with its features
#[derive(Debug, Args)]
pub(crate) struct Inspect {
    /// A SQLite file, a folder with SQLite files, the address of a server's database, a tables.json, or a .sql file with DDL (SQLite's, or
    /// a dump of PostgreSQL, MySQL or DuckDB); else a query, or `-` for one on standard input
    input: OsString,
    /// SQLite file whose tables the query names, the address of a server's database, or a .sql file with DDL
    #[arg(long, value_name = "FILE", value_parser = input_file)]
    db: Option<PathBuf>,
    /// Only this database of a folder or tables.json
    #[arg(long)]
    db_id: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Print the tree of the resolved query too
    #[arg(long)]
    tree: bool,
}

impl Inspect {
    pub(crate) fn run(self) -> Result<Verdict> {
        match &self.db {
            Some(db) if !Path::new(&self.input).exists() => self.print_query(db)?,
            _ => self.print_schemas(Path::new(&self.input))?,
        }
        Ok(Verdict::Done)
    }

    fn print_schemas(&self, source: &Path) -> Result<()> {
        ensure!(!self.tree, "--tree is for a query; give one with --db FILE");
        let address =
            is_address(source).then(|| of_database(source, self.db_id.as_deref().unwrap_or_default()));
        let mut schemas = match &address {
            Some(address) => vec![(named_database(address).unwrap_or_default(), on_server(address)?.0)],
            None => read(source)?,
        };
        if let Some(wanted) = self.db_id.as_ref().filter(|_| address.is_none()) {
            schemas.retain(|(name, _)| name == wanted);
            ensure!(!schemas.is_empty(), "{} has no database {wanted:?}", source.display());
        }
        if self.json {
            let object: serde_json::Map<String, serde_json::Value> = schemas
                .iter()
                .map(|(name, schema)| Ok((name.clone(), serde_json::to_value(schema)?)))
                .collect::<Result<_>>()?;
            return print_json(&object);
        }
        let texts: Vec<String> = schemas.iter().map(|(name, schema)| describe_schema(name, schema)).collect();
        print(&texts.join("\n"))
    }

    fn print_query(&self, db: &Path) -> Result<()> {
        let sql =
            query(self.input.to_str().context("the query is not UTF-8")?).map_err(|error| anyhow!(error))?;
        let (schema, dialect) = if is_address(db) {
            on_server(db).map(|(schema, dialect)| (schema, Some(dialect)))?
        } else {
            (declared_in(db)?, None)
        };
        // Of a text of a different dialect, the structure is shown, and the text stays as it is.
        let text = dialect.map_or_else(|| sql.clone(), |dialect| reading(&sql, dialect));
        let query = match resolve(&text, &schema) {
            Ok(query) => query,
            Err(error) => bail!("{}", pointed(&text, &error)),
        };
        let features = Features::of(&query, &schema);
        let parsed = spider::parse(&Catalog::from_schema(&schema), &text).ok();
        let hardness = parsed.and_then(|query| spider::hardness(&query).ok()).map(spider::Hardness::as_str);
        let sql = match dialect {
            Some(_) => sql,
            None => print_sql(&query, &schema, PrintDialect::Sqlite)?,
        };
        let tree = self.tree.then(|| format!("{query:#?}"));
        if self.json {
            let mut value = serde_json::json!({"sql": sql, "hardness": hardness, "features": features, "labels": features.labels()});
            if let Some(tree) = tree {
                value["tree"] = tree.into();
            }
            return print_json(&value);
        }
        let tree = tree.map_or_else(String::new, |tree| format!("\n{tree}\n"));
        print(&format!("{sql}\n\n{}{tree}", describe_features(&features, hardness)))
    }
}

/// The schema of a server's database, and the dialect of its queries.
fn on_server(address: &Path) -> Result<(Schema, &'static str)> {
    crate::engine::run(true, |context| {
        let engine = context.engine_for(Some(address), 1, Limits::default(), Moment::now())?;
        let database = engine.open(address)?;
        database.untyped_columns().into_iter().for_each(note);
        let schema = database.schema().as_ref().clone();
        if schema.tables().is_empty() {
            let name = address.display();
            note(format!(
                "the account sees no table in {name}: `sqlgauge engines setup --schema NAME` lets it read a schema, \
                 and tables=NAME,NAME in a dbapi: address names them"
            ));
        }
        Ok((schema, engine.dialect()))
    })
}

fn read(source: &Path) -> Result<Vec<(String, Schema)>> {
    if source.extension().is_some_and(|extension| extension == "json") {
        let tables = load_tables(source)?;
        return Ok(tables.entries().iter().map(|entry| (entry.db_id.clone(), entry.schema())).collect());
    }
    let files = if source.is_dir() { databases_in(source)? } else { vec![source.to_owned()] };
    let name = |path: &Path| path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    files.iter().map(|path| Ok((name(path), declared_in(path)?))).collect()
}

/// The schema of a file; of a dump that is not SQLite's too.
fn declared_in(path: &Path) -> Result<Schema> {
    let refused = match schema_of(path) {
        Err(refused) if path.extension().is_some_and(|extension| extension == "sql") => refused,
        result => return result,
    };
    let Ok(text) = regular::read_to_string(path) else { return Err(refused) };
    let dump =
        schema_of_dump(&text).map_err(|error| anyhow!("nor one of PostgreSQL, MySQL or DuckDB: {error}"));
    let (schema, notes) = dump.with_context(|| format!("{refused:#}"))?;
    notes.into_iter().for_each(note);
    Ok(schema)
}

fn describe_schema(name: &str, schema: &Schema) -> String {
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
    let name = |&column: &u32| table.column(column).map(|column| column.name.as_str());
    let names = |columns: &[u32]| columns.iter().filter_map(name).collect::<Vec<_>>().join(", ");
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

/// The error with the line that is at fault and a mark under the place.
fn pointed(sql: &str, error: &sqlgauge_sql::ResolveError) -> String {
    let Some(position) = error.position() else { return error.to_string() };
    let line = sql.lines().nth(position.line - 1).unwrap_or_default();
    format!("{error}\n  {line}\n  {:>column$}", "^", column = position.column)
}

fn describe_features(features: &Features, hardness: Option<&str>) -> String {
    let list = |items: &mut dyn Iterator<Item = String>| {
        let text = items.collect::<Vec<_>>().join(", ");
        if text.is_empty() { "none".to_owned() } else { text }
    };
    let rows = [
        ("hardness", hardness.unwrap_or("none (the official parser cannot read it)").to_owned()),
        ("tables", list(&mut features.tables.iter().cloned())),
        ("columns", list(&mut features.columns.iter().map(|(table, column)| format!("{table}.{column}")))),
        ("operators", list(&mut features.operators.iter().map(|(name, count)| format!("{name} {count}")))),
        ("nesting depth", features.depth.to_string()),
        ("joins", features.joins.to_string()),
        ("aggregates", features.aggregates.to_string()),
        ("subqueries", features.subqueries.to_string()),
        ("set operations", features.set_operations.to_string()),
        ("predicates", features.predicates.to_string()),
        ("labels", list(&mut features.labels().into_iter().map(str::to_owned))),
    ];
    rows.iter().fold(String::new(), |mut text, (name, value)| {
        let _ = writeln!(text, "{name:<15} {value}");
        text
    })
}
