//! Rows of Python as the JSON lines that crate `dataset` reads.
//!
//! # Contract
//! - A row is a mapping from names of columns to values. Of columns that can mean nothing to a benchmark or to predictions
//!   the name is kept, for messages, and the value is not looked at: it is written as null. Of rows of predictions a short text or a
//!   whole number in any column is kept, as it may be the id.
//! - `None`, NaN and the missing values of pandas and `NumPy` are null. Texts, numbers, truth values, lists and mappings are
//!   themselves; a `NumPy` scalar or array is what its `item` or `tolist` says. Anything else is an error that names the row
//!   and the column.

use std::collections::HashSet;
use std::path::PathBuf;

use pyo3::exceptions::PyUnicodeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyMapping, PyString, PyTuple};
use serde_json::{Map, Number, Value};
use sqlgauge_core::Source;
use sqlgauge_dataset::ColumnRole;

use crate::error::Failure;

/// How deep a value may nest.
const MAX_DEPTH: usize = 64;

/// What is at fault in a value, as the rest of a sentence.
struct Fault(String);

/// Which columns are looked at.
pub(crate) struct Columns {
    named: HashSet<String>,
    /// Any column may hold the ids.
    seeks_ids: bool,
}

/// Characters of the longest id in a column that is not called as ids are.
const LONGEST_ID: usize = 200;

impl Columns {
    /// Those that are understood without being told, and those that were named; `a.b` leads into the column `a`.
    pub(crate) fn new<'a>(named: impl IntoIterator<Item = &'a str>) -> Self {
        let first = |name: &'a str| [name, name.split('.').next().unwrap_or(name)];
        Self { named: named.into_iter().flat_map(first).map(str::to_owned).collect(), seeks_ids: false }
    }

    /// The same for rows of predictions.
    pub(crate) fn of_predictions<'a>(named: impl IntoIterator<Item = &'a str>) -> Self {
        Self { seeks_ids: true, ..Self::new(named) }
    }

    fn may_be_id(&self, value: &Bound<'_, PyAny>) -> bool {
        let is_short = |text: &Bound<'_, PyString>| text.len().is_ok_and(|length| length <= LONGEST_ID);
        self.seeks_ids && (value.is_instance_of::<PyInt>() || value.cast::<PyString>().is_ok_and(is_short))
    }

    fn is_read(&self, name: &str) -> bool {
        let is_alias = |alias: &str| alias.eq_ignore_ascii_case(name);
        name == "interaction"
            || self.named.contains(name)
            || ColumnRole::all().any(|role| role.aliases().any(is_alias))
    }
}

/// The rows as a source of that name.
pub(crate) fn source_of_rows(name: &str, rows: &Bound<'_, PyAny>, columns: &Columns) -> PyResult<Source> {
    let mut bytes = Vec::new();
    for (position, row) in rows.try_iter()?.enumerate() {
        let place = |what: &str| Failure::input(&format!("{name}, row {position} (counted from 0): {what}"));
        let row = row?;
        let row = row.cast::<PyMapping>().map_err(|_| {
            place(&format!("{} where a mapping from columns to values should be", kind(&row)))
        })?;
        let mut fields = Map::new();
        for entry in row.items()?.iter() {
            let (column, value): (Bound<'_, PyAny>, Bound<'_, PyAny>) = entry.extract()?;
            let column = text(&column).ok_or_else(|| {
                place(&format!(
                    "the name of a column is {}; give columns names that are texts",
                    kind(&column)
                ))
            })?;
            let value = if columns.is_read(&column) || columns.may_be_id(&value) {
                value_of(&value, MAX_DEPTH)
                    .map_err(|Fault(what)| place(&format!("the column {column:?} holds {what}")))?
            } else {
                Value::Null
            };
            fields.insert(column, value);
        }
        write_line(&mut bytes, &fields.into());
    }
    Ok(Source::Memory { name: PathBuf::from(name), bytes: bytes.into() })
}

/// One text, or none, per example as a source of that name.
pub(crate) fn source_of_texts(name: &str, texts: &Bound<'_, PyAny>) -> PyResult<Source> {
    let mut bytes = Vec::new();
    for (position, value) in texts.try_iter()?.enumerate() {
        let value = value?;
        let place = |what: &str| {
            Failure::input(&format!("{name}, entry {position} (counted from 0): {what}; give texts, or None"))
        };
        let value = answer_of(&value).map_err(|Fault(what)| place(&what))?;
        if !value.is_string() && !value.is_null() {
            return Err(place(&format!("{value} where a text should be")).into());
        }
        write_line(&mut bytes, &Map::from_iter([("prediction".to_owned(), value)]).into());
    }
    Ok(Source::Memory { name: PathBuf::from(name), bytes: bytes.into() })
}

/// What a model answered. A lone surrogate, which no SQL can have, becomes U+FFFD: one answer does not stop the others.
fn answer_of(value: &Bound<'_, PyAny>) -> Result<Value, Fault> {
    match value.cast::<PyString>() {
        Ok(text) => Ok(text.to_string_lossy().into()),
        Err(_) => value_of(value, MAX_DEPTH),
    }
}

/// Mapping from id to text as a source of that name.
pub(crate) fn source_of_ids(name: &str, texts: &Bound<'_, PyMapping>) -> PyResult<Source> {
    let mut bytes = Vec::new();
    for entry in texts.items()?.iter() {
        let (id, value): (Bound<'_, PyAny>, Bound<'_, PyAny>) = entry.extract()?;
        let id = value_of(&id, MAX_DEPTH);
        let (Ok(id), Ok(value)) = (id, answer_of(&value)) else {
            return Err(Failure::input(&format!("{name}: give a mapping from ids to texts, or None")).into());
        };
        let fields = [("id".to_owned(), id), ("prediction".to_owned(), value)];
        write_line(&mut bytes, &Map::from_iter(fields).into());
    }
    Ok(Source::Memory { name: PathBuf::from(name), bytes: bytes.into() })
}

fn write_line(bytes: &mut Vec<u8>, value: &Value) {
    bytes.extend_from_slice(value.to_string().as_bytes());
    bytes.push(b'\n');
}

fn text(value: &Bound<'_, PyAny>) -> Option<String> {
    value.cast::<PyString>().ok()?.to_str().ok().map(str::to_owned)
}

fn kind(value: &Bound<'_, PyAny>) -> String {
    let name = value.get_type().qualname().map_or_else(|_| "object".to_owned(), |name| name.to_string());
    format!("a value of type {name}")
}

fn value_of(value: &Bound<'_, PyAny>, depth: usize) -> Result<Value, Fault> {
    let Some(deeper) = depth.checked_sub(1) else {
        return Err(Fault(format!("values that nest more than {MAX_DEPTH} deep")));
    };
    if value.is_none() {
        return Ok(Value::Null);
    }
    if let Ok(text) = value.cast::<PyString>() {
        return text.to_str().map(Value::from).map_err(|error| {
            let is_surrogate = error.is_instance_of::<PyUnicodeError>(value.py());
            Fault(if is_surrogate { "a text with a lone surrogate".to_owned() } else { kind(value) })
        });
    }
    if let Ok(flag) = value.cast::<PyBool>() {
        return Ok(flag.is_true().into());
    }
    if value.is_instance_of::<PyInt>() {
        let number = value.extract::<i64>().map(Value::from);
        let number = number.or_else(|_| value.extract::<u64>().map(Value::from));
        return number.map_err(|_| Fault("an integer of more than 64 bits".to_owned()));
    }
    if let Ok(number) = value.cast::<PyFloat>() {
        return real(number.value());
    }
    if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
        return items_of(value, deeper);
    }
    if let Ok(dict) = value.cast::<PyDict>() {
        return fields_of(dict, deeper);
    }
    foreign(value, deeper)
}

fn real(number: f64) -> Result<Value, Fault> {
    if number.is_nan() {
        return Ok(Value::Null);
    }
    Number::from_f64(number).map(Value::Number).ok_or_else(|| Fault("an infinite number".to_owned()))
}

fn items_of(value: &Bound<'_, PyAny>, depth: usize) -> Result<Value, Fault> {
    let items = value.try_iter().map_err(|_| Fault(kind(value)))?;
    let each = |item: PyResult<Bound<'_, PyAny>>| value_of(&item.map_err(|_| Fault(kind(value)))?, depth);
    items.map(each).collect::<Result<Vec<_>, _>>().map(Value::Array)
}

fn fields_of(value: &Bound<'_, PyDict>, depth: usize) -> Result<Value, Fault> {
    let field = |(name, value): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
        let name = text(&name).ok_or_else(|| Fault(format!("a mapping with {} as a key", kind(&name))))?;
        Ok((name, value_of(&value, depth)?))
    };
    value.iter().map(field).collect::<Result<Map<_, _>, _>>().map(Value::Object)
}

/// Values of `NumPy` and pandas.
fn foreign(value: &Bound<'_, PyAny>, depth: usize) -> Result<Value, Fault> {
    let name = value.get_type().name().map_or_else(|_| String::new(), |name| name.to_string());
    if name == "NAType" || name == "NaTType" {
        return Ok(Value::Null);
    }
    for method in ["tolist", "item"] {
        let plain = value.call_method0(method);
        if let Some(plain) = plain.ok().filter(|plain| !plain.is(value)) {
            return value_of(&plain, depth);
        }
    }
    Err(Fault(format!("{}; give texts, numbers or lists of texts", kind(value))))
}

/// The names under which columns of that role are looked for.
#[pyfunction]
pub(crate) fn column_names(role: &str) -> PyResult<Vec<&'static str>> {
    let role: ColumnRole = role.parse().map_err(Failure::from)?;
    Ok(role.aliases().collect())
}
