//! # Text that is compared as text and holds numbers
//!
//! ## What it finds
//! ORDER BY, MIN, MAX, `<` or BETWEEN on a column of text whose values are numbers of different lengths, without
//! a cast; and a number that is compared with what a text function returns, which is never equal to it.
//!
//! ## Why it matters
//! As text '1200' comes before '900', so the order and the comparison are wrong.
//!
//! ## Example
//! ```sql
//! SELECT name FROM player ORDER BY wage DESC LIMIT 1   -- '900' comes before '1200'
//! ```
//!
//! ## When it is no defect
//! The values are codes, for which the order of texts is meant.

use crate::finding::Findings;
use crate::rule::{AuditCase, AuditRule, CLUBS, Check, Needs, RuleStanding};
use sqlgauge_sql::functions::{Function, Returns};
use sqlgauge_sql::schema::Affinity;
use sqlgauge_sql::tree::{Args, BinaryOperator, Expr};

use crate::finding::Evidence;
use crate::item::AuditSubject;
use crate::walk::{number, scopes};

pub(super) static RULE: AuditRule = AuditRule {
    name: "text-as-number",
    summary: "numbers stored as text are sorted or compared as text",
    needs: Needs::Rows,
    standing: RuleStanding::Certain,
    check: Check::of_query(check).only_in(&["sqlite", "postgres", "duckdb"]),
    cases: CASES,
    source: include_str!("text_as_number.rs"),
};

fn check(subject: &AuditSubject<'_>, findings: &mut Findings) {
    for scope in scopes(subject.query) {
        if scope.is_whole() && scope.query.limit.is_some() {
            scope.query.order_by.iter().for_each(|term| column(subject, &term.expr, "sorted", findings));
        }
        for expr in scope.exprs().into_iter().chain(scope.conditions()) {
            match expr {
                Expr::Aggregate(call) if matches!(call.function, Function::Min | Function::Max) => {
                    call.args.as_slice().iter().for_each(|arg| column(subject, arg, "compared", findings));
                }
                Expr::Between { expr, .. } => column(subject, expr, "compared", findings),
                Expr::Binary(operator, left, right) if operator.is_comparison() => {
                    if !matches!(
                        operator,
                        BinaryOperator::Equal
                            | BinaryOperator::NotEqual
                            | BinaryOperator::Is
                            | BinaryOperator::IsNot
                    ) {
                        [left, right]
                            .into_iter()
                            .for_each(|side| column(subject, side, "compared", findings));
                    }
                    for (text, other) in [(left, right), (right, left)] {
                        if returns_text(text) && number(other).is_some() {
                            let why = format!(
                                "{} returns text, which is never equal to a number and greater than each",
                                subject.text(text)
                            );
                            findings.report(why);
                        }
                    }
                }
                _ => {}
            }
        }
    }
}

fn returns_text(expr: &Expr) -> bool {
    match expr {
        Expr::Function { function, args: Args::List(_) } => function.properties().returns == Returns::Text,
        _ => false,
    }
}

fn column(subject: &AuditSubject<'_>, expr: &Expr, what: &str, findings: &mut Findings) {
    let Some((text_column, table, column)) = subject.as_column(expr) else { return };
    if column.affinity != Affinity::Text {
        return;
    }
    let Some(data) = subject.item.data(findings) else { return };
    let Some(profile) = data.profile(table, column) else { return };
    if profile.is_numeric_text() && profile.lengths.0 < profile.lengths.1 {
        let name = subject.name(text_column);
        let sql = format!(
            "SELECT {0} FROM {1} WHERE {0} IS NOT NULL ORDER BY {0} DESC LIMIT 3",
            data.engine().quoted(&column.name),
            data.engine().quoted(&table.name)
        );
        let rows = data.run(&sql);
        let why = format!("{name} holds numbers as text and is {what} as text");
        match rows.rows() {
            Some(rows) => findings.report_with(why, Evidence::of("the greatest as text", rows)),
            None => findings.report(why),
        }
    }
}

const CASES: &[AuditCase] = &[
    AuditCase::fires(CLUBS, "SELECT name FROM player ORDER BY wage DESC LIMIT 1").of_benchmark(),
    AuditCase::fires(CLUBS, "SELECT COUNT(*) FROM player WHERE strftime('%Y', born) = 1990"),
    AuditCase::fires(CLUBS, "SELECT MAX(wage) FROM player"),
    AuditCase::silent(CLUBS, "SELECT name FROM player ORDER BY CAST(wage AS INTEGER) DESC LIMIT 1"),
    AuditCase::silent(CLUBS, "SELECT COUNT(*) FROM player WHERE strftime('%Y', born) = '1990'"),
    AuditCase::silent(CLUBS, "SELECT name FROM club ORDER BY city LIMIT 1"),
];
