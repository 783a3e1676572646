//! `sqlgauge parse`.

use std::fmt::Write as _;
use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::Args;
use sqlgauge_core::cli::stdin::{input_file, query};
use sqlgauge_sql::spider::{self, Catalog};
use sqlgauge_sql::{Features, PrintDialect, print as print_sql, resolve};

use crate::Verdict;
use crate::options::schema_of;
use crate::output::{print, print_json};

/// Resolve a query and print it with its features, or the error with its place
#[derive(Debug, Args)]
pub struct Parse {
    /// The query; `-` is standard input
    #[arg(value_parser = query)]
    sql: String,
    /// SQLite file whose tables the query names, or a .sql file with DDL
    #[arg(long, value_name = "FILE", value_parser = input_file)]
    db: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Print the tree of the resolved query too
    #[arg(long)]
    tree: bool,
}

impl Parse {
    pub fn run(self) -> Result<Verdict> {
        let schema = schema_of(&self.db)?;
        let query = match resolve(&self.sql, &schema) {
            Ok(query) => query,
            Err(error) => bail!("{}", pointed(&self.sql, &error)),
        };
        let features = Features::of(&query, &schema);
        let parsed = spider::parse(&Catalog::from_schema(&schema), &self.sql).ok();
        let hardness = parsed.and_then(|query| spider::hardness(&query).ok()).map(spider::Hardness::as_str);
        let sql = print_sql(&query, &schema, PrintDialect::Sqlite)?;
        if self.json {
            let mut value = serde_json::json!({"sql": sql, "hardness": hardness, "features": features, "labels": features.labels()});
            if self.tree {
                value["tree"] = format!("{query:#?}").into();
            }
            print_json(&value)?;
        } else {
            let mut text = format!("{sql}\n\n{}", describe(&features, hardness));
            if self.tree {
                let _ = writeln!(text, "\n{query:#?}");
            }
            print(&text)?;
        }
        Ok(Verdict::Done)
    }
}

/// The error with the line that is at fault and a mark under the place.
fn pointed(sql: &str, error: &sqlgauge_sql::ResolveError) -> String {
    let Some(position) = error.position() else { return error.to_string() };
    let line = sql.lines().nth(position.line - 1).unwrap_or_default();
    format!("{error}\n  {line}\n  {:>column$}", "^", column = position.column)
}

fn describe(features: &Features, hardness: Option<&str>) -> String {
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
