//! # A literal that no row has, but a near one
//!
//! ## What it finds
//! A text compared with `=` or IN that no row of the column has, where a row has the same letters in another
//! case, with other spaces or with other punctuation, or a text a letter or two apart.
//!
//! ## Why it matters
//! The condition is never true, so the gold returns nothing, or leaves out what it asks for.
//!
//! ## Example
//! ```sql
//! SELECT COUNT(*) FROM club WHERE city = 'lisbon'   -- the rows have 'Lisbon'
//! ```
//!
//! ## When it is no defect
//! The database is a sample, and the full one has the value.

use crate::finding::Findings;
use crate::rule::{AuditCase, AuditMeta, AuditRule, CLUBS, Needs, RuleStanding};
use sqlgauge_base::closest;
use sqlgauge_sql::schema::Collation;
use sqlgauge_sql::tree::{BinaryOperator, Expr, Literal, Query};
use sqlgauge_sql::visit::{Rewriter, rewrite_query};

use crate::finding::Evidence;
use crate::item::AuditSubject;
use crate::walk::scopes;

/// From how many letters on a difference of one counts as near.
const LONG: usize = 5;

pub(super) struct NearLiteral;

static META: AuditMeta = AuditMeta {
    name: "near-literal",
    summary: "no row has the literal, but one with another case, space or format",
    needs: Needs::Rows,
    standing: RuleStanding::Certain,
    cases: CASES,
    source: include_str!("near_literal.rs"),
};

impl AuditRule for NearLiteral {
    fn meta(&self) -> &'static AuditMeta {
        &META
    }

    fn check(&self, subject: &AuditSubject<'_>, findings: &mut Findings) {
        for scope in scopes(subject.query) {
            for expr in [scope.exprs(), scope.conditions()].concat() {
                match expr {
                    Expr::Binary(BinaryOperator::Equal, left, right) => {
                        [(left, right), (right, left)]
                            .into_iter()
                            .for_each(|(column, value)| compare(subject, column, value, findings));
                    }
                    Expr::InList { expr, list, .. } => {
                        list.iter().for_each(|value| compare(subject, expr, value, findings));
                    }
                    _ => {}
                }
            }
        }
    }
}

fn compare(subject: &AuditSubject<'_>, column: &Expr, value: &Expr, findings: &mut Findings) {
    let Expr::Literal(Literal::Text(text)) = value else { return };
    let Some((own, table, column)) = subject.as_column(column) else { return };
    if column.collation != Collation::Binary {
        return;
    }
    let Some(data) = subject.item.data(findings) else { return };
    let Some(values) = data.texts(table, column) else {
        findings.unchecked("a column has too many different values");
        return;
    };
    if values.is_empty() || values.iter().any(|own| own == text) {
        return;
    }
    let Some(near) = near(text, &values) else { return };
    let name = subject.name(own);
    let why = format!("no row has {name} = '{text}', but there is '{near}'");
    let rows = Evidence {
        title: "values in the rows".to_owned(),
        columns: vec![column.name.clone()],
        rows: vec![vec![near.to_owned()]],
        left_out: 0,
    };
    let mut query: Query = subject.query.clone();
    rewrite_query(&mut Replaced { from: text, to: near }, &mut query);
    findings.propose(why, Some(rows), subject.print(&query));
}

/// A value with the same letters and digits, else one that is a letter apart.
fn near<'v>(text: &str, values: &'v [String]) -> Option<&'v str> {
    let packed = |text: &str| -> String {
        text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
    };
    let wanted = packed(text);
    if wanted.is_empty() {
        return None;
    }
    if let Some(same) = values.iter().find(|value| packed(value) == wanted) {
        return Some(same);
    }
    if wanted.chars().count() < LONG || wanted.chars().any(char::is_numeric) {
        return None;
    }
    let close = closest(text, values.iter().map(String::as_str));
    close.into_iter().find(|value| is_one_letter_apart(&wanted, &packed(value)))
}

/// Whether one letter more, less or other makes the texts equal.
fn is_one_letter_apart(one: &str, other: &str) -> bool {
    let (a, b): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    let same_start = a.iter().zip(&b).take_while(|(x, y)| x == y).count();
    let same_end = a.iter().rev().zip(b.iter().rev()).take_while(|(x, y)| x == y).count();
    let longer = a.len().max(b.len());
    a.len().abs_diff(b.len()) <= 1 && same_start + same_end + 1 >= longer
}

struct Replaced<'t> {
    from: &'t str,
    to: &'t str,
}

impl Rewriter for Replaced<'_> {
    fn expr(&mut self, expr: &mut Expr) {
        if let Expr::Literal(Literal::Text(text)) = expr
            && text == self.from
        {
            self.to.clone_into(text);
        }
    }
}

const CASES: &[AuditCase] = &[
    AuditCase::fires(CLUBS, "SELECT COUNT(*) FROM club WHERE city = 'lisbon'").from_benchmark(),
    AuditCase::fires(CLUBS, "SELECT name FROM club WHERE name IN ('Harbour', 'Forrest')"),
    AuditCase::fires(CLUBS, "SELECT name FROM player WHERE born = '1990/01/02'"),
    AuditCase::silent(CLUBS, "SELECT COUNT(*) FROM club WHERE city = 'Lisbon'"),
    AuditCase::silent(CLUBS, "SELECT COUNT(*) FROM club WHERE city = 'Madrid'"),
];
