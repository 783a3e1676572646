//! What was found in a benchmark.

use serde::Serialize;
use serde_json::{Value, json};

use crate::confidence::confidence;
use crate::finding::{Finding, Unchecked};
use crate::rule::AuditRule;
use crate::rules::rules;

/// What the rules say of one gold.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct ItemAudit {
    /// Defects, those that say most first.
    pub findings: Vec<Finding>,
    /// Defects that somebody has allowed, each with the reason.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub allowed: Vec<AllowedFinding>,
    /// What could not be checked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unchecked: Vec<Unchecked>,
    /// Why the gold could not be resolved, so that most rules did not look at it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unresolved: Option<String>,
}

/// A defect that somebody has allowed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AllowedFinding {
    /// The defect.
    pub finding: Finding,
    /// Why it is allowed.
    pub reason: String,
    /// Whether a comment in the gold allows it, and not a file.
    pub inline: bool,
}

/// One gold of a benchmark.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AuditedItem {
    pub id: String,
    /// Position in the gold file, from 0.
    pub index: usize,
    /// Which of the item's golds, from 0.
    pub gold: usize,
    /// The database.
    pub db_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
    /// The gold.
    pub sql: String,
    /// What the rules say.
    #[serde(flatten)]
    pub audit: ItemAudit,
}

impl AuditedItem {
    /// The probability that the gold is wrong, by what its findings were worth on golds that people judged.
    pub fn confidence(&self) -> f64 {
        self.audit.confidence()
    }

    /// The item as a JSON object, with its confidence where it has a finding.
    pub fn to_json(&self) -> Value {
        let mut value = json!(self);
        if !self.audit.findings.is_empty() {
            value["confidence"] = ((self.confidence() * 1000.0).round() / 1000.0).into();
        }
        value
    }
}

/// What the rules say of a benchmark.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BenchmarkAudit {
    /// The gold file, as it was named.
    pub source: String,
    /// Questions of the whole benchmark, of which the items may be a part.
    pub questions: usize,
    pub rules: Vec<&'static str>,
    /// All golds in the order of the file.
    pub items: Vec<AuditedItem>,
}

/// How often a rule reported something.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RuleCount {
    pub rule: &'static str,
    /// Golds with a finding.
    pub golds: usize,
    /// Golds with a finding that somebody allowed.
    pub allowed: usize,
    /// Golds that it could not check.
    pub unchecked: usize,
}

impl BenchmarkAudit {
    /// The golds with a finding, those that a person should look at first ahead.
    pub fn ranked(&self) -> Vec<&AuditedItem> {
        let mut items: Vec<&AuditedItem> =
            self.items.iter().filter(|item| !item.audit.findings.is_empty()).collect();
        let key = |item: &AuditedItem| (item.index, item.gold);
        items.sort_by(|one, other| {
            other.confidence().total_cmp(&one.confidence()).then_with(|| key(one).cmp(&key(other)))
        });
        items
    }

    /// How often each rule that ran reported something, in the order of the registry.
    pub fn counts(&self) -> Vec<RuleCount> {
        let count = |rule: &'static str| RuleCount {
            rule,
            golds: self.items.iter().filter(|item| item.audit.has(rule)).count(),
            allowed: self
                .items
                .iter()
                .filter(|item| item.audit.allowed.iter().any(|allowed| allowed.finding.rule == rule))
                .count(),
            unchecked: self
                .items
                .iter()
                .filter(|item| item.audit.unchecked.iter().any(|unchecked| unchecked.rule == rule))
                .count(),
        };
        self.rules.iter().copied().map(count).collect()
    }

    /// Golds that could not be resolved.
    pub fn unresolved(&self) -> usize {
        self.items.iter().filter(|item| item.audit.unresolved.is_some()).count()
    }

    /// Questions that were looked at; one with several golds has several items.
    pub fn audited(&self) -> usize {
        self.items.iter().filter(|item| item.gold == 0).count()
    }

    /// Why a rule could look at no gold; `None` of one that looked at some.
    pub(crate) fn why_idle(&self, count: &RuleCount) -> Option<&str> {
        let looked = count.golds + count.allowed > 0 || count.unchecked < self.items.len();
        let mut unchecked = self.items.first()?.audit.unchecked.iter().filter(|_| !looked);
        unchecked.find(|one| one.rule == count.rule).map(|one| one.reason.as_str())
    }

    /// What is known of the rules that ran.
    pub(crate) fn rules(&self) -> impl Iterator<Item = &'static AuditRule> {
        rules().iter().copied().filter(|rule| self.rules.contains(&rule.name))
    }
}

impl ItemAudit {
    /// The probability that the gold is wrong, see [`AuditedItem::confidence`].
    pub fn confidence(&self) -> f64 {
        confidence(&self.findings)
    }

    /// Whether the rule reported something that nobody allowed.
    pub fn has(&self, rule: &str) -> bool {
        self.findings.iter().any(|finding| finding.rule == rule)
    }
}
