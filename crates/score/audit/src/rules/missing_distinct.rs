//! # A missing DISTINCT
//!
//! ## What it finds
//! A SELECT without DISTINCT that returns columns of some tables while a join with others, of which nothing is
//! returned, repeats them.
//!
//! ## Why it matters
//! A player with three awards stands in the result three times; a prediction that lists each player once is
//! marked wrong.
//!
//! ## Example
//! ```sql
//! SELECT p.name FROM player AS p JOIN award AS a ON a.player_id = p.id   -- Ana twice
//! ```
//!
//! ## When it is no defect
//! The repetition is meant, or the metric compares sets. With rows at hand, the rule is silent where nothing is
//! repeated.

use crate::finding::Findings;
use crate::rule::{AuditCase, AuditMeta, AuditRule, CLUBS, Needs, RuleStanding};
use sqlgauge_sql::derive::{Dependencies, has_window, is_aggregate_select};
use sqlgauge_sql::tree::{Body, Query, RelationId};

use crate::finding::Evidence;
use crate::item::AuditSubject;
use crate::walk::{Scope, relations_read, scopes};

pub(super) struct MissingDistinct;

static META: AuditMeta = AuditMeta {
    name: "missing-distinct",
    summary: "a row of the result is repeated by a join that only filters",
    needs: Needs::Schema,
    standing: RuleStanding::Hint,
    cases: CASES,
    source: include_str!("missing_distinct.rs"),
};

impl AuditRule for MissingDistinct {
    fn meta(&self) -> &'static AuditMeta {
        &META
    }

    fn check(&self, subject: &AuditSubject<'_>, findings: &mut Findings) {
        let Some(scope) = scopes(subject.query).into_iter().find(|scope| scope.is_outermost) else { return };
        let select = scope.select;
        let has_window = select.outputs.iter().any(|output| has_window(&output.expr));
        if select.distinct || is_aggregate_select(select) || has_window || subject.query.limit.is_some() {
            return;
        }
        let Some(why) = repeats(subject, &scope) else { return };
        let mut query: Query = subject.query.clone();
        if let Body::Select(select) = &mut query.body {
            select.distinct = true;
        }
        let sql = subject.print(&query);
        if !subject.item.data.has_rows() {
            findings.propose(why, None, sql);
            return;
        }
        let (Some(rows), Some(once)) = (subject.item.rows(findings), subject.run(&query, findings)) else {
            return;
        };
        if rows.len() > once.len() {
            let first =
                rows.rows().enumerate().find(|(at, row)| rows.rows().take(*at).any(|other| other == *row));
            let evidence = first.map(|(_, row)| {
                Evidence::of_rows(
                    "a row that is repeated",
                    &rows.columns,
                    rows.rows().filter(|other| *other == row),
                )
            });
            findings.propose(why, evidence, sql);
        }
    }
}

/// Which rows a join repeats.
fn repeats(subject: &AuditSubject<'_>, scope: &Scope<'_>) -> Option<String> {
    let mut relations: Vec<RelationId> =
        scope.select.outputs.iter().flat_map(|output| relations_read(&output.expr)).collect();
    relations.sort_unstable();
    relations.dedup();
    if relations.is_empty()
        || Dependencies::of(scope.select, &subject.facts).closure_of_rows(&relations).is_complete()
    {
        return None;
    }
    let name =
        |relation: &RelationId| Some(subject.schema.table(subject.facts.table_of(*relation)?)?.name.as_str());
    let names: Vec<&str> = relations.iter().map(name).collect::<Option<_>>()?;
    Some(format!(
        "a row of {} is returned once for each partner in a join that returns nothing else",
        names.join(", ")
    ))
}

const CASES: &[AuditCase] = &[
    AuditCase::fires(CLUBS, "SELECT p.name FROM player AS p JOIN award AS a ON a.player_id = p.id")
        .from_benchmark(),
    AuditCase::silent(CLUBS, "SELECT DISTINCT p.name FROM player AS p JOIN award AS a ON a.player_id = p.id"),
    AuditCase::silent(CLUBS, "SELECT p.name, a.title FROM player AS p JOIN award AS a ON a.player_id = p.id"),
    AuditCase::silent(
        CLUBS,
        "SELECT c.city FROM club AS c JOIN player AS p ON p.club_id = c.id WHERE p.goals = 7",
    ),
];
