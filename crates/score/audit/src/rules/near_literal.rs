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
use crate::rule::{AuditCase, AuditRule, CLUBS, Check, Needs, RuleStanding};
use sqlgauge_base::closest;
use sqlgauge_sql::schema::Collation;
use sqlgauge_sql::tree::{BinaryOperator, ColumnRef, Expr, Literal, Query};
use sqlgauge_sql::visit::{Rewriter, rewrite_query};

use crate::finding::Evidence;
use crate::item::AuditSubject;
use crate::walk::{all_exprs, equalities};
use crate::words::packed;

/// From how many letters on a difference of one counts as near.
const LONG: usize = 5;

pub(super) static RULE: AuditRule = AuditRule {
    name: "near-literal",
    summary: "no row has the literal, but one has it in a different case, spacing or format",
    needs: Needs::Rows,
    standing: RuleStanding::Certain,
    check: Check::of_query(check),
    cases: CASES,
    source: include_str!("near_literal.rs"),
};

fn check(subject: &AuditSubject<'_>, findings: &mut Findings) {
    let mut missed: Vec<Missed> = Vec::new();
    for expr in all_exprs(subject.query) {
        for (column, value) in equalities(expr) {
            if let Some(miss) = compare(subject, column, value, findings)
                && !missed.contains(&miss)
            {
                missed.push(miss);
            }
        }
    }
    if !missed.is_empty() {
        report(subject, &missed, findings);
    }
}

/// A literal that no row has, with the value that a row has.
#[derive(Debug, PartialEq)]
struct Missed {
    column: ColumnRef,
    literal: String,
    near: String,
}

fn compare(
    subject: &AuditSubject<'_>,
    column: &Expr,
    value: &Expr,
    findings: &mut Findings,
) -> Option<Missed> {
    let Expr::Literal(Literal::Text(text)) = value else { return None };
    let (column_ref, table, column) = subject.as_column(column)?;
    if column.collation != Collation::Binary {
        return None;
    }
    let data = subject.item.data(findings)?;
    let Some(values) = data.texts(table, column) else {
        findings.unchecked("a column has too many different values");
        return None;
    };
    if values.is_empty() || values.iter().any(|value| value == text) {
        return None;
    }
    let near = near(text, &values)?;
    Some(Missed { column: column_ref, literal: text.clone(), near: near.to_owned() })
}

/// A text whose spaces at the ends show.
fn visible_end(text: &str) -> String {
    let ends = |text: &str| text.chars().filter(|c| *c == ' ').map(|_| '␠').collect::<String>();
    let start = &text[..text.len() - text.trim_start_matches(' ').len()];
    let inner = text.trim_matches(' ');
    let end = if inner.is_empty() { "" } else { &text[text.trim_end_matches(' ').len()..] };
    format!("{}{inner}{}", ends(start), ends(end))
}

/// Reports all literals at once, for only together are they a query without the defect.
fn report(subject: &AuditSubject<'_>, missed: &[Missed], findings: &mut Findings) {
    let say = |miss: &Missed| {
        let name = subject.name(miss.column);
        let [literal, near] = [&miss.literal, &miss.near].map(|text| visible_end(text));
        format!("no row has {name} = '{literal}', but rows have '{near}'")
    };
    // In quotes, for a space at the end is all that some differ by.
    let row = |miss: &Missed| {
        vec![subject.name(miss.column), format!("'{}'", miss.literal), format!("'{}'", miss.near)]
    };
    let (mut why, mut rows) = (Vec::new(), Vec::new());
    for miss in missed {
        let sentence = say(miss);
        // To a reader the columns of two arms of a set operation are one.
        if !why.contains(&sentence) {
            why.push(sentence);
            rows.push(row(miss));
        }
    }
    let rows = Evidence {
        title: "literals and values".to_owned(),
        columns: ["column", "in the gold", "in the rows"].map(str::to_owned).to_vec(),
        rows,
        left_out: 0,
    };
    let mut query: Query = subject.query.clone();
    rewrite_query(&mut Replaced(missed), &mut query);
    findings.propose(why.join("; "), Some(rows), subject.print(&query));
}

/// A value with the same letters and digits, else one that is a letter apart.
fn near<'v>(text: &str, values: &'v [String]) -> Option<&'v str> {
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

/// Puts the values of the rows in the place of the literals.
struct Replaced<'m>(&'m [Missed]);

impl Replaced<'_> {
    fn value(&self, column: &Expr, value: &mut Expr) {
        let (Expr::Column(column), Expr::Literal(Literal::Text(text))) = (column, value) else { return };
        if let Some(miss) = self.0.iter().find(|miss| miss.column == *column && miss.literal == *text) {
            text.clone_from(&miss.near);
        }
    }
}

impl Rewriter for Replaced<'_> {
    fn expr(&mut self, expr: &mut Expr) {
        match expr {
            Expr::Binary(BinaryOperator::Equal, left, right) => {
                self.value(left, right);
                self.value(right, left);
            }
            Expr::InList { expr, list, .. } => list.iter_mut().for_each(|value| self.value(expr, value)),
            _ => {}
        }
    }
}

const CASES: &[AuditCase] = &[
    AuditCase::fires(CLUBS, "SELECT COUNT(*) FROM club WHERE city = 'lisbon'").of_benchmark(),
    AuditCase::fires(
        CLUBS,
        "SELECT city FROM club WHERE city = 'lisbon' UNION SELECT city FROM club WHERE city = 'porto'",
    ),
    AuditCase::fires(CLUBS, "SELECT name FROM club WHERE name IN ('Harbour', 'Forrest')"),
    AuditCase::fires(CLUBS, "SELECT name FROM player WHERE born = '1990/01/02'"),
    AuditCase::silent(CLUBS, "SELECT COUNT(*) FROM club WHERE city = 'Lisbon'"),
    AuditCase::silent(CLUBS, "SELECT COUNT(*) FROM club WHERE city = 'Madrid'"),
];
