//! SARIF 2.1.0, which code hosts and editors show.
//!
//! The location of a result is the gold file and, as a logical location, the item. A finding that somebody allowed is a
//! result with a suppression; what could not be checked is a notification of the run.

use std::fmt::Write as _;
use std::io::{self, Write};

use serde_json::{Value, json};

use super::AuditFormat;
use crate::finding::Finding;
use crate::report::{AllowedFinding, AuditedItem, BenchmarkAudit};
use crate::rule::{AuditRule, RuleStanding};

/// See the head of this file.
pub struct Sarif;

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

impl AuditFormat for Sarif {
    fn name(&self) -> &'static str {
        "sarif"
    }

    fn render(&self, audit: &BenchmarkAudit, out: &mut dyn Write) -> io::Result<()> {
        let rules: Vec<Value> = audit.rules().map(described).collect();
        let results: Vec<Value> = audit.items.iter().flat_map(|item| results(audit, item)).collect();
        let log = json!({
            "$schema": SCHEMA,
            "version": "2.1.0",
            "runs": [{
                "tool": {"driver": {
                    "name": "sqlgauge",
                    "version": env!("CARGO_PKG_VERSION"),
                    "rules": rules,
                }},
                "invocations": [{
                    "executionSuccessful": true,
                    "toolExecutionNotifications": notifications(audit),
                }],
                "results": results,
            }],
        });
        serde_json::to_writer_pretty(&mut *out, &log)?;
        out.write_all(b"\n")
    }
}

fn level(standing: RuleStanding) -> &'static str {
    match standing {
        RuleStanding::Certain => "error",
        RuleStanding::Likely => "warning",
        RuleStanding::Hint => "note",
    }
}

fn described(rule: &'static AuditRule) -> Value {
    let page = rule.page();
    json!({
        "id": rule.name,
        "shortDescription": {"text": rule.summary},
        "help": {"text": page, "markdown": page},
        "defaultConfiguration": {"level": level(rule.standing), "enabled": rule.is_on()},
    })
}

fn results(audit: &BenchmarkAudit, item: &AuditedItem) -> Vec<Value> {
    let open = item.audit.findings.iter().map(|finding| result(audit, item, finding, None));
    let allowed =
        item.audit.allowed.iter().map(|allowed| result(audit, item, &allowed.finding, Some(allowed)));
    open.chain(allowed).collect()
}

fn result(
    audit: &BenchmarkAudit,
    item: &AuditedItem,
    finding: &Finding,
    allowed: Option<&AllowedFinding>,
) -> Value {
    let position = audit.rules().position(|rule| rule.name == finding.rule);
    let mut text = format!("{}: {}", item.id, finding.why);
    if let Some(rewrite) = &finding.rewrite {
        text.push_str(" Proposal: ");
        text.push_str(&rewrite.sql);
    }
    let mut value = json!({
        "ruleId": finding.rule,
        "level": level(finding.standing),
        "message": {"text": text},
        "locations": [{
            "physicalLocation": {"artifactLocation": {"uri": uri(&audit.source)}},
            "logicalLocations": [{"name": item.id, "fullyQualifiedName": format!("{}/{}/{}", item.db_id, item.id, item.gold)}],
        }],
        "partialFingerprints": {"item/v1": format!("{}/{}/{}", item.id, item.gold, finding.rule)},
        "rank": (100.0 * item.confidence()).round(),
        "properties": {"finding": finding, "sql": item.sql, "question": item.question},
    });
    if let Some(position) = position {
        value["ruleIndex"] = json!(position);
    }
    value["suppressions"] = match allowed {
        Some(allowed) => {
            let kind = if allowed.inline { "inSource" } else { "external" };
            json!([{"kind": kind, "justification": allowed.reason}])
        }
        None => json!([]),
    };
    value
}

fn notifications(audit: &BenchmarkAudit) -> Vec<Value> {
    let note = |item: &AuditedItem, rule: Option<&str>, reason: &str| {
        let text = match rule {
            Some(rule) => format!("{}: not checked by {rule}: {reason}", item.id),
            None => format!("{}: not resolved: {reason}", item.id),
        };
        json!({"level": "note", "message": {"text": text}})
    };
    let of_item = |item: &AuditedItem| {
        let unchecked =
            item.audit.unchecked.iter().map(|unchecked| note(item, Some(unchecked.rule), &unchecked.reason));
        unchecked
            .chain(item.audit.unresolved.iter().map(|reason| note(item, None, reason)))
            .collect::<Vec<_>>()
    };
    audit.items.iter().flat_map(of_item).collect()
}

/// A path as a reference of a URI.
fn uri(path: &str) -> String {
    let mut uri = String::with_capacity(path.len());
    for byte in path.replace('\\', "/").bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                uri.push(char::from(byte));
            }
            other => {
                let _infallible = write!(uri, "%{other:02X}");
            }
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log() -> Value {
        serde_json::from_str(&super::super::tests::rendered(&Sarif)).expect("SARIF is JSON")
    }

    /// The properties of an object of SARIF that are read below: those that it must have and those that it may have, from
    /// the specification (OASIS, SARIF 2.1.0, section 3).
    fn check(value: &Value, what: &str, required: &[&str], optional: &[&str]) {
        let object = value.as_object().unwrap_or_else(|| panic!("{what} is an object"));
        required.iter().for_each(|name| assert!(object.contains_key(*name), "{what} has {name}"));
        for name in object.keys() {
            assert!(
                required.contains(&name.as_str()) || optional.contains(&name.as_str()),
                "{what} has no {name}"
            );
        }
    }

    #[test]
    fn the_log_has_the_structure_of_the_specification() {
        let log = log();
        check(&log, "sarifLog", &["version", "runs"], &["$schema"]);
        assert_eq!(log["version"], "2.1.0");
        let run = &log["runs"][0];
        check(run, "run", &["tool"], &["results", "invocations"]);
        check(&run["tool"]["driver"], "toolComponent", &["name"], &["version", "rules"]);
        check(
            &run["invocations"][0],
            "invocation",
            &["executionSuccessful"],
            &["toolExecutionNotifications"],
        );
        for rule in run["tool"]["driver"]["rules"].as_array().expect("rules") {
            check(
                rule,
                "reportingDescriptor",
                &["id"],
                &["shortDescription", "help", "defaultConfiguration"],
            );
            check(&rule["help"], "multiformatMessageString", &["text"], &["markdown"]);
        }
        for result in run["results"].as_array().expect("results") {
            let optional = [
                "ruleId",
                "ruleIndex",
                "level",
                "locations",
                "rank",
                "partialFingerprints",
                "properties",
                "suppressions",
            ];
            check(result, "result", &["message"], &optional);
            assert!(["error", "warning", "note", "none"].iter().any(|level| result["level"] == *level));
            let at = result["ruleIndex"].as_u64().and_then(|at| usize::try_from(at).ok()).expect("an index");
            assert_eq!(run["tool"]["driver"]["rules"][at]["id"], result["ruleId"]);
            check(&result["locations"][0], "location", &[], &["physicalLocation", "logicalLocations"]);
            let suppressions = result["suppressions"].as_array().expect("suppressions");
            suppressions
                .iter()
                .for_each(|suppression| check(suppression, "suppression", &["kind"], &["justification"]));
        }
        for note in run["invocations"][0]["toolExecutionNotifications"].as_array().expect("notes") {
            check(note, "notification", &["message"], &["level"]);
        }
    }

    #[test]
    fn what_is_allowed_is_suppressed_and_paths_are_references() {
        let results = log()["runs"][0]["results"].clone();
        assert_eq!(results[0]["suppressions"], json!([]));
        assert_eq!(results[1]["suppressions"][0]["kind"], "inSource");
        let uri = &results[0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"];
        assert_eq!(uri, "my%20golds/dev.json");
    }
}
