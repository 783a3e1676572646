//! `json` and `jsonl`: for programs.

use serde_json::{Value, json};

use super::RobustnessReport;
use sqlgauge_report::ReportError;

/// Everything, indented, with a final line end.
///
/// # Errors
/// If the data cannot be turned into JSON.
pub fn json(report: &RobustnessReport) -> Result<String, ReportError> {
    Ok(format!("{}\n", serde_json::to_string_pretty(&report.robustness)?))
}

/// A line per system and benchmark, each with its `record`: `original`, `in_scope`, `average_over_changes`, `average_with_original`,
/// `out_of_scope`.
///
/// # Errors
/// If the data cannot be turned into JSON.
pub fn jsonl(report: &RobustnessReport) -> Result<String, ReportError> {
    let mut text = String::new();
    for system in &report.robustness.systems {
        let mut put = |record: &str, fields: Value| -> Result<(), ReportError> {
            let mut line = json!({"system": system.system, "record": record});
            if let (Value::Object(line), Value::Object(fields)) = (&mut line, fields) {
                line.extend(fields);
            }
            text.push_str(&serde_json::to_string(&line)?);
            text.push('\n');
            Ok(())
        };
        let (items, scores) = (system.items, &system.original);
        put(
            "original",
            json!({"items": items, "scores": scores, "false_positives": system.false_positives}),
        )?;
        for row in &system.rows {
            put("in_scope", serde_json::to_value(row)?)?;
        }
        put("average_over_changes", json!({"scores": system.average_over_changes}))?;
        put("average_with_original", json!({"scores": system.average_with_original}))?;
        for row in &system.out_of_scope {
            put("out_of_scope", serde_json::to_value(row)?)?;
        }
    }
    Ok(text)
}
