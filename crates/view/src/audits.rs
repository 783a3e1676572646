//! Findings of `sqlgauge audit --output-format jsonl` below the folders, and what a person decides of them.
//!
//! A person accepts a finding (the gold is wrong), or rejects it with a reason (the gold is right). `PERSON/audits/AUDIT/decisions.jsonl` below
//! the folder of labels records who decided what and when; `allowed.jsonl` beside it has the rejected ones in the form that
//! `sqlgauge audit --allow` reads.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sqlgauge_base::regular;
use sqlgauge_run::sha256_of_bytes;

use crate::labels::{now, read_lines, write_lines};
use crate::records::{Record, RecordKind};
use crate::{Dashboard, ViewError};

/// What a person says of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Decision {
    /// The gold has the defect.
    Accepted,
    /// It has not, for a reason.
    Rejected,
}

/// A finding that is decided, or whose decision is taken back.
#[derive(Debug, Deserialize)]
pub(crate) struct Decided {
    pub(crate) audit: String,
    id: String,
    rule: String,
    decision: Option<Decision>,
    #[serde(default)]
    reason: String,
}

/// A line of the record.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct DecisionRow {
    id: String,
    rule: String,
    decision: Decision,
    reason: String,
    by: String,
    /// Seconds since 1970.
    at: u64,
    /// SHA-256 of the gold that was shown.
    shown: String,
}

/// An entry of `audit --allow`.
#[derive(Serialize)]
struct AllowedRow<'a> {
    id: &'a str,
    rule: &'a str,
    reason: &'a str,
}

impl Dashboard {
    fn decisions_folder(&self, audit: &Record) -> PathBuf {
        self.own_folder().join("audits").join(&audit.id)
    }

    /// The golds with a finding, and what this person decided of them.
    pub(crate) fn audit(&self, id: &str) -> Result<Value, ViewError> {
        let audit = self.record(RecordKind::Audit, id)?;
        let items: Vec<Value> = items_of(&audit.path)?;
        let golds = items.len();
        let says_something = |item: &Value| {
            ["findings", "allowed"].iter().any(|key| item[*key].as_array().is_some_and(|own| !own.is_empty()))
        };
        let folder = self.decisions_folder(&audit);
        let decisions: Vec<DecisionRow> = read_lines(&folder.join("decisions.jsonl"));
        Ok(json!({
            "name": audit.name,
            "golds": golds,
            "items": items.into_iter().filter(says_something).collect::<Vec<_>>(),
            "decisions": decisions,
            "allowed": folder.join("allowed.jsonl").display().to_string(),
        }))
    }

    /// Keeps a decision. Without one it takes back what was decided before.
    pub(crate) fn decide(&self, decided: Decided) -> Result<(), ViewError> {
        let Decided { audit, id, rule, decision, reason } = decided;
        let audit = self.record(RecordKind::Audit, &audit)?;
        let finds = |finding: &Value| finding["rule"] == rule.as_str();
        let items = items_of(&audit.path)?;
        let item = items.iter().find(|item| {
            item["id"] == id.as_str() && item["findings"].as_array().is_some_and(|own| own.iter().any(finds))
        });
        let Some(item) = item else { return Err(ViewError::UnknownFinding { id, rule }) };
        if decision == Some(Decision::Rejected) && reason.trim().is_empty() {
            return Err(ViewError::NoReason { id, rule });
        }
        let _one_at_a_time = self.labelling.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let folder = self.decisions_folder(&audit);
        let record = folder.join("decisions.jsonl");
        let mut rows: Vec<DecisionRow> = read_lines(&record);
        rows.retain(|row| (&row.id, &row.rule) != (&id, &rule));
        rows.extend(decision.map(|decision| DecisionRow {
            shown: sha256_of_bytes(item["sql"].as_str().unwrap_or_default().as_bytes()),
            reason: reason.trim().to_owned(),
            by: self.options.labeller.clone(),
            at: now(),
            id,
            rule,
            decision,
        }));
        write_lines(&record, &rows)?;
        let rejected = rows.iter().filter(|row| row.decision == Decision::Rejected);
        let allowed: Vec<_> =
            rejected.map(|row| AllowedRow { id: &row.id, rule: &row.rule, reason: &row.reason }).collect();
        write_lines(&folder.join("allowed.jsonl"), &allowed)
    }
}

/// The golds of an audit, a line each.
fn items_of(path: &Path) -> Result<Vec<Value>, ViewError> {
    let text = regular::read_to_string(path)
        .map_err(|source| ViewError::Folder { path: path.to_owned(), source })?;
    let about = |line: usize, error: &serde_json::Error| ViewError::Record {
        path: path.to_owned(),
        line: line + 1,
        message: error.to_string(),
    };
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    lines.map(|(at, line)| serde_json::from_str(line).map_err(|error| about(at, &error))).collect()
}
