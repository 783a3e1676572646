//! # A result that depends on the clock
//!
//! ## What it finds
//! A gold that reads the clock (`CURRENT_DATE`, `'now'`) or draws random numbers.
//!
//! ## Why it matters
//! Its result changes from day to day, so that two runs of one benchmark cannot be compared.
//!
//! ## Example
//! ```sql
//! SELECT strftime('%Y', 'now') - strftime('%Y', born) FROM player
//! ```
//!
//! ## When it is no defect
//! The question means the day on which it is asked, and every run states the same `--now`.

use crate::finding::Findings;
use crate::rule::{AuditCase, AuditMeta, AuditRule, CLUBS, Needs, RuleStanding};
use sqlgauge_sql::tree::Expr;

use crate::item::AuditSubject;
use crate::walk::scopes;

pub(super) struct Clock;

static META: AuditMeta = AuditMeta {
    name: "clock",
    summary: "the gold asks for the time, or for random numbers",
    needs: Needs::Schema,
    standing: RuleStanding::Hint,
    cases: CASES,
    source: include_str!("clock.rs"),
};

impl AuditRule for Clock {
    fn meta(&self) -> &'static AuditMeta {
        &META
    }

    fn check(&self, subject: &AuditSubject<'_>, findings: &mut Findings) {
        for expr in
            scopes(subject.query).iter().flat_map(|scope| [scope.exprs(), scope.conditions()].concat())
        {
            if let Expr::Function { function, args } = expr
                && !function.is_deterministic(args)
            {
                let what = if function.properties().may_read_clock { "the time" } else { "random numbers" };
                findings.report(format!("{} asks for {what}", subject.text(expr)));
            }
        }
    }
}

const CASES: &[AuditCase] = &[
    AuditCase::fires(CLUBS, "SELECT strftime('%Y', 'now') - strftime('%Y', born) FROM player")
        .from_benchmark(),
    AuditCase::fires(CLUBS, "SELECT name FROM player ORDER BY random() LIMIT 1"),
    AuditCase::silent(CLUBS, "SELECT strftime('%Y', born) FROM player"),
];
