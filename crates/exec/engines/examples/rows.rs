//! Runs the queries of a file on an engine, one after the other, and says how long they took together.
//!
//!     cargo run --release -p sqlgauge-engines --example rows -- 'postgresql://sqlgauge@127.0.0.1/{db_id}' queries.jsonl > rows.jsonl
//!
//! Each line of the file is an object with `db_id` and `sql`; each line of the answer has the rows or the failure. The password comes from
//! `SQLGAUGE_DB_PASSWORD`.

use std::error::Error;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::Instant;

use serde_json::{Value as Json, json};
use sqlgauge_base::server::of_database;
use sqlgauge_engine::{Limits, Value};
use sqlgauge_engines::{Access, Secret, open};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(address), Some(file)) = (arguments.next(), arguments.next()) else {
        return Err("give an address and a file of queries".into());
    };
    let access = Access {
        password: std::env::var("SQLGAUGE_DB_PASSWORD").ok().map(Secret),
        connections: 1,
        python: std::env::var_os("SQLGAUGE_PYTHON").map(Into::into),
        ..Access::default()
    };
    let engine = open(Path::new(&address), Limits::default(), access).ok_or("no such engine")?;
    let mut queries = Vec::new();
    for line in std::fs::read_to_string(file)?.lines() {
        let query: Json = serde_json::from_str(line)?;
        let text = |key: &str| query[key].as_str().map(str::to_owned).ok_or("a query without db_id or sql");
        queries.push((engine.open(&of_database(Path::new(&address), &text("db_id")?))?, text("sql")?));
    }
    let mut out = BufWriter::new(std::io::stdout().lock());
    let begun = Instant::now();
    for (database, sql) in &queries {
        let execution = engine.run(database, sql);
        let row = |row: &[Value]| row.iter().map(cell).collect::<Json>();
        let answer = match execution.rows() {
            Some(rows) => json!({ "rows": rows.rows().map(row).collect::<Json>() }),
            None => json!({ "failure": execution.outcome.failure().map(ToString::to_string) }),
        };
        writeln!(out, "{answer}")?;
    }
    out.flush()?;
    engine.check()?;
    eprintln!(
        "{} queries in {:.3} s on {}",
        queries.len(),
        begun.elapsed().as_secs_f64(),
        engine.name_and_version()
    );
    Ok(())
}

fn cell(value: &Value) -> Json {
    match value {
        Value::Null => Json::Null,
        Value::Integer(integer) => (*integer).into(),
        Value::Real(real) => (*real).into(),
        Value::Text(text) => String::from_utf8_lossy(text).into(),
        Value::Blob(blob) => format!("{blob:?}").into(),
        Value::Decimal(decimal) => json!({ "decimal": decimal.as_str() }),
    }
}
