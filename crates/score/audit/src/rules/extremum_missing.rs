//! # A superlative that the gold does not compute
//!
//! ## What it finds
//! A question with "highest", "most", "oldest" and the like, while the gold has neither ORDER BY nor MAX, MIN or
//! LIMIT, nor a window.
//!
//! ## Why it matters
//! The gold returns all rows, or one that was looked up by hand and is wrong on other data.
//!
//! ## Example
//! ```sql
//! SELECT name FROM player WHERE goals = 10   -- "Who has the most goals?"
//! ```
//!
//! ## When it is no defect
//! The evidence of the benchmark says which value is the highest, or a column holds it.

use crate::finding::Findings;
use crate::rule::{AuditCase, AuditRule, CLUBS, Check, Needs, RuleStanding};
use sqlgauge_sql::tree::Expr;

use crate::item::AuditSubject;
use crate::walk::{all_exprs, takes_extreme};

const SUPERLATIVES: [&str; 16] = [
    "most", "highest", "lowest", "oldest", "youngest", "latest", "earliest", "longest", "shortest",
    "largest", "biggest", "smallest", "least", "fewest", "tallest", "heaviest",
];
/// What is no superlative in spite of its word.
const OTHER: [&str; 6] = ["at most", "at least", "most of", "most recent", "most likely", "most popular"];

pub(super) static RULE: AuditRule = AuditRule {
    name: "extremum-missing",
    summary: "the question asks for the most or the least, and the gold neither sorts nor takes an extreme",
    needs: Needs::Question,
    standing: RuleStanding::Likely,
    check: Check::of_query(check),
    cases: CASES,
    source: include_str!("extremum_missing.rs"),
};

fn check(subject: &AuditSubject<'_>, findings: &mut Findings) {
    if takes_extreme(subject.query) {
        return;
    }
    let Some(words) = subject.item.words(findings) else { return };
    let superlative = SUPERLATIVES.iter().find(|word| words.any(&[word]));
    let is_value = |word: &str| {
        let names = |expr: &Expr| subject.text(expr).to_lowercase().contains(word);
        let texts = all_exprs(subject.query).into_iter();
        texts.filter(|expr| matches!(expr, Expr::Literal(_) | Expr::Column(_))).any(names)
    };
    if let Some(word) = superlative
        && !words.any(&OTHER)
        && !is_value(word)
    {
        findings.report(format!("the question says \"{word}\", and the gold takes no extreme"));
    }
}

const CASES: &[AuditCase] = &[
    AuditCase::fires(CLUBS, "SELECT name FROM player WHERE goals = 10")
        .asked("Who has the most goals?")
        .of_benchmark(),
    AuditCase::silent(CLUBS, "SELECT name FROM player WHERE goals = (SELECT MAX(goals) FROM player)")
        .asked("Who has the most goals?"),
    AuditCase::silent(CLUBS, "SELECT name FROM player WHERE goals > 7").asked("Who has at least 8 goals?"),
];
