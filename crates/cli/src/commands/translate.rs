//! `sqlgauge translate`.

use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::Args;
use clap::builder::PossibleValuesParser;
use serde_json::{Map, Value};
use sqlgauge_core::cli::stdin::{input_file, query};
use sqlgauge_core::{TranslateJob, Translation};
use sqlgauge_dialects::{dialect, names};
use sqlgauge_engine::{Engine, Limits};

use crate::Verdict;
use crate::engine::engine;
use crate::options::database_file;
use crate::output::{print, print_json};

/// Translate a query to other SQL dialects; refuses rather than change its meaning
#[derive(Debug, Args)]
pub(crate) struct Translate {
    /// The query; `-` is standard input
    #[arg(value_parser = query, required_unless_present = "ddl")]
    sql: Option<String>,
    /// SQLite file that the query is over, or a folder with one; its values decide the types of columns
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

pub(super) fn dialects() -> PossibleValuesParser {
    PossibleValuesParser::new(names().chain(["all"]))
}

impl Translate {
    pub(crate) fn run(self) -> Result<Verdict> {
        let engine = engine(Limits::default())?;
        let database = engine.open(&database_file(&self.db)?)?;
        let translations =
            TranslateJob { sql: self.sql, to: self.to, ddl: self.ddl }.run(&engine, &database)?;
        let one = |translation: &Translation| (translation.dialect.to_owned(), translation.to_json());
        let all: Vec<(String, Value)> = translations.iter().map(one).collect();
        if self.json {
            print_json(&all.iter().cloned().collect::<Map<_, _>>())?;
        } else {
            print(&described(&all))?;
        }
        let refused: Option<Vec<_>> =
            translations.iter().map(|translation| translation.sql.as_ref()?.as_ref().err()).collect();
        match refused.as_deref() {
            Some([refused]) => bail!("{refused}"),
            Some([_, ..]) => bail!("none of the dialects can say the query; the reasons stand above"),
            _ => Ok(Verdict::Done),
        }
    }
}

/// Why a query could not be translated.
fn message(value: &Value) -> Option<&str> {
    value.get("message").and_then(Value::as_str)
}

/// One dialect: its text alone, a refusal being the error of the command; several: each below its name.
fn described(all: &[(String, Value)]) -> String {
    let mut text = String::new();
    for (name, value) in all {
        if all.len() > 1 {
            let title = dialect(name).map_or("SQLite", |entry| entry.title);
            text += &["-- ", title, "\n"].concat();
        }
        for statement in value.get("ddl").and_then(Value::as_array).into_iter().flatten() {
            let line = statement.as_str().map_or_else(
                || message(statement).map(|words| ["-- ", words].concat()),
                |sql| Some(sql.to_owned()),
            );
            text += &[&line.unwrap_or_default(), "\n"].concat();
        }
        if let Some(sql) = value.get("sql").and_then(Value::as_str) {
            text += &[sql, "\n"].concat();
        }
        if let Some(words) = message(value).filter(|_| all.len() > 1) {
            text += &["-- ", words, "\n"].concat();
        }
    }
    text
}
