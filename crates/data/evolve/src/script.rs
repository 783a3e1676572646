//! Reads changes that a person wrote or an earlier run recorded.
//!
//! A line is a JSON object: a change with the `db_id` of its database beside the operator, or a record of a
//! `changes.jsonl`, whose schemas are read.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;
use sqlgauge_base::regular;

use crate::change::Change;
use crate::layout::ChangeRecord;

/// The changes of each database, in their order.
pub type ChangeScript = BTreeMap<String, Vec<Change>>;

#[derive(Debug, thiserror::Error)]
pub enum ScriptError {
    #[error("{} cannot be read: {source}", path.display())]
    Read { path: PathBuf, source: std::io::Error },
    /// No line has a change.
    #[error("{} has no change; write one a line, as {{\"db_id\": …, \"operator\": \"rename_table\", …}}", path.display())]
    Empty { path: PathBuf },
    /// A line is no change.
    #[error("{} line {line}: {message}", path.display())]
    Line {
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong and what to write.
        message: String,
    },
}

/// Reads a script.
///
/// # Errors
/// [`ScriptError`], which names the line.
pub fn read_script(path: &Path) -> Result<ChangeScript, ScriptError> {
    let text = regular::read_to_string(path)
        .map_err(|source| ScriptError::Read { path: path.to_owned(), source })?;
    let mut script = ChangeScript::new();
    for (line, text) in (1..).zip(text.lines()).filter(|(_, text)| !text.trim().is_empty()) {
        let failed = |message: String| ScriptError::Line { path: path.to_owned(), line, message };
        let value: Value = serde_json::from_str(text).map_err(|error| failed(error.to_string()))?;
        match of_line(value).map_err(failed)? {
            Line::Change(db_id, change) => script.entry(db_id).or_default().push(change),
            Line::Schema(db_id, changes) => {
                let entry = script.entry(db_id.clone()).or_default();
                if !entry.is_empty() {
                    return Err(failed(format!(
                        "{db_id} has changes before; give a file with one schema per database, which is what a kind in scope \
                         writes without --per-item"
                    )));
                }
                entry.extend(changes);
            }
            Line::Other => {}
        }
    }
    if script.values().all(Vec::is_empty) {
        return Err(ScriptError::Empty { path: path.to_owned() });
    }
    Ok(script)
}

enum Line {
    Change(String, Change),
    Schema(String, Vec<Change>),
    /// Nothing of changes.
    Other,
}

fn of_line(mut value: Value) -> Result<Line, String> {
    if value.get("record").is_some() {
        let record: ChangeRecord = serde_json::from_value(value).map_err(|error| error.to_string())?;
        return Ok(match record {
            ChangeRecord::Schema(schema) => Line::Schema(schema.source_db_id, schema.changes),
            ChangeRecord::Header(_) | ChangeRecord::Item(_) | ChangeRecord::Statistics(_) => Line::Other,
        });
    }
    let db_id = value.as_object_mut().and_then(|object| object.remove("db_id"));
    let Some(Value::String(db_id)) = db_id else {
        return Err("the change has no db_id; write the name of its database".to_owned());
    };
    let change = serde_json::from_value(value).map_err(|error| format!("the change of {db_id}: {error}"))?;
    Ok(Line::Change(db_id, change))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::SchemaRecord;

    #[test]
    fn changes_are_read_by_hand_and_from_records_and_errors_name_the_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.jsonl");
        let read = |text: &str| {
            std::fs::write(&path, text).unwrap();
            read_script(&path)
        };
        let by_hand = r#"{"db_id":"d","operator":"rename_table","table":"a","to":"b"}"#;
        let script = read(&format!("{by_hand}\n\n{}", by_hand.replace("\"a\"", "\"c\""))).unwrap();
        assert_eq!(script["d"].len(), 2);
        for (text, message) in [
            (r#"{"operator":"drop_table","table":"a"}"#, "line 1: the change has no db_id"),
            (r#"{"db_id":"d","operator":"drop_all"}"#, "line 1: the change of d: unknown variant"),
            (r#"{"db_id":"d","operator":"drop_table","table":"a","x":1}"#, "unknown field"),
            ("nothing", "line 1: expected"),
            ("", "has no change; write one a line"),
        ] {
            let error = read(text).unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
        }
    }

    #[test]
    fn two_schemas_of_one_database_are_no_history() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("changes.jsonl");
        let schema = |db_id: &str, table: &str| {
            let change = Change::DropTable { table: table.to_owned() };
            let nothing = BTreeMap::new;
            let record = ChangeRecord::Schema(Box::new(SchemaRecord {
                db_id: db_id.to_owned(),
                source_db_id: "d".to_owned(),
                changes: vec![change],
                infeasible: None,
                detail: None,
                old_over_new: nothing(),
                new_over_old: nothing(),
                changed_tables: Vec::new(),
                changed_columns: Vec::new(),
                left_out: Vec::new(),
            }));
            serde_json::to_string(&record).unwrap()
        };
        std::fs::write(&path, schema("d__1", "a")).unwrap();
        assert_eq!(read_script(&path).unwrap()["d"].len(), 1);
        std::fs::write(&path, format!("{}\n{}", schema("d__1", "a"), schema("d__2", "b"))).unwrap();
        let error = read_script(&path).unwrap_err().to_string();
        assert!(error.contains("line 2: d has changes before"), "{error}");
    }
}
