//! Findings that a person has looked at and accepts, each with the reason.
//!
//! A comment in the gold allows a rule for that gold: `-- sqlgauge: allow tie-at-limit any of them is right`. A file of JSON
//! lines does so for many golds: `{"id": "17", "rule": "tie-at-limit", "reason": "any of them is right"}`. Neither does
//! without a reason.

use std::collections::BTreeMap;

use serde::Deserialize;
use sqlgauge_run::sha256_of_bytes;
use sqlgauge_sql::lex::{TokenKind, tokens};

use crate::report::{AllowedFinding, AuditedItem};
use crate::rules::find;

/// What a comment that allows a rule begins with, after its dashes.
const MARK: &str = "sqlgauge: allow";

const NOT_FOUND: &str = "is allowed, but was not found; take it out of the file";
const EARLIER_GOLD: &str = "was allowed for an earlier gold; look at the new one";

#[derive(Debug, Clone, Default)]
pub struct Allowed {
    /// By id and rule.
    entries: BTreeMap<(String, &'static str), Vec<AllowedEntry>>,
}

#[derive(Debug, Clone)]
struct AllowedEntry {
    reason: String,
    /// SHA-256 of the gold that it allows; of every one without.
    shown: Option<String>,
}

impl AllowedEntry {
    fn is_of(&self, gold: &str) -> bool {
        self.shown.as_ref().is_none_or(|hash| hash.eq_ignore_ascii_case(&sha256_of_bytes(gold.as_bytes())))
    }
}

/// Why what allows a finding cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AllowedError {
    /// A line of the file is not an entry.
    #[error("line {line} is not an entry ({message}): write {{\"id\": …, \"rule\": …, \"reason\": …}}")]
    Malformed {
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        message: String,
    },
    #[error("{place} allows {rule} without a reason: say after the name why it is not a defect")]
    NoReason {
        /// Where it stands.
        place: String,
        rule: String,
    },
    /// There is no such rule.
    #[error("{place} allows {rule:?}, which is not an audit rule; `sqlgauge rules list --audit` lists them")]
    UnknownRule {
        /// Where it stands.
        place: String,
        rule: String,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    id: serde_json::Value,
    rule: String,
    #[serde(default)]
    reason: String,
    #[serde(default)]
    shown: Option<String>,
}

impl Allowed {
    /// Reads a file of JSON lines.
    ///
    /// # Errors
    /// When a line is not an entry, has no reason, or names no rule.
    pub fn parse(text: &str) -> Result<Self, AllowedError> {
        let mut entries: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for (line, text) in (1..).zip(text.lines()).filter(|(_, text)| !text.trim().is_empty()) {
            let malformed = |message: String| AllowedError::Malformed { line, message };
            let entry: Entry = serde_json::from_str(text).map_err(|error| malformed(error.to_string()))?;
            let id = match entry.id {
                serde_json::Value::String(id) => id,
                serde_json::Value::Number(id) => id.to_string(),
                _ => return Err(malformed("the id is neither a text nor a number".to_owned())),
            };
            let place = format!("line {line}");
            let (rule, reason) = checked(&place, &entry.rule, &entry.reason)?;
            entries.entry((id, rule)).or_default().push(AllowedEntry { reason, shown: entry.shown });
        }
        Ok(Self { entries })
    }

    /// Moves the findings that are allowed out of those that count; returns a sentence about each entry of the file that no
    /// finding of these items needs, or that is of an earlier gold.
    ///
    /// # Errors
    /// When a comment in a gold has no reason, or names no rule.
    pub fn apply(&self, items: &mut [AuditedItem]) -> Result<Vec<String>, AllowedError> {
        let mut unused: BTreeMap<_, _> = self.entries.keys().map(|key| (key, NOT_FOUND)).collect();
        for item in items {
            let inline = inline_allowances(&format!("the gold of {}", item.id), &item.sql)?;
            let findings = std::mem::take(&mut item.audit.findings);
            for finding in findings {
                let key = (item.id.clone(), finding.rule);
                let by_comment = inline.iter().find(|(rule, _)| *rule == finding.rule);
                let mut by_file = self.entries.get(&key).into_iter().flatten();
                let of_this_gold = by_file.rfind(|entry| entry.is_of(&item.sql));
                if of_this_gold.is_some() {
                    unused.remove(&key);
                } else if let Some(why) = unused.get_mut(&key) {
                    *why = EARLIER_GOLD;
                }
                match by_comment.map(|(_, reason)| reason).or(of_this_gold.map(|entry| &entry.reason)) {
                    Some(reason) => item.audit.allowed.push(AllowedFinding {
                        finding,
                        reason: reason.clone(),
                        inline: by_comment.is_some(),
                    }),
                    None => item.audit.findings.push(finding),
                }
            }
        }
        Ok(unused.into_iter().map(|((id, rule), why)| format!("{rule} on {id} {why}")).collect())
    }
}

/// The rules that comments in a gold allow, each with the reason. `place` names the gold.
///
/// # Errors
/// When there is no reason, or no such rule.
pub(crate) fn inline_allowances(place: &str, sql: &str) -> Result<Vec<(&'static str, String)>, AllowedError> {
    if !sql.contains(MARK) {
        return Ok(Vec::new());
    }
    let comments = tokens(sql).filter(|token| token.kind == TokenKind::Comment);
    let entries = comments.filter_map(|comment| {
        let text = comment.text.trim_start_matches(['-', '/', '*']).trim_end_matches(['*', '/']).trim();
        text.strip_prefix(MARK).map(str::trim)
    });
    entries
        .map(|entry| {
            let (rule, reason) = entry.split_once(char::is_whitespace).unwrap_or((entry, ""));
            checked(place, rule, reason)
        })
        .collect()
}

fn checked(place: &str, rule: &str, reason: &str) -> Result<(&'static str, String), AllowedError> {
    let (place, rule) = (place.to_owned(), rule.to_owned());
    let Some(rule_entry) = find(&rule) else { return Err(AllowedError::UnknownRule { place, rule }) };
    match reason.trim() {
        "" => Err(AllowedError::NoReason { place, rule }),
        reason => Ok((rule_entry.name, reason.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_allows_a_rule_with_a_reason_only() {
        let allowed = |sql| inline_allowances("the gold of 1", sql);
        let text =
            "SELECT '-- sqlgauge: allow near-literal no' -- sqlgauge: allow tie-at-limit any is right\n";
        assert_eq!(allowed(text).expect("it has a reason"), [("tie-at-limit", "any is right".to_owned())]);
        for (sql, part) in [
            ("SELECT 1 -- sqlgauge: allow tie-at-limit", "without a reason"),
            ("SELECT 1 /* sqlgauge: allow nothing since */", "not an audit rule"),
        ] {
            let message = allowed(sql).expect_err("it is refused").to_string();
            assert!(message.contains(part) && message.contains("the gold of 1"), "{message}");
        }
    }

    #[test]
    fn a_file_has_an_entry_a_line() {
        let parse = |text| {
            Allowed::parse(text).map(|allowed| allowed.entries.len()).map_err(|error| error.to_string())
        };
        assert_eq!(parse("{\"id\": 3, \"rule\": \"near-literal\", \"reason\": \"why\"}\n\n"), Ok(1));
        assert!(parse("{\"id\": 3, \"rule\": \"near-literal\"}").is_err_and(|text| text.contains("line 1")));
        assert!(parse("\n{\"id\": 3}").is_err_and(|text| text.starts_with("line 2 is not an entry")));
        assert!(
            parse("{\"id\": 3, \"rule\": \"clok\", \"reason\": \"x\"}")
                .is_err_and(|text| text.contains("clok"))
        );
    }

    #[test]
    fn an_entry_with_a_hash_allows_that_gold_only() {
        let parse = |gold: &str| {
            let hash = sha256_of_bytes(gold.as_bytes());
            let entry =
                serde_json::json!({"id": "1", "rule": "near-literal", "reason": "why", "shown": hash});
            Allowed::parse(&entry.to_string()).expect("an entry")
        };
        let allowed = parse("SELECT 1");
        let [entry] = allowed.entries[&("1".to_owned(), "near-literal")].as_slice() else {
            panic!("one entry")
        };
        assert!(entry.is_of("SELECT 1") && !entry.is_of("SELECT 42"));
    }
}
