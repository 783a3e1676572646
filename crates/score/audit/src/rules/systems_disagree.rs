//! # Systems agree with each other and not with the gold
//!
//! ## What it finds
//! Answers of at least two systems, and of most of those that run, return the same rows, and the gold returns
//! others.
//!
//! ## Why it matters
//! Systems seldom make the same mistake; where strong ones agree, a person should look at the gold.
//!
//! ## Example
//! ```sql
//! SELECT COUNT(*) FROM player   -- the gold; two systems say SELECT COUNT(*) FROM club
//! ```
//!
//! ## When it is no defect
//! The systems have a common origin, or the question is easy to misread.

use crate::finding::Findings;
use crate::rule::{AuditCase, AuditRule, CLUBS, Check, Needs, RuleStanding};
use std::sync::Arc;

use sqlgauge_engine::ResultSet;

use crate::finding::Evidence;
use crate::item::AuditItem;

pub(super) static RULE: AuditRule = AuditRule {
    name: "systems-disagree",
    summary: "several systems disagree with the gold, and return the same rows",
    needs: Needs::Peers,
    standing: RuleStanding::Likely,
    check: Check::of_item(check),
    cases: CASES,
    source: include_str!("systems_disagree.rs"),
};

fn check(item: &AuditItem<'_>, findings: &mut Findings) {
    if item.peers.len() < 2 {
        findings.unchecked("fewer than two answers of systems");
        return;
    }
    let Some(gold) = item.rows(findings) else { return };
    let ran: Vec<(&str, Arc<ResultSet>)> = item
        .peers
        .iter()
        .filter_map(|peer| Some((peer.system, Arc::clone(item.data.run(peer.sql).rows()?))))
        .collect();
    let Some(common) = most_common(&ran) else { return };
    let print = common.fingerprint();
    let agree: Vec<&str> =
        ran.iter().filter(|(_, rows)| rows.fingerprint() == print).map(|(system, _)| *system).collect();
    if agree.len() >= 2 && agree.len() * 2 > ran.len() && print != gold.fingerprint() {
        let why = format!(
            "{} of {} systems disagree with the gold, and return the same rows: {}",
            agree.len(),
            ran.len(),
            agree.join(", ")
        );
        findings.report_with(why, Evidence::of("their rows", common));
    }
}

fn most_common<'r>(ran: &'r [(&str, Arc<ResultSet>)]) -> Option<&'r Arc<ResultSet>> {
    let votes =
        |rows: &ResultSet| ran.iter().filter(|(_, other)| other.fingerprint() == rows.fingerprint()).count();
    ran.iter().map(|(_, rows)| rows).max_by_key(|rows| votes(rows))
}

const CASES: &[AuditCase] = &[
    AuditCase::fires(CLUBS, "SELECT COUNT(*) FROM player")
        .asked("How many clubs are there?")
        .peers(&["SELECT COUNT(*) FROM club", "SELECT COUNT(id) FROM club"])
        .of_benchmark(),
    AuditCase::silent(CLUBS, "SELECT COUNT(*) FROM player")
        .peers(&["SELECT COUNT(*) FROM club", "SELECT COUNT(id) FROM player"]),
    AuditCase::silent(CLUBS, "SELECT COUNT(*) FROM player")
        .peers(&["SELECT 4", "SELECT COUNT(id) FROM player"]),
];
