//! # One row where all are asked for
//!
//! ## What it finds
//! A question for several ("which players", "list all") that asks for the highest, the most, the earliest, while the gold
//! returns one row by ORDER BY and LIMIT 1. With rows at hand, only where several rows have the extreme value.
//!
//! ## Why it matters
//! The gold leaves out rows that are as right.
//!
//! ## Example
//! ```sql
//! SELECT name FROM player ORDER BY goals DESC LIMIT 1   -- "Which players have the most goals?"
//! ```
//!
//! ## When it is no defect
//! The question says which one, or at most one row can have the value.

use crate::finding::Findings;
use crate::rule::{AuditCase, AuditRule, CLUBS, Check, Needs, RuleStanding};
use sqlgauge_sql::ordered;
use sqlgauge_sql::tree::{Expr, Literal};

use crate::finding::Evidence;
use crate::item::AuditSubject;
use crate::walk::{scopes, whole};
use crate::words::{Words, stem};

pub(super) static RULE: AuditRule = AuditRule {
    name: "extremum-for-all",
    summary: "the question asks for all with the extreme value, and LIMIT 1 returns one",
    needs: Needs::Question,
    standing: RuleStanding::Likely,
    check: Check::of_query(check),
    cases: CASES,
    source: include_str!("extremum_for_all.rs"),
};

fn check(subject: &AuditSubject<'_>, findings: &mut Findings) {
    let query = subject.query;
    if query.limit.as_ref().and_then(whole) != Some(1)
        || query.order_by.is_empty()
        || scopes(query).is_empty()
    {
        return;
    }
    let Some(words) = subject.item.words(findings) else { return };
    if !asks_for_several(&words) {
        return;
    }
    let why = "the question asks for all with the extreme value, and LIMIT 1 returns one of them";
    if !subject.item.data.has_rows() {
        findings.report(why);
        return;
    }
    let Some(mut ordered) = ordered(query) else { return };
    ordered.query.limit = Some(Expr::Literal(Literal::Integer(2)));
    let Some(rows) = subject.run(&ordered.query, findings) else { return };
    let (Some(first), Some(second)) = (rows.row(0), rows.row(1)) else { return };
    if ordered.keys.iter().all(|&key| first.get(key) == second.get(key)) {
        findings.report_with(why, Evidence::of("the first rows", &rows));
    }
}

/// Whether the question asks for several things: "list all", "which players", "who are". Elsewhere "all" says among what to look:
/// "of all players, who …", "in all matches", "for all students in each department".
fn asks_for_several(words: &Words) -> bool {
    let all: Vec<&str> = words.iter().collect();
    let is_plural = |word: &str| stem(word) != word && word.len() > 3;
    let after = |starts: &[&str], is_several: &dyn Fn(&str) -> bool| {
        all.windows(2).any(|pair| starts.contains(&pair[0]) && is_several(pair[1]))
    };
    words.any(&["names of all", "who are", "what are the names"])
        || after(&["which", "list", "find", "name", "show"], &is_plural)
        || after(&["list", "out", "find", "name", "show", "give", "return", "me", "are"], &|word| {
            word == "all"
        })
}

const CASES: &[AuditCase] = &[
    AuditCase::fires(CLUBS, "SELECT name FROM player ORDER BY goals DESC LIMIT 1")
        .asked("Which players have the most goals?")
        .of_benchmark(),
    AuditCase::silent(CLUBS, "SELECT name FROM player ORDER BY goals DESC LIMIT 1")
        .asked("Who has the most goals?"),
    AuditCase::fires(CLUBS, "SELECT name FROM player ORDER BY goals DESC LIMIT 1")
        .asked("Find the names of all players with the most goals?"),
    AuditCase::silent(CLUBS, "SELECT name FROM player ORDER BY goals DESC LIMIT 1")
        .asked("Of all the players, who has the most goals?"),
    AuditCase::silent(CLUBS, "SELECT goals FROM player ORDER BY goals DESC LIMIT 1")
        .asked("What is the highest number of goals for all players in each club?"),
    AuditCase::silent(CLUBS, "SELECT name FROM player ORDER BY id DESC LIMIT 1")
        .asked("Which players came last?"),
    AuditCase::silent(CLUBS, "SELECT name FROM player WHERE goals = (SELECT MAX(goals) FROM player)")
        .asked("Which players have the most goals?"),
];
