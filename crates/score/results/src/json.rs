//! Results in JSON, with the types that JSON has.
//!
//! # Contract
//! - `.json`: a list of objects, one a row; or `{"columns": [names], "rows": [[values]]}`, also with `data` for `rows`, as
//!   `DataFrame.to_json(orient="split")` writes it. `.jsonl`: one object a line.
//! - The columns of objects are those of the first row, in its order; a row without one of them has NULL there, a row with another
//!   one is an error.
//! - A list or an object as a value is its JSON as text.
//! - Once there are more than `most_rows` rows, reading stops ([`ResultFile::is_beginning`]).
//! - Memory holds the text of a `.json` file or a line of a `.jsonl` file, a row, and the values that were read, at most [`MAX_COST`] each.

use std::fmt;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value as Json;

use crate::error::Unreadable;
use crate::table::{CELL_COST, Cells, MAX_COST, ResultFile, Value};

/// Reads a `.json` file.
pub(crate) fn read(file: File, most_rows: usize) -> Result<ResultFile, Unreadable> {
    let mut text = String::new();
    let limit = MAX_COST as u64;
    file.take(limit + 1).read_to_string(&mut text).map_err(|error| match error.kind() {
        std::io::ErrorKind::InvalidData => Unreadable::Encoding { line: 1 },
        _ => error.into(),
    })?;
    if text.len() > MAX_COST {
        return Err(Unreadable::TooLarge { limit: MAX_COST });
    }
    let mut table = Table { most_rows, ..Table::default() };
    let mut reader = serde_json::Deserializer::from_str(text.trim_start_matches('\u{feff}'));
    let read =
        Shape { table: &mut table, is_split: false }.deserialize(&mut reader).and_then(|()| reader.end());
    match (read, table.fault.take()) {
        (Err(_), Some(fault)) => Err(fault),
        (Err(error), None) if !table.has_enough() => {
            Err(malformed(format!("is not a table in JSON: {error}; write it again")))
        }
        _ => table.finish(),
    }
}

/// Reads a `.jsonl` file.
pub(crate) fn read_lines(file: File, most_rows: usize) -> Result<ResultFile, Unreadable> {
    // One byte more than is allowed shows that there is more.
    let mut source = BufReader::new(file.take(MAX_COST as u64 + 1));
    let mut table = Table { most_rows, ..Table::default() };
    let (mut size, mut line) = (0, String::new());
    for number in 1_u64.. {
        line.clear();
        size += source.read_line(&mut line).map_err(|error| match error.kind() {
            std::io::ErrorKind::InvalidData => Unreadable::Encoding { line: number },
            _ => error.into(),
        })?;
        if size > MAX_COST {
            return Err(Unreadable::TooLarge { limit: MAX_COST });
        }
        if line.is_empty() {
            break;
        }
        if line.trim().is_empty() {
            continue;
        }
        let json = serde_json::from_str(&line);
        let json =
            json.map_err(|error| malformed(format!("line {number} is not JSON: {error}; write it again")));
        table.push(json?)?;
        if table.has_enough() {
            break;
        }
    }
    table.finish()
}

fn malformed(problem: String) -> Unreadable {
    Unreadable::Malformed(problem)
}

fn shape() -> Unreadable {
    malformed("is not a table: write a list of objects, or {\"columns\": […], \"rows\": [[…]]}".to_owned())
}

/// What was read so far.
#[derive(Default)]
struct Table {
    /// Names of the columns: those of the first object, or those that the file states.
    names: Option<Vec<String>>,
    columns: Vec<Vec<Value<'static>>>,
    rows: usize,
    /// More rows than this need not be read.
    most_rows: usize,
    /// The first list whose length is not that of the first one, from 1.
    uneven: Option<usize>,
    /// Why reading stopped, where the JSON is not at fault.
    fault: Option<Unreadable>,
}

impl Table {
    /// Adds a row: an object, or a list of values.
    fn push(&mut self, row: Json) -> Result<(), Unreadable> {
        let values: Vec<Json> = match row {
            Json::Array(values) => values,
            Json::Object(mut fields) => {
                let names = self.names.get_or_insert_with(|| fields.keys().cloned().collect());
                let values = names.iter().map(|name| fields.remove(name).unwrap_or_default()).collect();
                if let Some(stranger) = fields.keys().next() {
                    return Err(malformed(format!(
                        "row {} has the column {stranger:?}, the first row has not; give every row the same",
                        self.rows + 1
                    )));
                }
                values
            }
            _ => return Err(shape()),
        };
        if self.rows == 0 {
            self.columns = values.iter().map(|_| Vec::new()).collect();
        }
        self.rows += 1;
        if values.len() == self.columns.len() {
            self.columns.iter_mut().zip(values).for_each(|(column, json)| column.push(value(json)));
        } else {
            self.uneven.get_or_insert(self.rows);
        }
        if self.cost() > MAX_COST { Err(Unreadable::TooLarge { limit: MAX_COST }) } else { Ok(()) }
    }

    fn has_enough(&self) -> bool {
        self.rows > self.most_rows
    }

    fn cost(&self) -> usize {
        self.rows * self.columns.len() * (CELL_COST + size_of::<Value<'static>>())
    }

    fn finish(self) -> Result<ResultFile, Unreadable> {
        let (cost, is_beginning) = (self.cost(), self.has_enough());
        // The names may stand behind rows that are not read.
        let numbered = || (1..=self.columns.len()).map(|at| at.to_string()).collect();
        let names = self.names.unwrap_or_else(|| if is_beginning { numbered() } else { Vec::new() });
        if names.is_empty() {
            return Err(Unreadable::Empty);
        }
        if self.rows == 0 {
            return Ok(ResultFile::empty(names));
        }
        let is_uneven = (names.len() != self.columns.len()).then_some(1).or(self.uneven);
        if let Some(row) = is_uneven {
            return Err(ragged(row));
        }
        let cells = Cells::Typed(self.columns);
        Ok(ResultFile { cells, rows: self.rows, is_beginning, cost, ..ResultFile::empty(names) })
    }
}

fn ragged(row: usize) -> Unreadable {
    malformed(format!("row {row} has not as many values as there are columns; fill it up with null"))
}

/// The whole of a `.json` file, a list of objects or columns and rows; or the list of these rows, which are read one by one.
struct Shape<'t> {
    table: &'t mut Table,
    /// Whether the rows are lists below `rows`, and not objects.
    is_split: bool,
}

impl<'de> DeserializeSeed<'de> for Shape<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, source: D) -> Result<(), D::Error> {
        source.deserialize_any(self)
    }
}

impl Shape<'_> {
    fn fail<E: serde::de::Error>(&mut self, fault: Unreadable) -> E {
        self.table.fault = Some(fault);
        E::custom("refused")
    }
}

impl<'de> Visitor<'de> for Shape<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of objects, or columns and rows")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut rows: A) -> Result<(), A::Error> {
        while let Some(row) = rows.next_element::<Json>()? {
            let fits = if self.is_split { row.is_array() } else { row.is_object() };
            let pushed = if fits { self.table.push(row) } else { Err(shape()) };
            pushed.map_err(|fault| self.fail(fault))?;
            if self.table.has_enough() {
                return Err(serde::de::Error::custom("the rest is not read"));
            }
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut entries: A) -> Result<(), A::Error> {
        let mut has_rows = false;
        while let Some(key) = entries.next_key::<String>()? {
            match key.as_str() {
                _ if self.is_split => drop(entries.next_value::<IgnoredAny>()?),
                "columns" => {
                    let Json::Array(names) = entries.next_value()? else { return Err(self.fail(shape())) };
                    let name = |name: &Json| name.as_str().map_or_else(|| name.to_string(), str::to_owned);
                    self.table.names = Some(names.iter().map(name).collect());
                }
                "rows" | "data" if !has_rows => {
                    has_rows = true;
                    entries.next_value_seed(Shape { table: &mut *self.table, is_split: true })?;
                }
                _ => drop(entries.next_value::<IgnoredAny>()?),
            }
        }
        if has_rows && self.table.names.is_some() && !self.is_split {
            Ok(())
        } else {
            Err(self.fail(shape()))
        }
    }
}

/// A table of typed values, or what is wrong with its rows.
#[cfg(feature = "parquet")]
pub(crate) fn table_of(names: Vec<String>, rows: Vec<Vec<Value<'static>>>) -> Result<ResultFile, Unreadable> {
    let table = ResultFile::typed(names, rows).map_err(|row| ragged(row + 1))?;
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
