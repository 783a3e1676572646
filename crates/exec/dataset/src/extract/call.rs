//! The SQL in JSON: in a field of an object, or among the arguments of a tool call.

use serde_json::{Map, Value};

use super::begin::clear_start;
use crate::columns::{ColumnRole, Columns};

/// Fields of tool calls and of agents' steps that hold the arguments, as an object or as its text.
const ARGUMENTS: [&str; 9] = [
    "arguments",
    "args",
    "parameters",
    "params",
    "input",
    "action_input",
    "tool_input",
    "kwargs",
    "function",
];

/// Names of a query beside those of columns, in lower case, the final ones first.
const NAMES: [&str; 10] = [
    "final_sql",
    "final_query",
    "final_answer",
    "revised_sql",
    "corrected_sql",
    "sql_query",
    "query_sql",
    "sql_code",
    "statement",
    "command",
];

/// Arguments within arguments: nobody nests deeper.
const MAX_DEPTH: usize = 4;

/// The SQL in a text that is one JSON object.
pub(crate) fn sql_of_json(text: &str) -> Option<String> {
    if !text.starts_with('{') {
        return None;
    }
    let value: Value = serde_json::from_str(text).ok()?;
    sql_of_object(value.as_object()?, 0)
}

/// The query in a call of a tool, or in a step of an agent.
pub(crate) fn sql_of_call(call: &Map<String, Value>) -> Option<String> {
    sql_of_object(call, 0).filter(|sql| clear_start(sql).is_some())
}

/// The SQL in the fields of an object or in its arguments.
fn sql_of_object(fields: &Map<String, Value>, depth: usize) -> Option<String> {
    if depth == MAX_DEPTH {
        return None;
    }
    let text = |name: &str| {
        let field = fields.iter().find(|(field, _)| field.eq_ignore_ascii_case(name));
        field.and_then(|(_, value)| value.as_str()).map(str::to_owned)
    };
    if let Some(sql) = NAMES.iter().find_map(|name| text(name)) {
        return Some(sql);
    }
    if let Some(sql) = ARGUMENTS.iter().find_map(|name| sql_of_arguments(fields.get(*name)?, depth)) {
        return Some(sql);
    }
    let columns = Columns::default();
    let (_, value) =
        columns.find(ColumnRole::Prediction, fields).or_else(|| columns.find(ColumnRole::Gold, fields))?;
    value.as_str().map(str::to_owned)
}

fn sql_of_arguments(value: &Value, depth: usize) -> Option<String> {
    match value {
        Value::Object(fields) => sql_of_object(fields, depth + 1),
        Value::String(text) => match serde_json::from_str::<Value>(text) {
            Ok(inside) => sql_of_object(inside.as_object()?, depth + 1),
            Err(_) => clear_start(text).map(|_| text.clone()),
        },
        _ => None,
    }
}
