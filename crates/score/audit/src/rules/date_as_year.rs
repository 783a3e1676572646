//! # A year that is read off a date in the wrong way
//!
//! ## What it finds
//! A column of dates compared with a plain number such as 1990; and, by the rows, a date function on texts that
//! are no ISO dates, or `substr(date, 1, 4)` on texts that do not begin with the year.
//!
//! ## Why it matters
//! A text is greater than every number, so the comparison is always true or always false; a date function returns
//! NULL for what it cannot read.
//!
//! ## Example
//! ```sql
//! SELECT name FROM player WHERE born > 1990
//! ```
//!
//! ## When it is no defect
//! The column holds years as numbers in spite of its declared type: with rows at hand, the rule looks.

use crate::finding::Findings;
use crate::rule::{AuditCase, AuditRule, CLUBS, Check, Needs, RuleStanding};
use sqlgauge_sql::functions::Function;
use sqlgauge_sql::schema::{Column, Table};
use sqlgauge_sql::tree::{Args, Expr};

use crate::item::AuditSubject;
use crate::walk::{scopes, whole};

pub(super) static RULE: AuditRule = AuditRule {
    name: "date-as-year",
    summary: "a date is compared with a number, or its year is cut from the wrong place",
    needs: Needs::Schema,
    standing: RuleStanding::Certain,
    check: Check::of_query(check).only_in(&["sqlite"]),
    cases: CASES,
    source: include_str!("date_as_year.rs"),
};

fn check(subject: &AuditSubject<'_>, findings: &mut Findings) {
    for scope in scopes(subject.query) {
        for expr in [scope.exprs(), scope.conditions()].concat() {
            match expr {
                Expr::Binary(operator, left, right) if operator.is_comparison() => {
                    year(subject, left, &[right], findings);
                    year(subject, right, &[left], findings);
                }
                Expr::Between { expr, low, high, .. } => year(subject, expr, &[low, high], findings),
                Expr::InList { expr, list, .. } => {
                    year(subject, expr, &list.iter().collect::<Vec<_>>(), findings);
                }
                Expr::Function { function, args } => read_off(subject, expr, function, args, findings),
                _ => {}
            }
        }
    }
}

fn is_date(column: &Column) -> bool {
    let declared = column.declared_type.as_deref().unwrap_or_default().to_ascii_uppercase();
    declared.starts_with("DATE") || declared.starts_with("TIMESTAMP")
}

/// Whether the rows show dates as text; without rows, what is declared counts.
fn holds_dates(subject: &AuditSubject<'_>, table: &Table, column: &Column) -> bool {
    if !subject.item.data.has_rows() {
        return is_date(column);
    }
    let profile = subject.item.data.profile(table, column);
    profile.is_some_and(|profile| profile.values > 0 && profile.iso_dates * 2 > profile.values)
}

fn year(subject: &AuditSubject<'_>, date: &Expr, others: &[&Expr], findings: &mut Findings) {
    let Some((date_column, table, column)) = subject.as_column(date) else { return };
    let is_year = |expr: &&&Expr| whole(expr).is_some_and(|year| (1000..3000).contains(&year));
    let Some(year) = others.iter().find(is_year) else { return };
    if holds_dates(subject, table, column) {
        findings.report(format!(
            "{} holds dates, which are texts and never less than or equal to the number {}",
            subject.name(date_column),
            subject.text(year)
        ));
    }
}

/// A date function on what is no date, or the first four letters of what does not begin with a year.
fn read_off(
    subject: &AuditSubject<'_>,
    call: &Expr,
    function: &Function,
    args: &Args,
    findings: &mut Findings,
) {
    let list = args.as_slice();
    let (at, is_substring) = match function {
        Function::Strftime => (1, false),
        Function::Date | Function::DateTime | Function::JulianDay => (0, false),
        Function::Substr | Function::Substring
            if list.get(1).and_then(whole) == Some(1) && list.get(2).and_then(whole) == Some(4) =>
        {
            (0, true)
        }
        _ => return,
    };
    let Some((date_column, table, column)) = list.get(at).and_then(|expr| subject.as_column(expr)) else {
        return;
    };
    let Some(data) = subject.item.data(findings) else { return };
    let Some(profile) = data.profile(table, column) else { return };
    let name = subject.name(date_column);
    if is_substring {
        let looks_like_date = data.texts(table, column).is_some_and(|texts| {
            !texts.is_empty()
                && texts.iter().all(|text| text.contains(['/', '-']) && text.chars().any(char::is_numeric))
        });
        let begins_with_year = |text: &String| text.chars().take(4).filter(char::is_ascii_digit).count() == 4;
        if looks_like_date
            && data.texts(table, column).is_some_and(|texts| !texts.iter().any(begins_with_year))
        {
            findings.report(format!(
                "{} takes the first four letters of {name}, which does not begin with a year",
                subject.text(call)
            ));
        }
    } else if profile.texts > 0
        && profile.iso_dates == 0
        && profile.texts == profile.values
        && profile.lengths.1 > 4
    {
        findings.report(format!("{} is NULL or wrong: {name} does not hold ISO dates", subject.text(call)));
    }
}

const CASES: &[AuditCase] = &[
    AuditCase::fires(CLUBS, "SELECT name FROM player WHERE born > 1990").of_benchmark(),
    AuditCase::fires(CLUBS, "SELECT name FROM club WHERE strftime('%Y', name) = '1990'"),
    AuditCase::fires(CLUBS, "SELECT name FROM player WHERE born BETWEEN 1989 AND 1990"),
    AuditCase::silent(CLUBS, "SELECT name FROM player WHERE born > '1990'"),
    AuditCase::silent(CLUBS, "SELECT title FROM award WHERE year > 1990"),
    AuditCase::silent(CLUBS, "SELECT name FROM player WHERE strftime('%Y', born) = '1990'"),
];
