//! Results in JSON, with the types that JSON has.
//!
//! # Contract
//! - `.json`: a list of objects, one a row; or `{"columns": [names], "rows": [[values]]}`, also with `data` for `rows`, as
//!   `DataFrame.to_json(orient="split")` writes it. `.jsonl`: one object a line.
//! - The columns of objects are those of the first row, in its order; a row without one of them has NULL there, a row with another
//!   one is an error.
//! - A list or an object as a value is its JSON as text.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};

use serde_json::{Map, Value as Json};

use crate::error::Unreadable;
use crate::table::{MAX_COST, ResultFile, Value};

/// Reads a `.json` file.
pub(crate) fn read(file: File) -> Result<ResultFile, Unreadable> {
    let mut text = String::new();
    let limit = MAX_COST as u64;
    file.take(limit + 1).read_to_string(&mut text).map_err(|error| match error.kind() {
        std::io::ErrorKind::InvalidData => Unreadable::Encoding { line: 1 },
        _ => error.into(),
    })?;
    if text.len() > MAX_COST {
        return Err(Unreadable::TooLarge { limit: MAX_COST });
    }
    let json: Json = serde_json::from_str(text.trim_start_matches('\u{feff}'))
        .map_err(|error| malformed(format!("is not JSON: {error}; write it again")))?;
    match json {
        Json::Array(rows) => of_objects(rows.into_iter().map(Ok)),
        Json::Object(mut table) => of_split(&mut table),
        _ => Err(shape()),
    }
}

/// Reads a `.jsonl` file.
pub(crate) fn read_lines(file: File) -> Result<ResultFile, Unreadable> {
    let mut size = 0;
    let lines = BufReader::new(file).lines().zip(1_u64..).map(|(line, number)| {
        let line = line.map_err(|_| Unreadable::Encoding { line: number })?;
        size += line.len();
        if size > MAX_COST {
            return Err(Unreadable::TooLarge { limit: MAX_COST });
        }
        let json = serde_json::from_str(&line);
        json.map_err(|error| malformed(format!("line {number} is not JSON: {error}; write it again")))
    });
    of_objects(lines)
}

fn malformed(problem: String) -> Unreadable {
    Unreadable::Malformed(problem)
}

fn shape() -> Unreadable {
    malformed("is not a table: write a list of objects, or {\"columns\": […], \"rows\": [[…]]}".to_owned())
}

fn of_objects(rows: impl Iterator<Item = Result<Json, Unreadable>>) -> Result<ResultFile, Unreadable> {
    let mut names: Vec<String> = Vec::new();
    let mut table = Vec::new();
    for (at, row) in rows.enumerate() {
        let Json::Object(mut row) = row? else { return Err(shape()) };
        if at == 0 {
            names = row.keys().cloned().collect();
        }
        table.push(names.iter().map(|name| value(row.remove(name).unwrap_or_default())).collect());
        if let Some(stranger) = row.keys().next() {
            let problem = format!(
                "row {} has the column {stranger:?}, the first row has not; give every row the same",
                at + 1
            );
            return Err(malformed(problem));
        }
    }
    if names.is_empty() { Err(Unreadable::Empty) } else { table_of(names, table) }
}

fn of_split(table: &mut Map<String, Json>) -> Result<ResultFile, Unreadable> {
    let Some(Json::Array(names)) = table.remove("columns") else { return Err(shape()) };
    let rows = table.remove("rows").or_else(|| table.remove("data"));
    let Some(Json::Array(rows)) = rows else { return Err(shape()) };
    let names =
        names.iter().map(|name| name.as_str().map_or_else(|| name.to_string(), str::to_owned)).collect();
    let row = |row: Json| match row {
        Json::Array(values) => Ok(values.into_iter().map(value).collect()),
        _ => Err(shape()),
    };
    table_of(names, rows.into_iter().map(row).collect::<Result<_, _>>()?)
}

/// A table of typed values, or what is wrong with its rows.
pub(crate) fn table_of(names: Vec<String>, rows: Vec<Vec<Value<'static>>>) -> Result<ResultFile, Unreadable> {
    let ragged = |row| {
        malformed(format!(
            "row {} has not as many values as there are columns; fill it up with null",
            row + 1
        ))
    };
    let table = ResultFile::typed(names, rows).map_err(ragged)?;
    if table.cost > MAX_COST { Err(Unreadable::TooLarge { limit: MAX_COST }) } else { Ok(table) }
}

fn value(json: Json) -> Value<'static> {
    match json {
        Json::Null => Value::Null,
        Json::Bool(truth) => Value::Bool(truth),
        Json::String(text) => Value::Text(text.into()),
        Json::Number(number) => match (number.as_i64(), number.as_u64(), number.as_f64()) {
            (Some(integer), _, _) => Value::Int(integer.into()),
            (_, Some(integer), _) => Value::Int(integer.into()),
            (_, _, real) => real.map_or(Value::Null, Value::Float),
        },
        nested @ (Json::Array(_) | Json::Object(_)) => Value::Text(nested.to_string().into()),
    }
}
