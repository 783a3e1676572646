//! # A condition that is the same for all rows
//!
//! ## What it finds
//! A comparison of a column with a number, or by order, that every row with a value fulfils, or none.
//!
//! ## Why it matters
//! The gold does not test the condition: a prediction that leaves it out, or returns nothing, has the same result.
//!
//! ## Example
//! ```sql
//! SELECT name FROM player WHERE goals > 1   -- every player has more goals
//! ```
//!
//! ## When it is no defect
//! The question asks for the condition, and the rows are as they are. The rule is off by default.

use crate::finding::Findings;
use crate::rule::{AuditCase, AuditMeta, AuditRule, CLUBS, Needs, RuleStanding};
use sqlgauge_sql::derive::conjuncts;
use sqlgauge_sql::tree::{BinaryOperator, Expr, Literal};

use crate::data::integer;
use crate::item::AuditSubject;
use crate::walk::scopes;

pub(super) struct ConditionSameForAllRows;

static META: AuditMeta = AuditMeta {
    name: "condition-same-for-all-rows",
    summary: "every row fulfils a condition, or none does",
    needs: Needs::Rows,
    standing: RuleStanding::Hint,
    cases: CASES,
    source: include_str!("condition_same_for_all_rows.rs"),
};

impl AuditRule for ConditionSameForAllRows {
    fn meta(&self) -> &'static AuditMeta {
        &META
    }

    fn check(&self, subject: &AuditSubject<'_>, findings: &mut Findings) {
        for scope in scopes(subject.query).into_iter().filter(|scope| scope.select.from.is_some()) {
            conjuncts(scope.select).into_iter().for_each(|condition| look(subject, condition, findings));
        }
    }
}

/// Looks whether the rows of a table tell a condition on one of its columns from a constant.
fn look(subject: &AuditSubject<'_>, condition: &Expr, findings: &mut Findings) {
    let Expr::Binary(operator, left, right) = condition else { return };
    let Expr::Literal(value) = &**right else { return };
    let Some((column, table, definition)) = subject.as_column(left) else { return };
    let is_order = matches!(
        operator,
        BinaryOperator::Less
            | BinaryOperator::LessEqual
            | BinaryOperator::Greater
            | BinaryOperator::GreaterEqual
    );
    let is_number = matches!(value, Literal::Integer(_) | Literal::Real(_));
    if !(is_order || (*operator == BinaryOperator::Equal && is_number)) {
        return;
    }
    let Some(data) = subject.item.data(findings) else { return };
    let (c, literal) = (data.engine().quoted(&definition.name), subject.text(right));
    let sql = format!(
        "SELECT count({c}), count(CASE WHEN {c} {} {literal} THEN 1 END) FROM {}",
        operator.symbol(),
        data.engine().quoted(&table.name)
    );
    let ran = data.run(&sql);
    let counts =
        ran.rows().and_then(|rows| Some((integer(rows.row(0)?.first()?)?, integer(rows.row(0)?.get(1)?)?)));
    let name = subject.name(column);
    match counts {
        Some((values, 0)) if values > 0 => {
            findings.report(format!("no row has {name} {} {literal}", operator.symbol()));
        }
        Some((values, all)) if values > 1 && values == all => {
            findings.report(format!("every row that has a value has {name} {} {literal}", operator.symbol()));
        }
        Some(_) => {}
        None => findings.unchecked("the rows of the column could not be counted"),
    }
}

const CASES: &[AuditCase] = &[
    AuditCase::fires(CLUBS, "SELECT name FROM player WHERE goals > 1").from_benchmark(),
    AuditCase::fires(CLUBS, "SELECT title FROM award WHERE year = 1910"),
    AuditCase::silent(CLUBS, "SELECT name FROM player WHERE goals > 8"),
];
