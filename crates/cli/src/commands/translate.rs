//! `sqlgauge translate`.

use std::path::PathBuf;

use anyhow::{Result, bail, ensure};
use clap::Args;
use clap::builder::PossibleValuesParser;
use serde_json::{Map, Value, json};
use sqlgauge_dialects::{DIALECTS, Dialect, SQLITE, TypedSchema, create_table, dialect, names, translate};
use sqlgauge_engine::{Engine, Limits};
use sqlgauge_sql::schema::TableKind;
use sqlgauge_sql::tree::Query;
use sqlgauge_sql::{PrintDialect as Printed, print as print_sql, resolve};

use crate::Verdict;
use crate::engine::engine;
use crate::output::{print, print_json};
use crate::stdin::{input_file, query};

/// Print a query in other SQL dialects, with SQLite's meaning or not at all
#[derive(Debug, Args)]
pub struct Translate {
    /// The query; `-` is standard input
    #[arg(value_parser = query, required_unless_present = "ddl")]
    sql: Option<String>,
    /// SQLite file that the query is over; its values decide the types of columns
    #[arg(long, value_name = "FILE", value_parser = input_file)]
    db: PathBuf,
    /// Dialects, separated by commas, or `all`
    #[arg(long, value_name = "DIALECT,…", value_delimiter = ',', required = true, value_parser = dialects())]
    to: Vec<String>,
    /// Print CREATE TABLE for the tables of the database too: the texts are over them
    #[arg(long)]
    ddl: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub fn dialects() -> PossibleValuesParser {
    PossibleValuesParser::new(names().chain(["all"]))
}

impl Translate {
    pub fn run(self) -> Result<Verdict> {
        let engine = engine(Limits::default())?;
        let database = engine.open(&self.db)?;
        let schema = database.schema();
        let query = match self.sql.as_deref().map(|sql| resolve(sql, schema)).transpose() {
            Ok(query) => query,
            Err(error) => bail!("{error}"),
        };
        let typed = match &query {
            Some(query) if !self.ddl => TypedSchema::observed_for(query, schema, &database, &engine)?,
            _ => TypedSchema::observed(schema, &database, &engine)?,
        };
        let is_asked = |name: &str| self.to.iter().any(|own| own == "all" || own == name);
        let mut all = Map::new();
        if is_asked(SQLITE) {
            let sql = query.as_ref().map(|query| print_sql(query, schema, Printed::Sqlite)).transpose()?;
            all.insert(SQLITE.to_owned(), json!({"sql": sql}));
        }
        for own in DIALECTS.iter().copied().filter(|own| is_asked(own.name)) {
            let mut value = query.as_ref().map_or_else(|| json!({}), |query| text(query, &typed, own));
            if self.ddl {
                value["ddl"] = tables(&typed, own);
            }
            all.insert(own.name.to_owned(), value);
        }
        let is_refused = all.values().any(|value| value.get("refused").is_some());
        if self.json {
            print_json(&all)?;
        } else {
            print(&described(&all))?;
        }
        ensure!(!(is_refused && all.len() == 1), "the dialect cannot say this query with SQLite's meaning");
        Ok(Verdict::Done)
    }
}

fn text(query: &Query, typed: &TypedSchema<'_>, own: &'static Dialect) -> Value {
    match translate(query, typed, own) {
        Ok(sql) => json!({"sql": sql}),
        Err(refused) => json!({"refused": refused.construct.name(), "reason": refused.reason}),
    }
}

fn tables(typed: &TypedSchema<'_>, own: &'static Dialect) -> Value {
    let schema = typed.schema();
    let tables = schema.ids().zip(schema.tables()).filter(|(_, table)| table.kind == TableKind::Table);
    let created = tables.map(|(id, _)| match create_table(own, typed, id) {
        Ok(sql) => Value::String(format!("{sql};")),
        Err(refused) => json!({"refused": refused.construct.name(), "reason": refused.reason}),
    });
    Value::Array(created.collect())
}

/// One dialect: its text alone; several: each below its name.
fn described(all: &Map<String, Value>) -> String {
    let mut text = String::new();
    for (name, value) in all {
        if all.len() > 1 {
            let title = dialect(name).map_or("SQLite", |own| own.title);
            text += &["-- ", title, "\n"].concat();
        }
        for statement in value.get("ddl").and_then(Value::as_array).into_iter().flatten() {
            let line = statement
                .as_str()
                .map_or_else(|| ["-- refused: ", &statement.to_string()].concat(), str::to_owned);
            text += &[&line, "\n"].concat();
        }
        if let Some(sql) = value.get("sql").and_then(Value::as_str) {
            text += &[sql, "\n"].concat();
        }
        if let (Some(construct), Some(reason)) = (value.get("refused"), value.get("reason")) {
            let words = [construct, reason].map(|word| word.as_str().unwrap_or_default().to_owned());
            text += &["-- refused: ", &words[0], " (", &words[1], ")\n"].concat();
        }
    }
    text
}
