//! # A DISTINCT without effect
//!
//! ## What it finds
//! SELECT DISTINCT or COUNT(DISTINCT …) where the rules of `match` prove that the query means the same without
//! it.
//!
//! ## Why it matters
//! It is harmless to execution metrics, but exact set match marks a right prediction without it as wrong.
//!
//! ## Example
//! ```sql
//! SELECT DISTINCT id FROM player
//! ```
//!
//! ## When it is no defect
//! It is a matter of style.

use crate::finding::Findings;
use crate::rule::{AuditCase, AuditMeta, AuditRule, CLUBS, Needs, RuleStanding};
use sqlgauge_etm::{Matcher, Profile};
use sqlgauge_sql::tree::{Body, Query};
use sqlgauge_sql::visit::{Rewriter, rewrite_query};

use crate::item::AuditSubject;

pub(super) struct SuperfluousDistinct;

static META: AuditMeta = AuditMeta {
    name: "superfluous-distinct",
    summary: "DISTINCT is proved to change nothing",
    needs: Needs::Schema,
    standing: RuleStanding::Hint,
    cases: CASES,
    source: include_str!("superfluous_distinct.rs"),
};

impl AuditRule for SuperfluousDistinct {
    fn meta(&self) -> &'static AuditMeta {
        &META
    }

    fn check(&self, subject: &AuditSubject<'_>, findings: &mut Findings) {
        let mut query: Query = subject.query.clone();
        let mut without = Without(0);
        rewrite_query(&mut without, &mut query);
        if without.0 != 1 {
            return;
        }
        let Some(sql) = subject.print(&query) else { return };
        if Matcher::new(subject.schema, Profile::Sound).is_equal(subject.item.sql, &sql) {
            findings.propose("the query means the same without its DISTINCT", None, Some(sql));
        }
    }
}

/// Takes DISTINCT away, and counts where.
struct Without(usize);

impl Rewriter for Without {
    fn body(&mut self, body: &mut Body) {
        if let Body::Select(select) = body
            && select.distinct
        {
            select.distinct = false;
            self.0 += 1;
        }
    }
}

const CASES: &[AuditCase] = &[
    AuditCase::fires(CLUBS, "SELECT DISTINCT id FROM player").from_benchmark(),
    AuditCase::silent(CLUBS, "SELECT DISTINCT name FROM player"),
    AuditCase::silent(CLUBS, "SELECT id FROM player"),
];
