//! # Integer division
//!
//! ## What it finds
//! A division in a result column or a sort key whose operands are both integers, so that SQLite drops the
//! fraction.
//!
//! ## Why it matters
//! A share below one becomes 0, a percentage a round number.
//!
//! ## Example
//! ```sql
//! SELECT SUM(goals > 7) / COUNT(*) FROM player   -- 0 and not 0.5
//! ```
//!
//! ## When it is no defect
//! The question asks for whole parts: full years, full dozens. Division by a power of ten takes a number apart
//! and is left out, as is a division that loses nothing in the rows at hand.

use crate::finding::Findings;
use crate::rule::{AuditCase, AuditRule, CLUBS, Check, Needs, RuleStanding};
use sqlgauge_sql::functions::Function;
use sqlgauge_sql::schema::Affinity;
use sqlgauge_sql::tree::{Args, BinaryOperator, Expr, Literal, Query, UnaryOperator};
use sqlgauge_sql::visit::change_exprs;

use crate::finding::Evidence;
use crate::item::AuditSubject;
use crate::walk::{parts, scopes, whole};

pub(super) static RULE: AuditRule = AuditRule {
    name: "integer-division",
    summary: "two integers are divided, which drops the fraction",
    needs: Needs::Schema,
    standing: RuleStanding::Certain,
    check: Check::of_query(check).only_in(&["sqlite", "postgres"]),
    cases: CASES,
    source: include_str!("integer_division.rs"),
};

fn check(subject: &AuditSubject<'_>, findings: &mut Findings) {
    for scope in scopes(subject.query) {
        let mut exprs = Vec::new();
        scope.select.outputs.iter().for_each(|output| parts(&output.expr, &mut exprs));
        if scope.is_whole() {
            scope.query.order_by.iter().for_each(|term| parts(&term.expr, &mut exprs));
        }
        for expr in exprs {
            if is_integer_division(subject, expr) {
                report(subject, expr, findings);
            }
        }
    }
}

fn is_integer_division(subject: &AuditSubject<'_>, expr: &Expr) -> bool {
    let Expr::Binary(BinaryOperator::Divide, left, right) = expr else { return false };
    let takes_apart = |by: i64| {
        by >= 10
            && std::iter::successors(Some(10_i64), |power| power.checked_mul(10)).any(|power| power == by)
    };
    is_integer(subject, left)
        && is_integer(subject, right)
        && !whole(right).is_some_and(takes_apart)
        && !(whole(left).is_some() && whole(right).is_some())
}

/// Whether the expression is an integer or NULL, going by declared types.
fn is_integer(subject: &AuditSubject<'_>, expr: &Expr) -> bool {
    match expr {
        Expr::Literal(literal) => {
            matches!(literal, Literal::Integer(_) | Literal::Boolean(_) | Literal::Null)
        }
        Expr::Column(_) => {
            subject.as_column(expr).is_some_and(|(_, _, column)| column.affinity == Affinity::Integer)
        }
        Expr::Unary(UnaryOperator::Minus | UnaryOperator::Plus, operand) => is_integer(subject, operand),
        Expr::Binary(operator, left, right) => {
            operator.is_comparison()
                || (matches!(
                    operator,
                    BinaryOperator::Add
                        | BinaryOperator::Subtract
                        | BinaryOperator::Multiply
                        | BinaryOperator::Divide
                ) && is_integer(subject, left)
                    && is_integer(subject, right))
        }
        Expr::And(_)
        | Expr::Or(_)
        | Expr::Like { .. }
        | Expr::Between { .. }
        | Expr::InList { .. }
        | Expr::IsNull { .. } => true,
        Expr::Case { branches, otherwise, .. } => branches
            .iter()
            .map(|(_, then)| then)
            .chain(otherwise.as_deref())
            .all(|value| is_integer(subject, value)),
        Expr::Cast { type_name, .. } => Affinity::of_declared_type(Some(type_name)) == Affinity::Integer,
        Expr::Function { function: Function::Iif, args: Args::List(list) } => {
            list.get(1..).is_some_and(|values| values.iter().all(|value| is_integer(subject, value)))
        }
        Expr::Aggregate(call) => match call.function {
            Function::Count => true,
            Function::Sum | Function::Min | Function::Max => {
                call.args.as_slice().iter().all(|arg| is_integer(subject, arg))
            }
            _ => false,
        },
        _ => false,
    }
}

fn report(subject: &AuditSubject<'_>, division: &Expr, findings: &mut Findings) {
    let why = format!("{} divides integers and drops the fraction", subject.text(division));
    let mut rewritten: Query = subject.query.clone();
    // The left side of equal divisions becomes a real number.
    change_exprs(&mut rewritten, |expr| {
        if expr == division
            && let Expr::Binary(_, left, _) = expr
        {
            let value = std::mem::replace(&mut **left, Expr::Literal(Literal::Null));
            **left = Expr::Cast { expr: Box::new(value), type_name: "REAL".to_owned() };
        }
    });
    let sql = subject.print(&rewritten);
    if !subject.item.data.has_rows() {
        findings.propose(why, None, sql);
        return;
    }
    if subject.same_rows(&rewritten, findings) == Some(false) {
        let rows = subject.run(&rewritten, findings);
        let evidence = rows.map(|rows| Evidence::of("with the fraction", &rows));
        findings.propose(why, evidence, sql);
    }
}

const CASES: &[AuditCase] = &[
    AuditCase::fires(CLUBS, "SELECT SUM(goals > 7) / COUNT(*) FROM player").of_benchmark(),
    AuditCase::fires(CLUBS, "SELECT SUM(goals) / COUNT(*) FROM player WHERE id IN (1, 3)"),
    AuditCase::silent(CLUBS, "SELECT CAST(SUM(goals > 7) AS REAL) / COUNT(*) FROM player"),
    AuditCase::silent(CLUBS, "SELECT year / 10 FROM award"),
    AuditCase::silent(CLUBS, "SELECT SUM(goals) / COUNT(*) FROM player WHERE goals = 10"),
];
