//! Findings of `sqlgauge audit --output-format jsonl` below the folders, and what a person decides of them.
//!
//! A person accepts a finding (the gold is wrong), or rejects it with a reason (the gold is right). `PERSON/audits/AUDIT/decisions.jsonl` below
//! the folder of labels records who decided what and when; `allowed.jsonl` beside it has the rejected ones in the form that
//! `sqlgauge audit --allow` reads, and whatever else a person wrote into it. A decision counts for the gold that was shown.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sqlgauge_base::regular;
use sqlgauge_base::rows::{Rows, now, turn};
use sqlgauge_run::sha256_of_bytes;

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
    /// SHA-256 of the gold that the page shows.
    shown: String,
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

impl DecisionRow {
    /// As an entry of `audit --allow`.
    fn allowance(&self) -> Value {
        json!({"id": self.id, "rule": self.rule, "reason": self.reason, "shown": self.shown})
    }

    /// Whether that is its entry. Earlier versions wrote none of the golds.
    fn is_allowance(&self, entry: &Value) -> bool {
        let digest = entry.get("shown").filter(|value| !value.is_null());
        entry["id"] == *self.id
            && entry["rule"] == *self.rule
            && digest.is_none_or(|digest| *digest == *self.shown)
    }
}

/// SHA-256 of the gold of an item.
fn shown_of(item: &Value) -> String {
    sha256_of_bytes(item["sql"].as_str().unwrap_or_default().as_bytes())
}

impl Dashboard {
    fn decisions_folder(&self, audit: &Record) -> PathBuf {
        self.own_folder().join("audits").join(&audit.id)
    }

    /// The golds with a finding, and what this person decided of them.
    pub(crate) fn audit(&self, id: &str) -> Result<Value, ViewError> {
        let audit = self.record(RecordKind::Audit, id)?;
        let mut items: Vec<Value> = items_of(&audit.path)?;
        for item in &mut items {
            let digest = shown_of(item);
            if let Value::Object(item) = item {
                item.insert("shown".to_owned(), digest.into());
            }
        }
        let golds = items.len();
        let says_something = |item: &Value| {
            ["findings", "allowed"]
                .iter()
                .any(|key| item[*key].as_array().is_some_and(|findings| !findings.is_empty()))
        };
        let folder = self.decisions_folder(&audit);
        let decisions: Rows<DecisionRow> = Rows::read(folder.join("decisions.jsonl"))?;
        Ok(json!({
            "name": audit.name,
            "golds": golds,
            "items": items.into_iter().filter(says_something).collect::<Vec<_>>(),
            "decisions": decisions.into_rows(),
            "allowed": folder.join("allowed.jsonl").display().to_string(),
        }))
    }

    /// Keeps a decision. Without one it takes back what was decided before.
    pub(crate) fn decide(&self, decided: Decided) -> Result<(), ViewError> {
        let Decided { audit, id, rule, decision, reason, shown: digest } = decided;
        let audit = self.record(RecordKind::Audit, &audit)?;
        let finds = |finding: &Value| finding["rule"] == rule.as_str();
        let items = items_of(&audit.path)?;
        let of_id = || items.iter().filter(|item| item["id"] == id.as_str());
        let mut with_finding = of_id()
            .filter(|item| item["findings"].as_array().is_some_and(|findings| findings.iter().any(finds)))
            .peekable();
        if with_finding.peek().is_none() {
            return Err(ViewError::UnknownFinding { id, rule });
        }
        if !with_finding.any(|item| shown_of(item) == digest) {
            return Err(ViewError::Changed { what: format!("the gold of {id:?}") });
        }
        if decision == Some(Decision::Rejected) && reason.trim().is_empty() {
            return Err(ViewError::NoReason { id, rule });
        }
        let row = decision.map(|decision| DecisionRow {
            id: id.clone(),
            rule: rule.clone(),
            reason: reason.trim().to_owned(),
            by: self.options.labeller.clone(),
            at: now(),
            shown: digest.clone(),
            decision,
        });
        // An item may have several golds; a decision on an earlier one makes way.
        let golds: BTreeSet<String> = of_id().map(shown_of).collect();
        let replaces = |row: &DecisionRow| {
            row.id == id && row.rule == rule && (row.shown == digest || !golds.contains(&row.shown))
        };
        let _one_at_a_time = self.labelling.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let _turn = turn(&self.own_folder())?;
        record(&self.decisions_folder(&audit), row, replaces)
    }
}

/// Puts a decision into both files. What `allowed.jsonl` has besides decisions stays.
fn record(
    folder: &Path,
    row: Option<DecisionRow>,
    replaces: impl Fn(&DecisionRow) -> bool,
) -> Result<(), ViewError> {
    let mut decisions: Rows<DecisionRow> = Rows::read(folder.join("decisions.jsonl"))?;
    let mut allowed: Rows<Value> = Rows::read(folder.join("allowed.jsonl"))?;
    let is_rejected = |row: &DecisionRow| row.decision == Decision::Rejected;
    let allows = row.as_ref().is_some_and(is_rejected);
    let decided: Vec<DecisionRow> = decisions.iter().chain(&row).cloned().collect();
    decisions.put(row, replaces)?;
    allowed.put(None, |entry| decided.iter().any(|row| row.is_allowance(entry)))?;
    for row in decisions.iter().filter(|row| is_rejected(row)) {
        allowed.put(Some(row.allowance()), |_| false)?;
    }
    // A crash between the two leaves an entry too few, which the next decision adds, and none too many.
    let files = [decisions.prepared()?, allowed.prepared()?];
    Ok(if allows { decisions.commit(files) } else { decisions.commit(files.into_iter().rev()) }?)
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
