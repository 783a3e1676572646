//! What a rule reports.

use serde::Serialize;
use sqlgauge_engine::compare::explain::shorten;
use sqlgauge_engine::{ResultSet, Value};

use crate::rule::{AuditRule, RuleStanding};

/// Rows and characters of a cell that a finding shows.
const MAX_ROWS: usize = 5;
const MAX_CELL: usize = 60;

/// A defect of a gold.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    pub rule: &'static str,
    /// How much findings of that rule say.
    pub standing: RuleStanding,
    /// One sentence.
    pub why: String,
    /// The rows that show it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Evidence>,
    /// A query without the defect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rewrite: Option<Proposal>,
}

/// A small table.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Evidence {
    /// What the rows are.
    pub title: String,
    pub columns: Vec<String>,
    /// The first rows, cells as text.
    pub rows: Vec<Vec<String>>,
    /// How many rows are left out.
    pub left_out: usize,
}

impl Evidence {
    /// The first rows of a result.
    pub fn of(title: impl Into<String>, result: &ResultSet) -> Self {
        Self::of_rows(title, &result.columns, result.rows())
    }

    /// The first of those rows.
    pub fn of_rows<'r>(
        title: impl Into<String>,
        columns: &[String],
        rows: impl IntoIterator<Item = &'r [Value]>,
    ) -> Self {
        let mut all = rows.into_iter();
        // An empty text stands in quotes, so that it can be seen.
        let text_of = |value: &Value| match cell(value) {
            text if text.is_empty() => "''".to_owned(),
            text => text,
        };
        let rows = all.by_ref().take(MAX_ROWS).map(|row| row.iter().map(text_of).collect()).collect();
        Self { title: title.into(), columns: columns.to_vec(), rows, left_out: all.count() }
    }
}

pub(crate) fn cell(value: &Value) -> String {
    let text = match value {
        Value::Null => "NULL".to_owned(),
        Value::Integer(integer) => integer.to_string(),
        Value::Real(real) => real.to_string(),
        Value::Text(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        Value::Decimal(decimal) => decimal.to_string(),
        Value::Blob(bytes) => format!("blob of {} bytes", bytes.len()),
    };
    shorten(&text, MAX_CELL)
}

/// A query without the defect, for a person to look at.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Proposal {
    /// The query.
    pub sql: String,
    /// What `verify` says of gold and proposal: `different` with a database that shows it, `equivalent`, `unknown`; `None`
    /// before it was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<String>,
    /// The clause that makes the difference, in a sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub difference: Option<String>,
}

/// What a rule could not check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Unchecked {
    pub rule: &'static str,
    /// Why.
    pub reason: String,
}

/// Collects what the rules report on one gold.
#[derive(Debug)]
pub struct Findings {
    pub(crate) rule: &'static AuditRule,
    pub(crate) list: Vec<Finding>,
    pub(crate) unchecked: Vec<Unchecked>,
}

impl Findings {
    /// A collection of what that rule reports.
    pub(crate) fn of(rule: &'static AuditRule) -> Self {
        Self { rule, list: Vec::new(), unchecked: Vec::new() }
    }

    /// Reports a defect.
    pub fn report(&mut self, why: impl Into<String>) {
        self.push(why.into(), None, None);
    }

    /// Reports a defect with the rows that show it.
    pub(crate) fn report_with(&mut self, why: impl Into<String>, evidence: Evidence) {
        self.push(why.into(), Some(evidence), None);
    }

    /// Reports a defect with a query that does not have it.
    pub fn propose(&mut self, why: impl Into<String>, evidence: Option<Evidence>, sql: Option<String>) {
        self.push(why.into(), evidence, sql);
    }

    /// Says that a place could not be checked, and why.
    pub fn unchecked(&mut self, reason: impl Into<String>) {
        let entry = Unchecked { rule: self.rule.name, reason: reason.into() };
        if !self.unchecked.contains(&entry) {
            self.unchecked.push(entry);
        }
    }

    fn push(&mut self, why: String, evidence: Option<Evidence>, sql: Option<String>) {
        let rewrite = sql.map(|sql| Proposal { sql, verdict: None, difference: None });
        let finding = Finding { rule: self.rule.name, standing: self.rule.standing, why, evidence, rewrite };
        if !self.list.iter().any(|other| other.why == finding.why) {
            self.list.push(finding);
        }
    }
}
