//! A workload in other dialects, for `research/dialects/dialects.py`: a line of JSON per database (CREATE TABLE) and per query.
//!
//! `cargo run -p sqlgauge-dialects --example workload -- DATABASES DIALECT,… GOLD.sql`, where a line of the last file is
//! `SQL\tdb_id` and `DATABASES/DB/DB.sqlite` are the databases.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use sqlgauge_dialects::{Dialect, TypedSchema, create_table, dialect, table_is_sayable, translate};
use sqlgauge_engine::{Engine, Limits, SqliteEngine, observed_types};
use sqlgauge_sql::schema::{Schema, TableKind};
use sqlgauge_sql::tree::{Expr, OrderTerm, Query};
use sqlgauge_sql::visit::{Rewriter, rewrite_query};
use sqlgauge_sql::{PrintDialect as Sqlite, print, resolve};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [databases, names, gold] = args.as_slice() else {
        return Err("usage: workload DATABASES DIALECT,… GOLD.sql".into());
    };
    let dialects: Vec<&'static Dialect> = names.split(',').filter_map(dialect).collect();
    let mut queries: BTreeMap<String, Vec<(usize, String)>> = BTreeMap::new();
    for (at, line) in std::fs::read_to_string(gold)?.lines().enumerate() {
        if let Some((sql, db_id)) = line.rsplit_once('\t') {
            queries.entry(db_id.trim().to_owned()).or_default().push((at, sql.to_owned()));
        }
    }
    let limits = Limits { timeout: Duration::from_mins(5), ..Limits::default() };
    let engine = SqliteEngine::new(limits);
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    for (db_id, queries) in queries {
        let path = Path::new(databases).join(&db_id).join(format!("{db_id}.sqlite"));
        let Ok(database) = engine.open(&path) else { continue };
        let schema = database.schema().clone();
        let typed = observed_types(&schema, &database, &engine)?;
        writeln!(out, "{}", json!({"db_id": db_id, "tables": tables(&dialects, &typed)}))?;
        for (at, sql) in queries {
            let texts = match resolve(&sql, &schema) {
                Ok(query) => dialects
                    .iter()
                    .map(|dialect| (dialect.name.to_owned(), text(translate(&query, &typed, dialect))))
                    .collect::<serde_json::Map<_, _>>(),
                Err(error) => {
                    writeln!(
                        out,
                        "{}",
                        json!({"db_id": db_id, "at": at, "sql": sql, "error": error.to_string()})
                    )?;
                    continue;
                }
            };
            writeln!(
                out,
                "{}",
                json!({"db_id": db_id, "at": at, "sql": sql, "turned": turned(&sql, &schema), "dialects": texts})
            )?;
        }
    }
    Ok(())
}

/// The query with more to sort by wherever rows are cut off, so that of equal rows others are kept: by all results, upwards
/// and downwards. Where the two have different rows, the query leaves open which rows it has.
fn turned(sql: &str, schema: &Schema) -> Vec<String> {
    let with = |descending: bool| {
        let mut query = resolve(sql, schema).ok()?;
        let mut turn = Turn { descending };
        rewrite_query(&mut turn, &mut query);
        if query.limit.is_none() && !query.order_by.is_empty() {
            turn.turn(&mut query);
        }
        print(&query, schema, Sqlite::Sqlite).ok()
    };
    [false, true].into_iter().filter_map(with).collect()
}

struct Turn {
    descending: bool,
}

impl Turn {
    fn turn(&self, query: &mut Query) {
        let columns = u32::try_from(query.width()).unwrap_or(0);
        let term = |at| OrderTerm { expr: Expr::Output(at), descending: self.descending, nulls_first: None };
        query.order_by.extend((0..columns).map(term));
    }
}

impl Rewriter for Turn {
    fn query(&mut self, query: &mut Query) {
        if query.limit.is_some() {
            self.turn(query);
        }
    }

    fn expr(&mut self, expr: &mut Expr) {
        if let Expr::Scalar(query) = expr
            && query.limit.is_none()
        {
            self.turn(query);
        }
    }
}

fn text(translated: Result<String, sqlgauge_dialects::Refused>) -> Value {
    match translated {
        Ok(sql) => json!({"sql": sql}),
        Err(refused) => json!({"refused": refused.construct.name(), "reason": refused.reason}),
    }
}

/// The tables of each dialect, and which of them it cannot hold.
fn tables(dialects: &[&'static Dialect], typed: &TypedSchema<'_>) -> Value {
    let of_dialect = |dialect: &'static Dialect| {
        let tables = typed.schema().ids().zip(typed.schema().tables());
        let tables = tables.filter(|(_, table)| table.kind == TableKind::Table).map(|(id, table)| {
            let whole = table_is_sayable(dialect, typed, id).err().map(|refused| refused.construct.name());
            match create_table(dialect, typed, id) {
                Ok(sql) => json!({"name": table.name, "create": sql, "lossy": whole}),
                Err(refused) => json!({"name": table.name, "refused": refused.construct.name()}),
            }
        });
        Value::Array(tables.collect())
    };
    Value::Object(dialects.iter().map(|dialect| (dialect.name.to_owned(), of_dialect(dialect))).collect())
}
